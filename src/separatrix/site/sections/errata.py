"""The errata section: every claim that does not hold as written, its counterexample and its repair, all run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Section
from separatrix.table import Erratum, Finding, errata


@dataclass(frozen=True)
class ErratumRow:
    """One erratum and what came out when it was run."""

    name: str
    source: str
    remark: str
    title: str
    claim: str
    fault: str
    repair: str
    findings: tuple[Finding, ...]
    origin: Origin

    @property
    def shown_by_running(self) -> bool:
        """Whether something was run on the original, and came out as the entry says."""
        originals = [each.holds for each in self.findings if each.about == "original"]
        return bool(originals) and all(originals)

    @classmethod
    def of(cls, erratum: Erratum) -> "ErratumRow":
        """Run an erratum."""
        return cls(
            erratum.name, erratum.source, erratum.remark, erratum.title, erratum.claim, erratum.fault, erratum.repair,
            erratum.show(), Origin("measured", "run for this page", erratum.command, erratum.arithmetic, 0),
        )  # fmt: skip


@dataclass(frozen=True)
class ErrataResults:
    """All errata."""

    rows: tuple[ErratumRow, ...]

    @property
    def summary(self) -> str:
        """How many there are, and how many of them were shown by running the original."""
        others = [row.name for row in self.rows if not row.shown_by_running]
        rest = f"; the others ({', '.join(others)}) have only a repair to run" if others else ""
        shown = len(self.rows) - len(others)
        return f"{len(self.rows)} errata, {shown} of them shown by running the original{rest}"


@dataclass(frozen=True, kw_only=True)
class ErrataSection(Section[ErrataResults]):
    """What does not hold as written."""

    name: str = "errata"
    title: str = "Errata"
    order: int = 45
    results_type: type = ErrataResults
    catalog: Callable[[], Mapping[str, Any]] = errata
    page: str = "errata"
    menu: str = "About"
    lead: str = (
        "Found by running BHBK24 and the slides of the talk about SHT23. Each entry has the claim, what is wrong with "
        "it, and the repair that this package implements, which was run. Where the original can be run it is kept as a "
        "variant, and was run as well."
    )

    def collect(self, advance: Advance) -> ErrataResults:
        """Show every erratum."""
        rows = sorted(map(ErratumRow.of, self.entries(advance, "erratum")), key=lambda row: int(row.name[1:]))
        return ErrataResults(tuple(rows))

    def body(self, results: ErrataResults) -> str:
        """Show an article for each, folded."""
        return render("errata.html", summary=results.summary, rows=results.rows)


SECTION = ErrataSection()
