"""The Triton kernels of linear attention in chunks, forward and backward; formulas in ``attention``.

One program takes one head of one sequence and walks over chunks of positions with the state (keys × values) in
registers. Queries, keys and values are read where the projection left them, and derivatives are written there, so no
tensor is split, copied or joined. What the forms need is done on the tiles: the feature map, the turning of pairs, the
decay, the normaliser. Products run on the tensor cores in the type of the inputs, everything else in float32.

Two backward kernels: derivatives to queries need the state before a chunk and walk forwards as the output does; those
to keys and values need the derivative of the state behind a chunk and walk backwards. Neither keeps states in memory.
"""

# Types are Triton's own; its functions are compiled, not run.
# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: ANN001, ANN201, ANN202

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
EPSILON = tl.constexpr(1e-6)


@triton.jit
def _tile(pointer, position, column, length, stride, COLUMNS: tl.constexpr):
    """Rows of positions, 0 outside."""
    mask = (position < length)[:, None] & (column < COLUMNS)[None, :]
    return tl.load(pointer + position[:, None] * stride + column[None, :], mask=mask, other=0.0)


@triton.jit
def _put(pointer, value, position, column, length, stride, COLUMNS: tl.constexpr):
    mask = (position < length)[:, None] & (column < COLUMNS)[None, :]
    tl.store(pointer + position[:, None] * stride + column[None, :], value, mask=mask)


@triton.jit
def _turn(x, cosine, sine, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Turn the pairs (i, i + COLUMNS/2) of each row."""
    first, second = tl.split(tl.permute(tl.reshape(x, (ROWS, 2, COLUMNS // 2)), (0, 2, 1)))
    turned = tl.join(first * cosine - second * sine, second * cosine + first * sine)
    return tl.reshape(tl.permute(turned, (0, 2, 1)), (ROWS, COLUMNS))


@triton.jit
def _keys(
    pointer, cosine, sine, position, length, stride, scale,
    FEATURES: tl.constexpr, TURNED: tl.constexpr, KEYS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Queries or keys of a chunk in float32, after feature map or turning; and the derivative of the feature map."""
    column = tl.arange(0, COLUMNS)
    x = _tile(pointer, position, column, length, stride, KEYS).to(tl.float32)
    slope = x
    if FEATURES:
        inside = (position < length)[:, None] & (column < KEYS)[None, :]
        # elu(x) + 1, whose derivative is itself for x ≤ 0 and 1 for x > 0.
        falling = tl.exp2(tl.minimum(x, 0.0) * LOG2E)
        slope = tl.where(x > 0.0, 1.0, falling)
        x = tl.where(inside, tl.where(x > 0.0, x + 1.0, falling), 0.0)
    if TURNED:
        half = tl.arange(0, COLUMNS // 2)
        turn_mask = (position < length)[:, None]
        place = position[:, None] * (COLUMNS // 2) + half[None, :]
        x = _turn(
            x, tl.load(cosine + place, mask=turn_mask, other=0.0), tl.load(sine + place, mask=turn_mask, other=0.0),
            ROWS, COLUMNS,
        )  # fmt: skip
    return x * scale, slope


@triton.jit
def _to_keys(
    gradient, slope, cosine, sine, position, length, scale,
    FEATURES: tl.constexpr, TURNED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The derivative to what was loaded, from that to what ``_keys`` returned."""
    gradient *= scale
    if FEATURES:
        gradient *= slope
    if TURNED:
        half = tl.arange(0, COLUMNS // 2)
        turn_mask = (position < length)[:, None]
        place = position[:, None] * (COLUMNS // 2) + half[None, :]
        gradient = _turn(
            gradient, tl.load(cosine + place, mask=turn_mask, other=0.0),
            -tl.load(sine + place, mask=turn_mask, other=0.0), ROWS, COLUMNS,
        )  # fmt: skip
    return gradient


@triton.jit
def _between(offset, rate, ROWS: tl.constexpr, DECAYED: tl.constexpr):
    """γ^(t - s) for s ≤ t, else 0."""
    age = offset[:, None] - offset[None, :]
    if DECAYED:
        return tl.where(age >= 0, tl.exp2(tl.maximum(age, 0).to(tl.float32) * rate), 0.0)
    return tl.where(age >= 0, 1.0, 0.0)


@triton.jit
def _product(a, b, like, PRECISION: tl.constexpr):
    """A matrix product in the type of the inputs, summed in float32."""
    return tl.dot(a.to(like), b.to(like), input_precision=PRECISION)


@triton.jit
def forward_kernel(
    query, key, value, rate, cosine, sine, output, norm,
    length, heads, row_stride, stride, key_head, value_head, output_stride, scale,
    FEATURES: tl.constexpr, NORMAL: tl.constexpr, DECAYED: tl.constexpr, TURNED: tl.constexpr, KEYS: tl.constexpr,
    VALUES: tl.constexpr, ROWS: tl.constexpr, KEY_BLOCK: tl.constexpr, VALUE_BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """output (row, position, head, V) contiguous; norm (row, head, position)."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    like = value.dtype.element_ty
    query += row * row_stride + head * key_head
    key += row * row_stride + head * key_head
    value += row * row_stride + head * value_head
    output += row * length * output_stride + head * VALUES
    norm += (row * heads + head) * length
    offset, across = tl.arange(0, ROWS), tl.arange(0, VALUE_BLOCK)
    decay = tl.load(rate + head) if DECAYED else 0.0
    reach = _between(offset, decay, ROWS, DECAYED)
    from_start = tl.exp2((offset + 1).to(tl.float32) * decay)[:, None]
    to_end = tl.exp2((ROWS - 1 - offset).to(tl.float32) * decay)[:, None]
    over = tl.exp2(decay * ROWS)
    state = tl.zeros((KEY_BLOCK, VALUE_BLOCK), dtype=tl.float32)
    total = tl.zeros((KEY_BLOCK,), dtype=tl.float32)
    first = 0
    while first < length:
        position = first + offset
        q, _ = _keys(query, cosine, sine, position, length, stride, scale, FEATURES, TURNED, KEYS, ROWS, KEY_BLOCK)
        k, _ = _keys(key, cosine, sine, position, length, stride, 1.0, FEATURES, TURNED, KEYS, ROWS, KEY_BLOCK)
        v = _tile(value, position, across, length, stride, VALUES)
        scores = _product(q, tl.trans(k), like, PRECISION) * reach
        result = _product(scores, v, like, PRECISION) + _product(q * from_start, state, like, PRECISION)
        if NORMAL:
            divisor = tl.sum(scores, axis=1) + tl.sum(q * total[None, :], axis=1) + EPSILON
            result = result / divisor[:, None]
            tl.store(norm + position, divisor, mask=position < length)
            total += tl.sum(k, axis=0)
        _put(output, result, position, across, length, output_stride, VALUES)
        state = state * over + _product(tl.trans(k * to_end), v, like, PRECISION)
        first += ROWS


@triton.jit
def _slopes(
    output, gradient, norm, position, across, length, stride,
    NORMAL: tl.constexpr, VALUES: tl.constexpr,
):  # fmt: skip
    """The derivatives to the sum of values, and to the normaliser."""
    slope = _tile(gradient, position, across, length, stride, VALUES).to(tl.float32)
    to_norm = tl.sum(slope, axis=1) * 0.0
    if NORMAL:
        divisor = tl.load(norm + position, mask=position < length, other=1.0)
        slope = slope / divisor[:, None]
        to_norm = -tl.sum(slope * _tile(output, position, across, length, stride, VALUES).to(tl.float32), axis=1)
    return slope, to_norm


@triton.jit
def query_kernel(
    query, key, value, rate, cosine, sine, output, norm, gradient, to_query,
    length, heads, row_stride, stride, key_head, value_head, output_stride, to_row, to_stride, scale,
    FEATURES: tl.constexpr, NORMAL: tl.constexpr, DECAYED: tl.constexpr, TURNED: tl.constexpr, KEYS: tl.constexpr,
    VALUES: tl.constexpr, ROWS: tl.constexpr, KEY_BLOCK: tl.constexpr, VALUE_BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Derivatives to queries."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    like = value.dtype.element_ty
    query += row * row_stride + head * key_head
    key += row * row_stride + head * key_head
    value += row * row_stride + head * value_head
    to_query += row * to_row + head * key_head
    output += row * length * output_stride + head * VALUES
    gradient += row * length * output_stride + head * VALUES
    norm += (row * heads + head) * length
    offset, across, along = tl.arange(0, ROWS), tl.arange(0, VALUE_BLOCK), tl.arange(0, KEY_BLOCK)
    decay = tl.load(rate + head) if DECAYED else 0.0
    reach = _between(offset, decay, ROWS, DECAYED)
    from_start = tl.exp2((offset + 1).to(tl.float32) * decay)[:, None]
    to_end = tl.exp2((ROWS - 1 - offset).to(tl.float32) * decay)[:, None]
    over = tl.exp2(decay * ROWS)
    state = tl.zeros((VALUE_BLOCK, KEY_BLOCK), dtype=tl.float32)
    total = tl.zeros((KEY_BLOCK,), dtype=tl.float32)
    first = 0
    while first < length:
        position = first + offset
        _, steepness = _keys(
            query, cosine, sine, position, length, stride, scale, FEATURES, False, KEYS, ROWS, KEY_BLOCK
        )
        k, _ = _keys(key, cosine, sine, position, length, stride, 1.0, FEATURES, TURNED, KEYS, ROWS, KEY_BLOCK)
        v = _tile(value, position, across, length, stride, VALUES)
        slope, to_norm = _slopes(output, gradient, norm, position, across, length, output_stride, NORMAL, VALUES)
        to_scores = (_product(slope, tl.trans(v), like, PRECISION) + to_norm[:, None]) * reach
        result = _product(to_scores, k, like, PRECISION) + _product(slope, state, like, PRECISION) * from_start
        if NORMAL:
            result += to_norm[:, None] * total[None, :]
            total += tl.sum(k, axis=0)
        result = _to_keys(result, steepness, cosine, sine, position, length, scale, FEATURES, TURNED, ROWS, KEY_BLOCK)
        _put(to_query, result, position, along, length, to_stride, KEYS)
        state = state * over + _product(tl.trans(v), k * to_end, like, PRECISION)
        first += ROWS


@triton.jit
def key_value_kernel(
    query, key, value, rate, cosine, sine, output, norm, gradient, to_key, to_value,
    length, heads, row_stride, stride, key_head, value_head, output_stride, to_row, to_stride, scale,
    FEATURES: tl.constexpr, NORMAL: tl.constexpr, DECAYED: tl.constexpr, TURNED: tl.constexpr, KEYS: tl.constexpr,
    VALUES: tl.constexpr, ROWS: tl.constexpr, KEY_BLOCK: tl.constexpr, VALUE_BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Derivatives to keys and values."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    like = value.dtype.element_ty
    query += row * row_stride + head * key_head
    key += row * row_stride + head * key_head
    value += row * row_stride + head * value_head
    to_key += row * to_row + head * key_head
    to_value += row * to_row + head * value_head
    output += row * length * output_stride + head * VALUES
    gradient += row * length * output_stride + head * VALUES
    norm += (row * heads + head) * length
    offset, across, along = tl.arange(0, ROWS), tl.arange(0, VALUE_BLOCK), tl.arange(0, KEY_BLOCK)
    decay = tl.load(rate + head) if DECAYED else 0.0
    reach = _between(offset, decay, ROWS, DECAYED)
    from_start = tl.exp2((offset + 1).to(tl.float32) * decay)[:, None]
    to_end = tl.exp2((ROWS - 1 - offset).to(tl.float32) * decay)[:, None]
    over = tl.exp2(decay * ROWS)
    later = tl.zeros((KEY_BLOCK, VALUE_BLOCK), dtype=tl.float32)
    to_total = tl.zeros((KEY_BLOCK,), dtype=tl.float32)
    first = (tl.cdiv(length, ROWS) - 1) * ROWS
    while first >= 0:
        position = first + offset
        q, _ = _keys(query, cosine, sine, position, length, stride, scale, FEATURES, TURNED, KEYS, ROWS, KEY_BLOCK)
        k, steepness = _keys(key, cosine, sine, position, length, stride, 1.0, FEATURES, TURNED, KEYS, ROWS, KEY_BLOCK)
        v = _tile(value, position, across, length, stride, VALUES)
        slope, to_norm = _slopes(output, gradient, norm, position, across, length, output_stride, NORMAL, VALUES)
        scores = _product(q, tl.trans(k), like, PRECISION) * reach
        to_scores = (_product(slope, tl.trans(v), like, PRECISION) + to_norm[:, None]) * reach
        result = _product(tl.trans(scores), slope, like, PRECISION)
        result += _product(k * to_end, later, like, PRECISION)
        _put(to_value, result, position, across, length, to_stride, VALUES)
        back = _product(tl.trans(to_scores), q, like, PRECISION)
        back += _product(v, tl.trans(later), like, PRECISION) * to_end
        if NORMAL:
            back += to_total[None, :]
            to_total += tl.sum(q * to_norm[:, None], axis=0)
        back = _to_keys(back, steepness, cosine, sine, position, length, 1.0, FEATURES, TURNED, ROWS, KEY_BLOCK)
        _put(to_key, back, position, along, length, to_stride, KEYS)
        later = later * over + _product(tl.trans(q * from_start), slope, like, PRECISION)
        first -= ROWS
