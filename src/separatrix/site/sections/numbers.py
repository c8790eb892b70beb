"""The numbers behind the table's sliders: for every cell, sizes from above and below over a grid of N and precision.

Everything is computed exactly by the same functions as the table itself: lower bounds by the communication room,
for every N and every p; sizes of constructions by building them (a network that is built is not certified; the
certified sizes are those of the section ``constructions``), and where building takes long, by the size that the
theorem claims if that does not depend on a code; sizes of simple reasons by ``bounds/upper_bounds``.

The page only looks up what is here, so that its sliders cannot show anything that was not computed.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy

from separatrix.arithmetic import delsarte_width
from separatrix.bounds import (
    FIXED,
    MODELS,
    Model,
    ModelSize,
    ProtocolBound,
    bounds_for,
    consistent_bounds,
    covered,
    facts_about,
    takes,
)
from separatrix.constructions import Built, Construction, addresses, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Network, SignRows
from separatrix.site.section import Advance, Section
from separatrix.table import BOUNDED_BY, CONTAINS, INHERITED, kind_of, model_of_construction, serving, usable_length
from separatrix.tasks import Task, tasks

POWERS = tuple(range(4, 21))
LENGTHS: tuple[int, ...] = tuple(1 << power for power in POWERS)
PRECISIONS = (4, 8, 16, 32, 64)
LENGTH, PRECISION = 1024, 16
"""Where the sliders are at first, and what is shown without them."""
LONGEST_STORED: dict[tuple[str, Model], int] = {
    ("associative-recall", "rnn"): 1 << 17, ("eq-one", "rnn"): 1 << 19, ("mqar", "rnn"): 1 << 17,
    ("sparse-averaging", "rnn"): 1 << 17,
}  # fmt: skip
"""A network that stores its input needs the number of all inputs: where the next length takes seconds to count."""
SLOW = 10.0
"""Seconds of processor time after which nothing longer is built: for constructions and tasks of the user's."""
CODE_SLOTS = ("address", "key")
"""Slots of a residual stream that hold a vector of a code."""
MOST_ADDRESSES = 1 << 21
INNER = Fraction(1, 4)
"""The largest inner product of two addresses in the theorems' own codes."""


@dataclass(frozen=True)
class NetworkSize:
    """The size of one network; what is None is not known. ``limit`` is its width with the narrowest sign code that
    Delsarte's linear program leaves open."""

    length: int
    width: int
    heads: int | None = None
    precision: int | None = None
    size_bits: int | None = None
    limit: int | None = None

    @property
    def product(self) -> int:
        """Width × heads."""
        return self.width * max(1, self.heads or 1)


@dataclass(frozen=True)
class BuiltSizes:
    """The networks of one construction; ``kind`` is their class in words, ``model`` its column where it has one."""

    task: str
    model: Model | None
    kind: str
    sizes: tuple[NetworkSize, ...]


@dataclass(frozen=True)
class Serving:
    """A construction that solves the task of a cell, with the reason where it is made for another task or class."""

    name: str
    because: str


@dataclass(frozen=True)
class FactSize:
    """What a simple argument needs at one length."""

    length: int
    state_bits: int | None
    width: int
    heads: int
    precision: int


@dataclass(frozen=True)
class FactSizes:
    """A simple argument from above, in few words and in full."""

    growth: str
    short: str
    reason: str
    sizes: tuple[FactSize, ...]


@dataclass(frozen=True)
class BoundSizes:
    """A lower bound: ``bits[n]`` at each length, ``widths[p][n]`` at each precision and length."""

    name: str
    claim: str
    in_the_papers: bool
    growth: str
    bounded: str
    arithmetic: str
    because: str
    bits: tuple[int, ...]
    widths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class CellSizes:
    """One cell from both sides."""

    constructions: tuple[Serving, ...]
    facts: tuple[FactSizes, ...]
    bounds: tuple[BoundSizes, ...]


@dataclass(frozen=True)
class Place:
    """A place of the sliders."""

    length: int
    precision: int


@dataclass(frozen=True)
class NumbersResults:
    """The grid: what was built by construction, and the cells by task and class of models."""

    lengths: tuple[int, ...]
    precisions: tuple[int, ...]
    shown: Place
    constructions: Mapping[str, BuiltSizes]
    cells: Mapping[str, Mapping[Model, CellSizes]]


@dataclass(frozen=True, kw_only=True)
class NumbersSection(Section[NumbersResults]):
    """Grids of N and p for every cell of the table."""

    name: str = "numbers"
    title: str = "Numbers over N and precision"
    order: int = 6
    results_type: type = NumbersResults

    @property
    def units(self) -> int:
        """One for each length and one for each task."""
        return len(LENGTHS) + len(tasks())

    def collect(self, advance: Advance) -> NumbersResults:
        """Find the sizes of every construction, then of every cell."""
        kinds: dict[str, Model | None] = {each.name: model_of_construction(each) for each in constructions().values()}
        sizes: dict[str, list[NetworkSize]] = {name: [] for name in constructions()}
        slow: set[str] = set()
        # All constructions at one length before the next, because many share their codes.
        for length in LENGTHS:
            for construction in constructions().values():
                found = size_at(construction, length, slow)
                sizes[construction.name] += [found] if found is not None else []
            advance(f"built networks for N = {length}")
        built = {
            name: BuiltSizes(each.task_name, kinds[name], kind_of(each), tuple(sizes[name]))
            for name, each in constructions().items()
        }
        cells: dict[str, dict[Model, CellSizes]] = {}
        for task in tasks():
            cells[task] = {model: _cell(task, model, kinds) for model in MODELS if takes(model, task)}
            advance(f"bounds of {task} for many N")
        return NumbersResults(LENGTHS, PRECISIONS, Place(LENGTH, PRECISION), built, cells)


def size_at(construction: Construction, length: int, slow: set[str]) -> NetworkSize | None:
    """Return the size of one network; None where there is none or its size is not known.

    ``slow`` are the constructions that are not built any more; one that takes too long is added.
    """
    if construction.name in slow or length > (construction.longest_built or length):
        return _claimed_size(construction, length)
    try:
        started = time.process_time()
        built = construction.build(length)
    except SeparatrixError:
        return None  # outside the theorem's domain, or too large to build
    if time.process_time() - started > SLOW:
        slow.add(construction.name)
    network, precision = built.network, built.arithmetic.precision_bits
    limit = _width_at_the_limit(construction, built)
    return NetworkSize(length, network.width, network.heads, precision, network.size_bits(precision), limit)


def _claimed_size(construction: Construction, length: int) -> NetworkSize | None:
    task = tasks()[construction.task_name]
    if not task.minimum_length <= length <= task.maximum_length:
        return None
    claimed = construction.claimed_width(task, length, 0)
    # A claimed width that depends on a code is not known without one.
    if claimed != construction.claimed_width(task, length, 1):
        return None
    return NetworkSize(length, claimed)


def _width_at_the_limit(construction: Construction, built: Built) -> int | None:
    """Return how wide the network would be with the narrowest sign code that Delsarte's linear program leaves open.

    None where its addresses are not the construction room's sign code for inner products up to 1/4.
    """
    network = built.network
    if not isinstance(network, Network):
        return None
    part = next((part for part in network.embedding if part.slot in CODE_SLOTS), None)
    if part is None or not isinstance(part.rule, SignRows):
        return None
    first, last = part.tokens if part.source == "token" else part.positions
    if last - first > MOST_ADDRESSES:
        return None
    rows = numpy.arange(last - first) if part.indices is None else part.indices[: last - first]
    # Rows whose numbers differ only where the generator is 0 are the same address.
    used = sum(1 << place for place, row in enumerate(part.rule.generator) if row.any())
    seen = numpy.zeros(part.rule.count, dtype=bool)
    seen[rows & used] = True
    count = int(seen.sum())
    if part.rule.width != addresses(count, INNER, None).width:
        return None
    return construction.claimed_width(built.task, built.length, _smallest_code(count))


@cache
def _smallest_code(count: int) -> int:
    return delsarte_width(count, INNER).width


def _cell(task: str, model: Model, kinds: dict[str, Model | None]) -> CellSizes:
    longest = LONGEST_STORED.get((task, model), LENGTHS[-1])
    facts = tuple(
        FactSizes(fact.growth, fact.short, fact.reason, tuple(_sizes(fact.size, tasks()[task], longest)))
        for fact in facts_about(task, model)
    )
    return CellSizes(tuple(constructions_for(task, model, kinds)), facts, tuple(_bounds(task, model)))


def constructions_for(task: str, model: Model, kinds: dict[str, Model | None]) -> Iterator[Serving]:
    """Yield the constructions that serve a cell."""
    for construction, why in serving(constructions().values(), task):
        kind = kinds[construction.name]
        if kind not in (model, *CONTAINS.get(model, ())):
            continue
        # The bounds next to it are about fixed point and say nothing of other arithmetics.
        if construction.arithmetic_kind != FIXED.name:
            continue
        reasons = [*([why] if why else []), *([INHERITED[model]] if kind != model else [])]
        yield Serving(construction.name, "; ".join(reasons))


def _sizes(size: Callable[[Task, int], ModelSize], task: Task, longest: int) -> Iterator[FactSize]:
    for length in LENGTHS:
        if length > min(task.maximum_length, longest):
            return
        started = time.process_time()
        found = size(task, usable_length(task, length))
        yield FactSize(length, found.state_bits, found.width, found.heads, found.precision)
        if time.process_time() - started > SLOW:
            return


def _bounds(task: str, model: Model) -> Iterator[BoundSizes]:
    name, why = BOUNDED_BY.get(task, (task, ""))
    chosen = tasks()[name]
    for bound in bounds_for(name, model):
        lengths = [usable_length(chosen, length) for length in LENGTHS]
        if not isinstance(bound, ProtocolBound) or not consistent_bounds([bound], chosen, lengths)[0]:
            continue
        yield BoundSizes(
            bound.name, bound.claim, bound.in_the_papers, bound.growth_for(name), bound.quantity,
            covered(bound, FIXED, chosen).arithmetic, why,
            tuple(bound.required_bits(length, chosen) for length in lengths),
            tuple(
                tuple(bound.smallest_width(length, precision, task=chosen) for length in lengths)
                for precision in PRECISIONS
            ),
        )  # fmt: skip


SECTION = NumbersSection()
