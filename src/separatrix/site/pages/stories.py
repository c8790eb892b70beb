"""Three separations to start with: a picture and a sentence each, both at the length and precision of the sliders.

A picture has the width that is enough for one class of models and the width that another class needs, over all lengths
on log axes. It is drawn here for the sliders' first place; ``site.js`` moves it, with the numbers of the page's grid.
"""

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from separatrix.site.pages.cells import ARGUMENT, BITS, CERTIFIED, FORMULA, NOTHING, TITLES, Grid
from separatrix.site.pages.components import command_block, task_address
from separatrix.site.section import Results


@dataclass(frozen=True)
class Story:
    """A task that separates two classes of models; ``sentence`` has places for ``width``, ``length`` and ``needed``."""

    task: str
    able: str
    unable: str
    sentence: str


STORIES = (
    Story(
        "index-lookup", "transformer-1layer", "rnn",
        "A one-layer Transformer of width {width} looks up any of {length} positions; any RNN needs {needed}.",
    ),
    Story(
        "dyck", "rnn", "transformer-1layer",
        "An RNN of width {width} decides nested brackets of length {length}; a one-layer Transformer needs {needed}.",
    ),
    Story(
        "equality", "transformer-2layer", "transformer-1layer",
        "A two-layer Transformer of width {width} compares both halves of {length} bits; one layer needs {needed}.",
    ),
)  # fmt: skip
LEFT, RIGHT, TOP, BOTTOM, WIDE, HIGH = 34.0, 8.0, 18.0, 20.0, 340.0, 176.0
"""The frame of a picture, in its own units."""
NAMED = 0.75
"""Where on the upper line its name is."""
SURE = {
    CERTIFIED: "✓ certified on every input of this length",
    FORMULA: "ƒ the theorem’s size, not certified here at this length",
    ARGUMENT: "∴ by a simple argument",
    NOTHING: "",
}


def stories(sections: Results, grid: Grid) -> str:
    """One card for each separation."""
    titles = {row["task"]: row["title"] for row in sections["separation"]["rows"]}
    cards = [
        f'<li><a class="story" data-story="{escape(story.task)}" href="{escape(task_address(story.task))}">'
        f"<h2>{escape(titles[story.task])}</h2>{_picture(story, sections, grid)}"
        f'<p data-sentence>{escape(_sentence(story, grid))}</p><p class="quiet" data-sure>{_sure(story, grid)}</p></a>'
        f"{_command(story, grid)}</li>"
        for story in STORIES
        if story.task in titles
    ]
    return f'<ul class="stories" aria-label="Three separations">{"".join(cards)}</ul>'


def story_data(sections: Results, grid: Grid) -> dict[str, Any]:
    """What the script needs to move the pictures: the sizes at every length and precision, and the frame."""
    return {
        "frame": [LEFT, WIDE - RIGHT, TOP, HIGH - BOTTOM],
        "named": NAMED,
        "sure": SURE,
        "stories": {
            story.task: {
                "able": f"{story.task}/{story.able}", "unable": f"{story.task}/{story.unable}",
                "sentence": story.sentence, "enough": _enough(story, grid), "needed": _needed(story, sections),
                "highest": _highest(story, sections, grid),
            }
            for story in STORIES
        },
    }  # fmt: skip


def _enough(story: Story, grid: Grid) -> list[int | None]:
    return [upper.size for upper in grid.cell(story.task, story.able).upper]


def _needed(story: Story, sections: Results) -> list[list[int]]:
    """The largest width that a bound asks for, [p][n]; the width of a recurrent model is the numbers of its state."""
    widths = [bound["widths"] for bound in sections["numbers"]["cells"][story.task][story.unable]["bounds"]]
    return [[max(sizes) for sizes in zip(*rows, strict=True)] for rows in zip(*widths, strict=True)]


def _highest(story: Story, sections: Results, grid: Grid) -> float:
    """The top of the picture, a power of two: the same for all precisions, so that lines move and the axis does not."""
    sizes = [size for size in _enough(story, grid) if size] + [size for row in _needed(story, sections) for size in row]
    return float(math.ceil(math.log2(max(sizes))))


def _sentence(story: Story, grid: Grid) -> str:
    upper = grid.cell(story.task, story.able).upper[grid.length]
    other = grid.cell(story.task, story.unable)
    _, lower, _ = other.at(grid.length, grid.precision)
    fixed = f"width {lower} (in fixed point of {grid.precisions[grid.precision]} bits)"
    needed = f"{lower} {BITS}" if other.unit == BITS else fixed
    return story.sentence.format(width=upper.text, length=f"{grid.lengths[grid.length]:,}", needed=needed)


def _sure(story: Story, grid: Grid) -> str:
    return SURE[grid.cell(story.task, story.able).upper[grid.length].kind]


def _picture(story: Story, sections: Results, grid: Grid) -> str:
    """Two lines and where the slider is. Below the upper line no model of its class is wide enough."""
    highest = _highest(story, sections, grid)
    enough, needed = _enough(story, grid), _needed(story, sections)[grid.precision]
    floor, last = HIGH - BOTTOM, len(grid.lengths) - 1

    def x(place: int) -> float:
        return LEFT + (WIDE - RIGHT - LEFT) * place / last

    def y(size: int) -> float:
        return floor - (floor - TOP) * math.log2(max(size, 1)) / highest

    def line(sizes: list[int | None] | list[int]) -> str:
        return " ".join(f"{x(place):.1f},{y(size):.1f}" for place, size in enumerate(sizes) if size is not None)

    step = 4 * max(1, round(highest / 16))
    ticks = "".join(
        f'<line class="rule" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y(1 << power):.1f}" y2="{y(1 << power):.1f}"/>'
        f'<text x="{LEFT - 5}" y="{y(1 << power) + 3.5:.1f}" text-anchor="end">{_short(1 << power)}</text>'
        for power in range(0, int(highest) + 1, step)
    ) + "".join(
        f'<text x="{x(place):.1f}" y="{HIGH - 5}" text-anchor="middle">{"" if place else "N = "}'
        f"{_short(grid.lengths[place])}</text>"
        for place in range(0, last + 1, 4)
    )
    here, chosen = x(grid.length), enough[grid.length]
    able, unable = (grid.cell(story.task, model).verdict.replace(" ", "-") for model in (story.able, story.unable))
    named = round(NAMED * last)
    # The name of the lower line goes below it, or above where the frame ends.
    span = [y(size) for size in enough[last // 2 :] if size is not None]
    below = max(span) + 14 if max(span) + 16 < floor else min(span) - 7
    return (
        f'<svg viewBox="0 0 {WIDE:g} {HIGH:g}" role="img" aria-label="Width against length: what is enough for a '
        f'{escape(TITLES[story.able])}, what {escape(TITLES[story.unable])} needs">{ticks}'
        f'<text x="2" y="10">width</text>'
        f'<polygon class="area v-{unable}" data-area points="{line(needed)} {x(last):.1f},{floor} {LEFT},{floor}"/>'
        f'<polyline class="v-{unable}" data-needed points="{line(needed)}"/>'
        f'<polyline class="v-{able} dashed" points="{line(enough)}"/>'
        f'<text class="v-{unable} name" data-name x="{x(named):.1f}" y="{y(needed[named]) - 8:.1f}" '
        f'text-anchor="end">{escape(TITLES[story.unable])}: at least</text>'
        f'<text class="v-{able} name" x="{x(last):.1f}" y="{below:.1f}" text-anchor="end">'
        f"{escape(TITLES[story.able])}: enough</text>"
        f'<line class="here" data-here x1="{here:.1f}" x2="{here:.1f}" y1="{TOP}" y2="{floor}"/>'
        f'<circle class="v-{unable}" data-at-needed r="4" cx="{here:.1f}" cy="{y(needed[grid.length]):.1f}"/>'
        f'<circle class="v-{able}" data-at-enough r="4" cx="{here:.1f}" cy="{y(chosen or 1):.1f}"/></svg>'
    )


def _short(value: int) -> str:
    """16, 256, 4k, 64k, 1M."""
    return f"{value >> 20}M" if value >= 1 << 20 else f"{value >> 10}k" if value >= 1 << 10 else str(value)


def _command(story: Story, grid: Grid) -> str:
    """How to certify the largest network shown that is certified."""
    found = [upper for upper in grid.cell(story.task, story.able).upper if upper.kind == CERTIFIED]
    return command_block(found[-1].command) if found else ""
