"""What the explorer's server allows, and the errors that explain it.

A page can ask for more than a laptop should do, so length, time, memory and the size of a training run are bounded
here, in one place, and every refusal says which limit was met and with which option it is raised.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from separatrix.errors import SeparatrixError

Kind: TypeAlias = Literal["input", "limit", "busy", "missing", "refused", "internal"]
"""Why a request was not answered: it makes no sense, is too large, came at a bad time, asks for what is not there, is
not allowed to this page, or met a defect of this package."""

STATUS: dict[Kind, int] = {"input": 422, "limit": 422, "busy": 429, "missing": 404, "refused": 403, "internal": 500}
"""The HTTP status of each."""


class ExplorerError(SeparatrixError):
    """A request that is not answered, in one line, with its kind."""

    def __init__(self, message: str, kind: Kind = "input") -> None:
        super().__init__(message)
        self.kind: Kind = kind


@dataclass(frozen=True)
class Limits:
    """The bounds of one server: N, seconds and bytes of a computation, processes, and the size of a training run."""

    max_length: int = 512
    max_seconds: float = 60.0
    max_memory: int = 4 << 30
    workers: int = 3
    max_training_seconds: float = 600.0
    max_training_length: int = 256
    max_steps: int = 20_000
    max_width: int = 256
    max_layers: int = 4
    max_batch: int = 256

    def __post_init__(self) -> None:
        checks = {
            "--max-length": 2 <= self.max_length <= 1 << 20,
            "--max-seconds": 0 < self.max_seconds <= 86400,
            "--max-training-seconds": 0 < self.max_training_seconds <= 7 * 86400,
            "--workers": 1 <= self.workers <= 64,
            "--max-memory": self.max_memory >= 512 << 20,
        }
        wrong = [option for option, right in checks.items() if not right]
        if wrong:
            raise SeparatrixError(
                f"{' and '.join(wrong)} out of range; choose lengths from 2 to 2^20, seconds above 0, 1 to 64 workers "
                "and at least 512M of memory"
            )

    def check_length(self, length: int) -> None:
        """Refuse an N beyond this server's."""
        if length > self.max_length:
            raise ExplorerError(
                f"N = {length} is beyond this server's limit of {self.max_length}; start it with "
                f"--max-length {length} to allow it",
                "limit",
            )

    def out_of_time(self) -> ExplorerError:
        """What is said when a computation was ended."""
        return ExplorerError(
            f"stopped after {self.max_seconds:g} seconds, this server's limit; choose a smaller N, or start it with a "
            "larger --max-seconds",
            "limit",
        )

    def as_json(self) -> dict[str, Any]:
        """Plain data for the page."""
        return asdict(self)
