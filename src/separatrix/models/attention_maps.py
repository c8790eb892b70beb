"""What a trained model attends to: the attention weights of a layer on given inputs, for figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.saved_tensors import fill
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.tasks import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray


def attention_weights(model: SequenceModel, inputs: Tensor, layer: int = 0) -> Tensor:
    """Return the weights (members, batch, heads, queries, keys); those of each query sum to 1.

    inputs (members, batch, length) tokens or (members, batch, length, features), unpadded. Memory grows with the square
    of the length. Raises where the layer has no attention weights.
    """
    if not 0 <= layer < model.spec.depth:
        raise SeparatrixError(f"layer {layer} is not there; {model.spec} has layers 0 to {model.spec.depth - 1}")
    found = model.attention_weights(inputs, layers=[layer])
    if layer not in found:
        raise SeparatrixError(
            f"layer {layer} of {model.spec} has no attention weights; choose a model such as TF-(1,64)"
        )
    return found[layer]


def attention_of_kept_weights(
    spec: ModelSpec, task: Task, length: int, kept: Mapping[str, Tensor], cells: "NDArray[Any]", layer: int = 0
) -> "NDArray[Any]":
    """Return the weights (heads, queries, keys) of a model with these parameters on one input, in float64.

    ``kept`` is what was kept of one member by name, ``cells`` one input (positions,) or (positions, features).
    """
    model = model_for_task(spec, task, length, [0]).eval()
    fill(model, kept)
    return attention_weights(model, torch.from_numpy(cells)[None, None], layer)[0, 0].double().numpy()
