"""Exact rounding of integers on a grid, one array operation at a time.

A fixed-point number of BHBK24 B.2 is an integer v that represents v / scale. Products, quotients and sums of
such numbers are integer expressions followed by one rounding division and one clip, and those are the
functions here. They take arrays of int64 or of Python ints (object dtype) and give the same numbers for both.
Three widths occur:

* *narrow*: every intermediate fits into int64, which is decided from the magnitudes actually present;
* *wide*: the operands fit into int64 and the product does not; :mod:`separatrix.arithmetic.wide_integers`
  splits it into limbs;
* *object*: Python ints of any size, and python-flint for matrix products.

No float occurs in this file.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from separatrix.arithmetic import wide_integers
from separatrix.arithmetic.interface import Axis, RawArray, Rounding
from separatrix.arithmetic.wide_integers import WORD

BLOCK = 1 << 16
"""Scalar products made at a time in a matrix product: a few arrays of so many int64 stay in cache."""

OPERAND = 1 << 62
"""Operands of the wide functions are smaller than this in magnitude."""

SPARSE = 4
"""A matrix with at most one entry in four that is not 0 is multiplied entry by entry."""

VERY_SPARSE = 64
"""A matrix with at most one entry in so many that is not 0 is multiplied row by row even where that needs no rounding.
"""
WORTH_A_ROW = 20_000
"""Products for each row of a sparse matrix from which on touching its entries alone repays the loop over its rows."""

LARGE = 1 << 12
"""From so many numbers on they are clipped in one pass."""

LONG_ROW = 32
"""From so many terms on sums of products are quicker than numpy's product of integer matrices."""

WIDEST_SCALE = 1 << 56
"""The wide product takes 63 − bits(scale) bits per step; from here on Python ints are as quick."""

WIDEST_LIMB_SCALE = 1 << 40
"""The limb matrix product needs limbs of 63 − bits(scale) bits; from here on python-flint is quicker."""


@dataclass(frozen=True)
class Grid:
    """The integers v with |v| ≤ limit, where v represents v / scale, and the way onto them."""

    scale: int
    limit: int
    rounding: Rounding


def magnitude(array: RawArray) -> int:
    """Give max |v| as a Python int, 0 for an empty array."""
    if array.size == 0:
        return 0
    return max(int(array.max()), -int(array.min()))


def saturate(array: Any, limit: int) -> Any:
    """Clip to ±limit."""
    if isinstance(array, int):
        # numpy hands out a plain int for an object array without axes, and would put it back into 64 bits.
        return max(-limit, min(limit, array))
    if array.size < LARGE:
        return np.minimum(np.maximum(array, -limit), limit)
    # One pass instead of two, without an array in between; but it takes longer to begin.
    return np.clip(array, -limit, limit)


def divide_rounding(numerator: Any, denominator: Any, rounding: Rounding) -> Any:
    """Round numerator / denominator (positive) to an integer.

    >>> [divide_rounding(value, 2, "down") for value in (-3, -1, 1, 3)]
    [-2, -1, 0, 1]
    >>> [divide_rounding(value, 2, "nearest") for value in (-3, -1, 1, 3)]
    [-2, 0, 0, 2]
    """
    quotient = numerator // denominator
    if rounding == "down":
        return quotient
    remainder = numerator - quotient * denominator
    # Comparing with the distance to the next multiple needs no doubling, which could leave int64.
    distance = denominator - remainder
    return quotient + ((remainder > distance) | ((remainder == distance) & (quotient % 2 == 1)))


def multiply_rounded(left: RawArray, right: RawArray, grid: Grid) -> RawArray:
    """Compute the saturated rounding of left · right / scale, elementwise."""
    if left.dtype == object or right.dtype == object:
        return saturate(divide_rounding(left * right, grid.scale, grid.rounding), grid.limit)
    if magnitude(left) * magnitude(right) < WORD:
        return saturate(divide_rounding(left * right, grid.scale, grid.rounding), grid.limit)
    return wide_integers.multiply_rounded(left, right, grid.scale, grid.limit, grid.rounding == "nearest")


def divide_rounded(left: RawArray, right: RawArray, grid: Grid) -> RawArray:
    """Compute the saturated rounding of left · scale / right, elementwise; right has no zeros."""
    if left.dtype == object or magnitude(left) * grid.scale < WORD:
        numerator = np.where(right < 0, -left, left) * grid.scale
        return saturate(divide_rounding(numerator, abs(right), grid.rounding), grid.limit)
    return wide_integers.divide_rounded(left, right, grid.scale, grid.limit, grid.rounding == "nearest")


def sum_saturated(array: RawArray, axis: Axis, keepdims: bool, limit: int) -> RawArray:
    """Compute the exact sum along ``axis`` and clip it once."""
    if array.dtype == object or magnitude(array) * array.size < WORD:
        return saturate(np.sum(array, axis=axis, keepdims=keepdims), limit)
    high, low = wide_integers.split_sum(array, axis, keepdims)
    return wide_integers.join_clipped(high, low, limit)


def matmul_of_rounded_products(left: RawArray, right: RawArray, grid: Grid) -> RawArray:
    """Round and saturate each scalar product, add them exactly, saturate the sum."""
    inner = left.shape[-1]
    if left.dtype == object:
        bound = inner * (magnitude(left) * magnitude(right) // grid.scale + 1)
        if _narrowable(left, right, grid.scale, bound, WIDEST_SCALE):
            return _in_int64(matmul_of_rounded_products, left, right, grid)
    whole = _matmul_of_whole_numbers(left, right, grid)
    if whole is not None:
        return whole
    shape = (*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1])
    blocks = _product_blocks(left, right, math.prod(shape), grid)
    largest = min(magnitude(left) * magnitude(right) // grid.scale + 1, grid.limit)
    if left.dtype == object or largest * inner < WORD:
        if right.ndim == 2 and SPARSE * np.count_nonzero(right) <= right.size:
            # Matrices that pick coordinates are nearly all zeros, and products with 0 are 0 however they are rounded.
            return saturate(_matmul_row_by_row(left, right, partial(multiply_rounded, grid=grid)), grid.limit)
        total = np.zeros(shape, dtype=left.dtype)
        for products in blocks:
            total += products.sum(axis=-2)
        return saturate(total, grid.limit)
    high, low = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for products in blocks:
        block_high, block_low = wide_integers.split_sum(products, -2, False)
        high += block_high
        low += block_low
    return wide_integers.join_clipped(high, low, grid.limit)


def _product_blocks(left: RawArray, right: RawArray, outputs: int, grid: Grid) -> Iterator[RawArray]:
    """Make the rounded scalar products (…, n, some of k, m), a bounded number at a time."""
    step = max(1, BLOCK // max(1, outputs))
    for start in range(0, left.shape[-1], step):
        block = slice(start, start + step)
        yield multiply_rounded(left[..., :, block, None], right[..., None, block, :], grid)


def matmul_rounded_once(left: RawArray, right: RawArray, grid: Grid) -> RawArray:
    """Add the exact scalar products, round the sum once, saturate it."""
    inner = left.shape[-1]
    bound = magnitude(left) * magnitude(right) * inner
    if left.dtype == object:
        if _narrowable(left, right, grid.scale, bound // grid.scale + 1, WIDEST_LIMB_SCALE):
            return _in_int64(matmul_rounded_once, left, right, grid)
        exact = wide_integers.matmul_of_python_ints(left, right)
        return saturate(divide_rounding(exact, grid.scale, grid.rounding), grid.limit)
    if bound < WORD:
        return saturate(divide_rounding(np.matmul(left, right), grid.scale, grid.rounding), grid.limit)
    return wide_integers.matmul_rounded(left, right, grid.scale, grid.limit, grid.rounding == "nearest")


def _matmul_of_whole_numbers(left: RawArray, right: RawArray, grid: Grid) -> RawArray | None:
    """Multiply as integers when one side holds whole numbers only, so that nothing is rounded.

    Positions, one-hot vectors and sign codes are of this kind, and one integer matrix product is many times
    quicker than rounding each scalar product. None when the case does not apply.
    """
    is_object = left.dtype == object
    multiply = wide_integers.matmul_of_python_ints if is_object else _matmul_in_words
    for whole, other, left_is_whole in ((left, right, True), (right, left, False)):
        largest = magnitude(whole) // grid.scale * magnitude(other)
        fits = largest <= grid.limit and (is_object or largest * left.shape[-1] < WORD)
        if not fits:
            continue
        units = whole // grid.scale
        # numpy divides by one number many times quicker than it takes remainders.
        if not (units * grid.scale != whole).any():
            factors = (units, other) if left_is_whole else (other, units)
            sparse = right.ndim == 2 and VERY_SPARSE * np.count_nonzero(right) <= right.size
            if not is_object and sparse and left.size * right.shape[1] >= WORTH_A_ROW * right.shape[0]:
                return saturate(_matmul_row_by_row(*factors, np.multiply), grid.limit)
            return saturate(multiply(*factors), grid.limit)
    return None


def _matmul_in_words(left: RawArray, right: RawArray) -> RawArray:
    """Multiply int64 (…, n, k) by (…, k, m) where no sum leaves 64 bits."""
    # numpy's product of integer matrices is a plain loop; over long rows its sums of products are quicker.
    return np.einsum("...nk,...km->...nm", left, right) if left.shape[-1] >= LONG_ROW else np.matmul(left, right)


def _matmul_row_by_row(left: RawArray, right: RawArray, multiply: Callable[[RawArray, RawArray], RawArray]) -> RawArray:
    """Multiply (…, n, k) by (k, m) that is nearly all zeros: only its other entries are touched."""
    total = np.zeros((*left.shape[:-1], right.shape[1]), dtype=left.dtype)
    for place in np.flatnonzero(right.any(axis=1)):
        kept = np.flatnonzero(right[place])
        total[..., kept] += multiply(left[..., place, None], right[place, kept])
    return total


def _narrowable(left: RawArray, right: RawArray, scale: int, bound: int, widest: int) -> bool:
    """Tell whether Python ints and all results (at most ``bound``) fit the int64 functions."""
    return scale < widest and bound < OPERAND and max(magnitude(left), magnitude(right)) < OPERAND


def _in_int64(product: Any, left: RawArray, right: RawArray, grid: Grid) -> RawArray:
    narrow = Grid(grid.scale, min(grid.limit, OPERAND), grid.rounding)
    return product(left.astype(np.int64), right.astype(np.int64), narrow).astype(object)
