"""Bits, messages and conversations."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, Floating
from separatrix.communication.protocols import ALICE, BOB, BitReader, BitWriter, Code, Message, Transcript, converse
from separatrix.communication.protocols.bits import number_code, sum_code
from separatrix.communication.protocols.transcript import Outgoing
from separatrix.errors import SeparatrixError


@given(data=st.data(), low=st.integers(-(10**30), 10**30), size=st.integers(0, 10**12), more=st.integers(0, 3))
def test_whole_numbers_come_back(data, low, size, more):
    tight = Code.tight(low, low + size)
    assert 2**tight.width > size
    assert tight.width == 0 or 2 ** (tight.width - 1) <= size
    code = Code(low, low + size, tight.width + more)
    values = data.draw(st.lists(st.integers(low, low + size), max_size=5))
    writer = BitWriter()
    writer.write_all(values, code)
    assert len(writer.bits) == len(values) * code.width
    reader = BitReader(writer.bits)
    assert reader.read_all(len(values), code) == values
    reader.finish()


@pytest.mark.parametrize(
    "arithmetic",
    [FixedPoint(3, 1), FixedPoint(16, 2), FixedPoint(10, 12), *map(Floating, ("float64", "bfloat16", "float8_e5m2"))],
)
def test_numbers_of_an_arithmetic_come_back_bit_for_bit(arithmetic):
    numbers = arithmetic.encode([0, 1, -1, 0.5, -0.1, 10**9, -(10**9)])
    writer = BitWriter()
    writer.write_numbers(numbers, arithmetic)
    assert len(writer.bits) == 7 * arithmetic.precision_bits
    back = BitReader(writer.bits).read_numbers(7, arithmetic)
    assert back.dtype == numbers.dtype
    assert back.tobytes() == numbers.tobytes() or back.tolist() == numbers.tolist()


def test_every_number_of_a_small_fixed_point_has_its_own_word():
    arithmetic = FixedPoint(3, 1)
    code = number_code(arithmetic)
    words = {code.encode(value) for value in range(code.low, code.high + 1)}
    assert len(words) == arithmetic.number_count == 19
    assert {len(word) for word in words} == {5}


@given(length=st.integers(2, 300), exponent=st.integers(1, 5), count=st.integers(1, 10**6))
def test_sums_fit_p_plus_log_bits(length, exponent, count):
    arithmetic = FixedPoint(length, exponent)
    code = sum_code(arithmetic, count)
    assert code.high == count * length ** (2 * exponent)
    assert code.width == arithmetic.precision_bits + (count - 1).bit_length()


def test_numbers_out_of_range_and_damaged_words():
    code = Code.tight(-3, 3)
    with pytest.raises(SeparatrixError, match="agreed numbers"):
        code.encode(4)
    with pytest.raises(SeparatrixError, match="damaged"):
        code.decode("111")
    with pytest.raises(SeparatrixError, match="2 bits do not hold"):
        Code(-3, 3, 2)
    with pytest.raises(SeparatrixError, match="ends too early"):
        BitReader("01").read(code)
    with pytest.raises(SeparatrixError, match="too long"):
        BitReader("01").finish()
    with pytest.raises(SeparatrixError, match="zeros and ones"):
        Message(1, ALICE, BOB, "state", "words", "hello")


def test_a_transcript_counts():
    said = Transcript(
        (
            Message(1, ALICE, BOB, "query", "x", "0101"),
            Message(2, ALICE, BOB, "maxima", "a", "11"),
            Message(2, BOB, ALICE, "maxima", "b", "00"),
        )
    )
    assert (said.total_bits, said.bits_from(ALICE), said.bits_from(BOB), said.rounds) == (8, 6, 2, 2)
    assert not said.one_way
    assert said.table() == [
        {"round": 1, "step": "query", "Alice": 4, "Bob": 0, "bits": 4},
        {"round": 2, "step": "maxima", "Alice": 2, "Bob": 2, "bits": 4},
    ]
    data = json.loads(json.dumps(said.as_json()))
    assert data["total_bits"] == sum(len(message["bits"]) for message in data["messages"]) == 8


class Echo:
    """Says what it was given, hears for a given number of rounds, returns what it heard."""

    def __init__(self, *says: str | None) -> None:
        self.says = says

    def speech(self):
        heard = []
        for bits in self.says:
            heard.append((yield None if bits is None else Outgoing("step", "words", bits)))  # noqa: PERF401
        return heard


def test_both_speak_in_a_round():
    talk = converse(Echo("1", "00", None), Echo("0", None, "11"))
    assert talk.alice == ["0", None, "11"]
    assert talk.bob == ["1", "00", None]
    assert [message.sender for message in talk.transcript.messages] == [ALICE, BOB, ALICE, BOB]
    assert [message.round for message in talk.transcript.messages] == [1, 1, 2, 3]


def test_sides_that_follow_different_protocols_are_a_defect():
    with pytest.raises(RuntimeError, match="different protocols"):
        converse(Echo("1"), Echo(None, None))
    with pytest.raises(RuntimeError, match="done"):
        converse(Echo("1"), Echo(None, "1"))
