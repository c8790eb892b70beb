"""The answer to the inverse question as records: what a design needs at least, what is enough, which presets pass."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from separatrix.bounds import Model
from separatrix.tasks import Task

Kind: TypeAlias = Literal["recurrent", "windows", "one-layer", "two-layer", "hybrid"]
Evidence: TypeAlias = Literal["certified", "certificate recorded", "certified at a shorter length", "fact"]

CLASSES: dict[Kind, Model] = {"recurrent": "rnn", "one-layer": "transformer-1layer", "two-layer": "transformer-2layer"}


class Outcome(StrEnum):
    """What the bounds say about a preset at the length: every one that covers it is satisfied, one excludes it, or none
    speaks about it."""

    PASSES = "passes"
    EXCLUDED = "excluded"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Need:
    """A lower bound: so much of a quantity, with its arithmetic and what it holds for."""

    quantity: str
    at_least: int
    arithmetic: str
    claim: str
    in_the_papers: bool
    holds_for: str


@dataclass(frozen=True)
class Enough:
    """A size that suffices.

    ``width``: numbers of a state, or rows of a head's projections (m of BHBK24 §2). ``bits``: of the state, or m·p·H.
    ``memory_bits``: all that a causal model keeps of the whole text, its state or its keys and values; None where the
    network is not causal, or that is not known. ``certified_length``: of the certificate, None for facts.
    ``at_length``: the same construction or fact at another length, certified there or not, None where it has no network
    of it.
    """

    name: str
    source: str
    evidence: Evidence
    layers: int
    heads: int
    width: int
    precision_bits: int
    bits: int
    how: str
    memory_bits: int | None = None
    model_width: int | None = None
    certified_length: int | None = None
    at_length: "Callable[[int], Enough | None] | None" = field(default=None, repr=False, compare=False)

    def plain(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {name: each for name, each in asdict(self).items() if name != "at_length"}


@dataclass(frozen=True)
class Row:
    """One design: what it needs, all of it at once, and what is enough, the smallest first."""

    design: Kind
    needs: tuple[Need, ...]
    enough: tuple[Enough, ...]
    remark: str = ""


@dataclass(frozen=True)
class Judged:
    """What the bounds say about one preset: the bits that it keeps of the text, and those that the task needs."""

    preset: str
    outcome: Outcome
    reason: str
    needed_bits: int | None
    available_bits: int | None
    context: int | None


@dataclass(frozen=True)
class Design:
    """The answer for one task and length."""

    task: Task
    length: int
    precision: int
    heads: int
    rows: tuple[Row, ...]
    presets: tuple[Judged, ...]

    def row(self, design: Kind) -> Row:
        """Return the row of a design."""
        return next(each for each in self.rows if each.design == design)

    def judged(self, outcome: Outcome) -> tuple[Judged, ...]:
        """Return the presets of one outcome."""
        return tuple(each for each in self.presets if each.outcome is outcome)

    def plain(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "task": self.task.name,
            "parameters": dict(self.task.parameters()),
            "length": self.length,
            "positions": self.task.positions(self.length),
            "accuracy": "exact",
            "precision_bits": self.precision,
            "heads": self.heads,
            "designs": [
                {
                    "design": row.design,
                    "needs": [asdict(need) for need in row.needs],
                    "enough": [each.plain() for each in row.enough],
                    "remark": row.remark,
                }
                for row in self.rows
            ],
            "presets": [asdict(each) for each in self.presets],
        }
