"""Disjointness by two layers: an instance of BHBK24 Theorem 13 (see ``_sparse_threshold.py``)."""

from dataclasses import dataclass, replace

from separatrix.constructions.construction import Built, Options
from separatrix.constructions.theorems._sparse_threshold import SparseThresholdConstruction


@dataclass(frozen=True, kw_only=True)
class DisjointnessConstruction(SparseThresholdConstruction):
    """Disjointness as the threshold of the N/2 features a_i ∧ b_i."""

    name: str = "disjointness"
    title: str = "Set disjointness, two layers"
    statement: str = "a 2-layer Transformer of width O(log N) with two heads computes DISJ on every input"
    task_name: str = "sparse-threshold"
    serves: tuple[tuple[str, str], ...] = (("disjointness", "with [BOS] in front"),)
    minimum_length: int = 4

    def build(self, length: int, options: Options | None = None) -> Built:
        """Return the network for sparse-threshold with ``instance=disjointness``."""
        chosen = options or Options()
        parameters = {**chosen.parameters, "instance": "disjointness", "sparsity": 2}
        return super().build(length, replace(chosen, parameters=parameters))


CONSTRUCTION = DisjointnessConstruction()
