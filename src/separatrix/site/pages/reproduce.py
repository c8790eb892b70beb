"""The commands that give the numbers of a task's page again, each with what it gives."""

from collections.abc import Iterator
from html import escape

from separatrix.site.pages.cells import TITLES
from separatrix.site.pages.components import command_block, length_text, part
from separatrix.site.section import Results


def reproduce(entry: Results, names: list[str], sections: Results) -> str:
    """The commands behind the numbers of a task's page; ``names`` are the constructions that serve it."""
    task = entry["name"]
    numbers = sections["numbers"]
    shown = numbers["shown"]
    commands = [("examples", entry["command"])]
    commands += [
        (
            f"lower bound, {TITLES[model]}",
            f"separatrix bound {task} --model {model} --length {shown['length']} --precision {shown['precision']}",
        )
        for model, cell in numbers["cells"][task].items()
        if cell["bounds"]
    ]
    for name in names:
        sizes = next(each for each in sections["constructions"]["constructions"] if each["name"] == name)["sizes"]
        commands += [
            (f"certificate of {name} at N = {length_text(each['length'])}", each["command"]) for each in sizes[-1:]
        ]
        commands += [
            (f"narrowest networks of {name}", each["command"])
            for each in sections["frontier"]["rows"]
            if each["construction"] == name
        ]
        if name in sections["protocols"]["runs"]:
            commands.append((f"conversation of {name}", sections["protocols"]["runs"][name]["origin"]["command"]))
    commands += _training_commands(task, sections["training"])
    listed = "".join(f"<dt>{escape(what)}</dt><dd>{command_block(command)}</dd>" for what, command in commands)
    return part("reproduce", "Reproduce these numbers", f'<dl class="commands">{listed}</dl>')


def _training_commands(task: str, training: Results) -> Iterator[tuple[str, str]]:
    """How to train each whole experiment again."""
    rows = [row for row in training["rows"] if row["task"] == task]
    for row in rows:
        whole = f"training, {row['figure']}"
        if row["recorded"] and not row["as_planned"]:
            whole += f": scale {row['scale']} with all its steps, more than the recorded runs had"
        yield whole, row["train_command"]
