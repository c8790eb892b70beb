"""The attention matrices of a run over its training, on one fixed input (SHT23, "Empirical solution").

The slides show softmax((φ(X)W_Q)(φ(X)W_K)ᵀ) for the same X after 0, 1000 and 40000 steps of training on sparse
averaging: at the start every query looks everywhere, at the end each looks at the q cells that it names. Next to the
matrices is one number that the slides do not have: the share of its weight that a query gives to the cells it
names, averaged over queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import torch

from separatrix.errors import SeparatrixError
from separatrix.models import SequenceModel, attention_weights, fill
from separatrix.tasks import SparseAveraging
from separatrix.training.batches import derived_seed, draw
from separatrix.training.checkpoints import read_weights
from separatrix.training.record import Record
from separatrix.training.run_source import RunSource
from separatrix.training.trained import untrained_model

FIXED_INPUT = 0
"""The number of the fixed input; another one draws another X."""


@dataclass(frozen=True)
class AttentionMap:
    """After ``step`` steps: the matrix (N, N), mean over heads, rows are queries; and the weight on named cells."""

    step: int
    matrix: numpy.ndarray
    share: float


@dataclass(frozen=True)
class AttentionMaps:
    """The matrices of one run, and which cells each query names, bool (N, N)."""

    run: str
    named: numpy.ndarray
    maps: tuple[AttentionMap, ...]

    @property
    def chance(self) -> float:
        """The share of weight on named cells if a query looked at all cells alike."""
        return float(self.named.mean())


def attention_maps(record: Record, source: RunSource) -> AttentionMaps:
    """Return the matrices at all steps whose weights the run kept; raises where it kept none or names no cells."""
    spec, task = record.spec, record.spec.the_task()
    if not isinstance(task, SparseAveraging):
        raise SeparatrixError(f"{task.name} has no cells that a query names; attention is shown for sparse-averaging")
    kept = source.snapshots(spec.name)
    if not kept:
        raise SeparatrixError(f"run {spec.name} kept no weights; its description needs snapshots such as [0, 1000]")
    device = torch.device("cpu")
    seed = derived_seed(spec.seed, "attention", FIXED_INPUT)
    inputs = draw(task, spec.length, 1, seed, device, "eval").inputs
    named = numpy.zeros((spec.length, spec.length), dtype=bool)
    sets = numpy.asarray(inputs[0, :, 1 : 1 + task.sparsity]) - 1
    numpy.put_along_axis(named, sets, True, axis=1)
    model = untrained_model(spec)
    maps = tuple(_map(model, step, read_weights(path, spec.name), inputs, named) for step, path in sorted(kept.items()))
    return AttentionMaps(spec.name, named, maps)


def _map(
    model: SequenceModel, step: int, weights: dict[str, torch.Tensor], inputs: torch.Tensor, named: numpy.ndarray
) -> AttentionMap:
    fill(model, weights)
    matrix = attention_weights(model, inputs.unsqueeze(0))[0, 0].mean(dim=0).double().numpy()
    return AttentionMap(step, matrix, float((matrix * named).sum(axis=1).mean()))


def best_run(records: Sequence[Record], source: RunSource) -> Record | None:
    """Return the most accurate of the runs that kept weights at the most steps; None where none kept any."""
    keeping = [record for record in records if source.snapshots(record.spec.name)]
    key = lambda each: (-len(source.snapshots(each.spec.name)), -each.result.accuracy, each.result.loss)  # noqa: E731
    return min(keeping, key=key, default=None)
