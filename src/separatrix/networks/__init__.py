"""The papers' networks as plain data, and their evaluation in any arithmetic."""

from separatrix.networks.decoding import PowerSums
from separatrix.networks.dual import CellSets, DualPart, WindowSets
from separatrix.networks.embedding import EmbeddingPart, FeaturePart, SignRows, TableRows
from separatrix.networks.evaluate import Outputs, evaluate
from separatrix.networks.exact import ExactMatrix, Integers, Slots, exact, identity, zeros
from separatrix.networks.graph import GraphAttention, GraphHead
from separatrix.networks.network import Attention, FeedForward, Head, Layer, Network, Readout
from separatrix.networks.recurrent import AnyNetwork, RecurrentNetwork, ReluMap
from separatrix.networks.third_order import ThirdOrderAttention, ThirdOrderHead

__all__ = [
    "AnyNetwork",
    "Attention",
    "CellSets",
    "DualPart",
    "EmbeddingPart",
    "ExactMatrix",
    "FeaturePart",
    "FeedForward",
    "GraphAttention",
    "GraphHead",
    "Head",
    "Integers",
    "Layer",
    "Network",
    "Outputs",
    "PowerSums",
    "Readout",
    "RecurrentNetwork",
    "ReluMap",
    "SignRows",
    "Slots",
    "TableRows",
    "ThirdOrderAttention",
    "ThirdOrderHead",
    "WindowSets",
    "evaluate",
    "exact",
    "identity",
    "zeros",
]
