"""The page of the figures that were trained on a GPU: docs/gpu-figures.md, from the shipped records.

    python -m tools.gpu_figure_page        # writes the page and its pictures, docs/figures/gpu-NAME.svg

Each figure has our accuracies with the paper's beside them, the difference of every cell, and what must be said about
it. Nothing is typed in: the tests make the page again from the records and compare.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from tools.gpu_figures import PIECES, groups_of, planned
from tools.pages import ROOT, markdown_table

from separatrix import shipped
from separatrix.files import write_atomically
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import FigureCell, FigureData, gather, paper_figures
from separatrix.training.records import OPEN_ENDED, Record, Records
from separatrix.training.spec import RunSpec

PAGE = "docs/gpu-figures.md"
STORE = shipped.FOLDER / "reduced.sqlite"
SCALE = "reduced"
PLAN = "tools/one_hour_on_a_gpu.toml"


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
    return f"{cell.accuracy:.1f}{beside} · {cell.budget}"


def section(data: FigureData) -> Iterable[str]:
    """The heading, the picture, the table and the remarks of one figure."""
    yield f"## {data.experiment.title}\n"
    yield f"{data.experiment.source}. `separatrix figure {data.experiment.name} --scale {SCALE} --records shipped`\n"
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
    hours, mean = int(found[1]), sum(steps()) / len(steps())
    return (
        f"All {len(everything())} recorded runs together took {told}. The authors report at most {hours:,} GPU-hours "
        f"on {found[2]} for theirs, {hours * 3600 / sum(seconds.values()):,.0f} times as much. A run here was given "
        f"{min(steps()):,} to {max(steps()):,} steps, {mean:,.0f} on average, theirs up to {recipe['max_steps']:,}, "
        f"which explains a factor of {recipe['max_steps'] / mean:.0f} at most. The rest has other reasons, which were "
        "not told apart: a newer card, many runs trained as one, fewer runs (one seed, a few learning rates)."
    )


def beyond_scale() -> Iterable[str]:
    """Cells of the papers' tables with runs of more steps than the scale has, which its figures leave out."""
    rows: list[tuple[str, ...]] = []
    for data in figures():
        if data.paper is None or "paper" not in data.experiment.scales:
            continue
        longest = max(run.steps for cell in data.experiment.sweep(SCALE).cells() for run in cell.runs)
        with Records(STORE, create=False) as records:
            larger = gather(data.experiment, "paper", records)
        for key, cell in larger.cells.items():
            if cell.most_steps <= longest or cell.accuracy is None or cell.record is None or cell.paper is None:
                continue
            rising = {True: "rising", False: "level", None: "too short to tell"}[cell.rising]
            rows.append((
                f"{cell.row} in `{data.experiment.name}`", cell.column, f"{data.cells[key].accuracy:.1f}",
                f"{cell.most_steps:,}", f"{cell.accuracy:.1f} after {cell.record.result.step:,}",
                f"{cell.paper:.1f} ({cell.deviation:+.1f})", rising,
            ))  # fmt: skip
    if not rows:
        return
    yield "## Beyond the reduced scale\n"
    yield (
        "Cells that were far from the paper's and still rising, or whose loss was still falling, were trained longer, "
        "with one of the learning rates tried before. The figures above leave these runs out; `separatrix figure "
        "NAME --scale paper --records shipped` counts them. Where the accuracy comes much nearer to the paper's, "
        "steps were wanting; where it does not, that is not shown.\n"
    )
    headings = (
        "model", "N", "at the reduced scale, %", "longest run, steps", "best of all, %", "paper's (difference)",
        "when the best one ended",
    )  # fmt: skip
    yield markdown_table(headings, rows)
    yield ""


def longer_runs() -> Iterable[str]:
    """Every run that was done twice and to the end, with fewer and with more steps: what the additional ones did."""
    budgets: dict[RunSpec, dict[int, Record]] = {}
    for record in everything():
        if record.result.ending not in OPEN_ENDED:
            same = replace(record.spec, steps=1, snapshots=())
            budgets.setdefault(same, {})[record.result.step] = record
    several = {spec: found for spec, found in budgets.items() if len(found) > 1}
    if not several:
        return
    yield "## What more steps change\n"
    apart = sorted(abs(each) for found in several.values() for each in differences(found))
    yield (
        "Runs that were done twice, with the same seed and nothing but the steps different. On a GPU a run does not "
        "repeat to the bit ([GPU notes](gpu-notes.md#equal-bits)), so the two part before the steps do: of "
        f"{len(apart)} pairs, looked at where both still had steps left, {sum(each > 5 for each in apart)} were more "
        f"than 5 points apart and {sum(each > 20 for each in apart)} more than 20. A rise of a few points says "
        "nothing, then; a large one says that steps are wanting, and a fall that the outcome of such a run is partly "
        "luck.\n"
    )
    rows = [
        (
            f"{spec.architecture} on {spec.task}", str(spec.length), f"{spec.learning_rate:g}",
            *(f"{100 * found[steps].result.accuracy:.1f} after {steps:,}" for steps in (min(found), max(found))),
        )
        for spec, found in sorted(several.items(), key=lambda one: (one[0].task, one[0].length, one[0].architecture))
    ]  # fmt: skip
    yield markdown_table(("model", "N", "learning rate", "fewest steps, %", "most steps, %"), rows)
    yield ""


def differences(found: dict[int, Record]) -> Iterable[float]:
    """In points, between the runs of most and of fewest steps at the last step at which both were probed."""
    with Records(STORE, create=False) as records:
        one, other = (
            {point.step: point.accuracy for point in records.curve(found[each].spec.name)}
            for each in (min(found), max(found))
        )
    if common := set(one) & set(other):
        yield 100 * (other[max(common)] - one[max(common)])


def made() -> str:
    """What all numbers have in common, and how far they can be trusted."""
    seeds = {record.spec.seed for record in everything()}
    kinds = Counter(record.spec.precision for record in everything())
    groups = {str(record.environment.get("at_once", 1)) for record in everything()}
    examples = min(record.spec.evaluation_examples for record in everything())
    in_plan = [spec for group in groups_of(planned(ROOT / PLAN), SCALE) for spec in group.specs]
    # Whatever they started from: the plan is older than the present start.
    names = {spec.with_changes(start=1).name for spec in in_plan}
    inside = sum(record.spec.name in names for record in everything())
    assert len(seeds) == 1, "the page speaks of one seed"
    trained = " and ".join(f"{count} runs were trained in {kind}" for kind, count in kinds.most_common())
    return (
        f"Every run has the same seed, so nothing is said of the spread between seeds; {trained}. An accuracy is the "
        f"share of {examples:,} fresh examples or more (a standard error of up to "
        f"{100 * (0.25 / examples) ** 0.5:.1f} points), and the best run of a cell is chosen by that same number, so "
        f"the best of many is a little too good. {inside} of the {len(everything())} runs are in the plan named above; "
        f"the others are from earlier versions of it. {min(groups, key=int)} to {max(groups, key=int)} groups trained "
        "at once."
    )


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
        f"`python -m tools.gpu_figures --plan {PLAN} --at-once 8` (how: [GPU notes](gpu-notes.md))"
        f". {recorded} of {len(cells)} cells of these figures have a record{missing}. Behind each accuracy stand the "
        "steps that the best run was allowed and how many runs it is the best of: learning rates, some of them again "
        "with more steps.\n",
        "**How to read them.** Every run had far fewer steps than the papers allow, and models whose steps are cheap "
        "were given more of them, and more learning rates, than models whose steps are expensive. So the tables show "
        "what a model reaches on a small budget. They do not show the paper's order of the models, and a low number "
        "says nothing about what the model could learn; the remarks below each table say which cells were still "
        "rising, which have not begun to learn, and which differ from the paper by more than ten points.\n",
        f"{made()}\n",
        f"{cost()}\n",
    ]
    for data in figures():
        lines += section(data)
    lines += beyond_scale()
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
