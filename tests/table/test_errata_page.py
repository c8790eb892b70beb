"""The page of errata and the atlas say the same: the same entries, each once, and what was read of SHT23."""

import re
from pathlib import Path

import pytest

from separatrix.errors import SeparatrixError
from separatrix.site.sections.errata import SECTION, ErrataResults, ErratumRow
from separatrix.table.errata import errata
from separatrix.table.errata.erratum import ABOUT_SLIDES, errata_of

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
OF_SLIDES = sorted(name for name, each in errata().items() if "SHT23" in each.source)


def paragraph(name: str) -> str:
    found = re.findall(rf'^<a id="{name.lower()}"></a>\n(\*\*{name}: .*?)\n\n', PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return " ".join(found[0].split())


@pytest.mark.parametrize("name", errata())
def test_every_erratum_stands_on_the_page_once(name):
    assert paragraph(name)
    assert len(re.findall(rf"^\*\*{name}\b", PAGE, re.MULTILINE)) == 1


def test_the_page_has_no_entry_that_the_atlas_has_not():
    assert set(re.findall(r"^\*\*(E\d+)\b", PAGE, re.MULTILINE)) == set(errata())


@pytest.mark.parametrize("name", OF_SLIDES)
def test_what_was_read_from_the_slides_is_not_said_of_the_paper(name):
    """Of SHT23 the slides of a talk were read; an entry that blamed the paper would claim what nobody checked."""
    assert errata()[name].slides
    assert errata()[name].remark == ABOUT_SLIDES
    assert "(About the slides' wording; the paper was not checked.)" in paragraph(name)


def test_a_table_and_its_functions_that_differ_are_an_error():
    shows = {"E1": tuple}
    entry = dict.fromkeys(("source", "title", "claim", "fault", "repair"), "text")
    assert errata_of({"E1": entry}, shows)[0].name == "E1"
    wrong = [{}, {"E1": entry, "E2": entry}, {"E1": {**entry, "note": ""}}, {"E1": {"source": "text"}}]
    wrong.append({"E1": {**entry, "slides": "yes"}})
    for table in wrong:
        with pytest.raises(SeparatrixError):
            errata_of(table, shows)


def test_the_atlas_shows_the_remark():
    slides, paper = ErratumRow.of(errata()["E12"]), ErratumRow.of(errata()["E4"])
    text = SECTION.body(ErrataResults((slides, paper)))
    assert text.count("the paper was not checked for it") == 1
    assert paper.remark == ""
