"""Limits of one explorer server, and the errors that name them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from separatrix.errors import SeparatrixError

Kind: TypeAlias = Literal["input", "limit", "missing", "refused", "internal"]
"""Why a request has no reply: bad input, beyond a limit, unknown name, forbidden, or a defect of this package."""
STATUS: dict[Kind, int] = {"input": 422, "limit": 422, "missing": 404, "refused": 403, "internal": 500}


class ExplorerError(SeparatrixError):
    """One line for the user, with its kind."""

    def __init__(self, message: str, kind: Kind = "input") -> None:
        super().__init__(message)
        self.kind: Kind = kind


@dataclass(frozen=True)
class Limits:
    """Bounds on N, on the seconds and bytes of one computation, and on the number of processes."""

    max_length: int = 512
    max_seconds: float = 60.0
    max_memory: int = 4 << 30
    workers: int = 3

    def __post_init__(self) -> None:
        checks = {
            "--max-length": 2 <= self.max_length <= 1 << 20,
            "--max-seconds": 0 < self.max_seconds <= 86400,
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
        """Refuse a length beyond the limit."""
        if length > self.max_length:
            raise ExplorerError(
                f"N = {length} is beyond this server's limit of {self.max_length}; start it with "
                f"--max-length {length} to allow it",
                "limit",
            )

    def as_json(self) -> dict[str, Any]:
        """Return plain data for the page."""
        return asdict(self)
