"""How many bits tell so many things apart: the ⌈log2⌉ of every state, message, symbol and position that is counted."""


def bits_for(count: int) -> int:
    """⌈log2 count⌉: the bits that tell ``count`` things apart; 0 for one thing or none.

    >>> [bits_for(count) for count in (1, 2, 3, 4, 5, 16, 17)]
    [0, 1, 2, 2, 3, 4, 5]
    """
    return max(0, count - 1).bit_length()
