"""The Triton kernels of an LSTM over all positions, forward and backward; shapes and formulas in ``kernels.lstm``.

Sequences do not depend on each other, so a program takes a block of sequences of one member through all positions and
never waits for another program: nothing can lock up, also inside a CUDA graph. What a program needs again at every
position are the recurrent weights, 512 KiB in bfloat16 at width 256. That is more than one multiprocessor holds, so
they are read again at every position from the second-level cache, where the weights of about a hundred members fit; a
read serves all sequences of the block. docs/gpu-notes.md weighs this against weights spread over several
multiprocessors, which would have to exchange the state at every position.

Forward, the gates of TILE units at a time are products of the whole state (ROWS, m) with four slices of the weights,
which are fetched some tiles ahead. Backward, the derivative to the state (ROWS, m) adds up over such tiles.
The state goes from one position to the next through the tensors that are stored anyway; a barrier between positions
makes what one thread has written seen by the others of the program. Sums and the cell are float32.
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
def _tanh(x):
    return 2.0 / (1.0 + tl.exp2(-2.0 * x * LOG2E)) - 1.0


@triton.jit
def _load(pointer, mask, MASKED: tl.constexpr):
    """Numbers as they are; 0 where the mask is false. Without MASKED every one is there."""
    if MASKED:
        return tl.load(pointer, mask=mask, other=0.0)
    return tl.load(pointer)


@triton.jit
def _store(pointer, value, mask, MASKED: tl.constexpr):
    if MASKED:
        tl.store(pointer, value, mask=mask)
    else:
        tl.store(pointer, value)


@triton.jit
def forward_kernel(
    entering, weight, gates, cells, before, hidden, batch, length, width,
    MASKED: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr, STAGES: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    """Gates, cells and states of all positions; ``before`` holds the state before each, 0 at the first."""
    member = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    kept = (row < batch)[:, None]
    channel = tl.arange(0, WIDTH)
    used = channel < width
    # Offsets within a member fit into 32 bits; where members begin does not.
    first_number = member * batch * length * width
    entering += first_number * 4
    gates += first_number * 4
    cells += first_number
    before += first_number
    hidden += first_number
    weight += member * 4 * width * width
    whole = kept & used[None, :]
    position = 0
    while position < length:
        at = (row * length + position)[:, None] * width
        state = _load(before + at + channel[None, :], whole, MASKED)
        later = kept & (position + 1 < length)
        for first in tl.range(0, WIDTH, TILE, num_stages=STAGES):
            unit = first + tl.arange(0, TILE)
            inside = (unit < width)[None, :]
            mask = kept & inside
            place = at + unit[None, :]
            cell = tl.load(cells + place - width, mask=mask & (position > 0), other=0.0)
            # The four gates of the units side by side, so that they are one product.
            number = tl.arange(0, 4 * TILE)
            there = first + number % TILE < width
            number = number // TILE * width + first + number % TILE
            total = _load(entering + at * 4 + number[None, :], kept & there[None, :], MASKED).to(tl.float32)
            slices = _load(weight + number[None, :] * width + channel[:, None], used[:, None] & there[None, :], MASKED)
            total = tl.dot(state, slices, total, input_precision=EXACT)
            # i, f, g, o are numbers 0 to 3 of the last axis; each thread has all four of its units.
            total = tl.permute(tl.reshape(total, (ROWS, 4, TILE)), (0, 2, 1))
            even, odd = tl.split(tl.reshape(total, (ROWS, TILE, 2, 2)))
            i, g = tl.split(even)
            f, o = tl.split(odd)
            i, f, g, o = _sigmoid(i), _sigmoid(f), _tanh(g), _sigmoid(o)
            cell = f * cell + i * g
            after = (o * _tanh(cell)).to(hidden.dtype.element_ty)
            kinds = gates + at * 4 + unit[None, :]
            _store(kinds, i.to(gates.dtype.element_ty), mask, MASKED)
            _store(kinds + width, f.to(gates.dtype.element_ty), mask, MASKED)
            _store(kinds + 2 * width, g.to(gates.dtype.element_ty), mask, MASKED)
            _store(kinds + 3 * width, o.to(gates.dtype.element_ty), mask, MASKED)
            _store(cells + place, cell, mask, MASKED)
            _store(hidden + place, after, mask, MASKED)
            tl.store(before + place + width, after, mask=later & inside)
        tl.debug_barrier()
        position += 1


@triton.jit
def backward_kernel(
    weight, gates, cells, outer, change, of_states, of_cells, batch, length, width,
    MASKED: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr, STAGES: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    """``change``, the derivative to what enters the gates, from ``outer``, that to the states of all positions.

    ``of_states`` and ``of_cells`` (member, sequence, m), 0 at the start, hold what comes back from the position behind.
    """
    member = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    kept = (row < batch)[:, None]
    channel = tl.arange(0, WIDTH)
    used = (channel < width)[None, :]
    first_number = member * batch * length * width
    gates += first_number * 4
    change += first_number * 4
    cells += first_number
    outer += first_number
    of_states += member * batch * width
    of_cells += member * batch * width
    weight += member * 4 * width * width
    square = width * width
    kind = change.dtype.element_ty
    position = length - 1
    while position >= 0:
        at = (row * length + position)[:, None] * width
        to_state = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
        for first in tl.range(0, WIDTH, TILE, num_stages=STAGES):
            unit = first + tl.arange(0, TILE)
            inside = (unit < width)[None, :]
            mask = kept & inside
            place = at + unit[None, :]
            kinds = at * 4 + unit[None, :]
            carried = row[:, None] * width + unit[None, :]
            total = _load(outer + place, mask, MASKED).to(tl.float32) + _load(of_states + carried, mask, MASKED)
            i = _load(gates + kinds, mask, MASKED).to(tl.float32)
            f = _load(gates + kinds + width, mask, MASKED).to(tl.float32)
            g = _load(gates + kinds + 2 * width, mask, MASKED).to(tl.float32)
            o = _load(gates + kinds + 3 * width, mask, MASKED).to(tl.float32)
            squashed = _tanh(_load(cells + place, mask, MASKED))
            earlier = tl.load(cells + place - width, mask=mask & (position > 0), other=0.0)
            # Rows without a sequence stay 0. That this depends on the row's number also keeps the compiler from doing
            # all of it once more in each warp, in the layout that the product wants, right behind the loads.
            total = tl.where(kept, total, 0.0)
            of_cell = _load(of_cells + carried, mask, MASKED) + total * o * (1.0 - squashed * squashed)
            of_cell = tl.where(kept, of_cell, 0.0)
            of_i = (of_cell * g * i * (1.0 - i)).to(kind)
            of_f = (of_cell * earlier * f * (1.0 - f)).to(kind)
            of_g = (of_cell * i * (1.0 - g * g)).to(kind)
            of_o = (total * squashed * o * (1.0 - o)).to(kind)
            _store(of_cells + carried, of_cell * f, mask, MASKED)
            _store(change + kinds, of_i, mask, MASKED)
            _store(change + kinds + width, of_f, mask, MASKED)
            _store(change + kinds + 2 * width, of_g, mask, MASKED)
            _store(change + kinds + 3 * width, of_o, mask, MASKED)
            slices = weight + unit[:, None] * width + channel[None, :]
            needed = (unit < width)[:, None] & used
            to_state = tl.dot(of_i, _load(slices, needed, MASKED), to_state, input_precision=EXACT)
            to_state = tl.dot(of_f, _load(slices + square, needed, MASKED), to_state, input_precision=EXACT)
            to_state = tl.dot(of_g, _load(slices + 2 * square, needed, MASKED), to_state, input_precision=EXACT)
            to_state = tl.dot(of_o, _load(slices + 3 * square, needed, MASKED), to_state, input_precision=EXACT)
        # Everyone has read what is written over now, and then everyone sees it.
        tl.debug_barrier()
        _store(of_states + row[:, None] * width + channel[None, :], to_state, kept & used, MASKED)
        tl.debug_barrier()
        position -= 1
