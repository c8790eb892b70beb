"""The tables of docs/constructions.md that a benchmark measured.

``python -m benchmarks constructions --write docs/construction-sizes.md`` measures; every table of docs/constructions.md
that has the header of one there becomes the same table, so that both pages have the numbers of one run.
"""

from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
MEASURED, SHOWN = DOCS / "construction-sizes.md", DOCS / "constructions.md"


def tables(page: Path) -> Iterator[str]:
    """All tables of a page."""
    table: list[str] = []
    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            table.append(line)
        elif table:
            yield "\n".join(table)
            table = []


def shared() -> list[str]:
    """The measured tables whose header is in the other page too."""
    headers = {table.splitlines()[0] for table in tables(SHOWN)}
    return [table for table in tables(MEASURED) if table.splitlines()[0] in headers]
