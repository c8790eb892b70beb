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

from fractions import Fraction
from math import floor, isqrt

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.recalls import Recall, SymbolContents, VectorContents
from separatrix.certificates.methods._cells import Cells, compared
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.methods._recalling import Matched
from separatrix.certificates.methods._streams import reads
from separatrix.certificates.verdict import SuspicionError, UnsupportedError
from separatrix.networks import Head, mask_of
from separatrix.progress import tracked


def matched(cells: Cells, recall: Recall, head: Head) -> Matched:
    """Examine the first head for all inputs; raises a suspicion where the right point is not the best."""
    if reads(cells.network, head.query, head.key) & cells.by_position:
        raise UnsupportedError("the first layer's scores depend on positions; the method covers scores by content")
    if head.scoring not in ("softmax", "hard", "leftmost"):
        reason = f"{head.scoring} attention gives weight to points that do not match"
        raise SuspicionError(reason, query=recall.queries[-1])
    if isinstance(recall.contents, SymbolContents):
        return _symbols(cells, recall, head)
    return _vectors(cells, recall, head, recall.contents)


def _bounds(head: Head, rest: int, others: int, arithmetic: FixedPoint) -> tuple[int, int]:
    """The two inequalities of the module's text."""
    if head.scoring == "leftmost" and rest:
        raise UnsupportedError("points may score alike; leftmost attention is covered where the best one stands alone")
    one = arithmetic.largest
    if head.scoring == "hard" and one + rest > one * one:
        raise UnsupportedError(f"so many points score alike that N^Kc = {one} cuts off their sum; raise Kc")
    added = (others + 1) // 2 if arithmetic.rounding == "nearest" else 0
    return one * one // (one + rest), one * rest // (one + rest) + added


def _powers(head: Head, behind: Raw, arithmetic: FixedPoint) -> Raw:
    """e_p for scores behind the largest one (all at most 0); hard attention counts ties alone."""
    if head.scoring in ("hard", "leftmost"):
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
            reason = f"the query for token {a} scores higher at {'token' if ahead is behind else 'label'} {b}"
            raise SuspicionError(reason, query=last, symbols=(a, b) if ahead is behind else (a,))
    powers, labels = _powers(head, behind, arithmetic), _powers(head, labels_behind, arithmetic).max(axis=1)
    numpy.fill_diagonal(powers, -1)
    order = numpy.argsort(-powers, axis=1, kind="stable")[:, :-1]
    ranked = numpy.take_along_axis(powers, order, axis=1)
    sums = numpy.concatenate([numpy.zeros((len(ranked), 1), numpy.int64), ranked.cumsum(axis=1)], axis=1)
    worst = Matched(arithmetic.largest, -1, last, ())
    for query in tracked(recall.queries, "query positions of layer 1"):
        seen = mask_of(head, numpy.array([query]), cells.network.positions)[0]
        itself, labelled = int(seen[query]), int(seen[cells.is_label].sum())
        asked = int(seen[2 * recall.pairs :].sum()) - itself
        rest = sums[:, recall.pairs - 1] + sums[:, asked] + labelled * labels + itself * arithmetic.largest
        symbol = int(rest.argmax())
        weight, most = _bounds(head, int(rest[symbol]), int(seen.sum()) - 1, arithmetic)
        # Both are rounded, so that of two queries with one bound for the rest the later may leave less to the point.
        least = min(weight, worst.weight)
        if (most, -least) > (worst.rest, -worst.weight):
            others = order[symbol, : recall.pairs - 1].tolist()
            worst = Matched(least, max(most, worst.rest), query, (symbol, *others))
    return worst


def _vectors(cells: Cells, recall: Recall, head: Head, contents: VectorContents) -> Matched:
    arithmetic, last = cells.arithmetic, recall.queries[-1]
    if head.mask != "strict":
        raise SuspicionError("a query sees itself, and nothing is more like it", query=last)
    one, d = arithmetic.largest, contents.dimension
    unit, *factors = compared(cells, head, d)
    g, h = (Fraction(int(arithmetic.encode(factor)), one) for factor in factors)
    step, whole_points = Fraction(1, one), unit.denominator == 1
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
        raise SuspicionError(f"rounding uses up the margin: the gap is only {float(min(gaps)):.3g}", query=last)
    powers = _powers(head, numpy.array([-floor(gap * one) for gap in gaps]), arithmetic).tolist()
    seen = mask_of(head, numpy.array([last]), cells.network.positions)[0]
    labelled, others = int(seen[cells.is_label].sum()), int(seen[~cells.is_label].sum()) - 1
    weight, most = _bounds(head, others * powers[0] + labelled * powers[1], int(seen.sum()) - 1, arithmetic)
    return Matched(weight, most, last, ())
