"""The numbers that theorems are about: the narrowest sign code for N vectors, and the fixed point of a length."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.answer import Answer, Fact, Sheet
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

SHOWN_VECTORS = 4
MOST_BITS = 4096
LONGEST_SHOWN = 80
"""Characters of a number beyond which only its power of N is shown."""


@dataclass(frozen=True, repr=False)
class FoundCode(Answer):
    """A sign code, every inner product verified, next to the limit that no code can pass; ``vectors`` are the first."""

    count: int
    max_inner_allowed: Fraction
    two_sided: bool
    family: str
    width: int
    max_inner: Fraction
    min_inner: Fraction
    evidence: str
    description_bits: int
    description: dict[str, Any]
    delsarte_limit: int
    delsarte_limit_complete: bool
    paper_width: int
    vectors: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data; vectors are made from the description."""
        return {name: value for name, value in super().as_dict().items() if name != "vectors"}

    def sheet(self) -> Sheet:
        """Show width and inner products, the limits, the first vectors."""
        optimal = ", so no code is narrower" if self.width == self.delsarte_limit else ""
        facts = (
            Fact("vectors", str(self.count)),
            Fact("width", str(self.width)),
            Fact("family", self.family),
            Fact("largest inner product", f"{self.max_inner} (exact)"),
            Fact("smallest inner product", f"{self.min_inner} (exact)"),
            Fact("verified by", self.evidence),
            Fact("description", counted(self.description_bits, "bit")),
            Fact("Delsarte limit", f"width {self.delsarte_limit}{optimal}"),
            Fact("the paper's formula", f"width {self.paper_width}"),
        )
        return Sheet(facts=facts, notes=tuple(f"T({place}) {signs}" for place, signs in enumerate(self.vectors, 1)))


def find_code(count: int, max_inner: Fraction, two_sided: bool = False, family: str | None = None) -> FoundCode:
    """Find the narrowest known sign code (BHBK24 Lemma 2) and verify all its inner products exactly.

    >>> found = find_code(16, Fraction(1, 4))
    >>> found.width, found.delsarte_limit, found.vectors[1]
    (5, 5, '−+++−')
    """
    from separatrix.arithmetic import delsarte_width, paper_width, sign_code

    code = sign_code(count, max_inner, two_sided, family)
    limit = delsarte_width(count, max_inner, two_sided)
    first = code.signs(range(min(SHOWN_VECTORS, count))).tolist()
    return FoundCode(
        count, max_inner, two_sided, code.family, code.width, code.max_inner, code.min_inner, code.evidence,
        code.description_bits, code.description(), limit.width, limit.complete, paper_width(count, max_inner),
        tuple("".join("+" if sign > 0 else "−" for sign in signs) for signs in first),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Numbers(Answer):
    """The fixed point of BHBK24 Appendix B.2 at a length, and whether uniform attention survives its rounding."""

    task: str
    length: int
    positions: int
    exponent: int
    rounding: str
    arithmetic: str
    step: Fraction
    largest: Fraction
    precision_bits: int
    uniform_attention_weight: Fraction
    uniform_attention_survives: bool

    def sheet(self) -> Sheet:
        """Step, range, bits, and the weight that uniform attention gives each position."""
        verdict = "kept" if self.uniform_attention_survives else "lost: it rounds to 0 (E4), choose a larger Kc"
        long = len(str(self.largest)) > LONGEST_SHOWN
        weight = str(self.uniform_attention_weight)
        shown = verdict if len(weight) > LONGEST_SHOWN else f"{weight}, {verdict}"
        facts = (
            Fact("arithmetic", self.arithmetic),
            Fact("step", f"N^-{self.exponent}" if long else f"{self.step} (N^-{self.exponent})"),
            Fact("range", f"±N^{self.exponent}" if long else f"±{self.largest} (N^{self.exponent})"),
            Fact("bits of one number", str(self.precision_bits)),
            Fact(f"1/{self.positions}, uniform attention", shown),
        )
        return Sheet(facts=facts)


def fixed_point_of(
    task: str, length: int, bits: int | None = None, exponent: int | None = None, rounding: str = "down"
) -> Numbers:
    """Return the numbers of a task at a length, by their bits or by the paper's constant Kc.

    >>> found = fixed_point_of("majority", 16, bits=20)
    >>> found.exponent, found.precision_bits, found.uniform_attention_weight
    (2, 18, Fraction(15, 256))
    """
    from separatrix.arithmetic import FixedPoint
    from separatrix.tasks import tasks

    chosen = tasks()[task]
    chosen.check_length(length)
    if (bits is None) == (exponent is None):
        raise SeparatrixError(
            "give one of --bits and --exponent, not both" if bits is not None else "give --bits or --exponent"
        )
    positions = chosen.positions(length)
    kept = exponent if bits is None else exponent_for_bits(task, length, bits)
    assert kept is not None
    arithmetic = FixedPoint(length, kept, rounding)  # type: ignore[arg-type]
    share: Fraction = arithmetic.decode(arithmetic.encode(Fraction(1, positions))).item()
    return Numbers(
        task, length, positions, kept, rounding, str(arithmetic), arithmetic.step, Fraction(arithmetic.largest),
        arithmetic.precision_bits, share, share > 0,
    )  # fmt: skip


def exponent_for_bits(task: str, length: int, bits: int) -> int:
    """Return the largest Kc whose numbers fit in p bits; raises when not even Kc = 1 does."""
    from separatrix.arithmetic import FixedPoint

    if not 1 <= bits <= MOST_BITS:
        raise SeparatrixError(f"{bits} bits are out of range; give 1 to {MOST_BITS}")
    if length < 2:
        raise SeparatrixError(
            f"at length {length} steps of N^-Kc up to N^Kc are 1 whatever Kc is, so that bits choose nothing; "
            "give a length from 2 on"
        )
    exponent = 0
    while FixedPoint(length, exponent + 1).precision_bits <= bits:
        exponent += 1
    if exponent == 0:
        needed = FixedPoint(length, 1).precision_bits
        raise SeparatrixError(
            f"{counted(bits, 'bit')} cannot hold {task} at length {length}: "
            f"steps of 1/{length} up to {length} need {needed}; "
            f"give at least {needed} bits"
        )
    return exponent


def unused_bits(length: int, bits: int, exponent: int, offered: str | None = None) -> str:
    """Return why fewer bits are used than were given, in a line; empty where all of them are.

    ``offered`` is the rounding where the caller takes an arithmetic by name: steps of 2^-b up to 2^b have 2b + 2 bits
    at every length.

    >>> unused_bits(1024, 30, 1)
    '30 bits given, 22 used: at N = 1024 numbers have 22 bits with Kc = 1 and 42 with Kc = 2 (BHBK24 B.2)'
    >>> unused_bits(1024, 22, 1)
    ''
    """
    from separatrix.arithmetic import FixedPoint

    used, more = (FixedPoint(length, each).precision_bits for each in (exponent, exponent + 1))
    if used == bits:
        return ""
    steps = (bits - 2) // 2
    finer = f"; for {2 * steps + 2} give --arithmetic fixed:N=2,Kc={steps},{offered} instead of --precision"
    return (
        f"{counted(bits, 'bit')} given, {used} used: at N = {length} numbers have {used} bits with Kc = {exponent} "
        f"and {more} with Kc = {exponent + 1} (BHBK24 B.2){finer if offered and 2 * steps + 2 > used else ''}"
    )
