"""Gaussian elimination modulo a prime: the work behind ``rank.py``.

Modulo p < 2^20 the elimination is recursive over halves of the rows, so that nearly all work is matrix multiplication
in double precision: sums of up to 2^13 products of residues stay below 2^53 and are therefore exact. A matrix of side n
costs about 2n³ multiplications and 8·n² bytes a few times over.
"""

from dataclasses import dataclass
from functools import cache

import numpy
from numpy.typing import NDArray

from separatrix.communication.problem import Integers

Residues = NDArray[numpy.float64]
PRIMES_BELOW = 1 << 20
LONGEST_SUM = 1 << 13
"""2^13 products of two residues below 2^20 sum to less than 2^53."""
FEW_ROWS = 64


@dataclass(frozen=True)
class Pivots:
    """Rows and columns whose minor is invertible; as many as the rank."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


@cache
def primes(count: int) -> tuple[int, ...]:
    """Return the ``count`` largest primes below 2^20, descending.

    >>> primes(2)
    (1048573, 1048571)
    """
    sieve = numpy.ones(PRIMES_BELOW, dtype=bool)
    sieve[:2] = False
    for number in range(2, int(PRIMES_BELOW**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return tuple(numpy.flatnonzero(sieve)[::-1][:count].tolist())


def pivots_modulo(values: NDArray[numpy.generic], prime: int) -> Pivots:
    """Pivot rows and columns of an integer matrix (rows, columns) modulo a prime below 2^20."""
    residues = numpy.remainder(values.astype(numpy.int64), prime).astype(numpy.float64)
    rows, columns, _ = _echelon(residues, numpy.arange(len(residues)), prime, reduced=False)
    return Pivots(tuple(rows.tolist()), tuple(columns.tolist()))


def rank_modulo(values: NDArray[numpy.generic], prime: int) -> int:
    """Return the rank of an integer matrix modulo a prime below 2^20."""
    return len(pivots_modulo(values, prime).rows)


def _echelon(
    block: Residues, numbers: Integers, prime: int, reduced: bool
) -> tuple[Integers, Integers, Residues]:  # fmt: skip
    """Return numbers of pivot rows, pivot columns and, if ``reduced``, the row space with the identity at those
    columns."""
    if len(block) <= FEW_ROWS:
        return _echelon_of_few(block, numbers, prime)
    half = len(block) // 2
    rows, columns, upper = _echelon(block[:half], numbers[:half], prime, reduced=True)
    lower = block[half:]
    if len(columns) and lower[:, columns].any():
        lower = _minus_product(lower, lower[:, columns], upper, prime)
    more_rows, more_columns, lower = _echelon(lower, numbers[half:], prime, reduced)
    rows, columns = numpy.concatenate([rows, more_rows]), numpy.concatenate([columns, more_columns])
    if not reduced:
        return rows, columns, lower
    if len(more_columns) and len(upper) and upper[:, more_columns].any():
        upper = _minus_product(upper, upper[:, more_columns], lower, prime)
    return rows, columns, numpy.concatenate([upper, lower])


def _echelon_of_few(block: Residues, numbers: Integers, prime: int) -> tuple[Integers, Integers, Residues]:
    """Return the same for a few rows: only their small transformation is updated, and applied to the whole rows at the
    end."""
    count = len(block)
    transform = numpy.eye(count)
    rows: list[int] = []
    columns: list[int] = []
    for row in range(count):
        current = _modulo(transform[row] @ block, prime)
        column = int(numpy.argmax(current != 0))
        if current[column] == 0:
            continue
        transform[row] = _modulo(transform[row] * pow(int(current[column]), -1, prime), prime)
        others = _modulo(transform @ block[:, column], prime)
        others[row] = 0
        transform = _modulo(transform - others[:, None] * transform[row], prime)
        rows.append(row)
        columns.append(column)
    kept = numpy.array(rows, dtype=numpy.int64)
    reduced = _modulo(transform[kept] @ block, prime)
    return numbers[kept], numpy.array(columns, dtype=numpy.int64), reduced


def _minus_product(target: Residues, left: Residues, right: Residues, prime: int) -> Residues:
    """target − left·right modulo the prime, the product in pieces whose sums stay exact."""
    for start in range(0, left.shape[1], LONGEST_SUM):
        # Between −2^53 and 2^20, so the difference is exact too.
        product = left[:, start : start + LONGEST_SUM] @ right[start : start + LONGEST_SUM]
        target = _modulo(numpy.subtract(target, product, out=product), prime)
    return target


def _modulo(values: Residues, prime: int) -> Residues:
    """Residues 0 … prime − 1 of whole numbers of magnitude below 2^53; an order faster than ``numpy.remainder``."""
    quotient = numpy.floor(values * (1.0 / prime))
    quotient *= prime
    rest = numpy.subtract(values, quotient, out=quotient)
    # The rounded quotient may be off by one in either direction; the differences are exact.
    rest += prime * (rest < 0)
    rest -= prime * (rest >= prime)
    return rest
