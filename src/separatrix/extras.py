"""Optional parts of the package: which extra brings a package, and the one line said where it is missing.

A verb asks for what it needs with :func:`require` before it computes anything. What a verb forgot to ask for, the
command line turns into the same line (:func:`missing_package`).
"""

from importlib.util import find_spec

from separatrix.errors import SeparatrixError

EXTRAS = {
    "torch": "train",
    "ray": "ray",
    "pandas": "records",
    "pyarrow": "records",
    "matplotlib": "atlas",
    "plotly": "atlas",
    "jinja2": "atlas",
    "fastapi": "atlas",
    "uvicorn": "atlas",
    "pebble": "atlas",
    "onnx": "export",
    "onnxscript": "export",
    "transformer_lens": "lens",
}
"""The extra that brings each optional package, by the name that is imported."""


def require(what: str, *packages: str) -> None:
    """Raise a one-line error that names the extra, unless all packages are installed; nothing is imported.

    The extra is that of the last package, which brings the others as well.

    >>> require("arithmetic", "numpy")
    >>> require("a picture", "no_such_package")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: a picture needs no_such_package; install it with pip install no_such_package
    """
    for package in packages:
        if find_spec(package) is None:
            raise SeparatrixError(_missing(what, package, packages[-1]))


def missing_package(error: ModuleNotFoundError) -> SeparatrixError | None:
    """The same error for an import that failed; None for a module that no extra brings, which is a defect of ours."""
    package = (error.name or "").partition(".")[0]
    return SeparatrixError(_missing("this", package, package)) if package in EXTRAS else None


def _missing(what: str, package: str, brought_with: str) -> str:
    source = f"'separatrix[{EXTRAS[brought_with]}]'" if brought_with in EXTRAS else brought_with
    clone = f", in a clone  pip install '.[{EXTRAS[brought_with]}]'" if brought_with in EXTRAS else ""
    return f"{what} needs {package}; install it with  pip install {source}{clone}"
