"""What a profile means for an LSTM, a state-space model and a Transformer, in words.

Recurrent models: the state must hold ⌈log2 classes⌉ bits (BHBK24 Theorem 2). An LSTM of width m carries two vectors of
m numbers, a state-space model one number for each of its states. One attention layer: the protocol of Theorem 4 in its
repaired form (E13), whose bits are counted in ``bounds/simulations.py``, must reach the bits that the best partition
forces; in the paper's form m·H·(p + log N) ≥ bits / 3 (constant 6 for the protocol as written, 3 for the repaired one
with m ≥ 4). Only deterministic models are bounded, and only one layer.

Numbers at lengths that were not run are extrapolations of the best-fitting growth and are marked as such.
"""

import math
from dataclasses import dataclass

from separatrix.bit_counts import bits_for
from separatrix.communication.bounds.simulations import ONE_LAYER, ModelSize, Setting
from separatrix.communication.profile.alphabet import Alphabet
from separatrix.communication.profile.growth import Growth
from separatrix.wording import counted

EXTRAPOLATED = (1024, 8192, 131072)
PROTOCOL_CONSTANT = 3


@dataclass(frozen=True)
class OneLayerNeed:
    """What one attention layer needs at one length and precision, from ``bits`` of communication.

    ``product``: m·H·(p + log2 N) must be at least this (constant 3, m ≥ 4). ``width``: the smallest width of one head
    for which the counted protocol reaches the bits.
    """

    length: int
    precision: int
    bits: int
    product: int
    width: int


def one_layer_need(length: int, bits: int, precision: int, symbols: int, values: int) -> OneLayerNeed:
    """The smallest one-layer Transformer that the bits leave open.

    The bits are those after which both parties know the answer; in the repaired protocol one of them does and tells it.

    >>> one_layer_need(400, 399, 32, symbols=4, values=2).width
    4
    """
    setting = Setting(positions=length, query_bits=bits_for(symbols))
    told = bits_for(values)
    first, second = (ONE_LAYER.bits(ModelSize(width, precision), setting) for width in (1, 2))
    # The bits grow by the same amount with each unit of width.
    width = 1 + max(0, -(-(bits - told - first) // (second - first)))
    return OneLayerNeed(length, precision, bits, -(-bits // PROTOCOL_CONSTANT), width)


@dataclass(frozen=True)
class Extrapolation:
    """What follows at a length that was not run, if the fitted growth continues."""

    length: int
    state_bits: int | None
    communication_bits: int | None
    lstm: str
    ssm: str
    transformer: str


def extrapolate(
    state: Growth, communication: Growth, precision: int, alphabet: Alphabet, values: int, two_layers: bool
) -> tuple[Extrapolation, ...]:
    """The three models at N = 1k, 8k and 128k; nothing is said about a growth that has no name."""
    found: list[Extrapolation] = []
    for length in EXTRAPOLATED:
        held = None if state.best is None else max(0, math.ceil(round(state.best.at(length), 6)))
        talked = None if communication.best is None else max(0, math.ceil(round(communication.best.at(length), 6)))
        found.append(
            Extrapolation(
                length,
                held,
                talked,
                _recurrent(held, 2 * precision, "width"),
                _recurrent(held, precision, "state size"),
                _transformer(length, talked, precision, alphabet.at(length).size, values, two_layers),
            )
        )
    return tuple(found)


def _recurrent(bits: int | None, each: int, what: str) -> str:
    if bits is None:
        return "too few lengths to extrapolate"
    return f"about {counted(bits, 'state bit')}, so {what} ≥ {max(1, -(-bits // each))}"


def _transformer(length: int, bits: int | None, precision: int, symbols: int, values: int, two_layers: bool) -> str:
    more = "; two layers of width O(log N) are enough (Theorem 13)" if two_layers else ""
    if bits is None:
        return f"too few lengths to extrapolate{more}"
    need = one_layer_need(length, bits, precision, symbols, values)
    limit = "no width is excluded" if need.width == 1 else f"one head needs width ≥ {need.width}"
    return f"one layer: about {counted(bits, 'bit')}, {limit}{more}"
