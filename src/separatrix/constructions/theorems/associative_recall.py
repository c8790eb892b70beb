"""Associative recall by two layers: one query at the end; a corollary of BHBK24 Theorem 7 (see ``mqar.py``)."""

from separatrix.constructions.theorems.mqar import RecallConstruction

CONSTRUCTION = RecallConstruction(
    name="associative-recall",
    title="Associative recall, two layers",
    statement="a 2-layer Transformer of width O(log N) and precision O(log N) recalls the label of the last key",
    task_name="associative-recall",
    minimum_length=2,
    frontier_power=8,
    at="last",
)
