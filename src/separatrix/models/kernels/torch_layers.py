"""torch's own recurrent layers, one member after the other: oneDNN's on a CPU, cuDNN's on a GPU.

They take all positions in one call, which no loop of ours over time comes near, but only one member: with many members
the scans of ``scans.gated`` win on a GPU, where a step of all members costs what a step of one does. float64 is left to
the scans, which are their oracle, and so are products rounded by autocast on a CPU. On a GPU autocast changes nothing
here: the layers run in float32, whose products cuDNN rounds as ``torch.backends.cudnn.allow_tf32`` says, as it does for
``torch.nn.LSTM``.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from separatrix.models.kernels.available import chosen_kernels, interpreted, on_gpu
from separatrix.models.kernels.lstm import lstm_fits
from separatrix.models.scans.exact import at_least_float32, exactly

Layer: TypeAlias = Literal["lstm", "gru", "rnn_tanh"]
"""torch's names of its functions."""
Weights: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]
"""Of the input (members, gates·m, width) and of the state (members, gates·m, m), and a bias (members, gates·m) each."""

ON_CPU = ("lstm",)
"""Layers for which oneDNN has more than a loop over time; torch's GRU and RNN are slower on a CPU than our scans."""
MOST_MEMBERS = 8
"""With more members a GPU takes them faster together."""


def torch_layer_fits(x: Tensor, layer: Layer) -> bool:
    """Return whether torch's own layer is the fastest for x (members, batch, length, width) and as exact as is
    asked."""
    if x.dtype == torch.float64 or interpreted() or chosen_kernels() == "plain" or min(x.shape) == 0:
        return False
    if on_gpu(x):
        ours = layer == "lstm" and lstm_fits(x, x.shape[-1])
        return x.shape[0] <= MOST_MEMBERS and not ours
    exact = x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return x.device.type == "cpu" and exact and layer in ON_CPU and torch.backends.mkldnn.is_available()


def torch_layer_states(layer: Layer, x: Tensor, weights: Weights) -> Tensor:
    """Return hidden states (members, batch, length, m) of a layer that starts at zero, in the type of x.

    x (members, batch, length, width), of at least one member.
    """
    kind = at_least_float32(x.dtype)
    run = getattr(torch, layer)
    outputs: list[Tensor] = []
    with exactly(x), _about_scattered_weights_silent(x):
        start = x.new_zeros(1, x.shape[1], weights[1].shape[-1], dtype=kind)
        state = (start, start) if layer == "lstm" else start
        # Taken apart all at once: the gradient of one row alone would be a whole tensor of zeros around it.
        for cells, *own in zip(x.to(kind).unbind(), *(each.to(kind).unbind() for each in weights), strict=True):
            # With biases, one layer, no dropout, in training mode (there are no derivatives in the other), one
            # direction, batch first.
            outputs.append(run(cells, state, own, True, 1, 0.0, True, False, True)[0])
    found = outputs[0].unsqueeze(0) if len(outputs) == 1 else torch.stack(outputs)
    return found.to(x.dtype)


@contextmanager
def _about_scattered_weights_silent(x: Tensor) -> Iterator[None]:
    """Silence cuDNN's warning: members lie side by side, so the weights of one are not one block of memory."""
    if not on_gpu(x):
        # Filters of warnings belong to all threads: they are touched only where something is to be filtered.
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
        yield
