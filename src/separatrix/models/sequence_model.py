"""Whole models: input layer, positions, blocks, last norm, readout; many members at once.

GPT-2's arrangement for pre-norm architectures (the blocks of ``block``, a last norm, a linear readout), and the plain
stack of ``torch.nn.LSTM`` for bare ones. Only what is read is computed: the last layer mixes, and everything behind it
runs, at the positions in ``read`` alone.

Deviations from GPT-2: no dropout (data are fresh at every step), and a separate readout with a bias instead of the
transposed embedding, because the answers of a task are not its input symbols.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec, Place
from separatrix.models.block import Block, make_norm
from separatrix.models.ensemble import EnsembleEmbedding, EnsembleLinear, EnsembleModule, initialise, unset
from separatrix.models.inputs import Columns, FeatureInput
from separatrix.models.mixer import Questions, State
from separatrix.models.starts import Generators, Normal

ModelState: TypeAlias = tuple[State, ...]
"""The states of all layers."""


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

    def at(self, places: Tensor) -> Tensor:
        """Return the vectors of positions (members, batch, count): (members, batch, count, width)."""
        table = self.table.expand(places.shape[0], -1, -1)
        flat = places.flatten(1).unsqueeze(-1).expand(-1, -1, table.shape[-1])
        return table.gather(1, flat).view(*places.shape, -1)


def sine_waves(length: int, width: int) -> Tensor:
    """Vaswani et al. 2017 §3.5: sines in the even, cosines in the odd columns; (length, width).

    >>> sine_waves(2, 4)[0]
    tensor([0., 1., 0., 1.])
    """
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
        # A task's readout is outside the published models; it starts as torch.nn.Linear.
        self.readout = EnsembleLinear(members, width, classes)

    def forward(
        self,
        inputs: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        questions: Tensor | None = None,
    ) -> Tensor:
        """Return logits (members, batch, reads or length, classes).

        inputs (members, batch, length) int64 tokens, or (members, batch, length, features) numbers; read (members,
        batch, reads) int64 positions, None for all; lengths (members, batch) int64, None where nothing is padded.

        With ``questions`` (members, batch, count), or (…, count, features), the one position in ``read`` is asked that
        many times, each time with another cell there and the same text before it: (members, batch, count, classes).
        """
        if questions is not None:
            return self._asked(inputs, read, lengths, questions)
        x = self._embed(inputs)
        final = len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            x = block(x, inputs, read if number == final else None, lengths)
        return self.logits(x)

    def _asked(self, inputs: Tensor, read: Tensor | None, lengths: Tensor | None, questions: Tensor) -> Tensor:
        if read is None or read.shape[-1] != 1:
            raise SeparatrixError(f"{self.spec} answers many questions at one position alone; read that one")
        count, length = questions.shape[2], inputs.shape[2]
        if not all(block.mixer.branches for block in self._layers()):
            # Behind the question nothing is left of a text; where a mixer also looks ahead, it sees what it saw.
            many = inputs.repeat_interleave(count, dim=1)
            place = read.repeat_interleave(count, dim=1)
            cells = questions.flatten(1, 2).unsqueeze(2)
            index = place if not self.features else place.unsqueeze(-1).expand(-1, -1, -1, self.features)
            ends = None if lengths is None else lengths.repeat_interleave(count, dim=1)
            return self(many.scatter(2, index, cells), read=place, lengths=ends).view(*questions.shape[:3], -1)
        rows = self.embedding(questions)
        if self.positions is not None:
            rows = rows + self.positions.at(read)
        x = torch.cat([self._embed(inputs), rows], dim=2)
        asked, last = Questions(read, count), torch.arange(length, length + count, device=x.device)
        last = last.expand(*questions.shape[:2], -1)
        final = len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            x = block(x, inputs, last if number == final else None, lengths, asked)
        return self.logits(x)

    @torch.no_grad()
    def attention_weights(
        self, inputs: Tensor, *, lengths: Tensor | None = None, layers: Collection[int] | None = None
    ) -> dict[int, Tensor]:
        """Return the weights of those of these layers that attend, by number: (members, batch, heads, length, length).

        ``layers`` None represents all. What lies behind the last of them is not computed.
        """
        chosen = range(self.spec.depth) if layers is None else layers
        last = max(chosen, default=-1)
        x, found = self._embed(inputs), dict[int, Tensor]()
        for number, block in enumerate(self._layers()[: last + 1]):
            weights = block.weights(x, inputs, lengths) if number in chosen else None
            if weights is not None:
                found[number] = weights
            if number < last:
                x = block(x, inputs, None, lengths)
        return found

    def initial_state(self, batch: int) -> ModelState:
        """Return the state before the first position; only where every layer is recurrent."""
        self._check_recurrent()
        return tuple(block.initial_state(batch) for block in self._layers())

    def step(self, inputs: Tensor, state: ModelState) -> tuple[Tensor, ModelState]:
        """Step by one position: inputs (members, batch) tokens or (members, batch, features); logits and the next
        state."""
        self._check_recurrent()
        x, states = self.embedding(inputs), []
        for block, before in zip(self._layers(), state, strict=True):
            x, after = block.step(x, before)
            states.append(after)
        return self.logits(x), tuple(states)

    def member(self, number: int) -> "SequenceModel":
        """Return one member as a model of its own, with copies of its weights."""
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
        """Return what a person should know about how this model runs; one line each."""
        return list(dict.fromkeys(line for block in self._layers() for line in block.mixer.remark().splitlines()))

    def _embed(self, inputs: Tensor) -> Tensor:
        self._check(inputs)
        x = self.embedding(inputs)
        return x if self.positions is None else self.positions(x)

    def logits(self, x: Tensor) -> Tensor:
        """Return what is read from the last layer's activations."""
        return self.readout(x) if self.norm is None else self.readout(self.norm.normalise(x), self.norm.affine())

    def _layers(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def _check(self, inputs: Tensor) -> None:
        wanted = "(members, batch, length, features)" if self.features else "(members, batch, length)"
        right = inputs.dim() == (4 if self.features else 3) and inputs.shape[0] == self.members
        if not right or (self.features and inputs.shape[-1] != self.features):
            numbers = f"{self.members} members" + (f" and {self.features} features" if self.features else "")
            raise SeparatrixError(f"{self.spec} with {numbers} reads {wanted}, not {tuple(inputs.shape)}")
        if not inputs.numel():
            raise SeparatrixError(
                f"{self.spec} reads at least one input of at least one cell, not {tuple(inputs.shape)}; leave it out"
            )

    def _check_recurrent(self) -> None:
        if not self.spec.recurrent or self.positions is not None:
            name = next((e.short for e in self.spec.entries if not e.recurrent), str(self.spec))
            why = "is a user's module without one" if ":" in name else "carries no state of constant size"
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
    """Return one model for each seed, as one program; member j's initial weights depend on ``seeds[j]`` alone.

    ``length`` is the largest number of positions; with ``features`` cells are that many numbers instead of tokens, and
    ``columns`` says in more detail what they are.
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
