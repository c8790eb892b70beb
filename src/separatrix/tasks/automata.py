"""Tasks that one automaton answers at every length, and their names in certificates about words."""

import re
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.tasks.catalog import tasks
from separatrix.tasks.parameters import with_text_parameters
from separatrix.tasks.problems.dyck import MOST_STACKS
from separatrix.tasks.task import Task


def automaton_of(task: Task) -> dict[str, Any] | None:
    """``start``, ``steps`` and ``answers`` of the automaton that a task follows at every length; None without one.

    >>> automaton_of(tasks()["dyck"])["answers"]
    [1, 0, 0, 0, 0, 0, 0, 0]
    >>> automaton_of(tasks()["majority"]) is None
    True
    """
    first = max(task.minimum_length, task.length_step)
    found = [task.specification(length) for length in (first, first + task.length_step)]
    answers = [None if each is None else each["answer"] for each in found]
    if answers[0] is None or answers[0] != answers[1] or answers[0].get("kind") != "automaton":
        return None
    return {name: answers[0][name] for name in ("start", "steps", "answers")}


def task_label(task: Task) -> str:
    """Return a task with its parameters in one word.

    >>> task_label(tasks()["dyck"])
    'dyck:depth=2,types=2'
    """
    given = ",".join(f"{name}={value}" for name, value in sorted(task.parameters().items()))
    return f"{task.name}:{given}" if given else task.name


def labelled_task(label: str) -> Task:
    """Return the task of such a word.

    >>> labelled_task("dyck:depth=3,types=2").depth
    3
    >>> labelled_task("equality:alice=1,4,alphabet=3").parameters()
    {'alphabet': 3, 'answer_one': 'equal', 'alice': '1,4'}
    """
    name, _, given = label.partition(":")
    # A value may have commas.
    return with_text_parameters(tasks()[name], [each for each in re.split(r",(?=[a-z_]+=)", given) if each])


def needed_automaton(task: Task) -> dict[str, Any]:
    """Return the automaton, or one line that says that there is none.

    >>> needed_automaton(tasks()["dyck"].with_parameters(types=9, depth=40))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: dyck:depth=40,types=9 has no automaton for every length; choose dyck with at \
most 16384 stacks of brackets
    """
    found = automaton_of(task)
    if found is None:
        raise SeparatrixError(
            f"{task_label(task)} has no automaton for every length; choose dyck with at most {MOST_STACKS} stacks of "
            "brackets"
        )
    return found


def changed_label(task: Task) -> str:
    """Return a task with those parameters that are not the catalog's, in one word; ``labelled_task`` reads it too.

    >>> changed_label(tasks()["majority"]), changed_label(tasks()["sparse-threshold"].with_parameters(sparsity=1))
    ('majority', 'sparse-threshold:sparsity=1')
    """
    usual = tasks()[task.name].parameters()
    given = ",".join(f"{name}={value}" for name, value in sorted(task.parameters().items()) if usual[name] != value)
    return f"{task.name}:{given}" if given else task.name
