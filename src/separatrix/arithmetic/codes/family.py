"""What a family of sign codes must offer, and the shared half of the linear ones.

A family proposes codes for a given N and γ (a width it expects and the parameters that describe the code) and
builds a code from parameters with exactly verified distances. ``sign_code`` collects the proposals of all families
and builds from the narrowest on; a proposal is a guess until it was built.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from separatrix.arithmetic.codes.linear import LinearRule, WeightRange, dropped_places
from separatrix.arithmetic.codes.sign_code import Parameters, SignCode
from separatrix.arithmetic.codes.weights import linear_distances
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError


@final
@dataclass(frozen=True)
class Proposal:
    """A code that a family expects to fit, not verified yet."""

    family: str
    width: int
    parameters: Parameters


@final
@dataclass(frozen=True)
class Member:
    """One linear code of a family before shortening and puncturing."""

    weights: WeightRange
    parameters: Parameters


class CodeFamily(ABC):
    """A family of sign codes; each file of ``families/`` exports one as ``FAMILY``."""

    name: str
    title: str

    @abstractmethod
    def proposals(self, count: int, max_inner: Fraction, two_sided: bool) -> Iterable[Proposal]:
        """Codes of this family expected to hold ``count`` vectors within the bound, in any order."""

    @abstractmethod
    def build(self, count: int, parameters: Parameters) -> SignCode:
        """Return the code with these parameters, its distances measured exactly over the first ``count`` words."""


class LinearFamily(CodeFamily):
    """A family of linear codes: it lists members and makes generator rows, the rest is common."""

    @abstractmethod
    def members(self, dimension: int, two_sided: bool) -> Iterable[Member]:
        """Return members with at least this dimension, with proven (or recorded) bounds on their weights."""

    @abstractmethod
    def rows(self, parameters: Parameters) -> tuple[Sequence[int], int]:
        """Generator rows and length of a member."""

    @final
    def proposals(self, count: int, max_inner: Fraction, two_sided: bool) -> Iterable[Proposal]:
        """Return every member, shortened and punctured as far as its proven distance allows."""
        dimension = bits_for(count)
        for member in self.members(dimension, two_sided):
            dropped = member.weights.narrowest(dimension, max_inner, two_sided)
            if dropped is not None:
                places = {"shortened": dropped[0], "punctured": dropped[1]}
                width = member.weights.length - sum(dropped)
                yield Proposal(self.name, width, {**member.parameters, **places})

    @final
    def build(self, count: int, parameters: Parameters) -> SignCode:
        """Derive the code and weigh all its words."""
        rows, length = self.rows(parameters)
        shortened = integer(parameters, "shortened", 0, length)
        punctured = integer(parameters, "punctured", 0, length - shortened)
        rule = dropped_places(rows, length, shortened, punctured)
        needed = bits_for(count)
        if len(rule.rows) < needed:
            raise SeparatrixError(f"this {self.name} code has 2^{len(rule.rows)} words, not {count}; shorten it less")
        used = LinearRule(rule.rows[:needed], rule.width)
        distances = linear_distances(used.rows, used.width)
        return SignCode(self.name, count, used.width, parameters, distances, used)


def complementary_members(
    length: int, dimension: int, lightest: int, parameters: Parameters, two_sided: bool
) -> Iterable[Member]:
    """Return a code with the all-one word, and for the two-sided bound its half without that word.

    The words of such a code come in complementary pairs, so no weight of the half exceeds length − lightest. The half
    of an evaluation code may vanish at place 0; whether that place is worth keeping depends on the bound, so both are
    given.
    """
    if not two_sided:
        yield Member(WeightRange(length, dimension, lightest, length), {**parameters, "constant": 1, "origin": 1})
        return
    heaviest = length - lightest
    for origin in (0, 1):
        # Dropping a place costs at most one unit of distance; nothing at all when every word vanishes there.
        yield Member(
            WeightRange(length - 1 + origin, dimension - 1, lightest, heaviest),
            {**parameters, "constant": 0, "origin": origin},
        )


def without_constant(rows: Sequence[int], length: int, parameters: Parameters) -> tuple[Sequence[int], int]:
    """Generator rows, constant row first, as the parameters ask: with or without the constant and place 0."""
    constant = integer(parameters, "constant", 0, 1)
    dropped = 1 - integer(parameters, "origin", 0, 1)
    return [row >> dropped for row in rows[1 - constant :]], length - dropped


def integer(parameters: Parameters, name: str, lowest: int, highest: int) -> int:
    """Return one integer parameter, checked, because parameters may come from a file."""
    value = parameters.get(name)
    if not isinstance(value, int) or not lowest <= value <= highest:
        raise SeparatrixError(f"code parameter {name} is {value!r}; give an integer in {lowest}..{highest}")
    return value


def integers(parameters: Parameters, name: str, lowest: int, highest: int) -> tuple[int, ...]:
    """Return one parameter that is a list of integers, checked."""
    value = parameters.get(name)
    if isinstance(value, int) or value is None or not all(lowest <= each <= highest for each in value):
        raise SeparatrixError(f"code parameter {name} is {value!r}; give a list of integers in {lowest}..{highest}")
    return tuple(value)
