"""What the bits of a partition ask of one attention layer.

The protocol of BHBK24 Theorem 4 in its repaired form (E13), whose bits are counted in ``bounds/simulations.py``, must
reach the bits that the best partition forces; in the paper's form m·H·(p + log N) ≥ bits / 3 (constant 6 for the
protocol as written, 3 for the repaired one with m ≥ 4). Only deterministic models are bounded, only one layer, and only
in fixed point, whose sums are exact before they are rounded.
"""

from dataclasses import dataclass

from separatrix.bit_counts import bits_for
from separatrix.bounds import ONE_LAYER, ModelSize, Setting

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
    """Return the smallest one-layer Transformer that the bits leave open.

    The bits are those after which both parties know the answer; in the repaired protocol one of them does and sends it.

    >>> one_layer_need(400, 399, 32, symbols=4, values=2).width
    4
    """
    setting = Setting(positions=length, query_bits=bits_for(symbols))
    answer_bits = bits_for(values)
    first, second = (ONE_LAYER.bits(ModelSize(width, precision), setting) for width in (1, 2))
    # The bits grow by the same amount with each unit of width.
    width = 1 + max(0, -(-(bits - answer_bits - first) // (second - first)))
    return OneLayerNeed(length, precision, bits, -(-bits // PROTOCOL_CONSTANT), width)
