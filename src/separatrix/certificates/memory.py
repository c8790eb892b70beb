"""How much memory a certification will take, estimated before it starts.

The checker holds the projections of all positions, and of all tokens where keys depend on them, which grow with
(N + |Σ|) · width, blocks of scores of a fixed size, and what every position passes on where a second layer counts; no
method holds an N × N matrix of more than a block. The estimate is generous: for pair matching over 2^20 residues it
says 16 GiB where 8.3 GB were measured, for a lookup at N = 2^20 2.6 GiB where 0.4 GB, for equality 2.6 where 1.4 GB.

It is compared with ``--max-memory`` before the work; while the work runs, the operating system keeps the limit
(``cli.limits``).
"""

from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Attention, Network

INTERPRETER = 300 << 20
BLOCK = 1 << 22
"""Scores in a block."""
HELD = 1 << 24
"""Numbers of a projection that is kept whole."""
FOLLOWED = 1500
"""Bytes for each position whose tokens are followed through the layers."""
BLOCKS = 12
"""Arrays of the size of a block that are alive at once: scores, exponentials, weights and their masks."""


def estimated_bytes(network: AnyNetwork) -> int:
    """About how many bytes the checker will use at most."""
    if not isinstance(network, Network):
        return INTERPRETER
    if _compares_tokens(network):
        projections = (4 * network.positions + 8 * network.vocabulary) * network.width * 8
    else:
        # Keys that depend on positions alone are made in pieces when there are many.
        projections = 4 * min(network.positions * network.width, HELD) * 8
    blocks = BLOCKS * max(min(network.positions**2, BLOCK), network.positions) * 8
    return INTERPRETER + projections + blocks + FOLLOWED * network.positions


def _compares_tokens(network: Network) -> bool:
    """Whether some key depends on a token: then the methods hold the projections of every token as well."""
    by_token = {part.slot for part in network.embedding if part.source == "token"}
    return any(
        by_token & network.slots.read_by(head.key)
        for layer in network.layers
        if isinstance(layer, Attention)
        for head in layer.heads
    )


def check_memory(network: AnyNetwork, limit: int) -> None:
    """Raise a one-line error if the estimate exceeds the limit."""
    needed = estimated_bytes(network)
    if needed > limit:
        raise SeparatrixError(
            f"this would take about {needed / (1 << 30):.3g} GiB, more than {limit / (1 << 30):.3g} GiB; "
            "choose a smaller length or raise --max-memory"
        )
