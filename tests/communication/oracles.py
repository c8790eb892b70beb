"""Slow, obvious answers that the communication room is held against; searches for minima are in ``tools.smallest``."""

from itertools import product


def residual_counts(function, symbols: int, length: int) -> tuple[int, ...]:
    """Residual classes of every cut, by comparing the answers of all suffixes."""
    counts = []
    for cut in range(length + 1):
        rows = {
            tuple(function(prefix + suffix) for suffix in product(range(symbols), repeat=length - cut))
            for prefix in product(range(symbols), repeat=cut)
        }
        counts.append(len(rows))
    return tuple(counts)
