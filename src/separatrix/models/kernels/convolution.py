"""SiLU of the short causal convolution: one kernel each way on a GPU, plain operations elsewhere.

The kernel is Triton's of this package or the CUDA one of causal-conv1d; ``available`` says which and when.
"""

from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.kernels.external import external_convolution, external_convolution_takes
from separatrix.models.scans.convolution import short_convolution


def convolve_silu(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu of :func:`separatrix.models.scans.convolution.short_convolution`; shapes as there."""
    if external_convolution_takes(x, weight):
        return external_convolution(x, weight, bias)
    if weight.shape[-1] != 4 or not kernel_takes(x):
        return functional.silu(short_convolution(x, weight, bias))
    from separatrix.models.kernels.gpu.convolution_function import ConvolveSilu
    from separatrix.models.kernels.gpu.launch import launched

    return launched(ConvolveSilu, x, weight, bias)
