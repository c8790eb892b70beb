"""Optional GPU packages for tests: stand-ins on ``sys.path`` that have their calling conventions and run on a CPU."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from separatrix.models import user_architecture as loading
from separatrix.models.kernels import external

FOLDER = Path(__file__).parent / "stand_ins"
NAMES = ("fla", "mamba_ssm", "causal_conv1d")


def forget() -> None:
    """What was found, imported or made of these packages."""
    for name in list(sys.modules):
        if name.split(".")[0] in NAMES:
            del sys.modules[name]
    for kept in (external.mamba_ssm, external.causal_conv1d):
        kept.cache_clear()
    loading._loaded.clear()


@contextmanager
def packages(folder: Path = FOLDER) -> Iterator[None]:
    """The packages of a folder, as if they were installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        forget()
        yield
    forget()
