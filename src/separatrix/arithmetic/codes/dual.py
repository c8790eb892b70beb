"""Dual certificates: for a set S of sign vectors, one vector whose inner product with each of them is exactly 1.

SHT23 "Construction using q-neighborly 0/1 polytopes" (after Candès and Tao, 2005) asks for sign vectors u_1 … u_N such
that every set S of q indices has a w_S with ⟨w_S, u_j⟩ = 1 on S and |⟨w_S, u_j⟩| ≤ 1/2 elsewhere. The one computed here
is the least-norm one, w_S = U_S (U_Sᵀ U_S)⁻¹ 1, in exact rational numbers.

Which sets have a good one is decided for all of them at once from the inner products. Let u_j have norm 1, E the matrix
of inner products of different members of S, and x = (I + E)⁻¹ 1, so that w_S = Σ_{i∈S} x_i u_i. Write p and n for the
largest sums of q - 1 positive and of q - 1 negated negative inner products, a for the largest sum of q positive ones.
If p + n < 1, then 0 < x_i ≤ 1/(1 - n): this holds at E = 0, the bounds x_i ≤ 1 + n·max x and x_i ≥ 1 - p·max x hold
as long as x ≥ 0, and along t·E, 0 ≤ t ≤ 1, the second one keeps x away from 0. So outside S

    ⟨w_S, u_j⟩ = Σ_{i∈S} x_i ⟨u_i, u_j⟩ ≤ a / (1 - n).

Deviation (E9): the slides' 1/2 is not needed, any bound below 1 will do with a larger gain. Inner products of at most
1/(2q) give q/(q + 1), those of at most 1/(3q - 1) give 1/2.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq_mat, fmpz_mat
from numpy.typing import NDArray


def dual_multiples(gram: NDArray[np.int64]) -> tuple[list[int], int]:
    """x = G⁻¹ 1 over a common denominator, for the inner products G (q, q) of the rows of S; 0 where G has no inverse.

    w_S = Σ x_i u_i depends on the rows through this alone.
    """
    size = len(gram)
    exact = fmpz_mat(size, size, gram.reshape(-1).tolist())
    if size == 0 or int(exact.det()) == 0:
        return [0] * size, 1
    solution = fmpq_mat(exact).solve(fmpq_mat(fmpz_mat(size, 1, [1] * size)))
    numerators, denominator = solution.numer_denom()
    return [int(each) for each in numerators.entries()], int(denominator)


def outside_bound(inner_products: Sequence[int], width: int, sparsity: int) -> Fraction | None:
    """Return the bound a / (1 - n) of the module's text; None where it is not below 1.

    ``inner_products``, in parts of ``width``, are those of one vector with all others, such that every other vector
    sees no larger sums: all words but one of a linear code.

    >>> outside_bound([1] * 20 + [-1] * 20, 16, 8)
    Fraction(8, 9)
    """
    ranked = sorted(inner_products)
    least = sum(max(-each, 0) for each in ranked[: sparsity - 1])
    most = sum(max(each, 0) for each in ranked[-sparsity:])
    return Fraction(most, width - least) if most + least < width else None
