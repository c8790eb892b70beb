"""Models for the tasks: what a task says about its cells and answers becomes the model's first and last layer."""

from collections.abc import Sequence

import numpy
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec, Place
from separatrix.models.inputs import Columns
from separatrix.models.sequence_model import SequenceModel, build_model
from separatrix.models.user_mixer import ROUNDING
from separatrix.tasks import NearestNeighbour, SparseAveraging, Task


def columns_of(task: Task, length: int) -> tuple[Columns, ...]:
    """Return how the cells of a task are read; empty where cells are tokens."""
    if isinstance(task, SparseAveraging):
        index = Columns("symbol", 1, first=1, size=length)
        named = Columns("symbol", task.sparsity, first=1, size=length)
        return (index, named, Columns("number", task.dimension, scale=float(task.resolution)))
    if isinstance(task, NearestNeighbour):
        kind, label = Columns("symbol", 1, size=2), Columns("symbol", 1, size=task.labels)
        return (kind, label, Columns("number", task.dimension, scale=float(task.scale) ** 0.5))
    features = task.features(length)
    return (Columns("number", features),) if features else ()


def outputs_of(task: Task, length: int) -> int:
    """Return how many numbers a model gives at a position: one for each class, or those of a vector answer.

    >>> from separatrix.tasks import tasks
    >>> outputs_of(tasks()["equality"], 8), outputs_of(tasks()["sparse-averaging"], 8)
    (2, 1)
    """
    classes = task.classes(length)
    if classes:
        return classes
    cell = numpy.ones((1, task.positions(length), task.features(length)), dtype=numpy.int64)
    return int(task.label(cell, length)[0].shape[-1])


CUTS = 64
"""Most places at which a trial changes what follows."""


def check_fit(spec: ModelSpec, task: Task, length: int) -> None:
    """Refuse a task that has no such length, a model that reads graphs where there are none, and one that looks ahead
    where the answers are.
    """
    task.check_length(length)
    graph = next((entry.short for entry in spec.entries if entry.reads_graphs), None)
    if graph is not None and task.features(length) != task.positions(length):
        raise SeparatrixError(
            f"{graph} reads rows of adjacency matrices, which {task.name} does not give; choose directed-3-cycle or "
            "undirected-5-cycle"
        )
    if task.answers_follow:
        _check_causal(spec, task, length)


def _check_causal(spec: ModelSpec, task: Task, length: int) -> None:
    """Refuse a model whose outputs depend on later positions: by what its layers say, and where one is a module of a
    user's own also by a trial at this length, since a module may look ahead only far behind the beginning."""
    positions, entries = task.positions(length), spec.entries
    ahead = [
        entry.short
        for layer, entry in enumerate(entries)
        if not entry.mixer(spec.width, spec.options_of(entry), 1, Place(layer, len(entries), positions)).causal
    ]
    if not ahead and any(":" in entry.name for entry in entries) and _looks_ahead(spec, task, length):
        ahead = [next(entry.short for entry in entries if ":" in entry.name)]
    if ahead:
        raise SeparatrixError(
            f"{spec} cannot be trained on {task.name}: its answers are in the input one place later, and {ahead[0]} "
            "looks ahead; choose a model in which no position sees a later one, such as one with mask=causal"
        )


@torch.no_grad()
def _looks_ahead(spec: ModelSpec, task: Task, length: int) -> bool:
    """Return whether an output moves when only what follows it is changed, at up to 64 places over the whole length."""
    positions, vocabulary = task.positions(length), task.vocabulary(length).size
    model = build_model(
        spec, vocabulary=vocabulary, classes=outputs_of(task, length), length=positions, seeds=[0]
    ).eval()
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(vocabulary, (1, 1, positions), generator=generator)
    expected = model(tokens)
    cuts = torch.linspace(1, positions - 1, min(CUTS, positions - 1)).round().long().unique()
    shift = torch.randint(1, vocabulary, (1, 1, positions), generator=generator)
    slack = ROUNDING * float(expected.abs().max())
    for cut in cuts.tolist():
        place = torch.arange(positions)
        found = model(torch.where(place >= cut, (tokens + shift) % vocabulary, tokens))
        if float((found - expected)[:, :, :cut].abs().max()) > slack:
            return True
    return False


def model_for_task(
    spec: ModelSpec,
    task: Task,
    length: int,
    seeds: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> SequenceModel:
    """Return one model for each seed, for inputs of this task up to length N."""
    check_fit(spec, task, length)
    return build_model(
        spec,
        vocabulary=task.vocabulary(length).size,
        classes=outputs_of(task, length),
        length=task.positions(length),
        columns=columns_of(task, length),
        seeds=seeds,
        dtype=dtype,
        device=device,
    )
