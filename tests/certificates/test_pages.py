"""What the documentation says about certificates is what the scripts that write it say."""

from pathlib import Path

from tools import construction_table, size_tables, trusted_code
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
    shown = {table.splitlines()[0]: table for table in size_tables.tables(size_tables.SHOWN)}
    measured = size_tables.shared()
    assert len(measured) == 3
    for table in measured:
        assert shown[table.splitlines()[0]] == table
    listed = {row[0] for row in rows_of("construction-sizes.md", "construction | N | layers")[1:]}
    assert listed == set(constructions()), "every construction has its certified sizes"


def test_promised_sizes_are_certified_and_checked_within_their_memory():
    headings, *rows = rows_of("construction-sizes.md", "construction | N | options")
    found = [dict(zip(headings, row, strict=True)) for row in rows]
    assert {each["check says"] for each in found} == {"valid"}
    assert all(float(each["MB"]) < 8000 for each in found)
    assert {("index-lookup", "4096"), ("index-lookup", str(1 << 20))} <= {
        (each["construction"], each["N"]) for each in found
    }


def test_how_much_has_to_be_trusted_is_counted_from_the_source():
    assert trusted_code.table() in (DOCS / "constructions.md").read_text(encoding="utf-8")


def test_constructions_are_listed_as_the_catalog_has_them():
    assert construction_table.table() in (DOCS / "constructions.md").read_text(encoding="utf-8")


def test_the_campaign_of_mutants_is_shown_whole():
    headings, *rows = rows_of("reliability.md", "changed")
    assert headings == ["changed", "mutants", *OUTCOMES]
    assert [row[0] for row in rows] == [*KINDS, "all"]
    everything = dict(zip(headings, rows[-1], strict=True))
    assert int(everything["mutants"]) >= 2000
    assert [everything[name] for name in DEFECTS] == ["0", "0"]
