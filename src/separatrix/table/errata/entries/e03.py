"""E3: Theorem 6's η is half of what its derivation asks."""

import math

from separatrix.constructions import papers_gain
from separatrix.table.errata.erratum import Erratum, Finding, certified

LENGTH, EXPONENT = 16, 2


def show() -> tuple[Finding, ...]:
    """Both values of η, and the other repair."""
    closing = papers_gain(LENGTH, EXPONENT)
    asked = 2 * math.log((LENGTH - 1) * (2 * LENGTH**EXPONENT - 1))
    return (
        Finding(
            "original",
            f"at N = {LENGTH}, Kc = {EXPONENT} the proof closes with η = {float(closing):.2f}, its derivation asks for "
            f"{asked:.2f}",
            closing < asked,
        ),
        certified("equality", 8, "paper-appendix-d"),
    )


ERRATUM = Erratum(
    number=3,
    source="BHBK24 Theorem 6",
    title="The final η is half of what its derivation asks",
    claim="η = ln N + Kc ln 2N makes all other weights vanish.",
    fault="The derivation asks for 2 ln((N − 1)(2N^Kc − 1)).",
    repair="Appendix D's softmax, which rounds small exponentials to 0 before it divides, repairs the original alone.",
    show=show,
    command="separatrix certify equality --length 8 --variant paper-appendix-d",
)
