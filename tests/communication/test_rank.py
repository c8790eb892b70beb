"""Ranks against exact arithmetic, and certificates that a corrupted version does not pass."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.communication.classics import disjointness, equality, greater_than
from separatrix.communication.elimination import pivots_modulo, primes, rank_modulo
from separatrix.communication.matrix import communication_matrix, pack
from separatrix.communication.rank import MinorCertificate, minor_bits, rational_rank, verify_minor


def slow_rank(values: list[list[int]], prime: int | None = None) -> int:
    """Textbook elimination over the rationals or modulo a prime."""
    rows = [[Fraction(entry) if prime is None else entry % prime for entry in row] for row in values]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((row for row in range(rank, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for row in range(rank + 1, len(rows)):
            if prime is None:
                factor = rows[row][column] / rows[rank][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[rank], strict=True)]
            else:
                factor = rows[row][column] * pow(rows[rank][column], -1, prime)
                rows[row] = [(a - factor * b) % prime for a, b in zip(rows[row], rows[rank], strict=True)]
        rank += 1
    return rank


def low_rank(seed: int, size: int, rank: int) -> numpy.ndarray:
    """A matrix of whole numbers whose rank is at most ``rank``."""
    generator = numpy.random.default_rng(seed)
    left = generator.integers(0, 2, (size, rank))
    right = generator.integers(0, 2, (rank, size))
    return left @ right


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_ranks_agree_with_textbook_elimination(seed, rows, columns, classes):
    values = numpy.random.default_rng(seed).integers(0, classes, (rows, columns))
    matrix = pack(values, classes)
    rank = rational_rank(matrix)
    assert rank.lower <= slow_rank(values.tolist()) <= rank.upper
    assert rank.exact
    assert verify_minor(matrix, rank.certificate)


@given(st.integers(0, 1000), st.sampled_from([2, 3, 7, 1009, primes(1)[0]]))
@settings(max_examples=20, deadline=None)
def test_elimination_modulo_a_prime_is_exact_across_block_sizes(seed, prime):
    size = 20 + seed % 180
    values = low_rank(seed, size, 5 + seed % 30)
    assert rank_modulo(values, prime) == int(flint.nmod_mat(size, size, values.ravel().tolist(), prime).rank())
    found = pivots_modulo(values, prime)
    minor = values[numpy.ix_(found.rows, found.columns)]
    assert int(flint.nmod_mat(len(minor), len(minor), minor.ravel().tolist(), prime).det()) != 0


def test_large_residues_do_not_overflow():
    prime = primes(1)[0]
    values = numpy.random.default_rng(0).integers(0, prime, (300, 300))
    values[200:] = (values[:100] * 3 + values[100:200]) % prime
    assert rank_modulo(values, prime) == 200


def test_rank_of_deficient_matrices_is_proved_by_primes():
    values = low_rank(3, 40, 6)
    rank = rational_rank(pack(values))
    assert rank.exact
    assert rank.why_at_most == "primes"
    assert rank.lower == int(flint.fmpz_mat(40, 40, values.ravel().tolist()).rank()) <= 6
    product = 1
    for prime in rank.moduli:
        product *= prime
    assert product > 1 << minor_bits(pack(values).distinct.matrix.dense(), rank.lower + 1)


def test_no_more_primes_are_used_than_the_bound_on_minors_asks_for():
    """Rows of two ones among 2k columns have rank 2k - 1; at k = 17 one prime above 2^19 is enough."""
    ones = numpy.eye(17, dtype=int)
    rank = rational_rank(pack(numpy.array([[*left, *right] for left in ones for right in ones])))
    assert (rank.lower, rank.upper, rank.why_at_most) == (33, 33, "primes")
    assert len(rank.moduli) == 1
    assert rank.moduli[0] > 1 << 19


def test_without_work_the_rank_is_an_interval():
    rank = rational_rank(pack(low_rank(3, 40, 6)), work=0)
    assert not rank.exact
    assert "to" in rank.in_words()
    assert rank.lower <= 6 < rank.upper


def test_a_prime_that_divides_a_minor_gives_only_a_lower_bound():
    values = numpy.array([[1, 1], [1, 4]])
    assert rank_modulo(values, 3) == 1
    assert rational_rank(pack(values)).lower == 2


@given(st.integers(0, 1000), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_hadamard_bounds_every_minor(seed, order):
    values = numpy.random.default_rng(seed).integers(0, 2 + seed % 3, (6, 6))
    chosen = numpy.random.default_rng(seed + 1)
    rows, columns = chosen.permutation(6)[:order], chosen.permutation(6)[:order]
    minor = values[numpy.ix_(rows, columns)]
    determinant = int(flint.fmpz_mat(order, order, minor.ravel().tolist()).det())
    assert abs(determinant) < 1 << minor_bits(values.astype(numpy.uint8), order)


def test_corrupted_certificates_are_rejected():
    matrix = communication_matrix(disjointness(4))
    good = rational_rank(matrix).certificate
    assert verify_minor(matrix, good)
    assert good.order == 15
    # The row of the empty set is zero, a row named twice makes the minor vanish, 4 is not a prime.
    assert not verify_minor(matrix, replace(good, rows=(0, *good.rows[1:])))
    assert not verify_minor(matrix, replace(good, rows=(good.rows[1], *good.rows[1:])))
    assert not verify_minor(matrix, replace(good, rows=good.rows[1:]))
    assert not verify_minor(matrix, replace(good, prime=4))
    inflated = MinorCertificate(good.prime, tuple(range(16)), tuple(range(16)))
    assert not verify_minor(matrix, inflated)


@pytest.mark.parametrize("n", range(1, 8))
def test_ranks_of_the_classics(n):
    assert rational_rank(communication_matrix(equality(n))).lower == 2**n
    assert rational_rank(communication_matrix(disjointness(n, "disjoint"))).lower == 2**n
    intersecting = rational_rank(communication_matrix(disjointness(n)))
    assert (intersecting.lower, intersecting.upper) == (2**n - 1, 2**n - 1)
    assert rational_rank(communication_matrix(greater_than(n))).lower == 2**n - 1


def test_the_zero_matrix_has_rank_zero():
    rank = rational_rank(pack(numpy.zeros((3, 4), dtype=int)))
    assert (rank.lower, rank.upper) == (0, 0)
    assert verify_minor(pack(numpy.zeros((3, 4), dtype=int)), rank.certificate)


def test_a_rank_is_told_with_its_proof():
    full = rational_rank(communication_matrix(equality(3)))
    assert full.in_words() == f"8 (minor modulo {full.certificate.prime}; distinct rows)"
    by_primes = rational_rank(pack(low_rank(3, 40, 6)))
    assert f"{len(by_primes.moduli)} primes" in by_primes.in_words()


def test_a_first_prime_that_divides_every_largest_minor_is_found_out(monkeypatch):
    """Modulo 3 the matrix has rank 3; another prime shows more, so that the rank stays an interval."""
    monkeypatch.setattr("separatrix.communication.rank.primes", lambda count: (3, 1048573, 1048571)[:count])
    generator = numpy.random.default_rng(0)
    values = 3 * generator.integers(0, 70, (6, 7))
    values[:3, :3] += numpy.eye(3, dtype=numpy.int64)
    rank = rational_rank(pack(values))
    assert (rank.lower, rank.upper, rank.exact) == (3, 6, False)
