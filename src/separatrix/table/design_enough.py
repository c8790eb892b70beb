"""What is enough for a design: constructions built at the length and certified, and facts that need no theorem.

A certificate at a great length takes minutes. Up to :data:`PROVED_AT_ONCE` each network is certified on
request; beyond, the record ``shipped/certified.json`` is looked up by the hash of the network that was just built, so
that it is about these very weights; without an entry the network is certified at the length ``PROVED_AT_ONCE`` and
``certified_length`` says so.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from separatrix.bounds import (
    FIXED,
    Fact,
    Model,
    ModelSize,
    consistent_bounds,
    covered,
    facts_about,
    protocol_bounds,
)
from separatrix.certificates import Claim, check
from separatrix.constructions import Built, Construction, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Attention, Network, to_bytes
from separatrix.shipped import FOLDER
from separatrix.table.certified import model_of_construction, size_of_model
from separatrix.table.design_record import CLASSES, Enough, Evidence
from separatrix.table.separation import CONTAINS, INHERITED, serving
from separatrix.tasks import Task

PROVED_AT_ONCE = 1024
"""Networks up to this length are certified on request; most take below a second."""
RECORD = FOLDER / "certified.json"


@dataclass(frozen=True)
class BuiltHere:
    """A construction built at the length, with what is known about its certificate."""

    construction: Construction
    built: Built
    model: Model
    why: str
    evidence: Evidence
    certified_length: int


def built_here(task: Task, length: int, certify: bool) -> tuple[BuiltHere, ...]:
    """Build the constructions that serve a task at this length, but those that have no network of it or take long."""
    found: list[BuiltHere] = []
    for construction, why in serving(constructions().values(), task.name):
        if construction.arithmetic_kind != FIXED.name:
            continue
        if length > (construction.longest_built or length) and not _near(construction.name, length):
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
            found.append(BuiltHere(construction, built, model, why, *proof))
    return tuple(found)


def _proof(construction: Construction, built: Built, certify: bool) -> tuple[Evidence, int] | None:
    """Return how a network is known to be right, and at which length; None where it is not."""
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
    """Return what a record of a certificate is found by: the construction, the length, the arithmetic, the weights'
    hash."""
    return {
        "construction": name,
        "length": built.length,
        "arithmetic": str(built.arithmetic),
        "sha256": hashlib.sha256(to_bytes(built.network)).hexdigest(),
    }


def is_recorded(name: str, built: Built) -> bool:
    """Return whether the shipped record holds a certificate of exactly this network in this arithmetic."""
    near = _near(name, built.length)
    if not near:
        return False
    wanted = entry(name, built)
    return any(vars(each).items() >= wanted.items() for each in near)


@dataclass(frozen=True)
class Recorded:
    """A certificate of the shipped record: the network that it is of, the method, and the inputs covered."""

    construction: str
    length: int
    arithmetic: str
    sha256: str
    method: str = ""
    inputs_covered: str = ""


def _near(name: str, length: int) -> list[Recorded]:
    """Return the records of a construction at a length."""
    return [each for each in _recorded() if (each.construction, each.length) == (name, length)]


@cache
def _recorded() -> tuple[Recorded, ...]:
    from pydantic import TypeAdapter

    if not RECORD.exists():
        return ()
    return TypeAdapter(dict[str, tuple[Recorded, ...]]).validate_json(RECORD.read_bytes())["certified"]


def enough(task: Task, model: Model, length: int, built: tuple[BuiltHere, ...]) -> tuple[Enough, ...]:
    """Return what suffices for a class of models, the fewest bits first; raises where a bound disagrees."""
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


def _of_construction(one: BuiltHere, size: ModelSize, how: str) -> Enough:
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
        at_length=lambda length: _rebuilt(one, how, length),
    )


def _rebuilt(one: BuiltHere, how: str, length: int) -> Enough | None:
    try:
        built = one.construction.build(length, Options(parameters=dict(one.built.task.parameters())))
    except SeparatrixError:
        return None
    size = size_of_model(built.network, built.arithmetic.precision_bits)
    return _of_construction(replace(one, built=built, certified_length=length), size, how)


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
        at_length=lambda other: _of_fact(fact, task, model, other),
    )


def _memory_bits(network: AnyNetwork, precision: int) -> int | None:
    """Return the bits of a state, or of the keys and values of all positions where no position reads a later one."""
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
