"""Figures of training runs: curves over steps, heat maps of accuracy next to the papers', attention matrices."""

from collections.abc import Collection, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from separatrix.site.figure import PALETTE, draw, look
from separatrix.site.heat import BITS, DIFFERENCE, PERCENT, Heat
from separatrix.site.section import Figure
from separatrix.training import RULE

if TYPE_CHECKING:
    from separatrix.training import AttentionMaps, FigureData, FrontierPoint, Point, Record, Result

MISSING = "#e6e6e6"
LETTERS = 17
"""Of a footnote, in an inch."""


def curve_figure(
    title: str, curves: "Sequence[tuple[str, Sequence[Point]]]", name: str = "curves", *, small: bool = False
) -> Figure:
    """Accuracy on fresh examples over training steps, one line for each run."""

    def paint(axes: Any) -> None:
        _paint_curves(axes, curves)
        axes.set_title(title)

    width, height = (5.2, 3.6) if small else (7.5, 4.5)
    return draw(name, f"{title}: accuracy over training steps.", paint, width, height)


def run_curves_figure(title: str, runs: "Sequence[tuple[str, Record, Sequence[Point]]]") -> Figure:
    """Draw curves of recorded runs, each ending at the accuracy of its last, full evaluation, which tables show."""

    def paint(axes: Any) -> None:
        _paint_curves(axes, [(label, with_result(points, record.result)) for label, record, points in runs])
        axes.set_title(title)
        axes.set_xlabel("training steps; the marked end is the full evaluation")

    return draw("curves", f"{title}: accuracy over training steps, to the full evaluation at the end.", paint)


def with_result(points: "Sequence[Point]", result: "Result") -> "list[Point]":
    """Return a curve whose last point is the full evaluation in place of the probe of few examples at that step.

    >>> from separatrix.training.events import Point, Result
    >>> curve = [Point("a", 50, 1.0, 0.2, 0.3), Point("a", 100, 0.5, 0.4, 0.9)]
    >>> [point.accuracy for point in with_result(curve, Result("a", "steps", 100, 0.7, 0.5, 1.0, 8))]
    [0.3, 0.7]
    """
    from separatrix.training import Point

    before = [point for point in points if point.step < result.step]
    trained = points[-1].training_accuracy if points else 0.0
    return [*before, Point(result.run, result.step, result.loss, trained, result.accuracy)]


def experiment_figure(data: "FigureData") -> Figure:
    """Return a figure in the paper's layout: our heat map, theirs, the difference of each cell, then the curves.

    Four panels are placed two by two, fewer side by side. It is for papers: a page shows its tables as text.
    """
    from separatrix.training import diverged_note

    tables = table_panels(data)
    labels = 0.085 * max(len(row) for row in data.rows)
    widths = [0.62 * len(columns) + 0.5 + labels for _, _, columns, _, _ in tables] + [4.6] * bool(data.curves)
    rows = max((len(rows) for _, rows, _, _, _ in tables), default=0)
    height = max(0.42 * rows + 1.2, 3.4 if data.curves else 2.0)
    square = len(widths) == 4
    across = 2 if square else len(widths)
    scale = "" if data.scale is None else f", scale {data.scale}"
    caption = f"{data.experiment.source}{scale}: {data.experiment.title}."

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        places = figure.subplots(len(widths) // across, across, width_ratios=widths[:across], squeeze=False).flatten()
        before: Sequence[str] | None = None
        for number, (title, rows, columns, values, kind) in enumerate(tables):
            place = places[number]
            labelled = rows != before or number % across == 0
            pale = () if title == PAPER or kind == "bits" else undertrained(data)
            _paint_table(place, rows, columns, values, kind=kind, labelled=labelled, pale=pale)
            place.set_title(f"{title} ({UNITS[kind]})", fontsize=10)
            place.set_xlabel(column_title(data))
            before = rows
        if data.curves:
            _paint_curves(places[-1], list(data.curves.items()))
            places[-1].set_title(curve_title(data), fontsize=10)
        figure.suptitle(f"{data.experiment.title} ({data.experiment.source})", fontsize=11)
        if footnote:
            figure.supxlabel(footnote, fontsize=7.5, color="#555555")

    marked = UNDERTRAINED if undertrained(data) and tables else ""
    width = max(6.5, sum(widths[:across]) + 0.4)
    notes = filter(None, (step_note(data), diverged_note(data.cells.values()), marked))
    footnote = "\n".join(fill(note, int(LETTERS * width)) for note in notes)
    height = height * (2 if square else 1) + 0.3
    return draw(data.stem, caption, paint, width, height, for_papers_alone=True)


def curve_title(data: "FigureData") -> str:
    """Return what the curves of a figure show, and where."""
    return f"validation curves {data.experiment.at} {data.curve_column}"


def step_note(data: "FigureData") -> str:
    """Return what a picture says of the steps behind it, for those who see it without its table; empty without
    records."""
    from separatrix.training import paper_figures

    if data.steps is None:
        return ""
    least, most = data.steps
    allowed = int(paper_figures()["training_recipe"]["max_steps"])
    paper = f"; the paper allows {allowed:,}" if data.experiment.replicates else ""
    if least == most:
        return "" if most >= allowed else f"Every model was given at most {most:,} training steps{paper}."
    return f"Steps differ between cells: {least:,} to {most:,}{paper}."


def attention_figure(maps: "AttentionMaps", name: str, title: str) -> Figure:
    """Draw attention matrices after several numbers of steps on one input; open squares mark the cells a query
    names."""

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        places = figure.subplots(1, len(maps.maps), squeeze=False)[0]
        image: Any = None
        top = max(float(each.matrix.max()) for each in maps.maps)
        size = len(maps.named)
        for place, each in zip(places, maps.maps, strict=True):
            image = place.imshow(each.matrix, cmap="magma_r", vmin=0.0, vmax=top, interpolation="nearest")
            queries, keys = maps.named.nonzero()
            place.scatter(
                keys, queries, marker="s", s=1500 / size, facecolors="none", edgecolors=PALETTE[5], linewidths=0.7
            )
            place.set_title(f"after {each.step:,} steps\n{100 * each.share:.0f} % on named cells", fontsize=9)
            ticks = [0, *range(4, size, 5)]
            place.set_xticks(ticks, [str(tick + 1) for tick in ticks])
            place.set_yticks(ticks, [str(tick + 1) for tick in ticks])
            place.set_xlabel("key")
            for side in place.spines.values():
                side.set_visible(True)
        places[0].set_ylabel("query")
        figure.colorbar(image, ax=list(places), label="attention weight", shrink=0.85)
        figure.suptitle(title, fontsize=11)

    caption = (
        f"{title}; squares mark the cells that a query names; equal attention would give {100 * maps.chance:.0f} %."
    )
    return draw(name, caption, paint, 3.1 * len(maps.maps) + 1.0, 3.9)


def learned_frontier_figure(task: str, goal: float, points: "Sequence[FrontierPoint]") -> Figure:
    """Draw the longest learned length over width, with the length that no weights can pass."""

    def paint(axes: Any) -> None:
        for number, pattern in enumerate(dict.fromkeys(point.pattern for point in points)):
            mine = [point for point in points if point.pattern == pattern]
            colour, mark = look(number)["color"], "osD*"[number % 4]
            learned = [(point.width, point.learned) for point in mine if point.learned is not None]
            if learned:
                axes.plot(*zip(*learned, strict=True), color=colour, marker=mark, label=f"{pattern}, learned")
            for point in mine:
                if point.learned is not None:
                    filled = colour if point.failed is not None else "white"
                    axes.plot(point.width, point.learned, mark, color=colour, markerfacecolor=filled)
                elif point.failed is not None:
                    axes.plot(point.width, point.failed.length, "x", color=colour)
            bounds = [(point.width, point.bound) for point in mine if point.bound]
            if bounds:
                label = f"{pattern}, no weights beyond"
                axes.plot(
                    *zip(*bounds, strict=True), color=colour, linestyle="--", marker="v^<>"[number % 4], label=label
                )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(sorted({point.width for point in points}), minor=False)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("width")
        axes.set_ylabel("input length N")
        axes.grid(alpha=0.3)
        axes.set_title(f"{task}: learned to {100 * goal:g} %, and what the state can hold")
        axes.plot([], [], "o", color="grey", markerfacecolor="white", label="learned every length that was tried")
        axes.plot([], [], "x", color="grey", label="did not learn the shortest")
        axes.legend(frameon=False, fontsize=8)

    caption = f"{task}: longest input learned to {100 * goal:g} % by width; open marks learned every length tried."
    return draw(f"learned-frontier-{task}", caption, paint)


Numbers: TypeAlias = Mapping[tuple[str, str], float | None]
Kind: TypeAlias = Literal["percent", "difference", "bits"]
Panel: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...], Numbers, Kind]
HEATS: Mapping[Kind, Heat] = {"percent": PERCENT, "difference": DIFFERENCE, "bits": BITS}
UNITS: Mapping[Kind, str] = {"percent": "%", "difference": "points", "bits": "bits"}


def cell_text(kind: Kind, value: float | None) -> str:
    """Return a number as it is in a cell.

    >>> [cell_text("percent", 98.04), cell_text("difference", 1.0), cell_text("bits", 5), cell_text("bits", None)]
    ['98.0', '+1.0', '5', '–']
    >>> cell_text("difference", -0.01)
    '+0.0'
    """
    if value is None:
        return "–"
    return f"{value:g}" if kind == "bits" else f"{value:+z.1f}" if kind == "difference" else f"{value:.1f}"


PAPER = "paper"
"""The title of the paper's own panel."""
UNDERTRAINED = f"* undertrained, not coloured: {RULE}"


def undertrained(data: "FigureData") -> Collection[tuple[str, str]]:
    """Return cells whose low accuracy means little; they are marked, and not coloured as failures."""
    return {key for key, cell in data.cells.items() if cell.undertrained}


def column_title(data: "FigureData") -> str:
    """Return what is below the columns."""
    return "input length" if data.experiment.columns == "length" else data.experiment.columns.replace("_", " ")


def table_panels(data: "FigureData") -> list[Panel]:
    """Return (title, rows, columns, number by cell, what the numbers are); none where the figure is curves alone."""
    if data.curves and len(data.columns) == 1:
        return []
    ours: Numbers = {key: cell.accuracy for key, cell in data.cells.items()}
    found: list[Panel] = [
        ("accuracy" if data.scale is None else f"ours, scale {data.scale}", data.rows, data.columns, ours, "percent")
    ]
    if data.paper is not None:
        found.append((PAPER, data.paper.rows, data.paper.columns, dict(data.paper.accuracy), "percent"))
        difference: Numbers = {key: cell.deviation for key, cell in data.cells.items()}
        # Where few cells are the paper's own, the table of cells shows the differences better than an empty map.
        if 3 * sum(each is not None for each in difference.values()) >= len(difference):
            found.append(("ours − paper", data.rows, data.columns, difference, "difference"))
    if data.bits:
        found.append(("needed of each number of the state", data.rows, data.columns, dict(data.bits), "bits"))
    return found


def _paint_table(
    axes: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Numbers,
    *,
    kind: Kind,
    labelled: bool,
    pale: Collection[tuple[str, str]] = (),
) -> None:
    """Paint a number in every cell on a coloured ground; on a grey one, with a star, for ``pale`` cells and where there
    is none."""
    grid = [[values.get((row, column)) for column in columns] for row in rows]
    heat = HEATS[kind]
    coloured = [[None if (row, column) in pale else values.get((row, column)) for column in columns] for row in rows]
    numbers = [[float("nan") if each is None else each for each in line] for line in coloured]
    axes.set_facecolor(MISSING)
    axes.imshow(numbers, cmap=heat.map(), vmin=heat.low, vmax=heat.high, aspect="auto", interpolation="nearest")
    for y, line in enumerate(grid):
        for x, each in enumerate(line):
            star, ink = ("*", None) if (rows[y], columns[x]) in pale else ("", each)
            text = cell_text(kind, each) + star
            axes.text(x, y, text, ha="center", va="center", fontsize=8.5, color=heat.ink(ink))
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows) if labelled else [""] * len(rows))
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    # White lines between cells.
    axes.set_xticks([x - 0.5 for x in range(1, len(columns))], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)


def _paint_curves(axes: Any, curves: "Sequence[tuple[str, Sequence[Point]]]") -> None:
    for number, (label, points) in enumerate(curves):
        axes.plot(
            [point.step for point in points],
            [100 * point.accuracy for point in points],
            label=label,
            **look(number),
            markersize=4,
            # Only the end is marked: a run that reached its goal ends before the others.
            markevery=[len(points) - 1] if len(points) > 2 else None,
        )
    axes.set_xlabel("training steps")
    axes.set_ylabel("accuracy on fresh examples (%)")
    axes.set_ylim(-2, 102)
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(_thousands)
    axes.legend(frameon=False, fontsize=8)


def _thousands(step: float, _: int) -> str:
    """Write 20000 as 20k, as a tick is called."""
    return f"{step / 1000:g}k" if step >= 1000 else f"{step:g}"
