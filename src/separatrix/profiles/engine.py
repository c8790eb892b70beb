"""The profile of a function: every length up to N evaluated, counted and bounded.

What is exact: residual classes of every cut (hence state bits of any recurrent model), the smallest automaton where one
agrees with the function on all strings up to length N, ranks (certified minors), fooling sets (verified pair by pair),
the sparse form (compared on all inputs). What is not: the partition search need not find the hardest partition. Nothing
is said about lengths beyond N: a function is known by its values alone, and no number of them proves a law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy

from separatrix.communication import Partition, parse_partition
from separatrix.errors import SeparatrixError
from separatrix.profiles.alphabet import Alphabet
from separatrix.profiles.automaton import SmallestAutomaton, smallest_automaton
from separatrix.profiles.function import FunctionError, Mode, NotDeterministicError, UserFunction, probe
from separatrix.profiles.guard import Allowance
from separatrix.profiles.limits import Estimate, Limits, check_limits, seconds_for_one_input
from separatrix.profiles.partitions import PartitionProfile, best_of, examine_all
from separatrix.profiles.residuals import Residuals, WholeNumbers, residual_classes
from separatrix.profiles.sparse import SparseForm, sparse_form
from separatrix.profiles.table import Numbering, Table, tabulate
from separatrix.profiles.words import OneLayerNeed, one_layer_need
from separatrix.progress import report

DEFAULT_PRECISION = 16


@dataclass(frozen=True)
class ProfileOptions:
    """How to profile: partitions in text (none: odd/even, halves and a search), numbers of p bits, limits, seed."""

    partitions: tuple[str, ...] = ()
    precision: int = DEFAULT_PRECISION
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    mode: Mode | None = None


@dataclass(frozen=True)
class LengthProfile:
    """One length: the most residual classes over its cuts, what its best partition needs (None: none applies), values.

    ``values``: how many there are; of a labelling, at the last position. ``first_read``: the first position, from 1,
    that the answer depends on (None: on none; or labels, which are not looked at for this). ``limited``: the rectangles
    are those of a part of the matrix or of groups of values, so that their number is the profile's limit and not the
    function's. ``prefix_bits``: the most bits of a partition that gives one party the first positions (None: none was
    examined). ``handed_on``: the state bits needed before the last symbol, since layers that add their input to
    their output answer from these and from the last symbol.
    """

    length: int
    classes: int
    state_bits: int
    rectangles: int | None
    communication_bits: int | None
    partition: str | None
    values: int
    first_read: int | None
    limited: bool
    prefix_bits: int | None
    handed_on: int

    @property
    def reads_back(self) -> int | None:
        """How far before the last position the answer still depends on a symbol."""
        return None if self.first_read is None else self.length - self.first_read


@dataclass(frozen=True, eq=False)
class Profile:
    """Everything found about a function at length N, and over all lengths up to it.

    ``skipped``: lengths at which the function raised, with the reason. ``automaton`` is None where some length was
    skipped or the alphabet grows.
    """

    name: str
    length: int
    alphabet: Alphabet
    function: UserFunction
    table: Table
    values: tuple[Any, ...]
    estimate: Estimate
    residuals: Residuals
    automaton: SmallestAutomaton | None
    partitions: tuple[PartitionProfile, ...]
    need: OneLayerNeed | None
    lengths: tuple[LengthProfile, ...]
    skipped: tuple[tuple[int, str], ...]
    sparse: SparseForm | None
    options: ProfileOptions

    @property
    def yes_no(self) -> bool:
        """Whether the function is a decision with values 0 and 1."""
        return self.table.kind == "decision" and self.table.classes == 2

    def ratios(self, counted: Callable[[LengthProfile], int | None]) -> dict[int, Fraction]:
        """Return a count at each length over the most at any shorter one; a length without a count has no ratio."""
        found: dict[int, Fraction] = {}
        most = 0
        for each in self.lengths:
            if (count := counted(each)) is None:
                continue
            if most:
                found[each.length] = Fraction(count, most)
            most = max(most, count)
        return found

    @property
    def best(self) -> PartitionProfile | None:
        """The partition with the most bits."""
        return best_of(self.partitions)


def profile(
    name: str,
    function: Callable[[Any], Any],
    length: int,
    alphabet: Alphabet | None = None,
    options: ProfileOptions | None = None,
    announce: Callable[[Estimate], None] | None = None,
) -> Profile:
    """Profile a function at all lengths up to N; how far it is goes to who listens (``separatrix.progress``).

    ``announce`` is given the cost once the function was timed, before all inputs are evaluated.

    >>> found = profile("parity", lambda x: sum(x) % 2, 8)
    >>> found.residuals.minimum_state_bits, found.automaton.states
    (1, 2)
    """
    alphabet, options = alphabet or Alphabet(2), options or ProfileOptions()
    if length < 1:
        raise SeparatrixError(f"--length {length} is too short; give at least 1")
    if options.precision < 1:
        raise SeparatrixError(f"--precision {options.precision} is too small; give at least 1 bit")
    wanted = [parse_partition(text, length) for text in options.partitions]
    check_limits(alphabet, length, options.limits)
    allowance = Allowance(options.limits.seconds)
    with allowance.spending():
        user = probe(name, function, alphabet, length, options.mode, options.seed)
        each_takes = seconds_for_one_input(user, length)
    cost = check_limits(alphabet, length, options.limits, each_takes)
    if announce is not None:
        announce(cost)

    numbering = Numbering()
    shorter, kept, skipped = _shorter_lengths(user, alphabet, length, options, numbering, allowance)
    with allowance.spending():
        table = tabulate(user, length, numbering, options.seed)
    report("counting residual classes", 0, None)
    residuals = residual_classes(table)
    report("examining partitions", 0, None)
    partitions = examine_all(table, wanted, options.seed)
    lengths = [*shorter, _length_profile(length, residuals, partitions, table)]
    report("looking for the smallest automaton", 0, None)
    automaton = None
    if not alphabet.grows and table.causal:
        with allowance.spending():
            empty = _empty(user, numbering)
        automaton = smallest_automaton([empty, *kept, table.last], alphabet.size)
    report("looking for a threshold of sparse features", 0, None)
    sparse = sparse_form(table)
    symbols, values = alphabet.at(length).size, lengths[-1].values
    best = best_of(partitions)
    return Profile(
        name=name,
        length=length,
        alphabet=alphabet,
        function=user,
        table=table,
        values=tuple(numbering.values),
        estimate=cost,
        residuals=residuals,
        automaton=automaton,
        partitions=tuple(partitions),
        need=None if best is None else one_layer_need(length, best.bits, options.precision, symbols, values),
        lengths=tuple(lengths),
        skipped=tuple(skipped),
        sparse=sparse,
        options=options,
    )


def _shorter_lengths(
    user: UserFunction,
    alphabet: Alphabet,
    length: int,
    options: ProfileOptions,
    numbering: Numbering,
    allowance: Allowance,
) -> tuple[list[LengthProfile], list[WholeNumbers | None], list[tuple[int, str]]]:
    """Return all lengths below N: profiles, values for the automaton, and the lengths that the function refuses."""
    found: list[LengthProfile] = []
    kept: list[WholeNumbers | None] = []
    skipped: list[tuple[int, str]] = []
    for each in range(1, length):
        mine = replace(user, alphabet=alphabet.at(each))
        try:
            with allowance.spending():
                probed = probe(user.name, user.function, alphabet, each, user.mode, options.seed)
                if probed.kind != user.kind:
                    raise FunctionError(f"{user.name} returns a {probed.kind} at length {each}")
                table = tabulate(mine, each, numbering, options.seed)
        except NotDeterministicError:
            raise
        except FunctionError as error:
            skipped.append((each, str(error)))
            kept.append(None)
            continue
        partitions = examine_all(table, _at_length(options.partitions, each), options.seed)
        if options.partitions and not _at_length(options.partitions, each):
            partitions = []
        found.append(_length_profile(each, residual_classes(table), partitions, table))
        kept.append(table.last if table.causal else None)
    return found, kept, skipped


def _length_profile(
    length: int, residuals: Residuals, partitions: Sequence[PartitionProfile], table: Table
) -> LengthProfile:
    best = best_of(partitions)
    return LengthProfile(
        length,
        residuals.most,
        residuals.minimum_state_bits,
        None if best is None else max(1, best.bound.rectangles),
        None if best is None else best.bits,
        None if best is None else best.partition.name,
        len(numpy.unique(table.last)),
        # Before the first position that matters all prefixes are of one class.
        next((t for t, count in enumerate(residuals.classes) if count > 1), None) if table.kind == "decision" else None,
        best is not None and (best.merged or not best.whole),
        max((each.bits for each in partitions if _is_prefix(each.partition)), default=None),
        residuals.bits_before_the_last,
    )


def _is_prefix(partition: Partition) -> bool:
    return tuple(partition.alice) == tuple(range(len(partition.alice)))


def _at_length(texts: Sequence[str], length: int) -> list[Partition]:
    """Return the wanted partitions that mean something at another length: by name, not by a list of positions."""
    return [parse_partition(text, length) for text in texts if text.strip().lower() in ("odd-even", "halves")]


def _empty(user: UserFunction, numbering: Numbering) -> WholeNumbers | None:
    """Return the value of the empty string, where the function has one."""
    if user.kind == "labelling":
        return None
    try:
        values = user.values(numpy.zeros((1, 0), dtype=numpy.int64))
    except FunctionError:
        return None
    return numbering.numbers(values)
