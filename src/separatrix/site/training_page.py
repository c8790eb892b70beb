"""A figure as one page that needs nothing else: the interactive heat maps and curves, the remarks, the table of cells.

Plotly draws; its script is part of the page, so that it opens without a network. Hovering over a cell shows the run
behind it.
"""

from html import escape
from typing import TYPE_CHECKING

from separatrix.site.html import page, table
from separatrix.site.interactive import Plot, drawn, line
from separatrix.site.section import Figure
from separatrix.site.training_figures import (
    HEATS,
    MISSING,
    PAPER,
    UNITS,
    Panel,
    cell_text,
    column_title,
    curve_title,
    table_panels,
    undertrained,
)

if TYPE_CHECKING:
    from separatrix.training import AttentionMaps, FigureCell, FigureData

HEADINGS = (
    "row", "column", "ours %", "paper %", "difference", "steps", "allowed", "learning rate", "ended", "runs",
    "seconds", "device", "run", "undertrained",
)  # fmt: skip
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 10)


def headings(data: "FigureData") -> tuple[str, ...]:
    """Return :data:`HEADINGS` with what the rows and columns of this figure are."""
    rows = "model" if data.experiment.rows == "architecture" else data.experiment.rows
    return (*(axis.replace("_", " ") for axis in (rows, data.experiment.columns)), *HEADINGS[2:])


def number_places(data: "FigureData") -> tuple[int, ...]:
    """Return which places under :data:`HEADINGS` hold numbers: the columns of a figure may be names."""
    return NUMBERS if all(_is_number(column) for column in data.columns) else NUMBERS[1:]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def cell_row(cell: "FigureCell") -> tuple[str, ...]:
    """Return a cell as a row under :data:`HEADINGS`."""
    ours = _number(cell.accuracy) + "*" * bool(cell.undertrained)
    head = (cell.row, cell.column, ours, _number(cell.paper), _number(cell.deviation, "+z.1f"))
    if cell.record is None:
        state = "no record" if cell.unfinished_step is None else f"in training, step {cell.unfinished_step:,}"
        return (*head, "", "", "", state, "0", "", "", "", "")
    spec, result = cell.record.spec, cell.record.result
    return (
        *head, f"{result.step:,}", f"{spec.steps:,}", f"{spec.learning_rate:g}", result.ending, str(cell.runs),
        f"{result.seconds:,.0f}", str(cell.record.environment.get("device_name", "")), spec.name,
        ", ".join(cell.undertrained),
    )  # fmt: skip


def figure_page(data: "FigureData", attention: "tuple[AttentionMaps, Figure] | None", provenance: str) -> str:
    """Return the whole page as HTML."""
    plots = [_heat_map(panel, data) for panel in table_panels(data)]
    if data.curves:
        plots.append(_curves(data))
    pictures = drawn(plots)
    sections = [("figure", "Ours and the paper's" if data.paper else "Figure", pictures)] if plots else []
    if attention is not None:
        sections.append(("attention", "What the model attends to", _attention(*attention)))
    said = "".join(f"<li>{escape(remark)}</li>" for remark in data.remarks)
    sections.append(("remarks", "What to know", f"<ul>{said}</ul>"))
    sections.append(("cells", "Cells", _cells(data)))
    lead = (
        f"{data.experiment.source}, drawn from recorded runs{'' if data.scale is None else f' at scale {data.scale}'}."
    )
    return page(data.experiment.title, lead, sections, provenance)


def _cells(data: "FigureData") -> str:
    """Return the table of cells; without a paper its columns are left out."""
    shown = [place for place, heading in enumerate(HEADINGS) if data.paper or heading not in ("paper %", "difference")]
    rows = [tuple(cell_row(cell)[place] for place in shown) for cell in data.cells.values()]
    compared = ", the paper's number, the difference in points" if data.paper else ""
    right = tuple(new for new, place in enumerate(shown) if place in number_places(data))
    named = tuple(headings(data)[place] for place in shown)
    return table(named, rows, f"Every cell: the best of its runs{compared}.", numbers=right)


def _attention(maps: "AttentionMaps", figure: Figure) -> str:
    rows = [(f"{each.step:,}", f"{100 * each.share:.1f}") for each in maps.maps]
    shares = table(("steps", "% of weight on named cells"), rows, figure.caption, numbers=(0, 1))
    return f'<figure role="img" aria-label="{escape(figure.caption, quote=True)}">{figure.svg}</figure>{shares}'


def _heat_map(panel: Panel, data: "FigureData") -> Plot:
    """Return one table as a Plotly figure, with the run behind each of our cells in its hover text."""
    title, rows, columns, values, kind = panel
    numbers = [[values.get((row, column)) for column in columns] for row in rows]
    theirs = title == PAPER
    pale = () if theirs or kind == "bits" else undertrained(data)
    coloured = [[None if (row, column) in pale else values.get((row, column)) for column in columns] for row in rows]
    hover = [
        [
            f"{row} {data.experiment.at} {column}" + ("" if theirs else _hover(data.cells[row, column]))
            for column in columns
        ]
        for row in rows
    ]
    heat = HEATS[kind]
    # Written over the map, because a heat map has one colour for all its texts. At the places of rows and columns and
    # not at their names: Plotly takes a name that reads as a number, such as the length 20, for the 20th place.
    texts = [
        {
            "x": x, "y": y, "text": cell_text(kind, each) + "*" * ((rows[y], columns[x]) in pale), "showarrow": False,
            "font": {"color": heat.ink(coloured[y][x])},
        }
        for y, line in enumerate(numbers)
        for x, each in enumerate(line)
    ]  # fmt: skip
    trace = {
        "type": "heatmap", "z": coloured, "x": list(columns), "y": list(rows),
        "customdata": hover, "hovertemplate": "%{customdata}<extra></extra>", "hoverongaps": False,
        "xgap": 2, "ygap": 2, "colorscale": heat.scale(),
        "zmin": heat.low, "zmax": heat.high, "colorbar": {"title": {"text": UNITS[kind]}},
    }  # fmt: skip
    # Plotly knows no names of rows and columns where no cell has a colour, so that both are given.
    across = {"type": "category", "categoryarray": list(columns), "range": [-0.5, len(columns) - 0.5]}
    down = {"type": "category", "categoryarray": list(rows), "range": [len(rows) - 0.5, -0.5]}
    layout = {
        "title": {"text": title}, "height": 130 + 36 * len(rows), "margin": {"l": 120, "t": 60, "b": 50},
        "xaxis": {**across, "title": {"text": column_title(data)}, "showgrid": False},
        "yaxis": {**down, "showgrid": False, "automargin": True},
        "plot_bgcolor": MISSING, "annotations": texts,
    }  # fmt: skip
    return f"heat map of accuracy: {title}", {"data": [trace], "layout": layout}


def _hover(cell: "FigureCell") -> str:
    if cell.record is None:
        return "<br>no record"
    spec, result = cell.record.spec, cell.record.result
    lines = [
        f"accuracy {cell.accuracy:.2f} %" + ("" if cell.paper is None else f", paper {cell.paper:.1f} %"),
        f"learning rate {spec.learning_rate:g}, seed {spec.seed}, best of {cell.runs} runs",
        f"{result.step:,} of {spec.steps:,} steps ({result.ending}), {result.seconds:,.0f} s",
        f"recipe {cell.recipe}, run {spec.name}",
        *([f"undertrained: {', '.join(cell.undertrained)}"] if cell.undertrained else []),
    ]
    return "".join(f"<br>{escape(line)}" for line in lines)


def _curves(data: "FigureData") -> Plot:
    traces = [
        line(number, row, [point.step for point in points], [round(100 * point.accuracy, 2) for point in points])
        for number, (row, points) in enumerate(data.curves.items())
    ]
    layout = {
        "title": {"text": curve_title(data)}, "height": 460,
        "xaxis": {"title": {"text": "training steps"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "accuracy on fresh examples (%)"}, "range": [-2, 102]},
    }  # fmt: skip
    return "accuracy over training steps", {"data": traces, "layout": layout}


def _number(value: float | None, form: str = ".1f") -> str:
    return "" if value is None else format(value, form)
