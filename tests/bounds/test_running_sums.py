"""The protocol for running float sums: Bob comes to the layer's own bits, at the claimed cost, for every cut."""

import numpy
import pytest

from separatrix.bounds import ModelSize, Setting, floating, simulation_in
from separatrix.bounds.simulations import ONE_LAYER
from separatrix.communication.protocols.running_sums import FloatLayer, run_running_sums
from separatrix.communication.protocols.transcript import Message
from separatrix.errors import SeparatrixError


def drawn(seed: int, heads: int, positions: int, tokens: int, width: int, format: str) -> FloatLayer:
    rng = numpy.random.default_rng(seed)
    # Values of very different size, so that every addition rounds.
    values = rng.normal(size=(heads, positions, tokens, width)) * 10.0 ** rng.integers(-3, 4, (1, positions, 1, 1))
    return FloatLayer(3 * rng.normal(size=(heads, positions, tokens, tokens)), values, format)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["float32", "float16"])
@pytest.mark.parametrize(("heads", "positions", "tokens", "width"), [(1, 2, 2, 1), (2, 9, 3, 4), (3, 16, 5, 2)])
def test_bob_finds_the_layers_bits_at_the_claimed_cost(
    format: str, heads: int, positions: int, tokens: int, width: int
) -> None:
    layer = drawn(7, heads, positions, tokens, width, format)
    cells = numpy.random.default_rng(8).integers(0, tokens, positions)
    whole = layer.evaluate(cells)
    running = simulation_in(ONE_LAYER, floating(layer.precision), prefix=True).simulation
    assert running is not None
    size, setting = ModelSize(width, layer.precision, heads), Setting(positions, (tokens - 1).bit_length())
    for after in range(1, positions):
        run = run_running_sums(layer, cells, after)
        assert run.outputs.tobytes() == whole.tobytes()
        assert run.transcript.total_bits == layer.claimed_bits()
        # The bound counts maxima like sums: logits of a fused kernel have the accumulator's bits.
        spare = 2 * heads * (max(32, layer.precision) - layer.precision)
        assert layer.claimed_bits() + spare == running.bits(size, setting)


def test_parts_that_are_added_separately_differ() -> None:
    """Why a prefix is needed: the odd positions' sum and the even positions' sum do not add up to the layer's bits."""
    layer = drawn(1, 1, 12, 2, 8, "float32")
    cells = numpy.random.default_rng(2).integers(0, 2, 12)
    logits = layer.scored(cells, 0, int(cells[-1]))
    exponentials = layer.exponentials(logits, logits.max(axis=1))
    whole = layer.added(numpy.zeros(1, numpy.float32), exponentials)
    parts = []
    for parity in (0, 1):
        kept = exponentials * (numpy.arange(12) % 2 == parity)
        parts.append(layer.weighted(numpy.zeros((1, 8), numpy.float32), kept, whole, cells, 0))
    assert (parts[0] + parts[1]).tobytes() != layer.evaluate(cells).tobytes()


def test_a_damaged_sum_changes_the_answer() -> None:
    layer, cells = drawn(3, 1, 6, 2, 2, "float32"), numpy.array([0, 1, 1, 0, 1, 0])

    def damaged(message: Message) -> str:
        if message.step != "sums":
            return message.bits
        # The sign of the last number.
        sign = "0" if message.bits[-8] == "1" else "1"
        return message.bits[:-8] + sign + message.bits[-7:]

    assert run_running_sums(layer, cells, 3, damaged).outputs.tobytes() != layer.evaluate(cells).tobytes()


def test_an_empty_part_ends_in_one_line() -> None:
    with pytest.raises(SeparatrixError, match="leaves one party nothing"):
        run_running_sums(drawn(0, 1, 4, 2, 1, "float32"), numpy.zeros(4, numpy.int64), 4)
