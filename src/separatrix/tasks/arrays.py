"""Array functions that run unchanged on numpy arrays and on torch tensors of any device.

Everything here follows the Python array API standard. A numpy array needs no more than numpy 2, which follows
the standard itself; every other kind of array goes through ``array-api-compat``, imported only then, so that
the tasks import on a machine without it.

Masks are often used as factors: on random masks a branching ``where`` costs an order of magnitude more.
"""

import importlib
from typing import Any, TypeAlias

import numpy

Array: TypeAlias = Any
"""A numpy array or a torch tensor; shapes are in the docstrings."""


def namespace_of(array: Array) -> Any:
    """Return the array-API namespace of an array: numpy itself, or array-api-compat's for other libraries."""
    if isinstance(array, numpy.ndarray | numpy.generic):
        return numpy
    return importlib.import_module("array_api_compat").array_namespace(array)


def integers(uniform: Array, low: int | Array, high: int | Array) -> Array:
    """Integers uniform in ``low .. high - 1`` from float64 uniform numbers on the grid of 2^-53, as int64.

    A range of n values deviates from uniform by less than n / 2^53 in each probability. The product never
    rounds up to n: u ≤ 1 - 2^-53 gives u·n ≤ n - n/2^53, and n/2^53 is at least half the spacing of floats
    just below n (exactly half only when n is a power of two, where n - n/2^53 is itself a float).

    >>> integers(numpy.array([0.0, 0.49, 1 - 2.0**-53]), 10, 20).tolist()
    [10, 14, 19]
    """
    xp = namespace_of(uniform)
    drawn = xp.astype(uniform * (high - low), xp.int64)
    return drawn if isinstance(low, int) and low == 0 else drawn + low


def small_integers(xp: Any, bound: int) -> Any:
    """Return the smallest integer type of namespace ``xp`` among int8 and int32 that holds ±``bound``."""
    return xp.int8 if bound <= 127 else xp.int32


def columns(like: Array, count: int) -> Array:
    """Return the row vector 0 .. count-1 (shape ``(1, count)``, int64) on the device of ``like``."""
    xp = namespace_of(like)
    return xp.reshape(xp.arange(count, dtype=xp.int64, device=like.device), (1, count))


def full_like(like: Array, shape: tuple[int, ...], value: int) -> Array:
    """Return an int64 array of one value on the device of ``like``."""
    xp = namespace_of(like)
    return xp.full(shape, value, dtype=xp.int64, device=like.device)


def first_true(mask: Array) -> Array:
    """Column of the first true entry of every row (0 where there is none): (rows, n) bool gives (rows, 1)."""
    xp = namespace_of(mask)
    # The standard has no argmax of bools; numpy has a fast one.
    return xp.argmax(mask if xp is numpy else xp.astype(mask, xp.int8), axis=1, keepdims=True)


def take_rows(array: Array, indices: Array) -> Array:
    """``array[row, indices[row, c]]`` for every row: shapes (rows, n) and (rows, c) give (rows, c)."""
    xp = namespace_of(array)
    return xp.take_along_axis(array, indices, axis=1)


def random_order(uniform: Array) -> Array:
    """Return a uniformly random permutation of the columns for every row, from one uniform number per column.

    Shape (rows, n) in and out; entry c is the index that comes c-th. Equal draws are ordered by column, which
    happens with probability below n^2 / 2^53.
    """
    xp = namespace_of(uniform)
    return xp.argsort(uniform, axis=-1, stable=True)


def distinct_integers(uniform: Array, bound: int) -> Array:
    """Uniformly random sorted q-subsets of ``0 .. bound - 1``, from q uniform numbers each (last axis).

    Draws without replacement: the t-th draw picks among the ``bound - t`` values that are left. The loops run
    over q, which the papers keep small, never over rows or positions.

    >>> distinct_integers(numpy.array([[0.0, 0.0, 0.0], [0.99, 0.99, 0.99]]), 5).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    xp = namespace_of(uniform)
    size = uniform.shape[-1]
    chosen: list[Array] = []
    for turn in range(size):
        value = integers(uniform[..., turn], 0, bound - turn)
        # Walk the earlier choices in ascending order and step over each: value becomes the value-th free one.
        placed: list[Array] = []
        for earlier in chosen:
            value = value + xp.astype(value >= earlier, xp.int64)
        for earlier in chosen:
            placed.append(xp.minimum(earlier, value))
            value = xp.maximum(earlier, value)
        chosen = [*placed, value]
    return xp.stack(chosen, axis=-1)


def to_numpy(array: Array) -> "numpy.ndarray[Any, Any]":
    """Return the array as numpy, brought to the host where it lives elsewhere."""
    if namespace_of(array) is numpy:
        return numpy.asarray(array)
    return array.detach().cpu().numpy()
