"""Learned against impossible: the longest input that recurrent models of growing state learned, next to the longest
that any weights could carry them.

Both numbers come from what is there: records of runs (the best run of a model at each length, under one recipe or any),
and the lower bounds of ``separatrix.bounds`` (BHBK24 Theorem 3 with all symbols: the state's bits against
N·⌊log2 |Σ|⌋) for models that are right on every input, with ``communication.random_access`` for an accuracy on average,
which is what a run measures. The longest learned length is one of those that were tried, so it is a lower bound on
what training can do. A longer length that failed says little where its best run is undertrained (``undertrained``);
then ``open_ended`` says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from separatrix.communication import longest_on_average
from separatrix.models import code_named_in, constant_state, parse_spec
from separatrix.training.learned_frontier import PRECISION_BITS, longest_possible
from separatrix.training.record import Record, best_of
from separatrix.training.run_source import RunSource
from separatrix.training.undertrained import undertrained

NAME = "state-limit"
TASK = "index-lookup"
GOALS = (0.99, 0.9, 0.5)
"""Accuracies that count as learned, the strictest first."""
RECIPES = ("strong", "any")


@dataclass(frozen=True)
class Tried:
    """The best recorded run of a model at a length; ``runs`` were compared, ``undertrained`` are the reasons why its
    accuracy says little."""

    length: int
    accuracy: float
    steps: int
    runs: int
    run: str
    recipe: str
    undertrained: tuple[str, ...]


@dataclass(frozen=True)
class Reached:
    """How far a model was trained, and how far any weights could carry it: ``bound`` is the longest input that any may
    be right on everywhere, ``limit`` the longest on which any may have the accuracy ``goal`` on average."""

    model: str
    layer: str
    state_bits: int
    bound: int
    claim: str
    limit: int
    goal: float
    tried: tuple[Tried, ...]

    @property
    def learned(self) -> Tried | None:
        """The longest length that was learned to the goal."""
        reached = [each for each in self.tried if each.accuracy >= self.goal]
        return reached[-1] if reached else None

    @property
    def failed(self) -> Tried | None:
        """The shortest longer length that was tried and not learned; the shortest of all where none was learned."""
        beyond = 0 if self.learned is None else self.learned.length
        return next((each for each in self.tried if each.length > beyond), None)

    @property
    def open_ended(self) -> bool:
        """Whether training may reach further: nothing longer was tried, or what was is undertrained."""
        return self.failed is None or bool(self.failed.undertrained)

    @property
    def gap(self) -> float | None:
        """How many times longer the limit is than what was learned."""
        return None if self.learned is None else self.limit / self.learned.length

    def in_words(self) -> str:
        """One sentence with all numbers."""
        percent = f"{100 * self.goal:g} %"
        said = "no length tried was learned" if self.learned is None else f"learned N = {self.learned.length}"
        ended = "; nothing longer was tried"
        if self.failed is not None:
            why = f", undertrained: {', '.join(self.failed.undertrained)}" if self.failed.undertrained else ""
            ended = f"; not N = {self.failed.length} ({100 * self.failed.accuracy:.1f} %{why})"
        times = "" if self.gap is None else f", {self.gap:,.0f} times as long"
        return (
            f"{self.model}, {self.state_bits:,} bits of state: {said} to {percent}{ended}. No weights reach {percent} "
            f"beyond N = {self.limit:,}{times}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            **asdict(self), "learned": None if self.learned is None else self.learned.length,
            "failed": None if self.failed is None else self.failed.length,
            "open_ended": self.open_ended, "gap": self.gap, "in_words": self.in_words(),
        }  # fmt: skip


def best_by_length(records: Iterable[Record], source: RunSource, goal: float, most_steps: int) -> tuple[Tried, ...]:
    """The best run at each length, shortest first."""
    by_length: dict[int, list[Record]] = {}
    for record in records:
        by_length.setdefault(record.spec.length, []).append(record)
    found: list[Tried] = []
    for length, held in sorted(by_length.items()):
        best = best_of(held)
        assert best is not None
        steps = max([best.spec.steps, *(each.spec.steps for each in held if each.result.ending != "pruned")])
        why = undertrained(best, source.curve(best.spec.name), goal, most_steps, steps)
        accuracy, run = best.result.accuracy, best.spec.name
        found.append(Tried(length, accuracy, best.spec.steps, len(held), run, best.spec.recipe, why))
    return tuple(found)


def state_limit(source: RunSource, goal: float = GOALS[0], recipe: str = RECIPES[0]) -> list[Reached]:
    """Every recurrent model with recorded runs of index lookup over 64 symbols, the smallest state first.

    Code that only a record names is not run, so that such models are left out; so are models that no bound limits.
    """
    by_model: dict[str, list[Record]] = {}
    for record in source.all():
        spec = record.spec
        if spec.task == TASK and not spec.task_parameters and recipe in (spec.recipe, "any"):
            by_model.setdefault(spec.architecture, []).append(record)
    recurrent = {
        model: records
        for model, records in by_model.items()
        if not code_named_in(model) and constant_state(parse_spec(model))
    }
    most = max((record.spec.steps for records in recurrent.values() for record in records), default=0)
    found: list[Reached] = []
    for model, records in recurrent.items():
        # The widest numbers that any of its runs used: the bound then holds for all of them.
        run = max((record.spec for record in records), key=lambda each: PRECISION_BITS[each.precision])
        spec, bits = parse_spec(model), PRECISION_BITS[run.precision]
        bound, claim, _ = longest_possible(spec, run, bits)
        state = spec.state_bits(run.length, bits)
        limit = longest_on_average(state, run.the_task().classes(run.length), goal)
        if bound is not None and limit is not None:
            tried = best_by_length(records, source, goal, most)
            found.append(Reached(model, spec.entries[0].name, state, bound, claim, limit, goal, tried))
    return sorted(found, key=lambda each: (each.state_bits, each.model))


def nearest(reached: Sequence[Reached]) -> Reached | None:
    """The model whose training came nearest to its limit."""
    return min((each for each in reached if each.gap is not None), key=lambda each: each.gap or 0.0, default=None)
