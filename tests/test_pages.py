"""Every generated part of the README and the docs is what its record or computation gives."""

import re

import pytest
from tools.page_parts import PARTS
from tools.pages import RECORDS, ROOT, Section, Table, keep, markdown_table, recorded

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", sorted({part.page for part in PARTS}))
def test_a_page_says_what_its_sources_give(page):
    content = (ROOT / page).read_text(encoding="utf-8")
    different = [part.label for part in PARTS if part.page == page and part.filled(content) != content]
    assert different == [], f"run  python -m tools.fill_pages {page}"


def test_every_section_has_a_source():
    known = {(part.page, part.name) for part in PARTS if isinstance(part, Section)}
    marked = {
        (str(page.relative_to(ROOT)), name)
        for page in PAGES
        for name in re.findall(r"^<!-- end of ([\w -]+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert marked - known == set()


def test_a_table_or_a_section_is_replaced_as_a_whole():
    table = Table("page", lambda: markdown_table(["N", "width"], [[4, 5]]), "| N |")
    before = "a\n\n| N | old |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nb\n"
    assert table.filled(before) == "a\n\n| N | width |\n|---|---:|\n| 4 | 5 |\n\nb\n"
    section = Section("page", "speed", lambda: "12 ms")
    before = "a\n<!-- speed -->\n\nold\n\n<!-- end of speed -->\nb\n"
    assert section.filled(before) == "a\n<!-- speed -->\n\n12 ms\n\n<!-- end of speed -->\nb\n"
    for part in (table, section):
        with pytest.raises(ValueError):
            part.filled("| M |\n")


def test_records_are_kept_next_to_the_page(tmp_path, monkeypatch):
    record = {"seed": 3, "rows": [[1, "x"], [2, "y"]], "nested": {"a": {"b": 1.5}, "c": None}}
    keep("one", record, tmp_path / "page.md")
    monkeypatch.setattr("tools.pages.RECORDS", tmp_path / RECORDS.name)
    assert recorded("one") == record
