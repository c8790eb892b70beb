"""What a model is trained for and scored by: one loss and one count of right answers for each member.

Where answers are classes the loss is cross-entropy, as in BHBK24; where they are vectors (sparse averaging) it is the
mean squared error of the answer divided by the task's scale, and an answer is right when rounding it gives the exact
integers. Means are taken over what is asked, within each member; members never mix.
"""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.tasks import Task
from separatrix.training.batches import Batch


def losses(task: Task, length: int, outputs: Tensor, batch: Batch) -> Tensor:
    """Return the loss of each member: outputs (members, batch, reads, classes) give (members,)."""
    members = outputs.shape[0]
    asked = batch.asked.to(outputs.dtype if outputs.dtype == torch.float64 else torch.float32)
    if task.classes(length):
        flat = functional.cross_entropy(
            outputs.reshape(-1, outputs.shape[-1]).to(asked.dtype),
            batch.targets.expand(members, *batch.targets.shape[1:]).reshape(-1),
            reduction="none",
        ).view(members, *batch.asked.shape[1:])
    else:
        wanted = batch.targets.to(asked.dtype) / task.answer_scale
        flat = (outputs.to(asked.dtype) - wanted).square().mean(dim=-1)
    if batch.read is not None and batch.read.shape[-1] == 1:
        return flat.mean(dim=(1, 2))
    return (flat * asked).sum(dim=(1, 2)) / asked.sum(dim=(1, 2)).clamp(min=1)


def scores(task: Task, length: int, outputs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return right answers and questions of each member, int64 (members,), counted as the task's scoring says."""
    if task.classes(length):
        right = outputs.argmax(dim=-1) == batch.targets
    else:
        right = ((outputs * task.answer_scale).round() == batch.targets).all(dim=-1)
    asked = batch.asked.expand(right.shape)
    if task.scoring == "every position of a string":
        right = (right | ~asked).all(dim=-1, keepdim=True)
        asked = asked.any(dim=-1, keepdim=True)
    return (right & asked).sum(dim=(1, 2)), asked.sum(dim=(1, 2))
