"""The papers' networks as plain data, and their evaluation in any arithmetic."""

from separatrix.networks.embedding import EmbeddingPart, SignRows, TableRows
from separatrix.networks.evaluate import Outputs, evaluate
from separatrix.networks.exact import ExactMatrix, Integers, Slots, exact, identity
from separatrix.networks.network import Attention, FeedForward, Head, Network, Readout

__all__ = [
    "Attention",
    "EmbeddingPart",
    "ExactMatrix",
    "FeedForward",
    "Head",
    "Integers",
    "Network",
    "Outputs",
    "Readout",
    "SignRows",
    "Slots",
    "TableRows",
    "evaluate",
    "exact",
    "identity",
]
