"""A profile as a record of plain values: what ``separatrix profile --json`` prints."""

from dataclasses import dataclass

from separatrix.bounds import FIXED, ONE_LAYER, simulation_in
from separatrix.profiles.engine import LengthProfile, Profile
from separatrix.profiles.partitions import PartitionProfile
from separatrix.profiles.words import PROTOCOL_CONSTANT

MOST_VALUES = 64
"""Values of a function that are written out."""


@dataclass(frozen=True)
class AlphabetRecord:
    """The alphabet at the longest length."""

    size: int
    symbols: str


@dataclass(frozen=True)
class AllLengths:
    """The smallest automaton that was found for all lengths up to N, or how many states it has at least."""

    states: int
    exact: bool
    meaning: str


@dataclass(frozen=True)
class AutomatonRecord:
    """How many states automata of the function have."""

    layered_states: int
    fixed_length_dfa_states: int | None
    all_lengths: AllLengths | None


@dataclass(frozen=True)
class ValueRecord:
    """One value of the function in a communication matrix: its rank, fooling set and rectangles."""

    value: int
    rank_at_least: int
    rank_exact: bool
    prime: int | None
    fooling_set: int
    rectangle_size_bound: int


@dataclass(frozen=True)
class PartitionRecord:
    """What one partition of the positions forces."""

    name: str
    alice: tuple[int, ...]
    searched: bool
    distinct_rows: int
    distinct_columns: int
    one_way_bits: int
    bits: int
    rank_bits: int
    fooling_bits: int
    cut_to_part: bool
    values_in_groups: bool
    values: tuple[ValueRecord, ...]


@dataclass(frozen=True)
class LayerNeed:
    """What one attention layer needs, by the best partition."""

    partition: str
    communication_bits: int
    arithmetic: str
    inequality: str
    product_at_least: int
    precision_bits: int
    smallest_width_one_head: int


@dataclass(frozen=True)
class Undefined:
    """A length at which the function is not defined."""

    length: int
    reason: str


@dataclass(frozen=True)
class SparseRecord:
    """A threshold of features of few positions that is the function."""

    sparsity: int
    form: str
    in_words: str
    features: int
    positions: list[list[int]]
    tables: list[list[int]]
    threshold: int


@dataclass(frozen=True, kw_only=True)
class ProfileRecord:
    """Every number of a profile, with the evidence for it."""

    function: str
    length: int
    alphabet: AlphabetRecord
    kind: str
    causal: bool
    called: str
    inputs: str
    values: tuple[str, ...]
    residual_classes: tuple[int, ...]
    state_bits: tuple[int, ...]
    minimum_state_bits: int
    hardest_cut: int
    automaton: AutomatonRecord
    partitions: tuple[PartitionRecord, ...]
    one_layer: LayerNeed | None
    lengths: tuple[LengthProfile, ...]
    skipped: tuple[Undefined, ...]
    sparse_threshold: SparseRecord | None


def profile_record(found: Profile) -> ProfileRecord:
    """Describe a profile."""
    residuals = found.residuals
    return ProfileRecord(
        function=found.name, length=found.length,
        alphabet=AlphabetRecord(found.alphabet.at(found.length).size, found.alphabet.in_words()),
        kind=found.table.kind, causal=found.table.causal, called=found.function.mode,
        inputs=f"{found.table.symbols}^{found.length}",
        values=tuple(str(found.values[number]) for number in sorted(set(found.table.last.tolist()))[:MOST_VALUES]),
        residual_classes=tuple(residuals.classes), state_bits=tuple(residuals.bits),
        minimum_state_bits=residuals.minimum_state_bits, hardest_cut=residuals.hardest_cut,
        automaton=_automaton(found), partitions=tuple(_partition(each) for each in found.partitions),
        one_layer=_one_layer(found), lengths=tuple(found.lengths),
        skipped=tuple(Undefined(*each) for each in found.skipped), sparse_threshold=_sparse(found),
    )  # fmt: skip


def _automaton(found: Profile) -> AutomatonRecord:
    every = None
    if found.automaton is not None:
        exact = f"the smallest automaton that agrees on all strings up to length {found.length}"
        least = f"no automaton with fewer states agrees on all strings up to length {found.length}"
        every = AllLengths(found.automaton.states, found.automaton.exact, exact if found.automaton.exact else least)
    fixed = found.residuals.automaton_states if found.yes_no else None
    return AutomatonRecord(found.residuals.states, fixed, every)


def _partition(each: PartitionProfile) -> PartitionRecord:
    values = (
        ValueRecord(
            value.value, value.rank_at_least, value.rank is not None and value.rank.exact and each.whole,
            None if value.rank is None else value.rank.certificate.prime, value.fooling.size, value.by_size,
        )
        for value in each.bound.values
    )  # fmt: skip
    return PartitionRecord(
        each.partition.name,
        tuple(each.partition.alice),
        each.searched,
        each.rows,
        each.columns,
        each.one_way_bits,
        each.bits,
        each.bound.rank_bits,
        each.bound.fooling_bits,
        not each.whole,
        each.merged,
        tuple(values),
    )


def _one_layer(found: Profile) -> LayerNeed | None:
    if found.need is None or found.best is None:
        return None
    return LayerNeed(
        found.best.partition.name, found.need.bits, simulation_in(ONE_LAYER, FIXED, prefix=False).arithmetic,
        f"m*H*(p + log2 N) >= {found.need.bits}/{PROTOCOL_CONSTANT} (BHBK24 Theorem 4, E13, m >= 4)",
        found.need.product, found.need.precision, found.need.width,
    )  # fmt: skip


def _sparse(found: Profile) -> SparseRecord | None:
    if found.sparse is None:
        return None
    form, function = found.sparse, found.sparse.function
    return SparseRecord(
        form.sparsity, form.form, form.in_words(), form.features, function.indices.tolist(),
        function.tables.tolist(), function.threshold,
    )  # fmt: skip
