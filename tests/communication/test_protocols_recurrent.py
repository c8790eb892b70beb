"""Theorem 2 executed: the state as mp bits, and Bob's answer equal to the direct evaluation."""

from dataclasses import dataclass, replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Balls, FixedPoint, Floating
from separatrix.communication.partition import cut, odd_even
from separatrix.communication.protocols import (
    QuantisedModel,
    RecurrentParty,
    run_directly,
    run_recurrent,
    run_recurrent_model,
)
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, Readout, RecurrentNetwork, ReluMap, evaluate
from separatrix.tasks import draws_from


@pytest.mark.parametrize("name", ["dyck-dfa", "dyck-rnn"])
@pytest.mark.parametrize("arithmetic", [None, Floating("float32"), Floating("bfloat16")])
def test_dyck_at_every_cut(name, arithmetic):
    built = constructions()[name].build(12)
    numbers = arithmetic or built.arithmetic
    batch = built.task.sample(draws_from(3), 4, 12)
    for row in batch.inputs:
        direct = evaluate(built.network, row[None], numbers)
        for after in range(12):
            run = run_recurrent(built.network, row, numbers, cut(12, after))
            assert run.raw.tolist() == direct.raw[0].tolist()
            assert run.answers.tolist() == direct.answers[0].tolist()
            assert run.transcript.one_way
            assert run.transcript.total_bits == run.formula_bits == built.network.width * numbers.precision_bits


def random_recurrent(seed: int, at: str) -> RecurrentNetwork:
    generator = numpy.random.default_rng(seed)
    width, inner, embedding = generator.integers(1, 5, 3).tolist()

    def matrix(rows: int, columns: int) -> ExactMatrix:
        return ExactMatrix(generator.integers(-3, 4, (rows, columns)), int(generator.integers(1, 4)))

    cell = (
        ReluMap(matrix(inner, width + embedding), matrix(inner, 1)),
        ReluMap(matrix(width, inner), matrix(width, 1)),
    )
    readout = Readout(matrix(2, width), matrix(2, 1), "bits", at)
    return RecurrentNetwork(3, 6, matrix(3, embedding), matrix(width, 1), cell, readout)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), at=st.sampled_from(("last", "every")), after=st.integers(0, 5),
    tokens=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    arithmetic=st.sampled_from(
        (FixedPoint(3, 1), FixedPoint(5, 3, "nearest"), FixedPoint(10, 12), Floating("float16"), Floating("float64"))
    ),
)  # fmt: skip
def test_random_networks(seed, at, after, tokens, arithmetic):
    network, row = random_recurrent(seed, at), numpy.array(tokens)
    run = run_recurrent(network, row, arithmetic, cut(6, after))
    direct = evaluate(network, row[None], arithmetic)
    read = direct.raw[0] if at == "last" else direct.raw[0, after:]
    assert str(run.raw.tolist()) == str(read.tolist())  # as text, because small floats overflow to NaN
    assert run.answers.tolist() == direct.answers[0, -len(read) :].tolist()
    assert run.transcript.total_bits == network.state_bits(arithmetic.precision_bits)


@dataclass(frozen=True)
class TanhCell:
    """A plain numpy cell with a state in two pieces, as an LSTM has; the transition depends on the position."""

    seed: int = 0
    half: int = 3

    @property
    def width(self) -> int:
        return 2 * self.half

    def _weights(self) -> numpy.ndarray:
        return numpy.random.default_rng(self.seed).normal(size=(2 * self.half, 2 * self.half + 1))

    def initial_state(self):
        return numpy.zeros(self.half), numpy.full(self.half, 0.3)

    def step(self, state, token, position):
        entering = numpy.concatenate([*state, [token - 0.1 * position]])
        return tuple(numpy.tanh(self._weights() @ entering).reshape(2, -1))

    def to_numbers(self, state):
        return numpy.concatenate(state)

    def from_numbers(self, numbers):
        return numbers[: self.half], numbers[self.half :]

    def read_out(self, state):
        return state[0] - state[1]


@pytest.mark.parametrize(
    "arithmetic", [FixedPoint(8, 2), FixedPoint(8, 2, "nearest"), Floating("float32"), Floating("float8_e4m3fn")]
)
def test_a_real_cell_with_its_state_in_p_bits(arithmetic):
    tokens = [0, 1, 1, 0, 1, 0, 0, 1]
    model = QuantisedModel(TanhCell(4), arithmetic)
    direct = run_directly(model, tokens)
    for after in range(8):
        run = run_recurrent_model(model, tokens, after, every=True)
        assert run.raw.tolist() == direct[after:].tolist()
        assert run.transcript.total_bits == 6 * arithmetic.precision_bits
    coarse = run_directly(QuantisedModel(TanhCell(4), FixedPoint(2, 1)), tokens)
    assert coarse.tolist() != direct.tolist()


def test_float64_loses_nothing():
    """Rounding to the format that the cell computes in changes no step."""
    cell, tokens = TanhCell(1), [1, 0, 1]
    state = cell.initial_state()
    for position, token in enumerate(tokens):
        state = cell.step(state, token, position)
    run = run_recurrent_model(QuantisedModel(cell, Floating("float64")), tokens, 1)
    assert run.raw[0].tolist() == cell.read_out(state).tolist()


def test_a_cell_that_hides_a_part_of_its_state_is_refused():
    class Hiding(TanhCell):
        def to_numbers(self, state):
            return state[0]

    with pytest.raises(SeparatrixError, match="the cell says it has 6"):
        run_recurrent_model(QuantisedModel(Hiding(), FixedPoint(8, 2)), [0, 1], 1)


def test_a_damaged_state_changes_the_result():
    """Turning over the bit that says whether the string is still a prefix of a word turns over the answer."""
    built = constructions()["dyck-dfa"].build(8)
    tokens = numpy.array(built.task.read("([])(())", 8))
    honest = run_recurrent(built.network, tokens, built.arithmetic, cut(8, 4))
    answers = set()
    for place in range(honest.transcript.total_bits):

        def wire(message, place=place):
            return message.bits[:place] + "10"[int(message.bits[place])] + message.bits[place + 1 :]

        try:
            answers.add(run_recurrent(built.network, tokens, built.arithmetic, cut(8, 4), wire=wire).answers.item())
        except SeparatrixError:
            answers.add("refused")
    assert honest.answers.item() == 1
    assert 0 in answers


def test_the_parties_hold_their_own_tokens_alone():
    tokens = numpy.arange(6) % 2
    seen = []

    class Watching(TanhCell):
        def step(self, state, token, position):
            seen.append((position, int(token)))
            return super().step(state, token, position)

    model = QuantisedModel(Watching(), FixedPoint(8, 2))
    alice = RecurrentParty(model, list(tokens[:2]), 0, True)
    speech = alice.speech()
    said = next(speech)
    assert seen == [(0, 0), (1, 1)]
    assert said is not None and len(said.bits) == 6 * model.arithmetic.precision_bits
    assert not any(isinstance(value, numpy.ndarray) for value in vars(alice).values())


def test_refusals():
    built = constructions()["dyck-dfa"].build(8)
    tokens = numpy.zeros(8, dtype=numpy.int64)
    for arithmetic, partition, says in (
        (built.arithmetic, odd_even(8), "cut:K"),
        (built.arithmetic, cut(8, 8), "0 to 7"),
        (built.arithmetic, cut(9, 3), "9 positions"),
        (Balls(64), cut(8, 3), "fixed number of bits"),
    ):
        with pytest.raises(SeparatrixError, match=says):
            run_recurrent(built.network, tokens, arithmetic, partition)
    with pytest.raises(SeparatrixError, match="vocabulary"):
        run_recurrent(built.network, tokens + 90, built.arithmetic, cut(8, 3))
    with pytest.raises(SeparatrixError, match="reads 9 tokens"):
        run_recurrent(replace(built.network, positions=9), tokens, built.arithmetic, cut(9, 3))
