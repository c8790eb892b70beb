"""E4: at Kc = 1 uniform attention over N + 1 positions vanishes."""

from fractions import Fraction

from separatrix.arithmetic import FixedPoint
from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 16


def show() -> tuple[Finding, ...]:
    """The rounding, then the network."""
    rounded = {exponent: FixedPoint(LENGTH, exponent).encode(Fraction(1, LENGTH + 1)).item() for exponent in (1, 2)}
    return (
        Finding("original", f"1/{LENGTH + 1} is {rounded[1]} steps at Kc = 1", rounded[1] == 0),
        refuted("dnf", LENGTH, exponent=1),
        Finding("repair", f"1/{LENGTH + 1} is {rounded[2]} steps at Kc = 2", rounded[2] > 0),
        certified("dnf", LENGTH, exponent=2),
    )


ERRATUM = Erratum(
    number=4,
    source="BHBK24 Theorem 13",
    title="At Kc = 1 uniform attention vanishes",
    claim="Precision O(log N) suffices, with any constant Kc.",
    fault="1/(N + 1) is below the step 1/N and rounds to 0: every positive instance is answered 0.",
    repair="Kc ≥ 2.",
    show=show,
    command=f"separatrix certify dnf --length {LENGTH} --exponent 1",
)
