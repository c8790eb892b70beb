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

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.third_order import pair_products
from separatrix.networks.weights import LARGEST_SCORES, Scoring, weights_of

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

    def expected_shapes(self, width: int) -> dict[str, tuple[int | None, int | None]]:
        """The shapes that fit together, by name, in a residual stream of this width."""
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
    """Raise a one-line error unless these are adjacency matrices (count, N, N)."""
    if graphs.ndim != 3 or graphs.shape[1:] != (vertices, vertices):
        raise SeparatrixError(
            f"the network reads adjacency matrices of {vertices} vertices, not an array of shape {graphs.shape}"
        )
    if graphs.size and (int(graphs.min()) < 0 or int(graphs.max()) > 1):
        raise SeparatrixError(
            f"entries {int(graphs.min())} to {int(graphs.max())} are not an adjacency matrix; give zeros and ones"
        )


def patterns_of(graphs: Integers, vertices: Integers) -> Integers:
    """4 X_ij + 2 X_jk + X_ki for some vertices i: (count, vertices i, N², pairs with k fastest)."""
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
    """The output of one unit for some vertices: (count, queries, d)."""
    batch, vertices, _ = stream.shape
    first = arithmetic.matmul(stream, head.first_value.encoded(arithmetic).T)
    second = arithmetic.matmul(stream, head.second_value.encoded(arithmetic).T)
    values = pair_products(first, second, arithmetic)
    values = numpy.concatenate([values, arithmetic.zeros((batch, 1, values.shape[-1]))], axis=1)
    size = chunk or max(1, LARGEST_SCORES // max(1, batch * vertices * vertices))
    pieces: list[RawArray] = []
    for start in range(0, len(queries), size):
        weights = graph_weights(head, graphs, queries[start : start + size], arithmetic)
        if observe is not None:
            observe(weights)
        pieces.append(arithmetic.matmul(arithmetic.matmul(weights, values), head.output.encoded(arithmetic).T))
    return numpy.concatenate(pieces, axis=1)


def graph_weights(head: GraphHead, graphs: Integers, queries: Integers, arithmetic: Arithmetic) -> RawArray:
    """The weights (count, queries, N² + 1) that some vertices give to all pairs and, last, to the dummy pair."""
    scores = head.scores.encoded(arithmetic)[0][patterns_of(graphs, queries)]
    dummy = numpy.broadcast_to(head.dummy.encoded(arithmetic), (*scores.shape[:2], 1))
    both = numpy.concatenate([scores, dummy], axis=2)
    return weights_of(head, both, numpy.ones((1, 1), dtype=bool), arithmetic)
