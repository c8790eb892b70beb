"""A trained model asked again: at its own length or another, position by position.

Inputs of another length are drawn as the task draws them there, and their tokens are those that the model knows: a
token is found by its text, because the number of a position or of the padding may depend on the length. What a model
cannot be asked (a token that it never had an embedding for, more positions than it has vectors for) is refused.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models import SequenceModel, outputs_of
from separatrix.tasks import Task
from separatrix.training.batches import Batch, data_source, derived_seed
from separatrix.training.objective import losses, scores
from separatrix.training.record import Record
from separatrix.training.trained import trained_model

ROWS = 256


@dataclass(frozen=True)
class AtPosition:
    """The answers at one position, counted from 1: how many were asked, the share that was right, the mean loss."""

    position: int
    asked: int
    accuracy: float
    loss: float


@dataclass(frozen=True)
class Evaluation:
    """Accuracy, as the task scores it, and mean loss on fresh examples of exactly a length; and at each position."""

    length: int
    examples: int
    accuracy: float
    loss: float
    by_position: tuple[AtPosition, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return asdict(self)


def evaluate_run(
    record: Record,
    files: Path,
    length: int | None = None,
    *,
    examples: int = 5000,
    seed: int = 0,
    trusted: Collection[str] = (),
) -> Evaluation:
    """Return the model of a finished run on fresh examples, of its own length if none is given; as
    :func:`trained_model`."""
    model = trained_model(record, files, trusted)
    chosen = record.spec.length if length is None else length
    return evaluate(model, record.spec.the_task(), record.spec.length, chosen, examples=examples, seed=seed)


@torch.no_grad()
def evaluate(
    model: SequenceModel, task: Task, trained: int, length: int, *, examples: int = 5000, seed: int = 0
) -> Evaluation:
    """Return a model of one member that was made for ``trained`` symbols, on fresh examples of exactly ``length``."""
    if examples < 1:
        raise SeparatrixError(f"examples={examples} must be at least 1")
    task.check_length(length)
    tokens = _known_tokens(task, trained, length)
    if outputs_of(task, length) > outputs_of(task, trained):
        raise SeparatrixError(
            f"{task.name} has {outputs_of(task, length)} answers at length {length}, and the model gives "
            f"{outputs_of(task, trained)}; choose a length of at most {trained}"
        )
    device = next(model.parameters()).device
    data = data_source(task, length, 1, device)
    positions = task.positions(length)
    sums = torch.zeros(3, positions, dtype=torch.float64)
    right = asked = 0
    for number in range(0, examples, ROWS):
        count = min(ROWS, examples - number)
        batch = data.evaluation([derived_seed(seed, "evaluate", number)], count, "evaluation", 0)
        inputs = batch.inputs if tokens is None else tokens.to(device)[batch.inputs]
        outputs = model(inputs, read=batch.read, lengths=batch.lengths)
        found = scores(task, length, outputs, batch)
        right, asked = right + int(found[0]), asked + int(found[1])
        sums += _by_position(task, length, outputs, batch, positions).cpu()
    places = tuple(
        AtPosition(place + 1, int(sums[0, place]), *(sums[1:, place] / sums[0, place]).tolist())
        for place in range(positions)
        if sums[0, place]
    )
    return Evaluation(length, examples, right / max(asked, 1), float(sums[2].sum() / sums[0].sum()), places)


def _by_position(task: Task, length: int, outputs: Tensor, batch: Batch, positions: int) -> Tensor:
    """(3, positions): answers asked, right ones, and the sum of their losses."""
    rows = outputs.shape[1] * outputs.shape[2]
    # Every answer as an example of its own: what is counted and lost is then said in one place, ``objective``.
    alone = Batch(
        batch.inputs,
        batch.targets.reshape(rows, 1, 1, *batch.targets.shape[3:]),
        batch.asked.reshape(rows, 1, 1),
        None,
        None,
    )
    single = outputs.reshape(rows, 1, 1, outputs.shape[-1])
    right, asked = scores(task, length, single, alone)
    lost = losses(task, length, single, alone)
    read = (
        torch.arange(positions, device=outputs.device).expand(outputs.shape[1], -1)
        if batch.read is None
        else batch.read
    )
    found = torch.zeros(3, positions, dtype=torch.float64, device=outputs.device)
    return found.index_add_(1, read.reshape(-1), torch.stack([asked.double(), right.double(), lost.double() * asked]))


def _known_tokens(task: Task, trained: int, length: int) -> Tensor | None:
    """Return the token of the model for each token at another length; None where cells are numbers or all are the
    same."""
    if task.features(length) or length == trained:
        return None
    own, other = task.vocabulary(trained), task.vocabulary(length)
    known = {own.write(token): token for token in range(own.size)}
    missing = [text for text in map(other.write, range(other.size)) if text not in known]
    if missing:
        raise SeparatrixError(
            f"{task.name} at length {length} has the token {missing[0]!r}, for which a model of length {trained} has "
            f"no embedding; choose a length of at most {trained}"
        )
    return torch.tensor([known[other.write(token)] for token in range(other.size)])
