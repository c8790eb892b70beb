"""Running the command line inside the test process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from separatrix.cli.app import run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run ``separatrix ARGUMENTS`` at a fixed width and return how it ended."""
    monkeypatch.setenv("COLUMNS", "100")

    def runner(*arguments: str) -> Ended:
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return runner
