"""A higher-order graph self-attention unit: vertices attend to pairs of vertices through the edges between them.

SHT23 gives the graph self-attention unit softmax(κ(X, (X W_Q)(X W_K)ᵀ)) X W_V on an adjacency matrix X and says that a
"higher-order" one solves Directed 3-Cycle, without defining it (erratum E12; κ is also typed ℝ → ℝ but used with two
arguments). The definition filled in here puts the third-order unit's pairs into the graph unit: vertex i gives the pair
(j, k) the score

    κ(X_ij, X_jk, X_ki),

an arbitrary function of the three entries, and averages (V₁ x_j) ∘ (V₂ x_k) over all N² pairs and one dummy pair of its
own score κ_⊥ and value 0. The dummy plays the part of the dummy element of the matching problems: without it a softmax
over pairs of equal value would always average to that value. κ's other argument, products of queries and keys, is left
out: no construction here needs it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import Arithmetic, FixedPoint, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import ExactMatrix, Integers, Shapes
from separatrix.networks.third_order import pair_products
from separatrix.networks.weights import Scoring, averaged, group_average, weights_of

GRAPH_MATRICES = ("scores", "dummy", "first_value", "second_value", "output")
PATTERNS = 8


@dataclass(frozen=True)
class GraphHead:
    """One unit: κ as (1, 8) with κ(a, b, c) at 4a + 2b + c, κ_⊥ as (1, 1), values (v, d), output (d, v)."""

    scores: ExactMatrix
    dummy: ExactMatrix
    first_value: ExactMatrix
    second_value: ExactMatrix
    output: ExactMatrix
    scoring: Scoring = "softmax"

    def expected_shapes(self, width: int) -> Shapes:
        """Return the shapes that fit together, by name, in a residual stream of this width."""
        value = (self.first_value.shape[0], width)
        return {
            "scores": (1, PATTERNS), "dummy": (1, 1),
            "first_value": (None, width), "second_value": value, "output": (width, value[0]),
        }  # fmt: skip


@dataclass(frozen=True)
class GraphAttention:
    """Units whose outputs are added; with ``residual`` also to the layer's input."""

    heads: tuple[GraphHead, ...]
    residual: bool = True


def check_graphs(graphs: Integers, vertices: int) -> None:
    """Raise a one-line error unless these are adjacency matrices (count, N, N).

    >>> check_graphs(numpy.array([[[0, 2], [1, 0]]]), 2)
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: entries 0 to 2 are not an adjacency matrix; give zeros and ones
    """
    if graphs.ndim != 3 or graphs.shape[1:] != (vertices, vertices):
        raise SeparatrixError(
            f"the network reads adjacency matrices of {vertices} vertices, not an array of shape {graphs.shape}"
        )
    if graphs.size and (int(graphs.min()) < 0 or int(graphs.max()) > 1):
        raise SeparatrixError(
            f"entries {int(graphs.min())} to {int(graphs.max())} are not an adjacency matrix; give zeros and ones"
        )


def patterns_of(graphs: Integers, vertices: Integers) -> Integers:
    """4 X_ij + 2 X_jk + X_ki for some vertices i: (count, vertices i, N², pairs with k fastest).

    >>> patterns_of(numpy.array([[[0, 1], [1, 0]]]), numpy.array([0])).tolist()
    [[[0, 3, 6, 5]]]
    """
    leaving = graphs[:, vertices, :, None]
    between = graphs[:, None, :, :]
    entering = numpy.swapaxes(graphs, 1, 2)[:, vertices, None, :]
    both = 4 * leaving + 2 * between + entering
    return both.reshape(*both.shape[:2], graphs.shape[1] ** 2)


def attend_on_graph(
    head: GraphHead,
    stream: RawArray,
    graphs: Integers,
    queries: Integers,
    arithmetic: Arithmetic,
    chunk: int | None = None,
    observe: Callable[[RawArray], None] | None = None,
) -> RawArray:
    """Return the output of one unit for some vertices: (count, queries, d).

    >>> from separatrix.constructions import constructions
    >>> from separatrix.networks.evaluate import embedded
    >>> built = constructions()["directed-3-cycle"].build(3)
    >>> graphs = numpy.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    >>> stream = embedded(built.network, graphs, built.arithmetic)
    >>> attend_on_graph(built.network.layers[0].heads[0], stream, graphs, numpy.arange(3), built.arithmetic).shape
    (1, 3, 1)
    """
    first = arithmetic.matmul(stream, head.first_value.encoded(arithmetic).T)
    second = arithmetic.matmul(stream, head.second_value.encoded(arithmetic).T)
    values = pair_products(first, second, arithmetic)
    if observe is None and isinstance(arithmetic, FixedPoint) and bool((values == values[:1, :1]).all()):
        average = average_by_patterns(head, graphs, queries, values[0, 0], arithmetic)
        if average is not None:
            return arithmetic.matmul(average, head.output.encoded(arithmetic).T)
    values = numpy.concatenate([values, arithmetic.zeros((len(stream), 1, values.shape[-1]))], axis=1)

    def weigh(some: Integers) -> RawArray:
        return graph_weights(head, graphs, some, arithmetic)

    return averaged(weigh, values, head.output, queries, chunk, arithmetic, observe)


def average_by_patterns(
    head: GraphHead, graphs: Integers, queries: Integers, value: Integers, arithmetic: FixedPoint
) -> Integers | None:
    """Return what some vertices average (count, queries, v) if all pairs have the same value (v,) and the dummy 0.

    A row is known from how many of its N² pairs have which pattern; None where that does not help.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["directed-3-cycle"].build(3)
    >>> graphs = numpy.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    >>> head, one = built.network.layers[0].heads[0], numpy.array([built.arithmetic.largest])
    >>> average_by_patterns(head, graphs, numpy.arange(3), one, built.arithmetic).shape
    (1, 3, 1)
    """
    counts = pattern_counts(graphs, queries)
    dummy = numpy.ones((*counts.shape[:2], 1), dtype=numpy.int64)
    scores = numpy.concatenate([head.scores.encoded(arithmetic)[0], head.dummy.encoded(arithmetic)[0]])
    values = numpy.concatenate([numpy.repeat(value[None], PATTERNS, axis=0), arithmetic.zeros((1, len(value)))])
    return group_average(head, scores, numpy.concatenate([counts, dummy], axis=2), values, arithmetic)


def pattern_counts(graphs: Integers, vertices: Integers) -> Integers:
    """Return how many pairs (j, k) have which pattern 4 X_ij + 2 X_jk + X_ki, for some vertices i: (count, vertices,
    8).

    >>> pattern_counts(numpy.array([[[0, 1], [1, 0]]]), numpy.array([0])).tolist()
    [[[1, 0, 0, 1, 0, 1, 1, 0]]]
    """
    leaving, entering = graphs[:, vertices, :], numpy.swapaxes(graphs, 1, 2)[:, vertices, :]
    counts = numpy.zeros((*leaving.shape[:2], PATTERNS), dtype=numpy.int64)
    onwards = numpy.einsum("bvj,bjk->bvk", leaving, graphs)
    for first in (0, 1):
        start = leaving if first else 1 - leaving
        reached = onwards if first else graphs.sum(axis=1, keepdims=True) - onwards
        for last in (0, 1):
            end = entering if last else 1 - entering
            through = (reached * end).sum(axis=2)
            counts[..., 4 * first + 2 + last] = through
            counts[..., 4 * first + last] = start.sum(axis=2) * end.sum(axis=2) - through
    return counts


def graph_weights(head: GraphHead, graphs: Integers, queries: Integers, arithmetic: Arithmetic) -> RawArray:
    """Return the weights (count, queries, N² + 1) that some vertices give to all pairs and, last, to the dummy pair.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["directed-3-cycle"].build(3)
    >>> graphs = numpy.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    >>> weights = graph_weights(built.network.layers[0].heads[0], graphs, numpy.arange(3), built.arithmetic)
    >>> weights.shape, int(weights[0, 0].argmax())
    ((1, 3, 10), 5)
    """
    scores = head.scores.encoded(arithmetic)[0][patterns_of(graphs, queries)]
    dummy = numpy.broadcast_to(head.dummy.encoded(arithmetic), (*scores.shape[:2], 1))
    both = numpy.concatenate([scores, dummy], axis=2)
    return weights_of(head, both, numpy.ones((1, 1), dtype=bool), arithmetic)
