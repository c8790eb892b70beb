"""Precision by hand: where a product must not be rounded to bfloat16, and where numbers may be."""

import torch
from torch import Tensor


def exactly(tensor: Tensor) -> torch.autocast:
    """A context in which products keep the type of their factors, whatever autocast is in force outside."""
    return torch.autocast(tensor.device.type, enabled=False)


def rounded(tensor: Tensor) -> Tensor:
    """The tensor in the type that autocast gives to the factors of products; itself where none is in force."""
    kind = tensor.device.type
    return tensor.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else tensor
