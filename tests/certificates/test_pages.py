"""What the documentation says about certificates is complete; that it is what its scripts say, test_pages.py holds."""

from pathlib import Path

from tools import size_tables
from tools.mutants.campaign import KINDS
from tools.mutants.judging import DEFECTS, OUTCOMES

from separatrix.constructions import constructions

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def rows_of(page: str, headings: str) -> list[list[str]]:
    """The cells of the table that begins with these headings, headings included."""
    tables = [table for table in size_tables.tables(DOCS / page) if table.startswith(f"| {headings} |")]
    assert tables, f"{page} has no table of {headings}"
    lines = [line for line in tables[0].splitlines() if not line.startswith("|---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_sizes_are_those_of_the_last_measurement():
    assert len(size_tables.shared()) == 3, "docs/constructions.md shows every table of sizes"
    listed = {row[0] for row in rows_of("construction-sizes.md", "construction | N | layers")[1:]}
    assert listed <= set(constructions()), "run  python -m benchmarks constructions --write docs/construction-sizes.md"


def test_promised_sizes_are_certified_and_checked_within_their_memory():
    headings, *rows = rows_of("construction-sizes.md", "construction | N | options")
    found = [dict(zip(headings, row, strict=True)) for row in rows]
    assert {each["check says"] for each in found} == {"valid"}
    assert all(float(each["MB"]) < 8000 for each in found)
    assert {("index-lookup", "4096"), ("index-lookup", str(1 << 20))} <= {
        (each["construction"], each["N"]) for each in found
    }


def test_the_campaign_of_mutants_is_shown_whole():
    headings, *rows = rows_of("reliability.md", "changed")
    assert headings == ["changed", "mutants", *OUTCOMES]
    assert [row[0] for row in rows] == [*KINDS, "all"]
    everything = dict(zip(headings, rows[-1], strict=True))
    assert int(everything["mutants"]) >= 2000
    assert [everything[name] for name in DEFECTS] == ["0", "0"]
