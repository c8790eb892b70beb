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
from dataclasses import dataclass
from itertools import product

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
    be right on everywhere, ``limit`` the longest on which any may have the accuracy ``goal`` on average.

    ``learned`` is the longest length that was learned to the goal, ``failed`` the shortest longer one that was not.
    ``open_ended``: training may reach further, since nothing longer was tried, or what was is undertrained. ``gap``:
    how many times longer the limit is than what was learned.
    """

    model: str
    layer: str
    state_bits: int
    bound: int
    claim: str
    limit: int
    goal: float
    tried: tuple[Tried, ...]
    learned: int | None
    failed: int | None
    open_ended: bool
    gap: float | None
    in_words: str

    @property
    def family(self) -> str:
        """The kind of its layers."""
        return self.model.partition("-(")[0]

    @property
    def next_tried(self) -> str:
        """The next longer length, its accuracy, and why it says little, if it does."""
        tried = next((one for one in self.tried if one.length == self.failed), None)
        if tried is None:
            return "nothing longer"
        why = "".join(f", {reason}" for reason in tried.undertrained)
        spent = f"{tried.steps / 1000:g}k × {tried.runs}{why}"
        return f"N = {tried.length}: {100 * tried.accuracy:.1f} %{'*' * bool(why)} ({spent})"


@dataclass(frozen=True)
class View:
    """All models at one accuracy and recipe, the smallest state first; ``nearest`` comes nearest to its limit."""

    recipe: str
    goal: float
    models: tuple[Reached, ...]
    nearest: str | None

    @property
    def key(self) -> str:
        """Its name in the page's style."""
        return f"{str(self.goal).replace('.', '_')}-{self.recipe}"

    @property
    def sentence(self) -> str:
        """What it shows, in words."""
        percent = f"{100 * self.goal:g} %"
        best = next((each for each in self.models if each.model == self.nearest), None)
        if best is None:
            return f"No recorded run reaches {percent}."
        return (
            f"{best.model} comes nearest: it learned N = {best.learned} to {percent}; the bound excludes its "
            f"{best.state_bits:,} bits of state only beyond N = {best.limit:,}, which is {best.gap:,.0f} times as long."
        )


@dataclass(frozen=True)
class StateLimits:
    """All views."""

    goals: tuple[float, ...]
    recipes: tuple[str, ...]
    views: tuple[View, ...]


def best_by_length(records: Iterable[Record], source: RunSource, goal: float, most_steps: int) -> tuple[Tried, ...]:
    """Return the best run at each length, shortest first."""
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
    """Return every recurrent model with recorded runs of index lookup over 64 symbols, the smallest state first.

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
            found.append(_reached(model, spec.entries[0].name, state, bound, claim, limit, goal, tried))
    return sorted(found, key=lambda each: (each.state_bits, each.model))


def _reached(
    model: str, layer: str, state_bits: int, bound: int, claim: str, limit: int, goal: float, tried: tuple[Tried, ...]
) -> Reached:
    learned = max((each.length for each in tried if each.accuracy >= goal), default=None)
    failed = next((each for each in tried if each.length > (learned or 0)), None)
    gap = None if learned is None else limit / learned
    percent = f"{100 * goal:g} %"
    said = "no length tried was learned" if learned is None else f"learned N = {learned}"
    ended = "; nothing longer was tried"
    if failed is not None:
        why = f", undertrained: {', '.join(failed.undertrained)}" if failed.undertrained else ""
        ended = f"; not N = {failed.length} ({100 * failed.accuracy:.1f} %{why})"
    times = "" if gap is None else f", {gap:,.0f} times as long"
    words = (
        f"{model}, {state_bits:,} bits of state: {said} to {percent}{ended}. No weights reach {percent} beyond "
        f"N = {limit:,}{times}"
    )
    return Reached(
        model, layer, state_bits, bound, claim, limit, goal, tried, learned, failed and failed.length,
        failed is None or bool(failed.undertrained), gap, words,
    )  # fmt: skip


def state_limits(source: RunSource) -> StateLimits | None:
    """Return all views; None where no recurrent model has a record."""
    views: list[View] = []
    for recipe, goal in product(RECIPES, GOALS):
        reached = tuple(state_limit(source, goal, recipe))
        if reached:
            views.append(View(recipe, goal, reached, nearest(reached)))
    recipes = tuple(dict.fromkeys(view.recipe for view in views))
    return StateLimits(GOALS, recipes, tuple(views)) if views else None


def nearest(reached: Sequence[Reached]) -> str | None:
    """Return the model whose training came nearest to its limit."""
    gaps = {each.model: each.gap for each in reached if each.gap is not None}
    return min(gaps, key=lambda model: gaps[model], default=None)
