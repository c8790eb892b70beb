"""The sign-code section: how few dimensions N nearly orthogonal vectors need (BHBK24 Lemma 2, erratum E1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.arithmetic import CodeRow, code_table
from separatrix.site.figure import PALETTE, draw
from separatrix.site.html import table as html_table
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Section

COUNTS = tuple(2**power for power in range(4, 15))
MAX_INNER = Fraction(1, 4)


@dataclass(frozen=True, kw_only=True)
class SignCodeRow:
    """The codes of one count of vectors; ``widths`` are those of each family. A random draw is searched for powers of
    4 only."""

    count: int
    width: int
    family: str
    max_inner: str
    evidence: str
    description_bits: int
    description: Mapping[str, Any]
    widths: Mapping[str, int | None]
    random_width: int | None
    delsarte_limit: int
    delsarte_limit_complete: bool
    paper_width: int
    command: str


@dataclass(frozen=True, kw_only=True)
class SignCodesResults:
    """The codes of every count with one largest inner product."""

    max_inner: str
    two_sided: bool
    rows: tuple[SignCodeRow, ...]


@dataclass(frozen=True, kw_only=True)
class SignCodesSection(Section[SignCodesResults]):
    """Width against N: the best code, each family, the Delsarte limit and the paper's random draw."""

    name: str = "sign-codes"
    title: str = "Sign codes"
    order: int = 20
    results_type: type = SignCodesResults
    catalog: Callable[[], Mapping[str, Any]] = lambda: {str(count): count for count in COUNTS}
    page: str = "sign-codes"
    menu: str = "Can it?"
    lead: str = (
        "The constructions distinguish N positions by N nearly orthogonal sign vectors. How few dimensions "
        "they need: explicit codes next to the random draw of the paper, and the limit below which no code "
        "exists."
    )

    def collect(self, advance: Advance) -> SignCodesResults:
        """Build and verify the codes of every N."""
        found = (code_table([count], MAX_INNER)[0] for count in self.entries(advance, "sign codes, vectors:"))
        return SignCodesResults(max_inner=str(MAX_INNER), two_sided=False, rows=tuple(map(_entry, found)))

    def figures(self, results: SignCodesResults) -> list[Figure]:
        """Draw width against N on a logarithmic axis."""
        rows = results.rows
        lines: list[tuple[str, list[int | None], str, str, str]] = [
            ("the paper's formula", [row.paper_width for row in rows], "--", "^", PALETTE[4]),
            ("random draw, smallest found", [row.random_width for row in rows], ":", "s", PALETTE[1]),
            ("best code here", [row.width for row in rows], "-", "o", PALETTE[0]),
            ("Delsarte limit", [row.delsarte_limit for row in rows], "-", "_", "#555555"),
        ]

        def paint(axes: Any) -> None:
            for label, widths, style, marker, colour in lines:
                points = [(row.count, width) for row, width in zip(rows, widths, strict=True) if width is not None]
                axes.plot(*zip(*points, strict=True), style, marker=marker, label=label, color=colour)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_xlabel("vectors N")
            axes.set_ylabel("width k")
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, fontsize=8)

        caption = (
            f"Width of N sign vectors with inner products at most {results.max_inner}, every code verified exactly."
        )
        origin = Origin("proved", "every inner product, in integers", rows[-1].command)
        return [draw("sign-code-widths", caption, paint, 6.6, 4.4).with_origin(origin)]

    def body(self, results: SignCodesResults) -> str:
        """Show the table of widths."""
        headings = (
            "vectors N", "width", "family", "largest inner product", "Delsarte limit", "random draw",
            "paper's formula", "bits", "verified by",
        )  # fmt: skip
        rows = [
            (
                row.count, row.width, row.family, row.max_inner, row.delsarte_limit, row.random_width or "—",
                row.paper_width, row.description_bits, row.evidence,
            )
            for row in results.rows
        ]  # fmt: skip
        caption = f"Inner products at most {results.max_inner}, one-sided; all of them checked in integers"
        return html_table(headings, rows, caption=caption, numbers=(0, 1, 4, 5, 6, 7))


def _entry(row: CodeRow) -> SignCodeRow:
    best = row.best
    return SignCodeRow(
        count=row.count, width=best.width, family=best.family, max_inner=str(best.max_inner), evidence=best.evidence,
        description_bits=best.description_bits, description=best.description(), widths=dict(row.widths),
        random_width=row.drawn,
        delsarte_limit=row.limit.width, delsarte_limit_complete=row.limit.complete, paper_width=row.paper_width,
        command=f"separatrix code --count {row.count} --max-inner {row.max_inner}",
    )  # fmt: skip


SECTION = SignCodesSection()
