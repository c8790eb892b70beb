"""A page for each task: verdicts, sizes against N, what it asks, evidence for each class of models, networks, runs.

Structure that scripts and tests rely on: the evidence for a class of models is the section whose id is the class
(``rnn``, ``transformer-1layer``, …); every number's command is in ``#reproduce``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.bounds import Model
from separatrix.certificates import shown_count
from separatrix.site.experiment_rows import shown_first
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.pages.cells import TITLES, Grid
from separatrix.site.pages.drawing import graph, strip
from separatrix.site.pages.shell import Page
from separatrix.site.pages.text import length_text, number, percent, task_address
from separatrix.site.pages.why import why

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found
    from separatrix.site.sections.constructions import ConstructionEntry
    from separatrix.site.sections.networks import ShownNetwork
    from separatrix.site.sections.numbers import CellSizes
    from separatrix.site.sections.separation import TaskRow
    from separatrix.site.sections.tasks import TaskEntry
    from separatrix.table import Mark

HEADINGS = ("N", "layers", "heads", "width", "p", "size in bits", "inputs covered", "method")
"""Of the table of certified sizes."""


@dataclass(frozen=True)
class TaskNetwork:
    """A construction on the page of its task: what its theorem says, its network at work, and its certified sizes."""

    entry: "ConstructionEntry"
    shown: "ShownNetwork"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The certified sizes under :data:`HEADINGS`."""
        return [
            (
                *map(number, (one.length, one.layers, one.heads, one.width, one.precision_bits, one.size_bits)),
                shown_count(one.inputs_covered), one.method,
            )
            for one in self.entry.sizes
            if one.certified
        ]  # fmt: skip

    @property
    def origin(self) -> Origin | None:
        """Where the sizes come from."""
        sizes = self.entry.sizes
        return (
            Origin("proved", "all inputs of each length", sizes[-1].command, self.entry.arithmetic) if sizes else None
        )


def task_page(row: "TaskRow", found: "Found", grid: Grid) -> Page:
    """Return the page of one task from the results of all sections."""
    task = row.task
    entry = next(each for each in found.tasks.tasks if each.name == task)
    numbers, training, protocols = found.numbers.cells[task], found.training, found.protocols
    served = dict.fromkeys(each.name for cell in numbers.values() for each in cell.constructions)
    # The constructions of its cells, then its own that have no column in the table.
    entries = {each.name: each for each in found.constructions.constructions}
    names = list(dict.fromkeys([*served, *(name for name, each in entries.items() if each.task == task)]))
    networks = [TaskNetwork(entries[name], found.networks.networks[name]) for name in names]
    bounds = _bounds(task, numbers, grid)
    refused = [protocols.refused[name] for name in names if name in protocols.refused]
    sizes = [*bounds.values(), *(f"separatrix certify {name} --length {grid.lengths[grid.length]}" for name in served)]
    problem, example = entry.communication, entry.examples[0]
    main = render(
        "task.html", entry=entry, grid=grid, facts=_facts(entry), why=why(task, problem.problem, problem.note),
        cells={model: row.cells[model] for model in TITLES if row.cells[model].verdict != "not applicable"},
        trained={
            model: [(each.name, each.inputs, each.command) for each in cell.trained]
            for model, cell in row.cells.items()
        },
        networks=networks, headings=HEADINGS, drawn=graph(example) or strip(entry, example),
        example_origin=Origin("measured", "a random example", entry.command, seed=0),
        sizes_origin=sizes and Origin("proved", "certificates and bounds, exact", sizes[0], "fixed point and integers"),
        bounds={
            model: [(each.name, f"../bounds.html#bound-{each.name}") for each in cell.bounds]
            for model, cell in numbers.items()
        },
        conversations={name: protocols.runs[name] for name in names if name in protocols.runs},
        refused=refused[0] if refused else "there is no network of one layer or recurrent network for it here",
        experiments=shown_first(each for each in training.rows if each.task == task), steps=training.steps,
        best_runs=list(_best_runs(training.marks.get(task, {}))),
        commands=list(_commands(entry, bounds, networks, found)),
    )  # fmt: skip
    return Page(task_address(task), entry.title, entry.question, main, (("Tasks", "tasks.html"),))


def _bounds(task: str, numbers: "Mapping[Model, CellSizes]", grid: Grid) -> dict[Model, str]:
    """Return the command of each class of models that a bound speaks about."""
    length, precision = grid.lengths[grid.length], grid.precisions[grid.precision]
    return {
        model: f"separatrix bound {task} --model {model} --length {length} --precision {precision}"
        for model, cell in numbers.items()
        if cell.bounds
    }


def _facts(entry: "TaskEntry") -> list[tuple[str, str]]:
    split = entry.communication
    return [
        ("source", entry.source),
        ("layout", entry.layout),
        ("promised", entry.promise),
        ("drawn", entry.drawn),
        ("symbols", entry.vocabulary),
        # One that is None is left to the task: what it then is, layout and symbols say.
        ("parameters", ", ".join(f"{key} = {value}" for key, value in entry.parameters.items() if value != "None")),
        ("hidden problem", f"{split.problem}: {split.note}"),
        ("majority baseline", percent(entry.commonest_answer_share)),
    ]


def _best_runs(marks: "Mapping[Model, Mark]") -> Iterator[tuple[object, ...]]:
    for model, mark in marks.items():
        for length, best in sorted(mark.lengths.items()):
            accuracy = percent(best.accuracy) + "*" * bool(best.undertrained)
            yield TITLES[model], length, best.model, accuracy, ", ".join(best.undertrained), best.run


def _commands(
    entry: "TaskEntry", bounds: dict[Model, str], networks: list[TaskNetwork], found: "Found"
) -> Iterator[tuple[str, str]]:
    """Yield what each command gives, and the command."""
    yield "examples", entry.command
    for model, command in bounds.items():
        yield f"lower bound, {TITLES[model]}", command
    for one in networks:
        name = one.entry.name
        for size in one.entry.sizes[-1:]:
            yield f"certificate of {name} at N = {length_text(size.length)}", size.command
        for each in found.frontier.rows:
            if each.construction == name:
                yield f"narrowest networks of {name}", each.command
        if name in found.protocols.runs:
            yield f"conversation of {name}", found.protocols.runs[name].origin.command
    for row in found.training.rows:
        if row.task == entry.name:
            more = f": scale {row.scale} with all its steps, more than the recorded runs had"
            planned = "" if row.as_planned or not row.recorded else more
            yield f"training, {row.figure}{planned}", row.train_command
