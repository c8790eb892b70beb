"""The kernel runs networks as the project does: on the constructions and on random networks with extreme weights."""

from random import Random
from typing import Literal

import numpy
import pytest

from separatrix.arithmetic import arithmetic_named
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    Readout,
    RecurrentNetwork,
    ReluMap,
    SignRows,
    Slots,
    TableRows,
    ThirdOrderAttention,
    ThirdOrderHead,
    evaluate,
)
from separatrix.networks.store import to_bytes
from separatrix_kernel import evaluation
from separatrix_kernel.network import Reader
from separatrix_kernel.numbers import Numbers

NAMES = ("fixed:N=2,Kc=2,down", "fixed:N=3,Kc=1,nearest", "fixed:N=10,Kc=2,down", "fixed:N=7,Kc=3,nearest")


def matrix(random: Random, rows: int, columns: int) -> ExactMatrix:
    """Small weights, some of them as large as the files' limit allows."""
    choices = (0, 0, 1, -1, 2, -3, 10**6, (1 << 61) - 1, -(1 << 61))
    entries = [[random.choice(choices[: random.choice((6, 6, 9))]) for _ in range(columns)] for _ in range(rows)]
    numerators = numpy.array(entries, dtype=numpy.int64).reshape(rows, columns)
    return ExactMatrix(numerators, random.choice((1, 1, 2, 3, 1 << 40)))


def transformer(random: Random) -> Network:
    """A network of two or three layers of any kind that the kernel covers."""
    positions, vocabulary, width = random.randint(1, 4), random.randint(1, 3), 4
    slots = Slots((("a", 2), ("b", 2)))
    generator = numpy.array([[random.randint(0, 1) for _ in range(2)] for _ in range(3)], dtype=numpy.uint8)
    embedding = (
        EmbeddingPart("a", TableRows(matrix(random, 4, 2)), "token", (0, random.randint(1, 3)), (0, positions)),
        EmbeddingPart("b", SignRows(generator), "position", (0, 3), (random.randint(0, 1), 4)),
        EmbeddingPart(
            "a", TableRows(matrix(random, 4, 2)), "position", (1, 3), (0, 4),
            indices=numpy.array([random.randrange(4) for _ in range(5)]),
        ),
    )  # fmt: skip

    def head() -> Head:
        rows, values = random.randint(0, 3), random.randint(1, 2)
        return Head(
            matrix(random, rows, width), matrix(random, rows, width), matrix(random, values, width),
            matrix(random, width, values), random.choice(("softmax", "hard", "leftmost", "linear", "relu")),
            random.choice(("none", "causal", "strict")),
        )  # fmt: skip

    def pair_head() -> ThirdOrderHead:
        rows, values = random.randint(0, 3), random.randint(1, 2)
        keys, read = ([matrix(random, size, width) for _ in range(2)] for size in (rows, values))
        scoring = random.choice(("softmax", "hard", "leftmost", "linear", "relu"))
        return ThirdOrderHead(matrix(random, rows, width), *keys, *read, matrix(random, width, values), scoring)

    def layer() -> Attention | ThirdOrderAttention | FeedForward:
        if random.random() < 0.2:
            return ThirdOrderAttention(tuple(pair_head() for _ in range(random.randint(1, 2))), random.random() < 0.5)
        if random.random() < 0.6:
            return Attention(tuple(head() for _ in range(random.randint(0, 2))), random.random() < 0.5)
        units = random.randint(1, 3)
        return FeedForward(
            matrix(random, units, width), matrix(random, units, 1), matrix(random, width, units),
            matrix(random, width, 1), random.random() < 0.5,
        )  # fmt: skip

    layers = tuple(layer() for _ in range(random.randint(1, 3)))
    return Network(slots, vocabulary, positions, embedding, layers, readout(random, width, ("last", "every")))


def readout(random: Random, width: int, places: tuple[Literal["last", "every"], ...] = ("last",)) -> Readout:
    """One to three coordinates."""
    rows = random.randint(1, 3)
    decoding, at = random.choice(("bits", "argmax", "exact")), random.choice(places)
    return Readout(matrix(random, rows, width), matrix(random, rows, 1), decoding, at)


def recurrent(random: Random) -> RecurrentNetwork:
    """One or two maps."""
    vocabulary, width, inner = random.randint(1, 3), random.randint(1, 3), random.randint(1, 3)
    first = ReluMap(matrix(random, inner, width + 2), matrix(random, inner, 1))
    cell = (first, ReluMap(matrix(random, width, inner), matrix(random, width, 1)))
    embedding, initial = matrix(random, vocabulary, 2), matrix(random, width, 1)
    return RecurrentNetwork(vocabulary, random.randint(1, 4), embedding, initial, cell, readout(random, width))


@pytest.mark.parametrize("make", [transformer, recurrent])
def test_random_networks_give_the_same_answers(make):
    random, seen = Random(5), set()
    for number in range(200):
        network, name = make(random), NAMES[number % len(NAMES)]
        ours, theirs = Numbers(name), arithmetic_named(name)
        read = Reader(to_bytes(network), ours).network()
        tokens = [[random.randrange(network.vocabulary) for _ in range(network.positions)] for _ in range(3)]
        asked = network.positions if network.readout.at == "every" else 1
        answers = evaluate(network, numpy.array(tokens), theirs).answers[:, -asked:].tolist()
        for row, answer in zip(tokens, answers, strict=True):
            found = evaluation.evaluate(read, row, ours, asked, (), 1)
            assert [-1 if each is None else each for each in found] == answer
            seen.update(answer)
    assert len(seen) > 2
