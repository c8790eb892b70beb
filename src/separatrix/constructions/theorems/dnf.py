"""k-DNF formulas by two layers: an instance of BHBK24 Theorem 13 (see ``_sparse_threshold.py``)."""

from separatrix.constructions.theorems._sparse_threshold import SparseThresholdConstruction

CONSTRUCTION = SparseThresholdConstruction(
    name="dnf",
    title="k-DNF formulas, two layers",
    statement="a 2-layer Transformer of width O(log N) with k heads computes every k-DNF of at most N terms",
    task_name="dnf",
    serves=(("sparse-threshold", "Theorem 13 builds every member; this one is certified"),),
    minimum_length=3,
    also=(("rounding", "nearest"),),
)
