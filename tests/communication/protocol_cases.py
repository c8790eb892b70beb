"""Random one-layer networks, partitions and arithmetics for the tests of protocols."""

from dataclasses import dataclass

import numpy
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.communication.partition import Partition, of_positions
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    Readout,
    SignRows,
    Slots,
    TableRows,
)

VOCABULARY = 3


@dataclass(frozen=True)
class Case:
    """One run: a network, its arithmetic, an input and who holds what."""

    network: Network
    arithmetic: FixedPoint
    tokens: numpy.ndarray
    partition: Partition
    position: int


def random_network(
    seed: int,
    *,
    positions: int = 5,
    width: int = 4,
    inner: int = 2,
    value: int = 2,
    heads: int = 1,
    scoring: str = "softmax",
    mask: str = "none",
    residual: bool = True,
    before: bool = False,
    after: bool = True,
    decoding: str = "bits",
    at: str = "last",
    outputs: int = 1,
    largest: int = 3,
) -> Network:
    """A network of no meaning; ``scoring`` and ``mask`` may be 'mixed'. Large weights make numbers saturate."""
    generator = numpy.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> ExactMatrix:
        return ExactMatrix(generator.integers(-largest, largest + 1, (rows, columns)), int(generator.integers(1, 5)))

    def one_of(given: str, *choices: str) -> str:
        return str(generator.choice(choices)) if given == "mixed" else given

    split = max(1, width // 2)
    slots = Slots((("a", split), ("b", width - split))) if width > split else Slots((("a", split),))
    tokens, places = (0, VOCABULARY), (0, positions)
    parts = [EmbeddingPart("a", TableRows(matrix(VOCABULARY, split)), "token", tokens, places)]
    if width > split:
        rule = SignRows(generator.integers(0, 2, (4, width - split)).astype(numpy.uint8))
        indices = generator.integers(0, 16, positions)
        parts.append(EmbeddingPart("b", rule, "position", tokens, places, indices))

    def feed_forward() -> FeedForward:
        return FeedForward(
            matrix(3, width), matrix(3, 1), matrix(width, 3), matrix(width, 1), residual=bool(generator.integers(2))
        )

    units = tuple(
        Head(
            matrix(inner, width),
            matrix(inner, width),
            matrix(value, width),
            matrix(width, value),
            one_of(scoring, "softmax", "hard", "linear"),  # type: ignore[arg-type]
            one_of(mask, "none", "causal", "strict"),  # type: ignore[arg-type]
        )
        for _ in range(heads)
    )
    layers = (*[feed_forward()] * before, Attention(units, residual=residual), *[feed_forward()] * after)
    readout = Readout(matrix(outputs, width), matrix(outputs, 1), decoding, at)  # type: ignore[arg-type]
    return Network(slots, VOCABULARY, positions, tuple(parts), layers, readout, "for tests")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Anything that Theorem 4 covers, at small sizes, with and without saturation and Python ints."""
    positions = draw(st.integers(1, 7))
    at = draw(st.sampled_from(("last", "every")))
    network = random_network(
        draw(st.integers(0, 10**6)),
        positions=positions,
        width=draw(st.integers(1, 4)),
        inner=draw(st.integers(1, 3)),
        value=draw(st.integers(1, 3)),
        heads=draw(st.integers(1, 3)),
        scoring=draw(st.sampled_from(("softmax", "hard", "linear", "mixed"))),
        mask=draw(st.sampled_from(("none", "mixed"))),
        residual=draw(st.booleans()),
        before=draw(st.booleans()),
        after=draw(st.booleans()),
        decoding=draw(st.sampled_from(("bits", "argmax", "round"))),
        at=at,
        outputs=draw(st.integers(1, 3)),
        largest=draw(st.sampled_from((1, 3, 40))),
    )
    length, exponent = draw(st.sampled_from(((2, 1), (3, 2), (5, 2), (7, 3), (10, 12))))
    return Case(
        network,
        FixedPoint(length, exponent, draw(st.sampled_from(("down", "nearest")))),
        numpy.array(draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=positions, max_size=positions))),
        of_positions(positions, draw(st.sets(st.integers(0, positions - 1)))),
        positions - 1 if at == "last" else draw(st.integers(0, positions - 1)),
    )
