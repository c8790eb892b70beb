"""SiLU of the short causal convolution: one Triton kernel each way on a GPU, plain operations elsewhere."""

from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.scans.convolution import short_convolution


def convolve_silu(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu of :func:`separatrix.models.scans.convolution.short_convolution`; shapes as there."""
    if weight.shape[-1] != 4 or not kernel_takes(x):
        return functional.silu(short_convolution(x, weight, bias))
    from separatrix.models.kernels.gpu.convolution_function import ConvolveSilu

    result = ConvolveSilu.apply(x, weight, bias)
    assert isinstance(result, Tensor)
    return result
