"""Rank of a communication matrix over the rationals, proved on both sides.

Lower bound: a minor that is not 0 modulo a prime is not 0, so its pivot rows and columns and the prime are a
certificate (:class:`MinorCertificate`, checked again by FLINT in :func:`verify_minor`). Upper bound, the first of these
that meets it: the number of distinct rows or columns, zero ones not counted, or many primes: if the rank modulo each of
several primes is at most r and their product exceeds Hadamard's bound on every minor of order r + 1, all those minors
are 0. Where neither is reached within the work allowed, the rank is stated as an interval.
"""

import importlib
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.communication.elimination import (
    pivots_modulo,
    primes,
    rank_modulo,
)
from separatrix.communication.matrix import CommunicationMatrix

DEFAULT_WORK = 20_000_000_000
"""Multiplications that the proof of the upper bound may take: a few seconds."""


@dataclass(frozen=True)
class MinorCertificate:
    """The minor of these rows and columns is not 0 modulo this prime, so the rank is at least its order."""

    prime: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def order(self) -> int:
        """The rank that it proves."""
        return len(self.rows)


@dataclass(frozen=True)
class RationalRank:
    """``lower`` ≤ rank ≤ ``upper``, each with its proof.

    ``why_at_most``: "distinct rows", "distinct columns" or "primes"; for the last ``moduli`` holds the primes.
    """

    lower: int
    upper: int
    certificate: MinorCertificate
    why_at_most: str
    moduli: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether both proofs meet."""
        return self.lower == self.upper

    def in_words(self) -> str:
        """Return the rank, or the interval, with its proof."""
        if not self.exact:
            return f"{self.lower} to {self.upper} (minor modulo {self.certificate.prime}; {self.why_at_most})"
        how = f"{len(self.moduli)} primes" if self.moduli else self.why_at_most
        return f"{self.lower} (minor modulo {self.certificate.prime}; {how})"


def rational_rank(matrix: CommunicationMatrix, work: int = DEFAULT_WORK) -> RationalRank:
    """Return the rank over the rationals with certificates of both sides."""
    kept = matrix.distinct
    values = kept.matrix.dense()
    prime = primes(1)[0]
    found = pivots_modulo(values, prime)
    certificate = MinorCertificate(
        prime,
        tuple(kept.first_row[list(found.rows)].tolist()),
        tuple(kept.first_column[list(found.columns)].tolist()),
    )
    lower = certificate.order
    nonzero_rows = int(values.any(axis=1).sum())
    nonzero_columns = int(values.any(axis=0).sum())
    upper, why = min((nonzero_rows, "distinct rows"), (nonzero_columns, "distinct columns"), key=lambda pair: pair[0])
    if lower == upper:
        return RationalRank(lower, upper, certificate, why)
    proved = _vanishing(values, lower, work)
    if proved is None:
        return RationalRank(lower, upper, certificate, why)
    return RationalRank(lower, lower, certificate, "primes", proved)


def _vanishing(values: NDArray[numpy.uint8], rank: int, work: int) -> tuple[int, ...] | None:
    """Primes that prove rank ≤ ``rank``, or None when they would take more work than allowed or one disagrees."""
    bits = minor_bits(values, rank + 1)
    # Primes just below 2^20 and, for those the search reaches, above 2^19 contribute at least 19 bits each.
    count = bits // 19 + 1
    if 2 * count * rank * values.size > work:
        return None
    moduli = primes(count)
    while math.prod(moduli[:-1]) > 1 << bits:
        moduli = moduli[:-1]
    if any(rank_modulo(values, prime) > rank for prime in moduli):
        return None
    assert math.prod(moduli) > 1 << bits
    return moduli


def minor_bits(values: NDArray[numpy.uint8], order: int) -> int:
    """Return a number b such that every minor of this order is smaller than 2^b in magnitude (Hadamard).

    The product of the largest row norms; for 0/1 matrices also (n + 1)^((n + 1)/2) / 2^n, which is smaller.

    >>> minor_bits(numpy.eye(4, dtype=numpy.uint8), 4)
    2
    """
    norms = numpy.sort((values.astype(numpy.int64) ** 2).sum(axis=1))[::-1][:order].tolist()
    squared = math.prod(norms)
    if values.max(initial=0) <= 1:
        squared = min(squared, math.ceil(Fraction((order + 1) ** (order + 1), 4**order)))
    return (max(1, squared).bit_length() + 1) // 2 + 1


def verify_minor(matrix: CommunicationMatrix, certificate: MinorCertificate) -> bool:
    """Return whether the certificate's minor is really not 0 modulo its prime, computed by FLINT.

    Shares no code with the elimination that found it. Memory grows with the square of the order.
    """
    rows = numpy.array(certificate.rows, dtype=numpy.int64)
    columns = numpy.array(certificate.columns, dtype=numpy.int64)
    if len(set(certificate.rows)) != len(rows) or len(set(certificate.columns)) != len(columns):
        return False
    if len(rows) != len(columns):
        return False
    if not len(rows):
        return True
    flint: Any = importlib.import_module("flint")
    if not bool(flint.fmpz(certificate.prime).is_prime()):
        return False
    minor = matrix.entries(rows[:, None], columns[None, :])
    return int(flint.nmod_mat(len(rows), len(rows), minor.ravel().tolist(), certificate.prime).det()) != 0
