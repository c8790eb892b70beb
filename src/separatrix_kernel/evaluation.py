"""Plain evaluation of a network on one input: the meaning of a network, step by step, in integers.

This is what every claim is about. The rules argue about it for all inputs at once; the enumeration rule and the last
net run it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from separatrix_kernel.network import (
    Attention,
    FeedForward,
    GraphAttention,
    GraphHead,
    Head,
    Matrix,
    Network,
    PairAttention,
    PairHead,
    Readout,
    Recurrent,
    Transformer,
)
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.specification import adjacency

Vector = list[int]
Cells: TypeAlias = Sequence[Sequence[int]]


def evaluate(
    network: Network, tokens: Sequence[int], numbers: Numbers, asked: int, cells: Cells, stride: int
) -> list[int | None]:
    """The answers at so many last positions, every ``stride``-th; None where the readout decodes to no answer.

    Answers that are vectors of whole numbers are listed one number after the other. Where the network reads cells of
    several numbers, these are the ``cells`` of the input that the tokens write down.
    """
    if isinstance(network, Recurrent):
        state = network.initial
        for token in tokens:
            state = step(network, state, token, numbers)
        return [decode(network.readout, read(network.readout, state, numbers), numbers)]
    graph = adjacency(tokens, network.positions) if network.reads_graphs else []
    held = [0] * network.positions if network.reads_graphs or network.cell_size else tokens
    stream = [embed(network, token, position, numbers) for position, token in enumerate(held)]
    for part in (*network.features, *network.duals):
        for vector, cell in zip(stream, cells, strict=True):
            for place, value in enumerate(part.of(cell, numbers), part.start):
                vector[place] = numbers.saturate(vector[place] + value)
    for layer in network.layers:
        if isinstance(layer, FeedForward):
            stream = [feed_forward(layer, each, numbers) for each in stream]
        else:
            stream = attend(layer, stream, numbers, graph)
    last = [read(network.readout, each, numbers) for each in stream[len(stream) - 1 - (asked - 1) * stride :: stride]]
    if network.readout.decoding == "round":
        return [whole(value, numbers) for raw in last for value in raw]
    return [decode(network.readout, raw, numbers) for raw in last]


def embed(network: Transformer, token: int, position: int, numbers: Numbers) -> Vector:
    """The sum of all parts that apply, added in their order."""
    numbers.work.spend(network.width + sum(part.width for part in network.parts))
    stream = [0] * network.width
    for part in network.parts:
        at_token, at_position = part.at_token(token), part.at_position(position)
        if at_token is not None and at_position is not None:
            for place, value in enumerate(part.row(at_token if part.by_token else at_position), part.start):
                stream[place] = numbers.saturate(stream[place] + value)
    return stream


def feed_forward(layer: FeedForward, vector: Vector, numbers: Numbers) -> Vector:
    """W₂ ReLU(W₁ x + b₁) + b₂, added to x where the layer has a residual."""
    inner = layer.inner.apply(vector, numbers)
    hidden = [max(0, numbers.saturate(value + bias)) for value, bias in zip(inner, layer.inner_bias, strict=True)]
    outer = layer.outer.apply(hidden, numbers)
    result = [numbers.saturate(value + bias) for value, bias in zip(outer, layer.outer_bias, strict=True)]
    return added(vector, result, numbers) if layer.residual else result


def added(left: Vector, right: Vector, numbers: Numbers) -> Vector:
    """The saturated sum."""
    return [numbers.saturate(a + b) for a, b in zip(left, right, strict=True)]


def attend(
    layer: Attention | PairAttention | GraphAttention, stream: list[Vector], numbers: Numbers, graph: list[list[int]]
) -> list[Vector]:
    """All positions after an attention layer."""
    total = [list(each) if layer.residual else [0] * len(each) for each in stream]
    for head in layer.heads:
        keys = list[Vector]()
        if isinstance(head, Head):
            keys, values = ([matrix.apply(each, numbers) for each in stream] for matrix in (head.key, head.value))
        else:
            values = pairs(stream, head.values, numbers)
        width = len(values[0])
        if isinstance(head, PairHead):
            keys = pairs(stream, head.keys, numbers)
        elif isinstance(head, GraphHead):
            values.append([0] * width)
        for position, own in enumerate(stream):
            numbers.work.spend(len(values) * (1 + width))
            if isinstance(head, GraphHead):
                scores = [head.scores[each] for each in patterns(graph, position)] + [head.dummy]
            else:
                seen = head.visible(position, len(stream)) if isinstance(head, Head) else len(keys)
                query = head.query.apply(own, numbers)
                scores = [score(query, key, numbers) for key in keys[:seen]]
            weights = weigh(head, scores, numbers)
            average = [
                numbers.saturate(sum(numbers.product(w, v[place]) for w, v in zip(weights, values, strict=False)))
                for place in range(width)
            ]
            total[position] = added(total[position], head.output.apply(average, numbers), numbers)
    return total


def pairs(stream: list[Vector], matrices: tuple[Matrix, Matrix], numbers: Numbers) -> list[Vector]:
    """For all pairs (j, k), k fastest, the products of the first matrix at j and the second one at k."""
    numbers.work.spend(len(stream) ** 2 * (1 + len(matrices[0].rows)))
    first, second = ([matrix.apply(each, numbers) for each in stream] for matrix in matrices)
    return [[numbers.product(a, b) for a, b in zip(x, y, strict=True)] for x in first for y in second]


def patterns(graph: list[list[int]], vertex: int) -> list[int]:
    """4 x_ij + 2 x_jk + x_ki for a vertex i and all pairs (j, k), k fastest."""
    vertices = range(len(graph))
    return [4 * graph[vertex][j] + 2 * graph[j][k] + graph[k][vertex] for j in vertices for k in vertices]


def score(query: Vector, key: Vector, numbers: Numbers) -> int:
    """The inner product, every product rounded and saturated, the sum saturated once."""
    numbers.work.spend(1 + len(query))
    return numbers.saturate(sum(numbers.product(a, b) for a, b in zip(query, key, strict=True)))


def weigh(head: Head | PairHead | GraphHead, scores: list[int], numbers: Numbers) -> list[int]:
    """The weights of the visible keys, in order."""
    if head.scoring == "leftmost" and scores:
        # Weight 1 for the first key of the largest score, and 1 rounds to 1.
        first = scores.index(max(scores))
        return [numbers.scale if place == first else 0 for place in range(len(scores))]
    table = numbers.weights(head.scoring, Counter(scores))
    return [table[each] for each in scores]


def step(network: Recurrent, state: Vector, token: int, numbers: Numbers) -> Vector:
    """The state after one more token."""
    current = state + network.embedding[token]
    for weights, bias in network.cell:
        current = [max(0, each) for each in added(weights.apply(current, numbers), bias, numbers)]
    return current


def read(readout: Readout, vector: Vector, numbers: Numbers) -> Vector:
    """W x + b."""
    return added(readout.matrix.apply(vector, numbers), readout.bias, numbers)


def whole(value: int, numbers: Numbers) -> int:
    """The nearest whole number, ties upwards."""
    return (2 * value + numbers.scale) // (2 * numbers.scale)


def decode(readout: Readout, raw: Vector, numbers: Numbers) -> int | None:
    """The answer in a readout: the largest coordinate's number, the first on ties, or bits, most significant first.

    By power sums: coordinates are rounded to the nearest whole numbers (``whole``). These are z and s_1 … s_n. The
    answer is 1 if two of the numbers below M that s_1 … s_n stand for (``sketched``) add up with z to 0 modulo M.
    """
    if readout.decoding == "argmax":
        return raw.index(max(raw))
    if readout.decoding == "power-sums":
        modulus, prime = readout.sums
        numbers.work.spend(len(raw) * (len(raw) + modulus))
        own, *sums = [whole(value, numbers) for value in raw]
        held = sketched(tuple(each % prime for each in sums), modulus, prime)
        return int(any((-own - each) % modulus in held for each in held))
    if readout.decoding == "exact" and any(value not in (0, numbers.scale) for value in raw):
        return None
    # An answer of many bits is a number of several machine words.
    numbers.work.spend(len(raw) * (1 + len(raw) // 64))
    answer = 0
    for value in raw:
        answer = 2 * answer + (numbers.saturate(2 * value) > numbers.scale)
    return answer


@lru_cache(maxsize=16)
def sketched(sums: tuple[int, ...], modulus: int, prime: int) -> frozenset[int]:
    """The numbers below M that are roots of the polynomial with the power sums s_1 … s_n modulo the prime P > n.

    Newton's identities t · e_t = Σ_i (-1)^(i+1) e_(t-i) s_i, i = 1 … t, give its coefficients (-1)^t e_t one by one.
    """
    symmetric = [1]
    for degree in range(1, len(sums) + 1):
        terms = ((-1) ** (i + 1) * symmetric[degree - i] * sums[i - 1] for i in range(1, degree + 1))
        symmetric.append(sum(terms) * pow(degree, -1, prime) % prime)
    found = set[int]()
    for candidate in range(modulus):
        value = 0
        for degree, each in enumerate(symmetric):
            value = (value * candidate + (-1) ** degree * each) % prime
        if not value:
            found.add(candidate)
    return frozenset(found)
