"""Delsarte–Goethals codes: Kerdock codes with more words at a smaller distance.

Adding the doubled traces of multiples of x^3, x^5, …, x^(1 + 2^r) to the linear part multiplies the words of the
Kerdock code of length 2^m by 2^(r(m−1)) and takes its inner products from 2^(−m/2) to 2^(r−m/2) (Delsarte and Goethals,
1975; in this form Hammons, Kumar, Calderbank, Sloane and Solé, 1994). Length 64 holds 2^17 vectors within 1/4, twice
the extended BCH code of that length; length 256 holds 2^23 within 1/8, four times the extended BCH code. BHBK24 Lemma 2
would draw 1598 random signs for 2^17 vectors.
"""

from typing import final

from separatrix.arithmetic.codes.families._cosets import CosetFamily


@final
class DelsarteGoethals(CosetFamily):
    """Unions of cosets of a code between the first and the second order Reed–Muller code."""

    name = "delsarte-goethals"
    title = "Delsarte–Goethals codes, the Kerdock codes' larger relatives"
    variables = (6, 8, 10)
    cubes = (1,)


FAMILY = DelsarteGoethals()
