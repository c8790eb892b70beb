"""Whole models: input layer, positions, blocks, last norm, readout; many members at once.

GPT-2's arrangement for pre-norm architectures (x + mixer(norm(x)), x + ff(norm(x)), a last norm, a linear readout),
and the plain stack of ``torch.nn.LSTM`` for bare ones. Only what is read is computed: the last layer mixes, and
everything behind it runs, at the positions in ``read`` alone.

Deviations from GPT-2: no dropout (data are fresh at every step), and a readout of its own with a bias instead of the
transposed embedding, because the answers of a task are not its input symbols.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, ModelSpec, Norm, Place
from separatrix.models.ensemble import (
    Affine,
    Constant,
    EnsembleEmbedding,
    EnsembleLayerNorm,
    EnsembleLinear,
    EnsembleModule,
    EnsembleNorm,
    EnsembleRMSNorm,
    Generators,
    Initialiser,
    Normal,
    initialise,
    unset,
)
from separatrix.models.inputs import Columns, FeatureInput
from separatrix.models.mixer import AttentionMixer, RecurrentMixer, State, with_positions

ModelState: TypeAlias = tuple[State, ...]
"""The states of all layers."""


def make_norm(kind: Norm, members: int, width: int, epsilon: float) -> EnsembleNorm:
    """Layer or root-mean-square normalisation."""
    make = EnsembleLayerNorm if kind == "layer" else EnsembleRMSNorm
    return make(members, width, epsilon=epsilon)


class FeedForward(nn.Module):
    """The position-wise map of a block."""

    def __init__(self, entry: Architecture, width: int, members: int, branches: int) -> None:
        super().__init__()
        shape = entry.feed_forward
        self.activation = shape.activation
        self.hidden = round(width * shape.expansion)
        start, bias_start = entry.feed_forward_start, None if entry.feed_forward_start is None else Constant(0.0)
        gated = self.activation == "swiglu"
        self.inner = EnsembleLinear(
            members, width, self.hidden * (2 if gated else 1), bias=not gated, weight_start=start, bias_start=bias_start
        )
        last = residual_start(start, branches) if entry.scale_residual_projections else start
        self.outer = EnsembleLinear(
            members, self.hidden, width, bias=not gated, weight_start=last, bias_start=bias_start
        )

    def forward(self, x: Tensor, affine: Affine | None = None) -> Tensor:
        """x (members, …, width) to the same; with the gain and shift of the norm before it."""
        inner = self.inner(x, affine)
        if self.activation == "gelu":
            return self.outer(functional.gelu(inner, approximate="tanh"))
        if self.activation == "relu":
            return self.outer(torch.relu(inner))
        gate, value = inner.split(self.hidden, dim=-1)
        return self.outer(functional.silu(gate) * value)


def residual_start(start: Initialiser | None, branches: int) -> Initialiser | None:
    """GPT-2's start of the last map of a residual branch: the deviation divided by √branches."""
    if isinstance(start, Normal):
        return Normal(start.deviation / math.sqrt(branches), start.mean)
    return start


class Block(nn.Module):
    """One layer: the mixer of an architecture in the block that it wants."""

    def __init__(self, entry: Architecture, spec: ModelSpec, members: int, place: Place) -> None:
        super().__init__()
        width = spec.width
        self.bare = entry.block == "bare"
        self.norm = None if self.bare else make_norm(entry.norm, members, width, entry.norm_epsilon)
        self.mixer = entry.mixer(width, spec.options_of(entry), members, place)
        with_feed_forward = entry.block == "pre-norm with feed-forward"
        self.feed_forward_norm = (
            make_norm(entry.norm, members, width, entry.norm_epsilon) if with_feed_forward else None
        )
        self.feed_forward = FeedForward(entry, width, members, 2 * place.layers) if with_feed_forward else None

    def forward(self, x: Tensor, inputs: Tensor, read: Tensor | None, lengths: Tensor | None) -> Tensor:
        """x (members, batch, length, width); at the positions in ``read`` where it is given."""
        if self.norm is None:
            return self.mixer(x, read=read, lengths=lengths, **self._prepared(x, inputs)[1])
        x, kept = (x, x) if read is None else with_positions(x, read)
        normed, more = self._prepared(x, inputs)
        return self._feed_forward(kept + self.mixer(normed, read=read, lengths=lengths, **more))

    def weights(self, x: Tensor, inputs: Tensor, lengths: Tensor | None) -> Tensor | None:
        """The attention weights of this layer, None where it has none."""
        if not isinstance(self.mixer, AttentionMixer):
            return None
        normed, more = self._prepared(x, inputs)
        return self.mixer.weights(normed, lengths=lengths, **more)

    def _prepared(self, x: Tensor, inputs: Tensor) -> tuple[Tensor, dict[str, Any]]:
        """What the mixer gets: the normed activations, and whatever else it wants."""
        more: dict[str, Any] = {"inputs": inputs} if self.mixer.reads_inputs else {}
        if self.norm is None:
            return x, more
        if not self.mixer.absorbs_affine:
            return self.norm(x), more
        return self.norm.normalise(x), {**more, "affine": self.norm.affine()}

    def initial_state(self, batch: int) -> State:
        """The mixer's state before the first position."""
        assert isinstance(self.mixer, RecurrentMixer)
        return self.mixer.initial_state(batch)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """One position: x (members, batch, width)."""
        assert isinstance(self.mixer, RecurrentMixer)
        if self.norm is None:
            return self.mixer.step(x, state)
        mixed, state = self.mixer.step(self.norm(x), state)
        return self._feed_forward(x + mixed), state

    def _feed_forward(self, x: Tensor) -> Tensor:
        if self.feed_forward is None or self.feed_forward_norm is None:
            return x
        return x + self.feed_forward(self.feed_forward_norm.normalise(x), self.feed_forward_norm.affine())


class Positions(EnsembleModule):
    """What is added to the embedding at each position: a learned table, or the sine waves of Vaswani et al. 2017."""

    def __init__(self, members: int, length: int, width: int, kind: str) -> None:
        super().__init__(members)
        self.kind, self.length = kind, length
        if kind == "learned":
            self.table: Tensor = unset(members, length, width)
        else:
            self.register_buffer("table", sine_waves(length, width).unsqueeze(0), persistent=False)

    def initialise(self, generators: Generators) -> None:
        """GPT-2 draws positions like tokens."""
        if self.kind == "learned":
            Normal(0.02).fill(self.table, generators)

    def forward(self, x: Tensor) -> Tensor:
        """x (members, batch, length, width) plus the vectors of its positions."""
        length = x.shape[2]
        if length > self.length:
            raise SeparatrixError(
                f"the model has {self.kind} positions for inputs of up to {self.length} cells, not {length}; "
                "build it with a larger length"
            )
        return x + self.table[:, None, :length]


def sine_waves(length: int, width: int) -> Tensor:
    """Vaswani et al. 2017 §3.5: sines in the even, cosines in the odd columns; (length, width)."""
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


class SequenceModel(nn.Module):
    """E models of one specification: tokens or features in, logits out."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        vocabulary: int,
        classes: int,
        length: int,
        columns: Sequence[Columns] = (),
        members: int,
    ) -> None:
        super().__init__()
        entries, width = spec.entries, spec.width
        self.spec, self.members = spec, members
        self.vocabulary, self.classes, self.length = vocabulary, classes, length
        self.columns, self.features = tuple(columns), sum(group.count for group in columns)
        first, last = entries[0], entries[-1]
        self.embedding: EnsembleEmbedding | FeatureInput = (
            FeatureInput(members, columns, width, start=first.embedding_start)
            if columns
            else EnsembleEmbedding(members, vocabulary, width, start=first.embedding_start)
        )
        asked = [spec.options_of(each)["positions"] for each in entries if each.option("positions")]
        kind = next((each for each in asked if each in ("learned", "sinusoidal")), None)
        self.positions = None if kind is None else Positions(members, length, width, kind)
        self.blocks = nn.ModuleList(
            Block(entry, spec, members, Place(number, len(entries), length)) for number, entry in enumerate(entries)
        )
        self.norm = None if last.block == "bare" else make_norm(last.norm, members, width, last.norm_epsilon)
        self.readout = EnsembleLinear(
            members, width, classes, weight_start=last.readout_start, bias_start=last.readout_bias_start
        )

    def forward(self, inputs: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Logits (members, batch, reads or length, classes).

        inputs (members, batch, length) int64 tokens, or (members, batch, length, features) numbers; read (members,
        batch, reads) int64 positions, None for all; lengths (members, batch) int64, None where nothing is padded.
        """
        x = self._embed(inputs)
        final = len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            x = block(x, inputs, read if number == final else None, lengths)
        return self._logits(x)

    @torch.no_grad()
    def attention_weights(self, inputs: Tensor, *, lengths: Tensor | None = None) -> dict[int, Tensor]:
        """The weights of every layer that attends, by its number: (members, batch, heads, length, length)."""
        x, found = self._embed(inputs), dict[int, Tensor]()
        for number, block in enumerate(self._layers()):
            weights = block.weights(x, inputs, lengths)
            if weights is not None:
                found[number] = weights
            x = block(x, inputs, None, lengths)
        return found

    def initial_state(self, batch: int) -> ModelState:
        """The state before the first position; only where every layer is recurrent."""
        self._check_recurrent()
        return tuple(block.initial_state(batch) for block in self._layers())

    def step(self, inputs: Tensor, state: ModelState) -> tuple[Tensor, ModelState]:
        """One position: inputs (members, batch) tokens or (members, batch, features); logits and the next state."""
        self._check_recurrent()
        x, states = self.embedding(inputs), []
        for block, before in zip(self._layers(), state, strict=True):
            x, after = block.step(x, before)
            states.append(after)
        return self._logits(x), tuple(states)

    def member(self, number: int) -> "SequenceModel":
        """One member as a model of its own, with copies of its weights."""
        if not 0 <= number < self.members:
            raise SeparatrixError(f"there is no member {number} of {self.members}; choose 0 to {self.members - 1}")
        single = SequenceModel(
            self.spec,
            vocabulary=self.vocabulary,
            classes=self.classes,
            length=self.length,
            columns=self.columns,
            members=1,
        ).to(self.readout.weight)
        single.load_state_dict({name: value[number : number + 1] for name, value in self.state_dict().items()})
        return single.train(self.training)

    def remarks(self) -> list[str]:
        """What a person should know about how this model runs; one line each."""
        return list(dict.fromkeys(line for block in self._layers() for line in block.mixer.remark().splitlines()))

    def _embed(self, inputs: Tensor) -> Tensor:
        self._check(inputs)
        x = self.embedding(inputs)
        return x if self.positions is None else self.positions(x)

    def _logits(self, x: Tensor) -> Tensor:
        return self.readout(x) if self.norm is None else self.readout(self.norm.normalise(x), self.norm.affine())

    def _layers(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def _check(self, inputs: Tensor) -> None:
        wanted = "(members, batch, length, features)" if self.features else "(members, batch, length)"
        right = inputs.dim() == (4 if self.features else 3) and inputs.shape[0] == self.members
        if not right or (self.features and inputs.shape[-1] != self.features):
            numbers = f"{self.members} members" + (f" and {self.features} features" if self.features else "")
            raise SeparatrixError(f"{self.spec} with {numbers} reads {wanted}, not {tuple(inputs.shape)}")

    def _check_recurrent(self) -> None:
        if not self.spec.recurrent or self.positions is not None:
            name = next((e.short for e in self.spec.entries if not e.recurrent), str(self.spec))
            why = "is a module of its own without one" if ":" in name else "carries no state of constant size"
            raise SeparatrixError(f"{self.spec} has no step form: {name} {why}")


def build_model(
    spec: ModelSpec,
    *,
    vocabulary: int,
    classes: int,
    length: int,
    features: int = 0,
    columns: Sequence[Columns] = (),
    seeds: Sequence[int],
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> SequenceModel:
    """One model for each seed, as one program; member j's initial weights depend on ``seeds[j]`` alone.

    ``length`` is the largest number of positions; with ``features`` cells are that many numbers instead of tokens, and
    ``columns`` says in more detail what they are.

    >>> from separatrix.models.naming import parse_spec
    >>> model = build_model(parse_spec("TF-(1,16)"), vocabulary=5, classes=3, length=8, seeds=[0, 1])
    >>> model(torch.zeros(2, 4, 8, dtype=torch.int64), read=torch.full((2, 4, 1), 7)).shape
    torch.Size([2, 4, 1, 3])
    """
    columns = columns or ((Columns("number", features),) if features else ())
    for name, size in (("vocabulary", 1 if columns else vocabulary), ("classes", classes), ("length", length)):
        if size < 1:
            raise SeparatrixError(f"{name}={size} is too small for a model; give at least 1")
    if not seeds:
        raise SeparatrixError("a model without seeds has no members; give at least one seed")
    members = len(seeds)
    model = SequenceModel(spec, vocabulary=vocabulary, classes=classes, length=length, columns=columns, members=members)
    initialise(model, seeds)
    return model.to(device=device, dtype=dtype)
