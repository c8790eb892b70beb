"""What a group of runs tells the world while it trains: plain data, sent as it is between processes."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Ending: TypeAlias = Literal["goal", "steps", "diverged", "pruned", "beaten"]
"""Reached the goal; all steps done; the loss was not a number; left behind by successive halving; another run of the
same cell reached the goal first."""


@dataclass(frozen=True)
class Point:
    """One run at one step: mean training loss and accuracy since the last point, and the accuracy of a probe."""

    run: str
    step: int
    loss: float
    training_accuracy: float
    accuracy: float


@dataclass(frozen=True)
class Result:
    """How a run ended. ``accuracy`` is that of a full evaluation."""

    run: str
    ending: Ending
    step: int
    accuracy: float
    loss: float
    seconds: float
    parameters: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Progress:
    """Points of all members that are still in training, after ``step`` steps."""

    step: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Finished:
    """Runs that ended, with their weights as a safetensors file."""

    results: tuple[Result, ...]
    weights: bytes


@dataclass(frozen=True)
class Snapshot:
    """The weights of all members that are still in training after ``step`` steps, as a safetensors file."""

    step: int
    runs: tuple[str, ...]
    weights: bytes


@dataclass(frozen=True)
class Tick:
    """The group is alive, after ``step`` steps; several times a second, for progress bars, not recorded."""

    step: int


@dataclass(frozen=True)
class Saved:
    """A checkpoint of the whole group: the driver writes it."""

    step: int
    content: bytes


Event: TypeAlias = Tick | Progress | Snapshot | Finished | Saved
