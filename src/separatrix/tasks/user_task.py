"""A task from outside this package is tried on a small sample before it is used.

The contract tests hold the package's own tasks to what ``Task`` promises; nobody runs them on a task that comes by an
entry point. So some examples of it are drawn first: inputs must have the length and the symbols that the task says,
labels must be among its classes, and ``label`` must answer what the slow ``solve`` answers. That is evidence, no proof.
"""

from collections.abc import Sequence
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.sources import is_outside
from separatrix.tasks.arrays import to_numpy
from separatrix.tasks.draws import draws_from
from separatrix.tasks.task import Examples, Split, Task

EXAMPLES = 16
MOST_WORK = 1 << 20
"""Elementary steps of the trial; fewer examples of a long input are drawn."""
LONGEST_SHOWN = 60


def try_user_task(task: Task, length: int) -> None:
    """Raise a one-line error that names an example where a task from outside breaks its promises at this length."""
    if not is_outside(type(task)):
        return
    task.check_length(length)
    count = max(1, min(EXAMPLES, MOST_WORK // max(1, task.work(length))))
    splits: tuple[Split, ...] = ("train", "eval")
    for split in splits:
        try:
            _try_sample(task, length, task.sample(draws_from(0), count, length, split), count)
        except SeparatrixError as error:
            raise SeparatrixError(f"{task.name}: {error}") from error
        except Exception as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise SeparatrixError(
                f"{task.name} cannot draw and answer examples of length {length}: {what}; see the guide to tasks of "
                "your own"
            ) from error


def _try_sample(task: Task, length: int, examples: Examples, count: int) -> None:
    wanted = (count, task.positions(length), *[task.features(length)] * (task.features(length) > 0))
    if tuple(examples.inputs.shape) != wanted:
        raise SeparatrixError(
            f"generate gave inputs of {tuple(examples.inputs.shape)} at length {length}; positions and features say "
            f"{wanted}"
        )
    inputs, targets, read = (to_numpy(each) for each in (examples.inputs, examples.targets, examples.read))
    symbols, classes = task.vocabulary(length).size, task.classes(length)
    for number in range(count):
        row = task.trim(inputs[number], length)
        shown = _shown(row)
        if not task.features(length) and not all(0 <= symbol < symbols for symbol in row):
            raise SeparatrixError(f"the input {shown} has symbols outside 0 to {symbols - 1}, the vocabulary")
        asked = targets[number][read[number]]
        if not read[number].any():
            raise SeparatrixError(f"label asks nothing of the input {shown}; mark the positions that are read")
        if classes and not (asked.min() >= 0 and asked.max() < classes):
            found = next(int(each) for each in asked.flat if not 0 <= each < classes)
            raise SeparatrixError(f"the label of the input {shown} is {found}, and classes says {classes}")
        answers = [tuple(each) if isinstance(each, list) else each for each in task.solve(row, length)]
        quick = task.answers(examples, number, length)
        if len(quick) != len(answers):
            raise SeparatrixError(
                f"solve gives {len(answers)} answers to the input {shown}, which has {len(quick)} cells"
            )
        for place, (mine, slow) in enumerate(zip(quick, answers, strict=True)):
            if mine != slow:
                raise SeparatrixError(
                    f"label and solve disagree on the input {shown}: {mine} and {slow} at position {place}, counted "
                    "from 0"
                )


def _shown(values: Sequence[Any]) -> str:
    text = str(list(values))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
