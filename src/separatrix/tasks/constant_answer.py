"""What answers score that need no understanding: a constant one, and a guess among those that an input offers.

Measured on random examples, since few tasks have a closed form for it. The commonest answer is chosen on one half of
the examples and scored on the other, so that the luck of choosing it does not count. Where answers are one of c
classes, some constant answer gets at least one in c right, so that less is never reported.
"""

from dataclasses import dataclass
from math import sqrt

import numpy

from separatrix.tasks.draws import draws_from
from separatrix.tasks.task import Task

MOST_EXAMPLES, FEWEST_EXAMPLES, SYMBOLS = 4096, 512, 1 << 21
"""As many examples as have this many symbols, between two limits."""


@dataclass(frozen=True)
class ConstantAnswer:
    """The ``share`` of questions that one answer gets right, from so many ``examples`` whose own shares have this
    standard ``deviation``: the questions of one example are not independent, so examples are what counts."""

    share: float
    deviation: float
    examples: int

    def combined_error(self, examples: int) -> float:
        """Return the standard error of the difference to an accuracy that was measured on so many examples.

        >>> round(ConstantAnswer(0.5, 0.5, 2500).combined_error(2500), 6)
        0.014142
        """
        return self.deviation * sqrt(1 / self.examples + 1 / examples)


def constant_answer(task: Task, length: int, examples: int | None = None, seed: int = 0) -> ConstantAnswer:
    """Return what the commonest answer scores. Time and memory grow with examples times length."""
    count = examples or _enough(length)
    drawn = task.sample(draws_from(seed), count, length)
    read, targets = numpy.asarray(drawn.read), numpy.asarray(drawn.targets)
    answers = targets[read].reshape(int(read.sum()), -1)
    of_example = numpy.repeat(numpy.arange(count), read.sum(axis=1))
    first = of_example < count // 2
    different, times = numpy.unique(answers[first], axis=0, return_counts=True)
    right = (answers[~first] == different[times.argmax()]).all(axis=1)
    asked = numpy.bincount(of_example[~first] - count // 2, minlength=count - count // 2)
    shares = (numpy.bincount(of_example[~first] - count // 2, weights=right, minlength=len(asked)) / asked)[asked > 0]
    classes = task.classes(length)
    share = max(float(right.mean()), 1 / classes if classes else 0.0)
    return ConstantAnswer(share, float(shares.std()), len(shares))


def guessed_answer(task: Task, length: int, examples: int | None = None, seed: int = 0) -> ConstantAnswer | None:
    """Return what the commonest of the answers that an input offers gets right there; None where a task offers none.

    Models learn such a guess long before they learn the task.

    >>> from separatrix.tasks.catalog import tasks
    >>> round(guessed_answer(tasks()["mqar"], 16).share, 1), guessed_answer(tasks()["dyck"], 16)
    (0.6, None)
    """
    drawn = task.sample(draws_from(seed), examples or _enough(length), length)
    offered = task.offered(drawn.inputs, length)
    if offered is None:
        return None
    rows, read, targets = (numpy.asarray(each) for each in (offered, drawn.read, drawn.targets))
    shares = [
        float((answers[asked] == numpy.bincount(row).argmax()).mean())
        for row, asked, answers in zip(rows, read, targets, strict=True)
    ]
    return ConstantAnswer(float(numpy.mean(shares)), float(numpy.std(shares)), len(shares))


def _enough(length: int) -> int:
    return min(MOST_EXAMPLES, max(FEWEST_EXAMPLES, SYMBOLS // length))


def constant_answer_share(task: Task, length: int, examples: int | None = None, seed: int = 0) -> float:
    """Return the share of questions that one and the same answer gets right."""
    return constant_answer(task, length, examples, seed).share


def constant_scored(task: Task, length: int, examples: int | None = None) -> ConstantAnswer:
    """As the task scores it: nothing where a whole string of different answers must be right."""
    if task.scoring == "every position of a string":
        return ConstantAnswer(0.0, 0.0, 1)
    return constant_answer(task, length, examples)


def constant_score(task: Task, length: int, examples: int | None = None) -> float:
    """Return the accuracy of a constant answer, as the task scores it."""
    return constant_scored(task, length, examples).share
