"""Kerdock codes: 4^m words of length 2^m, m even, with inner products 0, ±2^(−m/2) and −1.

They hold the square of the number of vectors of a Hadamard code at the price of inner products 2^(−m/2) (Kerdock,
1972), and no linear code of that length does as well: 4096 vectors of width 64 within 1/8, 65536 of width 256 within
1/16. BHBK24 Lemma 2 has no counterpart; at γ = 2^(−m/2) it would draw about 11·m·2^m random signs for as many vectors.
"""

from typing import final

from separatrix.arithmetic.codes.families._cosets import CosetFamily


@final
class Kerdock(CosetFamily):
    """Unions of cosets of the first-order Reed–Muller code."""

    name = "kerdock"
    title = "Kerdock codes from the Galois ring of characteristic 4"
    variables = (6, 8, 10, 12)
    cubes = (0,)


FAMILY = Kerdock()
