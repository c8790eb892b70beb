"""torch's own recurrent layers, one member after the other: oneDNN's on a CPU, cuDNN's on a GPU.

They take all positions in one call, which no loop of ours over time comes near, but only one member: with many members
the scans of ``recurrences`` win on a GPU, where a step of all members costs what a step of one does. float64 is left to
the scans, which are their oracle. cuDNN rounds products as ``torch.backends.cudnn.allow_tf32`` says, as it does for
``torch.nn.LSTM``.
"""

import warnings
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from separatrix.models.kernels.available import chosen_kernels, interpreted

Layer: TypeAlias = Literal["lstm", "gru", "rnn_tanh"]

ON_CPU = ("lstm",)
"""Layers for which a CPU has more than a loop over time; torch's GRU and RNN are slower there than our scans."""
MOST_MEMBERS = 8
"""From more members on a GPU takes them faster together."""


def vendor_takes(x: Tensor, layer: Layer) -> bool:
    """Whether torch's own layer is the fastest for x (members, batch, length, width) and as exact as is asked."""
    if x.dtype == torch.float64 or interpreted() or chosen_kernels() == "plain" or min(x.shape) == 0:
        return False
    if x.device.type == "cuda":
        return x.shape[0] <= MOST_MEMBERS
    return x.device.type == "cpu" and layer in ON_CPU and x.dtype == torch.float32 and not _rounds_products(x)


def vendor_states(layer: Layer, x: Tensor, weights: tuple[Tensor, Tensor, Tensor, Tensor]) -> Tensor:
    """Hidden states (members, batch, length, m) of a layer that starts at zero, in the type of x.

    weights: to the input, to the state, and both biases, in torch's layout behind the members.
    """
    kind = torch.promote_types(x.dtype, torch.float32)
    run = getattr(torch, layer)
    outputs: list[Tensor] = []
    with torch.autocast(x.device.type, enabled=False), warnings.catch_warnings():
        # Members lie side by side, so the weights of one are not the one block of memory that cuDNN would like.
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
        start = x.new_zeros(1, x.shape[1], weights[1].shape[-1], dtype=kind)
        state = (start, start) if layer == "lstm" else start
        # Taken apart all at once: the gradient of one row alone would be a whole tensor of zeros around it.
        for cells, *own in zip(x.to(kind).unbind(), *(each.to(kind).unbind() for each in weights), strict=True):
            outputs.append(run(cells, state, own, True, 1, 0.0, True, False, True)[0])
    found = outputs[0].unsqueeze(0) if len(outputs) == 1 else torch.stack(outputs)
    return found.to(x.dtype)


def _rounds_products(x: Tensor) -> bool:
    return torch.is_autocast_enabled(x.device.type)
