"""Kerdock words as cosets of the first-order Reed–Muller code, through the Galois ring of characteristic 4.

These codes serve the vectors of BHBK24 Lemma 2 at small γ. A Kerdock word is the Gray image of a sequence over Z₄ that
satisfies a linear recurrence whose polynomial is the lift of a primitive polynomial (Hammons, Kumar, Calderbank, Sloane
and Solé, 1994). The recurrence has r digits of state, each a + 2b: the bits b, and adding constants, only add words of
RM(1, r + 1) to the Gray image, so the code is the union of the 2^r cosets q_a + RM(1, r + 1) with q_a the image of the
state a of zeros and ones.

Because the Gray map takes Lee distance to Hamming distance and the sequences are closed under subtraction, the
distances between two cosets q_a and q_b are the weights of the coset of a ⊕ b, so weighing all words checks all pairs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from separatrix.arithmetic.codes.binary_field import BinaryField, primitive_polynomial
from separatrix.arithmetic.codes.family import CodeFamily, Proposal, integer
from separatrix.arithmetic.codes.linear import WeightRange
from separatrix.arithmetic.codes.sign_code import Distances, Indices, Parameters, SignCode, UInt8Array
from separatrix.arithmetic.codes.weights import coset_distribution, linear_distances, pack_words
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError

MOST_SHORTENED = 3
# When places are dropped, all words between every two cosets are weighed: about 2^(bits of a word's index + m) of them.
MOST_PAIR_BITS = 26


def lifted_polynomial(degree: int) -> tuple[int, ...]:
    """Coefficients modulo 4, constant first, of the lift of the primitive polynomial (Graeffe's method).

    >>> lifted_polynomial(3)
    (3, 1, 2, 1)
    """
    bits = [primitive_polynomial(degree) >> place & 1 for place in range(degree + 1)]
    # With even part e and odd part o, the roots of ±(e² − o²), read as a polynomial in x², are the squared roots.
    even = [bit if place % 2 == 0 else 0 for place, bit in enumerate(bits)]
    odd = [bit if place % 2 == 1 else 0 for place, bit in enumerate(bits)]
    square = np.convolve(even, even) - np.convolve(odd, odd)
    lifted = square[::2]
    sign = int(lifted[-1])
    return tuple(int(each) * sign % 4 for each in lifted)


@cache
def ring_powers(degree: int) -> NDArray[np.uint8]:
    """Column t holds the digits modulo 4 of the t-th power of the ring's generator; the last column is zero."""
    polynomial = lifted_polynomial(degree)
    columns = np.zeros((degree, 1 << degree), dtype=np.uint8)
    state = [1] + [0] * (degree - 1)
    for power in range((1 << degree) - 1):
        columns[:, power] = state
        top = state[-1]
        state = [
            (low - top * coefficient) % 4 for low, coefficient in zip([0, *state[:-1]], polynomial[:-1], strict=True)
        ]
    columns.flags.writeable = False
    return columns


def coset_leaders(degree: int, cosets: NDArray[np.int64]) -> UInt8Array:
    """The Gray images q_a of these states a, one row of 2^(degree + 1) bits each."""
    states = (cosets[:, None] >> np.arange(degree) & 1).astype(np.uint8)
    # Sums of at most 13 digits below 4 stay below 256.
    digits = ((states @ ring_powers(degree)) % 4).astype(np.uint8)
    low = np.bitwise_and(digits, 1, dtype=np.uint8)
    high = np.right_shift(digits, 1, dtype=np.uint8)
    return np.concatenate([high, high ^ low], axis=1, dtype=np.uint8)


def linear_rows(degree: int, cubes: int) -> UInt8Array:
    """Rows of the linear part in the coordinates of the Gray image, the all-one row last.

    Adding 2u to a sequence adds (u | u) to its image. The rows are those of RM(1, degree + 1) and, for j = 1..cubes,
    the doubled traces of the multiples of x^(1 + 2^j), which make the Delsarte–Goethals codes.
    """
    field = BinaryField(degree)
    powers = field.powers(field.order)
    doubled = [(ring_powers(degree) & 1).astype(np.uint8)]
    for exponent in (1 + (1 << j) for j in range(1, cubes + 1)):
        arguments = powers[np.arange(field.order) * exponent % field.order]
        for place in range(degree):
            traces = field.traces(field.scale(arguments, 1 << place))
            doubled.append(np.append(traces, np.uint8(0))[None, :])
    half = np.concatenate(doubled)
    second = np.repeat(np.array([0, 1], dtype=np.uint8), 1 << degree)
    ones = np.ones((1, 2 << degree), dtype=np.uint8)
    return np.concatenate([np.concatenate([half, half], axis=1), second[None, :], ones])


@final
@dataclass(frozen=True)
class CosetRule:
    """Index = coset number, then message bits of the linear part (with or without the all-one word).

    Shortened at the first places (only words that vanish there, without those places), punctured at the next ones.
    """

    degree: int
    cubes: int
    constant: bool
    shortened: int = 0
    punctured: int = 0

    @property
    def message_bits(self) -> int:
        """Dimension of the linear part."""
        return self.degree * (1 + self.cubes) + 1 + self.constant - self.shortened

    @property
    def width(self) -> int:
        """How many places remain."""
        return (2 << self.degree) - self.shortened - self.punctured

    def words(self, indices: Indices) -> UInt8Array:
        """The words of these indices."""
        pivots, rows = self._reduced_rows()
        bits = (indices[:, None] >> np.arange(self.message_bits) & 1).astype(np.uint8)
        linear = (bits @ rows) & 1
        leaders = self._leaders(indices >> self.message_bits, pivots)
        return np.bitwise_xor(leaders, linear, dtype=np.uint8)[:, self.shortened + self.punctured :]

    def distances(self, count: int) -> Distances:
        """Exact extremes over the first ``count`` words.

        At most the last coset is incomplete, and against a complete one it already shows every linear difference, so
        all cosets may be taken as complete as soon as there are two.
        """
        dropped = self.shortened + self.punctured
        pivots, reduced = self._reduced_rows()
        rows = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") >> dropped for row in reduced]
        if count <= 1 << self.message_bits:
            return linear_distances(rows[: bits_for(count)], self.width)
        inside = linear_distances(rows, self.width)
        cosets = -(-count >> self.message_bits)
        if dropped == 0:
            # a ⊕ b of the cosets used runs through everything below the next power of two, as for messages.
            leaders = self._leaders(np.arange(1, 1 << bits_for(cosets)), pivots)
            offsets = pack_words(leaders)
            evidence = "distance-invariant (Z4-linear): weights of all words"
        else:
            # Dropping places breaks the invariance: every pair of cosets is looked at.
            packed = pack_words(self._leaders(np.arange(cosets), pivots)[:, dropped:])
            first, second = np.triu_indices(cosets, 1)
            offsets = packed[first] ^ packed[second]
            evidence = "all words between every two cosets"
        between = np.flatnonzero(coset_distribution(offsets, rows, self.width))
        smallest, largest = int(between[0]), int(between[-1])
        return Distances(min(smallest, inside.smallest), max(largest, inside.largest), evidence)

    def _reduced_rows(self) -> tuple[UInt8Array, UInt8Array]:
        """A pivot row for each shortened place, and the rows of the linear part that vanish at all of these."""
        rows = linear_rows(self.degree, self.cubes)
        rows = rows if self.constant else rows[:-1]
        pivots: list[UInt8Array] = []
        for place in range(self.shortened):
            pivot = rows[int(np.flatnonzero(rows[:, place])[0])]
            rows = rows ^ rows[:, place : place + 1] * pivot
            rows = rows[rows.any(axis=1)]
            pivots.append(pivot)
        return np.array(pivots, dtype=np.uint8).reshape(self.shortened, rows.shape[1]), rows

    def _leaders(self, cosets: NDArray[np.int64], pivots: UInt8Array) -> UInt8Array:
        """Coset leaders moved within their coset so that they vanish at the shortened places."""
        leaders = coset_leaders(self.degree, cosets)
        for place, pivot in enumerate(pivots):
            leaders ^= leaders[:, place : place + 1] * pivot
        return leaders


class CosetFamily(CodeFamily):
    """Kerdock, Delsarte–Goethals and Nordstrom–Robinson codes: they differ only in which sizes they take."""

    variables: Sequence[int]
    cubes: Sequence[int]

    @final
    def proposals(self, count: int, max_inner: Fraction, two_sided: bool) -> Iterable[Proposal]:
        """Each size with enough words; for two sides without complements and without dropping places."""
        needed = bits_for(count)
        for variables in self.variables:
            for cubes in self.cubes:
                size = 2 * variables + cubes * (variables - 1) - two_sided
                length, lightest = 1 << variables, (1 << (variables - 1)) - (1 << (variables // 2 - 1 + cubes))
                if size < needed or lightest <= 0:
                    continue
                parameters = {"variables": variables, "cubes": cubes, "constant": int(not two_sided)}
                droppable = not two_sided and size + variables <= MOST_PAIR_BITS
                spare = min(size - needed, MOST_SHORTENED) if droppable else 0
                known = WeightRange(length, needed + spare, lightest, length - lightest * two_sided)
                dropped = known.narrowest(needed, max_inner, two_sided)
                if dropped is not None:
                    shortened, punctured = dropped if droppable else (0, 0)
                    places = {"shortened": shortened, "punctured": punctured}
                    yield Proposal(self.name, length - shortened - punctured, {**parameters, **places})

    @final
    def build(self, count: int, parameters: Parameters) -> SignCode:
        """The first ``count`` words in the order of the cosets."""
        variables = integer(parameters, "variables", min(self.variables), max(self.variables))
        cubes = integer(parameters, "cubes", min(self.cubes), max(self.cubes))
        constant = integer(parameters, "constant", 0, 1)
        shortened = integer(parameters, "shortened", 0, MOST_SHORTENED * constant)
        punctured = integer(parameters, "punctured", 0, 1 << (variables - 1))
        rule = CosetRule(variables - 1, cubes, bool(constant), shortened, punctured)
        words = 1 << (rule.message_bits + rule.degree)
        if variables % 2 or count > words:
            raise SeparatrixError(
                f"this {self.name} code with m = {variables} cannot hold {count} vectors but {words}; m must be even, "
                "and large enough"
            )
        if shortened + punctured and 2 * variables + cubes * (variables - 1) + variables > MOST_PAIR_BITS:
            raise SeparatrixError(
                f"a {self.name} code with m = {variables} has too many pairs of cosets to drop places; drop none"
            )
        return SignCode(self.name, count, rule.width, parameters, rule.distances(count), rule)
