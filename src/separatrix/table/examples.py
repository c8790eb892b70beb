"""Examples of tasks as data that pages draw: symbols by position, who holds them, where answers are asked."""

from collections.abc import Sequence
from typing import Any

from separatrix.bounds import GRAPH_TASKS
from separatrix.tasks import Examples, Task

LONGEST_LABEL = 5
"""Symbols with longer names are cut."""


def position_labels(task: Task, row: Sequence[Any], length: int) -> list[str]:
    """A short text for each position: its symbol, or its number where a cell is not a symbol."""
    if task.features(length):
        return [str(place + 1) for place in range(len(row))]
    texts = list(task.vocabulary(length).texts(row))
    return [text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…" for text in texts]


def shown_example(task: Task, examples: Examples, number: int, length: int) -> dict[str, Any]:
    """One example of a batch: its text and picture, and by position symbols and answers."""
    row = task.trim(examples.inputs[number], length)
    answers = task.answers(examples, number, length)
    asked = [place for place, answer in enumerate(answers) if answer is not None]
    return {
        "text": task.write(row, length),
        "labels": position_labels(task, row, length),
        "asked": asked,
        "answers": [task.write_answer(answer, length) for answer in answers if answer is not None],
        "picture": task.picture(row, length),
        "matrix": [list(line) for line in row] if task.name in GRAPH_TASKS else None,
    }
