"""BHBK24 Facts 1-3 as evidence: what DISJ, EQ and INDEX need, argued for every n and computed at small n.

*INDEX* (one way). Two different vectors of Alice differ at some place, which Bob may hold; so her message must tell all
2^n vectors apart. Computed: the matrix has 2^n different rows.

*EQ* and *DISJ* (both may speak). The pairs (x, x), and the pairs of a set and its complement, are fooling sets of 2^n
pairs (Fact 4). Computed in ``facts.py``: every crossing of two pairs, and the rank. A protocol after which both know
the answer has more than 2^n different transcripts, those of the fooling set and one of the other value, so n + 1 bits;
one after which one party knows it has n. The randomised complexity of EQ is O(log n), so its bounds hold for
deterministic models only (E14).
"""

from collections.abc import Callable

from separatrix.bounds.evidence import Evidence
from separatrix.communication import FactReport, Reduction, reductions, verify_fact_1, verify_fact_2, verify_fact_3

LARGEST = 8
"""Larger limits are cut to this: ranks and crossings of 2^8 rows take a moment."""


def index_fact(limit: int) -> Evidence:
    """INDEX needs n bits one way: its matrix has 2^n different rows."""
    why = "2^n different rows, counted to n = {to}; for every n because two vectors differ at a place that Bob may hold"
    return _fact("INDEX needs n bits one way (BHBK24 Fact 3)", why, "INDEX", verify_fact_3, limit)


def equality_fact(limit: int) -> Evidence:
    """EQ needs n bits: the diagonal is a fooling set."""
    why = (
        "the 2^n pairs (x, x) are a fooling set, crossed pair by pair to n = {to}, and the rank is 2^n; for every n "
        "because "
        "(x, y) with x ≠ y is unequal"
    )
    return _fact("EQ needs n bits (BHBK24 Fact 2)", why, "EQ", verify_fact_2, limit)


def disjointness_fact(limit: int) -> Evidence:
    """DISJ needs n bits: sets and their complements are a fooling set."""
    why = (
        "the 2^n pairs (S, complement of S) are a fooling set, crossed pair by pair to n = {to}, and the rank is 2^n; "
        "for "
        "every n because S ≠ T meets the complement of T, or T that of S"
    )
    return _fact("DISJ needs n bits (BHBK24 Fact 1)", why, "DISJ", verify_fact_1, limit)


def _fact(what: str, why: str, problem: str, verify: Callable[[int], FactReport], limit: int) -> Evidence:
    to = min(limit, LARGEST)
    holds = all(verify(n).holds for n in range(1, to + 1))
    return Evidence("verified", f"{what}: {why.format(to=to)}", holds, {"problem": problem, "verified_to": to})


def hidden_by(
    name: str, fact: Callable[[int], Evidence], variant: str | None = None
) -> Callable[[int], tuple[Evidence, ...]]:
    """Return the checks of a bound that rests on one reduction and one fact: both, run for instances of up to so many
    bits.

    >>> [each.kind for each in hidden_by("index-to-match2", index_fact)(3)]
    ['verified', 'verified']
    """

    def checks(limit: int) -> tuple[Evidence, ...]:
        reduction = reductions()[name]
        return reduction_evidence(reduction.variant(variant or name), limit), fact(limit)

    return checks


def reduction_evidence(reduction: Reduction, limit: int) -> Evidence:
    """Verify a reduction for every pair of inputs of all sizes of up to ``limit`` bits."""
    found = reduction.verified_to(max(limit, reduction.bits(reduction.smallest)))
    pairs = sum(each.pairs for each in found)
    failed = next((each for each in found if not each.holds), None)
    where = failed.first.in_words() if failed is not None and failed.first is not None else ""
    text = (
        f"reduction {reduction.name}: answers agree on all {pairs} pairs of instances of up to {found[-1].bits} bits"
        if failed is None
        else f"reduction {reduction.name} fails on {failed.failures} of {failed.pairs} pairs: {where}"
    )
    return Evidence(
        "verified",
        text,
        failed is None,
        {"reduction": reduction.name, "pairs": pairs, "largest_bits": found[-1].bits, "source": reduction.source},
    )
