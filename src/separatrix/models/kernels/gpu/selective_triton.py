"""The Triton kernels of the gated selective scan, forward and backward; shapes and formulas in ``selective``.

One program takes one sequence of one member and a block of channels; it walks over the positions with the states
(n, channels) in registers, so no state of a position is ever written. Going forward, the channels lie across the
threads of one warp and each thread has all n states of its own, so the sum over n for an output needs no exchange
between threads; going back, where there are sums over channels too, the compiler's own layout is the better one.

The forward pass stores the state before every ``CHUNK`` positions. The backward pass goes through the chunks from the
last to the first, computes the states of a chunk again into registers and then walks back: as in the paper's kernel the
memory for states is 1/CHUNK of all states. Sums over channels (derivatives to B and C) are written for each block of
channels, sums over sequences (to A, D, the bias) for each sequence, and added up afterwards in a fixed order: results
do not change from run to run.

Everything inside is float32 (B and C come as float32, they are small); exponentials are powers of two, since that is
what the hardware has.
"""

# Types are Triton's own; its functions are compiled, not run.
# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: ANN001, ANN201, ANN202, RUF005

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def _softplus(x):
    """log(1 + e^x), without overflow."""
    return tl.where(x > 20.0, x, tl.log2(1.0 + tl.exp2(x * LOG2E)) * LN2)


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp2(-x * LOG2E))


@triton.jit
def _load(pointer, mask, MASKED: tl.constexpr):
    """Numbers as float32; 0 where the mask is false. Without MASKED every one is there."""
    if MASKED:
        return tl.load(pointer, mask=mask, other=0.0).to(tl.float32)
    return tl.load(pointer).to(tl.float32)


@triton.jit
def _store(pointer, value, mask, MASKED: tl.constexpr):
    if MASKED:
        tl.store(pointer, value, mask=mask)
    else:
        tl.store(pointer, value)


@triton.jit(do_not_specialize=["nothing"])
def forward_kernel(
    x, step, rate, write, query, skip, gate, bias, output, ungated, starts,
    batch, length, channels, states, nothing,
    x_row, x_stride, step_row, step_stride, write_row, write_stride, query_row, query_stride, gate_row, gate_stride,
    GATED: tl.constexpr, MASKED: tl.constexpr, CHUNK: tl.constexpr, STATES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Outputs before and after the gate (row, position, channel); states before each chunk (row, chunk, n, channel)."""
    row = tl.program_id(0).to(tl.int64)
    member = row // batch
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    number = tl.arange(0, STATES)
    kept, used = channel < channels, number < states
    both = used[:, None] & kept[None, :]
    # rate is (member, n, channel).
    rates = (
        _load(rate + nothing + (member * states + number[:, None]) * channels + channel[None, :], both, MASKED) * LOG2E
    )
    skips = _load(skip + member * channels + channel, kept, MASKED)
    biases = _load(bias + member * channels + channel, kept, MASKED)
    x += row * x_row + channel
    step += row * step_row + channel
    gate += row * gate_row + channel
    output += row * length * channels + channel
    ungated += row * length * channels + channel
    write += row * write_row + number
    query += row * query_row + number
    chunks = tl.cdiv(length, CHUNK)
    # Adding a number that is 0, but not known to be, hides that four neighbours could be stored at once. So the
    # compiler gives each thread one channel and all of its states, and sums over states stay within a thread.
    place = starts + nothing + row * chunks * states * channels + number[:, None] * channels + channel[None, :]
    state = tl.zeros((STATES, BLOCK), dtype=tl.float32)
    chunk = 0
    while chunk < chunks:
        _store(place, state, both, MASKED)
        place += states * channels
        # All loads of a chunk are under way before the first is needed: waiting for memory is what costs most here.
        values, raws, opens, writes, queries = (), (), (), (), ()
        for offset in tl.static_range(CHUNK):
            inside = chunk * CHUNK + offset < length
            values = values + (_load(x + offset * x_stride, kept & inside, MASKED),)
            raws = raws + (_load(step + offset * step_stride, kept & inside, MASKED),)
            if GATED:
                opens = opens + (_load(gate + offset * gate_stride, kept & inside, MASKED),)
            writes = writes + (_load(write + offset * write_stride, used & inside, MASKED),)
            queries = queries + (_load(query + offset * query_stride, used & inside, MASKED),)
        for offset in tl.static_range(CHUNK):
            mask = kept & (chunk * CHUNK + offset < length)
            value, delta = values[offset], _softplus(raws[offset] + biases)
            if MASKED:
                # Behind the end Δ is 0 and the state stays as it is.
                delta = tl.where(mask, delta, 0.0)
            state = tl.exp2(delta[None, :] * rates) * state + writes[offset][:, None] * (delta * value)[None, :]
            result = tl.sum(state * queries[offset][:, None], axis=0) + skips * value
            _store(ungated + offset * channels, result, mask, MASKED)
            if GATED:
                _store(output + offset * channels, result * opens[offset] * _sigmoid(opens[offset]), mask, MASKED)
        x += CHUNK * x_stride
        step += CHUNK * step_stride
        gate += CHUNK * gate_stride
        write += CHUNK * write_stride
        query += CHUNK * query_stride
        output += CHUNK * channels
        ungated += CHUNK * channels
        chunk += 1


@triton.jit
def backward_kernel(
    x, step, rate, write, query, skip, gate, bias, ungated, starts, gradient,
    to_x, to_step, to_rate, to_write, to_query, to_skip, to_gate, to_bias,
    rows, batch, length, channels, states,
    x_row, x_stride, step_row, step_stride, write_row, write_stride, query_row, query_stride, gate_row, gate_stride,
    GATED: tl.constexpr, MASKED: tl.constexpr, CHUNK: tl.constexpr, STATES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Derivatives to everything, from ``gradient`` (row, position, channel)."""
    row = tl.program_id(0).to(tl.int64)
    member = row // batch
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    number = tl.arange(0, STATES)
    kept, used = channel < channels, number < states
    both = used[:, None] & kept[None, :]
    rates = _load(rate + (member * states + number[:, None]) * channels + channel[None, :], both, MASKED) * LOG2E
    skips = _load(skip + member * channels + channel, kept, MASKED)
    biases = _load(bias + member * channels + channel, kept, MASKED)
    x += row * x_row + channel
    step += row * step_row + channel
    gate += row * gate_row + channel
    write += row * write_row + number
    query += row * query_row + number
    # Everything written by position is contiguous.
    first = row * length * channels + channel
    ungated += first
    gradient += first
    to_x += first
    to_step += first
    to_gate += first
    partial = (tl.program_id(1).to(tl.int64) * rows + row) * length * states + number
    to_write += partial
    to_query += partial
    chunks = tl.cdiv(length, CHUNK)
    starts += row * chunks * states * channels
    later = tl.zeros((STATES, BLOCK), dtype=tl.float32)
    rate_sum = tl.zeros((STATES, BLOCK), dtype=tl.float32)
    skip_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    bias_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    chunk = chunks - 1
    while chunk >= 0:
        state = _load(starts + (chunk * states + number[:, None]) * channels + channel[None, :], both, MASKED)
        history, values, raws, deltas, writes = (state,), (), (), (), ()
        queries, slopes, opens, results = (), (), (), ()
        for offset in tl.static_range(CHUNK):
            position = chunk * CHUNK + offset
            inside = position < length
            mask = kept & inside
            values = values + (_load(x + position * x_stride, mask, MASKED),)
            raws = raws + (_load(step + position * step_stride, mask, MASKED) + biases,)
            writes = writes + (_load(write + position * write_stride, used & inside, MASKED),)
            queries = queries + (_load(query + position * query_stride, used & inside, MASKED),)
            slopes = slopes + (_load(gradient + position * channels, mask, MASKED),)
            if GATED:
                opens = opens + (_load(gate + position * gate_stride, mask, MASKED),)
                results = results + (_load(ungated + position * channels, mask, MASKED),)
        for offset in tl.static_range(CHUNK):
            delta = _softplus(raws[offset])
            if MASKED:
                delta = tl.where(kept & (chunk * CHUNK + offset < length), delta, 0.0)
            driven = delta * values[offset]
            state = tl.exp2(delta[None, :] * rates) * state + writes[offset][:, None] * driven[None, :]
            history, deltas = history + (state,), deltas + (delta,)
        for offset in tl.static_range(CHUNK - 1, -1, -1):
            position = chunk * CHUNK + offset
            inside = position < length
            mask = kept & inside
            value, raw, delta, slope = values[offset], raws[offset], deltas[offset], slopes[offset]
            if GATED:
                open_ = opens[offset]
                share = _sigmoid(open_)
                to_open = slope * results[offset] * share * (1.0 + open_ * (1.0 - share))
                _store(to_gate + position * channels, to_open, mask, MASKED)
                slope *= open_ * share
            to_asked = tl.sum(history[offset + 1] * slope[None, :], axis=1)
            _store(to_query + position * states, to_asked, used & inside, MASKED)
            later += queries[offset][:, None] * slope[None, :]
            driven = delta * value
            _store(to_write + position * states, tl.sum(later * driven[None, :], axis=1), used & inside, MASKED)
            to_driven = tl.sum(later * writes[offset][:, None], axis=0)
            later *= tl.exp2(delta[None, :] * rates)
            # The derivative to the exponent Δ A of the decay.
            exponent = later * history[offset]
            rate_sum += exponent * delta[None, :]
            to_delta = tl.sum(exponent * rates, axis=0) * LN2 + to_driven * value
            to_raw = to_delta * tl.where(raw > 20.0, 1.0, _sigmoid(raw))
            skip_sum += slope * value
            bias_sum += tl.where(mask, to_raw, 0.0)
            _store(to_x + position * channels, to_driven * delta + skips * slope, mask, MASKED)
            _store(to_step + position * channels, to_raw, mask, MASKED)
        chunk -= 1
    _store(to_rate + (row * states + number[:, None]) * channels + channel[None, :], rate_sum, both, MASKED)
    _store(to_skip + row * channels + channel, skip_sum, kept, MASKED)
    _store(to_bias + row * channels + channel, bias_sum, kept, MASKED)
