"""The tables of docs/sign-codes.md: ``python -m tools.code_tables`` computes those between the benchmark's powers of
two, keeps them in docs/records and fills the page.

Every code in them is built and verified, and every limit comes with its exact certificates; it takes a minute. The
table of all families is that of ``python -m benchmarks sign-codes`` with the families in the order of the page.
"""

import sys
from collections.abc import Mapping
from typing import Any

from tools.pages import Table, keep, markdown_table, recorded, write

from separatrix.arithmetic.codes import delsarte_width, sign_code

PAGE = "docs/sign-codes.md"
RECORD = "sign-codes"
ONE_SIDED = (1, 2, 3, 5, 7, 9, 11, 13, *range(15, 24))
TWO_SIDED = (3, 4, 5, 7, 8, 10, 11, 12, 14, 16, 21, 23, 24)
FAMILIES = ("reed-muller", "trace", "orbit", "elliptic", "random-linear")
"""The families in the order of the page, from the oldest to none at all."""


def widths(powers: tuple[int, ...], two_sided: bool) -> dict[str, list[int]]:
    """For each power of two the width of the narrowest code, and the least that any code could have."""
    return {
        str(power): [
            sign_code(2**power, two_sided=two_sided).width,
            delsarte_width(2**power, two_sided=two_sided).width,
        ]
        for power in powers
    }


def between(found: Mapping[str, list[int]]) -> str:
    """Widths and limits of powers of two side by side; a star where they are equal."""
    stars = [f"{width}{'*' * (width == limit)}" for width, limit in found.values()]
    rows = [["width", *stars], ["limit", *(limit for _, limit in found.values())]]
    return markdown_table(["N = 2^", *found], rows)


def measured_widths() -> list[dict[str, str]]:
    """The rows of the benchmark's table, by heading."""
    report = next(each for each in recorded("benchmarks")["reports"] if each["title"].startswith("Width of N sign"))
    return [dict(zip(report["headings"], row, strict=True)) for row in report["rows"]]


def by_family() -> str:
    """The benchmark's table in the page's order, with the best in bold and a star where no code is narrower."""
    rows: list[list[str]] = []
    for row in measured_widths():
        count = int(row["N"])
        best = f"**{row['best'].rstrip('*')}**" + " *" * row["best"].endswith("*")
        name = f"2^{count.bit_length() - 1}" if count > 1 << 20 else row["N"]
        rows.append([name, *(row[family] for family in FAMILIES), best, row["limit"], row["random draw"], row["paper"]])
    return markdown_table(["N", *FAMILIES, "best", "limit", "random draw", "paper"], rows, left=0)


def kept(side: str) -> Any:
    """A table of the record."""
    return recorded(RECORD)[side]


PARTS = (
    Table(PAGE, by_family, "| N | reed-muller "),
    Table(PAGE, lambda: between(kept("one-sided")), f"| N = 2^ | {ONE_SIDED[0]} |"),
    Table(PAGE, lambda: between(kept("two-sided")), f"| N = 2^ | {TWO_SIDED[0]} |"),
)


def main() -> int:
    """Compute, keep, fill."""
    keep(RECORD, {"one-sided": widths(ONE_SIDED, False), "two-sided": widths(TWO_SIDED, True)})
    for part in PARTS:
        print(f"{PAGE}: {part.label} {'changed' if write(part) else 'as before'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
