"""The tasks section: every task of the catalog with samples that a person can read."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.site.section import Advance, Results, Section
from separatrix.table import shown_example
from separatrix.tasks import Task, constant_answer_share, draws_from, tasks

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

    def table(self, results: Results) -> Table:
        """Name, question, size and communication problem."""
        shown = Table(title=f"{len(results['tasks'])} tasks", title_justify="left")
        shown.add_column("task", style="bold", no_wrap=True)
        shown.add_column("question")
        shown.add_column("problem")
        shown.add_column("majority baseline", justify="right")
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


SECTION = TasksSection()
