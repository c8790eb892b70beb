"""Small models that looked-up symbols were trained into, and every input of theirs."""

import itertools
from functools import cache

import numpy
import torch
from torch.nn import functional

from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.tasks import draws_from, tasks


@cache
def trained(alphabet: int, length: int, steps: int, architecture: str = "TF-(1,8)", seed: int = 0) -> SequenceModel:
    """A model after so many steps of Adam on lookups; the same one for the same arguments, so copy before a change."""
    task = tasks()["index-lookup"].with_parameters(alphabet=alphabet)
    model = model_for_task(parse_spec(architecture), task, length, seeds=[seed])
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs = torch.from_numpy(task.sample(draws_from(seed), 64 * steps, length, "eval").inputs)
    for batch in inputs.view(steps, 64, -1):
        read = torch.full((1, 64, 1), length)
        answers = batch.gather(1, batch[:, -1:] - alphabet)[:, 0]
        loss = functional.cross_entropy(model(batch[None], read=read)[0, :, 0], answers)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model.eval()


def every_input(alphabet: int, length: int) -> torch.Tensor:
    """All inputs: texts, each with all questions."""
    texts = itertools.product(range(alphabet), repeat=length)
    return torch.tensor([[*text, alphabet + p] for text in texts for p in range(length)])


@torch.no_grad()
def failing(model: SequenceModel, alphabet: int, inputs: torch.Tensor) -> set[tuple[int, ...]]:
    """The inputs that the model answers wrongly or without a single largest logit."""
    length = inputs.shape[1] - 1
    logits = model(inputs[None], read=torch.full((1, len(inputs), 1), length))[0, :, 0]
    answers = inputs.gather(1, inputs[:, -1:] - alphabet)
    own = logits.gather(1, answers)
    rest = logits.scatter(1, answers, -numpy.inf).amax(dim=1, keepdim=True)
    return {tuple(row) for row in inputs[(own <= rest)[:, 0]].tolist()}


def pair_of(row: tuple[int, ...], alphabet: int) -> tuple[int, int]:
    """The asked place and the symbol there."""
    return row[-1] - alphabet, row[row[-1] - alphabet]
