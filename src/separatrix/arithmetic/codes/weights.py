"""All pairwise inner products of a linear code from its codeword weights, bit-packed.

The difference of two words of a linear code is again a word, so the N² inner products that BHBK24 Lemma 2 bounds
with a union bound are here N weights, and they are counted rather than estimated. Words are packed into 64-bit
integers; a block of words is made by doubling (the second half is the first half plus one generator row), and the
rest is walked in Gray order, one XOR per block, so memory stays at a few megabytes whatever the dimension.

If a code uses only its first ``count`` messages, nothing changes: when 2^(B−1) < count ≤ 2^B the sums of two
different messages below ``count`` are exactly the non-zero messages below 2^B. (A message without the top bit is
its own sum with 0; one with it is the sum of 2^(B−1) and a message below that.) So the extremes over the whole
B-dimensional code are the exact extremes over the ``count`` vectors, not just a bound.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from separatrix.arithmetic.codes.sign_code import Distances, UInt8Array
from separatrix.errors import SeparatrixError

UInt64Array = NDArray[np.uint64]

BLOCK_DIMENSION = 14
LARGEST_DIMENSION = 28
WORD_MASK = (1 << 64) - 1


def pack_rows(rows: Sequence[int], width: int) -> UInt64Array:
    """Bit strings as rows of 64-bit integers; place p of a row is bit p mod 64 of integer p div 64."""
    pieces = max(1, -(-width // 64))
    return np.array(
        [[row >> (64 * piece) & WORD_MASK for piece in range(pieces)] for row in rows], dtype=np.uint64
    ).reshape(len(rows), pieces)


def pack_words(words: UInt8Array) -> UInt64Array:
    """Return rows of bits, one byte each, as rows of 64-bit integers."""
    padded = np.zeros((len(words), 8 * max(1, -(-words.shape[1] // 64))), dtype=np.uint8)
    packed_bytes = np.packbits(words, axis=1, bitorder="little")
    padded[:, : packed_bytes.shape[1]] = packed_bytes
    return padded.view("<u8").astype(np.uint64)


def unpack_words(words: UInt64Array, width: int) -> UInt8Array:
    """Return the inverse of packing: one byte per place."""
    as_bytes = words.astype("<u8").view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.unpackbits(as_bytes, axis=1, bitorder="little", count=width)


def weight_distribution(rows: Sequence[int], width: int) -> NDArray[np.int64]:
    """Return how many sums of rows have each weight 0..width; entry 0 counts the empty sum.

    >>> weight_distribution([0b0001111, 0b0110011, 0b1010101], 7).tolist()
    [1, 0, 0, 0, 7, 0, 0, 0]
    """
    if len(rows) > LARGEST_DIMENSION:
        raise SeparatrixError(
            f"a code of dimension {len(rows)} has too many words to weigh; stay at or below {LARGEST_DIMENSION}"
        )
    packed = pack_rows(rows, width)
    low, high = packed[:BLOCK_DIMENSION], packed[BLOCK_DIMENSION:]
    # One contiguous array per 64-bit piece: the block is XORed and counted without new arrays.
    block = np.zeros((packed.shape[1], 1 << len(low)), dtype=np.uint64)
    for place, row in enumerate(low):
        block[:, 1 << place : 2 << place] = block[:, : 1 << place] ^ row[:, None]
    histogram = np.zeros(width + 1, dtype=np.int64)
    counts = np.empty(block.shape, dtype=np.uint8)
    for step in range(1 << len(high)):
        if step:
            # Gray order: between step − 1 and step exactly the lowest set bit of step changes.
            block ^= high[(step & -step).bit_length() - 1][:, None]
        np.bitwise_count(block, out=counts)
        histogram += np.bincount(counts.sum(axis=0, dtype=np.uint16), minlength=width + 1)
    return histogram


def linear_distances(rows: Sequence[int], width: int) -> Distances:
    """Return the exact smallest and largest distance of the code that these rows generate."""
    histogram = weight_distribution(rows, width)
    histogram[0] -= 1
    present = np.flatnonzero(histogram)
    return Distances(int(present[0]), int(present[-1]), f"all 2^{len(rows)} codeword weights")


def pairwise_distances(words: UInt8Array) -> Distances:
    """Return the exact extremes over all pairs of explicitly given words, for codes without structure."""
    count, width = words.shape
    packed = np.ascontiguousarray(pack_words(words).T)
    smallest, largest = width, 0
    # Blocks of rows against all later words keep the table of distances near a megabyte.
    step = max(1, (1 << 19) // count)
    for start in range(0, count - 1, step):
        stop = min(start + step, count - 1)
        block = np.zeros((stop - start, count - start), dtype=np.uint16)
        for piece in packed:
            block += np.bitwise_count(piece[start:stop, None] ^ piece[None, start:])
        largest = max(largest, int(block.max()))
        # A word is at distance 0 from itself; entries on and left of the diagonal must not count as pairs.
        rows, columns = np.tril_indices(stop - start)
        block[rows, columns] = width
        smallest = min(smallest, int(block.min()))
    return Distances(smallest, largest, f"all {count * (count - 1) // 2} pairs")
