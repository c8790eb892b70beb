"""The space of inputs as the checker sees it: independent cells, grouped by what they may hold.

Two positions are of one *kind* when they may hold the same tokens and lie in the same ranges of every part of the
embedding; everything that depends on the token alone is then the same for both.
"""

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import EmbeddingPart, Network
from separatrix.tasks import Task


@dataclass(frozen=True)
class Kind:
    """A class of positions and the tokens they may hold."""

    members: Raw
    tokens: Raw


def kinds_of(task: Task, length: int, network: Network) -> tuple[tuple[Kind, ...], Raw]:
    """All kinds, and the kind of every position; raises unless the input space is a product of single cells."""
    if (
        type(task).assemble is not Task.assemble
        or type(task).admissible is not Task.admissible
        or task.features(length)
    ):
        raise UnsupportedError(f"the inputs of {task.name} are not independent tokens; the method needs that")
    blocks = task.space(length).blocks
    if len(blocks) != network.positions or any(block.shape[1] != 1 for block in blocks):
        raise UnsupportedError(f"{task.name} has {len(blocks)} cells, the network reads {network.positions} positions")
    position = numpy.arange(network.positions)
    identity = numpy.array([id(block) for block in blocks], dtype=numpy.int64)
    inside = [
        ((position >= part.positions[0]) & (position < part.positions[1])).astype(numpy.int64)
        for part in network.embedding
    ]
    _, first, kind = numpy.unique(
        numpy.stack([identity, *inside], axis=1), axis=0, return_index=True, return_inverse=True
    )
    # Numbered by first position: the identities of tables differ from run to run.
    rank = numpy.argsort(numpy.argsort(first))
    kind = rank[kind.reshape(-1)]
    found: list[Kind] = []
    for number in range(len(first)):
        members = numpy.nonzero(kind == number)[0]
        found.append(Kind(members, blocks[int(members[0])][:, 0]))
    return tuple(found), kind


def covered(kinds: tuple[Kind, ...]) -> str:
    """The number of inputs as a product, such as "64^1024*1024"."""
    sizes: dict[int, int] = {}
    for kind in kinds:
        sizes[len(kind.tokens)] = sizes.get(len(kind.tokens), 0) + len(kind.members)
    factors = [f"{size}^{count}" if count > 1 else str(size) for size, count in sizes.items() if size > 1]
    return "*".join(factors) or "1"


@dataclass(frozen=True)
class Source:
    """Where the numbers of some slots come from before the first layer: the token, the position, or nowhere."""

    by_token: bool
    by_position: bool


class Stream:
    """The embedding in raw fixed-point numbers, slot by slot and on demand."""

    def __init__(self, network: Network, arithmetic: FixedPoint) -> None:
        self.network = network
        self.arithmetic = arithmetic

    def source(self, slots: set[str]) -> Source:
        """What the given slots depend on."""
        parts = [part for part in self.network.embedding if part.slot in slots]
        # A part that goes by position depends on the token too where it leaves some tokens out.
        by_token = any(p.source == "token" or p.tokens[0] > 0 or p.tokens[1] < self.network.vocabulary for p in parts)
        return Source(by_token, any(p.source == "position" for p in parts))

    def rows(self, slot: str, tokens: Raw, positions: Raw) -> Raw:
        """A slot's numbers for pairs of tokens and positions: (n, width)."""
        total = numpy.zeros((len(tokens), self.network.slots.size(slot)), dtype=numpy.int64)
        for part in self.network.embedding:
            if part.slot == slot:
                total = total + _rows(part, tokens, positions, self.arithmetic)
        if total.size and int(numpy.abs(total).max()) > self.arithmetic.largest**2:
            raise UnsupportedError(f"the embedding leaves the range in slot {slot!r}; a larger Kc keeps it inside")
        return total


def _rows(part: EmbeddingPart, tokens: Raw, positions: Raw, arithmetic: FixedPoint) -> Raw:
    numbers, inside = part.row_numbers(tokens, positions)
    rows: NDArray[numpy.int64] = part.rule.rows(numbers, arithmetic)
    return rows * inside[:, None]
