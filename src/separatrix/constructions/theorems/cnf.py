"""k-CNF formulas by two layers: an instance of BHBK24 Theorem 13 (see ``_sparse_threshold.py``)."""

from separatrix.constructions.theorems._sparse_threshold import SparseThresholdConstruction

CONSTRUCTION = SparseThresholdConstruction(
    name="cnf",
    title="k-CNF formulas, two layers",
    statement="a 2-layer Transformer of width O(log N) with k heads computes every k-CNF of at most N clauses",
    task_name="cnf",
    minimum_length=3,
)
