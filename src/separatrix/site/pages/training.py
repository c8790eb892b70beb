"""Training runs on pages: heat maps as tables, ours next to the paper's, and what is missing."""

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TypeAlias

from separatrix.site.pages.components import figure_slot, files_slot, missing, number, origin_line
from separatrix.site.section import Results

UNSEEN = '<span class="unseen"> undertrained</span>'
Cells: TypeAlias = Mapping[tuple[str, str], float | None]


def reading_note(steps: Results | None) -> str:
    """How tables of short runs are to be read; nothing where there are no runs, or none is short."""
    if steps is None or steps["least"] >= steps["paper"]:
        return ""
    return (
        '<div class="caution" role="note"><p><strong>How to read the tables.</strong> The runs had '
        f"{number(steps['least'])} to {number(steps['most'])} training steps; BHBK24 allows {number(steps['paper'])}. "
        "Models whose steps are cheap were given more of them, and more learning rates, than models whose steps are "
        "expensive. So the tables show what a model reaches on a small budget. They do not show the paper’s order of "
        "the models, and a low number says nothing about what the model could learn.</p>"
        "<p>Below each accuracy: the steps that the best run was allowed × how many runs it is the best of "
        "(20k × 3: the best of three runs, allowed 20,000 steps). Cells with a star are undertrained: still rising, or "
        "less than half of the steps of another cell; they have no colour.</p></div>"
    )


def heat_table(
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Cells,
    kind: str,
    spent: Mapping[tuple[str, str], str | None] | None = None,
    pale: Collection[tuple[str, str]] = (),
) -> str:
    """Percentages by (row, column), each on a ground whose strength is its value; ``kind``: share or difference;
    ``spent`` is shown below a percentage; ``pale`` cells are undertrained, and have a star and no colour."""

    def cell(row: str, column: str) -> str:
        value = values.get((row, column))
        if value is None:
            return '<td class="none"><span aria-hidden="true">–</span><span class="unseen">no record</span></td>'
        text = f"{value:+.1f}" if kind == "difference" else f"{value:.1f}"
        strength = min(100.0, 2 * abs(value)) if kind == "difference" else value
        sign = " below" if kind == "difference" and value < 0 else ""
        budget = (spent or {}).get((row, column))
        below = f'<span class="budget">{escape(budget)}</span>' if budget else ""
        if (row, column) in pale:
            return f'<td class="undertrained">{text}<span aria-hidden="true">*</span>{UNSEEN}{below}</td>'
        return f'<td class="heat{sign}" style="--strength:{strength:.0f}%">{text}{below}</td>'

    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>{"".join(cell(row, column) for column in columns)}</tr>' for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="heat-map" data-kind="{kind}"><caption>{escape(caption)}'
        f'</caption><thead><tr><th scope="col">model \\ N</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def curves_name(row: Results) -> str:
    """The name of the figure of an experiment's curves."""
    return f"curves-{row['figure']}-{row['scale']}"


def experiment_articles(rows: Sequence[Results], heading: str = "h2") -> str:
    """Experiments one after the other: those with something to see first."""
    ordered = sorted(rows, key=lambda row: (not row["recorded"], row["paper"] is None))
    return "".join(_article(row, heading) for row in ordered)


def _article(row: Results, heading: str) -> str:
    """One experiment: our cells, the paper's, the difference, curves, and what must be said."""
    cells = {(cell["row"], cell["column"]): cell for cell in row["cells"]}
    pale = {key for key, cell in cells.items() if cell["undertrained"]}
    tables: list[str] = []
    several = len(row["columns"]) > 1
    if row["recorded"] and several:
        ours = {key: cell["accuracy"] for key, cell in cells.items()}
        spent = {key: cell["budget"] for key, cell in cells.items()}
        caption = f"Ours, scale {row['scale']} (%; steps × runs)"
        tables.append(heat_table(caption, row["rows"], row["columns"], ours, "share", spent, pale))
    if row["paper"]:
        paper = row["paper"]
        theirs = {
            (name, column): value
            for name, line in zip(paper["rows"], paper["accuracy"], strict=True)
            for column, value in zip(paper["columns"], line, strict=True)
        }
        tables.append(heat_table("The paper's (%)", paper["rows"], paper["columns"], theirs, "share"))
    compared = {key: cell["deviation"] for key, cell in cells.items()}
    # Where few cells are the paper's own, the remarks tell the differences better than an empty table.
    if 3 * sum(value is not None for value in compared.values()) >= len(compared) and several:
        title = "Ours − paper (points)"
        tables.append(heat_table(title, row["rows"], row["columns"], compared, "difference", pale=pale))
    drawn = figure_slot(curves_name(row)) if row["curves"] else ""
    drawn += files_slot(f"{row['figure']}-{row['scale']}") if row["recorded"] else ""
    state = (
        "" if row["recorded"] else missing("No run of this experiment is recorded yet. Train it:", row["train_command"])
    )
    # Where nothing is recorded, the line above the table says how to train it.
    remarks = [each for each in row["remarks"] if row["recorded"] or each != row["missing"]]
    said = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
    return (
        f'<article class="experiment" id="experiment-{escape(row["figure"])}"><{heading}>{escape(row["title"])}'
        f'</{heading}><p class="quiet">{escape(row["source"])}</p>{state}'
        f'<div class="side-by-side">{"".join(tables)}</div>{drawn}<ul class="remarks">{said}</ul>'
        f"{origin_line(row['origin']) if row['recorded'] else ''}"
        f"{origin_line(row['paper']['origin']) if row['paper'] else ''}</article>"
    )
