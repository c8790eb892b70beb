"""The problems of the papers: vocabulary, slow ``solve``, vectorised labels, samplers, enumeration.

>>> from separatrix.tasks import draws_from, tasks
>>> task = tasks()["index-lookup"]
>>> batch = task.sample(draws_from(0), count=3, length=8)
>>> batch.inputs.shape, batch.targets.shape, batch.read.sum(axis=1).tolist()
((3, 9), (3, 9), [1, 1, 1])
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
