"""Tasks that bear the name of another and mean something else: a subclass that gives the next answer."""

from typing import Any

from separatrix.tasks import Task


def impostor(task: Task) -> Task:
    """The same task, by name, parameters and inputs, with other answers in ``solve`` and ``label`` alike."""
    kind = type(task)

    def turned(answer: Any, length: int) -> Any:
        if answer is None or isinstance(answer, tuple):
            return answer if answer is None else tuple(each + 1 for each in answer)
        return (answer + 1) % max(2, task.classes(length))

    def solve(self: Any, row: Any, length: int) -> Any:
        return [turned(answer, length) for answer in kind.solve(self, row, length)]

    def label(self: Any, inputs: Any, length: int) -> Any:
        targets, read = kind.label(self, inputs, length)
        if targets.ndim == 3:
            return (targets + 1) * read[..., None], read
        return (targets + 1) % max(2, task.classes(length)) * read, read

    made = type(kind.__name__, (kind,), {"solve": solve, "label": label, "labelled": Task.labelled})
    found = object.__new__(made)
    vars(found).update(vars(task))
    return found
