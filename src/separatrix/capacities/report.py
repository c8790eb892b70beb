"""What a model of given sizes cannot do, at any weights: the bounds of the two papers read backwards.

The arithmetic is that of :mod:`separatrix.bounds`; which of them cover a model is decided in
:mod:`separatrix.capacities.coverage`. What one layer of a deeper Transformer cannot do by itself is listed
for comparison, as SHT23's table of model sizes invites; it does not bind the stack.

One more limit needs no theorem: in a stack of local attention alone, nothing further back than the sum of the windows
reaches the output (:mod:`separatrix.capacities.receptive_field`).

A bound is used only where its simulation covers the arithmetic in which the model computes
(:func:`separatrix.bounds.covered`), which is the floating point of its numbers unless another is
requested; each limit names the arithmetic that it holds for.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from separatrix.bounds import (
    Judgement,
    Model,
    ModelSize,
    Numbers,
    ProtocolBound,
    agreed_bits,
    consistent_bounds,
    covered,
    floating,
    origin,
    protocol_bounds,
)
from separatrix.capacities.budget import Budget, CacheNeed, cache_needs
from separatrix.capacities.coverage import is_softmax, which_bounds
from separatrix.capacities.held_bytes import LENGTHS, Crossover, Memory, bytes_at, crossover, memory
from separatrix.capacities.layers import LayerDescription, ModelDescription, StatePart
from separatrix.capacities.number_formats import Bits, bounded_state_bits, number_bits, part_bits
from separatrix.capacities.receptive_field import DISTANCES, longest_within
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task, tasks

Scope: TypeAlias = Literal["model", "one layer alone"]

LARGEST_PRECISION = 4096
LARGEST_LENGTH = 10**18

CAVEATS = (
    "Impossible means: for every choice of weights, some input of that length is answered wrongly. It implies nothing "
    "about most inputs or about shorter ones: satisfying a bound implies neither ability nor learnability.",
    "The model is deterministic, every number it passes on has the bits listed, and its state is all that it passes "
    "on. Where an implementation keeps part of its state in more bits, give them with --precision.",
    "The input is read once, and the query comes last. A second pass over the input invalidates the bound. Tokens that "
    "the model writes after the query do not, because they are computed from the same state.",
    "Lengths count symbols of the task (vertices of a graph, read row by row), not tokens of a tokeniser. Embeddings, "
    "feed-forwards and the update may be any functions.",
)


@dataclass(frozen=True)
class Limit:
    """One task that becomes impossible.

    ``longest`` is the largest length still open (None if all are) and ``first_impossible`` the next length of
    the task: from there on every length is impossible. ``arithmetic``: what it holds for. ``from_file``: the file of a
    user's bound.
    """

    task: str
    parameters: Mapping[str, Any]
    scope: Scope
    model: Model
    bound: str
    claim: str
    in_the_papers: bool
    longest: int | None
    first_impossible: int | None
    needs: str
    arithmetic: str
    layer: str = ""
    at_length: int | None = None
    needed_bits: int | None = None
    available_bits: int | None = None
    from_file: str = ""

    @property
    def impossible_at_length(self) -> bool | None:
        """Whether the task is impossible at the length that was asked for."""
        if self.at_length is None:
            return None
        if self.needed_bits is not None and self.available_bits is not None:
            return self.needed_bits > self.available_bits
        return self.longest is not None and self.at_length > self.longest


@dataclass(frozen=True)
class Capacity:
    """Everything the bounds say about one model.

    ``numbers``: the bits of a number in the model's own format. ``given``: the bits that were given for every number,
    None where each part of the state has its own. ``silent``: tasks with a bound that does not cover the ``arithmetic``
    of the model, each with the reason. ``budget``: what its caches may keep, and ``needs`` what the tasks need of them;
    empty where it has none that grow, or is not known to be causal. ``refuted``: bounds of somebody's own that are
    false, each as a task and a sentence; none of the limits is theirs.
    """

    model: ModelDescription
    numbers: Bits
    length: int | None
    applies: tuple[Model, ...]
    reason: str
    limits: tuple[Limit, ...]
    arithmetic: Numbers
    caveats: tuple[str, ...] = CAVEATS
    refuted: tuple[tuple[str, str], ...] = ()
    silent: tuple[tuple[str, str], ...] = ()
    budget: Budget = field(default_factory=Budget)
    needs: tuple[CacheNeed, ...] = ()

    @property
    def memory(self) -> Memory:
        """The bytes that a text takes."""
        return memory(self.model, self.given)

    @property
    def bytes_at(self) -> dict[int, int]:
        """The bytes of a text of 8k, 128k and 1M tokens, and of the length that was asked about."""
        asked = () if self.length is None else (self.length,)
        return {length: bytes_at(self.model, length, self.given) for length in sorted({*LENGTHS, *asked})}

    @property
    def crossover(self) -> Crossover | None:
        """From which length on its states take fewer bytes than caches in their place."""
        return crossover(self.model, self.given)

    @property
    def precision(self) -> int:
        """Bits of a number in the model's own format."""
        return self.numbers.bits

    @property
    def given(self) -> int | None:
        """The bits that were given for every number."""
        return self.numbers.bits if self.numbers.source == "given" else None

    @property
    def state_bits(self) -> int | None:
        """Bits that the model hands from token to token; ``None`` where they grow with the length."""
        return None if self.model.state_numbers is None else self.bounded_state_bits

    @property
    def bounded_state_bits(self) -> int:
        """Bits of the layers with bounded memory alone."""
        return bounded_state_bits(self.model, self.given)

    @property
    def parts(self) -> tuple[tuple[StatePart, int, Bits], ...]:
        """The arrays of all layers of bounded memory, how many numbers of each are kept, and their bits."""
        return tuple(
            (part, part.numbers * layer.count, part_bits(self.model, part, self.given))
            for layer in self.model.layers
            for part in layer.state
            if layer.bounded
        )

    @property
    def guessed(self) -> bool:
        """Whether the bits of some number are a guess."""
        return any(bits.source == "guess" for bits in (self.numbers, *(bits for _, _, bits in self.parts)))


def capacity(
    model: ModelDescription,
    precision: int | None = None,
    length: int | None = None,
    alphabet: int = 64,
    only: Collection[str | Task] | None = None,
    arithmetic: Numbers | None = None,
    budget: Budget | None = None,
) -> Capacity:
    """What a model cannot do at any weights; ``alphabet`` is the number of symbols of index lookup.

    ``precision`` is the bits of each number, and then of every one; left out, each part of the state has those that its
    config and its code give it (:mod:`separatrix.capacities.number_formats`). ``only`` are the tasks to
    speak about, or their names; without it all are. ``arithmetic`` is what the model computes in; left out, the
    floating point of its numbers. ``budget`` is what its caches may keep; left out, everything.

    >>> from separatrix.capacities import describe
    >>> found = capacity(describe("rnn-1-128"), precision=64, alphabet=2)
    >>> found.state_bits
    8192
    >>> next(limit.longest for limit in found.limits if limit.task == "index-lookup")
    8192
    """
    if arithmetic is not None and (named := agreed_bits(arithmetic, precision)) is not None:
        parts = [part_bits(model, part).bits for layer in model.layers for part in layer.state]
        # A part of the state may be kept in more bits than the model computes in, and none in fewer than it says.
        if precision is None and named > number_bits(model).bits:
            precision = max([named, *parts])
    own = number_bits(model, precision)
    bits = own.bits
    check_sizes(bits, length)
    applies, reason = which_bounds(model)
    computed = floating(bits) if arithmetic is None else arithmetic
    gate = _Gate(_tasks(alphabet, only), length, computed)
    limits: list[Limit] = []
    numbers = model.state_numbers
    if numbers == 0:
        raise SeparatrixError(
            f"{model.name} hands nothing from one position to the next: its windows hold the position itself alone, "
            "so every task that asks about another one is out of its reach; correct the window"
        )
    if "rnn" in applies and numbers is not None:
        size = ModelSize(width=numbers, precision=bits, state_bits=bounded_state_bits(model, precision))
        limits += gate.limits("rnn", size, "model")
        limits += _reach(model, gate.asked, length)
    if "graph-transformer" in applies:
        shapes = {(layer.head_width, layer.heads) for layer in model.layers}
        # Layers of different shapes are no wider, in sum over heads, than so many of the largest.
        size = ModelSize(max(m for m, _ in shapes), bits, max(heads for _, heads in shapes), model.depth)
        limits += gate.limits("graph-transformer", size, "model")
    if "transformer-1layer" in applies:
        size = _layer_size(model.layers[0], bits)
        limits += gate.limits("transformer-1layer", size, "model")
    elif all(layer.kind == "attention" and is_softmax(layer) for layer in model.layers):
        for layer in model.layers:
            size = _layer_size(layer, bits)
            limits += gate.limits("transformer-1layer", size, "one layer alone", _shape(layer))
    false = tuple(dict.fromkeys((each.task.name, each.in_words()) for each in gate.refuted))
    strongest = tuple(_strongest(limits))
    spoken = {limit.task for limit in strongest}
    silent = tuple((task, why) for task, why in gate.silent.items() if task not in spoken)
    kept = budget or Budget()
    needs = cache_needs(model, gate.asked.values(), length or LENGTHS[1], kept, computed, precision)
    return Capacity(
        model, own, length, applies, reason, strongest, computed, refuted=false, silent=silent, budget=kept, needs=needs
    )  # fmt: skip


def check_sizes(precision: int | None, length: int | None) -> None:
    """Raise a one-line error for bits of a number or a length out of range."""
    if precision is not None and not 1 <= precision <= LARGEST_PRECISION:
        raise SeparatrixError(f"precision {precision} is out of range; choose 1 to {LARGEST_PRECISION} bits a number")
    if length is not None and not 1 <= length <= LARGEST_LENGTH:
        raise SeparatrixError(f"length {length} is out of range; choose 1 to {LARGEST_LENGTH:.0e}")


def _strongest(limits: list[Limit]) -> list[Limit]:
    """One limit for each task and scope (and shape of layer): what is open under one bound may be impossible under
    another, so of several the one that leaves the shortest length open speaks."""
    best: dict[tuple[str, str, str], Limit] = {}
    for limit in limits:
        key = (limit.task, limit.scope, limit.layer)
        if key not in best or _order(limit) < _order(best[key]):
            best[key] = limit
    return list(best.values())


BOUNDED: Mapping[str, Mapping[str, Any]] = {
    "nearest-neighbour": {"points": "hypercube", "dimension": 256, "margin": "1/128"},
    "sparse-threshold": {"instance": "disjointness"},
}
"""Parameters with which a bound speaks at every length: a space with room for as many points as any length has, and the
member of a class that the bound is about."""


def _tasks(alphabet: int, only: Collection[str | Task] | None) -> dict[str, Task]:
    """The tasks to speak about, index lookup over the given number of symbols where it is named."""
    changes = {**BOUNDED, "index-lookup": {"alphabet": alphabet}}
    chosen = {**tasks(), **{name: tasks()[name].with_parameters(**each) for name, each in changes.items()}}
    # The member has two halves, which not every length of the class has.
    chosen["sparse-threshold"] = replace(chosen["sparse-threshold"], minimum_length=4, length_step=2)
    # Through the catalog, which explains an unknown name.
    if only is None:
        return chosen
    named = [each if isinstance(each, Task) else chosen[tasks()[each].name] for each in only]
    return {each.name: each for each in named}


@dataclass
class _Gate:
    """The bounds that speak about the tasks asked for, in one arithmetic; what is refuted or does not cover it."""

    asked: Mapping[str, Task]
    length: int | None
    arithmetic: Numbers
    refuted: list[Judgement] = field(default_factory=list[Judgement])
    silent: dict[str, str] = field(default_factory=dict[str, str])

    def limits(self, model: Model, size: ModelSize, scope: Scope, layer: str = "") -> list[Limit]:
        """For each task the strongest bound of the class: the one that leaves the shortest length open.

        Among equals the one that covers most tasks: Theorem 2 before Lemma 4, which needs the same update at every
        step. Bounds of somebody's own that are refuted are not used.
        """
        best: dict[str, Limit] = {}
        for bound in sorted(protocol_bounds(model=model), key=lambda each: -len(each.task_names)):
            for name in bound.task_names:
                found = self._limit(bound, name, model, size, scope, layer) if name in self.asked else None
                if found is not None and (name not in best or _order(found) < _order(best[name])):
                    best[name] = found
        return [best[name] for name in sorted(best)]

    def _limit(
        self, bound: ProtocolBound, name: str, model: Model, size: ModelSize, scope: Scope, layer: str
    ) -> Limit | None:
        """What a bound says about a task, None where it does not cover the arithmetic or is refuted."""
        task = self.asked[name]
        coverage = covered(bound, self.arithmetic, task)
        if not coverage.covered:
            self.silent.setdefault(name, coverage.reason)
            return None
        found = _limit(coverage.bound, coverage.arithmetic, task, model, size, scope, self.length, layer)
        spoken = [each for each in (found.first_impossible, found.at_length) if each is not None]
        _, false = consistent_bounds([bound], task, spoken)
        self.refuted += false
        return None if false else found


def _limit(
    bound: ProtocolBound,
    arithmetic: str,
    task: Task,
    model: Model,
    size: ModelSize,
    scope: Scope,
    length: int | None,
    layer: str,
) -> Limit:
    longest = bound.longest_length(size, task)
    first = None if longest is None else max(longest + task.length_step, task.minimum_length)
    at = _rounded(length, task)
    return Limit(
        task=task.name,
        parameters=dict(task.parameters()),
        scope=scope,
        model=model,
        bound=bound.name,
        claim=bound.claim,
        in_the_papers=not bound.extension,
        longest=longest,
        first_impossible=first,
        needs=bound.needs_in_words(task.minimum_length, task),
        arithmetic=arithmetic,
        layer=layer,
        at_length=at,
        needed_bits=None if at is None else bound.required_bits(at, task),
        available_bits=None if at is None else bound.available_bits(at, size, task),
        from_file=origin(bound),
    )


def _rounded(length: int | None, task: Task) -> int | None:
    """The largest length of the task up to the one asked for, or its smallest."""
    if length is None:
        return None
    return max(length - length % task.length_step, task.minimum_length)


def _reach(model: ModelDescription, asked: Mapping[str, Task], length: int | None) -> list[Limit]:
    """The tasks whose answers depend on symbols further back than the windows of all layers reach together."""
    reach = model.reach
    if reach is None:
        return []
    within = {name: longest_within(task, reach) for name, task in asked.items()}
    return [
        Limit(
            task=name,
            parameters=dict(asked[name].parameters()),
            scope="model",
            model="rnn",
            bound="reach",
            claim=f"receptive field: {reach:,} positions back (elementary)",
            in_the_papers=False,
            longest=longest,
            first_impossible=max(longest + asked[name].length_step, asked[name].minimum_length),
            needs=f"none, but a reach of {DISTANCES[name].words} positions",
            arithmetic="any",
            at_length=_rounded(length, asked[name]),
        )
        for name, longest in within.items()
        if longest is not None
    ]


def _order(limit: Limit) -> tuple[bool, int]:
    return (limit.longest is None, limit.longest or 0)


def _layer_size(layer: LayerDescription, precision: int) -> ModelSize:
    return ModelSize(width=layer.head_width, precision=precision, heads=layer.heads)


def _shape(layer: LayerDescription) -> str:
    return f"H = {layer.heads}, m = {layer.head_width}"
