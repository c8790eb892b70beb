"""The front page: the separation table with its sliders, three stories to start with, and a legend.

Structure that scripts and tests rely on (see ``README.md``): the table is ``#separation``, a cell is a ``td`` with
``data-task`` and ``data-model`` whose link opens its evidence; the sliders are ``#length`` and ``#precision``; the data
of the grid is the JSON of ``#grid``.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from separatrix.site.pages.cell_html import (
    MARK_OF,
    UNKNOWN,
    WORD_OF,
    cell_inside,
    own_precision,
    reading_line,
    verdict_chip,
)
from separatrix.site.pages.cells import TITLES, CellNumbers, Grid, Upper
from separatrix.site.pages.components import command_block, length_text, origin_line, task_address
from separatrix.site.pages.shell import Page
from separatrix.site.pages.stories import stories, story_data
from separatrix.site.section import Results
from separatrix.site.sections.separation import LEGEND
from separatrix.site.state_limit import LEAD as LIMIT_LEAD
from separatrix.site.state_limit import LIMIT_COMMAND, state_limit_picture

TITLE = "Who can, who cannot, and why"
LEAD = (
    "Which sequence models can solve which task at all, and how large must they be? Networks that are certified on "
    "every input, and lower bounds that hold for all weights. Move the length."
)
PROBLEMS: Mapping[str, str] = {
    "INDEX": "Alice holds bits, Bob a position: she cannot know which bit he will ask for",
    "DISJ": "Alice and Bob hold sets: do they meet?",
    "EQ": "Alice and Bob hold strings: are they equal?",
    "DYCK": "Alice holds the odd positions, Bob the even ones: do they fit together?",
    "none": "no single communication problem carries the task's bounds",
}
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "Can it, how small?",
        "Build the theorem’s network and prove it on every input; --family circle makes it narrower.",
        "separatrix certify index-lookup --length 1024",
    ),
    (
        "Must it be big?",
        "The lower bound with its numbers and its evidence, run on the spot.",
        "separatrix bound dyck --model transformer-1layer --length 400",
    ),
    (
        "Does it learn it?",
        "Train a grid of runs as one ensemble, resumable.",
        "separatrix train index-lookup 'TF-(1,64)' --length 50",
    ),
)


def front_page(sections: Results, grid: Grid) -> Page:
    """The page from the results of all sections."""
    main = (
        f"{_controls(grid)}{stories(sections, grid)}{_limit(sections)}<section aria-labelledby='table-heading'>"
        f"<h2 id='table-heading'>The table</h2>{reading_line('#reading-heading')}{_table(sections, grid)}</section>"
        f"{_reading()}{_start()}{_data(sections, grid)}{_dialog()}"
    )
    return Page("index.html", TITLE, LEAD, main)


def _limit(sections: Results) -> str:
    """What training reached of what the state allows, where there are records."""
    found = sections["training"]["state_limit"]
    if found is None:
        return ""
    command = f"{command_block(LIMIT_COMMAND)}{origin_line(found['origin'])}"
    return (
        '<section class="limit" aria-labelledby="limit-heading"><h2 id="limit-heading">How near does training come?'
        f"</h2><p>{escape(LIMIT_LEAD)}</p>{state_limit_picture(found, '')}{command}</section>"
    )


def _controls(grid: Grid) -> str:
    lengths, precisions = len(grid.lengths) - 1, len(grid.precisions) - 1
    return (
        '<form class="controls" id="controls" aria-label="Length and precision" onsubmit="return false">'
        f'<div><label for="length">Length N</label> <output id="length-shown" for="length">'
        f"{length_text(grid.lengths[grid.length])}</output>"
        f'<input type="range" id="length" min="0" max="{lengths}" step="1" value="{grid.length}" disabled></div>'
        f'<div><label for="precision">Precision p of the bounds</label> <output id="precision-shown" for="precision">'
        f"{grid.precisions[grid.precision]} bits</output>"
        f'<input type="range" id="precision" min="0" max="{precisions}" step="1" value="{grid.precision}" disabled>'
        "</div>"
        '<noscript><p class="quiet">The sliders need scripts; all numbers are at '
        f"N = {grid.lengths[grid.length]:,}, p = {grid.precisions[grid.precision]}.</p></noscript></form>"
    )


def _table(sections: Results, grid: Grid) -> str:
    head = "".join(f'<th scope="col" role="columnheader">{escape(title)}</th>' for title in TITLES.values())
    groups = "".join(_group(problem, rows, grid) for problem, rows in _grouped(sections).items())
    caption = (
        "≤ size of a network that can; ≥ size that every model must have; each cell says what it counts. Tasks are "
        "grouped by the communication problem that hides in them. Select a cell for its evidence."
    )
    return (
        f'<table id="separation" class="separation" role="table"><caption>{caption}</caption><thead role="rowgroup">'
        f'<tr role="row"><th scope="col" role="columnheader">Task</th>{head}</tr></thead>{groups}</table>'
    )


def _grouped(sections: Results) -> dict[str, list[Results]]:
    """Rows by the communication problem of their task, in the order of :data:`PROBLEMS`."""
    problems = {task["name"]: task["communication"]["problem"] for task in sections["tasks"]["tasks"]}
    found: dict[str, list[Results]] = {problem: [] for problem in PROBLEMS}
    for row in sections["separation"]["rows"]:
        found.setdefault(problems[row["task"]], []).append(row)
    return {problem: rows for problem, rows in found.items() if rows}


def _group(problem: str, rows: list[Results], grid: Grid) -> str:
    said = PROBLEMS.get(problem, "")
    name = "Other tasks" if problem == "none" else problem
    lines = "".join(_row(row, grid) for row in rows)
    return (
        f'<tbody role="rowgroup" data-problem="{escape(problem)}"><tr class="group" role="row">'
        f'<th colspan="{len(TITLES) + 1}" scope="rowgroup" role="rowheader">{escape(name)} '
        f"<span>{escape(said)}</span></th></tr>{lines}</tbody>"
    )


def _row(row: Results, grid: Grid) -> str:
    task = row["task"]
    cells = "".join(_cell(grid.cell(task, model), title, grid) for model, title in TITLES.items())
    return (
        f'<tr role="row"><th scope="row" role="rowheader"><a href="{escape(task_address(task))}">{escape(row["title"])}'
        f"</a></th>{cells}</tr>"
    )


def _cell(cell: CellNumbers, title: str, grid: Grid) -> str:
    name = cell.verdict.replace(" ", "-")
    label = f'data-label="{escape(title, quote=True)}"'
    if cell.verdict == "not applicable":
        return (
            f'<td role="cell" class="v-{name}" {label}><span aria-hidden="true">–</span>'
            f'<span class="unseen">not applicable</span></td>'
        )
    return (
        f'<td role="cell" class="v-{name}" {label} data-task="{escape(cell.task)}" data-model="{escape(cell.model)}">'
        f'<a class="cell" href="{escape(task_address(cell.task))}#{escape(cell.model)}">'
        f"{cell_inside(cell, grid.length, grid.precision)}</a></td>"
    )


def _reading() -> str:
    verdicts = "".join(f"<dt>{verdict_chip(name)}</dt><dd>{escape(text)}</dd>" for name, text in LEGEND.items())
    return (
        '<section class="reading" aria-labelledby="reading-heading"><h2 id="reading-heading">How to read it</h2>'
        f'<div class="columns"><dl class="legend" id="legend">{verdicts}</dl><dl class="legend">'
        '<dt>≤ m <span class="kind">✓</span></dt><dd>a network that is certified on every input of this length, at '
        "its own precision p: the theorem’s, or a narrower one with a description no larger</dd>"
        "<dt>or m with a large lookup table</dt><dd>certified too, and narrower: points on circles as addresses. Its "
        "numbers are more "
        "precise and its table of addresses is written out for all N positions, so the whole description, the bits in "
        "all, is larger and grows like N. “Logarithmic” is said of width and precision, not of the description</dd>"
        '<dt>≤ m <span class="kind">ƒ</span></dt><dd>the size that the theorem claims; not certified at this '
        "length here</dd>"
        '<dt>≤ m <span class="kind">∴</span></dt><dd>a simple argument, such as storing the whole input</dd>'
        "<dt>–</dt><dd>nothing was computed at this length</dd>"
        "<dt>width, bits of state</dt><dd>what both numbers of a cell count: the width (× heads), or the bits that a "
        "recurrent model hands on</dd>"
        "<dt>≥ m</dt><dd>no narrower model is right on every input, whatever its weights, with one head and numbers "
        "of p bits; for attention and FNNs in an arithmetic that adds exactly and rounds once. Rounding is memory: in "
        "floating point a running sum can do more (erratum E26)</dd>"
        '<dt><span class="trained yes">◆ N</span></dt><dd>learned: trained to at least 99 % up to this length (a run '
        "itself ends early only at its goal, 99.9 %)</dd>"
        '<dt><span class="trained no">◇ N</span></dt><dd>trained and not learned, up to this length</dd>'
        '<dt><span class="trained little">◌ N</span></dt><dd>undertrained up to this length: nothing can be said</dd>'
        '<dt><span class="trained none">○</span></dt><dd>no run is recorded</dd></dl></div></section>'
    )


def _start() -> str:
    cards = "".join(
        f"<section><h3>{escape(question)}</h3><p>{escape(answer)}</p>{command_block(command)}</section>"
        for question, answer, command in QUESTIONS
    )
    return (
        '<section aria-labelledby="start-heading"><h2 id="start-heading">Ask it yourself</h2>'
        f'<div class="columns">{cards}</div></section>'
    )


def _data(sections: Results, grid: Grid) -> str:
    """The grid and the evidence for the script; nothing that could end the element may be in it."""
    evidence = {row["task"]: row["cells"] for row in sections["separation"]["rows"]}
    titles = {row["task"]: row["title"] for row in sections["separation"]["rows"]}
    bounds = sections["numbers"]["cells"]
    cells: dict[str, Any] = {}
    for task, by_model in evidence.items():
        for model, cell in by_model.items():
            numbers = grid.cell(task, model)
            if cell["verdict"] == "not applicable":
                continue
            cells[f"{task}/{model}"] = {
                "verdict": cell["verdict"],
                "unit": numbers.unit,
                "upper": [_plain(each) for each in numbers.upper],
                "lower": [list(line) for line in numbers.lower],
                "bits": list(numbers.bits),
                "above": [[side["growth"], side["text"], side["source"]] for side in cell["upper"]],
                "below": [
                    [side["growth"], f"{side['text']}; {side['arithmetic']}", side["source"]] for side in cell["lower"]
                ],
                "claims": [bound["claim"] for bound in bounds[task][model]["bounds"]],
                "remarks": cell["remarks"],
            }
    data = {
        "lengths": grid.lengths, "precisions": grid.precisions, "classes": dict(TITLES), "titles": titles,
        "marks": MARK_OF, "words": WORD_OF, "unknown": UNKNOWN, "cells": cells, **story_data(sections, grid),
    }  # fmt: skip
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="grid">{text}</script>'


def _plain(upper: Upper) -> list[Any]:
    other = upper.narrower
    narrower = None if other is None else [other.text, other.note, other.command]
    return [upper.text, upper.kind, upper.note, upper.command, own_precision(upper), narrower]


def _dialog() -> str:
    return (
        '<dialog id="evidence" aria-labelledby="evidence-title"><form method="dialog">'
        '<button class="close" aria-label="Close">×</button></form><h2 id="evidence-title"></h2>'
        '<div id="evidence-body"></div></dialog>'
    )
