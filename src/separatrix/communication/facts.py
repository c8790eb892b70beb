"""Facts 1 to 4 of BHBK24 Appendix B.1 and E, verified exactly at every n that fits.

* Fact 1: DISJ on n bits needs n bits, two-way: its matrix has rank 2ⁿ (2ⁿ − 1 in BHBK24's polarity), and the pairs
  (S, complement of S) are a fooling set of 2ⁿ disjoint pairs.
* Fact 2: EQ on n bits needs n bits, two-way: rank 2ⁿ, and the diagonal is a fooling set of 2ⁿ.
* Fact 3: INDEX on n bits needs n bits when only Alice speaks: 2ⁿ distinct rows.
* Fact 4: a fooling set of size s forces ⌈log2 s⌉ bits. It is a theorem, and what is run is its use: the fooling sets
  above, verified literally pair by pair, and for EQ by the uniqueness argument in both directions as well.

The statements about randomised protocols in Facts 1 and 3 are cited, not verified.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.bit_counts import bits_for
from separatrix.catalog import ExecutedClaim
from separatrix.communication.classics import disjointness, equality, index
from separatrix.communication.fooling import FoolingSet, preimage, verify_by_uniqueness, verify_fooling_set
from separatrix.communication.matrix import communication_matrix
from separatrix.communication.rank import RationalRank, rational_rank
from separatrix.communication.rows import count_distinct_rows
from separatrix.errors import SeparatrixError

LARGEST_BY_RANK = 12
LARGEST_BY_ROWS = 20


@dataclass(frozen=True)
class Check:
    """One computation about one n: what was found, and the bits that follow from it."""

    method: str
    found: int
    expected: int
    bits: int

    @property
    def holds(self) -> bool:
        """Whether the found number is the expected one."""
        return self.found == self.expected


@dataclass(frozen=True)
class FactReport:
    """A fact at one n: its checks, and whether all of them give the n bits that it states."""

    fact: int
    statement: str
    n: int
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check came out as expected and forces the bits that the fact states."""
        return all(check.holds and check.bits >= self.n for check in self.checks)


def verify_fact_1(n: int) -> FactReport:
    """DISJ by rank in both polarities and by its fooling set, pair by pair.

    The two polarities are the two values of one matrix, so their ranks add up to a bound on its rectangles.

    >>> report = verify_fact_1(4)
    >>> report.holds, [check.found for check in report.checks]
    (True, [16, 15, 16])
    """
    _check(n, LARGEST_BY_RANK)
    disjoint = rational_rank(communication_matrix(disjointness(n, "disjoint")))
    meeting = rational_rank(communication_matrix(disjointness(n)))
    bits = bits_for(disjoint.lower + meeting.lower)
    checks = (
        _rank_check("rank, 1 = disjoint (SHT23)", disjoint, 2**n, bits),
        _rank_check("rank, 1 = intersecting (BHBK24)", meeting, 2**n - 1, bits),
        _disjointness_fooling(n),
    )
    return FactReport(1, "deterministic DISJ on n bits exchanges at least n bits", n, checks)


def verify_fact_2(n: int) -> FactReport:
    """EQ by rank, by its fooling set pair by pair, and by uniqueness in both directions."""
    _check(n, LARGEST_BY_RANK)
    rank = rational_rank(communication_matrix(equality(n)))
    checks = (_rank_check("rank", rank, 2**n, bits_for(rank.lower)), *_equality_fooling(n))
    return FactReport(2, "deterministic EQ on n bits exchanges at least n bits", n, checks)


def verify_fact_3(n: int) -> FactReport:
    """INDEX by counting its rows: exact, so n bits are also enough."""
    _check(n, LARGEST_BY_ROWS)
    rows = count_distinct_rows(index(n))
    return FactReport(
        3, "one-way INDEX on n bits takes n bits", n, (Check("distinct rows", rows, 2**n, bits_for(rows)),)
    )


def verify_fact_4(n: int) -> FactReport:
    """Verify pair by pair that the fooling sets of DISJ and EQ force n bits each."""
    _check(n, LARGEST_BY_RANK)
    checks = (_disjointness_fooling(n), *_equality_fooling(n))
    return FactReport(4, "a fooling set S forces ⌈log2 |S|⌉ bits", n, checks)


def _disjointness_fooling(n: int) -> Check:
    everything = numpy.arange(2**n, dtype=numpy.int64)
    pairs = FoolingSet(0, everything, everything[::-1].copy())
    return _fooling_check(
        "fooling set (S, complement of S), pair by pair", verify_fooling_set(disjointness(n), pairs).valid, pairs
    )


def _equality_fooling(n: int) -> tuple[Check, Check]:
    problem = equality(n)
    everything = numpy.arange(2**n, dtype=numpy.int64)
    diagonal = FoolingSet(1, everything, everything)
    whole = preimage(problem, 1)
    return (
        _fooling_check("fooling set (a, a), pair by pair", verify_fooling_set(problem, diagonal).valid, diagonal),
        _fooling_check("all of value 1, unique both ways", verify_by_uniqueness(whole.alice, whole.bob).valid, whole),
    )


FACTS: dict[int, tuple[Callable[[int], FactReport], int]] = {
    1: (verify_fact_1, LARGEST_BY_RANK),
    2: (verify_fact_2, LARGEST_BY_RANK),
    3: (verify_fact_3, LARGEST_BY_ROWS),
    4: (verify_fact_4, LARGEST_BY_RANK),
}
"""Each fact's verification and the largest n that fits."""

FACT_CLAIMS = tuple(
    ExecutedClaim(
        f"BHBK24 Fact {fact}",
        "fact",
        f"fact-{fact}",
        f'python -c "from separatrix.communication.facts import verify_fact_{fact} as verify; print(verify(8))"',
        __file__,
    )
    for fact in FACTS
)


def verify_facts(largest: int = LARGEST_BY_ROWS) -> list[FactReport]:
    """Verify every fact at every n from 1 to ``largest`` that fits: to 12 by rank and pairs, to 20 by rows."""
    return [verify(n) for verify, most in FACTS.values() for n in range(1, min(most, largest) + 1)]


def _check(n: int, most: int) -> None:
    if not 1 <= n <= most:
        raise SeparatrixError(f"n = {n} does not fit; choose 1 to {most}")


def _rank_check(method: str, rank: RationalRank, expected: int, bits: int) -> Check:
    # A rank that is only known to lie in an interval does not count as found.
    found = rank.lower if rank.exact else -1
    return Check(f"{method}, modulo {rank.certificate.prime}; {rank.why_at_most}", found, expected, bits)


def _fooling_check(method: str, valid: bool, pairs: FoolingSet) -> Check:
    return Check(method, pairs.size if valid else 0, pairs.size, pairs.bits if valid else 0)
