"""Every number of the README and the docs is what its script gives, and none is there that has no script."""

import re
from pathlib import Path

import pytest
from tools.page_numbers import unanswered
from tools.page_parts import CHECKED, LEFT_ALONE, parts
from tools.pages import ROOT, Section, Sentence, Table, Whole, keep, markdown_table, recorded

PAGES = [
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
]


def content_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted({part.page for part in parts()}))
def test_a_page_says_what_its_sources_give(page):
    content = content_of(page)
    different = [part.label for part in parts() if part.page == page and part.filled(content) != content]
    assert different == [], f"run  python -m tools.fill_pages {page}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in LEFT_ALONE])
def test_no_number_stands_in_a_page_that_no_script_answers_for(page):
    content = content_of(page)
    spans = [span for part in parts() if part.page == page for span in part.spans(content)]
    for header in CHECKED.get(page, ()):
        found = [match.span() for match in re.finditer(rf"^{re.escape(header)}.*\n(?:\|.*\n)*", content, re.MULTILINE)]
        assert found, f"{page} has no table that begins with {header!r}"
        spans += found
    assert unanswered(content, spans) == []


def test_every_section_has_a_source():
    known = {(part.page, part.name) for part in parts() if isinstance(part, Section)}
    marked = {
        (page, name)
        for page in PAGES
        for name in re.findall(r"^<!-- end of ([\w -]+) -->$", content_of(page), re.MULTILINE)
    }
    assert marked - known == set()


def test_pages_left_alone_are_there():
    assert set(LEFT_ALONE) <= set(PAGES)


# -- the parts themselves --------------------------------------------------------------------------------


def test_a_sentence_is_found_across_lines_and_only_its_numbers_change():
    part = Sentence("page", "width {} and {:,} bits", lambda: [46, 33896])
    before = "The width 12\nand 1,000\n  bits, 12 in all. Another width 1 and 2 bits."
    assert part.filled(before) == "The width 46\nand 33,896\n  bits, 12 in all. Another width 46 and 33,896 bits."
    with pytest.raises(ValueError, match="does not say"):
        part.filled("The width is 12.")


def test_a_table_is_replaced_as_a_whole_and_the_first_line_may_change():
    part = Table("page", lambda: markdown_table(["N", "width"], [[4, 5]]), "| N |")
    assert part.filled("a\n\n| N | old |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nb\n") == (
        "a\n\n| N | width |\n|---|---:|\n| 4 | 5 |\n\nb\n"
    )
    with pytest.raises(ValueError, match="has no table"):
        part.filled("| M |\n")


def test_a_section_and_a_whole_page():
    part = Section("page", "speed", lambda: "12 ms")
    assert part.filled("a\n<!-- speed -->\n\nold\n\n<!-- end of speed -->\nb\n") == (
        "a\n<!-- speed -->\n\n12 ms\n\n<!-- end of speed -->\nb\n"
    )
    with pytest.raises(ValueError, match="has no section"):
        part.filled("a\n")
    assert Whole("page", lambda: "new").filled("old") == "new"


def test_records_are_kept_beside_the_page_and_change_line_by_line(tmp_path: Path, monkeypatch):
    record = {"seed": 3, "rows": [[1, "x"], [2, "y"]], "nested": {"a": {"b": 1.5}, "c": None}}
    keep("one", record, tmp_path / "page.md")
    text = (tmp_path / "records" / "one.json").read_text(encoding="utf-8")
    assert '\n  [1, "x"],\n' in text
    monkeypatch.setattr("tools.pages.RECORDS", tmp_path / "records")
    assert recorded("one") == record


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 46 dimensions.", ["46"]),
        ("It takes 0.93 of the weight and 1,024 bits.", ["0.93", "1,024"]),
        ("At N = 16, 64 and 256 or 2^20, by BHBK24 Theorem 13 (2024), E13, Appendix B.2.", []),
        ("`--length 12` and [twelve](page-12.md) and TF-(1,64) in float32.", []),
        ("```console\n$ separatrix code --count 256\n256\n```", []),
        ("3m(p + log N)H, 6N + 6, γ/100, 4^16, at most 8 heads.", []),
        ("| 12 | 3 |", ["12"]),
        ("a table of 256 powers", ["256"]),
    ],
)
def test_numbers_that_need_a_source_are_told_from_those_that_do_not(text, found):
    assert [line.split(": ")[1].split(" in ")[0] for line in unanswered(text, [])] == found


def test_what_a_script_answers_for_is_not_asked_again():
    text = "width 46 and 12 bits"
    assert unanswered(text, [(0, 8)]) == [f"line 1: 12 in “{text}”"]
