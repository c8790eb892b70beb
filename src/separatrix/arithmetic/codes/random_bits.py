"""Random bits addressed by seed, row and place: a counter-based generator.

The 64-bit finaliser of SplitMix64 (Steele, Lea and Flood, 2014) applied to a combination of seed, row and piece. Any
row can be made without the others, as BHBK24 asks of its vectors, and the bits are the same on every platform and numpy
version.
"""

import numpy as np
from numpy.typing import NDArray

UInt64Array = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def random_words(seed: int, rows: NDArray[np.int64], pieces: int) -> UInt64Array:
    """Return one row of ``pieces`` random 64-bit words per row number.

    >>> random_words(0, np.array([0, 1]), 1).shape
    (2, 1)
    """
    # The seed is mixed before the row is added, or seed 1 would be seed 0 shifted by one row.
    start = _mixed(np.array([(seed + 1) * GOLDEN & MASK], dtype=np.uint64))
    keys = _mixed(rows.astype(np.uint64) * np.uint64(GOLDEN) + start)
    counters = np.arange(1, pieces + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    return _mixed(keys[:, None] + counters[None, :])


def _mixed(values: UInt64Array) -> UInt64Array:
    # Array arithmetic on unsigned integers wraps modulo 2^64, which is what the generator is defined with.
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
