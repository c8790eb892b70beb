"""The frontier of a construction: how narrow and how coarse it can be and still be certified.

For a length, every address code on a ladder from two points on a circle to a sign code of small inner products is built
at every Kc, and the checker decides each network for all inputs. What is certified and not beaten in both width and
precision is the frontier. This answers seed question "precision sensitivity of the constructions": a circle needs two
dimensions and many bits, sign codes more dimensions and fewer bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from separatrix.certificates import Claim, check
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError

LADDER: tuple[tuple[str, Fraction], ...] = (
    ("circle", Fraction(1, 4)),
    ("code", Fraction(19, 20)),
    ("code", Fraction(7, 8)),
    ("code", Fraction(3, 4)),
    ("code", Fraction(1, 2)),
    ("code", Fraction(1, 4)),
)
"""Address codes from narrow to wide."""

EXPONENTS = (1, 2, 3)
LARGEST_CIRCLE = 4096
"""Points on a circle have no symmetry that the checker uses, so every query is examined: N² scores."""


@dataclass(frozen=True)
class Point:
    """One network on the ladder and its verdict."""

    length: int
    code: str
    width: int
    precision_bits: int
    exponent: int
    size_bits: int
    certified: bool
    reason: str


def supports_codes(name: str) -> bool:
    """Whether a construction takes its addresses from the ladder: it has a slot for them."""
    construction = constructions()[name]
    try:
        built = construction.build(max(16, construction.minimum_length))
    except SeparatrixError:
        return False
    slots = getattr(built.network, "slots", None)
    return slots is not None and "address" in {part for part, _ in slots.parts}


def plane(name: str, length: int, advance: Callable[[str], None], exponents: Sequence[int] = EXPONENTS) -> list[Point]:
    """Every network on the ladder at one length, each decided for all inputs."""
    points: list[Point] = []
    for code, max_inner in LADDER:
        for exponent in exponents:
            label = code if code == "circle" else f"inner ≤ {max_inner}"
            advance(f"N = {length}, {label}, Kc = {exponent}")
            if code == "circle" and length > LARGEST_CIRCLE:
                continue
            options = Options(exponent=exponent, family="circle" if code == "circle" else None, max_inner=max_inner)
            try:
                built = constructions()[name].build(length, options)
            except SeparatrixError:
                continue
            verdict = check(built.network, Claim(built.task, built.length, built.arithmetic))
            bits = built.arithmetic.precision_bits
            size = built.network.size_bits(bits)
            points.append(
                Point(length, label, built.network.width, bits, exponent, size, verdict.valid, verdict.reason)
            )
    return points


def best(points: Sequence[Point]) -> list[Point]:
    """The certified points that no other certified point beats in width and precision, from narrow to wide."""
    certified = [point for point in points if point.certified]
    kept = [
        point
        for point in certified
        if not any(
            (other.width, other.precision_bits) != (point.width, point.precision_bits)
            and other.width <= point.width
            and other.precision_bits <= point.precision_bits
            for other in certified
        )
    ]
    unique = {(point.width, point.precision_bits): point for point in reversed(kept)}
    return [unique[key] for key in sorted(unique)]
