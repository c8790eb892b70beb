"""Attention by content on all inputs at once: how much weight the right point keeps, and how little the others get.

Softmax in fixed point takes e_p = round(S · exp(s_p - s_max)), their exact sum Z, and w_p = round(S · e_p / Z), all in
units of 1/S. If the right point * has the largest score, e_* = S, and with R = Z - S the sum over all others

    w_* ≥ ⌊S² / (S + R)⌋     and     Σ of the others' weights ≤ S · R / (S + R)   (+ 1/2 each if rounding to nearest),

the first because rounding is monotone, the second because rounding down never adds. Both only get worse as R grows, and
R grows with every score s_p - s_*, because rounding after exp is monotone too. So it is enough to bound R from above.

*Symbols.* The scores of all pairs of symbols are a finite table. The other stored keys are distinct and different from
the query's, and so are the other queries where there are several; therefore R is at most the sum of the largest entries
of the query's row, as many as there are other keys, plus as many as there are visible other queries, plus the labels'
entries. That input exists, so R is the exact worst case.

*Vectors.* With x̂ = u·x + δ the embedded point, q = ĝ·x̂ + α and k = ĥ·x̂' + α' its query and key, and each product in
the score rounded by β, Cauchy-Schwarz gives for points of norm at most ρ

    |score - ĝĥu²⟨x, x'⟩| ≤ A·ĥuρ + B·ĝuρ + AB + dβ,   A = √d (ĝδ + α),  B = √d (ĥδ + α'),

where δ, α, β are at most 1/S and 0 wherever nothing is rounded. The promised margin minus twice this error is the gap.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meaning import Recall, SymbolContents, VectorContents
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.methods._cells import Cells
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Head
from separatrix.networks.evaluate import mask_of


class Mismatch(Exception):
    """The right point need not have the largest score; says for which query and symbols, where there are any."""

    def __init__(self, reason: str, query: int, symbols: tuple[int, ...] = ()) -> None:
        super().__init__(reason)
        self.query, self.symbols = query, symbols


@dataclass(frozen=True)
class Matched:
    """The least weight of the right point, the most that all others have together (raw), and where that happens."""

    weight: int
    rest: int
    query: int
    symbols: tuple[int, ...]


def matched(cells: Cells, recall: Recall, head: Head) -> Matched:
    """Examine the first head for all inputs; raises :class:`Mismatch` where the right point is not the best."""
    if cells.reads(head.query, head.key) & cells.by_position:
        raise UnsupportedError("the first layer's scores depend on positions; the method covers scores by content")
    if head.scoring == "linear":
        raise Mismatch("linear attention gives weight to points that do not match", recall.queries[-1])
    if isinstance(recall.contents, SymbolContents):
        return _symbols(cells, recall, head)
    return _vectors(cells, recall, head, recall.contents)


def _bounds(rest: int, others: int, arithmetic: FixedPoint) -> tuple[int, int]:
    """The two inequalities of the module's text."""
    one = arithmetic.largest
    added = (others + 1) // 2 if arithmetic.rounding == "nearest" else 0
    return one * one // (one + rest), one * rest // (one + rest) + added


def _powers(head: Head, behind: Raw, arithmetic: FixedPoint) -> Raw:
    """e_p for scores behind the largest one (all at most 0); hard attention counts ties alone."""
    if head.scoring == "hard":
        return numpy.where(behind == 0, arithmetic.largest, 0)
    return arithmetic.exp(behind)


def _symbols(cells: Cells, recall: Recall, head: Head) -> Matched:
    arithmetic, last = cells.arithmetic, recall.queries[-1]
    queries = cells.projected(head.query, cells.points)
    tables: list[Raw] = []
    for rows in (cells.points, cells.labels):
        keys = cells.projected(head.key, rows)
        tables.append(cells.inside(arithmetic.matmul(queries, keys.T), "a score of the first layer"))
    own = numpy.diagonal(tables[0])[:, None]
    behind, labels_behind = [arithmetic.subtract(table, own) for table in tables]
    for ahead in (behind, labels_behind):
        if int(ahead.max()) > 0:
            a, b = (int(place) for place in numpy.unravel_index(int(ahead.argmax()), ahead.shape))
            reason = f"the query for key {a} scores higher at {'key' if ahead is behind else 'label'} {b}"
            raise Mismatch(reason, last, (a, b) if ahead is behind else (a,))
    powers, labels = _powers(head, behind, arithmetic), _powers(head, labels_behind, arithmetic).max(axis=1)
    numpy.fill_diagonal(powers, -1)
    order = numpy.argsort(-powers, axis=1, kind="stable")[:, :-1]
    ranked = numpy.take_along_axis(powers, order, axis=1)
    sums = numpy.concatenate([numpy.zeros((len(ranked), 1), numpy.int64), ranked.cumsum(axis=1)], axis=1)
    worst = Matched(arithmetic.largest, -1, last, ())
    for query in recall.queries:
        seen = mask_of(head, numpy.array([query]), cells.network.positions)[0]
        itself = int(seen[query])
        asked = int(seen[2 * recall.pairs :].sum()) - itself
        labelled = int(seen[cells.is_label].sum())
        rest = sums[:, recall.pairs - 1] + sums[:, asked] + labelled * labels + itself * arithmetic.largest
        symbol = int(rest.argmax())
        weight, most = _bounds(int(rest[symbol]), int(seen.sum()) - 1, arithmetic)
        if most > worst.rest:
            others = order[symbol, : recall.pairs - 1].tolist()
            worst = Matched(weight, most, query, (symbol, *others))
    return worst


def _vectors(cells: Cells, recall: Recall, head: Head, contents: VectorContents) -> Matched:
    arithmetic, last = cells.arithmetic, recall.queries[-1]
    if head.mask != "strict":
        raise Mismatch("a query sees itself, and nothing is more like it", last)
    one, d = arithmetic.largest, contents.dimension
    slot, unit = _coordinates(cells, head, d)
    query, key = _multiple(cells, head.query, slot), _multiple(cells, head.key, slot)
    if query.rows != key.rows:
        raise UnsupportedError("query and key of the first layer do not compare the same coordinates")
    g, h, step = Fraction(query.value, one), Fraction(key.value, one), Fraction(1, one)
    whole_points = unit.denominator == 1
    delta = Fraction(0) if whole_points else step
    alpha = [Fraction(0) if whole_points or scale.denominator == 1 else step for scale in (g, h)]
    beta = Fraction(0) if whole_points and (g.denominator == 1 or h.denominator == 1) else step
    root = Fraction(isqrt(d << 40) + 1, 1 << 20)
    a, b = root * (g * delta + alpha[0]), root * (h * delta + alpha[1])
    reach = unit * contents.norm
    error = a * h * reach + b * g * reach + a * b + d * beta
    scale = g * h * unit * unit
    asking = cells.projected(head.query, cells.points)
    at_points = arithmetic.matmul(asking, cells.projected(head.key, cells.points).T)
    at_labels = arithmetic.matmul(asking, cells.projected(head.key, cells.labels).T)
    kinds = Fraction(int(at_points[0, 0]) - int(at_labels.max()), one)
    constant = int(numpy.abs(at_points).max()) + int(numpy.abs(at_labels).max())
    largest = scale * contents.norm**2 + error + Fraction(constant, one)
    if max(largest, reach + step, g * reach + a, h * reach + b) >= one:
        raise UnsupportedError("scores may reach the end of the range; a larger Kc keeps them inside")
    gaps = [scale * contents.ahead - 2 * error, kinds - scale * contents.norm**2 - error]
    if min(gaps) <= 0:
        raise Mismatch(f"rounding uses up the margin: the gap is at least {float(min(gaps)):.3g} only", last)
    powers = _powers(head, numpy.array([-floor(gap * one) for gap in gaps]), arithmetic).tolist()
    seen = mask_of(head, numpy.array([last]), cells.network.positions)[0]
    labelled = int(seen[cells.is_label].sum())
    others = int(seen.sum()) - labelled - 1
    weight, most = _bounds(others * powers[0] + labelled * powers[1], int(seen.sum()) - 1, arithmetic)
    return Matched(weight, most, last, ())


@dataclass(frozen=True)
class _Multiple:
    """A matrix that reads a slot as one number times its coordinates: the raw number, and each coordinate's row."""

    value: int
    rows: tuple[int, ...]


def _multiple(cells: Cells, matrix: ExactMatrix, slot: str) -> _Multiple:
    encoded = matrix.encoded(cells.arithmetic)
    block = encoded[:, cells.network.slots.columns(slot)]
    rows = block.argmax(axis=0)
    value = int(block.max(initial=0))
    plain = numpy.zeros_like(block)
    plain[rows, numpy.arange(block.shape[1])] = value
    alone = numpy.count_nonzero(encoded[rows], axis=1) == 1
    if value <= 0 or bool((block != plain).any()) or not bool(alone.all()):
        raise UnsupportedError(f"the first layer does not read slot {slot!r} as a multiple of its coordinates")
    return _Multiple(value, tuple(rows.tolist()))


def _coordinates(cells: Cells, head: Head, dimension: int) -> tuple[str, Fraction]:
    """The slot that holds the coordinates, and the unit in which it holds them."""
    slots = cells.reads(head.query, head.key) & cells.unknown
    parts = [part for part in cells.network.feature_parts if part.slot in slots]
    if len(slots) != 1 or len(parts) != 1:
        raise UnsupportedError("the first layer is covered when it compares one slot of coordinates")
    matrix = parts[0].matrix
    identity = numpy.eye(dimension, dtype=numpy.int64) * matrix.numerators[0, 2]
    columns = cells.network.slots.columns(parts[0].slot)
    constant = numpy.any(cells.points[:, columns]) or numpy.any(cells.labels[:, columns])
    shaped = matrix.shape == (dimension, dimension + 2) and bool((matrix.numerators[:, 2:] == identity).all())
    if not shaped or matrix.numerators[0, 2] <= 0 or numpy.any(matrix.numerators[:, :2]) or constant:
        raise UnsupportedError(f"slot {parts[0].slot!r} is not a multiple of the coordinates")
    return parts[0].slot, Fraction(int(matrix.numerators[0, 2]), matrix.denominator)
