"""What every result records about how it was made: versions, arithmetic, seed, time."""

import platform
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from separatrix._version import __version__

RECORDED_PACKAGES = ("numpy", "scipy", "python-flint", "ml_dtypes", "torch")


def versions() -> dict[str, str]:
    """Versions of this package, Python and the libraries that results depend on, where installed.

    >>> versions()["separatrix"] == __version__
    True
    """
    found = {"separatrix": __version__, "python": platform.python_version()}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def provenance(command: str, *, arithmetic: str, seed: int | None, started: float) -> Mapping[str, Any]:
    """The record that goes with a result; ``started`` is a reading of :func:`time.perf_counter`.

    >>> sorted(provenance("separatrix list", arithmetic="integers", seed=None, started=time.perf_counter()))
    ['arithmetic', 'command', 'made_at', 'seconds', 'seed', 'versions']
    """
    return {
        "command": command,
        "arithmetic": arithmetic,
        "seed": seed,
        "versions": versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
