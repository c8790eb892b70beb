"""What the embedding puts into the stream, and what matrices make of it, rounded as the network's evaluation rounds.

A slot is filled *by token* if some part of it follows the token or leaves out some tokens, and *by position* if some
part follows the position; parts that follow the token may also leave out positions.
"""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Attention, EmbeddingPart, ExactMatrix, FeedForward, Network, Slots, embed


def reads(network: Network, *matrices: ExactMatrix) -> set[str]:
    """The slots that some matrices read."""
    return {slot for matrix in matrices for slot in network.slots.read_by(matrix)}


def columns(network: Network, slots: set[str]) -> Raw:
    """Where some slots stand in the stream."""
    places = [network.slots.columns(name) for name, _ in network.slots.parts if name in slots]
    return numpy.array([column for each in places for column in range(each.start, each.stop)], dtype=numpy.int64)


def all_tokens(part: EmbeddingPart, symbols: int) -> bool:
    """Whether a part leaves out none of the tokens below ``symbols``."""
    return part.tokens[0] <= 0 and part.tokens[1] >= symbols


def by_token(network: Network, slots: set[str], symbols: int) -> bool:
    """Whether what some slots hold depends on tokens, which are below ``symbols``."""
    return any(p.slot in slots and (p.source == "token" or not all_tokens(p, symbols)) for p in network.embedding)


def by_position(network: Network, slots: set[str]) -> bool:
    """Whether what some slots hold follows positions."""
    return any(part.slot in slots and part.source == "position" for part in network.embedding)


def only_by_token(network: Network, slots: set[str]) -> None:
    """Refuse slots that hold something else than a function of the token, the same at all positions."""
    for part in network.embedding:
        if part.slot in slots and (
            part.source != "token" or part.positions[0] > 0 or part.positions[1] < network.positions
        ):
            raise UnsupportedError(f"slot {part.slot!r} depends on positions; the method covers attention by tokens")


def filled(network: Network, slots: set[str], tokens: Raw, positions: Raw, arithmetic: FixedPoint) -> Raw:
    """What some slots hold for pairs of tokens and positions: (n, width of the slots)."""
    parts = tuple(part for part in network.embedding if part.slot in slots)
    kept = Slots(tuple(part for part in network.slots.parts if part[0] in slots))
    return embed(parts, kept, tokens, positions, arithmetic)


def projected(matrix: ExactMatrix, network: Network, tokens: Raw, positions: Raw, arithmetic: FixedPoint) -> Raw:
    """W x for the embedding at pairs of tokens and positions: (n, m)."""
    slots = reads(network, matrix)
    rows = filled(network, slots, tokens, positions, arithmetic)
    return arithmetic.matmul(rows, matrix.encoded(arithmetic)[:, columns(network, slots)].T)


def live_slots(network: Network, first: int = 1) -> set[str]:
    """The slots that anything from layer ``first`` on can use."""
    used = reads(network, network.readout.matrix)
    for layer in network.layers[first:]:
        if isinstance(layer, FeedForward):
            used |= reads(network, layer.inner)
        elif isinstance(layer, Attention):
            used |= {s for head in layer.heads for s in reads(network, head.query, head.key, head.value)}
        else:
            raise UnsupportedError("after its first layer the method covers plain attention and feed-forwards")
    return used
