"""A survey of one construction's frontier over many lengths: what is asked, and the answers as tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from separatrix.answer import Answer, Grid, Sheet, plain
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


@dataclass(frozen=True, repr=False)
class Survey(Answer):
    """All answers for one construction; a plane is the fewest bits of each code at one length."""

    construction: str
    widths: tuple[Narrowest, ...]
    planes: Mapping[int, tuple[Point, ...]]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, and of each plane the points that no other beats."""
        frontier = {length: best(points) for length, points in self.planes.items()}
        return {**super().as_dict(), "frontier": plain(frontier)}

    @property
    def width_grid(self) -> Grid:
        """The narrowest certified networks."""
        title = f"{self.construction}: the narrowest network that is certified for all inputs"
        return Grid(title, WIDTH_HEADINGS, tuple(map(_width_row, self.widths)), numbers=_numbers(WIDTH_HEADINGS))

    @property
    def plane_grid(self) -> Grid:
        """The fewest bits of each code at each length."""
        title = f"{self.construction}: the fewest bits that are certified for all inputs"
        rows = tuple(_plane_row(point) for points in self.planes.values() for point in points)
        return Grid(title, PLANE_HEADINGS, rows, numbers=_numbers(PLANE_HEADINGS))

    def sheet(self) -> Sheet:
        """Show both tables, the second where there is a plane."""
        return Sheet(grids=tuple(each for each in (self.width_grid, self.plane_grid) if each.rows))


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


def _numbers(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in headings if each != "addresses")


def _width_row(each: Narrowest) -> tuple[str, ...]:
    point, start = each.point, (str(each.length), str(each.exponent))
    if point is None:
        return (*start, "–", "none on the ladder", "–", "–", "–", "–")
    numbers = (point.precision_bits, point.width, point.code, point.code_width)
    return (*start, *map(str, numbers), _shown_gain(each.gain), str(point.size_bits))


def _plane_row(point: Point) -> tuple[str, ...]:
    return (
        str(point.length), point.code, str(point.code_width), str(point.width), str(point.precision_bits),
        f"2^-{point.bits}", _shown_gain(point.gain), str(point.size_bits),
    )  # fmt: skip


def _shown_gain(gain: str | None) -> str:
    """Return η as a short decimal; the exact fraction is in the JSON."""
    return "theorem's" if gain in (None, "theorem") else f"{float(Fraction(gain)):.4g}"
