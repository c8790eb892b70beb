"""The Triton kernels of silu(short causal convolution), forward and backward; shapes in ``convolution``.

Four taps. Going forward a program takes a tile of positions and channels of one sequence; going back it walks over a
segment of positions and computes what stood before the silu again, so nothing but the input is kept. Sums for weights
and bias are written for each segment and added up afterwards in a fixed order.
"""

# Types are Triton's own; its functions are compiled, not run.
# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: ANN001, ANN201, ANN202, RUF005

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp2(-x * LOG2E))


@triton.jit
def _row(x, position, channel, kept, length, stride):
    """x at a column of positions, 0 outside the sequence."""
    inside = (position >= 0) & (position < length)
    return tl.load(x + position[:, None] * stride + channel[None, :], mask=inside[:, None] & kept[None, :], other=0.0)


@triton.jit
def forward_kernel(
    x, weight, bias, output, batch, length, channels, x_row, x_stride,
    BIASED: tl.constexpr, TAPS: tl.constexpr, POSITIONS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """output (row, position, channel) contiguous; weight (member, tap, channel)."""
    row = tl.program_id(0).to(tl.int64)
    member = row // batch
    position = tl.program_id(1) * POSITIONS + tl.arange(0, POSITIONS)
    channel = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    kept = channel < channels
    x += row * x_row
    total = tl.zeros((POSITIONS, BLOCK), dtype=tl.float32)
    if BIASED:
        total += tl.load(bias + member * channels + channel, mask=kept, other=0.0).to(tl.float32)[None, :]
    for tap in tl.static_range(TAPS):
        factor = tl.load(weight + (member * TAPS + tap) * channels + channel, mask=kept, other=0.0).to(tl.float32)
        value = _row(x, position + (tap - TAPS + 1), channel, kept, length, x_stride).to(tl.float32)
        total += factor[None, :] * value
    place = output + (row * length + position[:, None]) * channels + channel[None, :]
    tl.store(place, total * _sigmoid(total), mask=(position < length)[:, None] & kept[None, :])


@triton.jit
def _at(pointer, position, kept, length, stride):
    """A row of channels as float32, 0 outside the sequence."""
    mask = kept & (position >= 0) & (position < length)
    return tl.load(pointer + position * stride, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def backward_kernel(
    x, weight, bias, gradient, to_x, to_weight, to_bias, batch, length, channels, x_row, x_stride,
    BIASED: tl.constexpr, SEGMENT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """gradient, to_x (row, position, channel) contiguous; to_weight (row, segment, 4, channel), to_bias without the 4.

    Walks over a segment of positions and three more, with the last inputs and the last derivatives before the silu in
    registers: x_t gets its derivative from the outputs t to t + 3.
    """
    row = tl.program_id(0).to(tl.int64)
    member = row // batch
    start = tl.program_id(1) * SEGMENT
    channel = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    kept = channel < channels
    x += row * x_row + channel
    gradient += row * length * channels + channel
    to_x += row * length * channels + channel
    weight += member * 4 * channels + channel
    w0 = tl.load(weight, mask=kept, other=0.0).to(tl.float32)
    w1 = tl.load(weight + channels, mask=kept, other=0.0).to(tl.float32)
    w2 = tl.load(weight + 2 * channels, mask=kept, other=0.0).to(tl.float32)
    w3 = tl.load(weight + 3 * channels, mask=kept, other=0.0).to(tl.float32)
    shift = tl.zeros((BLOCK,), dtype=tl.float32)
    if BIASED:
        shift += tl.load(bias + member * channels + channel, mask=kept, other=0.0).to(tl.float32)
    x3 = _at(x, start - 3, kept, length, x_stride)
    x2 = _at(x, start - 2, kept, length, x_stride)
    x1 = _at(x, start - 1, kept, length, x_stride)
    zero = tl.zeros((BLOCK,), dtype=tl.float32)
    d3, d2, d1 = zero, zero, zero
    s0, s1, s2, s3, sb = zero, zero, zero, zero, zero
    first = start
    while first < start + SEGMENT + 3:
        values, slopes = (), ()
        for offset in tl.static_range(4):
            values = values + (_at(x, first + offset, kept, length, x_stride),)
            slopes = slopes + (_at(gradient, first + offset, kept, length, channels),)
        for offset in tl.static_range(4):
            position = first + offset
            x0 = values[offset]
            total = shift + w0 * x3 + w1 * x2 + w2 * x1 + w3 * x0
            share = _sigmoid(total)
            d0 = slopes[offset] * share * (1.0 + total * (1.0 - share))
            own = tl.where(position < start + SEGMENT, d0, 0.0)
            s0 += own * x3
            s1 += own * x2
            s2 += own * x1
            s3 += own * x0
            sb += own
            result = w3 * d3 + w2 * d2 + w1 * d1 + w0 * d0
            done = position - 3
            tl.store(to_x + done * channels, result, mask=kept & (done >= start) & (done < length))
            x3, x2, x1 = x2, x1, x0
            d3, d2, d1 = d2, d1, d0
        first += 4
    tile = row * tl.num_programs(1) + tl.program_id(1)
    to_weight += tile * 4 * channels + channel
    tl.store(to_weight, s0, mask=kept)
    tl.store(to_weight + channels, s1, mask=kept)
    tl.store(to_weight + 2 * channels, s2, mask=kept)
    tl.store(to_weight + 3 * channels, s3, mask=kept)
    if BIASED:
        tl.store(to_bias + tile * channels + channel, sb, mask=kept)
