"""Searched codes with prescribed symmetries: quasi-cyclic codes and their relatives.

The columns of the generator are elements of GF(2^K), a union of orbits of a small group: multiplying a message by the
group permutes the places of its word, so a local search over orbits found every row of the table below within a minute
(the method of Braun, Kohnert and Wassermann for codes with prescribed automorphisms). With the trivial multiplicative
group and squaring these are the classical quasi-cyclic codes with circulants of size K, with a group of order m they
are quasi-cyclic with circulants of size m. A code is described by the group and one exponent of K bits per orbit, so by
at most K bits per coordinate: O(log² N) in the notation of BHBK24 Lemma 3.

The weights in the table are records of a run; every code built from it is weighed again in full.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from separatrix.arithmetic.codes.binary_field import MAXIMAL_DEGREE, BinaryField
from separatrix.arithmetic.codes.family import LinearFamily, Member, integer, integers
from separatrix.arithmetic.codes.linear import WeightRange
from separatrix.arithmetic.codes.sign_code import Parameters
from separatrix.errors import SeparatrixError

# Field degree K, order m, squaring step e, leaders; length, lightest and heaviest weight.
FOUND: tuple[tuple[int, int, int, tuple[int, ...], int, int, int], ...] = (
    (4, 5, 1, (1,), 10, 4, 6),
    (6, 3, 1, (9, 7), 15, 6, 10),
    (8, 5, 8, (36, 47, 21, 22), 20, 8, 16),
    (9, 1, 3, (383, 83, 61, 114, 86, 78, 43), 21, 8, 16),
    (10, 1, 2, (137, 189, 159, 205, 1, 446, 341), 31, 12, 20),
    (11, 1, 1, (309, 107, 127, 17, 509, 0), 56, 21, 35),
    (12, 9, 4, (154, 152, 0), 63, 24, 38),
    (12, 13, 1, (21,), 52, 20, 40),
    (13, 1, 1, (355, 507, 613, 895, 0), 53, 20, 40),
    # The irreducible cyclic code of length 241: one orbit, nothing to search.
    (24, 241, 1, (0,), 241, 94, 148),
)


@final
@dataclass(frozen=True)
class OrbitGroup:
    """Multiplication by an element of order ``order`` and the ``step``-fold squaring, acting on GF(2^degree)."""

    degree: int
    order: int
    step: int

    @property
    def classes(self) -> int:
        """The number of cosets of the multiplicative part; a coset is named by the smallest exponent in it."""
        return ((1 << self.degree) - 1) // self.order

    def orbit(self, exponent: int) -> tuple[int, ...]:
        """Return the cosets in one orbit, as exponents below :attr:`classes`.

        >>> OrbitGroup(degree=4, order=3, step=1).orbit(1)
        (1, 2, 4, 3)
        """
        members: list[int] = []
        current = exponent % self.classes
        while current not in members:
            members.append(current)
            current = current * pow(2, self.step, self.classes) % self.classes
        return tuple(members)


@final
class OrbitCodes(LinearFamily):
    """Linear codes whose columns are unions of orbits in GF(2^K)."""

    name = "orbit"
    title = "searched quasi-cyclic and orbit codes"

    def members(self, dimension: int, two_sided: bool) -> Iterable[Member]:
        """Return the recorded codes; their recorded heaviest weight also serves the two-sided bound."""
        for degree, order, step, leaders, length, lightest, heaviest in FOUND:
            if degree >= dimension:
                yield Member(
                    WeightRange(length, degree, lightest, heaviest),
                    {"degree": degree, "order": order, "step": step, "leaders": leaders},
                )

    def rows(self, parameters: Parameters) -> tuple[Sequence[int], int]:
        """Row b holds bit b of every column; the columns of one coset are adjacent."""
        degree = integer(parameters, "degree", 1, MAXIMAL_DEGREE)
        field = BinaryField(degree)
        order = integer(parameters, "order", 1, field.order)
        step = integer(parameters, "step", 1, degree)
        if field.order % order or degree % step:
            raise SeparatrixError(
                f"order {order} and step {step} give no group on GF(2^{degree}); they must divide "
                f"{field.order} and {degree}"
            )
        group = OrbitGroup(degree, order, step)
        columns = [
            field.power(field.generator, exponent + group.classes * turn)
            for leader in integers(parameters, "leaders", 0, field.order)
            for exponent in group.orbit(leader)
            for turn in range(group.order)
        ]
        rows = [
            sum((column >> place & 1) << position for position, column in enumerate(columns)) for place in range(degree)
        ]
        return rows, len(columns)


FAMILY = OrbitCodes()
