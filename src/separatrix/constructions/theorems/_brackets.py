"""What the Dyck constructions share: codes for bracket types and the range that their numbers need.

A type of bracket is a set of w out of L coordinates, the same w for all types, so that no set contains another
(Sperner): L = log n + O(log log n). Comparing two types then needs one sign only. If a bracket closes with another
type than it was opened with, some coordinate of the closing type is missing in the opening one.
"""

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy

from separatrix.constructions.exponents import least_exponent
from separatrix.errors import SeparatrixError
from separatrix.networks import Integers
from separatrix.tasks import Task

LARGEST_TYPES = 1 << 12


@dataclass(frozen=True)
class Brackets:
    """Dyck-(types, depth) and the code of its types, 0/1 of shape (types, L) with ``weight`` ones in each row."""

    types: int
    depth: int
    code: Integers
    weight: int

    @property
    def code_width(self) -> int:
        """Coordinates L of a type."""
        return self.code.shape[1]


def brackets_of(task: Task) -> Brackets:
    """Return the language of a Dyck task with the shortest code of constant weight for its types."""
    types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
    if types > LARGEST_TYPES:
        raise SeparatrixError(f"{types} types of brackets are too many to build; choose at most {LARGEST_TYPES}")
    width = next(width for width in range(1, types + 1) if comb(width, width // 2) >= types)
    weight = next(weight for weight in range(1, width + 1) if comb(width, weight) >= types)
    code = numpy.zeros((types, width), dtype=numpy.int64)
    for row, ones in enumerate(islice(combinations(range(width), weight), types)):
        code[row, list(ones)] = 1
    return Brackets(types, depth, code, weight)


def check_range(name: str, length: int, exponent: int, largest: int) -> None:
    """Raise a one-line error if numbers up to ``largest`` do not fit into ±N^Kc."""
    if length**exponent < largest:
        enough = least_exponent(length, largest)
        raise SeparatrixError(
            f"{name} computes with whole numbers up to {largest}, and N^Kc is {length**exponent}; choose Kc >= {enough}"
        )
