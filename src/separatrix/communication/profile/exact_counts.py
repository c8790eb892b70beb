"""Formulas that counts follow exactly where they rise: m·r^(N/h) + c, or (d·N + c)/h.

A line fitted to log2(2^(N/2 + 1) − 1) over a few lengths is steeper than the N/2 that it tends to; the formula of the
counts themselves tells that. Everything here is in integers. Four lengths at equal distances are asked for, one more
than a formula has numbers, and all of them must agree. It describes these lengths; of others it proves nothing.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

FEWEST = 4


def exact_count(lengths: Sequence[int], counts: Sequence[int]) -> str | None:
    """The formula that gives all ``counts`` (ascending) at these ascending lengths, None where none does.

    >>> exact_count([4, 6, 8, 10], [7, 15, 31, 63]), exact_count([3, 5, 7, 9], [3, 4, 5, 6])
    ('2^(N/2 + 1) − 1', '(N + 3)/2')
    >>> exact_count([4, 6, 8, 10], [7, 15, 31, 64]) is None
    True
    """
    distances = {later - earlier for earlier, later in pairwise(lengths)}
    if len(lengths) < FEWEST or len(distances) > 1:
        return None
    first, distance = lengths[0], distances.pop()
    steps = [later - earlier for earlier, later in pairwise(counts)]
    ratio = steps[1] // steps[0] if steps[0] > 0 else 0
    if ratio < 1 or any(later != ratio * earlier for earlier, later in pairwise(steps)):
        return None
    if ratio == 1:
        return _line(steps[0], distance * counts[0] - steps[0] * first, distance)
    factor, rest = divmod(steps[0], ratio - 1)
    return None if rest else _power(factor, ratio, first, distance, counts[0] - factor)


def _line(slope: int, constant: int, divisor: int) -> str:
    """(slope·N + constant)/divisor in lowest terms."""
    common = math.gcd(slope, constant, divisor)
    slope, constant, divisor = slope // common, constant // common, divisor // common
    line = f"{'' if slope == 1 else f'{slope}·'}N{_added(constant)}"
    return line if divisor == 1 else f"({line})/{divisor}"


def _power(factor: int, ratio: int, first: int, distance: int, constant: int) -> str:
    """factor·ratio^((N − first)/distance) + constant, with all powers of the ratio in the exponent."""
    exponent = 0
    while factor % ratio == 0:
        factor, exponent = factor // ratio, exponent + 1
    shift = exponent * distance - first
    if distance == 1:
        power = f"N{_added(shift)}"
        power = f"({power})" if shift else power
    elif shift % distance == 0:
        power = f"(N/{distance}{_added(shift // distance)})"
    else:
        power = f"((N{_added(shift)})/{distance})"
    return f"{'' if factor == 1 else f'{factor}·'}{ratio}^{power}{_added(constant)}"


def _added(number: int) -> str:
    return "" if number == 0 else f" {'+' if number > 0 else '−'} {abs(number)}"
