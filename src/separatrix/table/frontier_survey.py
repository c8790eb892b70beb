"""A survey of one construction's frontier over many lengths: what is asked, and the answers as tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeVar

from separatrix.bit_counts import bits_for
from separatrix.constructions import constructions
from separatrix.table.frontier import (
    MOST_BITS,
    Code,
    Decide,
    Point,
    best,
    fewest_bits,
    ladder,
    narrowest,
    smallest_gain,
    usable,
)

Item = TypeVar("Item")
EXPONENTS = (1, 2, 3)
MOST_OF_A_KIND, LONG, MOST_WHEN_LONG = 6, 1 << 13, 4
"""How many codes with circles, and how many of signs, represent all of them in a plane; fewer from N = 2^13 on."""
ALWAYS, LAST, LAST_OF_ONE_LAYER = 8, 16, 20
"""Planes are made at all lengths up to 2^8 and at every fourth power above, up to 2^16, with one layer up to 2^20."""


@dataclass(frozen=True)
class Narrowest:
    """The narrowest certified network at N and Kc, and the smallest η found for it; None: none on the ladder."""

    length: int
    exponent: int
    point: Point | None
    gain: str | None


@dataclass(frozen=True)
class Survey:
    """All answers for one construction; a plane is the fewest bits of each code at one length."""

    construction: str
    widths: tuple[Narrowest, ...]
    planes: dict[int, tuple[Point, ...]]

    def plain(self) -> dict[str, Any]:
        """Return the survey as data for JSON."""
        return {
            "construction": self.construction,
            "widths": [asdict(each) for each in self.widths],
            "planes": {str(length): [asdict(point) for point in points] for length, points in self.planes.items()},
            "frontier": {
                str(length): [asdict(point) for point in best(points)] for length, points in self.planes.items()
            },
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Survey":
        """Return the survey that :meth:`plain` described."""
        widths = [
            Narrowest(each["length"], each["exponent"], each["point"] and Point(**each["point"]), each["gain"])
            for each in data["widths"]
        ]
        planes = {int(length): tuple(Point(**point) for point in points) for length, points in data["planes"].items()}
        return cls(str(data["construction"]), tuple(widths), planes)


def plane_lengths(name: str, lengths: Sequence[int]) -> list[int]:
    """Return the lengths at which a survey requires the whole plane."""
    powers = {length: length.bit_length() - 1 for length in lengths}
    last = LAST_OF_ONE_LAYER if constructions()[name].addressing == "position" else LAST
    return [n for n in lengths if powers[n] <= ALWAYS or (powers[n] % 4 == 0 and powers[n] <= last)]


def exponents_at(length: int) -> list[int]:
    """Return the Kc that the checker can compute with at a length."""
    power = bits_for(length)
    return [exponent for exponent in EXPONENTS if exponent * power <= MOST_BITS]


def thinned(codes: Sequence[Code], length: int) -> list[Code]:
    """Return some codes with circles and some of signs, the first and the last of each among them."""
    most = MOST_OF_A_KIND if length < LONG else MOST_WHEN_LONG
    kinds = ([code for code in codes if code.on_circles], [code for code in codes if not code.on_circles])
    return [code for kind in kinds for code in spread(kind, most)]


def units(name: str, lengths: Sequence[int]) -> int:
    """Return how many times a survey calls ``advance``."""
    widths = sum(len(exponents_at(length)) for length in lengths)
    return widths + sum(len(_codes(name, length)) for length in plane_lengths(name, lengths))


def survey(name: str, lengths: Sequence[int], decide: Decide, advance: Callable[[str], None]) -> Survey:
    """Ask for the narrowest networks at every length, and for the plane at some; ``lengths`` are powers of two."""
    widths: list[Narrowest] = []
    planes: dict[int, tuple[Point, ...]] = {}
    for length in lengths:
        power = length.bit_length() - 1
        for exponent in exponents_at(length):
            advance(f"{name}, N = 2^{power}, Kc = {exponent}: the narrowest")
            point = narrowest(name, length, power * exponent, decide)
            gain = None if point is None else smallest_gain(point, decide).gain
            widths.append(Narrowest(length, exponent, point, gain))
        if length in plane_lengths(name, lengths):
            found: list[Point] = []
            for code in _codes(name, length):
                advance(f"{name}, N = 2^{power}, {code.label}: the fewest bits")
                coarsest = fewest_bits(name, length, code, decide)
                found += [coarsest] if coarsest is not None else []
            planes[length] = tuple(found)
    return Survey(name, tuple(widths), planes)


def _codes(name: str, length: int) -> list[Code]:
    return [code for code in thinned(ladder(length), length) if usable(name, code)]


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of the items, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[place] for place in sorted({round(step * (len(items) - 1) / (most - 1)) for step in range(most)})]


WIDTH_HEADINGS = ("N", "Kc", "p", "width", "addresses", "k", "η", "size in bits")
PLANE_HEADINGS = ("N", "addresses", "k", "width", "fewest bits p", "steps", "η", "size in bits")


def width_rows(found: Survey) -> list[tuple[str, ...]]:
    """Return the narrowest certified networks as text."""
    rows: list[tuple[str, ...]] = []
    for each in found.widths:
        point = each.point
        start = (str(each.length), str(each.exponent))
        if point is None:
            rows.append((*start, "–", "none on the ladder", "–", "–", "–", "–"))
        else:
            numbers = (point.precision_bits, point.width, point.code, point.code_width)
            rows.append((*start, *map(str, numbers), shown_gain(each.gain), str(point.size_bits)))
    return rows


def plane_rows(found: Survey, length: int) -> list[tuple[str, ...]]:
    """Return the fewest bits of each code at one length as text."""
    return [
        (
            str(length), point.code, str(point.code_width), str(point.width), str(point.precision_bits),
            f"2^-{point.bits}", shown_gain(point.gain), str(point.size_bits),
        )
        for point in found.planes[length]
    ]  # fmt: skip


def shown_gain(gain: str | None) -> str:
    """Return η as a short decimal; the exact fraction is in the JSON."""
    return "theorem's" if gain in (None, "theorem") else f"{float(Fraction(gain)):.4g}"
