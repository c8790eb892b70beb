"""What the entries of a catalog are called, read from their files without running them.

Loading the catalog of architectures or of experiments takes longer than a completion may; their names and titles are
plain texts in their files. An entry is a table of a TOML file; or ``CONSTANT = Class(field="…")`` in a Python file, or
``CONSTANT = Class()`` with ``field: str = "…"`` in that class of the same file. The contract test compares what is read
here with the catalog. Entries of other packages are named by their entry points and not loaded.
"""

import ast
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from importlib.resources import files

from separatrix.errors import SeparatrixError


def names_in_table(table: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """Read the text fields of all entries of a TOML file of the package, by name; a table without a title is none.

    >>> names_in_table("training/experiments/experiments.toml", ("name", "title"))[0]
    {'name': 'beyond-lengths', 'title': 'Index lookup: longer inputs'}
    """
    found = tomllib.loads(files("separatrix").joinpath(table).read_text(encoding="utf-8"))
    entries = [{"name": name, **entry} for name, entry in sorted(found.items()) if "title" in entry]
    return [{name: entry[name] for name in fields} for entry in entries]


def names_in_files(kind: str, folder: str, constant: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """Read the text fields of all entries of a folder of the package, by name; ``folder`` such as ``"tasks/problems"``.

    >>> found = names_in_files("architecture", "models/architectures", "ARCHITECTURE", ("name", "title"))
    >>> found[0]
    {'name': 'cnn', 'title': 'Causal convolutional network'}
    """
    found: list[dict[str, str]] = []
    for file in files("separatrix").joinpath(folder).iterdir():
        if file.name.endswith(".py") and not file.name.startswith("_"):
            texts = _texts(ast.parse(file.read_text(encoding="utf-8")), constant)
            missing = [name for name in fields if name not in texts]
            if missing:
                raise SeparatrixError(f"{file} has no plain text for {missing[0]} of {constant}; write it there")
            found.append({name: texts[name] for name in fields})
    for point in entry_points(group=f"separatrix.{kind}s"):
        package = point.dist.name if point.dist is not None else point.value.partition(":")[0]
        found.append({**dict.fromkeys(fields, ""), "name": point.name, "title": f"of the package {package}"})
    return sorted(found, key=lambda each: each["name"])


def _texts(module: ast.Module, constant: str) -> dict[str, str]:
    """The texts that an entry is made with: those of its class, and those given where it is made."""
    made = next(
        (
            each.value
            for each in module.body
            if isinstance(each, ast.Assign) and any(isinstance(t, ast.Name) and t.id == constant for t in each.targets)
        ),
        None,
    )
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
        return {}
    own = [each for each in module.body if isinstance(each, ast.ClassDef) and each.name == made.func.id]
    pairs = [*(pair for each in own for pair in _defaults(each)), *((each.arg, each.value) for each in made.keywords)]
    return {
        name: value.value
        for name, value in pairs
        if name is not None and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _defaults(of: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for each in of.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
            yield each.target.id, each.value
