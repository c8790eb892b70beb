"""A sign code: N vectors with entries ±1/√k whose inner products are known exactly.

BHBK24 Lemma 2 and Corollary 8.1 ask for N nearly orthogonal vectors T(1), …, T(N) with entries ±1/√k, each made on
demand. A vector here is a binary word w of length k read as signs (−1)^w, so ⟨T(i), T(j)⟩ = (k − 2d)/k with d the
Hamming distance of the two words, and ⟨T(i), T(i)⟩ is exactly 1 (the paper only asks for ≥ 1 − γ).

Deviation from the paper: the words come from explicit codes rather than from a derandomised projection, because a
code of the same N is several times narrower and because all N² inner products of a linear code are N weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.arithmetic.codes.linear import LinearRule

Int8Array = NDArray[np.int8]
UInt8Array = NDArray[np.uint8]
Indices = NDArray[np.int64]
Parameters = Mapping[str, "int | Sequence[int]"]
QUARTER = Fraction(1, 4)
"""The γ that every construction here asks for unless set otherwise."""


@final
@dataclass(frozen=True)
class Distances:
    """The smallest and largest Hamming distance between two different words, and how that is known."""

    smallest: int
    largest: int
    evidence: str


@final
@dataclass(frozen=True)
class SignCode:
    """N sign vectors of one width with the exact extremes of their inner products.

    >>> from separatrix.arithmetic.codes import sign_code
    >>> code = sign_code(count=16)
    >>> code.width, code.max_inner, code.signs([5]).shape
    (5, Fraction(1, 5), (1, 5))
    """

    family: str
    count: int
    width: int
    parameters: Parameters
    distances: Distances
    rule: "LinearRule"

    @property
    def max_inner(self) -> Fraction:
        """The largest inner product of two different vectors, exactly."""
        return Fraction(self.width - 2 * self.distances.smallest, self.width)

    @property
    def min_inner(self) -> Fraction:
        """The smallest inner product of two different vectors, exactly."""
        return Fraction(self.width - 2 * self.distances.largest, self.width)

    @property
    def evidence(self) -> str:
        """How the two extremes were verified."""
        return self.distances.evidence

    @property
    def description_bits(self) -> int:
        """Bits of the integers that describe the code: the parameters, the count and the width.

        Every family keeps this at O(log² N) for a fixed γ: none stores more than one field element of about log N
        bits per coordinate, and there are O(log N) coordinates.
        """
        return sum(_bits(value) for value in (*self.parameters.values(), self.count, self.width))

    def signs(self, indices: Iterable[int] | Indices) -> Int8Array:
        """Return the vectors of these indices as rows of ±1; divide by √width for unit length."""
        chosen = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices), dtype=np.int64)
        if chosen.ndim != 1 or (chosen.size and (chosen.min() < 0 or chosen.max() >= self.count)):
            raise SeparatrixError(f"indices must be a flat list of integers in 0..{self.count - 1}")
        return (1 - 2 * self.rule.words(chosen).astype(np.int8)).astype(np.int8)

    def description(self) -> dict[str, Any]:
        """Return the code as plain data, from which ``code_from_description`` makes and re-verifies it."""
        return {
            "family": self.family,
            "count": self.count,
            "width": self.width,
            "parameters": {
                name: value if isinstance(value, int) else list(value) for name, value in self.parameters.items()
            },
            "max_inner": str(self.max_inner),
            "min_inner": str(self.min_inner),
        }

    def satisfies(self, max_inner: Fraction, two_sided: bool) -> bool:
        """Return whether no inner product exceeds the bound, also not downwards when ``two_sided``."""
        return self.max_inner <= max_inner and (not two_sided or self.min_inner >= -max_inner)


def _bits(value: "int | Sequence[int]") -> int:
    """Return the bits of one integer, or of a list of them with its largest entry's width for each."""
    if isinstance(value, int):
        return max(1, value.bit_length())
    return len(value) * max((each.bit_length() for each in value), default=0)
