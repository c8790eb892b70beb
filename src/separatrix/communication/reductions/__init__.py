"""Reductions that run: a communication problem hidden in a task, checked answer by answer.

>>> from separatrix.communication.reductions import reductions
>>> reductions()["disjointness-to-mqar"].verify(3).holds
True
"""

from separatrix.communication.reductions.catalog import reductions
from separatrix.communication.reductions.reduction import Disagreement, Reduction, Verification

__all__ = ["Disagreement", "Reduction", "Verification", "reductions"]
