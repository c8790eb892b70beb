"""The inverse question: what a task of one length needs at least, what is enough, and which published models pass.

Everything comes from the catalogs. *At least*: the bounds of :mod:`separatrix.bounds` for a task and a
length. *Enough*: the constructions, built at that length with all their weights and certified for every input, and
facts that need no theorem (``bounds/upper_bounds.py``). *Presets*: the card of each
(:mod:`separatrix.capacities`) at that length. Five designs are asked about:

- ``recurrent``: a state of fixed size, any update, one pass (BHBK24 Theorem 2).
- ``windows``: local attention alone; what an answer depends on must be within the sum of the windows (elementary).
- ``one-layer``: one layer of softmax attention (Theorem 4).
- ``two-layer``: two of them. No bound on their width is known (Corollary 13.1 is a barrier), but a causal one goes on
  from its cache, which therefore holds as many bits as one-way protocols need.
- ``hybrid``: states and caches of any layers; together they hold those bits.

A certificate at a great length takes minutes. Up to :data:`PROVED_AT_ONCE` each network is certified when it is asked
for; beyond, the record ``shipped/certified.json`` is looked up by the hash of the network that was just built, so that
it speaks about these very weights; without an entry the network is certified at the length ``PROVED_AT_ONCE`` and
``certified_length`` says so.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeAlias

from separatrix.bit_counts import OWN_PRECISION
from separatrix.bounds import (
    FIXED,
    RECURRENT,
    Fact,
    Model,
    ModelSize,
    ProtocolBound,
    bounds_for,
    consistent_bounds,
    covered,
    facts_about,
    protocol_bounds,
)
from separatrix.capacities import DISTANCES, Capacity, Preset, capacity, presets
from separatrix.certificates import Claim, check
from separatrix.constructions import Built, Construction, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Attention, Network, to_bytes
from separatrix.shipped import FOLDER
from separatrix.table.separation import (
    BOUNDED_BY,
    CONTAINS,
    INHERITED,
    model_of_construction,
    serving,
    size_of_model,
)
from separatrix.tasks import Task, tasks

Kind: TypeAlias = Literal["recurrent", "windows", "one-layer", "two-layer", "hybrid"]
Evidence: TypeAlias = Literal["certified", "certificate recorded", "certified at a shorter length", "fact"]

PROVED_AT_ONCE = 1024
"""Networks up to this length are certified when they are asked for; most take below a second."""
CLASSES: dict[Kind, Model] = {"recurrent": "rnn", "one-layer": "transformer-1layer", "two-layer": "transformer-2layer"}
RECORD = FOLDER / "certified.json"
LARGEST_LENGTH = 1 << 40
LARGEST_PRECISION = 4096


class Outcome(StrEnum):
    """What the bounds say about a preset at the length: every one that covers it leaves room, one excludes it, or none
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
        """The row of a design."""
        return next(each for each in self.rows if each.design == design)

    @property
    def cut_bits(self) -> int | None:
        """The bits that whatever is kept of a text must hold between what was read and what is asked."""
        return next((each.at_least for each in self.row("hybrid").needs), None)

    def judged(self, outcome: Outcome) -> tuple[Judged, ...]:
        """The presets of one outcome."""
        return tuple(each for each in self.presets if each.outcome is outcome)

    def plain(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "task": self.task.name,
            "parameters": dict(self.task.parameters()),
            "length": self.length,
            "positions": self.task.positions(self.length),
            "accuracy": "exact",
            "precision_bits": self.precision,
            "heads": self.heads,
            "designs": [asdict(row) for row in self.rows],
            "presets": [asdict(each) for each in self.presets],
        }


def design(
    task: Task,
    length: int,
    precision: int = OWN_PRECISION,
    heads: int = 1,
    *,
    certify: bool = False,
    models: Iterable[Preset] | None = None,
) -> Design:
    """What a task of a length needs, what is enough, and which presets pass; ``precision`` and ``heads`` are those of
    the models that the lower bounds speak about. With ``certify`` every network is certified at the length itself.
    ``models``: the presets to judge, all where it is left out.

    >>> found = design(tasks()["majority"], 64)
    >>> [each.name for each in found.row("recurrent").enough][0]
    'counts'
    """
    _check(task, length, precision, heads)
    judged = presets().values() if models is None else models
    built = _built(task, length, certify)
    recurrent = Row("recurrent", _needs(task, "rnn", length, precision, heads), _enough(task, "rnn", length, built))
    one = _attention_row("one-layer", task, length, precision, heads, built)
    two = _attention_row("two-layer", task, length, precision, heads, built)
    kept = _kept_need(task, length)
    causal = [each for each in (*one.enough, *two.enough) if each.memory_bits is not None]
    unbounded = "" if two.needs else "no lower bound on the width is known"
    two = Row(two.design, (*two.needs, *kept), two.enough, unbounded)
    rows = (
        recurrent,
        Row("windows", (*_reach_need(task, length), *kept), _distinct(causal), "windows that cover the whole text"),
        one,
        two,
        Row("hybrid", kept, _distinct([*causal, *recurrent.enough]), "the other layers may do nothing"),
    )
    return Design(task, length, precision, heads, rows, tuple(_judged(each, task, length) for each in judged))


def _check(task: Task, length: int, precision: int, heads: int) -> None:
    if not task.minimum_length <= length <= LARGEST_LENGTH or length % task.length_step:
        step = f" in steps of {task.length_step}" if task.length_step > 1 else ""
        raise SeparatrixError(
            f"{task.name} has no inputs of length {length}; choose {task.minimum_length} to 2^40{step}"
        )
    if not 1 <= precision <= LARGEST_PRECISION:
        raise SeparatrixError(f"--precision {precision} is out of range; choose 1 to {LARGEST_PRECISION} bits")
    if not 1 <= heads <= 1 << 20:
        raise SeparatrixError(f"--heads {heads} is out of range; choose 1 to 2^20")


# -- at least -----------------------------------------------------------------------------------------------------


def _bounded_as(task: Task) -> tuple[Task, str]:
    """The task whose bounds hold for a task, and why where it is another one."""
    name, why = BOUNDED_BY.get(task.name, (task.name, ""))
    return (task, "") if name == task.name else (tasks()[name], why)


def _needs(task: Task, model: Model, length: int, precision: int, heads: int) -> tuple[Need, ...]:
    """The strongest bound on a class of models; of equals the papers' own, and Theorem 2 before Lemma 4."""
    chosen, why = _bounded_as(task)
    found: list[tuple[ProtocolBound, str]] = []
    candidates = [each for each in bounds_for(chosen.name, model) if isinstance(each, ProtocolBound)]
    for bound in consistent_bounds(candidates, chosen, [length])[0]:
        coverage = covered(bound, FIXED, chosen)
        if coverage.covered and coverage.bound.required_bits(length, chosen):
            found.append((coverage.bound, coverage.arithmetic))
    if not found:
        return ()

    def size(bound: ProtocolBound) -> int:
        if model == "rnn":
            return bound.required_bits(length, chosen)
        return bound.smallest_width(length, precision, heads, task=chosen)

    bound, holds_for = min(found, key=lambda each: (-size(each[0]), each[0].extension, -len(each[0].task_names)))
    width = bound.smallest_width(length, precision, heads, task=chosen)
    words = f"{bound.formula(length, precision, heads, task=chosen)}, so m ≥ {width:,}{_whole_class(bound, chosen)}"
    quantity = "state bits" if model == "rnn" else f"width m of {heads} heads" if heads > 1 else "width m of one head"
    return (
        Need(quantity, size(bound), f"{words}; {why}" if why else words, bound.claim, not bound.extension, holds_for),
    )


def _kept_need(task: Task, length: int) -> tuple[Need, ...]:
    """The bits that states and caches hold together at the cut: Theorem 2 with the cache as the state."""
    chosen, why = _bounded_as(task)
    candidates = [each for each in protocol_bounds(chosen.name, "rnn") if each.simulation is RECURRENT]
    found = [each for each in consistent_bounds(candidates, chosen, [length])[0] if each.required_bits(length, chosen)]
    if not found:
        return ()
    bound = min(found, key=lambda each: (-each.required_bits(length, chosen), each.extension))
    bits = bound.required_bits(length, chosen)
    words = (
        f"state + cache ≥ {bits:,} = {bound.needs_in_words(length, chosen)} at N = {length:,}: without a state, a "
        f"cache with b bits for each token keeps ⌈{bits:,}/b⌉ tokens or more{_whole_class(bound, chosen)}"
    )
    claim = f"{bound.claim}, with the cache as the state"
    words = f"{words}; {why}" if why else words
    return (Need("bits of states and caches", bits, words, claim, False, "any numbers of p bits, one causal pass"),)


def _whole_class(bound: ProtocolBound, task: Task) -> str:
    """That a bound is about models for all functions of a class, where it is."""
    every = bound.of_a_class(task)
    return f"; of a model that can be given weights for {every}" if every else ""


def _reach_need(task: Task, length: int) -> tuple[Need, ...]:
    """How far back the windows of all layers reach together."""
    distance = DISTANCES.get(task.name)
    if distance is None or length < distance.least:
        return ()
    far = distance.at(task, length)
    words = f"Σ (w − 1) over the layers ≥ {far:,} = {distance.words} at N = {length:,}"
    return (Need("positions back", far, words, "receptive field (elementary)", False, "any numbers"),)


# -- enough -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _BuiltHere:
    """A construction built at the length, with what is known about its certificate."""

    construction: Construction
    built: Built
    model: Model
    why: str
    evidence: Evidence
    certified_length: int


def _built(task: Task, length: int, certify: bool) -> tuple[_BuiltHere, ...]:
    """The constructions that serve a task, as they are at this length; what has no network of it is left out."""
    found: list[_BuiltHere] = []
    for construction, why in serving(constructions().values(), task.name):
        if construction.arithmetic_kind != FIXED.name:
            continue
        model = model_of_construction(construction)
        if model is None or model not in CLASSES.values():
            continue
        parameters = {} if why else task.parameters()
        try:
            built = construction.build(length, Options(parameters=dict(parameters)))
        except SeparatrixError:
            continue
        proof = _proof(construction, built, certify)
        if proof is not None:
            found.append(_BuiltHere(construction, built, model, why, *proof))
    return tuple(found)


def _proof(construction: Construction, built: Built, certify: bool) -> tuple[Evidence, int] | None:
    """How a network is known to be right, and at which length; None where it is not."""
    length = built.length
    if certify or length <= PROVED_AT_ONCE:
        return ("certified", length) if _valid(built) else None
    if is_recorded(construction.name, built):
        return "certificate recorded", length
    step = built.task.length_step
    try:
        shorter = construction.build(
            PROVED_AT_ONCE - PROVED_AT_ONCE % step, Options(parameters=dict(built.task.parameters()))
        )
    except SeparatrixError:
        return None
    return ("certified at a shorter length", shorter.length) if _valid(shorter) else None


def _valid(built: Built) -> bool:
    return check(built.network, Claim(built.task, built.length, built.arithmetic)).valid


def entry(name: str, built: Built) -> dict[str, Any]:
    """What a record of a certificate is found by: the construction, the length, the arithmetic, the weights' hash."""
    return {
        "construction": name,
        "length": built.length,
        "arithmetic": str(built.arithmetic),
        "sha256": hashlib.sha256(to_bytes(built.network)).hexdigest(),
    }


def is_recorded(name: str, built: Built) -> bool:
    """Whether the shipped record holds a certificate of exactly this network in this arithmetic."""
    near = [each for each in _recorded() if (each["construction"], each["length"]) == (name, built.length)]
    if not near:
        return False
    wanted = entry(name, built)
    return any(all(each[key] == value for key, value in wanted.items()) for each in near)


@cache
def _recorded() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(RECORD.read_text(encoding="utf-8"))["certified"]) if RECORD.exists() else ()


def _attention_row(
    kind: Kind, task: Task, length: int, precision: int, heads: int, built: tuple[_BuiltHere, ...]
) -> Row:
    model = CLASSES[kind]
    return Row(kind, _needs(task, model, length, precision, heads), _enough(task, model, length, built))


def _enough(task: Task, model: Model, length: int, built: tuple[_BuiltHere, ...]) -> tuple[Enough, ...]:
    """What suffices for a class of models, the fewest bits first; raises where a bound disagrees."""
    found: list[Enough] = []
    for one in built:
        if one.model not in (model, *CONTAINS.get(model, ())):
            continue
        reasons = [one.why, INHERITED[model] if one.model != model else ""]
        size = size_of_model(one.built.network, one.built.arithmetic.precision_bits)
        if not one.why:
            _consistent(task, one.model, size, length, one.construction.name)
        found.append(_of_construction(one, size, "; ".join(filter(None, (one.construction.statement, *reasons)))))
    found += [_of_fact(fact, task, model, length) for fact in facts_about(task.name, model)]
    return tuple(sorted(found, key=lambda each: (each.bits, each.name)))


def _of_construction(one: _BuiltHere, size: ModelSize, how: str) -> Enough:
    network = one.built.network
    return Enough(
        name=one.construction.name,
        source=one.construction.theorem,
        evidence=one.evidence,
        layers=size.layers,
        heads=size.heads,
        width=size.width,
        precision_bits=size.precision,
        bits=size.width * size.precision * size.heads,
        how=how,
        memory_bits=_memory_bits(network, size.precision),
        model_width=network.width,
        certified_length=one.certified_length,
    )


def _of_fact(fact: Fact, task: Task, model: Model, length: int) -> Enough:
    size = fact.size(task, length)
    _consistent(task, model, size, length, fact.reason)
    bits = size.memory_bits if model == "rnn" else size.width * size.precision * size.heads
    return Enough(
        name=fact.short,
        source="not in the papers",
        evidence="fact",
        layers=1,
        heads=size.heads,
        width=bits if model == "rnn" and size.state_bits is not None else size.width,
        precision_bits=size.precision,
        bits=bits,
        how=fact.reason,
        memory_bits=bits if model == "rnn" else None,
    )


def _memory_bits(network: AnyNetwork, precision: int) -> int | None:
    """The bits of a state, or of the keys and values of all positions where no position reads a later one."""
    if not isinstance(network, Network):
        return network.width * precision
    attentions = [layer for layer in network.layers if isinstance(layer, Attention)]
    heads = [head for layer in attentions for head in layer.heads]
    # Of a single layer that is read at the last position a mask hides nothing that is used.
    at_the_end = len(attentions) == 1 and network.readout.at == "last"
    if not heads or (any(head.mask == "none" for head in heads) and not at_the_end):
        return None
    return network.positions * precision * sum(head.key.shape[0] + head.value.shape[0] for head in heads)


def _consistent(task: Task, model: Model, size: ModelSize, length: int, what: str) -> None:
    """Compare a size that is enough with every bound on it."""
    for bound in consistent_bounds(protocol_bounds(task.name, model), task, [length])[0]:
        if covered(bound, FIXED, task).covered:
            bound.check_consistent(length, size, what, task)


def _distinct(found: Iterable[Enough]) -> tuple[Enough, ...]:
    by_name: dict[str, Enough] = {}
    for each in sorted(found, key=lambda one: (one.evidence == "fact", one.memory_bits or one.bits)):
        by_name.setdefault(each.name, each)
    return tuple(by_name.values())


# -- presets ------------------------------------------------------------------------------------------------------


def _judged(preset: Preset, task: Task, length: int) -> Judged:
    """What the card of a preset says about the task at the length, in the formats of its numbers."""
    chosen, _ = _bounded_as(task)
    found = capacity(preset.describe(), length=length, only=[chosen])
    outcome, reason, needed, available = _outcome(found, chosen, length)
    return Judged(preset.name, outcome, reason, needed, available, found.model.trained_length)


def _outcome(found: Capacity, task: Task, length: int) -> tuple[Outcome, str, int | None, int | None]:
    limits = [limit for limit in found.limits if limit.scope == "model"]
    excluding = [limit for limit in limits if limit.impossible_at_length]
    if excluding:
        limit = min(excluding, key=lambda each: each.longest or 0)
        reason = f"{limit.claim}: from N = {limit.first_impossible:,} on"
        return Outcome.EXCLUDED, reason, limit.needed_bits, limit.available_bits
    for need in found.needs:
        # A cache has no more entries than the text has positions.
        held = need.state_bits + need.bits_per_token * task.positions(length)
        if need.needed_bits > held:
            return Outcome.EXCLUDED, f"{need.claim}, with the cache as the state", need.needed_bits, held
        reason = f"its caches must keep {need.tokens:,} tokens at least"
        return Outcome.PASSES, reason, need.needed_bits, held
    if limits:
        limit = min(limits, key=lambda each: (each.longest is None, each.longest or 0))
        until = "at every length" if limit.longest is None else f"up to N = {limit.longest:,}"
        return Outcome.PASSES, f"room {until}", limit.needed_bits, limit.available_bits or found.state_bits
    why = next((text for name, text in found.silent if name == task.name), "no bound that covers it speaks of the task")
    return Outcome.UNKNOWN, why, None, None


# -- picture ------------------------------------------------------------------------------------------------------

SHORTER = 6
"""The picture begins so many powers of two below the length."""


Line: TypeAlias = tuple[str, list[tuple[int, int]]]
"""A name, and its points (length, size)."""


@dataclass(frozen=True)
class Curves:
    """A design's sizes against the length: bits that are kept of a text, and widths of attention layers."""

    memory: tuple[Line, ...]
    widths: tuple[Line, ...]


def curves(found: Design) -> Curves:
    """At least and enough for the lengths up to the one that was asked about."""
    task, length = found.task, found.length
    lengths = sorted({max(task.minimum_length, _on_grid(task, length >> power)) for power in range(SHORTER + 1)})
    kept = [(each, need.at_least) for each in lengths for need in _kept_need(task, each)]
    narrow = [
        (each, need.at_least * found.heads)
        for each in lengths
        for need in _needs(task, "transformer-1layer", each, found.precision, found.heads)
    ]
    memory: list[Line] = [("state and cache: at least", kept)]
    widths: list[Line] = [(f"one layer: at least, p = {found.precision}", narrow)]
    for kind in CLASSES:
        best = next(iter(found.row(kind).enough), None)
        if best is None:
            continue
        sizes = [(each, size) for each in lengths if (size := _at(best, task, kind, each)) is not None]
        stored = [(each, size.memory_bits) for each, size in sizes if size.memory_bits is not None]
        memory.append((f"{kind}: enough ({best.name})", stored))
        if kind != "recurrent":
            widths.append((f"{kind}: enough ({best.name})", [(each, size.width * size.heads) for each, size in sizes]))
    return Curves(tuple(memory), tuple(widths))


def _at(enough: Enough, task: Task, kind: Kind, length: int) -> Enough | None:
    """The same construction or fact at another length, certified there or not; None where it has no network of it."""
    model = CLASSES[kind]
    if enough.evidence == "fact":
        fact = next(each for each in facts_about(task.name, model) if each.short == enough.name)
        return _of_fact(fact, task, model, length)
    construction = constructions()[enough.name]
    own = dict(task.parameters()) if construction.task_name == task.name else {}
    try:
        built = construction.build(length, Options(parameters=own))
    except SeparatrixError:
        return None
    size = size_of_model(built.network, built.arithmetic.precision_bits)
    return _of_construction(_BuiltHere(construction, built, model, "", enough.evidence, length), size, enough.how)


def _on_grid(task: Task, length: int) -> int:
    return length - length % task.length_step


__all__ = ["Curves", "Design", "Enough", "Judged", "Need", "Outcome", "Row", "curves", "design"]
