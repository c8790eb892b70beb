"""What the papers count: bits of the one-layer protocol (BHBK24 Theorem 4), sizes of models (SHT23)."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.bounds import FIXED
from separatrix.capacities import capacity, describe
from separatrix.communication import claim_holds_as_written, compare, make_plan, odd_even, run_one_layer
from separatrix.constructions import constructions
from separatrix.networks import Attention, EmbeddingPart, Head, Network, Readout, Slots, TableRows, exact
from separatrix.table.errata.finding import Finding
from separatrix.tasks import draws_from, to_numpy

SIZES = ((16, 2, 8, 8, 1), (16, 1, 8, 8, 1), (1024, 2, 8, 64, 4), (1024, 1, 8, 64, 4), (1024, 1, 256, 64, 4))
"""Positions, Kc, d, m and H."""


def e13() -> tuple[Finding, ...]:
    """Return the same conversation as written and repaired, m the rows of the projections."""
    length = 16
    built = constructions()["index-lookup"].build(length)
    row = to_numpy(built.task.sample(draws_from(0), 1, length).inputs)[0]
    count = FixedPoint(length=length, exponent=2).number_count
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
            f"index-lookup at N = {length}: the protocol as written takes {written.bits} bits, "
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
            f"|Q_p| = 2N^(2Kc) + 1 = {count:,} and not N^(2Kc) = {length**4:,}",
            count == 2 * length**4 + 1,
        ),
        Finding(
            "repair",
            f"U one way and the queries instead of x: {sizes['queries'].bits} bits; the token instead: "
            f"{sizes['token'].bits} bits",
            sizes["queries"].holds(rows=True) and sizes["token"].holds(rows=True),
        ),
    )


def _exactly() -> Finding:
    """Return the exact condition against the bits of whole plans, where it holds and where it fails."""
    within: list[str] = []
    agree = True
    for positions, exponent, d, m, heads in SIZES:
        arithmetic = FixedPoint(positions, exponent)
        plan = make_plan(_full(positions, d, m, heads), arithmetic, odd_even(positions), "as-written")
        stated = claim_holds_as_written(m, d, heads, arithmetic.precision_bits, positions)
        agree = agree and stated == compare(plan).holds(rows=True)
        if stated:
            within.append(f"N = {positions}, Kc = {exponent}, d = {d}, m = {m}, H = {heads}")
    return Finding(
        "original",
        f"heads with m queries, keys and values: constant 3 holds exactly when (d/H + m + 4)p + 2L ≤ 3m log N; of "
        f"{len(SIZES)} sizes at {'; '.join(within)}",
        agree and 0 < len(within) < len(SIZES),
    )


def _full(positions: int, d: int, m: int, heads: int) -> Network:
    """Return a network in which queries, keys and values all have m rows; what it computes does not matter here."""
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


WIDTHS_ON_SLIDES = {"bert-large": 1024, "gpt2": 768, "gpt3": 128}
"""m as the slides give it."""


def e25() -> tuple[Finding, ...]:
    """Return the printed m next to the widths of the models, and where the bounds then bite."""
    precision = 16
    found: list[Finding] = []
    for name, printed in WIDTHS_ON_SLIDES.items():
        layer = describe(name).layers[0]
        what = "the width of the model" if printed == layer.width else "the width of a head"
        found.append(
            Finding(
                "original",
                f"{name}: m = {printed} is {what}; d = {layer.width}, {layer.heads} heads of {layer.head_width}",
                printed == (layer.width if name != "gpt3" else layer.head_width) and layer.width != layer.head_width,
            )
        )
    for name in WIDTHS_ON_SLIDES:
        layer = describe(name).layers[0]
        first = {
            limit.task: limit.first_impossible for limit in capacity(describe(name), precision, arithmetic=FIXED).limits
        }
        found.append(
            Finding(
                "repair",
                f"{name} with m = {layer.head_width} of a head: in fixed point of {precision} bits one layer alone "
                f"cannot do Dyck-(2,2) from N = {first['dyck']:,} or triple matching from N = {first['match3']:,} on",
                layer.heads * layer.head_width == layer.width,
            )
        )
    return tuple(found)
