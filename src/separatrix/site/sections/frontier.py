"""The frontier section: how narrow a construction can be and still be certified, at the theorem's own precision.

Small lengths are decided for this page; larger ones come from recorded surveys, where there are any.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.constructions import constructions
from separatrix.site.figure import draw, plot_named
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, RecordedSection
from separatrix.table import Point, RecordedSurvey, Sources, decided, frontier_powers, narrowest, recorded_surveys

POWERS = tuple(range(4, 11))
EXPONENT = 2


@dataclass(frozen=True)
class FrontierPoint:
    """The narrowest certified network at one length, with its ``precision`` of exponent·log₂ N fraction bits."""

    length: int
    width: int
    precision: int
    code: str
    size_bits: int
    exponent: int


@dataclass(frozen=True)
class DecidedFrontier:
    """What was decided for this page."""

    construction: str
    points: tuple[FrontierPoint, ...]
    command: str


@dataclass(frozen=True)
class RecordedFrontier:
    """What one recorded survey says."""

    construction: str
    file: str
    points: tuple[FrontierPoint, ...]
    origin: Origin


@dataclass(frozen=True)
class FrontierResults:
    """All frontiers; those decided here have one ``exponent``."""

    exponent: int
    rows: tuple[DecidedFrontier, ...]
    recorded: tuple[RecordedFrontier, ...]


@dataclass(frozen=True)
class SurveyTable:
    """A recorded survey as a table."""

    construction: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class FrontierSection(RecordedSection[FrontierResults]):
    """The narrowest certified networks over N."""

    name: str = "frontier"
    title: str = "Frontiers"
    order: int = 19
    results_type: type = FrontierResults
    catalog: Callable[[], Mapping[str, Any]] = lambda: {name: constructions()[name] for name in frontier_powers()}
    page: str = "frontiers"
    menu: str = "Can it?"
    lead: str = (
        "The theorems give one width; much narrower networks are right on every input too. For each construction, the "
        "narrowest network on a ladder of address codes that the checker certifies: from points on a circle, which are "
        "narrow and need precise numbers, to sign codes, which are wide and coarse."
    )

    def collect_from(self, sources: Sources, advance: Advance) -> FrontierResults:
        """Decide small lengths, and read what is recorded."""
        rows: list[DecidedFrontier] = []
        for each in self.entries(advance, "narrowest networks of"):
            name, last = each.name, min(POWERS[-1], each.frontier_power)
            command = f"separatrix frontier {name} --from {POWERS[0]} --to {last}"
            rows.append(DecidedFrontier(name, tuple(_points(name)), command))
        recorded = tuple(_recorded(file, found) for file, found in recorded_surveys(sources))
        return FrontierResults(EXPONENT, tuple(rows), recorded)

    def figures(self, results: FrontierResults) -> list[Figure]:
        """Draw the narrowest certified width against N."""

        def paint(axes: Any) -> None:
            lines = ((row.construction, [(point.length, point.width) for point in row.points]) for row in results.rows)
            plot_named(axes, lines, fontsize=8)
            axes.set_xscale("log", base=2)
            axes.set_xlabel("length N")
            axes.set_ylabel("narrowest certified width")
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)

        caption = f"The narrowest networks certified for all inputs of length N, in fixed point with Kc = {EXPONENT}."
        return [draw("frontier-widths", caption, paint, 6.0, 4.2).with_origin(_decided_here(results))]

    def body(self, results: FrontierResults) -> str:
        """Show a table of what was decided here, and one for each recorded survey."""
        rows = [(row.construction, *(_at(row.points, 2**power) for power in POWERS)) for row in results.rows]
        return render(
            "frontiers.html", headings=("construction", *(f"N = {2**power:,}" for power in POWERS)), rows=rows,
            exponent=results.exponent, origin=_decided_here(results), recorded=list(map(_table, results.recorded)),
        )  # fmt: skip


def _points(name: str) -> Iterator[FrontierPoint]:
    for power in POWERS:
        if power > constructions()[name].frontier_power or 2**power < constructions()[name].minimum_length:
            continue
        point = narrowest(name, 2**power, EXPONENT * power, decided)
        if point is not None and point.certified:
            yield _point(point, EXPONENT)


def _point(point: Point, exponent: int) -> FrontierPoint:
    return FrontierPoint(point.length, point.width, point.precision_bits, point.code, point.size_bits, exponent)


def _at(points: Iterable[FrontierPoint], length: int) -> str:
    found = next((point for point in points if point.length == length), None)
    # A comma between the two: a code may begin with a number of its own, as in "2 circles".
    return "–" if found is None else f"{found.width}, {found.code}"


def _recorded(file: str, found: RecordedSurvey) -> RecordedFrontier:
    made = found.provenance
    points = tuple(_point(each.point, each.exponent) for each in found.widths if each.point is not None)
    version = made.versions.get("separatrix", "")
    origin = Origin("recorded", file, made.command, made.arithmetic, made.seed, version)
    return RecordedFrontier(found.construction, file, points, origin)


def _table(record: RecordedFrontier) -> SurveyTable:
    lengths = sorted({point.length for point in record.points})
    rows = tuple(
        (f"Kc = {exponent}", *(_at((each for each in record.points if each.exponent == exponent), n) for n in lengths))
        for exponent in sorted({point.exponent for point in record.points})
    )
    headings = ("precision", *(f"N = {length:,}" for length in lengths))
    return SurveyTable(record.construction, headings, rows, record.origin)


def _decided_here(results: FrontierResults) -> Origin:
    return Origin("proved", "all inputs of each length", results.rows[0].command, "fixed point")


SECTION = FrontierSection()
