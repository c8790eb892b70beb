"""The Triton kernels of a causal convolution as long as the sequence, by its sum; formulas in ``long_convolution``.

N² / 2 multiplications for each sequence and channel, but in registers: a program keeps SPAN outputs of ROWS sequences
and walks over the inputs in groups of SPAN, so that every number loaded is used many times. For a few hundred positions
that takes less time than the passes over memory of a Fourier transform.
"""

# Types are Triton's own; its functions are compiled, not run.
# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: ANN001, ANN201, ANN202, RUF005

import triton
import triton.language as tl


@triton.jit
def _rows(pointer, position, kept, length, stride):
    """One position of all rows of the block, 0 outside the sequence: (ROWS, BLOCK) in float32."""
    mask = kept & (position >= 0) & (position < length)
    return tl.load(pointer + position * stride, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def convolution_kernel(
    x, kernel, output, batch, length, channels, x_row, x_stride,
    REVERSED: tl.constexpr, SPAN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """output_t = Σ_{s≤t} kernel_{t-s} x_s, or Σ_{s≥t} kernel_{s-t} x_s if REVERSED; output contiguous."""
    blocks = tl.cdiv(batch, ROWS)
    member = (tl.program_id(0) // blocks).to(tl.int64)
    row = (tl.program_id(0) % blocks) * ROWS + tl.arange(0, ROWS)
    channel = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    kept = (row < batch)[:, None] & (channel < channels)[None, :]
    first = tl.program_id(1) * SPAN
    x += (member * batch + row[:, None]) * x_row + channel[None, :]
    output += (member * batch + row[:, None]) * length * channels + channel[None, :]
    kernel += member * length * channels + channel
    sums = ()
    for _ in tl.static_range(SPAN):
        sums = sums + (tl.zeros((ROWS, BLOCK), dtype=tl.float32),)
    start = first if REVERSED else 0
    end = length if REVERSED else first + 1
    while start < end:
        values, factors = (), ()
        for offset in tl.static_range(SPAN):
            values = values + (_rows(x, start + offset, kept, length, x_stride),)
        lag = start - first if REVERSED else first - start
        for offset in tl.static_range(1 - SPAN, SPAN):
            inside = (lag + offset >= 0) & (lag + offset < length) & (channel < channels)
            factors = factors + (tl.load(kernel + (lag + offset) * channels, mask=inside, other=0.0)[None, :],)
        added = ()
        for place in tl.static_range(SPAN):
            total = sums[place]
            for offset in tl.static_range(SPAN):
                if REVERSED:
                    total += factors[offset - place + SPAN - 1] * values[offset]
                else:
                    total += factors[place - offset + SPAN - 1] * values[offset]
            added = added + (total,)
        sums = added
        start += SPAN
    for place in tl.static_range(SPAN):
        tl.store(output + (first + place) * channels, sums[place], mask=kept & (first + place < length))


@triton.jit
def kernel_gradient_kernel(
    x, gradient, to_kernel, batch, length, channels, x_row, x_stride,
    SPAN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """to_kernel_l = Σ_rows Σ_t gradient_t x_{t-l}: (member, part, lag, channel), a part for each block of rows."""
    blocks = tl.cdiv(batch, ROWS)
    member = (tl.program_id(0) // blocks).to(tl.int64)
    row = (tl.program_id(0) % blocks) * ROWS + tl.arange(0, ROWS)
    channel = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    kept = (row < batch)[:, None] & (channel < channels)[None, :]
    lag = tl.program_id(1) * SPAN
    x += (member * batch + row[:, None]) * x_row + channel[None, :]
    gradient += (member * batch + row[:, None]) * length * channels + channel[None, :]
    to_kernel += tl.program_id(0).to(tl.int64) * length * channels + channel
    sums = ()
    for _ in tl.static_range(SPAN):
        sums = sums + (tl.zeros((ROWS, BLOCK), dtype=tl.float32),)
    start = lag
    while start < length:
        slopes, values = (), ()
        for offset in tl.static_range(SPAN):
            slopes = slopes + (_rows(gradient, start + offset, kept, length, channels),)
        for offset in tl.static_range(1 - SPAN, SPAN):
            values = values + (_rows(x, start - lag + offset, kept, length, x_stride),)
        added = ()
        for place in tl.static_range(SPAN):
            total = sums[place]
            for offset in tl.static_range(SPAN):
                total += slopes[offset] * values[offset - place + SPAN - 1]
            added = added + (total,)
        sums = added
        start += SPAN
    for place in tl.static_range(SPAN):
        inside = (channel < channels) & (lag + place < length)
        tl.store(to_kernel + (lag + place) * channels, tl.sum(sums[place], axis=0), mask=inside)
