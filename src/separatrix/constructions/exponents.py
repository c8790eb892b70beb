"""Which constant Kc the fixed point of BHBK24 B.2 takes: the steps are N^-Kc, the range is ±N^Kc.

The repaired proofs of BHBK24 need Kc = 2 (erratum E4: at Kc = 1 uniform attention over N + 1 positions rounds to 0).
A construction whose scores or sums are larger takes the first Kc from there on that holds them; one that looks up
addresses and asks for one mismatch at most is right with Kc = 1 as well, and takes it where numbers of Kc = 2 no longer
fit into machine words. Thresholds of features (Theorem 13) have no such choice: they average over N + 1 positions, so
that from N = 2^16 on they are built, and the checker leaves them undecided.
"""

from fractions import Fraction

from separatrix.arithmetic import FixedPoint

USUAL = 2


def least_exponent(length: int, reach: int | Fraction) -> int:
    """Return the smallest Kc from 2 on whose range N^Kc is at least ``reach``, so that its steps are at most
    1/``reach``.

    >>> [least_exponent(16, reach) for reach in (0, 256, 257)]
    [2, 2, 3]
    """
    exponent = USUAL
    while length**exponent < reach:
        exponent += 1
    return exponent


def exponent_in_words(length: int) -> int:
    """Kc = 2, or 1 from the length on at which numbers of Kc = 2 no longer fit into machine words.

    For constructions that are right with both; the checker computes in machine words.

    >>> [exponent_in_words(1 << power) for power in (4, 15, 16, 20)]
    [2, 2, 1, 1]
    """
    return 1 if FixedPoint(length, USUAL).dtype == object else USUAL
