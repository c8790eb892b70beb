"""The table: for each task and class of models how its size must grow with N, with the evidence from above and below.

A cell puts four kinds of things side by side: constructions that are built and certified here and now for all inputs
of one length, facts that need no theorem (``bounds/upper_bounds.py``), the lower bounds of the communication room
with their numbers at the same length, and trained weights that are certified for all inputs (``trained_models``).
Sizes are representation sizes in bits: state bits of recurrent models, m·p·H of attention layers, m·p of a feed-forward
network's first layer. Growth is up to powers of log N, so that "logarithmic" is what the papers write as width O(log N)
at precision O(log N).

A verdict is the growth where both sides meet, or where the size from above is at most logarithmic and no bound can say
more than that; otherwise it is open *here*: neither the papers nor this package settle it. A certified network, or a
fact, that is smaller than a bound allows raises :class:`ContradictionError`: one of the two would be wrong.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from separatrix.bounds import (
    FIXED,
    MODELS,
    ContradictionError,
    Fact,
    Growth,
    Model,
    ModelSize,
    Numbers,
    bounds_for,
    consistent_bounds,
    covered,
    facts_about,
    protocol_bounds,
    strongest_first,
    takes,
)
from separatrix.constructions import constructions
from separatrix.table.certified import LENGTH, Certified, model_of_construction
from separatrix.table.trained_models import TrainedModel, trained_on
from separatrix.tasks import Task, tasks

LONG = 4096
"""A second length for the bounds' widths, long enough for every bound to bite."""
PRECISION = 32
"""Bits of a number in the bounds' widths; constructions have their own."""
ORDER: tuple[Growth, ...] = ("constant", "logarithmic", "linear", "quadratic")
# Where a class of models contains another, it inherits what the smaller one can do.
CONTAINS: Mapping[Model, tuple[Model, ...]] = {
    "transformer-2layer": ("transformer-1layer",),
    "third-order": ("transformer-1layer",),
}
INHERITED = {
    "transformer-2layer": "the second layer may do nothing",
    "third-order": "with a constant second key a pair's weight is its first element's",
}
# Classes of functions that contain the functions of another task's bounds.
BOUNDED_BY: Mapping[str, tuple[str, str]] = {
    "dnf": ("sparse-threshold", "k-DNFs with up to N terms contain disjointness for k ≥ 2"),
    "cnf": ("sparse-threshold", "k-CNFs with up to N clauses contain the complement of disjointness for k ≥ 2"),
}


@dataclass(frozen=True)
class Side:
    """One piece of evidence from above or below; ``number`` is a certified width (× heads), or bits that are needed."""

    growth: Growth
    kind: str
    number: str
    short: str
    text: str
    source: str
    arithmetic: str = ""
    """What a bound holds for; from above, what it is known in where that is not the arithmetic that was asked about."""


@dataclass(frozen=True)
class Cell:
    """One task and one class of models."""

    task: str
    model: Model
    verdict: str
    upper: tuple[Side, ...]
    lower: tuple[Side, ...]
    remarks: tuple[str, ...]
    trained: tuple[TrainedModel, ...] = ()
    """Weights that were found by training, and certified for every input."""


def table(certified: Iterable[Certified], length: int = LENGTH) -> tuple[Cell, ...]:
    """Return every cell, tasks in alphabetical order; raises :class:`ContradictionError` if evidence disagrees."""
    sizes = tuple(certified)
    return tuple(cell(task, model, sizes, length) for task in tasks() for model in MODELS)


def cell(task: str, model: Model, certified: Iterable[Certified], length: int = LENGTH) -> Cell:
    """Return one cell of the table, from certified constructions, facts and bounds."""
    sizes = tuple(certified)
    upper, lower = upper_sides(task, model, sizes, length), lower_sides(task, model, length)
    remarks = [f"{each.claim}: {each.statement}" for each in bounds_for(task, model) if each.kind != "bound"]
    remarks += [
        f"{one.text} ({one.theorem}) in {one.arithmetic}, sums in the order of the positions; bounds for sums that are "
        "exact before they are rounded say nothing of it"
        for one in sizes
        if (one.task, one.model) == (task, model) and one.arithmetic != FIXED.name
    ]
    if not takes(model, task):
        return Cell(task, model, "not applicable", (), (), ("its inputs are not graphs",))
    if model == "graph-transformer":
        remarks += [f"{one.text} ({one.theorem}) by a higher-order graph unit" for one in sizes if one.task == task]
    verdict = _verdict(task, model, upper, lower)
    return Cell(task, model, verdict, upper, lower, tuple(remarks), trained_on(task, model))


class Solves(Protocol):
    """A construction, or what was certified of one."""

    def reason_for(self, task: str) -> str | None:
        """Return why it solves a task: empty for its own task, None where it does not solve it."""
        ...


Solver = TypeVar("Solver", bound=Solves)


def serving(found: Iterable[Solver], task: str) -> list[tuple[Solver, str]]:
    """Choose what solves a task, each with the reason; what is made for the task comes first."""
    pairs = [(each, why) for each in found if (why := each.reason_for(task)) is not None]
    return sorted(pairs, key=lambda pair: bool(pair[1]))


def upper_sides(task: str, model: Model, certified: Iterable[Certified], length: int) -> tuple[Side, ...]:
    """Return the evidence from above, smallest growth first; certified networks before facts of the same growth."""
    sizes = [one for one in certified if one.arithmetic == FIXED.name]
    sides: list[Side] = []
    for one, why in serving(sizes, task):
        if one.model not in (model, *CONTAINS.get(model, ())):
            continue
        reasons = [why] if why else []
        reasons += [INHERITED[model]] if one.model != model else []
        text = f"{one.text}{'; ' + '; '.join(reasons) if reasons else ''}"
        if not why:
            _check(task, one.model, one.size, one.length, one.construction)
        sides.append(Side(one.growth, "certified", one.number, one.short, text, one.theorem))
    for fact in facts_about(task, model):
        at = usable_length(tasks()[task], length)
        _check(task, model, fact.size(tasks()[task], at), at, fact.reason)
        sides.append(_fact_side(fact))
    return tuple(sorted(sides, key=lambda side: ORDER.index(side.growth)))


def upper_bounds(task: str, model: Model, numbers: Numbers = FIXED) -> tuple[Side, ...]:
    """Return what is known from above without certifying: constructions by name, and facts.

    What holds in the arithmetic comes first, smallest growth first; then what is known in fixed point alone, whose bits
    grow with N: each names its ``arithmetic``.
    """
    sides = [
        Side(
            each.growth,
            "construction",
            "",
            each.name,
            f"{each.name}: {each.statement}{'; ' + why if why else ''}",
            each.theorem,
            "" if numbers.exact_sums and numbers.fixed_bits else FIXED.name,
        )
        for each, why in serving(constructions().values(), task)
        if each.arithmetic_kind == FIXED.name and model_of_construction(each) in (model, *CONTAINS.get(model, ()))
    ]
    sides += [
        replace(_fact_side(fact), arithmetic="" if holds else FIXED.name)
        for fact in facts_about(task, model)
        for holds in [numbers.exact_sums or fact.rounded(numbers.bits or 0)]
    ]
    sides += [
        Side(each.growth, "construction", "", each.name, f"{each.name}: {statement}", each.theorem)
        for each in constructions().values()
        if each.task_name == task and each.arithmetic_kind != FIXED.name and model_of_construction(each) == model
        for statement in [each.statement_in(numbers.name)]
        if statement is not None
    ]
    return tuple(sorted(sides, key=lambda side: (bool(side.arithmetic), ORDER.index(side.growth))))


def _fact_side(fact: Fact) -> Side:
    return Side(fact.growth, "fact", "", fact.short, fact.reason, "not in the papers")


def lower_sides(task: str, model: Model, length: int) -> tuple[Side, ...]:
    """Return the evidence from below, the strongest bound first: the bounds with their numbers at a length."""
    name, why = BOUNDED_BY.get(task, (task, ""))
    sides: list[Side] = []
    chosen = tasks()[name]
    at, far = usable_length(chosen, length), usable_length(chosen, LONG)
    kept, _ = consistent_bounds(
        strongest_first(bounds_for(name, model), far, PRECISION, task=chosen), chosen, [at, far]
    )
    for bound in kept:
        bits, width = bound.required_bits(at, chosen), bound.smallest_width(far, PRECISION, task=chosen)
        state = "state bits" if model == "rnn" else "bits of communication"
        text = f"{bits} {state} at N = {at} ({bound.in_words}), so width ≥ {width} at N = {far}, p = {PRECISION}"
        kind = "extension" if bound.extension else "bound"
        full = f"{text}; {why}" if why else text
        within = covered(bound, FIXED, chosen).arithmetic
        sides.append(Side(bound.growth_for(name), kind, str(bits), f"{bits} bits", full, bound.claim, within))
    return tuple(sorted(sides, key=lambda side: -ORDER.index(side.growth)))


def _verdict(task: str, model: Model, upper: tuple[Side, ...], lower: tuple[Side, ...]) -> str:
    if not upper:
        return "open"
    above = ORDER.index(upper[0].growth)
    below = max((ORDER.index(side.growth) for side in lower), default=-1)
    if below > above:
        raise ContradictionError(
            f"{task} for {model}: {upper[0].text} is {upper[0].growth}, but {lower[0].source} says {lower[0].growth}; "
            "one of the two is wrong"
        )
    settled = above <= ORDER.index("logarithmic") or below == above
    return upper[0].growth if settled else "open"


def _check(task: str, model: Model | None, size: ModelSize, length: int, what: str) -> None:
    """Compare one size from above with every bound on it, in integers."""
    for bound in consistent_bounds(protocol_bounds(task, model) if model else (), tasks()[task], [length])[0]:
        bound.check_consistent(length, size, what, tasks()[task])


def usable_length(task: Task, length: int) -> int:
    """Return the task's length nearest below one of the table's."""
    return max(task.minimum_length, length - length % task.length_step)
