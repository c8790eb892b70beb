"""Whole models from a description and named tensors: the Transformer and the recurrent network of BHBK24 §2.

The description is plain data that fits into JSON and holds no weights; ``from_network.describe`` writes it. Tensors
have the names of the module's ``state_dict``, so that a file of either is readable:
``layers.0.heads.1.query``, ``layers.1.inner_bias``, ``embedding.0_symbol.rows``, ``readout.matrix``.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.errors import SeparatrixError
from separatrix.models.decoding import ReadoutModule
from separatrix.models.input_checks import check_inputs
from separatrix.models.modules import (
    AttentionModule,
    EmbeddingPartModule,
    FeaturePartModule,
    FeedForwardModule,
    SetPartModule,
)
from separatrix.models.tensors import Tensors

FORMAT = "separatrix-torch-1"


def part_name(number: int, slot: str) -> str:
    """Return the name of a part of the embedding inside a module; torch allows no dots in names.

    >>> part_name(2, "token.sign")
    '2_token_sign'
    """
    return f"{number}_{slot.replace('.', '_')}"


class TransformerModule(nn.Module):
    """A Transformer for inputs of exactly ``positions`` cells: tokens, cells of several numbers, or a graph's rows."""

    def __init__(self, description: Mapping[str, Any], tensors: Tensors) -> None:
        super().__init__()
        self.description = dict(description)
        self.vocabulary, self.positions = int(description["vocabulary"]), int(description["positions"])
        self.slots = [(str(name), int(width)) for name, width in description["slots"]]
        sizes, width = dict(self.slots), sum(size for _, size in self.slots)
        kinds = [layer["kind"] for layer in description["layers"]]
        self.reads_graphs = "graph-attention" in kinds
        self.embedding = nn.ModuleDict()
        for number, part in enumerate(description["embedding"]):
            name = part_name(number, part["slot"])
            self.embedding[name] = EmbeddingPartModule(tensors.under(f"embedding.{name}"), part, sizes[part["slot"]])
        self.features = nn.ModuleDict()
        for number, part in enumerate(description["features"]):
            name = part_name(number, part["slot"])
            self.features[name] = FeaturePartModule(tensors.under(f"features.{name}"), part, sizes[part["slot"]])
        self.sets = nn.ModuleDict()
        for number, part in enumerate(description["sets"]):
            name, size = part_name(number, part["slot"]), sizes[part["slot"]]
            self.sets[name] = SetPartModule(tensors.under(f"sets.{name}"), part, size)
        self.layers = nn.ModuleList(
            (FeedForwardModule if layer["kind"] == "feed-forward" else AttentionModule)(
                tensors.under(f"layers.{number}"), layer, width
            )
            for number, layer in enumerate(description["layers"])
        )
        self.readout = ReadoutModule(tensors.under("readout"), description["readout"], width)
        # After the last attention only the positions that are read matter.
        attending = [number for number, kind in enumerate(kinds) if kind != "feed-forward"]
        self._last_attention = max(attending) if attending and self.readout.at == "last" else -1

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        if self.reads_graphs:
            return self.positions, self.positions
        cells = [part.matrix.shape[1] for part in self.features.children() if isinstance(part, FeaturePartModule)]
        return (self.positions, cells[0]) if cells else (self.positions,)

    def embed(self, inputs: Tensor) -> Tensor:
        """Return the residual stream before the first layer: (batch, positions, d). Vertices and cells have token 0."""
        plain = self.reads_graphs or len(self.features) > 0
        tokens = torch.zeros(inputs.shape[:2], dtype=torch.int64, device=inputs.device) if plain else inputs
        added: dict[str, list[Tensor]] = {name: [] for name, _ in self.slots}
        for part in self.embedding.children():
            assert isinstance(part, EmbeddingPartModule)
            added[part.slot].append(part(tokens))
        for part in self.features.children():
            assert isinstance(part, FeaturePartModule)
            added[part.slot].append(part(inputs))
        for part in self.sets.children():
            assert isinstance(part, SetPartModule)
            added[part.slot].append(part(inputs))
        nothing = self.readout.matrix.new_zeros(())
        columns = [
            torch.stack(added[name]).sum(dim=0) if added[name] else nothing.expand(*tokens.shape, width)
            for name, width in self.slots
        ]
        return torch.cat(columns, dim=-1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return readouts (batch, positions read, outputs) of tokens (batch, positions) or whatever the network
        reads."""
        return self._run(inputs, None)

    def _run(self, inputs: Tensor, patterns: dict[str, Tensor] | None) -> Tensor:
        numbers = "features" if len(self.features) else "adjacency matrices" if self.reads_graphs else "tokens"
        bound = None if len(self.features) else 2 if self.reads_graphs else self.vocabulary
        check_inputs(inputs, self.input_shape, numbers, bound)
        stream = self.embed(inputs)
        graphs = inputs if self.reads_graphs else None
        for number, layer in enumerate(self.layers):
            if not isinstance(layer, AttentionModule):
                stream = layer(stream)
                continue
            found: list[Tensor] | None = None if patterns is None else []
            skipped = self.positions - 1 if number == self._last_attention and patterns is None else 0
            stream = layer(stream, skipped, graphs, found)
            if patterns is not None and found is not None:
                patterns.update({f"layers.{number}.heads.{head}": each for head, each in enumerate(found)})
        return self.readout(stream[:, -1:] if self.readout.at == "last" else stream)

    @torch.no_grad()
    def answers(self, inputs: Tensor) -> Tensor:
        """Return the decoded answers (batch, positions read), int64."""
        return self.readout.decode(self(inputs))

    @torch.no_grad()
    def patterns(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the attention weights of every head by its name: (batch, queries, keys); keys are pairs (j, k), k
        fastest, in third-order and graph attention, where the latter has its dummy last."""
        found: dict[str, Tensor] = {}
        self._run(inputs, found)
        return found


class ReluMapModule(nn.Module):
    """x ↦ ReLU(W x + b)."""

    def __init__(self, tensors: Tensors, rows: int | None, columns: int) -> None:
        super().__init__()
        self.weights = tensors.parameter("weights", rows, columns)
        self.bias = tensors.parameter("bias", self.weights.shape[0])

    def forward(self, current: Tensor) -> Tensor:
        """Return the map on the last axis."""
        return torch.relu(current @ self.weights.T + self.bias)


class RecurrentModule(nn.Module):
    """A recurrent network: a step needs the one before it, so this one loops over positions."""

    def __init__(self, description: Mapping[str, Any], tensors: Tensors) -> None:
        super().__init__()
        self.description = dict(description)
        self.vocabulary, self.positions = int(description["vocabulary"]), int(description["positions"])
        self.embedding = tensors.parameter("embedding", self.vocabulary, None)
        self.initial = tensors.parameter("initial", None)
        width, maps = self.initial.shape[0], int(description["maps"])
        self.cell = nn.ModuleList()
        entering = width + self.embedding.shape[1]
        for number in range(maps):
            each = ReluMapModule(tensors.under(f"cell.{number}"), width if number == maps - 1 else None, entering)
            self.cell.append(each)
            entering = each.weights.shape[0]
        self.readout = ReadoutModule(tensors.under("readout"), description["readout"], width)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.positions,)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return readouts (batch, positions read, outputs) of tokens (batch, positions)."""
        check_inputs(inputs, self.input_shape, "tokens", self.vocabulary)
        state = self.initial.expand(inputs.shape[0], -1)
        states: list[Tensor] = []
        for position in range(self.positions):
            state = torch.cat([state, self.embedding[inputs[:, position]]], dim=-1)
            for each in self.cell:
                state = each(state)
            if self.readout.at == "every":
                states.append(state)
        return self.readout(torch.stack(states or [state], dim=1))

    @torch.no_grad()
    def answers(self, inputs: Tensor) -> Tensor:
        """Return the decoded answers (batch, positions read), int64."""
        return self.readout.decode(self(inputs))


NetworkModule = TransformerModule | RecurrentModule
"""A module of either kind."""


def assemble(description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> NetworkModule:
    """Return the model with these weights; tensors that are missing, left over or of a wrong shape end in one line."""
    if description.get("format") != FORMAT:
        raise SeparatrixError(f"a model has format {description.get('format')!r}; this version reads {FORMAT!r}")
    source = Tensors(tensors)
    recurrent = description["kind"] == "recurrent"
    module = RecurrentModule(description, source) if recurrent else TransformerModule(description, source)
    left = set(tensors) - source.taken
    if left:
        raise SeparatrixError(f"the model has a tensor {min(left)!r} too many; export it again")
    return module
