"""The front page: stories to start with, the separation table with its sliders, and a legend.

Structure that scripts and tests rely on (see ``README.md``): the table is ``#separation``, a cell is a ``td`` with
``data-task`` and ``data-model`` whose link opens its evidence; the sliders are ``#length`` and ``#precision``; the data
of the grid is the JSON of ``#grid``.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from separatrix.site.html import render
from separatrix.site.pages.cells import TITLES, UNKNOWN, WORD_OF, Grid, Upper
from separatrix.site.pages.shell import Page
from separatrix.site.pages.stories import stories, story_data
from separatrix.site.sections.separation import LEGEND
from separatrix.site.state_limit import LEAD as LIMIT_LEAD
from separatrix.site.state_limit import state_limit_picture

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found

TITLE = "Who can, who cannot, and why"
LEAD = (
    "Which sequence models can solve which task at all, and how large must they be? Networks that are certified on "
    "every input, and lower bounds that hold for all weights. Move the length."
)
PROBLEMS: Mapping[str, str] = {
    "INDEX": "Alice holds bits, Bob a position: she cannot know which bit he needs",
    "DISJ": "Alice and Bob hold sets: do they meet?",
    "EQ": "Alice and Bob hold strings: are they equal?",
    "DYCK": "Alice holds the odd positions, Bob the even ones: do they fit together?",
    "none": "no single communication problem carries the task's bounds",
}


def front_page(found: "Found", grid: Grid) -> Page:
    """Return the page from the results of all sections."""
    rows, limit = found.separation.rows, found.training.state_limit
    problems = {task.name: task.communication.problem for task in found.tasks.tasks}
    order = dict.fromkeys([*PROBLEMS, *problems.values()])
    groups = {problem: [row for row in rows if problems[row.task] == problem] for problem in order}
    main = render(
        "front.html", grid=grid, titles={row.task: row.title for row in rows}, stories=list(stories(found, grid)),
        groups={name: held for name, held in groups.items() if held}, problems=PROBLEMS, legend=LEGEND,
        data=_data(found, grid), limit=limit and state_limit_picture(limit, ""),
        limit_origin=found.training.state_limit_origin, limit_lead=LIMIT_LEAD,
    )  # fmt: skip
    return Page("index.html", TITLE, LEAD, main)


def _data(found: "Found", grid: Grid) -> str:
    """Return the grid and the evidence for the script; nothing that could end the element may be in it."""
    cells: dict[str, Any] = {}
    for row in found.separation.rows:
        for model, cell in row.cells.items():
            if cell.verdict == "not applicable":
                continue
            numbers = grid.cell(row.task, model)
            cells[f"{row.task}/{model}"] = {
                "verdict": cell.verdict,
                "unit": numbers.unit,
                "upper": [_plain(each) for each in numbers.upper],
                "lower": numbers.lower,
                "bits": numbers.bits,
                "above": [(side.growth, side.text, side.source) for side in cell.upper],
                "below": [(side.growth, f"{side.text}; {side.arithmetic}", side.source) for side in cell.lower],
                "claims": [bound.claim for bound in found.numbers.cells[row.task][model].bounds],
                "remarks": cell.remarks,
                "training": numbers.training.text,
            }
    data = {
        "lengths": grid.lengths, "precisions": grid.precisions, "classes": dict(TITLES),
        "titles": {row.task: row.title for row in found.separation.rows},
        "words": WORD_OF, "unknown": UNKNOWN, "cells": cells, **story_data(found, grid),
    }  # fmt: skip
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _plain(upper: Upper) -> tuple[Any, ...]:
    other = upper.narrower
    narrower = None if other is None else (other.text, other.note, other.command)
    return upper.text, upper.kind, upper.note, upper.command, narrower
