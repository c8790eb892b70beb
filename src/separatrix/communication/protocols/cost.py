"""Counted bits next to BHBK24 Theorem 4's 3m(p + log N)H, and exactly when the claim holds (E13).

BHBK24 §2 calls max(m, d) the width, where the projections are m × d matrices, and TF_{m,p,H} the Transformers of width
m. So the claim is read with m = max(m, d), where d ≤ m, and next to it with m the rows of the projections, which is
what the proof's steps speak about. Comparisons are in integers: bits ≤ c·m·H·(p + log2 N) holds exactly when
bits ≤ c·m·H·p + ⌊log2 N^(c·m·H)⌋.

For H softmax heads with m values each, L = ⌈log2 N⌉ and an answer of one bit:

* as written: dp + H(4p + 2L + 4mp). Constant 3 holds exactly when (d/H + m + 4)·p + 2L ≤ 3m·log N, so never when
  p ≥ 3 log N. Constant 6 holds when d ≤ mH and m ≥ 4.
* repaired, rounded products: dp + H(4p + 2L + m(p + L)) + 1. Constant 3 holds when d ≤ mH and m ≥ 4.
* repaired, exact products: dp + H(4p + 2L + mB) + 1 with B ≈ 3p/2. Constant 3 holds when d ≤ mH and m ≥ 8.
* opened by the queries, mHp bits at most, or by the token, ⌈log2 |Σ|⌉ bits, the condition d ≤ mH falls away.
"""

from dataclasses import dataclass
from typing import Any

from separatrix.bit_counts import bits_for
from separatrix.communication.protocols.plan import Plan

CLAIMED_CONSTANT = 3
CONSTANT_AS_WRITTEN = 6


def claimed_bits(width: int, precision: int, positions: int, heads: int, constant: int = CLAIMED_CONSTANT) -> int:
    """Return the largest whole number of bits within constant · m(p + log2 N)H, exactly.

    >>> claimed_bits(4, 18, 16, 1)
    264
    """
    factor = constant * width * heads
    return factor * precision + (positions**factor).bit_length() - 1


def claim_holds_as_written(rows: int, stream: int, heads: int, precision: int, positions: int) -> bool:
    """Return whether 3m(p + log2 N)H covers the protocol word for word: (d/H + m + 4)p + 2L ≤ 3m·log2 N, exactly.

    ``rows`` is m, ``stream`` d. The powers of two of both sides are compared, so that no logarithm is rounded.
    """
    left = stream * precision + heads * ((rows + 4) * precision + 2 * bits_for(positions))
    return left <= (positions ** (3 * rows * heads)).bit_length() - 1


@dataclass(frozen=True)
class Comparison:
    """Bits of a run next to the claim: for the width max(m, d), and for m the rows of the projections."""

    bits: int
    stream_width: int
    projection_rows: int
    heads: int
    precision_bits: int
    positions: int

    @property
    def width(self) -> int:
        """max(m, d), the paper's width."""
        return max(self.stream_width, self.projection_rows)

    def claimed(self, constant: int = CLAIMED_CONSTANT, *, rows: bool = False) -> int:
        """constant · m(p + log N)H; with ``rows`` m is the rows of the projections instead of the width."""
        m = self.projection_rows if rows else self.width
        return claimed_bits(m, self.precision_bits, self.positions, self.heads, constant)

    def holds(self, constant: int = CLAIMED_CONSTANT, *, rows: bool = False) -> bool:
        """Return whether the counted bits stay within the claim."""
        return self.bits <= self.claimed(constant, rows=rows)

    def describe_rows(self) -> str | None:
        """Return the claim with m the rows of the projections, in words; None where that is the width (erratum E13)."""
        if self.projection_rows == self.width:
            return None
        within = "within" if self.holds(rows=True) else "beyond"
        return f"with m = {self.projection_rows}, the rows of the projections: {within} {self.claimed(rows=True)}"

    def smallest_constant(self, *, rows: bool = False) -> int:
        """Return the smallest whole constant c with bits ≤ c·m(p + log N)H."""
        constant = 1
        while not self.holds(constant, rows=rows):
            constant += 1
        return constant

    def as_json(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "formula": "3*m*(p+log2 N)*H",
            "m": self.width,
            "claimed_bits": self.claimed(),
            "holds": self.holds(),
            "smallest_constant": self.smallest_constant(),
            "projection_rows": self.projection_rows,
            "claimed_bits_for_projection_rows": self.claimed(rows=True),
            "holds_for_projection_rows": self.holds(rows=True),
            "smallest_constant_for_projection_rows": self.smallest_constant(rows=True),
            "heads": self.heads,
            "precision_bits": self.precision_bits,
            "positions": self.positions,
        }


def compare(plan: Plan, bits: int | None = None) -> Comparison:
    """Return the bits of a plan, or those counted in a run of it, next to the claim.

    >>> from separatrix.communication.partition import odd_even
    >>> from separatrix.communication.protocols import make_plan
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(16)
    >>> found = compare(make_plan(built.network, built.arithmetic, odd_even(17)))
    >>> found.bits, found.claimed(), found.holds()
    (514, 1060, True)
    """
    heads = plan.attention.heads
    rows = max(max(head.query.shape[0], head.value.shape[0]) for head in heads) if heads else 0
    counted = plan.formula_bits if bits is None else bits
    p = plan.arithmetic.precision_bits
    return Comparison(counted, plan.network.slots.width, rows, len(heads), p, plan.network.positions)


@dataclass(frozen=True)
class Condition:
    """What makes a constant enough: the statement, and whether all of it is met here."""

    constant: int
    when: str
    met: bool
    rows: int

    def describe(self) -> str:
        """Return the statement in words."""
        met = "met" if self.met else "not met"
        return f"sufficient for constant {self.constant}: {self.when} ({met} with m = {self.rows})"


def condition(plan: Plan) -> Condition:
    """Return what :mod:`cost` states about a version, with the numbers of a plan; m is the rows of the projections.

    Where the condition is met, ``compare(plan).holds(constant, rows=True)``. It is sufficient, not necessary: the
    comparison is what counts.
    """
    sizes = compare(plan)
    m, d, heads = sizes.projection_rows, sizes.stream_width, sizes.heads
    both_ways, opening = plan.version.both_ways, plan.version.opening
    least = 8 if plan.products == "exact" and not both_ways else 4
    asked = {f"m ≥ {least}": m >= least, "N ≥ 2": sizes.positions >= 2}
    if opening == "vector":
        asked["d ≤ mH"] = d <= m * heads
    if opening == "token":
        asked["log|Σ| ≤ mHp"] = plan.vocabulary_code.width <= m * heads * sizes.precision_bits
    if not both_ways:
        asked["answer ≤ mH bits"] = plan.answer_bits <= m * heads
    if any(head.scoring == "linear" for head in plan.attention.heads) and plan.products == "exact":
        asked["no linear attention"] = False
    constant = CONSTANT_AS_WRITTEN if both_ways else CLAIMED_CONSTANT
    return Condition(constant, ", ".join(asked), all(asked.values()), m)


def caveats(sizes: Comparison, stated: Condition) -> list[str]:
    """Return what is shown next to a claim: the claim for m the rows of the projections, where that is not
    the width, and what is sufficient for the constant (erratum E13).

    >>> caveats(Comparison(514, 16, 6, 1, 18, 17), Condition(3, "d ≤ mH", False, 6))
    ['with m = 6, the rows of the projections: beyond 397', 'sufficient for constant 3: d ≤ mH (not met with m = 6)']
    """
    return [each for each in (sizes.describe_rows(), stated.describe()) if each is not None]
