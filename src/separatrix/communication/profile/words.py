"""What a profile means for an LSTM, a state-space model and a Transformer, in words.

Recurrent models: the state must hold ⌈log2 classes⌉ bits (BHBK24 Theorem 2). An LSTM of width m carries two vectors of
m numbers, a state-space model one number for each of its states. One attention layer: the protocol of Theorem 4 in its
repaired form (E13), whose bits are counted in ``bounds/simulations.py``, must reach the bits that the best partition
forces; in the paper's form m·H·(p + log N) ≥ bits / 3 (constant 6 for the protocol as written, 3 for the repaired one
with m ≥ 4). Only deterministic models are bounded, and only one layer.

Numbers at lengths that were not run are extrapolations of the best-fitting growth and are marked as such. A fit through
short lengths can pass what is possible at long ones; there the most that is possible stands in its place.
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
UNTOLD = "cannot be told"
WRITTEN_OUT = 1 << 14
"""Powers up to this exponent are computed in full."""


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


def most_state_bits(length: int, symbols: int, values: int | None) -> int:
    """The bits that are enough at every cut for any function: tell the prefix, or its value for every suffix.

    ``values``: how many values a decision has; None for a labelling, or where it is not known at this length.

    >>> most_state_bits(8, 2, values=2), most_state_bits(8, 2, values=None)
    (5, 8)
    """
    if values == 1:
        return 0
    most, suffix = 0, 0
    # From where there are two values or more for as many suffixes as bits tell the prefix, there are more functions of
    # the suffix than prefixes, here and before.
    while values is not None and symbols**suffix < _bits_of_power(symbols, length - suffix):
        functions = _bits_of_power(values, symbols**suffix)
        most = max(most, min(_bits_of_power(symbols, length - suffix), functions))
        suffix += 1
    return max(most, _bits_of_power(symbols, length - suffix))


def most_communication_bits(length: int, symbols: int, values: int | None) -> int:
    """The bits that are enough for any function and partition.

    The party with fewer positions tells them and the other one the value, so that A^⌊N/2⌋ times the number of values
    rectangles do; without a known number of values each input may need a rectangle of its own.

    >>> most_communication_bits(131072, 2, values=2), most_communication_bits(8, 2, values=None)
    (65537, 8)
    """
    whole = _bits_of_power(symbols, length)
    return whole if values is None else min(whole, _bits_of_power(symbols, length // 2, values))


def _bits_of_power(base: int, exponent: int, factor: int = 1) -> int:
    """⌈log2 of factor · base^exponent⌉; where that number is too long to be written out, perhaps 1 more."""
    if base & (base - 1) == 0:
        return exponent * bits_for(base) + bits_for(factor)
    if exponent <= WRITTEN_OUT:
        return bits_for(factor * base**exponent)
    return math.floor(exponent * math.log2(base) + math.log2(factor)) + 1


@dataclass(frozen=True)
class Extrapolation:
    """What follows at a length that was not run, if the fitted growth continues.

    ``state_at_most`` and ``communication_at_most`` are what no function can pass there; the bits are never more.
    """

    length: int
    state_bits: int | None
    communication_bits: int | None
    state_at_most: int
    communication_at_most: int
    lstm: str
    ssm: str
    transformer: str


def extrapolate(
    state: Growth,
    communication: Growth,
    precision: int,
    alphabet: Alphabet,
    values: int,
    two_layers: bool,
    settled: int | None = None,
    decision: bool = True,
) -> tuple[Extrapolation, ...]:
    """The three models at N = 1k, 8k and 128k; nothing is said about a growth that has no name.

    ``two_layers``: the function was found to be a threshold of sparse features, at the lengths that were run.
    ``settled``: the number of values where it seems to be the same at every length. ``decision``: not a labelling.
    """
    found: list[Extrapolation] = []
    for length in EXTRAPOLATED:
        symbols = alphabet.at(length).size
        state_cap = most_state_bits(length, symbols, settled if decision else None)
        talk_cap = most_communication_bits(length, symbols, settled)
        held, talked = continued(state, length, state_cap), continued(communication, length, talk_cap)
        found.append(
            Extrapolation(
                length,
                held,
                talked,
                state_cap,
                talk_cap,
                _recurrent(held, state_cap, 2 * precision, "width"),
                _recurrent(held, state_cap, precision, "state size"),
                _transformer(length, talked, talk_cap, precision, symbols, values, two_layers),
            )
        )
    return tuple(found)


def continued(growth: Growth, length: int, most: int) -> int | None:
    """The fit at a length, never below 0 and never above what is possible there."""
    return None if growth.best is None else min(most, max(0, math.ceil(round(growth.best.at(length), 6))))


def _about(bits: int, most: int, what: str) -> str:
    # A constant function has 0 of both, and "no function needs more" would be said of constant ones.
    return f"about {counted(bits, what)}{' (no function needs more)' if bits == most > 0 else ''}"


def _recurrent(bits: int | None, most: int, each: int, what: str) -> str:
    if bits is None:
        return UNTOLD
    if bits == 0:
        return f"{_about(bits, most, 'state bit')}, no {what} is excluded"
    return f"{_about(bits, most, 'state bit')}, so {what} ≥ {max(1, -(-bits // each))}"


def _transformer(
    length: int, bits: int | None, most: int, precision: int, symbols: int, values: int, two_layers: bool
) -> str:
    more = "; where it is such a threshold too, two layers of width O(log N) are enough (Theorem 13)" * two_layers
    if bits is None:
        return f"{UNTOLD}{more}"
    need = one_layer_need(length, bits, precision, symbols, values)
    limit = "no width is excluded" if need.width == 1 else f"one head needs width ≥ {need.width}"
    return f"one layer: {_about(bits, most, 'bit')}, {limit}{more}"
