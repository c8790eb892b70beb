"""The cells of a recall task as the checker sees them: points and labels, and what each writes into the stream.

The embedding must split: every slot is filled by what a cell holds (a token or numbers) or by its position, not by
both, and alike for all cells of one role. Then the stream at position p is ``held`` + ``places[p]`` with disjoint
columns, and a matrix applied to it gives the sum of two products whose roundings do not meet.

Points given by coordinates stand for infinitely many cells; their row here has coordinates 0, and the slots that read
coordinates are listed as ``unknown``, so that no later step takes that row for the truth.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.recalls import Recall, SymbolContents
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.methods._streams import all_tokens, columns, filled, reads
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Head, Network

LARGEST_SYMBOLS = 1 << 13


@dataclass(frozen=True)
class Cells:
    """Rows of the stream before the first layer: what points and labels hold, and what positions add.

    ``points`` (choices, d), ``labels`` (labels, d), ``places`` (positions, d); ``is_label`` (positions,).
    """

    network: Network
    arithmetic: FixedPoint
    points: Raw
    labels: Raw
    places: Raw
    is_label: Raw
    by_position: frozenset[str]
    unknown: frozenset[str]

    def projected(self, matrix: ExactMatrix, rows: Raw) -> Raw:
        """W x as the evaluation rounds it; refuses results at the end of the range."""
        return self.inside(self.arithmetic.matmul(rows, matrix.encoded(self.arithmetic).T), "a query, key or value")

    def inside(self, numbers: Raw, what: str) -> Raw:
        """The numbers themselves, or a refusal where one may have been cut off at the end of the range."""
        if numbers.size and int(numpy.abs(numbers).max()) >= self.arithmetic.largest**2:
            raise UnsupportedError(f"{what} reaches the end of the range; a larger Kc keeps it inside")
        return numbers


def cells_of(network: Network, recall: Recall, arithmetic: FixedPoint) -> Cells:
    """Split the embedding, or say why it does not split."""
    positions = numpy.arange(network.positions)
    is_label = (positions % 2 == 1) & (positions < 2 * recall.pairs)
    for part in network.embedding:
        covered = (positions >= part.positions[0]) & (positions < part.positions[1])
        alike = all(len(numpy.unique(covered[is_label == role])) < 2 for role in (False, True))
        if not (all_tokens(part, network.vocabulary) if part.source == "position" else alike):
            raise UnsupportedError(f"slot {part.slot!r} depends on cell and position together; the method needs one")
    by_position = {part.slot for part in network.embedding if part.source == "position"}
    unknown: set[str] = set()

    def rows(slots: set[str], tokens: Raw, where: Raw) -> Raw:
        result = numpy.zeros((len(tokens), network.slots.width), dtype=numpy.int64)
        result[:, columns(network, slots)] = filled(network, slots, tokens, where, arithmetic)
        return result

    if isinstance(recall.contents, SymbolContents):
        keys, by_token = recall.contents.keys, {part.slot for part in network.embedding if part.source == "token"}
        if by_token & by_position or keys > LARGEST_SYMBOLS:
            raise UnsupportedError(f"a slot is filled by token and position, or {keys} symbols are too many to compare")
        every = numpy.arange(keys + recall.labels)
        # Points stand at position 0, labels at position 1.
        held = rows(by_token, every, numpy.minimum(every // keys, 1))
        points, labels = held[:keys], held[keys:]
    else:
        unknown = {part.slot for part in network.feature_parts if part.matrix.numerators[:, 2:].any()}
        choices = numpy.zeros((1 + recall.labels, network.features), dtype=numpy.int64)
        choices[1:, 0], choices[1:, 1] = 1, numpy.arange(recall.labels)
        # A slot that adds features to a constant of the positions counts as filled by the cell.
        by_cell = {part.slot for part in network.feature_parts}
        constant = numpy.unique(rows(by_cell & by_position, positions * 0, positions), axis=0)
        if len(constant) != 1:
            raise UnsupportedError("a slot is filled by cell and position; the method needs one")
        held = numpy.repeat(constant, len(choices), axis=0)
        for part in network.feature_parts:
            place = network.slots.columns(part.slot)
            held[:, place] = arithmetic.add(held[:, place], part.rows(choices, arithmetic))
        points, labels, by_position = held[:1], held[1:], by_position - by_cell
    places = rows(by_position, positions * 0, positions)
    cells = Cells(network, arithmetic, points, labels, places, is_label, frozenset(by_position), frozenset(unknown))
    for each in (points, labels, places):
        cells.inside(each, "the embedding")
    return cells


def compared(cells: Cells, head: Head, dimension: int) -> tuple[Fraction, Fraction, Fraction]:
    """The unit in which one slot holds the coordinates of points, and the factors with which query and key read it."""
    network, slots = cells.network, reads(cells.network, head.query, head.key) & cells.unknown
    parts = [part for part in network.feature_parts if part.slot in slots]
    if len(slots) != 1 or len(parts) != 1:
        raise UnsupportedError("the first layer is covered when it compares one slot of coordinates")
    where, embedding = network.slots.columns(parts[0].slot), parts[0].matrix
    constant = numpy.any(cells.points[:, where]) or numpy.any(cells.labels[:, where])
    blocks = [embedding.numerators[:, 2:], head.query.numerators[:, where], head.key.numerators[:, where]]
    rows = [block.argmax(axis=0) for block in blocks]
    for block, places in zip(blocks, rows, strict=True):
        plain = numpy.zeros_like(block)
        plain[places, numpy.arange(dimension)] = block.max(initial=0)
        if block.shape[1] != dimension or int(block.max(initial=0)) <= 0 or (block != plain).any():
            raise UnsupportedError(f"slot {parts[0].slot!r} is not read as a multiple of the coordinates")
    alone = all((matrix.numerators[rows[1]] != 0).sum() == dimension for matrix in (head.query, head.key))
    mixed = (rows[0] != numpy.arange(dimension)).any() or (rows[1] != rows[2]).any()
    if mixed or not alone or constant or embedding.numerators[:, :2].any():
        raise UnsupportedError("query and key of the first layer do not compare the same coordinates")
    matrices = (embedding, head.query, head.key)
    unit, query, key = (Fraction(int(b.max()), m.denominator) for b, m in zip(blocks, matrices, strict=True))
    return unit, query, key
