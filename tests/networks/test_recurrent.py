"""Recurrent networks as data: evaluation by hand, shapes, storage, sizes."""

from dataclasses import replace

import numpy
import pytest

from separatrix.arithmetic import Balls, FixedPoint, Floating
from separatrix.errors import SeparatrixError
from separatrix.networks import Readout, RecurrentNetwork, ReluMap, evaluate, exact
from separatrix.networks.store import from_bytes, load_network, save_network, to_bytes


def counter(positions: int = 4, at: str = "last") -> RecurrentNetwork:
    """The number of ones less the number of zeros, never below 0; reads 1 when it is at least 2."""
    readout = Readout(exact([[1]]), exact([[-1]]), "bits", "every" if at == "every" else "last")
    cell = (ReluMap(exact([[1, 1]]), exact([[0]])),)
    return RecurrentNetwork(2, positions, exact([[-1], [1]]), exact([[0]]), cell, readout, about="a counter")


@pytest.mark.parametrize("arithmetic", [FixedPoint(10, 2), Floating("float64"), Balls(64)])
def test_a_counter_by_hand(arithmetic):
    tokens = numpy.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]])
    outputs = evaluate(counter(), tokens, arithmetic)
    assert outputs.answers.tolist() == [[1], [1], [0], [0]]
    assert arithmetic.decode(outputs.raw)[:, 0, 0].tolist() == [1, 1, 0, -1]
    every = evaluate(counter(at="every"), tokens, arithmetic)
    assert every.answers.tolist() == [[0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_maps_follow_each_other():
    """|x| by two maps: ReLU(x), ReLU(-x), then their sum."""
    cell = (ReluMap(exact([[0, 1], [0, -1]]), exact([[0], [0]])), ReluMap(exact([[1, 1]]), exact([[0]])))
    readout = Readout(exact([[1]]), exact([[0]]), "bits")
    network = RecurrentNetwork(3, 1, exact([[-2], [0], [1]]), exact([[5]]), cell, readout)
    outputs = evaluate(network, numpy.array([[0], [1], [2]]), FixedPoint(10, 2))
    assert (outputs.raw[:, 0, 0] // 100).tolist() == [2, 0, 1]


def test_an_empty_batch():
    assert evaluate(counter(), numpy.zeros((0, 4), dtype=numpy.int64), FixedPoint(10, 2)).answers.shape == (0, 1)


def test_tokens_are_checked():
    with pytest.raises(SeparatrixError, match="reads 4 tokens"):
        evaluate(counter(), numpy.zeros((1, 5), dtype=numpy.int64), FixedPoint(10, 2))
    with pytest.raises(SeparatrixError, match="vocabulary"):
        evaluate(counter(), numpy.full((1, 4), 2), FixedPoint(10, 2))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"embedding": exact([[1]])}, "embedding"),
        ({"initial": exact([[0], [0]])}, "cell map 0"),
        ({"cell": ()}, "no map"),
        ({"cell": (ReluMap(exact([[1, 1, 1]]), exact([[0]])),)}, "cell map 0"),
        ({"cell": (ReluMap(exact([[1, 1]]), exact([[0], [0]])),)}, "cell bias 0"),
        ({"readout": Readout(exact([[1, 1]]), exact([[0]]), "bits")}, "readout"),
        ({"positions": 0}, "positions"),
    ],
)
def test_shapes_are_checked(change, says):
    with pytest.raises(SeparatrixError, match=says) as caught:
        replace(counter(), **change)
    assert "\n" not in str(caught.value)


def test_sizes():
    network = counter()
    assert (network.width, network.depth, network.heads) == (1, 1, 0)
    assert network.state_bits(12) == 12
    # Two embedding entries, two weights, the readout's weight and its bias; zeros need no naming.
    assert network.size_bits(12) == 6 * 12


def test_storage_gives_the_same_network_and_bytes(tmp_path):
    network = counter(at="every")
    digest = save_network(network, tmp_path / "n.safetensors")
    again, found = load_network(tmp_path / "n.safetensors")
    assert isinstance(again, RecurrentNetwork)
    assert again == network
    assert again.about == "a counter"
    assert found == digest
    assert to_bytes(again) == to_bytes(network)


@pytest.mark.parametrize("place", [0, 9, 40, 200, -1])
def test_damaged_files_end_in_one_line(place):
    data = bytearray(to_bytes(counter()))
    whole = bytes(data)
    data[place] ^= 0xFF
    try:
        network = from_bytes(bytes(data), "damaged")
    except SeparatrixError as error:
        assert "\n" not in str(error)
    else:
        # A changed weight is another network, which the hash in a certificate tells apart.
        assert to_bytes(network) != whole


def test_an_unknown_format_is_refused():
    data = to_bytes(counter()).replace(b"separatrix-recurrent-1", b"separatrix-recurrent-9")
    with pytest.raises(SeparatrixError, match="format"):
        from_bytes(data, "future")
