"""The problems of the papers: vocabulary, slow ``solve``, vectorised labels, samplers, enumeration.

>>> from separatrix.tasks import draws_from, tasks
>>> task = tasks()["index-lookup"]
>>> batch = task.sample(draws_from(0), count=3, length=8)
>>> batch.inputs.shape, batch.targets.shape, batch.read.sum(axis=1).tolist()
((3, 9), (3, 9), [1, 1, 1])
"""

from separatrix.tasks.catalog import tasks
from separatrix.tasks.draws import Draws, draws_from
from separatrix.tasks.task import Answers, CommunicationSplit, Examples, Row, Split, Task, own_specification
from separatrix.tasks.vocabulary import Symbols, Vocabulary

__all__ = [
    "Answers",
    "CommunicationSplit",
    "Draws",
    "Examples",
    "Row",
    "Split",
    "Symbols",
    "Task",
    "Vocabulary",
    "draws_from",
    "own_specification",
    "tasks",
]
