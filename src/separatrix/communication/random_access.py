"""How long a text can be looked up from B bits of state *on average*: the state is a random access code.

The bounds of ``bounds`` are about models that are right on every input. An accuracy that was measured on random texts
needs another: of N independent, uniform symbols of an alphabet of size q, read before the question, with a state of B
bits and an average accuracy a over texts and positions,

    B ≥ N · (log2 q − h(1 − a) − (1 − a)·log2(q − 1)),    h the binary entropy.

Proof: the state M has I(X; M) ≤ B, and ≥ Σ I(X_i; M) because the symbols are independent; each I(X_i; M) is at least
log2 q − h(e_i) − e_i·log2(q − 1) with e_i the error at position i (Fano), which is convex in e_i, so that the mean
error gives no more than the sum (Jensen). Not in the papers; the limits of random access codes are due to Ambainis,
Nayak, Ta-Shma and Vazirani (1999) and Nayak (1999).
"""

import math

SLACK = 1e-9
"""Taken off the bits of a symbol, so that rounding never makes a limit too short."""


def bits_of_symbol(alphabet: int, accuracy: float) -> float:
    """Return bits of state that each symbol takes at an average accuracy; 0 at or below chance.

    >>> bits_of_symbol(64, 1.0), round(bits_of_symbol(64, 0.99), 3), bits_of_symbol(64, 1 / 64)
    (6.0, 5.859, 0.0)
    """
    error = 1 - accuracy
    if error <= 0:
        return math.log2(alphabet)
    if accuracy * alphabet <= 1:
        return 0.0
    entropy = -(error * math.log2(error) + accuracy * math.log2(accuracy))
    return max(0.0, math.log2(alphabet) - entropy - error * math.log2(alphabet - 1))


def longest_on_average(state_bits: int, alphabet: int, accuracy: float) -> int | None:
    """Return the longest text that so many bits may answer with this accuracy on average; None where nothing is
    excluded.

    >>> longest_on_average(49152, 64, 1.0), longest_on_average(49152, 64, 0.5), longest_on_average(8, 2, 0.5)
    (8192, 24437, None)
    """
    bits = bits_of_symbol(alphabet, accuracy) - SLACK
    return math.floor(state_bits / bits) if bits > SLACK else None
