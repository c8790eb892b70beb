"""Which kernels run: this package's in Triton, those of mamba-ssm and causal-conv1d, torch's layers, or none at all.

The environment variable ``SEPARATRIX_KERNELS`` chooses for a whole process:

- ``auto``, as if it were not set: on a GPU Triton's where Triton is installed, else plain operations. Their backward
  passes add up in a fixed order, so that a run that was stopped and resumed ends bit for bit as an undisturbed one;
  those of mamba-ssm add up atomically and do not. Where nothing is differentiated and there are too few sequences to
  fill a GPU one after the other, the selective scan is that of mamba-ssm if it is installed: it is parallel in time.
- ``triton``: never those of other packages.
- ``mamba-ssm``: the selective scan of mamba-ssm and the short convolution of causal-conv1d wherever they fit (see
  ``external``), Triton's for the rest. A package that is missing is an error.
- ``plain``: no kernel at all, to hold one against the other.

All but ``plain`` leave few members of an LSTM, GRU or RNN to torch's own layers where those are the fastest (see
``torch_layers``). Nothing takes float64 but the plain operations. Off a GPU they are all there is, but for torch's LSTM
and for Triton's interpreter.
"""

import os
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from separatrix.errors import UnknownNameError

VARIABLE = "SEPARATRIX_KERNELS"
CHOICES = ("auto", "triton", "mamba-ssm", "plain")


@cache
def has_triton() -> bool:
    """Return whether Triton is installed."""
    return find_spec("triton") is not None


def chosen_kernels() -> str:
    """Return the choice of this process, one of ``CHOICES``."""
    choice = os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise UnknownNameError(f"choice of {VARIABLE}", choice, CHOICES)
    return choice


def kernel_takes(tensor: Tensor) -> bool:
    """Return whether the Triton kernels take this tensor: on a GPU, or under Triton's interpreter, and not in
    float64."""
    if tensor.dtype == torch.float64 or not has_triton() or chosen_kernels() == "plain":
        return False
    return on_gpu(tensor) or interpreted()


def on_gpu(tensor: Tensor) -> bool:
    """Return whether the tensor lies on a GPU."""
    return tensor.is_cuda


def interpreted() -> bool:
    """Return whether Triton runs kernels in its interpreter."""
    return os.environ.get("TRITON_INTERPRET") == "1"
