"""The frontier of every construction that takes its addresses from a code, as far as each goes.

Run with ``python -m benchmarks frontier --write docs/frontier.md``. Verdicts are kept in a file of the system's
temporary folder, so that an interrupted run goes on where it stopped; it is started anew when the code changes.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.report import Report
from separatrix.atlas.frontier import LARGEST
from separatrix.atlas.frontier_store import FrontierStore
from separatrix.atlas.frontier_survey import (
    PLANE_HEADINGS,
    WIDTH_HEADINGS,
    Survey,
    picture,
    plane_rows,
    survey,
    units,
    width_rows,
)

TITLE = "The frontier: how narrow, how coarse"
INTRO = """\
BHBK24's upper bounds say "width O(log N) and precision O(log N)". How narrow can the networks really be, and with how
few bits? Every network below was built and decided by the checker for *all* inputs of its length, with all rounding.

The addresses of positions come from a ladder of codes: N points on one circle (two dimensions), on several circles
(one digit of the position each), the binary digits as signs (k = log₂ N), and linear sign codes of smaller and smaller
inner products up to the theorems' own. Numbers are multiples of 2^-b up to 2^b, which is BHBK24 B.2 with
Kc = b / log₂ N; *p* is the number of bits of one number, 2b + 2. η scales the scores.

Two searches, both by bisection: at N^Kc, the narrowest code on the ladder for which some η is certified, and the
smallest η found for it; and for each code the fewest bits for which some η is certified. The network next to a smallest
one (one code narrower, one bit less) was tried with several η and not certified; that is no proof that there is none.

What comes out:

* Width and precision trade against each other all the way. Theorem 1 needs no more than two numbers for an address if
  numbers have about 4 log₂ N bits (one circle), four if they have 2 log₂ N (two circles), and log₂ N signs if they have
  a dozen bits. Width O(1) with precision O(log N) is therefore certified at every N tried, and the theorem's log N
  dimensions are needed only where numbers have fewer bits than that.
* At the other end six bits are enough for Theorem 1 at every N once inner products are small: the fixed point rounds
  small exponentials down to 0, so that attention becomes exactly hard and nothing has to be averaged.
* Theorem 6 averages over all N positions in its second layer, and 1/N must not round to 0. It needs 2 log₂ N + 2 bits
  whatever the addresses are; beyond that it behaves like Theorem 1.

The largest N is that of the checker, not of the theorems: circles of more than 4096 points are compared pair by pair,
fixed points of more than 62 bits are left out, and features of two layers are followed one by one.
`separatrix frontier CONSTRUCTION` repeats any of the tables.
"""
STORE = Path(tempfile.gettempdir()) / "separatrix-frontier.json"
DRAWN = ("index-lookup", "equality")
THEOREMS = {"index-lookup": "BHBK24 Theorem 1", "equality": "BHBK24 Theorem 6"}


def surveys() -> Iterator[tuple[Survey, float]]:
    """Each construction's survey from N = 2^4 to its largest N, and the seconds it took."""
    columns = (
        TextColumn("{task.description:<50}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with FrontierStore(STORE) as decide, Progress(*columns, transient=True) as bar:
        work = bar.add_task("codes", total=None)
        lengths = {name: [2**power for power in range(4, last + 1)] for name, last in LARGEST.items()}
        bar.update(work, total=sum(units(name, each) for name, each in lengths.items()))
        for name, each in lengths.items():
            started = time.perf_counter()
            found = survey(name, each, decide, lambda what: bar.update(work, advance=1, description=what))
            yield found, time.perf_counter() - started


def reports() -> Iterator[Report]:
    """Two tables for each construction, and pictures for Theorems 1 and 6."""
    for found, seconds in surveys():
        name = found.construction
        title = f"{name} ({THEOREMS[name]})" if name in THEOREMS else name
        widths = Report(
            f"{title}: smallest certified width",
            f"From N = 2^4 to 2^{LARGEST[name]}, {seconds:.0f} s with what follows.",
            WIDTH_HEADINGS,
            figures=[picture(found)] if name in DRAWN else [],
        )
        for row in width_rows(found):
            widths.add(*row)
        yield widths
        plane = Report(f"{title}: fewest certified bits", "For each code on the ladder.", PLANE_HEADINGS)
        for length in found.planes:
            for row in plane_rows(found, length):
                plane.add(*row)
        yield plane
