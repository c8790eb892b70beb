"""A causal convolution as long as the sequence: short ones by their sum on a GPU, others by the Fourier transform."""

from torch import Tensor

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.scans.convolution import long_convolution

# Up to here N² / 2 products in registers cost less than the transform's passes over memory (measured on an H200: 0.50
# against 0.89 ms forward and back at N = 400, 64 sequences, 256 channels; one grows with N², the other with N).
LONGEST_SUM = 512


def causal_convolution(x: Tensor, kernel: Tensor) -> Tensor:
    """y_t[d] = Σ_{s≤t} kernel[t-s, d] x_s[d]: x (members, batch, length, d), kernel (members, length, d)."""
    if x.shape[2] > LONGEST_SUM or not kernel_takes(x):
        return long_convolution(x, kernel)
    from separatrix.models.kernels.gpu.launch import launched
    from separatrix.models.kernels.gpu.long_convolution_function import LongConvolution

    return launched(LongConvolution, x, kernel)
