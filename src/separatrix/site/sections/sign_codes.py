"""The sign-code section: how few dimensions N nearly orthogonal vectors need (BHBK24 Lemma 2, erratum E1)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich.table import Table

from separatrix.arithmetic import CodeRow, code_table
from separatrix.site.figure import PALETTE, draw
from separatrix.site.html import table as html_table
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Results, Section

COUNTS = tuple(2**power for power in range(4, 15))
MAX_INNER = Fraction(1, 4)


@dataclass(frozen=True, kw_only=True)
class SignCodesSection(Section):
    """Width against N: the best code, each family, the Delsarte limit and the paper's random draw."""

    name: str = "sign-codes"
    title: str = "Sign codes"
    order: int = 20
    page: str = "sign-codes"
    menu: str = "Can it?"
    lead: str = (
        "The constructions tell N positions apart by N nearly orthogonal sign vectors. How few dimensions "
        "they need: explicit codes next to the random draw of the paper, and the limit below which no code "
        "exists."
    )

    @property
    def units(self) -> int:
        """One for each N."""
        return len(COUNTS)

    def collect(self, advance: Advance) -> Results:
        """Build and verify the codes of every N."""
        rows: list[dict[str, Any]] = []
        for count in COUNTS:
            rows.append(_entry(code_table([count], MAX_INNER)[0]))
            advance(f"sign codes for {count} vectors")
        return {"max_inner": str(MAX_INNER), "two_sided": False, "rows": rows}

    def figures(self, results: Results) -> list[Figure]:
        """Width against N on a logarithmic axis."""
        rows = results["rows"]
        counts = [row["count"] for row in rows]

        def paint(axes: Any) -> None:
            lines = [
                ("the paper's formula", "paper_width", "--", "^"),
                ("random draw, smallest found", "random_width", ":", "s"),
                ("best code here", "width", "-", "o"),
                ("Delsarte limit", "delsarte_limit", "-", "_"),
            ]
            for (label, field, style, marker), colour in zip(
                lines, (PALETTE[4], PALETTE[1], PALETTE[0], "#555555"), strict=True
            ):
                points = [(n, row[field]) for n, row in zip(counts, rows, strict=True) if row[field] is not None]
                axes.plot(*zip(*points, strict=True), style, marker=marker, label=label, color=colour)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_xlabel("vectors N")
            axes.set_ylabel("width k")
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, fontsize=8)

        caption = (
            f"Width of N sign vectors with inner products at most {results['max_inner']}, every code verified exactly."
        )
        origin = Origin("proved", "every inner product, in integers", rows[-1]["command"]).plain()
        return [draw("sign-code-widths", caption, paint, 6.6, 4.4).with_origin(origin)]

    def body(self, results: Results) -> str:
        """The table of widths."""
        headings = (
            "vectors N",
            "width",
            "family",
            "largest inner product",
            "Delsarte limit",
            "random draw",
            "paper's formula",
            "bits",
            "verified by",
        )
        rows = [
            (
                r["count"],
                r["width"],
                r["family"],
                r["max_inner"],
                r["delsarte_limit"],
                r["random_width"] or "—",
                r["paper_width"],
                r["description_bits"],
                r["evidence"],
            )
            for r in results["rows"]
        ]
        caption = f"Inner products at most {results['max_inner']}, one-sided; all of them checked in integers"
        return html_table(headings, rows, caption=caption, numbers=(0, 1, 4, 5, 6, 7))

    def table(self, results: Results) -> Table:
        """Widths for the terminal."""
        shown = Table(title=f"sign codes, inner products ≤ {results['max_inner']}", title_justify="left")
        for heading in ("N", "width", "Delsarte limit", "random draw", "paper's formula"):
            shown.add_column(heading, justify="right")
        shown.add_column("family", overflow="fold")
        for row in results["rows"]:
            numbers = (
                row["count"],
                row["width"],
                row["delsarte_limit"],
                row["random_width"] or "—",
                row["paper_width"],
            )
            shown.add_row(*map(str, numbers), row["family"])
        return shown


def _entry(row: CodeRow) -> dict[str, Any]:
    return {
        "count": row.count,
        "width": row.best.width,
        "family": row.best.family,
        "max_inner": str(row.best.max_inner),
        "evidence": row.best.evidence,
        "description_bits": row.best.description_bits,
        "description": row.best.description(),
        "widths": dict(row.widths),
        # Searched for powers of 4; other counts would borrow the next one's width.
        "random_width": row.widths.get("random-draw") if row.count.bit_length() % 2 else None,
        "delsarte_limit": row.limit.width,
        "delsarte_limit_complete": row.limit.complete,
        "paper_width": row.paper_width,
        "command": f"separatrix code --count {row.count} --max-inner {row.max_inner}",
    }


SECTION = SignCodesSection()
