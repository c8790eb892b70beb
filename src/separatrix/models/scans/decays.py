"""Decays e^x of exponents x ≤ 0, as the scans need them: 0 where a decay is below twice the smallest normal number.

Processors take ten to thirty times as long for an exponential that underflows as for another one. The sum over the
past of one position has little else in it once the input is long, so that it would cost more than a scan of all
positions. Hence exponents are cut off before the exponential, at -87 in float32 and -708 in float64, and what was cut
off is set to 0 behind it, which is right to less than a few of the smallest normal numbers; so is the derivative. A
GPU knows no such difference, and its exponentials stay as they are.
"""

import math
from typing import Any

import torch
from torch import Tensor


def floor_of(dtype: torch.dtype) -> float:
    """Return the exponent below which a decay counts as 0: the smallest whole number whose exponential is a normal
    number.

    >>> floor_of(torch.float32), floor_of(torch.float64)
    (-87.0, -708.0)
    """
    return float(math.ceil(math.log(torch.finfo(dtype).tiny)))


def raise_in_place(exponent: Tensor) -> Tensor:
    """Return the exponent's decays, written over it; for a tensor that nobody else holds, without derivatives."""
    return exponent.exp_() if exponent.is_cuda else _raised(exponent.clamp_min_(floor_of(exponent.dtype)))


def decays(exponent: Tensor) -> Tensor:
    """e^x of every number of a tensor, of any shape, all at most 0.

    >>> decays(torch.tensor([0.0, -1.0, -86.0, -88.0, -1000.0]))
    tensor([1.0000e+00, 3.6788e-01, 4.4738e-38, 0.0000e+00, 0.0000e+00])
    """
    if exponent.is_cuda:
        return torch.exp(exponent)
    result = _Decays.apply(exponent)
    assert isinstance(result, Tensor)
    return result


def _raised(cut_off: Tensor) -> Tensor:
    """Return the exponential of exponents that are not below the floor, in place, with 0 for those at the floor."""
    return torch.threshold_(cut_off.exp_(), 2.0 * torch.finfo(cut_off.dtype).tiny, 0.0)


class _Decays(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, exponent: Tensor) -> Tensor:
        result = _raised(exponent.clamp_min(floor_of(exponent.dtype)))
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (result,) = ctx.saved_tensors
        return gradients[0] * result
