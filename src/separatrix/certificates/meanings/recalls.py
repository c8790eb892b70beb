"""Recall: queries ask for the label that follows the earlier point most like them."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

import numpy

from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.verdict import OtherClaimError, Tokens
from separatrix.tasks import Task


@dataclass(frozen=True)
class SymbolContents:
    """Points are distinct symbols 0 … ``keys`` - 1; a query repeats one of them, and no two queries the same."""

    keys: int


@dataclass(frozen=True)
class VectorContents:
    """Points are whole-number vectors of norm at most ``norm``; a query's best product leads by ``ahead``."""

    dimension: int
    norm: Fraction
    ahead: Fraction


@dataclass(frozen=True)
class Recall:
    """Point i stands at position 2i and its label right after it, for ``pairs`` pairs; all else are points.

    A query at position q asks for the label of one of the pairs before it, the one whose point is most like it. Labels
    are free; label y is token ``keys`` + y, or the cell (1, y, 0 … 0) where points are cells (0, 0, coordinates).
    """

    pairs: int
    queries: tuple[int, ...]
    labels: int
    contents: SymbolContents | VectorContents
    covered: str

    def pairs_before(self, queries: Tokens) -> Tokens:
        """How many pairs queries at these positions can mean."""
        return numpy.minimum(self.pairs, queries // 2)


def recall_of(task: Task, length: int) -> Recall:
    """The description of a recall task; raises for other tasks."""
    parameters, name = task.parameters(), known_name(task)
    if name in ("mqar", "associative-recall"):
        several = name == "mqar"
        pairs = length // 2 if several else length
        keys = parameters["keys"] or (length if several else 2 * length)
        queries = tuple(range(2 * pairs, 3 * pairs)) if several else (2 * pairs,)
        asked = f"{pairs}!" if several else str(pairs)
        covered = f"{keys}!/{keys - pairs}!*{parameters['labels']}^{pairs}*{asked}"
        return Recall(pairs, queries, parameters["labels"], SymbolContents(keys), covered)
    if name == "nearest-neighbour":
        d, labels, margin = parameters["dimension"], parameters["labels"], Fraction(parameters["margin"])
        # The smallest multiple of 2^-20 that is at least √d, or slightly more.
        root = Fraction(isqrt(d << 40) + 1, 1 << 20)
        hypercube = parameters["points"] == "hypercube"
        radius = Fraction(0) if hypercube else Fraction(1 << 20)
        kind = f"2^{length * d}*{labels}^{length - 1}" if hypercube else f"unit vectors on the grid 2^-20 in R^{d}"
        # Products of corners differ by multiples of 2.
        ahead = Fraction(2 * ceil(margin * d / 2)) if hypercube else margin * radius**2
        contents, queries = VectorContents(d, radius + root, ahead), tuple(range(length, 2 * length, 2))
        return Recall(length - 1, queries, labels, contents, f"all of {kind} with margin {margin}")
    raise OtherClaimError(f"{name} does not ask for the label of an earlier point")
