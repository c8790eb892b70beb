"""E23: the reduction from INDEX to sparse averaging covers q = 1 alone."""

from separatrix.communication import reductions
from separatrix.table.errata.erratum import Erratum, Finding

SIZE = 6


def show() -> tuple[Finding, ...]:
    """Sets of three with and without cells of value 0 to fill them."""
    reduction = reductions()["index-to-sparse-averaging"]
    unfilled = reduction.variant("index-to-sparse-averaging-3-not-filled").verify(SIZE)
    filled = reduction.variant("index-to-sparse-averaging-3").verify(SIZE)
    assert unfilled.first is not None
    return (
        Finding(
            "original",
            f"q = 3 on N = n + 1 = {unfilled.length} cells: {unfilled.failures} of {unfilled.pairs} pairs are answered "
            f"wrongly, first {unfilled.first.inputs}: {unfilled.first.reason}",
            unfilled.failures == unfilled.pairs // 2,
        ),
        Finding(
            "repair",
            f"q = 3 on N = n + q - 1 = {filled.length} cells: all {filled.pairs} pairs agree",
            filled.holds,
        ),
    )


ERRATUM = Erratum(
    number=23,
    source="SHT23 slides, sparse averaging, lower bound for RNNs",
    title="For q > 1 Bob's set must be filled with cells of value 0",
    claim="Bob's cell asks for {b}, with N = n + 1 cells (q = 1); the bound is stated for every q.",
    fault="A set of q indices names q - 1 more cells; the bits of Alice's cells among them enter the sum.",
    repair="The last q - 1 cells have value 0 and fill the set: N - (q - 1) bits for q > 1.",
    show=show,
    command="separatrix bound sparse-averaging --model rnn --length 64",
    arithmetic="integers",
)
