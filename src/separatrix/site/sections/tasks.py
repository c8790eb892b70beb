"""The tasks section: every task of the catalog with samples that a person can read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.site.section import Advance, Section
from separatrix.table import ShownExample, shown_example
from separatrix.tasks import CommunicationSplit, Task, constant_answer_share, draws_from, tasks

SEED = 0
SHOWN = 3
MEASURED = 1024
SHOWN_LENGTH = 12


@dataclass(frozen=True, kw_only=True)
class TaskEntry:
    """One task at one length, with examples."""

    name: str
    title: str
    source: str
    question: str
    parameters: Mapping[str, str]
    length: int
    positions: int
    features: int
    classes: int
    vocabulary_size: int
    vocabulary: str
    layout: str
    scoring: str
    promise: str
    drawn: str
    inputs: str | None
    communication: CommunicationSplit
    examples: tuple[ShownExample, ...]
    commonest_answer_share: float
    command: str


@dataclass(frozen=True)
class TasksResults:
    """All tasks, drawn from one seed; shares of answers are of ``examples_measured`` examples."""

    seed: int
    examples_measured: int
    tasks: tuple[TaskEntry, ...]


@dataclass(frozen=True, kw_only=True)
class TasksSection(Section[TasksResults]):
    """What each task asks, how its inputs look, and how often each answer occurs."""

    name: str = "tasks"
    title: str = "Tasks"
    order: int = 10
    results_type: type = TasksResults
    catalog: Callable[[], Mapping[str, Any]] = tasks

    def collect(self, advance: Advance) -> TasksResults:
        """Describe and sample every task."""
        return TasksResults(SEED, MEASURED, tuple(map(_entry, self.entries(advance, "task"))))


def _entry(task: Task) -> TaskEntry:
    length = SHOWN_LENGTH
    examples = task.sample(draws_from(SEED), SHOWN, length)
    changed: dict[str, Any] = {
        "parameters": {name: str(value) for name, value in task.parameters().items()},
        "communication": task.communication(length),
    }
    return TaskEntry(
        **{**task.describe(length), **changed},
        examples=tuple(shown_example(task, examples, number, length) for number in range(SHOWN)),
        commonest_answer_share=round(constant_answer_share(task, length, MEASURED, SEED), 3),
        command=f"separatrix sample {task.name} --length {length} --count {SHOWN} --seed {SEED}",
    )


SECTION = TasksSection()
