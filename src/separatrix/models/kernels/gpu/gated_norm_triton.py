"""The Triton kernels of a norm over groups together with its gate, forward and backward; formulas in ``gated_norm``.

A program takes rows of one group of one member. Means, deviations and the gate's sigmoid are computed again on the way
back, so only the inputs are kept. Sums for gain and shift are written for each program and added up afterwards in a
fixed order.
"""

# Types are Triton's own; its functions are compiled, not run.
# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: ANN001, ANN201, ANN202

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp2(-x * LOG2E))


@triton.jit
def _normal(u, inside, SIZE: tl.constexpr, EPSILON: tl.constexpr, CENTRED: tl.constexpr):
    """The rows divided by their root mean square, after their mean was taken away if CENTRED; and that factor."""
    if CENTRED:
        u = tl.where(inside, u - (tl.sum(u, axis=1) / SIZE)[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(u * u, axis=1) / SIZE + EPSILON)
    return u * scale[:, None], scale


@triton.jit
def forward_kernel(
    x, gate, gain, shift, output, rows, gain_member, gain_group,
    SIZE: tl.constexpr, EPSILON: tl.constexpr, CENTRED: tl.constexpr, SHIFTED: tl.constexpr, FIRST: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """x, gate, output (member, row, group, SIZE) contiguous; gain and shift by ``gain_member`` and ``gain_group``."""
    member, group, groups = tl.program_id(2).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < SIZE)[None, :]
    place = ((member * rows + row[:, None]) * groups + group) * SIZE + column[None, :]
    value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    opened = tl.load(gate + place, mask=inside, other=0.0).to(tl.float32)
    opened *= _sigmoid(opened)
    if not FIRST:
        value *= opened
    normal, _ = _normal(value, inside, SIZE, EPSILON, CENTRED)
    weight = member * gain_member + group * gain_group + column
    result = normal * tl.load(gain + weight, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]
    if SHIFTED:
        result += tl.load(shift + weight, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]
    if FIRST:
        result *= opened
    tl.store(output + place, result, mask=inside)


@triton.jit
def backward_kernel(
    x, gate, gain, shift, gradient, to_x, to_gate, to_gain, to_shift, rows, gain_member, gain_group,
    SIZE: tl.constexpr, EPSILON: tl.constexpr, CENTRED: tl.constexpr, SHIFTED: tl.constexpr, FIRST: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """to_gain, to_shift (member, part, group, SIZE), one part for each program."""
    member, group, groups = tl.program_id(2).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    part, parts = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, BLOCK)
    weight = member * gain_member + group * gain_group + column
    gains = tl.load(gain + weight, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]
    shifts = tl.zeros((1, BLOCK), dtype=tl.float32)
    if SHIFTED:
        shifts += tl.load(shift + weight, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]
    gain_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    shift_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    first = part * ROWS
    while first < rows:
        row = first + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < SIZE)[None, :]
        place = ((member * rows + row[:, None]) * groups + group) * SIZE + column[None, :]
        value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        closed = tl.load(gate + place, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(gradient + place, mask=inside, other=0.0).to(tl.float32)
        share = _sigmoid(closed)
        opened = closed * share
        if FIRST:
            normal, scale = _normal(value, inside, SIZE, EPSILON, CENTRED)
            to_open = slope * (normal * gains + shifts)
            slope *= opened
        else:
            normal, scale = _normal(value * opened, inside, SIZE, EPSILON, CENTRED)
        gain_sum += tl.sum(slope * normal, axis=0)
        shift_sum += tl.sum(slope, axis=0)
        slope *= gains
        back = slope - normal * (tl.sum(slope * normal, axis=1) / SIZE)[:, None]
        if CENTRED:
            back -= (tl.sum(slope, axis=1) / SIZE)[:, None]
        back *= scale[:, None]
        if not FIRST:
            to_open = back * value
            back *= opened
        tl.store(to_x + place, back, mask=inside)
        tl.store(to_gate + place, to_open * share * (1.0 + closed * (1.0 - share)), mask=inside)
        first += parts * ROWS
    to_place = ((member * parts + part) * groups + group) * SIZE + column
    tl.store(to_gain + to_place, gain_sum, mask=column < SIZE)
    if SHIFTED:
        tl.store(to_shift + to_place, shift_sum, mask=column < SIZE)
