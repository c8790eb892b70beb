"""The frontier of every construction that takes its addresses from a code, as far as each goes.

Run with ``python -m benchmarks frontier --write docs/frontier.md``. Verdicts are kept in a file of the system's
temporary folder, so that an interrupted run goes on where it stopped; it is started anew when the code changes.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tools.pages import recorded

from benchmarks.report import Report
from separatrix.constructions import constructions
from separatrix.provenance import provenance
from separatrix.site.frontier_figure import frontier_picture, picture_caption
from separatrix.site.section import Figure
from separatrix.table.frontier import frontier_powers
from separatrix.table.frontier_store import FrontierStore
from separatrix.table.frontier_survey import Survey, survey, units

TITLE = "The frontier: how narrow, how coarse"
INTRO = """\
BHBK24's upper bounds state "width O(log N) and precision O(log N)". This page measures how narrow the networks can
really be, and how few bits they need. Every network below was built, and the checker decided it for *all* inputs of
its length, with all rounding.

The addresses of positions come from a ladder of codes: N points on one circle (two dimensions), points on several
circles (one digit of the position each), binary digits as signs (k = log₂ N), and linear sign codes of decreasing
inner products, down to the theorem's code. Numbers are multiples of 2^-b up to 2^b, which is BHBK24 B.2 with Kc = b /
log₂ N; *p* is the number of bits of one number, 2b + 2. η scales the scores.

There are two searches, both by bisection. At N^Kc, the first finds the narrowest code on the ladder for which some η
is certified, and the smallest such η. The second finds, for each code, the fewest bits for which some η is certified.
The next smaller network (one code narrower, or one bit less) was tried with several η and not certified; this does
not prove that none exists.

Results:

* Width and precision trade off over the whole range. An address takes two numbers if these have nearly 4 log₂ N bits
  (one circle), four if they have slightly more than 2 log₂ N bits (two circles), and log₂ N signs if they have a
  dozen bits. So width O(1) is possible with precision O(log N); log N dimensions are needed only if numbers have
  fewer bits. Theorem 1 over 64 symbols at N = 2^20 is certified with width 14 and 44-bit numbers, with width 46 and
  12 bits, and with width 228 and 8 bits; the theorem's code has width 256, at Kc = 1 with 42 bits. The atlas shows
  the narrowest networks for integer Kc, here width 18 at Kc = 1. To use a precision between two integers Kc, give its
  step; the step of the first of these networks is 2^-21: `separatrix certify index-lookup --length 1048576 --family
  circles:2 --gain 1562000 --arithmetic fixed:N=2,Kc=21,down`.
* A narrow network can have a long description. Points on circles are stored, so the description grows with N: 5·10^8
  bits at N = 2^20 for width 18. Sign codes are generated; the theorem's network has 33,896 bits there.
* 6 to 8 bits suffice for every N tried because of rounding: the fixed point rounds small exponentials down to 0, so
  attention becomes exactly hard, and nothing is averaged. Only η/k in the query must be represented, so the number of
  bits grows with log k alone. ([Over the reals](reals.md), the theorems' η work without this effect.)
* Theorem 6 averages over all N positions in its second layer, and 1/N must not round to 0. So it needs 2 log₂ N + 2
  bits for any addresses; above that it behaves like Theorem 1. Theorem 13 (majority, disjointness, DNF, CNF) has N +
  1 positions, so at Kc = 1 it is certified with no code (erratum E4).

The largest N of each construction is a limit of the checker, not of the theorem. A circle has at most 2048 points
here, because all pairs of points are compared. Fixed points of more than 62 bits are omitted. If addresses are
neither circles nor all rows of a linear code (Theorem 13 has N + 1 positions), every pair of positions is scored.
`separatrix frontier CONSTRUCTION` reproduces any of the tables; the folder `records` has the data in machine-readable
form.
"""
STORE = Path(tempfile.gettempdir()) / "separatrix-frontier.json"
DRAWN = ("index-lookup", "equality")


def surveys() -> Iterator[tuple[Survey, float]]:
    """Each construction's survey from N = 2^4 to its largest N, and when it was started."""
    columns = (
        TextColumn("{task.description:<50}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with FrontierStore(STORE) as decide, Progress(*columns, transient=True) as bar:
        work = bar.add_task("codes", total=None)
        lengths = {name: [2**power for power in range(4, last + 1)] for name, last in frontier_powers().items()}
        bar.update(work, total=sum(units(name, each) for name, each in lengths.items()))
        for name, each in lengths.items():
            started = time.perf_counter()
            found = survey(name, each, decide, lambda what: bar.update(work, advance=1, description=what))
            yield found, started


def reports() -> Iterator[Report]:
    """Two tables for each construction, and pictures for Theorems 1 and 6; the surveys are kept next to the page."""
    for found, started in surveys():
        name = found.construction
        widths, plane = tables(found, [frontier_picture(found)] if name in DRAWN else [])
        widths.files[f"records/frontier-{name}.json"] = _record(found, started)
        yield from (widths, plane)


def kept_reports() -> Iterator[Report]:
    """The same tables from the surveys that were kept; pictures have their names and captions alone."""
    for name in frontier_powers():
        found = TypeAdapter(Survey).validate_python(recorded(f"frontier-{name}"))
        figure = Figure(f"frontier-{name}", picture_caption(found), svg="", png=b"")
        yield from tables(found, [figure] if name in DRAWN else [])


def tables(found: Survey, figures: list[Figure]) -> tuple[Report, Report]:
    """The narrowest networks, and the fewest bits of each code."""
    name = found.construction
    title = f"{name} ({constructions()[name].theorem})" if name in DRAWN else name
    extent = f"For all inputs of each length, from N = 2^4 to 2^{frontier_powers()[name]}."
    widths = Report(f"{title}: smallest certified width", extent, found.width_grid.columns, figures=figures)
    plane = Report(f"{title}: fewest certified bits", "For each code on the ladder.", found.plane_grid.columns)
    for report, grid in ((widths, found.width_grid), (plane, found.plane_grid)):
        for row in grid.rows:
            report.add(*row)
    return widths, plane


def _record(found: Survey, started: float) -> str:
    """The survey as ``separatrix frontier --json`` prints it."""
    command = f"separatrix frontier {found.construction} --from 4 --to {frontier_powers()[found.construction]} --json"
    record = provenance(command, arithmetic="fixed point", seed=None, started=started)
    return json.dumps({**found.as_dict(), "provenance": record}, ensure_ascii=False, indent=1) + "\n"
