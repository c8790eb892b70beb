"""Examples of tasks as data that pages draw: symbols by position, who holds them, where answers are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.bounds import GRAPH_TASKS
from separatrix.tasks import Examples, Task

LONGEST_LABEL = 5
"""Symbols with longer names are cut."""


@dataclass(frozen=True)
class ShownExample:
    """One example: its text and picture, and by position symbols and answers; ``matrix`` is that of a graph."""

    text: str
    labels: tuple[str, ...]
    asked: tuple[int, ...]
    """Positions that are read, each with one of the ``answers``."""
    answers: tuple[str, ...]
    picture: str
    matrix: tuple[tuple[int, ...], ...] | None


def position_labels(task: Task, row: Sequence[Any], length: int) -> list[str]:
    """Return a short text for each position: its symbol, or its number where a cell is not a symbol."""
    if task.features(length):
        return [str(place + 1) for place in range(len(row))]
    texts = list(task.vocabulary(length).texts(row))
    return [text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…" for text in texts]


def shown_example(task: Task, examples: Examples, number: int, length: int) -> ShownExample:
    """Return one example of a batch."""
    row = task.trim(examples.inputs[number], length)
    answers = {place: each for place, each in enumerate(task.answers(examples, number, length)) if each is not None}
    return ShownExample(
        task.write(row, length),
        tuple(position_labels(task, row, length)),
        tuple(answers),
        tuple(task.write_answer(answer, length) for answer in answers.values()),
        task.picture(row, length),
        tuple(tuple(line) for line in row) if task.name in GRAPH_TASKS else None,
    )
