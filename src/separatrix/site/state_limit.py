"""The picture of learned against impossible: state bits against length, for papers and for pages.

Marks are the longest lengths that recurrent models learned, from records; the line is the longest text on which any
weights may be right everywhere, and above the shaded edge no weights reach the accuracy on average
(``training.state_limit``). A filled mark says that the next length was tried enough and not learned, an open one that
training may reach further. On pages every accuracy and recipe is a view of its own, chosen without scripts.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from separatrix.site.figure import PALETTE, draw, legend_below, panels
from separatrix.site.html import asset, page, table
from separatrix.site.pages.text import short
from separatrix.site.section import Figure

if TYPE_CHECKING:
    from separatrix.training import Reached, StateLimits, View

TITLE = "Learned against impossible"
LIMIT_TASK = "index-lookup"
LIMIT_COMMAND = "separatrix figure state-limit --records shipped"
LEAD = (
    "Index lookup over 64 symbols, recurrent models by the number of bits of their state: the longest text that "
    "training reached, and the longest that the state can hold."
)
GLYPHS = ("●○", "■□", "◆◇", "▲△", "▼▽", "★☆", "⬢⬡", "⬟⬠")
"""Filled and open; a kind of layer has one, so that colours are not needed."""
MARKERS = "osD^v*hp"
"""The same for matplotlib."""
KEY = (
    "<li>filled: the next length was trained enough and not learned</li><li>open, dotted: training may reach further "
    "(nothing longer tried, or undertrained)</li><li>×: no length tried was learned</li><li>solid line: beyond it no "
    "weights are correct on every input, the state passed on step by step</li>"
)
SHORTEST = 4
ROOM = 1.1
"""Powers of two of the state that a name takes on a wide page."""
WORDS = {"strong": "recipe strong", "any": "any recipe"}


def _families(views: "Iterable[View]") -> list[str]:
    """Return the kinds of models in their order on every picture."""
    return list(dict.fromkeys(each.family for view in views for each in view.models))


# -- for papers ---------------------------------------------------------------------------------------------------


def state_limit_figure(results: "StateLimits", recipe: str = "strong") -> Figure:
    """Draw one panel for each accuracy, side by side on the same axes."""
    views = [view for view in results.views if view.recipe == recipe]
    families = _families(views)
    ceiling = 4 * max(each.limit for view in views for each in view.models)

    def paint(axes: Any) -> None:
        figure = axes.figure
        places = panels(axes, len(views), sharey=True)
        for place, view in zip(places, views, strict=True):
            _paint(place, view, families, ceiling)
        places[0].set_ylabel("input length N")
        handles, labels = places[-1].get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True))
        legend_below(figure, list(named.values()), list(named), columns=4)

    caption = (
        f"{TITLE}: the longest text of index lookup that recurrent models learned ({WORDS[recipe]}), next to "
        "the longest that their state can hold. Open marks: training may reach further. Crosses: no length tried was "
        "learned."
    )
    name = "state-limit" if recipe == "strong" else f"state-limit-{recipe}"
    return draw(name, caption, paint, 3.4 * len(views), 4.4)


def _paint(axes: Any, view: "View", families: list[str], ceiling: float) -> None:
    models = view.models
    ends = [models[0].state_bits / 2, models[-1].state_bits * 2]
    limit, bound = ([getattr(each, name) * (end / each.state_bits) for each, end in zip((models[0], models[-1]), ends,
                     strict=True)] for name in ("limit", "bound"))  # fmt: skip
    axes.fill_between(ends, limit, ceiling, color="#808080", alpha=0.2, linewidth=0,
                      label="no weights reach it on average")  # fmt: skip
    axes.plot(ends, bound, color="#000000", linewidth=1.2, label="beyond: no weights are right on every input")
    for number, family in enumerate(families):
        colour, mark = PALETTE[number % (len(PALETTE) - 1)], MARKERS[number % len(MARKERS)]
        axes.plot([], [], linestyle="none", marker=mark, color=colour, label=family)
        for each in models:
            if each.family != family:
                continue
            if each.learned is None:
                axes.plot(each.state_bits, SHORTEST, "x", color=colour, alpha=0.5, markersize=5,
                          label=f"_{each.model}, no length tried was learned")  # fmt: skip
                continue
            if each.failed is not None:
                axes.plot([each.state_bits] * 2, [each.learned, each.failed], color=colour, linewidth=1,
                          linestyle=":" if each.open_ended else "-")  # fmt: skip
            filled = "white" if each.open_ended else colour
            axes.plot(each.state_bits, each.learned, mark, color=colour, markerfacecolor=filled, markersize=6,
                      label=f"_{each.model}")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_ylim(SHORTEST / 1.4, ceiling)
    axes.set_xticks([1 << power for power in range(14, 25, 4)], ["16k", "256k", "4M"])
    axes.set_yticks([1 << power for power in range(2, 24, 3)], [short(1 << power) for power in range(2, 24, 3)])
    axes.minorticks_off()
    axes.set_xlim(*ends)
    axes.set_xlabel("bits of state")
    axes.set_title(f"learned to {100 * view.goal:g} %", fontsize=10)
    axes.grid(alpha=0.3)


# -- for pages ----------------------------------------------------------------------------------------------------


def state_limit_picture(results: "StateLimits", root: str | None) -> str:
    """Return all views with their choice; ``root`` leads to the pages of architectures, None where there are none."""
    families = _families(results.views)
    first = results.views[0]
    ends = _ends(results)
    goals = _choice("goal", [(f"{goal:g}", f"{100 * goal:g} %") for goal in results.goals], "learned to")
    recipes = _choice("recipe", [(name, WORDS[name]) for name in results.recipes], "trained by")
    shown = "".join(_view(view, families, ends, view is first, root) for view in results.views)
    rules = "".join(
        f".limit:has(#limit-recipe-{view.recipe}:checked):has(#limit-goal-{_id(view.goal)}:checked) "
        f'[data-view="{view.key}"]{{display:block}}'
        for view in results.views
    )
    return (
        f"<style>{rules}</style><form class='views' aria-label='What counts as learned' onsubmit='return false'>"
        f"{goals}{recipes}</form>{shown}"
    )


def state_limit_page(results: "StateLimits", footer: str) -> str:
    """Return the picture as one page that needs nothing else."""
    body = f'<div class="limit">{state_limit_picture(results, None)}</div><script>{asset("site.js")}</script>'
    return page(TITLE, LEAD, [("picture", "How near does training come?", body)], footer)


def _ends(results: "StateLimits") -> tuple[float, float, float, float]:
    """Return the ends of both axes as powers of two, the same for all views."""
    models = [each for view in results.views for each in view.models]
    bits = [math.log2(each.state_bits) for each in models]
    highest = math.log2(max(each.limit for each in models))
    return min(bits) - 0.7, max(bits) + 0.7, math.log2(SHORTEST), math.ceil(highest)


def _view(view: "View", families: list[str], ends: tuple[float, ...], first: bool, root: str | None) -> str:
    low, high, shortest, longest = ends

    def x(bits: float) -> float:
        return 100 * (math.log2(bits) - low) / (high - low)

    def y(length: float) -> float:
        return 100 - 100 * (math.log2(length) - shortest) / (longest - shortest)

    models = view.models

    def line(name: str) -> list[tuple[float, float]]:
        """Return a limit from one end of the picture to the other: it grows like the state."""
        least, most = models[0], models[-1]
        first = getattr(least, name) * 2 ** (low - math.log2(least.state_bits))
        last = getattr(most, name) * 2 ** (high - math.log2(most.state_bits))
        return [(0, y(first)), *((x(each.state_bits), y(getattr(each, name))) for each in models), (100, y(last))]

    never, everywhere = _points([*line("limit"), (100, 0), (0, 0)]), _points(line("bound"))
    grid = "".join(
        f'<line class="rule" x1="0" x2="100" y1="{y(1 << power):.2f}" y2="{y(1 << power):.2f}"/>'
        for power in range(math.ceil(shortest), math.floor(longest) + 1, 4)
    )
    reach = "".join(
        f'<line class="reach{" dotted" if each.open_ended else ""}" style="--tone:{_colour(families, each.family)}" '
        f'x1="{x(each.state_bits):.2f}" x2="{x(each.state_bits):.2f}" y1="{y(each.learned):.2f}" '
        f'y2="{y(each.failed):.2f}"/>'
        for each in models
        if each.learned is not None and each.failed is not None
    )
    down = "".join(
        f'<span class="tick down" style="top:{y(1 << power):.2f}%">{short(1 << power)}</span>'
        for power in range(math.ceil(shortest), math.floor(longest) + 1, 4)
    )
    across = "".join(
        f'<span class="tick across" style="left:{x(1 << power):.2f}%">{short(1 << power)}</span>'
        for power in range(math.ceil(low), math.floor(high) + 1)
        if not power % 2
    )
    places = [(each, f"left:{x(each.state_bits):.2f}%") for each in models]
    marks = "".join(
        _mark(each, families, f"{where};top:{y(each.learned):.2f}%", root, _named(each, models))
        for each, where in places
        if each.learned is not None
    )
    missed = [(each, where) for each, where in places if each.learned is None]
    # Neighbours at two heights, so that their names do not run into each other.
    strip = "".join(
        _mark(each, families, f"{where};top:{'28%' if place % 2 else '75%'}", root, _room(each, rest))
        for place, (each, where) in enumerate(missed)
        for rest in [[other for other, _ in missed[place + 2 :: 2]]]
    )
    percent = f"{100 * view.goal:g} %"
    legend = "".join(
        f'<li><span class="glyph" style="--tone:{_colour(families, family)}">{GLYPHS[place % len(GLYPHS)][0]}</span> '
        f"{escape(family)}</li>"
        for place, family in enumerate(families)
        if any(each.family == family for each in models)
    )
    drawn = (
        f'{grid}<polygon class="never" points="{never}"/><polyline class="everywhere" points="{everywhere}"/>{reach}'
    )
    return (
        f'<figure data-view="{view.key}"{" data-first" if first else ""}><p>{escape(view.sentence)}</p>'
        '<div class="plane"><span class="axis">input length N</span><svg viewBox="0 0 100 100" '
        f'preserveAspectRatio="none" aria-hidden="true">{drawn}</svg><div class="marks"><span class="said never-said">'
        f"no weights reach {percent}</span>{down}{marks}</div><div class='strip-none'>{across}{strip}</div></div>"
        '<p class="axis">bits of state, 32 for each number</p><p class="readout quiet" aria-live="polite">'
        f'Point at a mark for its numbers.</p><figcaption><ul class="key">{legend}{KEY}</ul>{_numbers(view)}'
        "</figcaption></figure>"
    )


def _named(each: "Reached", models: "Sequence[Reached]") -> bool:
    """Return whether there is room for the name of a mark: it does not run into another at about its height."""
    mine = each.learned or 0
    level = [other for other in models if other is not each and mine / 1.5 <= (other.learned or 0) <= mine * 1.5]
    return _room(each, level)


def _room(each: "Reached", others: "Sequence[Reached]") -> bool:
    return not any(0 <= math.log2(other.state_bits / each.state_bits) < ROOM for other in others)


def _mark(each: "Reached", families: list[str], where: str, root: str | None, named: bool = True) -> str:
    learned, further = each.learned is not None, each.open_ended
    glyph = GLYPHS[families.index(each.family) % len(GLYPHS)][further] if learned else "×"
    name = each.model.replace("positions=learned", "positions")
    short = f"<small>{escape(name)}</small>" if named else ""
    tag, target = "span", ' tabindex="0"'
    if root is not None:
        tag, target = "a", f' href="{root}architectures/{each.layer}.html#learned"'
    said = escape(each.in_words, quote=True)
    return (
        f'<{tag} class="point{"" if learned or not further else " pale"}"{target} title="{said}" '
        f'style="{where};--tone:{_colour(families, each.family)}"><span aria-hidden="true">{glyph}{short}'
        f'</span><span class="unseen">{said}</span></{tag}>'
    )


def _numbers(view: "View") -> str:
    """Return every number of a view as a folded table."""
    rows = [
        (
            each.model, each.state_bits, "–" if each.learned is None else f"{each.learned:,}",
            each.next_tried, each.limit, "–" if each.gap is None else f"{each.gap:,.0f}", each.bound,
        )
        for each in view.models
    ]  # fmt: skip
    headings = ("model", "state bits", "learned N", "next tried", "limit on average", "times", "limit on every input")
    return f"<details><summary>The numbers</summary>{table(headings, rows, numbers=(1, 2, 4, 5, 6))}</details>"


def _choice(name: str, values: Sequence[tuple[str, str]], legend: str) -> str:
    inside = "".join(
        f'<label><input type="radio" name="limit-{name}" id="limit-{name}-{_id(value)}"'
        f"{' checked' if not place else ''}> {escape(shown)}</label>"
        for place, (value, shown) in enumerate(values)
    )
    return f"<fieldset><legend>{escape(legend)}</legend>{inside}</fieldset>"


def _id(value: object) -> str:
    return str(value).replace(".", "_")


def _colour(families: list[str], family: str) -> str:
    return f"var(--series-{families.index(family) % 6 + 1})"


def _points(places: Any) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
