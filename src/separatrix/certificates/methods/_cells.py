"""The cells of a recall task as the checker sees them: points and labels, and what each writes into the stream.

The embedding must split: every slot is filled by what a cell holds (a token or numbers) or by its position, not by
both, and alike for all cells of one role. Then the stream at position p is ``held`` + ``places[p]`` with disjoint
columns, and a matrix applied to it gives the sum of two products whose roundings do not meet.

Points given by coordinates stand for infinitely many cells; their row here has coordinates 0, and the slots that read
coordinates are listed as ``unknown``, so that no later step takes that row for the truth.
"""

from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meaning import Recall, SymbolContents
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Network
from separatrix.networks.embedding import embed

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

    def reads(self, *matrices: ExactMatrix) -> set[str]:
        """The slots that some matrices read."""
        return {slot for matrix in matrices for slot in self.network.slots.read_by(matrix)}

    def projected(self, matrix: ExactMatrix, rows: Raw) -> Raw:
        """W x as the evaluation rounds it; refuses results at the end of the range."""
        result = self.arithmetic.matmul(rows, matrix.encoded(self.arithmetic).T)
        return self.inside(result, "a query, key or value")

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
        everywhere = part.tokens[0] <= 0 and part.tokens[1] >= network.vocabulary
        alike = all(len(set(covered[is_label == role].tolist())) < 2 for role in (False, True))
        if (part.source == "position" and not everywhere) or (part.source == "token" and not alike):
            raise UnsupportedError(f"slot {part.slot!r} depends on cell and position together; the method needs one")
    by_position = frozenset(part.slot for part in network.embedding if part.source == "position")
    if isinstance(recall.contents, SymbolContents):
        if network.features:
            raise UnsupportedError("the task has tokens, the network reads cells of several numbers")
        by_token = {part.slot for part in network.embedding if part.source == "token"}
        if by_token & by_position:
            raise UnsupportedError(f"slot {sorted(by_token & by_position)[0]!r} is filled by token and position")
        if recall.contents.keys > LARGEST_SYMBOLS:
            raise UnsupportedError(f"{recall.contents.keys} symbols are too many to compare; at most {LARGEST_SYMBOLS}")
        keys = recall.contents.keys
        points = _held(network, numpy.arange(keys), 0, arithmetic, by_position)
        labels = _held(network, numpy.arange(keys, keys + recall.labels), 1, arithmetic, by_position)
        unknown: frozenset[str] = frozenset()
        held = by_position
    else:
        if network.features != recall.contents.dimension + 2:
            raise UnsupportedError(
                f"cells have {recall.contents.dimension + 2} numbers, the network reads {network.features or 'tokens'}"
            )
        unknown = frozenset(p.slot for p in network.feature_parts if numpy.any(p.matrix.numerators[:, 2:]))
        choices = numpy.zeros((1 + recall.labels, network.features), dtype=numpy.int64)
        choices[1:, 0], choices[1:, 1] = 1, numpy.arange(recall.labels)
        rows = _features(network, choices, arithmetic)
        # A slot that adds features to a constant of the positions counts as filled by the cell.
        filled = {part.slot for part in network.feature_parts}
        constant = _constants(network, filled & by_position, arithmetic)
        points, labels = rows[:1] + constant, rows[1:] + constant
        held = by_position - filled
    places = numpy.zeros((network.positions, network.slots.width), dtype=numpy.int64)
    if held:
        full = embed(
            network.embedding, network.slots, numpy.zeros(network.positions, dtype=numpy.int64), positions, arithmetic
        )
        for slot in held:
            places[:, network.slots.columns(slot)] = full[:, network.slots.columns(slot)]
    cells = Cells(network, arithmetic, points, labels, places, is_label, held, unknown)
    for rows in (points, labels, places):
        cells.inside(rows, "the embedding")
    return cells


def _held(network: Network, tokens: Raw, position: int, arithmetic: FixedPoint, left_out: frozenset[str]) -> Raw:
    """Rows of tokens without what positions write."""
    rows = embed(network.embedding, network.slots, tokens, numpy.full(len(tokens), position), arithmetic)
    for slot in left_out:
        rows[:, network.slots.columns(slot)] = 0
    return rows


def _features(network: Network, choices: Raw, arithmetic: FixedPoint) -> Raw:
    rows = numpy.zeros((len(choices), network.slots.width), dtype=numpy.int64)
    for part in network.feature_parts:
        rows[:, network.slots.columns(part.slot)] += part.rows(choices, arithmetic)
    return rows


def _constants(network: Network, slots: set[str], arithmetic: FixedPoint) -> Raw:
    """What positions add to slots that also read features: it must be the same at every position."""
    positions = numpy.arange(network.positions)
    full = embed(network.embedding, network.slots, numpy.zeros_like(positions), positions, arithmetic)
    row = numpy.zeros(network.slots.width, dtype=numpy.int64)
    for slot in slots:
        columns = network.slots.columns(slot)
        if (full[:, columns] != full[:1, columns]).any():
            raise UnsupportedError(f"slot {slot!r} is filled by cell and position; the method needs one")
        row[columns] = full[0, columns]
    return row
