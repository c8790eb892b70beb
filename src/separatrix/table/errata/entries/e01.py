"""E1: a random draw wastes width."""

from fractions import Fraction

from separatrix.arithmetic import code_table
from separatrix.table.errata.erratum import Erratum, Finding, certified

COUNT = 256


def show() -> tuple[Finding, ...]:
    """Widths for the same number of vectors and the same bound on their inner products."""
    row = code_table([COUNT], Fraction(1, 4))[0]
    drawn = row.widths["random-draw"]
    assert drawn is not None
    return (
        Finding(
            "original",
            f"{COUNT} vectors with inner products up to 1/4: the paper's formula takes width {row.paper_width}, the "
            f"best random draw found {drawn}",
            row.paper_width > drawn > row.best.width,
        ),
        Finding(
            "repair",
            f"an explicit code ({row.best.family}) has width {row.best.width}, every inner product checked; no code is "
            f"narrower than {row.limit.width} (Delsarte)",
            row.best.width >= row.limit.width,
        ),
        certified("index-lookup", 64),
    )


ERRATUM = Erratum(
    number=1,
    source="BHBK24 Lemma 2, Corollary 8.1",
    title="A random draw wastes width",
    claim="N nearly orthogonal vectors are drawn at random, in O(log N / γ²) dimensions.",
    fault="The constant is large: explicit codes need a fraction of the width, and a smaller η suffices.",
    repair="Linear sign codes, whose inner products are known exactly from N weights, and η = (4/3) ln 3N.",
    show=show,
    command=f"separatrix code --count {COUNT}",
)
