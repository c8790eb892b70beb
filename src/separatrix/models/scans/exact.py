"""Precision by hand: where a product must not be rounded to bfloat16, and where numbers may be."""

import torch
from torch import Tensor


def exactly(tensor: Tensor) -> torch.autocast:
    """Return a context in which products keep the type of their factors, whatever autocast is in force outside."""
    return torch.autocast(tensor.device.type, enabled=False)


def rounded(tensor: Tensor) -> Tensor:
    """Return the tensor in the type that autocast gives to the factors of products; itself where none is in force."""
    kind = tensor.device.type
    return tensor.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else tensor


def at_least_float32(dtype: torch.dtype) -> torch.dtype:
    """Return the type for sums of many numbers: float32 for halves, else the type itself.

    >>> at_least_float32(torch.bfloat16), at_least_float32(torch.float64)
    (torch.float32, torch.float64)
    """
    return torch.promote_types(dtype, torch.float32)
