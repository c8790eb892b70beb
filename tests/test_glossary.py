"""The glossary explains the words that the commands use, among them those that are listed in code."""

import re
from typing import get_args

import pytest
from tools.pages import ROOT

from separatrix.communication.protocols import VERSIONS
from separatrix.table.frontier_survey import PLANE_HEADINGS, WIDTH_HEADINGS
from separatrix.training.events import Ending

ROWS = dict(re.findall(r"^\| (.+?) \| (.+) \|$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE))
WORDS = [
    "λ", "d", "H", "m", "INDEX", "EQ", "DISJ", "reduction", "residual class", "rank", "partition", "fooling set",
    "Dyck-(n,k)", "slots", "balls", "cell", "group", "ensemble", "probe", "scales", "endings", "gain",
    "E with a number",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_explained(word):
    assert any(word in re.split(r", |`", heading) for heading in ROWS)


def test_names_that_commands_print_are_explained():
    text = " ".join(f"{heading} {meaning}" for heading, meaning in ROWS.items())
    for name in [*get_args(Ending), *VERSIONS]:
        assert f"`{name}`" in text
    for heading in {*WIDTH_HEADINGS, *PLANE_HEADINGS} - {"width", "fewest bits p", "steps"}:
        assert any(heading in re.split(r", | ", row) or heading == row for row in ROWS)
