"""The frontier section: how narrow a construction can be and still be certified, at the theorem's own precision.

Small lengths are decided for this page; larger ones come from recorded surveys, where there are any.
"""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.site.figure import draw, plot_named
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, RecordedSection, Results
from separatrix.table import Sources, decided, frontier_powers, narrowest, recorded_surveys

POWERS = tuple(range(4, 11))
EXPONENT = 2


@dataclass(frozen=True, kw_only=True)
class FrontierSection(RecordedSection):
    """The narrowest certified networks over N."""

    name: str = "frontier"
    title: str = "Frontiers"
    order: int = 19
    page: str = "frontiers"
    menu: str = "Can it?"
    lead: str = (
        "The theorems give one width; much narrower networks are right on every input too. For each construction, the "
        "narrowest network on a ladder of address codes that the checker certifies: from points on a circle, which are "
        "narrow and need precise numbers, to sign codes, which are wide and coarse."
    )

    @property
    def units(self) -> int:
        """One for each construction with a frontier."""
        return len(frontier_powers())

    def collect_from(self, sources: Sources, advance: Advance) -> Results:
        """Decide small lengths, and read what is recorded."""
        rows: list[dict[str, Any]] = []
        for name in frontier_powers():
            rows.append({"construction": name, "points": _points(name), "command": _command(name)})
            advance(f"narrowest networks of {name}")
        recorded = [recorded_part(file, found) for file, found in recorded_surveys(sources)]
        return {"exponent": EXPONENT, "rows": rows, "recorded": recorded}

    def figures(self, results: Results) -> list[Figure]:
        """Narrowest certified width against N."""

        def paint(axes: Any) -> None:
            plot_named(
                axes,
                (
                    (row["construction"], [(point["length"], point["width"]) for point in row["points"]])
                    for row in results["rows"]
                ),
                fontsize=8,
            )
            axes.set_xscale("log", base=2)
            axes.set_xlabel("length N")
            axes.set_ylabel("narrowest certified width")
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)

        caption = f"The narrowest networks certified for all inputs of length N, in fixed point with Kc = {EXPONENT}."
        return [draw("frontier-widths", caption, paint, 6.0, 4.2).with_origin(_decided_here(results))]

    def body(self, results: Results) -> str:
        """The figure, a table of what was decided here, and one for each recorded survey."""
        rows = [(row["construction"], *(_at(row["points"], 2**power) for power in POWERS)) for row in results["rows"]]
        return render(
            "frontiers.html", headings=("construction", *(f"N = {2**power:,}" for power in POWERS)), rows=rows,
            exponent=results["exponent"], origin=_decided_here(results),
            recorded=[recorded_table(record) for record in results["recorded"]],
        )  # fmt: skip

    def table(self, results: Results) -> Table:
        """The narrowest width at each length."""
        shown = Table(title=f"Narrowest certified width, Kc = {EXPONENT}", title_justify="left")
        shown.add_column("construction", style="bold", no_wrap=True)
        for power in POWERS:
            shown.add_column(f"2^{power}", justify="right")
        for row in results["rows"]:
            widths = {point["length"]: str(point["width"]) for point in row["points"]}
            shown.add_row(row["construction"], *[widths.get(2**power, "–") for power in POWERS])
        return shown


def _points(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for power in POWERS:
        if power > constructions()[name].frontier_power or 2**power < constructions()[name].minimum_length:
            continue
        point = narrowest(name, 2**power, EXPONENT * power, decided)
        if point is not None and point.certified:
            found.append({
                "length": point.length, "width": point.width, "precision": point.precision_bits, "code": point.code,
                "size_bits": point.size_bits,
            })  # fmt: skip
    return found


def _at(points: list[Results], length: int) -> str:
    found = next((point for point in points if point["length"] == length), None)
    # A comma between the two: a code may begin with a number of its own, as in "2 circles".
    return "–" if found is None else f"{found['width']}, {found['code']}"


def _command(name: str) -> str:
    return f"separatrix frontier {name} --from {POWERS[0]} --to {min(POWERS[-1], constructions()[name].frontier_power)}"


def recorded_part(file: str, found: Results) -> Results:
    """What the page shows of one recorded survey; raises a one-line error where it is none."""
    try:
        points = [_recorded_point(each) for each in found["widths"] if each["point"]]
        made = {name: found["provenance"][name] for name in ("command", "arithmetic", "seed", "versions")}
        numbers = [each[name] for each in points for name in ("length", "width", "precision", "exponent", "size_bits")]
        texts = [found["construction"], made["command"], made["arithmetic"], *(each["code"] for each in points)]
        kinds = [*((each, int) for each in numbers), *((each, str) for each in texts), (made["versions"], dict)]
        if not all(type(value) is kind for value, kind in kinds) or type(made["seed"]) not in (int, type(None)):
            raise TypeError("a value of another kind")
    except (KeyError, TypeError, IndexError) as error:
        raise SeparatrixError(
            f"{file} is not a whole record of a frontier ({error}); remove it or name other --records"
        ) from error
    return {"construction": found["construction"], "file": file, "points": points, "provenance": found["provenance"]}


def _recorded_point(each: Results) -> dict[str, Any]:
    point = each["point"]
    return {
        "length": point["length"], "width": point["width"], "precision": point["precision_bits"], "code": point["code"],
        "exponent": each["exponent"], "size_bits": point["size_bits"],
    }  # fmt: skip


def recorded_table(record: Results) -> dict[str, Any]:
    """Return a recorded survey as a table."""
    made = record["provenance"]
    version = str(made.get("versions", {}).get("separatrix", ""))
    origin = Origin("recorded", record["file"], made["command"], made["arithmetic"], made["seed"], version)
    points = record["points"]
    lengths = sorted({point["length"] for point in points})
    rows = [
        (f"Kc = {exponent}", *(_at([point for point in points if point["exponent"] == exponent], n) for n in lengths))
        for exponent in sorted({point["exponent"] for point in points})
    ]
    headings = ("precision", *(f"N = {length:,}" for length in lengths))
    return {"construction": record["construction"], "headings": headings, "rows": rows, "origin": origin}


def _decided_here(results: Results) -> Results:
    return Origin("proved", "all inputs of each length", results["rows"][0]["command"], "fixed point").plain()


SECTION = FrontierSection()
