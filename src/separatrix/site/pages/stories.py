"""Three separations to start with: a picture and a sentence each, both at the length and precision of the sliders.

A picture has the width that is enough for one class of models and the width that another class needs, over all lengths
on log axes. It is drawn here for the sliders' first place; ``site.js`` moves it, with the numbers of the page's grid.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.bounds import Model
from separatrix.site.pages.cells import ARGUMENT, BITS, CERTIFIED, FORMULA, NOTHING, CellNumbers, Grid
from separatrix.site.pages.text import number, short

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found


@dataclass(frozen=True)
class Story:
    """A task that separates two classes of models; ``sentence`` has places for ``width``, ``length`` and ``needed``."""

    task: str
    able: Model
    unable: Model
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
LEFT, RIGHT, TOP, BOTTOM, WIDE, HIGH = 36.0, 12.0, 24.0, 20.0, 340.0, 182.0
"""The frame of a picture, in its own units."""
NAMED = 0.75
"""Where on the upper line its name is."""
SURE = {
    CERTIFIED: "✓ certified on every input of this length",
    FORMULA: "ƒ the theorem’s size; certified here up to N\u00a0=\u00a0{most}",
    ARGUMENT: "∴ by a simple argument",
    NOTHING: "",
}


def stories(found: "Found", grid: Grid) -> Iterator["Card"]:
    """Yield the card of each separation."""
    known = {row.task for row in found.separation.rows}
    for story in STORIES:
        if story.task in known:
            able, unable = (grid.cell(story.task, model) for model in (story.able, story.unable))
            # The largest network that is certified.
            command = next((upper.command for upper in reversed(able.upper) if upper.kind == CERTIFIED), "")
            sure = SURE[able.upper[grid.start].kind].format(most=_most(story, grid))
            yield Card(able, unable, _picture(story, found, grid), _sentence(story, grid), sure, command)


def story_data(found: "Found", grid: Grid) -> dict[str, Any]:
    """Return what the script needs to move the pictures: the sizes at every length and precision, and the frame."""
    return {
        "frame": [LEFT, WIDE - RIGHT, TOP, HIGH - BOTTOM],
        "named": NAMED,
        "sure": SURE,
        "stories": {
            story.task: {
                "able": f"{story.task}/{story.able}", "unable": f"{story.task}/{story.unable}",
                "sentence": story.sentence, "enough": _enough(story, grid), "needed": _needed(story, found),
                "highest": _highest(story, found, grid), "most": _most(story, grid),
            }
            for story in STORIES
        },
    }  # fmt: skip


def _most(story: Story, grid: Grid) -> str:
    """Return the largest length at which the network of a story is certified here."""
    uppers = grid.cell(story.task, story.able).upper
    sure = [length for length, upper in zip(grid.lengths, uppers, strict=True) if upper.kind == CERTIFIED]
    return number(max(sure, default=None))


def _enough(story: Story, grid: Grid) -> list[int | None]:
    return [upper.size for upper in grid.cell(story.task, story.able).upper]


def _needed(story: Story, found: "Found") -> list[list[int]]:
    """Return the largest width that a bound requires, [p][n]; the width of a recurrent model is the numbers of its
    state."""
    widths = [bound.widths for bound in found.numbers.cells[story.task][story.unable].bounds]
    return [[max(sizes) for sizes in zip(*rows, strict=True)] for rows in zip(*widths, strict=True)]


def _highest(story: Story, found: "Found", grid: Grid) -> float:
    """Return the top of the picture, a power of two: the same for all precisions, so that lines move and the axis does
    not."""
    sizes = [size for size in _enough(story, grid) if size] + [size for row in _needed(story, found) for size in row]
    return float(math.ceil(math.log2(max(sizes))))


def _sentence(story: Story, grid: Grid) -> str:
    upper = grid.cell(story.task, story.able).upper[grid.start]
    other = grid.cell(story.task, story.unable)
    _, lower, _ = other.at(grid.start, grid.precision)
    fixed = f"width {lower} (in fixed point of {grid.precisions[grid.precision]} bits)"
    needed = f"{lower} {BITS}" if other.unit == BITS else fixed
    return story.sentence.format(width=upper.text, length=f"{grid.lengths[grid.start]:,}", needed=needed)


@dataclass(frozen=True)
class Picture:
    """Places of a picture, in its own units."""

    needed: str
    enough: str
    here: float
    at_needed: float
    at_enough: float
    named: tuple[float, float]
    below: float
    down: list[tuple[float, str]]
    across: list[tuple[float, str]]
    left: float = LEFT
    right: float = WIDE - RIGHT
    top: float = TOP
    floor: float = HIGH - BOTTOM
    wide: float = WIDE
    high: float = HIGH


@dataclass(frozen=True)
class Card:
    """One separation at the slider's first place; ``command`` certifies its largest certified network."""

    able: CellNumbers
    unable: CellNumbers
    picture: Picture
    sentence: str
    sure: str
    command: str


def _picture(story: Story, found: "Found", grid: Grid) -> Picture:
    highest = _highest(story, found, grid)
    enough, needed = _enough(story, grid), _needed(story, found)[grid.precision]
    floor, last = HIGH - BOTTOM, len(grid.lengths) - 1

    def x(place: int) -> float:
        return round(LEFT + (WIDE - RIGHT - LEFT) * place / last, 1)

    def y(size: int) -> float:
        return round(floor - (floor - TOP) * math.log2(max(size, 1)) / highest, 1)

    def line(sizes: list[int | None] | list[int]) -> str:
        return " ".join(f"{x(place)},{y(size)}" for place, size in enumerate(sizes) if size is not None)

    named = round(NAMED * last)
    # The name of the lower line goes below it, or above where the frame ends.
    span = [y(size) for size in enough[last // 3 :] if size is not None]
    return Picture(
        line(needed), line(enough), x(grid.start), y(needed[grid.start]), y(enough[grid.start] or 1),
        (x(named), y(needed[named]) - 8), max(span) + 14 if max(span) + 16 < floor else min(span) - 7,
        [(y(1 << power), short(1 << power)) for power in range(0, int(highest) + 1, 4 * max(1, round(highest / 16)))],
        [(x(place), f"{'' if place else 'N = '}{short(grid.lengths[place])}") for place in range(0, last + 1, 4)],
    )  # fmt: skip
