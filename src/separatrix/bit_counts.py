"""How many bits tell so many things apart: the ⌈log2⌉ of every state, message, symbol and position that is counted.

Here too: how many bits a number has where nobody says it.
"""

OWN_PRECISION = 32
"""Bits of a number of this package's own models, which are trained in float32, and of models that are not named."""
PUBLISHED_PRECISION = 16
"""Bits of a number of published models, whose weights and activations come in floats of 16 bits."""


def bits_for(count: int) -> int:
    """⌈log2 count⌉: the bits that tell ``count`` things apart; 0 for one thing or none.

    >>> [bits_for(count) for count in (1, 2, 3, 4, 5, 16, 17)]
    [0, 1, 2, 2, 3, 4, 5]
    """
    return max(0, count - 1).bit_length()
