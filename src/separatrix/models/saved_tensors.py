"""What of a model is kept in files: its parameters, and the buffers that torch would save (the persistent ones).

Built-in layers have no such buffers; a module of a user may, such as running statistics. Every tensor has the members
in front. Tables that are not persistent are made again by the constructor.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.models.sequence_model import SequenceModel


def kept_buffers(model: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that are kept, by name, (members, …) each; the tensors themselves, not copies."""
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return {name: each for name, each in model.state_dict(keep_vars=True).items() if name not in parameters}


def kept_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return everything that is kept, by name, (members, …) each; the tensors themselves, not copies."""
    return {**dict(model.named_parameters()), **kept_buffers(model)}


@torch.no_grad()
def fill(model: "SequenceModel", kept: Mapping[str, Tensor]) -> None:
    """Give a model of one member what was kept of a member, by name."""
    for name, mine in kept_tensors(model).items():
        if name not in kept or kept[name].shape != mine.shape[1:]:
            raise SeparatrixError(f"the weights do not fit {model.spec}: {name} is missing or of another shape")
        mine[0].copy_(kept[name])
