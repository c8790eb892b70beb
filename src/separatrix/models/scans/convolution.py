"""Causal convolutions: short depthwise ones as shifted sums, long ones by the fast Fourier transform.

The short one (4 taps in Mamba, Mamba-2 and gated DeltaNet) is four multiplications and additions of whole tensors.
The long one (DSS) pads to twice the length so that the circular convolution does not wrap around: time N log N, memory
about 4·N numbers for each sequence and channel.
"""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.bit_counts import bits_for
from separatrix.models.scans.exact import at_least_float32


def short_convolution(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """y_t[d] = Σ_j weight[d, j] x_{t-taps+1+j}[d] + bias[d], with x = 0 before the first position.

    x (members, batch, length, d), weight (members, d, taps), bias (members, d); the last tap is the present, as in
    ``torch.nn.Conv1d`` with padding on the left.

    >>> short_convolution(torch.tensor([1.0, 0.0, 2.0]).view(1, 1, 3, 1), torch.tensor([[[0.5, 1.0]]]), None).flatten()
    tensor([1.0000, 0.5000, 2.0000])
    """
    taps, length = weight.shape[-1], x.shape[2]
    padded = functional.pad(x, (0, 0, taps - 1, 0))
    weight = weight[:, None, None].to(x.dtype)
    total = x * weight[..., -1]
    if bias is not None:
        total = total + bias[:, None, None].to(x.dtype)
    for tap in range(taps - 1):
        total = torch.addcmul(total, padded[:, :, tap : tap + length], weight[..., tap])
    return total


def short_convolution_step(x: Tensor, window: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """Step by one position: x (members, batch, d) after window (members, batch, taps - 1, d); output and next
    window."""
    window = torch.cat([window, x.unsqueeze(2)], dim=2)
    output = (window * weight.transpose(1, 2).unsqueeze(1)).sum(2)
    return (output if bias is None else output + bias.unsqueeze(1)), window[:, :, 1:]


def long_convolution(x: Tensor, kernel: Tensor) -> Tensor:
    """y_t[d] = Σ_{s≤t} kernel[t-s, d] x_s[d]: x (members, batch, length, d), kernel (members, length, d).

    Computed in at least float32; returned in the type of x.
    """
    length = x.shape[2]
    exact = at_least_float32(x.dtype)
    size = fast_size(2 * length - 1)
    # The transform runs along the last axis, where the numbers of one channel must lie together.
    spectrum = torch.fft.rfft(x.to(exact).transpose(-1, -2), n=size)
    factor = torch.fft.rfft(kernel.to(exact).transpose(-1, -2), n=size).unsqueeze(1)
    result = torch.fft.irfft(spectrum * factor, n=size)[..., :length]
    return result.transpose(-1, -2).to(x.dtype)


def fast_size(least: int) -> int:
    """Return the smallest even number 2^a 3^b 5^c that is at least ``least``: the sizes at which the transform is fast.

    >>> fast_size(199), fast_size(799), fast_size(8191)
    (200, 800, 8192)
    """
    best = 1 << max(1, bits_for(least))
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-least // three)
            best = min(best, three << max(1, bits_for(rest)))
            three *= 3
        five *= 5
    return best
