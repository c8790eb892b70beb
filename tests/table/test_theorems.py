"""The index of claims: complete over the numbered claims of both papers, each with its file and a command."""

import re
import shlex
from pathlib import Path

import pytest

import separatrix
from separatrix.cli.app import run
from separatrix.table import theorem_index

SOURCES = Path(separatrix.__file__).parent.parent
NUMBERED = (
    *((f"Theorem {number}") for number in (*range(1, 9), *range(10, 14))),
    *((f"Lemma {number}") for number in range(1, 6)),
    *((f"Fact {number}") for number in range(1, 5)),
    "Proposition 9", "Corollary 8.1", "Corollary 13.1",
)  # fmt: skip
"""All numbered claims of BHBK24; Theorem 10 is Theorem 5 in the appendix, and 9 is a proposition."""
OF_SLIDES = (
    "qSA", "Match2", "Match3, third order", "Match3, many heads", "Variant 1", "Variant 2", "graph self-attention unit",
    "lower bound for RNNs", "lower bound for FNNs", "lower bound for attention", "self-attention layers",
    "graph Transformers", "conjecture",
)  # fmt: skip
"""The claims of SHT23, whose slides have no numbers."""


def numbers_in(claim):
    """Return the numbered claims that a text names: "Theorems 4, 5 and 10" and "Theorem 5/10" name each of them.

    >>> sorted(numbers_in("BHBK24 Theorems 4, 5 and 10 (Lemma 1)"))
    ['Lemma 1', 'Theorem 10', 'Theorem 4', 'Theorem 5']
    """
    named = re.findall(r"(Theorem|Lemma|Fact|Proposition|Corollary)s? ((?:[\d.]*\d(?:, | and |/)?)+)", claim)
    return {f"{kind} {number}" for kind, many in named for number in re.findall(r"[\d.]*\d", many)}


def test_each_numbered_claim_has_an_entry_that_is_no_erratum():
    of_paper = [each for each in theorem_index() if each.as_ != "erratum" and each.claim.startswith("BHBK24")]
    found = {name for each in of_paper for name in numbers_in(each.claim)}
    assert found == set(NUMBERED)


@pytest.mark.parametrize("part", OF_SLIDES)
def test_each_claim_of_the_slides_has_an_entry_that_is_no_erratum(part):
    assert any("SHT23" in each.claim and part in each.claim for each in theorem_index() if each.as_ != "erratum")


def test_each_entry_has_one_row_and_its_file_names_what_it_is_about():
    index = theorem_index()
    assert len({(each.as_, each.name) for each in index}) == len(index)
    for each in index:
        text = (SOURCES / each.file).read_text(encoding="utf-8")
        own = {f'"{each.name}"', 'f"fact-{fact}"', f"def {each.name.lower()}("}
        assert any(name in text for name in own), each


@pytest.mark.parametrize("kind", ["protocol", "sign code", "fooling set"])
def test_the_commands_of_what_no_catalog_holds_run(kind, capsys):
    for command in {each.command for each in theorem_index() if each.as_ == kind}:
        assert run(shlex.split(command)[1:]) == 0
        assert capsys.readouterr().out
