"""SiLU of the short causal convolution."""

from torch import Tensor
from torch.nn import functional

from separatrix.models.scans.convolution import short_convolution


def convolve_silu(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu of :func:`separatrix.models.scans.convolution.short_convolution`; shapes as there."""
    return functional.silu(short_convolution(x, weight, bias))
