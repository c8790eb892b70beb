"""Whether a Triton kernel can take a tensor."""

import os
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return find_spec("triton") is not None


def kernel_takes(tensor: Tensor) -> bool:
    """Whether the Triton kernels take this tensor: on a GPU, or under Triton's interpreter, and not in float64."""
    if tensor.dtype == torch.float64 or not has_triton():
        return False
    return tensor.is_cuda or interpreted()


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter."""
    return os.environ.get("TRITON_INTERPRET") == "1"
