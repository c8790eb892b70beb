"""The page of the figures that were trained on a GPU: docs/gpu-figures.md, from the shipped records.

    python -m tools.gpu_figure_page        # writes the page and its pictures, docs/figures/gpu-NAME.svg

Each figure has our accuracies next to the paper's, the difference of every cell, and remarks on its limits.
The tests generate the page again from the records and compare.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tools.gpu_figures import PIECES, SEEDS, allowed
from tools.pages import ROOT, markdown_table

from separatrix import shipped
from separatrix.files import write_atomically
from separatrix.site.state_limit import LEAD, TITLE, state_limit_figure
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import FigureCell, FigureData, gather, paper_figures
from separatrix.training.exported_records import ExportedRecords
from separatrix.training.record import Record
from separatrix.training.state_limit import NAME, StateLimits, state_limits
from separatrix.training.undertrained import RULE

PAGE = "docs/gpu-figures.md"
SCALE = "reduced"
PLAN = "tools/one_hour_on_a_gpu.toml"
STRONG = "tools/strong_cells.toml"


@cache
def source() -> ExportedRecords:
    """What ``--records shipped`` reads."""
    return ExportedRecords([shipped.FOLDER])


@cache
def figures() -> tuple[FigureData, ...]:
    """All figures of which something is recorded."""
    found = [gather(experiments()[name], SCALE, source()) for name in PIECES]
    return tuple(each for each in found if each.recorded)


def everything() -> list[Record]:
    """All records."""
    return source().all()


def shown(cell: FigureCell) -> str:
    """Ours; where the paper has a number, its own and the difference; then what was spent on it."""
    if cell.accuracy is None or cell.record is None:
        return "–" if cell.paper is None else f"– / {cell.paper:.1f}"
    compared = "" if cell.paper is None else f" / {cell.paper:.1f} ({cell.deviation:+.1f})"
    star = "\\*" * bool(cell.undertrained)
    return f"{cell.accuracy:.1f}{star}{compared} · {cell.budget}"


def section(data: FigureData) -> Iterable[str]:
    """The heading, the picture, the table and the remarks of one figure."""
    yield f"## {data.experiment.title}\n"
    yield f"{data.experiment.source}. `separatrix figure {data.experiment.name} --scale {SCALE} --records shipped`\n"
    yield f"![{data.experiment.title}](figures/{picture(data)})\n"
    compared = "ours / paper's (difference), %; steps × runs" if data.paper else "%; steps × runs"
    yield markdown_table(
        (f"{data.experiment.rows} \\ {data.experiment.columns}; {compared}", *data.columns),
        [(row, *(shown(data.cells[row, column]) for column in data.columns)) for row in data.rows],
    )
    yield ""
    yield from (f"- {remark}" for remark in data.remarks)
    yield ""


@cache
def limit() -> StateLimits:
    """What training reached of what the state allows."""
    found = state_limits(source())
    assert found is not None
    return found


def limit_section() -> Iterable[str]:
    """The figure that no paper has: learned against impossible."""
    yield f"## {TITLE}\n"
    yield f"{LEAD} `separatrix figure {NAME} --records shipped` draws it, interactive as {NAME}.html.\n"
    yield f"![{TITLE}](figures/{NAME}.svg)\n"
    yield (
        "Above the shaded edge no weights reach the accuracy on average: N uniform symbols, read before the query, are "
        "a random access code in the bits of the state (Fano's inequality, `communication/random_access.py`). Beyond "
        "the black line no weights are correct on every input (`separatrix bound index-lookup --model rnn`). Both "
        "limits hold if the state passes on step by step, with 32 bits a number. Open marks: training may reach "
        "further, because no longer text was tried or the next length is undertrained (\\*). Recipe `strong`, learned "
        "to 99 %:\n"
    )
    view = limit().views[0]
    yield markdown_table(
        ("model", "state bits", "learned N", "next length tried", "limit on average", "times", "limit on every input"),
        [
            (
                each.model, f"{each.state_bits:,}", each.learned or "–",
                each.next_tried.replace("*", "\\*"), f"{each.limit:,}",
                "–" if each.gap is None else f"{each.gap:,.0f}", f"{each.bound:,}",
            )
            for each in view.models
        ],
    )  # fmt: skip
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
    spent = ", ".join(f"{each:,.0f} seconds of one {card}" for card, each in seconds.items())
    recipe = paper_figures()["training_recipe"]
    found = re.match(r"at most (\d+) GPU-hours on ([^;]*)", recipe["cost"])
    assert found is not None
    hours, mean = int(found[1]), sum(steps()) / len(steps())
    return (
        f"All {len(everything())} recorded runs together took {spent}. The authors report at most {hours:,} GPU-hours "
        f"on {found[2]} for theirs, {hours * 3600 / sum(seconds.values()):,.0f} times as much. A run here had "
        f"{min(steps()):,} to {max(steps()):,} steps, {mean:,.0f} on average; theirs had up to "
        f"{recipe['max_steps']:,}, which explains a factor of at most {recipe['max_steps'] / mean:.0f}. The other "
        "causes were not measured separately: a newer card, many runs trained as one, fewer runs (one to three seeds, "
        "a few learning rates)."
    )


def made() -> str:
    """What all numbers have in common, and how far they can be trusted."""
    kinds = Counter(record.spec.precision for record in everything())
    recipes = Counter(record.spec.recipe for record in everything())
    examples = min(record.spec.evaluation_examples for record in everything())
    trained = " and ".join(f"{count} runs were trained in {kind}" for kind, count in kinds.most_common())
    return (
        f"{recipes['paper']} runs follow the recipe `paper` with one seed each. {recipes['strong']} follow the recipe "
        "`strong` ([what it changes](training.md)) with three seeds each; a cell that shows one of them says so and "
        f"gives the results of the worst and the best seed. {trained}. An accuracy is the share of {examples:,} fresh "
        f"examples or more (a standard error of up to {100 * (0.25 / examples) ** 0.5:.1f} points). The best run of a "
        "cell is chosen by the same number, so the best of many runs has a small upward bias. *At full length* means "
        "that all training examples, or half of them, had the length of the evaluation; the paper draws them from "
        "all lengths up to it. *Lengths growing* means that the training texts were short at first and grew up to "
        "that length."
    )


def reached() -> str:
    """How many cells come near the paper's number, and how many of them by enough seeds."""
    cells = [each for data in figures() for each in data.cells.values() if each.paper is not None]
    near = [each for each in cells if (each.accuracy or 0.0) >= (each.paper or 0.0) - allowed(each.paper or 0.0)]
    seeds = sum(len(each.seeds) >= len(SEEDS) for each in near)
    return (
        f"**Near the paper.** Of {len(cells)} cells with a number in the paper {len(near)} come near it or are above "
        "it: within 3 points where the paper has 97 % or more, within 10 elsewhere. In "
        f"{seeds} of these the best setting has {len(SEEDS)} seeds or more."
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
        "This page shows the papers' figures and further experiments, trained on one GPU by "
        f"`python -m tools.gpu_figures --plan {PLAN} --at-once 8` and, for the recipe `strong`, by "
        f"`python -m tools.gpu_figures --plan {STRONG} --at-once 8` (details: [GPU notes](gpu-notes.md)). "
        f"{recorded} of {len(cells)} cells of these figures have a record{missing}. Each accuracy is followed "
        "by the steps of the best run and the number of runs.\n",
        "**How to read the tables.** Every run had far fewer steps than the papers allow, and cells differ in steps, "
        "recipe and number of runs. So the tables show what a model reaches on a small budget, and a low number says "
        f"nothing about what the model could learn. A star marks undertrained cells: {RULE}. The remarks below each "
        "table name the cells that were still rising, that have not begun to learn, and that differ from the paper "
        "by more than ten points.\n",
        f"{reached()}\n",
        f"{made()}\n",
        f"{cost()}\n",
    ]
    lines += limit_section()
    for data in figures():
        lines += section(data)
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Write the page and its pictures."""
    from separatrix.site.training_figures import experiment_figure

    for data in figures():
        write_atomically(Path(ROOT / "docs/figures" / picture(data)), experiment_figure(data).svg)
    write_atomically(Path(ROOT / "docs/figures" / f"{NAME}.svg"), state_limit_figure(limit()).svg)
    write_atomically(ROOT / PAGE, text())
    print(f"wrote {PAGE} and {len(figures()) + 1} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
