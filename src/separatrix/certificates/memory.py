"""How much memory a certification will take, estimated before it starts.

The checker holds the projections of all positions, which grow with N · width, and blocks of scores of a fixed size; no
method holds an N × N matrix of more than that size. The estimate is meant to be generous.
"""

import re

from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Network

INTERPRETER = 300 << 20
BLOCK = 1 << 22
"""Scores in a block."""
BLOCKS = 12
"""Arrays of the size of a block that are alive at once: scores, exponentials, weights and their masks."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def estimated_bytes(network: AnyNetwork) -> int:
    """About how many bytes the checker will use at most."""
    if not isinstance(network, Network):
        return INTERPRETER
    projections = 4 * network.positions * network.width * 8
    blocks = BLOCKS * max(min(network.positions**2, BLOCK), network.positions) * 8
    return INTERPRETER + projections + blocks


def parse_bytes(text: str) -> int:
    """A size such as 8G, 500M or 1048576.

    >>> parse_bytes("2G") == 2 << 30
    True
    """
    found = re.fullmatch(r"(\d{1,12})([KMGT]?)B?", text.strip().upper())
    if found is None:
        raise SeparatrixError(f"{text!r} is not a size; write one such as 8G or 500M")
    return int(found[1]) * UNITS[found[2]]


def check_memory(network: AnyNetwork, limit: int) -> None:
    """Raise a one-line error if the estimate exceeds the limit."""
    needed = estimated_bytes(network)
    if needed > limit:
        raise SeparatrixError(
            f"this would take about {needed / (1 << 30):.1f} GiB, more than {limit / (1 << 30):.1f} GiB; "
            "choose a smaller length or raise --max-memory"
        )
