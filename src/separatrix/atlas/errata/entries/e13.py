"""E13: Theorem 4's constant 3 does not hold as written."""

from separatrix.arithmetic import FixedPoint
from separatrix.atlas.errata.erratum import Erratum, Finding
from separatrix.communication.partition import odd_even
from separatrix.communication.protocols import compare, run_one_layer
from separatrix.constructions import constructions
from separatrix.tasks import draws_from
from separatrix.tasks.arrays import to_numpy

LENGTH = 16


def show() -> tuple[Finding, ...]:
    """The same conversation as written and repaired, m the rows of the projections."""
    built = constructions()["index-lookup"].build(LENGTH)
    row = to_numpy(built.task.sample(draws_from(0), 1, LENGTH).inputs)[0]
    count = FixedPoint(length=LENGTH, exponent=2).number_count
    found = {
        version: run_one_layer(built.network, row, built.arithmetic, odd_even(built.network.positions), version=version)
        for version in ("as-written", "token")
    }
    sizes = {version: compare(run.plan, run.transcript.total_bits) for version, run in found.items()}
    claimed = sizes["as-written"].claimed(rows=True)
    return (
        Finding(
            "original",
            f"index-lookup at N = {LENGTH}: the protocol as written takes {sizes['as-written'].bits} bits, "
            f"3m(p + log N)H = {claimed}",
            not sizes["as-written"].holds(rows=True),
        ),
        Finding(
            "original",
            f"|Q_p| = 2N^(2Kc) + 1 = {count:,} and not N^(2Kc) = {LENGTH**4:,}",
            count == 2 * LENGTH**4 + 1,
        ),
        Finding(
            "repair",
            f"with U sent one way and the token instead of its embedding it takes {sizes['token'].bits} bits",
            sizes["token"].holds(rows=True),
        ),
    )


ERRATUM = Erratum(
    number=13,
    source="BHBK24 Theorem 4, Appendix B.2",
    title="The constant 3 does not hold as written",
    claim="A one-layer Transformer gives a protocol of 3m(p + log N)H bits.",
    fault="As written it costs dp + H(4p + 2L + 4mp) bits; its fourth step alone exceeds the claim when p > 3 log N.",
    repair="U goes one way and the answer comes back; opened by the token or the queries, d plays no part.",
    show=show,
    command=f"separatrix protocol index-lookup --length {LENGTH} --version as-written",
)
