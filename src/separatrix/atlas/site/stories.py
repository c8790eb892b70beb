"""Three separations to start with: who can with how much, and what the other needs, both at one length."""

from html import escape

from separatrix.atlas.section import Results
from separatrix.atlas.site.cell_html import WORD_OF, verdict_chip
from separatrix.atlas.site.cells import BITS, CERTIFIED, TITLES, Grid
from separatrix.atlas.site.components import command_block, number, task_address

STORIES: tuple[tuple[str, str, str], ...] = (
    ("index-lookup", "transformer-1layer", "rnn"),
    ("dyck", "rnn", "transformer-1layer"),
    ("equality", "transformer-2layer", "transformer-1layer"),
)
"""Tasks that separate two classes of models: (task, who can, who cannot)."""


def stories(sections: Results, grid: Grid) -> str:
    """One card for each separation, at the largest length: there the two sides are far apart."""
    titles = {row["task"]: row["title"] for row in sections["separation"]["rows"]}
    cards = [
        f'<li><a class="story" href="{escape(task_address(task))}"><h2>{escape(titles[task])}</h2><p>'
        f"{_side(TITLES[able], grid.cell(task, able).verdict)} "
        f"{_side(TITLES[unable], grid.cell(task, unable).verdict)}</p>"
        f'<p class="quiet">{_told(task, able, unable, grid)}</p></a>{_command(task, able, grid)}</li>'
        for task, able, unable in STORIES
        if task in titles
    ]
    return f'<ul class="stories" aria-label="Three separations">{"".join(cards)}</ul>'


def _told(task: str, able: str, unable: str, grid: Grid) -> str:
    """Both sides at the largest length, how far the first is certified, and what a narrower network costs."""
    far = len(grid.lengths) - 1
    upper, _, _ = grid.cell(task, able).at(far, grid.precision)
    other = grid.cell(task, unable)
    _, lower, _ = other.at(far, grid.precision)
    at = _unbroken(f"p = {grid.precisions[grid.precision]}")
    needs = f"{lower} {BITS}" if other.unit == BITS else f"width {lower} (in fixed point, {at})"
    size = f", {number(upper.size_bits)} bits in all" if upper.size_bits is not None else ""
    last = _last_certified(task, able, grid)
    sure = WORD_OF[upper.kind]
    if upper.kind != CERTIFIED and last is not None:
        sure = f"the theorem’s formula, certified on every input up to {_unbroken(f'N = {grid.lengths[last]:,}')}"
    other_way = upper.narrower
    narrow = (
        f" Width {escape(other_way.text)} is certified there, but is not small: {number(other_way.size_bits)} bits."
        if other_way
        else ""
    )
    return (
        f"At {_unbroken(f'N = {grid.lengths[far]:,}')} width {escape(upper.text)} is enough{size} ({sure}); the other "
        f"needs {escape(needs)}.{narrow}"
    )


def _last_certified(task: str, model: str, grid: Grid) -> int | None:
    """The place of the largest length at which the size shown is certified."""
    kinds = [each.kind for each in grid.cell(task, model).upper]
    return max((place for place, kind in enumerate(kinds) if kind == CERTIFIED), default=None)


def _command(task: str, model: str, grid: Grid) -> str:
    last = _last_certified(task, model, grid)
    return "" if last is None else command_block(grid.cell(task, model).upper[last].command)


def _unbroken(text: str) -> str:
    """Words that stay on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _side(model: str, verdict: str) -> str:
    return f'<span class="pair"><span>{escape(model)}</span> {verdict_chip(verdict)}</span>'
