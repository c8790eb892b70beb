"""The papers' networks as plain torch modules, in the same order of operations as ``separatrix.networks.evaluate``.

Nothing here knows of exact weights: a module is assembled from named float tensors and a small description, whether
those come from a network (``from_network``) or from a file (``exported``). So a machine with torch alone can run an
exported model.

Deviations from the evaluation in ``networks``: scores of all queries are held at once (batch · N² numbers, batch · N³
for third-order and graph attention), because streaming over queries is for certificates and not for training; linear
maps of cells are rounded in every product instead of once; hard attention takes scores within rounding of the largest
one as equal, since sums that are equal exactly may differ in the last bits here.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.errors import UnknownNameError
from separatrix.models.input_checks import check_range
from separatrix.models.tensors import Tensors

PATTERNS = 8
"""Combinations of the three edges between a vertex and a pair of vertices."""
SCORINGS = ("softmax", "hard", "leftmost", "linear", "relu")
MASKS = ("none", "causal", "strict")


def attention_weights(scores: Tensor, allowed: Tensor | None, scoring: str, inner: int) -> Tensor:
    """Return weights (…, keys) from scores; ``allowed`` broadcasts against them, None allows every key.

    A query that may see no key gives all keys weight 0. ``inner`` is how many products were added up for a score.
    """
    everything = allowed is None
    allowed = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.expand_as(scores)
    if scoring == "linear":
        return scores.masked_fill(~allowed, 0.0)
    if scoring == "relu":
        positive = scores.masked_fill(~allowed, 0.0).clamp(min=0.0)
        total = positive.sum(dim=-1, keepdim=True)
        return positive / total.masked_fill(total == 0, 1.0)
    seeing = allowed.any(dim=-1, keepdim=True)
    # Rows without a visible key would have no maximum: let them see everything and blank them afterwards.
    shown = scores.masked_fill(~(allowed | ~seeing), float("-inf"))
    if scoring == "softmax":
        weights = torch.softmax(scores if everything else shown, dim=-1)
    else:
        assert scoring in ("hard", "leftmost"), scoring
        rounding = torch.finfo(scores.dtype).eps * max(1, inner)
        best = shown.amax(dim=-1, keepdim=True)
        chosen = (shown >= best - rounding * best.abs()).to(scores.dtype)
        if scoring == "leftmost":
            chosen = chosen * (chosen.cumsum(dim=-1) == 1)
        weights = chosen / chosen.sum(dim=-1, keepdim=True)
    return weights if everything else weights.masked_fill(~seeing, 0.0)


def _one_of(choices: tuple[str, ...], head: Mapping[str, Any], what: str) -> str:
    """Return what the description of a head says, if there is such a thing."""
    if head[what] not in choices:
        raise UnknownNameError(f"{what} of a head", str(head[what]), choices)
    return str(head[what])


def _pairs(first: Tensor, second: Tensor) -> Tensor:
    """Return rows (j, k), k fastest, of the products of row j of one and row k of the other: (batch, n², m)."""
    return (first[:, :, None, :] * second[:, None, :, :]).flatten(1, 2)


class HeadModule(nn.Module):
    """One head of ordinary attention."""

    def __init__(self, tensors: Tensors, head: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.scoring, self.mask = _one_of(SCORINGS, head, "scoring"), _one_of(MASKS, head, "mask")
        self.query = tensors.parameter("query", None, width)
        self.key = tensors.parameter("key", self.query.shape[0], width)
        self.value = tensors.parameter("value", None, width)
        self.output = tensors.parameter("output", width, self.value.shape[0])

    def forward(self, stream: Tensor, first: int, graphs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return outputs (batch, queries, d) and weights (batch, queries, keys) of the queries from ``first`` on."""
        scores = (stream[:, first:] @ self.query.T) @ (stream @ self.key.T).transpose(-1, -2)
        key = torch.arange(stream.shape[1], device=stream.device)
        query = key[first:, None]
        allowed = {"none": None, "causal": key <= query, "strict": key < query}[self.mask]
        weights = attention_weights(scores, allowed, self.scoring, self.query.shape[0])
        return (weights @ (stream @ self.value.T)) @ self.output.T, weights


class ThirdOrderModule(nn.Module):
    """One third-order unit: queries attend to pairs of positions."""

    def __init__(self, tensors: Tensors, head: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.scoring = _one_of(SCORINGS, head, "scoring")
        self.query = tensors.parameter("query", None, width)
        self.first_key = tensors.parameter("first_key", self.query.shape[0], width)
        self.second_key = tensors.parameter("second_key", self.query.shape[0], width)
        self.first_value = tensors.parameter("first_value", None, width)
        self.second_value = tensors.parameter("second_value", self.first_value.shape[0], width)
        self.output = tensors.parameter("output", width, self.first_value.shape[0])

    def forward(self, stream: Tensor, first: int, graphs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return outputs (batch, queries, d) and weights (batch, queries, N² pairs)."""
        keys = _pairs(stream @ self.first_key.T, stream @ self.second_key.T)
        values = _pairs(stream @ self.first_value.T, stream @ self.second_value.T)
        scores = (stream[:, first:] @ self.query.T) @ keys.transpose(-1, -2)
        weights = attention_weights(scores, None, self.scoring, self.query.shape[0])
        return (weights @ values) @ self.output.T, weights


class GraphModule(nn.Module):
    """One graph unit: vertices attend to pairs of vertices, and to a dummy pair, by the edges between them."""

    def __init__(self, tensors: Tensors, head: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.scoring = _one_of(SCORINGS, head, "scoring")
        self.scores = tensors.parameter("scores", 1, PATTERNS)
        self.dummy = tensors.parameter("dummy", 1, 1)
        self.first_value = tensors.parameter("first_value", None, width)
        self.second_value = tensors.parameter("second_value", self.first_value.shape[0], width)
        self.output = tensors.parameter("output", width, self.first_value.shape[0])

    def forward(self, stream: Tensor, first: int, graphs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return outputs (batch, vertices, d) and weights (batch, vertices, N² pairs and the dummy)."""
        assert graphs is not None
        pattern = 4 * graphs[:, first:, :, None] + 2 * graphs[:, None] + graphs.transpose(1, 2)[:, first:, None, :]
        scores = self.scores[0][pattern.flatten(2, 3)]
        scores = torch.cat([scores, self.dummy.expand(*scores.shape[:2], 1)], dim=-1)
        weights = attention_weights(scores, None, self.scoring, 1)
        # The dummy's value is 0: its weight is only left out of the average.
        values = _pairs(stream @ self.first_value.T, stream @ self.second_value.T)
        return (weights[..., :-1] @ values) @ self.output.T, weights


HEADS = {"attention": HeadModule, "third-order-attention": ThirdOrderModule, "graph-attention": GraphModule}


class AttentionModule(nn.Module):
    """Heads of one kind whose outputs are added; with ``residual`` also to the layer's input."""

    def __init__(self, tensors: Tensors, layer: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.residual = bool(layer["residual"])
        make = HEADS[layer["kind"]]
        self.heads = nn.ModuleList(
            make(tensors.under(f"heads.{number}"), head, width) for number, head in enumerate(layer["heads"])
        )

    def forward(
        self, stream: Tensor, first: int, graphs: Tensor | None, patterns: list[Tensor] | None = None
    ) -> Tensor:
        """Return the stream after this layer, at the positions from ``first`` on; ``patterns`` collects the weights."""
        total = stream[:, first:] if self.residual else torch.zeros_like(stream[:, first:])
        for head in self.heads:
            output, weights = head(stream, first, graphs)
            total = total + output
            if patterns is not None:
                patterns.append(weights)
        return total


class FeedForwardModule(nn.Module):
    """x ↦ W₂ ReLU(W₁ x + b₁) + b₂, with ``residual`` added to x."""

    def __init__(self, tensors: Tensors, layer: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.residual = bool(layer["residual"])
        self.inner = tensors.parameter("inner", None, width)
        self.inner_bias = tensors.parameter("inner_bias", self.inner.shape[0])
        self.outer = tensors.parameter("outer", width, self.inner.shape[0])
        self.outer_bias = tensors.parameter("outer_bias", width)

    def forward(self, stream: Tensor) -> Tensor:
        """Return the stream after this layer."""
        result = torch.relu(stream @ self.inner.T + self.inner_bias) @ self.outer.T + self.outer_bias
        return stream + result if self.residual else result


class EmbeddingPartModule(nn.Module):
    """Adds a row of a table to a slot wherever token and position are in range.

    Tables of numbers are parameters; sign vectors are buffers, since they are a code that is generated and not a
    weight. ``indices`` says which row a token or position takes, where that is not its own number.
    """

    def __init__(self, tensors: Tensors, part: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.slot, self.source = str(part["slot"]), str(part["source"])
        self.tokens = (int(part["tokens"][0]), int(part["tokens"][1]))
        self.positions = (int(part["positions"][0]), int(part["positions"][1]))
        first, last = self.tokens if self.source == "token" else self.positions
        count = None if part["indexed"] else last - first
        self.rows: Tensor
        if part["signs"]:
            self.register_buffer("rows", tensors.take("rows", count, width))
        else:
            self.rows = tensors.parameter("rows", count, width)
        self.indices: Tensor | None
        self.register_buffer("indices", tensors.take("indices", None) if part["indexed"] else None)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return what is added to the slot: (batch, positions, slot width)."""
        position = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        inside = (tokens >= self.tokens[0]) & (tokens < self.tokens[1])
        inside = inside & (position >= self.positions[0]) & (position < self.positions[1])
        local = tokens - self.tokens[0] if self.source == "token" else position - self.positions[0]
        local = local.masked_fill(~inside, 0)
        number = local if self.indices is None else self.indices[local]
        return self.rows[number].masked_fill(~inside[..., None], 0.0)


class SetPartModule(nn.Module):
    """Adds gain · w_S to a slot, w_S the dual certificate of the sign vectors of a set S (SHT23, sparse averaging).

    Sets of a cell are read from its numbers: w_S = Σ x_i u_i with (U Uᵀ) x = 1, solved by elimination in float64. The
    matrix is positive definite, so that this needs no pivots; it is written out, for ONNX has no solver. Where the
    sign vectors are linearly dependent, w_S is 0.
    """

    def __init__(self, tensors: Tensors, part: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.slot = str(part["slot"])
        self.rows: Tensor
        self.register_buffer("rows", tensors.take("rows", None, width))
        self.columns = (int(part["columns"][0]), int(part["columns"][1]))
        self.first = int(part["first"])
        self.gain = tensors.parameter("gain", 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return what is added to the slot: (batch, positions, slot width)."""
        members = inputs[..., self.columns[0] : self.columns[1]].to(torch.int64) - self.first
        check_range(members, "numbers of a set", len(self.rows), self.first)
        signs = self.rows[members].to(torch.float64)
        system = signs @ signs.transpose(-1, -2)
        system = torch.cat([system, torch.ones_like(system[..., :1])], dim=-1)
        size, independent = members.shape[-1], torch.ones_like(system[..., :1, :1], dtype=torch.bool)
        for place in range(size):
            pivot = system[..., place : place + 1, place : place + 1]
            # Of k signs, exact pivots of whole-number matrices are 0 or far larger than what rounding leaves.
            nonzero = pivot > 1e-6
            independent = independent & nonzero
            row = system[..., place : place + 1, :] / torch.where(nonzero, pivot, 1.0)
            others = torch.arange(size, device=inputs.device)[:, None] != place
            system = torch.where(others, system - system[..., place : place + 1] * row, row)
        solution = torch.where(independent, system[..., -1:], 0.0)
        return self.gain * (solution * signs).sum(dim=-2).to(self.rows.dtype)


class FeaturePartModule(nn.Module):
    """Adds W·cell to a slot at every position."""

    def __init__(self, tensors: Tensors, part: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.slot = str(part["slot"])
        self.matrix = tensors.parameter("matrix", width, None)

    def forward(self, cells: Tensor) -> Tensor:
        """Return what is added to the slot: (batch, positions, slot width)."""
        return cells.to(self.matrix.dtype) @ self.matrix.T
