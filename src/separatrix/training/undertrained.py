"""When a low accuracy says little about a model: the one rule for undertrained runs, on data alone.

Tables, pictures, pages and frontiers all use it. A run that ended below its target is undertrained if

- it had less than half of the steps of another cell of the same comparison, or
- its accuracy was still rising or its loss still falling when its steps ended (or its curve is too short to tell), or
- it scored the majority baseline and had fewer steps than BHBK24 allows: runs that learn late look like this.

A run that reached its target, or diverged, is never undertrained. One that had enough steps, levelled off above chance
and missed the target is a result.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from separatrix.tasks import ConstantAnswer, Task, constant_scored, guessed_answer
from separatrix.training.events import Point
from separatrix.training.record import Record

LESS = 2
"""A cell had less than another by more than this factor."""
LEAST_RISE, ERRORS = 0.01, 3.0
"""Accuracy, and standard errors of the probes: a rise is more than either."""
LEAST_FALL = 0.01
"""The part of a loss by which it falls at least. Of 777 shipped runs, those at chance fall by less than 0.002."""
EXAMPLES = 16384
"""A constant answer is chosen on one half of so many examples and scored on the other."""
PAPER_STEPS = 250_000
"""What BHBK24 Appendix H allows a run."""
RULE = (
    "accuracy below the target, and less than half of the steps of another cell, or accuracy still rising, or loss "
    "still falling, or at chance"
)
"""The rule for those who read a table."""


def undertrained(
    record: Record, curve: Sequence[Point], wanted: float, most_steps: int, steps: int | None = None
) -> tuple[str, ...]:
    """Return the reasons why a run is undertrained; none where it is not.

    ``wanted`` is the accuracy that it was to reach, ``most_steps`` what any run of the comparison was allowed. A cell
    whose other runs had more steps and ended no better has had those: ``steps``.
    """
    result, steps = record.result, record.spec.steps if steps is None else steps
    if result.ending in ("goal", "diverged") or result.accuracy >= wanted:
        return ()
    found: list[str] = []
    if LESS * steps < most_steps:
        found.append(f"{thousands(steps)} of {thousands(most_steps)} steps")
    if result.ending == "steps":
        rising, falling = still_rising(curve, record.spec.probe_examples), still_falling(curve)
        found += ["accuracy still rising"] * bool(rising)
        found += ["loss still falling"] * bool(falling and not rising)
        found += ["too short a curve to tell"] * (rising is None)
    if steps < PAPER_STEPS and at_chance(record):
        found.append("at chance")
    return tuple(found)


def thousands(steps: int) -> str:
    """Return steps as tables write them.

    >>> thousands(2500), thousands(20_000)
    ('2.5k', '20k')
    """
    return f"{steps / 1000:g}k"


def still_rising(curve: Sequence[Point], probe: int = 512) -> bool | None:
    """Return whether the last quarter of a curve lies above the quarter before it, by more than the chance of probes of
    so many examples; None for a curve of fewer than four points.
    """
    quarter = len(curve) // 4
    if not quarter:
        return None
    before, last = _quarters([point.accuracy for point in curve])
    middle = (last + before) / 2
    error = math.sqrt(2 * middle * (1 - middle) / (probe * quarter))
    return last > before + max(LEAST_RISE, ERRORS * error)


def still_falling(curve: Sequence[Point]) -> bool | None:
    """Return whether the training loss of the last quarter lies below the quarter before it; None for a curve of fewer
    than four points.

    >>> falling = [Point("a", step, 1 / (1 + step), 0.0, 0.0) for step in range(8)]
    >>> still_falling(falling), still_falling(falling[:1])
    (True, None)
    """
    if len(curve) < 4:
        return None
    before, last = _quarters([point.loss for point in curve])
    return last < (1 - LEAST_FALL) * before


def _quarters(values: Sequence[float]) -> tuple[float, float]:
    """Return the means of the last quarter but one and of the last."""
    quarter = len(values) // 4
    return sum(values[-2 * quarter : -quarter]) / quarter, sum(values[-quarter:]) / quarter


def at_chance(record: Record) -> bool:
    """Return whether a run is not shown to beat a constant answer, by more than so many standard errors of the two."""
    spec = record.spec
    constant = _constant(spec.the_task(), spec.length)
    return record.result.accuracy <= constant.share + ERRORS * constant.combined_error(spec.evaluation_examples)


def no_better_than_guessing(record: Record) -> bool:
    """Return whether a run is not shown to beat a constant answer, nor a guess among the answers that an input
    offers."""
    spec = record.spec
    guessed = _guessed(spec.the_task(), spec.length)
    if guessed is None:
        return at_chance(record)
    beyond = guessed.share + ERRORS * guessed.combined_error(spec.evaluation_examples)
    return at_chance(record) or record.result.accuracy <= beyond


@lru_cache(maxsize=256)
def _guessed(task: Task, length: int) -> ConstantAnswer | None:
    return guessed_answer(task, length)


@lru_cache(maxsize=256)
def _constant(task: Task, length: int) -> ConstantAnswer:
    """Kept, because a figure asks for it cell by cell."""
    return constant_scored(task, length, EXAMPLES)
