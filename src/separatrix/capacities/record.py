"""A capacity as a record of plain values: what the terminal, notebooks, ``--json`` and the atlas show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from separatrix.capacities.budget import Budget, CacheNeed, not_judged
from separatrix.capacities.coverage import Cited, cited
from separatrix.capacities.held_bytes import Crossover, guessed_parts
from separatrix.capacities.layers import LayerDescription, ModelDescription, StatePart
from separatrix.capacities.number_formats import Bits, layer_bits, part_bits
from separatrix.capacities.report import Capacity, Limit


@dataclass(frozen=True)
class PartRecord:
    """A part of a state or a cache: numbers per text or token, and the bits of each with who says so."""

    name: str
    numbers: int
    formula: str
    per: str
    of: int
    held_and_unread: int
    bits_of_a_number: int
    source: str
    because: str


@dataclass(frozen=True)
class LayerRecord:
    """Layers of one kind."""

    kind: str
    name: str
    count: int
    width: int
    heads: int
    head_width: int
    key_value_heads: int
    window: int | None
    shared: bool
    uncached: bool
    state_numbers: int | None
    state_bits: int | None
    state: tuple[PartRecord, ...]
    cache: tuple[PartRecord, ...]


@dataclass(frozen=True)
class MemoryRecord:
    """The bytes of one text, in all and per token; ``complete``: whether all of it is counted.

    ``guessed``: the arrays whose bytes are a guess, because nobody names their number format.
    """

    fixed_bytes: int
    bytes_per_token: float
    complete: bool
    bytes_at: Mapping[int, int]
    states_cheaper: Crossover | None
    guessed: tuple[str, ...]


@dataclass(frozen=True)
class LimitRecord:
    """From which length on a task is impossible, by which bound."""

    task: str
    parameters: Mapping[str, Any]
    scope: str
    layer: str | None
    class_: Annotated[str, Field(alias="class")]
    bound: str
    claim: str
    in_the_papers: bool
    from_file: str | None
    needs: str
    arithmetic: str
    longest_possible: int | None
    first_impossible: int | None
    at_length: int | None
    needed_bits: int | None
    available_bits: int | None
    impossible_at_length: bool | None

    @classmethod
    def of(cls, limit: Limit) -> "LimitRecord":
        """Describe a limit."""
        return cls(
            limit.task, dict(limit.parameters), limit.scope, limit.layer, limit.model, limit.bound, limit.claim,
            limit.in_the_papers, limit.from_file or None, limit.needs, limit.arithmetic, limit.longest,
            limit.first_impossible, limit.at_length, limit.needed_bits, limit.available_bits,
            limit.impossible_at_length,
        )  # fmt: skip


@dataclass(frozen=True)
class Silent:
    """A task whose bound does not cover the model's arithmetic."""

    task: str
    reason: str


@dataclass(frozen=True)
class Refuted:
    """A user's bound that is false."""

    task: str
    text: str


@dataclass(frozen=True, kw_only=True)
class CapacityRecord:
    """Everything about a model's capacity."""

    model: str
    family: str
    source: str
    evidence: str
    notes: tuple[str, ...]
    trained_length: int | None
    passes: int
    precision_bits: int
    precision_from: str
    precision_source: str
    guessed: bool
    length: int | None
    layers: tuple[LayerRecord, ...]
    memory: MemoryRecord
    causal: bool
    budget: Budget
    budget_not_judged: str | None
    cache_needs: tuple[CacheNeed, ...]
    state_numbers: int | None
    state_bits: int | None
    bounded_state_bits: int | None
    reach: int | None
    bounds_apply: tuple[str, ...]
    reason: str
    cited: tuple[Cited, ...]
    limits: tuple[LimitRecord, ...]
    arithmetic: str
    not_covered: tuple[Silent, ...]
    refuted: tuple[Refuted, ...]
    caveats: tuple[str, ...]


def capacity_record(found: Capacity) -> CapacityRecord:
    """Describe a model's capacity.

    >>> from separatrix.capacities import capacity, describe
    >>> capacity_record(capacity(describe("lstm-3-256"), precision=32)).state_bits
    49152
    """
    model, held = found.model, found.memory
    return CapacityRecord(
        model=model.name, family=model.family, source=model.source, evidence=model.evidence,
        notes=tuple(model.notes), trained_length=model.trained_length, passes=model.passes,
        precision_bits=found.precision, precision_from=found.numbers.because, precision_source=found.numbers.source,
        guessed=found.guessed, length=found.length,
        layers=tuple(_layer(model, layer, found.given) for layer in model.layers),
        memory=MemoryRecord(
            held.fixed, held.per_token / held.per_tokens, held.complete, found.bytes_at, found.crossover,
            guessed_parts(model, found.given),
        ),
        causal=model.causal, budget=found.budget, budget_not_judged=not_judged(model) or None,
        cache_needs=found.needs,
        state_numbers=model.state_numbers, state_bits=found.state_bits, bounded_state_bits=found.bounded_state_bits,
        reach=model.reach, bounds_apply=tuple(found.applies), reason=found.reason, cited=tuple(cited(model)),
        limits=tuple(LimitRecord.of(limit) for limit in found.limits), arithmetic=found.arithmetic.name,
        not_covered=tuple(Silent(*each) for each in found.silent),
        refuted=tuple(Refuted(*each) for each in found.refuted), caveats=found.caveats,
    )  # fmt: skip


def _layer(model: ModelDescription, layer: LayerDescription, given: int | None) -> LayerRecord:
    state, cache = (
        tuple(_part(part, part_bits(model, part, given)) for part in parts) for parts in (layer.state, layer.cache)
    )
    bits = None if layer.state_numbers is None else layer_bits(model, layer.state, given)
    return LayerRecord(
        layer.kind, layer.name, layer.count, layer.width, layer.heads, layer.head_width, layer.key_value_heads,
        layer.window, layer.shared, layer.uncached, layer.state_numbers, bits, state, cache,
    )  # fmt: skip


def _part(part: StatePart, bits: Bits) -> PartRecord:
    return PartRecord(
        part.name, part.numbers, part.formula, part.per, part.size, part.unread, bits.bits, bits.source, bits.because
    )
