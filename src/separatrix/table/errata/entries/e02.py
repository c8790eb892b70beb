"""E2: rounding down never gives 1."""

from fractions import Fraction

from separatrix.arithmetic import FixedPoint
from separatrix.constructions import Options, constructions
from separatrix.networks import evaluate
from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 8


def show() -> tuple[Finding, ...]:
    """The rounding itself, then all inputs of length 8."""
    arithmetic = FixedPoint(length=16, exponent=2, rounding="down")
    value = arithmetic.decode(arithmetic.encode(1 - Fraction(1, 10**30))).item()
    built = constructions()["equality"].build(LENGTH, Options(variant="paper"))
    wrong = only_one = 0
    for examples in built.task.enumerate(LENGTH):
        bad = evaluate(built.network, examples.inputs, built.arithmetic).answers[:, 0] != examples.targets[:, -1]
        half = LENGTH // 2
        mismatches = (examples.inputs[:, :half] != examples.inputs[:, half:]).sum(axis=1)
        wrong += int(bad.sum())
        only_one += int((mismatches == 1).sum())
    return (
        Finding("original", f"1 − 10⁻³⁰ is rounded to {value}, one step below 1", value == 1 - arithmetic.step),
        Finding(
            "original",
            f"of all 2^{LENGTH} inputs the network as written answers {wrong} wrongly, exactly the {only_one} with one "
            "mismatch",
            wrong == only_one > 0,
        ),
        refuted("equality", LENGTH, "paper"),
        certified("equality", 256),
    )


ERRATUM = Erratum(
    number=2,
    source="BHBK24 Theorem 6, Appendix B.2",
    title="Rounding down never gives 1",
    claim="A softmax weight close to 1 “will be rounded to 1”.",
    fault="B.2 rounds down, so a weight below 1 becomes at most 1 − Δ, and one mismatch counts as 1 − Δ and is missed.",
    repair="A thresholding feed-forward after the attention.",
    show=show,
    command=f"separatrix certify equality --length {LENGTH} --variant paper",
)
