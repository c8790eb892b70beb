"""Training runs on pages: heat maps as tables, ours next to the paper's, and what is missing."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeAlias

from separatrix.site.html import table as html_table
from separatrix.site.pages.components import command_block, figure_slot, files_slot, missing, number, origin_line
from separatrix.site.section import Results
from separatrix.training import RULE

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
        "(20k × 3: the best of three runs, allowed 20,000 steps). Cells with a star are undertrained and have no "
        f"colour: {RULE}. Open one for its steps and reasons.</p></div>"
    )


def heat_table(
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Cells,
    kind: str,
    spent: Mapping[tuple[str, str], str | None] | None = None,
    pale: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> str:
    """Percentages by (row, column), each on a ground whose strength is its value; ``kind``: share or difference;
    ``spent`` is shown below a percentage. Cells of ``pale`` are undertrained, for the reasons given: they have a star,
    no colour, and their steps and reasons folded in."""

    def cell(row: str, column: str) -> str:
        value = values.get((row, column))
        if value is None:
            return '<td class="none"><span aria-hidden="true">–</span><span class="unseen">no record</span></td>'
        text = f"{value:+z.1f}" if kind == "difference" else f"{value:.1f}"
        strength = min(100.0, 2 * abs(value)) if kind == "difference" else value
        sign = " below" if kind == "difference" and value < 0 else ""
        budget = (spent or {}).get((row, column))
        below = f'<span class="budget">{escape(budget)}</span>' if budget else ""
        if why := (pale or {}).get((row, column)):
            said = "".join(f'<span class="budget">{escape(reason)}</span>' for reason in why)
            return (
                f'<td class="undertrained"><details><summary>{text}<span aria-hidden="true">*</span>'
                f'<span class="unseen"> undertrained</span></summary>{below}{said}</details></td>'
            )
        return f'<td class="heat{sign}" style="--strength:{strength:.0f}%">{text}{below}</td>'

    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>{"".join(cell(row, column) for column in columns)}</tr>' for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="heat-map" data-kind="{kind}"><caption>{escape(caption)}'
        f'</caption><thead><tr><th scope="col">model \\ N</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def certified_article(results: Results) -> str:
    """Trained models that are right on every input, and what a search found in runs that are right on samples."""
    rows = [(one["task"], one["text"], one["command"]) for one in results["certified"]]
    caption = "Trained models in the package, each certified for every input"
    models = html_table(("task", "certified", "prove it again"), rows, caption)
    attacks = results["attacks"]
    found = [
        (
            f"{row['task']}, {row['model']}, N = {row['length']}, seed {row['seed']}",
            f"{100 * row['accuracy']:g} %",
            row["failing"],
            "every input" if row["certified"] else "",
            row["one"],
        )
        for row in attacks["rows"]
    ]
    caption = (
        f"Runs that answered {attacks['sampled']:,} sampled inputs rightly, attacked for {attacks['seconds']} seconds "
        f"or until {attacks['most']} failing inputs were found"
    )
    headings = ("run", "sampled", "failing inputs found", "certified for", "one failing input")
    table = html_table(headings, found, caption, numbers=(1, 2))
    commands = "".join(command_block(each) for each in attacks["commands"])
    proved, searched = map(origin_line, results["certified_origins"])
    return (
        '<article id="certified"><h2>Trained, and right on every input</h2><p>A certificate of trained weights decides '
        "every input of a length, or of all lengths, in exact arithmetic over the stored weights and in float32. "
        f"{escape(results['attacked'])} That a search finds none proves nothing.</p>{models}{proved}{table}{searched}"
        f"<details><summary>How the attacked runs were trained</summary>{commands}</details></article>"
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
    pale = {key: cell["undertrained"] for key, cell in cells.items() if cell["undertrained"]}
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
