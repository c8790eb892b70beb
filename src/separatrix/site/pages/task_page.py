"""A page for each task: verdicts, sizes against N, what it asks, evidence for each class of models, networks, runs.

Structure that scripts and tests rely on: the evidence for a class of models is the section whose id is the class
(``rnn``, ``transformer-1layer``, …); every number's command is in ``#reproduce``.
"""

from collections.abc import Iterator
from typing import Any

from separatrix.certificates import shown_count
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.pages.cells import TITLES, Grid
from separatrix.site.pages.drawing import graph, strip
from separatrix.site.pages.shell import Page
from separatrix.site.pages.text import length_text, number, percent, task_address
from separatrix.site.pages.training import experiments
from separatrix.site.pages.why import why
from separatrix.site.section import Results

COLUMNS = {
    "N": "length", "layers": "layers", "heads": "heads", "width": "width", "p": "precision_bits",
    "size in bits": "size_bits", "inputs covered": "inputs_covered", "method": "method",
}  # fmt: skip
"""Of the table of certified sizes: heading and field."""


def task_page(task: str, sections: Results, grid: Grid) -> Page:
    """Return the page of one task from the results of all sections."""
    entry = next(each for each in sections["tasks"]["tasks"] if each["name"] == task)
    row = next(each for each in sections["separation"]["rows"] if each["task"] == task)
    numbers, training, protocols = sections["numbers"]["cells"][task], sections["training"], sections["protocols"]
    served = dict.fromkeys(each["name"] for cell in numbers.values() for each in cell["constructions"])
    # The constructions of its cells, then its own that have no column in the table.
    entries = {each["name"]: each for each in sections["constructions"]["constructions"]}
    names = list(dict.fromkeys([*served, *(name for name, each in entries.items() if each["task"] == task)]))
    networks = [_network(entries[name], sections["networks"]["networks"][name]) for name in names]
    bounds = _bounds(task, numbers, grid)
    own = [row for row in training["rows"] if row["task"] == task]
    refused = [protocols["refused"][name] for name in names if name in protocols["refused"]]
    sizes = [*bounds.values(), *(f"separatrix certify {name} --length {grid.lengths[grid.length]}" for name in served)]
    main = render(
        "task.html", entry=entry, grid=grid, facts=_facts(entry), why=why(entry), networks=networks,
        cells={model: row["cells"][model] for model in TITLES if row["cells"][model]["verdict"] != "not applicable"},
        drawn=graph(entry["examples"][0]) or strip(entry, entry["examples"][0]),
        example_origin=Origin("measured", "a random example", entry["command"], seed=0),
        sizes_origin=sizes and Origin("proved", "certificates and bounds, exact", sizes[0], "fixed point and integers"),
        bounds={
            model: [(each["name"], f"../bounds.html#bound-{each['name']}") for each in cell["bounds"]]
            for model, cell in numbers.items()
        },
        conversations={name: protocols["runs"][name] for name in names if name in protocols["runs"]},
        refused=refused[0] if refused else "there is no network of one layer or recurrent network for it here",
        experiments=list(experiments(own)), steps=training["steps"],
        best_runs=list(_best_runs(training["marks"].get(task, {}))),
        commands=list(_commands(entry, bounds, networks, sections)),
    )  # fmt: skip
    return Page(task_address(task), entry["title"], entry["question"], main, (("Tasks", "tasks.html"),))


def _bounds(task: str, numbers: Results, grid: Grid) -> dict[str, str]:
    """Return the command of each class of models that a bound speaks about."""
    length, precision = grid.lengths[grid.length], grid.precisions[grid.precision]
    return {
        model: f"separatrix bound {task} --model {model} --length {length} --precision {precision}"
        for model, cell in numbers.items()
        if cell["bounds"]
    }


def _facts(entry: Results) -> list[tuple[str, str]]:
    split = entry["communication"]
    return [
        ("source", entry["source"]),
        ("layout", entry["layout"]),
        ("promised", entry["promise"]),
        ("drawn", entry["drawn"]),
        ("symbols", entry["vocabulary"]),
        # One that is None is left to the task: what it then is, layout and symbols say.
        ("parameters", ", ".join(f"{key} = {value}" for key, value in entry["parameters"].items() if value != "None")),
        ("hidden problem", f"{split['problem']}: {split['note']}"),
        ("majority baseline", percent(entry["commonest_answer_share"])),
    ]


def _network(entry: Results, shown: Results) -> dict[str, Any]:
    sizes = [{**size, "inputs_covered": shown_count(size["inputs_covered"])} for size in entry["sizes"]]
    return {
        **entry, "shown": shown, "headings": tuple(COLUMNS),
        "rows": [
            [each if isinstance(each := size[key], str) else number(each) for key in COLUMNS.values()]
            for size in sizes
            if size["certified"]
        ],
        "origin": sizes
        and Origin("proved", "all inputs of each length", sizes[-1]["command"], entry["arithmetic"]),
    }  # fmt: skip


def _best_runs(marks: Results) -> Iterator[tuple[object, ...]]:
    for model, mark in marks.items():
        for length, best in sorted(mark["lengths"].items(), key=lambda pair: int(pair[0])):
            accuracy = percent(best["accuracy"]) + "*" * bool(best["undertrained"])
            yield TITLES[model], int(length), best["model"], accuracy, ", ".join(best["undertrained"]), best["run"]


def _commands(
    entry: Results, bounds: dict[str, str], networks: list[dict[str, Any]], sections: Results
) -> Iterator[tuple[str, str]]:
    """Yield what each command gives, and the command."""
    yield "examples", entry["command"]
    for model, command in bounds.items():
        yield f"lower bound, {TITLES[model]}", command
    for one in networks:
        name = one["name"]
        for size in one["sizes"][-1:]:
            yield f"certificate of {name} at N = {length_text(size['length'])}", size["command"]
        for each in sections["frontier"]["rows"]:
            if each["construction"] == name:
                yield f"narrowest networks of {name}", each["command"]
        if name in sections["protocols"]["runs"]:
            yield f"conversation of {name}", sections["protocols"]["runs"][name]["origin"]["command"]
    for row in sections["training"]["rows"]:
        if row["task"] == entry["name"]:
            more = f": scale {row['scale']} with all its steps, more than the recorded runs had"
            planned = "" if row["as_planned"] or not row["recorded"] else more
            yield f"training, {row['figure']}{planned}", row["train_command"]
