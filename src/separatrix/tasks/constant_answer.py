"""What a constant answer scores: below this an accuracy says nothing.

Measured on random examples, since few tasks have a closed form for it. The commonest answer is chosen on one half of
the examples and scored on the other, so that the luck of choosing it does not count. Where answers are one of c
classes, some constant answer gets at least one in c right, so that less is never reported.
"""

from collections import Counter

from separatrix.tasks.draws import draws_from
from separatrix.tasks.task import Task

MOST_EXAMPLES, FEWEST_EXAMPLES, SYMBOLS = 4096, 512, 1 << 21
"""As many examples as have this many symbols, between two limits."""


def constant_answer_share(task: Task, length: int, examples: int | None = None, seed: int = 0) -> float:
    """The share of questions that one and the same answer gets right. Time and memory grow with examples times length.

    >>> from separatrix.tasks import tasks
    >>> constant_answer_share(tasks()["index-lookup"], 6) < 0.03  # 64 symbols
    True
    >>> 0.5 <= constant_answer_share(tasks()["index"], 6) < 0.6  # 2 symbols
    True
    """
    count = examples or min(MOST_EXAMPLES, max(FEWEST_EXAMPLES, SYMBOLS // length))
    drawn = task.sample(draws_from(seed), count, length)
    asked: list[list[int]] = drawn.targets[drawn.read].reshape(int(drawn.read.sum()), -1).tolist()
    answers = [tuple(answer) for answer in asked]
    half = len(answers) // 2
    commonest = Counter(answers[:half]).most_common(1)[0][0]
    measured = answers[half:].count(commonest) / (len(answers) - half)
    classes = task.classes(length)
    return max(measured, 1 / classes) if classes else measured


def constant_score(task: Task, length: int, examples: int | None = None) -> float:
    """The accuracy of a constant answer; nothing where a whole string of different answers must be right.

    >>> from separatrix.tasks import tasks
    >>> constant_score(tasks()["equality"], 8, 512) >= 0.5
    True
    """
    return 0.0 if task.scoring == "every position of a string" else constant_answer_share(task, length, examples)
