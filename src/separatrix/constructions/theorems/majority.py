"""Majority by two layers: an instance of BHBK24 Theorem 13 (see ``_sparse_threshold.py``)."""

from separatrix.constructions.theorems._sparse_threshold import SparseThresholdConstruction

CONSTRUCTION = SparseThresholdConstruction(
    name="majority",
    title="Majority, two layers",
    statement="a 2-layer Transformer of width O(log N) with one head computes majority on every input",
    task_name="majority",
    minimum_length=3,
    frontier_power=11,
)
