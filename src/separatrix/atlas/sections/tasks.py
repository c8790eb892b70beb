"""The tasks section: every task of the catalog with samples that a person can read."""

from dataclasses import dataclass
from html import escape
from typing import Any

from rich.table import Table

from separatrix.atlas.examples import shown_example
from separatrix.atlas.html import table as html_table
from separatrix.atlas.section import Advance, Results, Section
from separatrix.tasks import Task, draws_from, tasks
from separatrix.tasks.constant_answer import constant_answer_share

SEED = 0
SHOWN = 3
MEASURED = 1024
SHOWN_LENGTH = 12


@dataclass(frozen=True, kw_only=True)
class TasksSection(Section):
    """What each task asks, how its inputs look, and how often each answer occurs."""

    name: str = "tasks"
    title: str = "Tasks"
    order: int = 10

    @property
    def units(self) -> int:
        """One for each task."""
        return len(tasks())

    def collect(self, advance: Advance) -> Results:
        """Describe and sample every task."""
        entries: list[dict[str, Any]] = []
        for task in tasks().values():
            entries.append(_entry(task))
            advance(f"task {task.name}")
        return {"seed": SEED, "examples_measured": MEASURED, "tasks": entries}

    def body(self, results: Results) -> str:
        """A table of all tasks, then a fold for each with its examples."""
        headings = ("task", "question", "source", "communication problem", "score of a constant answer")
        rows = [
            (t["name"], t["question"], t["source"], t["communication"]["problem"], _share(t)) for t in results["tasks"]
        ]
        return html_table(
            headings,
            rows,
            caption=f"{len(rows)} tasks; scores at length {SHOWN_LENGTH}",
            numbers=(4,),
            links=[f"#task-{row[0]}" for row in rows],
        ) + "".join(map(_fold, results["tasks"]))

    def table(self, results: Results) -> Table:
        """Name, question, size and communication problem."""
        shown = Table(title=f"{len(results['tasks'])} tasks", title_justify="left")
        shown.add_column("task", style="bold", no_wrap=True)
        shown.add_column("question")
        shown.add_column("problem")
        shown.add_column("constant answer scores", justify="right")
        for t in results["tasks"]:
            shown.add_row(t["name"], t["question"], t["communication"]["problem"], _share(t))
        return shown


def _entry(task: Task) -> dict[str, Any]:
    length = SHOWN_LENGTH
    described = dict(task.describe(length))
    described["parameters"] = {name: str(value) for name, value in task.parameters().items()}
    examples = task.sample(draws_from(SEED), SHOWN, length)
    described["examples"] = [shown_example(task, examples, number, length) for number in range(SHOWN)]
    split = task.communication(length)
    described["communication"] |= {"alice": list(split.alice), "bob": list(split.bob)}
    described["commonest_answer_share"] = round(constant_answer_share(task, length, MEASURED, SEED), 3)
    described["command"] = f"separatrix sample {task.name} --length {length} --count {SHOWN} --seed {SEED}"
    return described


def _share(entry: Results) -> str:
    share = 100 * entry["commonest_answer_share"]
    return f"{share:.0f}%" if share >= 1 else "< 1%"


def _fold(entry: Results) -> str:
    facts = {
        "source": entry["source"],
        "layout": entry["layout"],
        "symbols": entry["vocabulary"],
        "positions": f"{entry['positions']} at length {entry['length']}",
        "inputs of that length": entry["inputs"] or "too many to list",
        "split": f"{entry['communication']['problem']}: {entry['communication']['note']}",
        "again": entry["command"],
    }
    listed = "".join(f"<dt>{escape(key)}</dt><dd>{escape(str(value))}</dd>" for key, value in facts.items())
    pictures = "".join(f"<pre>{escape(example['picture'])}</pre>" for example in entry["examples"])
    return (
        f'<details id="task-{escape(entry["name"])}"><summary>{escape(entry["title"])} '
        f"<span>{escape(entry['name'])}</span></summary><p>{escape(entry['question'])}</p><dl>{listed}</dl>{pictures}</details>"
    )


SECTION = TasksSection()
