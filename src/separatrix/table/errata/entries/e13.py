"""E13: Theorem 4's constant 3 does not hold as written."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.communication import claim_holds_as_written, compare, make_plan, odd_even, run_one_layer
from separatrix.constructions import constructions
from separatrix.networks import Attention, EmbeddingPart, Head, Network, Readout, Slots, TableRows, exact
from separatrix.table.errata.erratum import Erratum, Finding
from separatrix.tasks import draws_from, to_numpy

LENGTH = 16
FULL = ((16, 2, 8, 8, 1), (16, 1, 8, 8, 1), (1024, 2, 8, 64, 4), (1024, 1, 8, 64, 4), (1024, 1, 256, 64, 4))
"""Positions, Kc, d, m and H."""


def show() -> tuple[Finding, ...]:
    """The same conversation as written and repaired, m the rows of the projections."""
    built = constructions()["index-lookup"].build(LENGTH)
    row = to_numpy(built.task.sample(draws_from(0), 1, LENGTH).inputs)[0]
    count = FixedPoint(length=LENGTH, exponent=2).number_count
    found = {
        version: run_one_layer(built.network, row, built.arithmetic, odd_even(built.network.positions), version=version)
        for version in ("as-written", "repaired", "queries", "token")
    }
    sizes = {version: compare(run.plan, run.transcript.total_bits) for version, run in found.items()}
    written = sizes["as-written"]
    claimed = written.claimed(rows=True)
    d, m, heads = written.stream_width, written.projection_rows, written.heads
    return (
        Finding(
            "original",
            f"index-lookup at N = {LENGTH}: the protocol as written takes {written.bits} bits, "
            f"3m(p + log N)H = {claimed}",
            not written.holds(rows=True),
        ),
        _exactly(),
        Finding(
            "original",
            f"d ≤ mH, which the count needs, fails there (d = {d}, m = {m}, H = {heads}): even with U sent one way, x "
            f"makes it {sizes['repaired'].bits} bits",
            d > m * heads and not sizes["repaired"].holds(rows=True),
        ),
        Finding(
            "original",
            f"|Q_p| = 2N^(2Kc) + 1 = {count:,} and not N^(2Kc) = {LENGTH**4:,}",
            count == 2 * LENGTH**4 + 1,
        ),
        Finding(
            "repair",
            f"U one way and the queries instead of x: {sizes['queries'].bits} bits; the token instead: "
            f"{sizes['token'].bits} bits",
            sizes["queries"].holds(rows=True) and sizes["token"].holds(rows=True),
        ),
    )


def _exactly() -> Finding:
    """The exact condition against the bits of whole plans, where it holds and where it fails."""
    within: list[str] = []
    agree = True
    for positions, exponent, d, m, heads in FULL:
        arithmetic = FixedPoint(positions, exponent)
        plan = make_plan(_full(positions, d, m, heads), arithmetic, odd_even(positions), "as-written")
        stated = claim_holds_as_written(m, d, heads, arithmetic.precision_bits, positions)
        agree = agree and stated == compare(plan).holds(rows=True)
        if stated:
            within.append(f"N = {positions}, Kc = {exponent}, d = {d}, m = {m}, H = {heads}")
    return Finding(
        "original",
        f"heads with m queries, keys and values: constant 3 holds exactly when (d/H + m + 4)p + 2L ≤ 3m log N; of "
        f"{len(FULL)} sizes at {'; '.join(within)}",
        agree and 0 < len(within) < len(FULL),
    )


def _full(positions: int, d: int, m: int, heads: int) -> Network:
    """A network in which queries, keys and values all have m rows; what it computes does not matter here."""
    inwards, outwards = (exact(numpy.ones(shape, dtype=numpy.int64)) for shape in ((m, d), (d, m)))
    table = TableRows(exact(numpy.ones((2, d), dtype=numpy.int64)))
    return Network(
        Slots((("stream", d),)),
        2,
        positions,
        (EmbeddingPart("stream", table, "token", (0, 2), (0, positions)),),
        (Attention((Head(inwards, inwards, inwards, outwards),) * heads),),
        Readout(exact(numpy.ones((1, d), dtype=numpy.int64)), exact([[0]]), "bits"),
    )


ERRATUM = Erratum(
    number=13,
    source="BHBK24 Theorem 4, Appendix B.2",
    title="The constant 3 does not hold as written",
    claim="A one-layer Transformer gives a protocol of 3m(p + log N)H bits.",
    fault="As written it costs dp + H(4p + 2L + 4mp) bits, within the claim exactly when "
    "(d/H + m + 4)p + 2L ≤ 3m log N, so never when p ≥ 3 log N.",
    repair="U goes one way and the answer comes back: constant 3 for d ≤ mH, m ≥ 4 (8 with exact products). Opened by "
    "the queries or the token, d plays no part. As written, constant 6 for d ≤ mH, m ≥ 4.",
    show=show,
    command=f"separatrix protocol index-lookup --length {LENGTH} --version as-written",
)
