"""The tables of docs/bounds.md, computed again."""

from pathlib import Path

import pytest

from separatrix.bounds import bounds, protocol_bounds
from separatrix.communication.reductions import reductions
from separatrix.tasks import tasks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bounds.md"
LENGTH, PRECISION = 4096, 32
BITS = 6


def bound_row(bound) -> str:
    """One line of the table of bounds: what is needed, and the smallest width it leaves open."""
    task = tasks()[bound.task_names[0]]
    width = bound.smallest_width(LENGTH, PRECISION, task=task)
    paper = bound.paper_width(LENGTH, PRECISION, task=task)
    claimed = f"{bound.paper_in_words}: {paper}" if paper is not None else "–"
    mine = " (not in the papers)" if bound.extension else ""
    served = ", ".join(bound.task_names) if len(bound.task_names) < 6 else f"{len(bound.task_names)} tasks"
    hidden = f"{bound.required_bits(LENGTH, task)} = {bound.in_words}".replace("|", "\\|")
    return f"| `{bound.name}` | {bound.claim}{mine} | {served} | {hidden} | {width} | {claimed} |"


def reduction_row(reduction) -> str:
    """One line of the table of reductions: what was checked, and how it came out."""
    found = reduction.verified_to(max(BITS, reduction.bits(reduction.smallest)))
    pairs, failures = sum(each.pairs for each in found), sum(each.failures for each in found)
    verdict = "agree" if failures == 0 else f"**{failures} disagree**"
    return f"| `{reduction.name}` | {reduction.source} | {found[-1].bits} | {pairs} | {verdict} |"


@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda each: each.name)
def test_every_bound_stands_on_the_page_with_its_numbers(bound):
    assert bound_row(bound) in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("reduction", reductions().values(), ids=lambda each: each.name)
def test_every_reduction_stands_on_the_page_with_its_check(reduction):
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for version in (reduction, *reduction.variants):
        assert reduction_row(version) in lines


def test_barriers_and_conjectures_stand_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for bound in bounds().values():
        assert f"`{bound.name}`" in page
