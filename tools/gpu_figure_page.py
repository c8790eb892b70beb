"""The page of the figures that were trained on a GPU: docs/gpu-figures.md, from the records in results/.

    python -m tools.gpu_figure_page        # writes the page and its pictures, docs/figures/gpu-NAME.svg

Each figure has our accuracies with the paper's beside them, the difference of every cell, and what must be said about
it. Nothing is typed in: the tests make the page again from the records and compare.
"""

import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from tools.gpu_figures import PIECES
from tools.pages import ROOT, markdown_table

from separatrix.files import write_atomically
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import FigureCell, FigureData, gather, paper_figures
from separatrix.training.records import Record, Records
from separatrix.training.spec import RunSpec

PAGE = "docs/gpu-figures.md"
STORE = ROOT / "results" / "reduced.sqlite"
SCALE = "reduced"


@cache
def figures() -> tuple[FigureData, ...]:
    """All figures of which something is recorded."""
    with Records(STORE, create=False) as records:
        found = [gather(experiments()[name], SCALE, records) for name in PIECES]
    return tuple(each for each in found if each.recorded)


@cache
def everything() -> tuple[Record, ...]:
    """All records."""
    with Records(STORE, create=False) as records:
        return tuple(records.all())


def shown(cell: FigureCell) -> str:
    """Ours; where the paper has a number, its own and the difference; then what was spent on it."""
    if cell.accuracy is None or cell.record is None:
        return "–" if cell.paper is None else f"– / {cell.paper:.1f}"
    beside = "" if cell.paper is None else f" / {cell.paper:.1f} ({cell.deviation:+.1f})"
    return f"{cell.accuracy:.1f}{beside} · {cell.record.spec.steps / 1000:g}k × {cell.runs}"


def section(data: FigureData) -> Iterable[str]:
    """The heading, the picture, the table and the remarks of one figure."""
    yield f"## {data.experiment.title}\n"
    yield f"{data.experiment.source}. `separatrix figure {data.experiment.name} --scale {SCALE} --records results`\n"
    yield f"![{data.experiment.title}](figures/{picture(data)})\n"
    beside = "ours / paper's (difference), %; steps × runs" if data.paper else "%; steps × runs"
    yield markdown_table(
        (f"{data.experiment.rows} \\ {data.experiment.columns}; {beside}", *data.columns),
        [(row, *(shown(data.cells[row, column]) for column in data.columns)) for row in data.rows],
    )
    yield ""
    yield from (f"- {remark}" for remark in data.remarks)
    yield ""


def picture(data: FigureData) -> str:
    """The name of its file."""
    return f"gpu-{data.experiment.name}.svg"


def cost() -> str:
    """Seconds of all groups, shared ones counted once, by card."""
    groups: dict[tuple[str, str], float] = {}
    for record in everything():
        key = str(record.environment["device_name"]), str(record.environment["group"])
        groups[key] = max(groups.get(key, 0.0), record.result.seconds)
    cards = dict.fromkeys(card for card, _ in groups)
    seconds = {card: sum(each for (one, _), each in groups.items() if one == card) for card in cards}
    told = ", ".join(f"{each:,.0f} seconds of one {card}" for card, each in seconds.items())
    recipe = paper_figures()["training_recipe"]
    found = re.match(r"at most (\d+) GPU-hours on ([^;]*)", recipe["cost"])
    assert found is not None
    hours = int(found[1])
    return (
        f"All {len(everything())} recorded runs together took {told}. The authors report at most {hours:,} GPU-hours "
        f"on {found[2]} for theirs, {hours * 3600 / sum(seconds.values()):,.0f} times as much; most of the difference "
        f"is that a run here was given {min(steps()):,} to {max(steps()):,} steps and theirs up to "
        f"{recipe['max_steps']:,}."
    )


def longer_runs() -> Iterable[str]:
    """Every run that was done twice and to the end, with fewer and with more steps: what the additional ones did."""
    budgets: dict[RunSpec, dict[int, float]] = {}
    for record in everything():
        if record.result.ending != "pruned":
            same = replace(record.spec, steps=1, snapshots=())
            budgets.setdefault(same, {})[record.result.step] = 100 * record.result.accuracy
    several = {spec: found for spec, found in budgets.items() if len(found) > 1}
    if not several:
        return
    yield "## What more steps change\n"
    yield (
        "Runs that were done twice, with nothing else different. Where accuracy rises like this, the distance to the "
        "paper is for want of steps; where it falls, the loss still jumps up from time to time, as it does with a "
        "learning rate that is too large.\n"
    )
    rows = [
        (
            f"{spec.architecture} on {spec.task}", str(spec.length), f"{spec.learning_rate:g}",
            *(f"{found[steps]:.1f} after {steps:,}" for steps in (min(found), max(found))),
        )
        for spec, found in sorted(several.items(), key=lambda one: (one[0].task, one[0].length, one[0].architecture))
    ]  # fmt: skip
    yield markdown_table(("model", "N", "learning rate", "fewest steps, %", "most steps, %"), rows)
    yield ""


def steps() -> list[int]:
    """The steps that each run was allowed."""
    return [record.spec.steps for record in everything()]


def text() -> str:
    """The whole page."""
    cells = [cell for data in figures() for cell in data.cells.values()]
    recorded = sum(cell.record is not None for cell in cells)
    missing = "" if recorded == len(cells) else "; the others are `–`"
    lines = [
        "# Figures trained on a GPU\n",
        "The papers' figures and what goes beyond them, trained on one GPU by "
        "`python -m tools.gpu_figures --plan tools/one_hour_on_a_gpu.toml --at-once 8` (how: [GPU notes](gpu-notes.md))"
        f". {recorded} of {len(cells)} cells of these figures have a record{missing}. Behind each accuracy stand the "
        "steps that the best run was allowed and how many runs (learning rates) it is the best of.\n",
        "**How to read them.** Every run had far fewer steps than the papers allow, and models whose steps are cheap "
        "were given more of them, and more learning rates, than models whose steps are expensive. So the tables show "
        "what a model reaches on a small budget. They do not show the paper's order of the models, and a low number "
        "says nothing about what the model could learn; the remarks below each table say which cells were still "
        "rising, which have not begun to learn, and which differ from the paper by more than ten points.\n",
        f"{cost()}\n",
    ]
    for data in figures():
        lines += section(data)
    lines += longer_runs()
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Write the page and its pictures."""
    from separatrix.atlas.training_figures import experiment_figure

    for data in figures():
        write_atomically(Path(ROOT / "docs/figures" / picture(data)), experiment_figure(data).svg)
    write_atomically(ROOT / PAGE, text())
    print(f"wrote {PAGE} and {len(figures())} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
