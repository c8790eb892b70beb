"""The errata section: every claim that does not hold as written, its counterexample and its repair, all run."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Results, Section
from separatrix.table import Erratum, errata


@dataclass(frozen=True, kw_only=True)
class ErrataSection(Section):
    """What does not hold as written."""

    name: str = "errata"
    title: str = "Errata"
    order: int = 45
    page: str = "errata"
    menu: str = "About"
    lead: str = (
        "Found by running BHBK24 and the slides of the talk about SHT23. Each entry has the claim, what is wrong with "
        "it, and the repair that this package implements, which was run. Where the original can be run it is kept as a "
        "variant, and was run as well."
    )

    @property
    def units(self) -> int:
        """One for each erratum."""
        return len(errata())

    def collect(self, advance: Advance) -> Results:
        """Show every erratum."""
        rows: list[dict[str, Any]] = []
        for erratum in sorted(errata().values(), key=lambda each: each.number):
            rows.append(_entry(erratum))
            advance(f"erratum {erratum.name}")
        return {"rows": rows}

    def body(self, results: Results) -> str:
        """An article for each, folded."""
        return render("errata.html", summary=_summary(results), rows=results["rows"])

    def table(self, results: Results) -> Table:
        """Number, source and title."""
        shown = Table(title=_summary(results), title_justify="left")
        shown.add_column("", style="bold", no_wrap=True)
        shown.add_column("source")
        shown.add_column("what does not hold")
        for row in results["rows"]:
            shown.add_row(row["name"], row["source"], row["title"])
        return shown


def shown_by_running(row: Results) -> bool:
    """Whether something was run on the original, and came out as the entry says."""
    originals = [each["holds"] for each in row["findings"] if each["about"] == "original"]
    return bool(originals) and all(originals)


def _summary(results: Results) -> str:
    """How many there are, and how many of them were shown by running the original."""
    rows = results["rows"]
    others = [row["name"] for row in rows if not shown_by_running(row)]
    shown = len(rows) - len(others)
    rest = f"; the others ({', '.join(others)}) have only a repair to run" if others else ""
    return f"{len(rows)} errata, {shown} of them shown by running the original{rest}"


def _entry(erratum: Erratum) -> dict[str, Any]:
    return {
        "name": erratum.name,
        "source": erratum.source,
        "remark": erratum.remark,
        "title": erratum.title,
        "claim": erratum.claim,
        "fault": erratum.fault,
        "repair": erratum.repair,
        "findings": [vars(finding) for finding in erratum.show()],
        "origin": Origin("measured", "run for this page", erratum.command, erratum.arithmetic, 0).plain(),
    }


SECTION = ErrataSection()
