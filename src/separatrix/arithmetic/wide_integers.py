"""Products that do not fit into 64 bits, from operands that do: exact, vectorised, in integers.

All functions take int64 arrays whose entries are below 2^62 in magnitude. Elementwise products and quotients
use one schoolbook idea (:func:`scaled_quotient`): x · y / d with x < d is a long division whose steps feed in
as many bits of y as leave the running remainder below 2^64. Matrix products split both sides into limbs small
enough that numpy's int64 product of limbs cannot overflow, carry, and divide the limbs by the scale from the
top.

Numbers too large even for this go to Python ints, and to python-flint for matrix products.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from separatrix.arithmetic.interface import Axis, RawArray

Words: TypeAlias = npt.NDArray[np.uint64]
Integers: TypeAlias = npt.NDArray[np.int64]

WORD = 1 << 63
"""Magnitudes below this fit into int64."""

HALF_WORD = 31
"""Sums are split at this bit; either half of up to 2^32 terms adds up within int64."""


def scaled_quotient(factor: Words, other: Words, divisor: Words) -> tuple[Words, Words]:
    """Give quotient and remainder of factor · other / divisor where factor < divisor < 2^62.

    The quotient is below ``other`` and so needs no more room than it. Per step, remainder · 2^width and
    factor · piece are both below divisor · 2^width ≤ 2^63, and their sum fits into 64 bits.
    """
    width = 63 - int(divisor.max(initial=1)).bit_length()
    mask = np.uint64((1 << width) - 1)
    steps = -(-int(other.max(initial=0)).bit_length() // width)
    shape = np.broadcast_shapes(factor.shape, other.shape, divisor.shape)
    quotient = np.zeros(shape, dtype=np.uint64)
    remainder = np.zeros(shape, dtype=np.uint64)
    for step in reversed(range(steps)):
        piece = (other >> np.uint64(step * width)) & mask
        running = (remainder << np.uint64(width)) + factor * piece
        digit = running // divisor
        remainder = running - digit * divisor
        quotient = (quotient << np.uint64(width)) + digit
    return quotient, remainder


def multiply_rounded(left: Integers, right: Integers, scale: int, limit: int, nearest: bool) -> Integers:
    """Compute the saturated rounding of left · right / scale for scale < 2^62, limit ≤ 2^62."""
    first, second, unit = _words(left), _words(right), np.uint64(scale)
    # left = whole · scale + part, so left · right / scale = whole · right + part · right / scale.
    whole = first // unit
    part = first - whole * unit
    # Both summands are non-negative in magnitudes: once the first exceeds the limit, so does the result.
    beyond = whole > np.uint64(limit) // np.maximum(second, np.uint64(1))
    quotient, remainder = scaled_quotient(part, second, np.asarray(unit))
    quotient = quotient + np.where(beyond, np.uint64(0), whole) * second
    return _with_sign(quotient, remainder, np.asarray(unit), (left < 0) ^ (right < 0), beyond, limit, nearest)


def divide_rounded(left: Integers, right: Integers, scale: int, limit: int, nearest: bool) -> Integers:
    """Compute the saturated rounding of left · scale / right for right ≠ 0, scale ≤ limit ≤ 2^62."""
    first, divisor, unit = _words(left), _words(right), np.uint64(scale)
    whole = first // divisor
    part = first - whole * divisor
    beyond = whole > np.uint64(limit // scale)
    quotient, remainder = scaled_quotient(part, np.asarray(unit), divisor)
    quotient = quotient + np.where(beyond, np.uint64(0), whole) * unit
    return _with_sign(quotient, remainder, divisor, (left < 0) ^ (right < 0), beyond, limit, nearest)


def split_sum(array: Integers, axis: Axis, keepdims: bool) -> tuple[Integers, Integers]:
    """Add the upper and the lower halves of the entries separately, so that neither sum can overflow."""
    high = np.sum(array >> HALF_WORD, axis=axis, keepdims=keepdims)
    low = np.sum(array & ((1 << HALF_WORD) - 1), axis=axis, keepdims=keepdims)
    return high, low


def join_clipped(high: Integers, low: Integers, limit: int) -> Integers:
    """Put the two halves of a sum together and clip to ±limit, limit ≤ 2^62."""
    high = high + (low >> HALF_WORD)
    low = low & ((1 << HALF_WORD) - 1)
    return _append_digit(high, low, HALF_WORD).clip(-limit, limit)


def matmul_rounded(left: Integers, right: Integers, scale: int, limit: int, nearest: bool) -> Integers:
    """Compute the saturated rounding of (left @ right) / scale from exact sums, limit ≤ 2^62."""
    # At most 2^3 limb pairs meet in one column here, each a sum of `inner` products of two `width`-bit limbs.
    width = min((60 - left.shape[-1].bit_length()) // 2, 63 - scale.bit_length())
    columns = _limb_columns(_limbs(left, width), _limbs(right, width))
    # Carrying leaves digits in [0, 2^width) and the sign in the topmost column, which the shift keeps.
    for position in range(len(columns) - 1):
        columns[position + 1] += columns[position] >> width
        columns[position] &= (1 << width) - 1
    quotient = columns[-1] // scale
    remainder = columns[-1] - quotient * scale
    for column in reversed(columns[:-1]):
        running = (remainder << width) + column
        digit = running // scale
        remainder = running - digit * scale
        quotient = _append_digit(quotient, digit, width)
    if nearest:
        distance = scale - remainder
        quotient = quotient + ((remainder > distance) | ((remainder == distance) & (quotient % 2 == 1)))
    return quotient.clip(-limit, limit)


def matmul_of_python_ints(left: RawArray, right: RawArray) -> RawArray:
    """Multiply stacks of matrices of Python ints exactly, each through python-flint."""
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    rows, inner, columns = left.shape[-2], left.shape[-1], right.shape[-1]
    result = np.zeros((*batch, rows, columns), dtype=object)
    if result.size == 0 or inner == 0:
        return result
    lefts = np.broadcast_to(left, (*batch, rows, inner))
    rights = np.broadcast_to(right, (*batch, inner, columns))
    for index in np.ndindex(batch):
        first = fmpz_mat(rows, inner, lefts[index].ravel().tolist())
        second = fmpz_mat(inner, columns, rights[index].ravel().tolist())
        entries = [int(entry) for entry in (first * second).entries()]
        result[index] = np.array(entries, dtype=object).reshape(rows, columns)
    return result


def _words(array: Integers) -> Words:
    return np.abs(array).astype(np.uint64)


def _with_sign(
    quotient: Words,
    remainder: Words,
    divisor: Words,
    negative: npt.NDArray[np.bool_],
    beyond: npt.NDArray[np.bool_],
    limit: int,
    nearest: bool,
) -> Integers:
    """Round a magnitude with its sign in mind: downwards is away from zero for a negative number."""
    if nearest:
        distance = divisor - remainder
        away = (remainder > distance) | ((remainder == distance) & (quotient % np.uint64(2) == 1))
    else:
        away = negative & (remainder > 0)
    rounded = np.where(beyond, np.uint64(limit), np.minimum(quotient + away, np.uint64(limit))).astype(np.int64)
    return np.where(negative, -rounded, rounded)


def _append_digit(number: Integers, digit: Integers, width: int) -> Integers:
    """Compute number · 2^width + digit, keeping what leaves ±2^62 outside ±2^62 but inside int64."""
    edge = 1 << (62 - width)
    return (number.clip(-edge - 1, edge) << width) + digit


def _limbs(array: Integers, width: int) -> list[Integers]:
    """Write each entry as Σ limb_i · 2^(i·width) with limbs in [0, 2^width); the last has the sign."""
    count = max(1, -(-int(np.abs(array).max(initial=0)).bit_length() // width))
    limbs = [(array >> (position * width)) & ((1 << width) - 1) for position in range(count - 1)]
    return [*limbs, array >> ((count - 1) * width)]


def _limb_columns(left: list[Integers], right: list[Integers]) -> list[Integers]:
    """Multiply limb by limb and collect what has the same weight."""
    columns: list[Any] = [0] * (len(left) + len(right) - 1)
    for row, upper in enumerate(left):
        for column, lower in enumerate(right):
            columns[row + column] = columns[row + column] + np.matmul(upper, lower)
    return columns
