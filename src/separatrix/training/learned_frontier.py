"""The learned frontier: the longest input that a model of each width learns, next to what its state can hold.

For a pattern such as ``LSTM-(1,W)`` each width W climbs a ladder of lengths: a grid of learning rates is trained as one
ensemble within a budget of steps, and the length counts as learned when its best run reaches the goal (99 % on fresh
examples). A width stops at the first length that it does not learn; all widths climb together, so that an executor with
several workers has something to do for each.

The bound next to it is a theorem about all weights (``separatrix.bounds``): a recurrent model whose state has too
few bits is wrong on some input of that length, however it was trained (BHBK24 Theorem 2 and its corollaries). Learning
stops far below it; how far is what this shows. "Not learned" is evidence about this recipe and budget, not a proof.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from separatrix.errors import SeparatrixError
from separatrix.models import ModelSpec, bounded_as, constant_state, parse_spec
from separatrix.tasks import tasks
from separatrix.training.grouping import Group
from separatrix.training.record import Record
from separatrix.training.spec import RunSpec
from separatrix.training.sweep import Cell

if TYPE_CHECKING:
    from separatrix.bounds import Judgement

Train: TypeAlias = Callable[[Sequence[Group]], Mapping[str, Record]]
"""Trains groups and returns the records of their runs by name."""
PRECISION_BITS = {"float32": 32, "float64": 64, "bfloat16": 32}
_WIDTH = re.compile(r"(\(\s*\d+\s*,\s*)W\b")


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """What is asked: a task, patterns of models with W for the width, widths, lengths to climb, and the recipe."""

    task: str
    patterns: tuple[str, ...]
    widths: tuple[int, ...]
    lengths: tuple[int, ...]
    learning_rates: tuple[float, ...]
    steps: int
    goal: float = 0.99
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("patterns", "widths", "lengths", "learning_rates"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise SeparatrixError(f"{name}={list(values)} must name at least one value, and none twice")
        if list(self.lengths) != sorted(self.lengths):
            raise SeparatrixError(f"lengths={list(self.lengths)} must ascend: a width climbs them one after another")
        for pattern in self.patterns:
            if _WIDTH.search(pattern) is None:
                raise SeparatrixError(f"{pattern!r} leaves no width open; write W for it, such as LSTM-(1,W)")
            for width in self.widths:
                for length in self.lengths:
                    self.cell(pattern, width, length)

    def model(self, pattern: str, width: int) -> str:
        """Return the model of a width, in its canonical form."""
        return str(parse_spec(_WIDTH.sub(lambda found: f"{found[1]}{width}", pattern)))

    def cell(self, pattern: str, width: int, length: int) -> Cell:
        """Return the runs that decide whether a width learns a length."""
        model = self.model(pattern, width)
        base = RunSpec(
            task=self.task, architecture=model, length=length, learning_rate=self.learning_rates[0], steps=self.steps,
            goal=self.goal, **self.settings,
        )  # fmt: skip
        runs = tuple(base.with_changes(learning_rate=rate) for rate in self.learning_rates)
        return Cell((("architecture", model), ("length", length)), runs)


@dataclass(frozen=True)
class Rung:
    """One length tried by one width: the best accuracy, and whether it reached the goal."""

    length: int
    accuracy: float
    learned: bool
    steps: int
    run: str


@dataclass(frozen=True)
class FrontierPoint:
    """How far a model climbed, and how far any weights could carry it."""

    pattern: str
    width: int
    model: str
    rungs: tuple[Rung, ...]
    state_bits: int | None
    bound: int | None
    bound_claim: str
    arithmetic: str = ""
    """What the bound holds for."""
    refuted: tuple[str, ...] = ()
    """Bounds of somebody's own that are false and were not used."""

    @property
    def learned(self) -> int | None:
        """The longest length it learned."""
        return max((rung.length for rung in self.rungs if rung.learned), default=None)

    @property
    def failed(self) -> Rung | None:
        """The first length it did not learn; None when it climbed the whole ladder."""
        return next((rung for rung in self.rungs if not rung.learned), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "pattern": self.pattern,
            "width": self.width,
            "model": self.model,
            "learned": self.learned,
            "failed": None if self.failed is None else self.failed.length,
            "state_bits": self.state_bits,
            "bound": self.bound,
            "bound_claim": self.bound_claim,
            "arithmetic": self.arithmetic,
            "refuted_bounds": list(self.refuted),
            "rungs": [vars(rung) for rung in self.rungs],
        }


def climb(ladder: Ladder, train: Train) -> list[FrontierPoint]:
    """Train what is needed and report every width; ``train`` may remember earlier runs, so that this is resumable."""
    climbing = [(pattern, width) for pattern in ladder.patterns for width in ladder.widths]
    rungs: dict[tuple[str, int], list[Rung]] = {place: [] for place in climbing}
    for length in ladder.lengths:
        if not climbing:
            break
        cells = {place: ladder.cell(*place, length) for place in climbing}
        found = train([cell.group() for cell in cells.values()])
        for place, cell in cells.items():
            best = cell.best(found)
            if best is None:
                raise SeparatrixError(f"{ladder.model(*place)} at length {length} was not trained; run it again")
            reached = best.result.accuracy >= ladder.goal
            rungs[place].append(Rung(length, best.result.accuracy, reached, best.result.step, best.spec.name))
        climbing = [place for place in climbing if rungs[place][-1].learned]
    return [_point(ladder, pattern, width, tuple(climbed)) for (pattern, width), climbed in rungs.items()]


def _point(ladder: Ladder, pattern: str, width: int, rungs: tuple[Rung, ...]) -> FrontierPoint:
    model = ladder.model(pattern, width)
    run = ladder.cell(pattern, width, ladder.lengths[0]).runs[0]
    spec, precision = parse_spec(model), PRECISION_BITS[run.precision]
    bound, claim, arithmetic = longest_possible(spec, run, precision)
    bits = spec.state_bits(ladder.lengths[0], precision) if constant_state(spec) else None
    refuted = tuple(each.in_words() for each in limits_of(spec, run, precision)[1])
    return FrontierPoint(pattern, width, model, rungs, bits, bound, claim, arithmetic, refuted)


def longest_possible(spec: ModelSpec, run: RunSpec, precision: int) -> tuple[int | None, str, str]:
    """Return the longest N that the catalog's bounds leave open to a model on a task, whose bound it is, and the
    arithmetic that it holds for.

    None where no bound bites: attention carries keys and values of the whole input, or nothing is known of the task.
    """
    return min(limits_of(spec, run, precision)[0], default=(None, "", ""))


def limits_of(spec: ModelSpec, run: RunSpec, precision: int) -> "tuple[list[tuple[int, str, str]], list[Judgement]]":
    """Return longest lengths, claims and arithmetics of all bounds that bite on a model that torch runs, and the bounds
    of somebody's own that are refuted."""
    from separatrix.bounds import floating, limits, protocol_bounds

    found = bounded_as(spec, run.length, precision)
    if found is None or run.task not in tasks():  # of a function or a preset no theorem speaks
        return [], []
    kind, size = found
    return limits(protocol_bounds(run.task, kind), size, run.the_task(), floating(precision))
