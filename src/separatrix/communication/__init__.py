"""Lower bounds that run: communication problems, protocols with counted bits, reductions, bounds.

>>> from separatrix.communication import communication_matrix, disjointness, partition_bound
>>> partition_bound(communication_matrix(disjointness(5))).bits
6
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
