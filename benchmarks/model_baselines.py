"""What one would write without this package: one eager model at a time, read at its last position.

Hugging Face or torch where they have the architecture; for linear-time architectures that neither has, the recurrence
written as a loop over time; for attention to pairs, all N³ scores at once; for the rest our own layer, one model at a
time, with every position computed.
"""

import importlib
import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.models.architecture import ModelSpec
from separatrix.models.block import Block
from separatrix.models.mixers.third_order import ThirdOrderAttention
from separatrix.models.sequence_model import SequenceModel, build_model

RECURRENT = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
Baseline = tuple[str, nn.Module, Callable[[Tensor], Tensor]]
"""What it is, its parameters, and logits (batch, classes) of inputs (batch, length, …)."""


class HuggingFace(nn.Module):
    """A model of Hugging Face with a readout."""

    def __init__(self, body: nn.Module, width: int, classes: int) -> None:
        super().__init__()
        self.body, self.readout = body, nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits at the last position."""
        return self.readout(self.body(input_ids=tokens).last_hidden_state[:, -1])


class TorchRecurrent(nn.Module):
    """Embedding, ``torch.nn.LSTM`` or the like, readout."""

    def __init__(self, kind: str, spec: ModelSpec, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, spec.width)
        self.body = RECURRENT[kind](spec.width, spec.width, num_layers=spec.depth, batch_first=True)
        self.readout = nn.Linear(spec.width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits at the last position."""
        return self.readout(self.body(self.embedding(tokens))[0][:, -1])


def hugging_face(spec: ModelSpec, vocabulary: int, classes: int, length: int) -> Baseline | None:
    """GPT-2, Mamba or Mamba-2, where Hugging Face is installed."""
    try:
        transformers: Any = importlib.import_module("transformers")
    except ImportError:
        return None
    logging.getLogger("transformers").setLevel(logging.ERROR)
    ends = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    if spec.layers[0] == "transformer":
        no_dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
        config = transformers.GPT2Config(
            vocab_size=vocabulary, n_positions=length, n_embd=spec.width, n_layer=spec.depth, n_head=1,
            **no_dropout, **ends,
        )  # fmt: skip
        body: nn.Module = transformers.GPT2Model(config)
    elif spec.layers[0] == "mamba2":
        channels = 2 * spec.width
        head = min(64, channels)
        config = transformers.Mamba2Config(
            vocab_size=vocabulary, hidden_size=spec.width, num_hidden_layers=spec.depth, num_heads=channels // head,
            head_dim=head, n_groups=1, use_cache=False, **ends,
        )  # fmt: skip
        body = transformers.Mamba2Model(config)
    else:
        config = transformers.MambaConfig(
            vocab_size=vocabulary, hidden_size=spec.width, num_hidden_layers=spec.depth, use_cache=False, **ends
        )
        body = transformers.MambaModel(config)
    model = HuggingFace(body, spec.width, classes)
    return f"Hugging Face {type(body).__name__.removesuffix('Model')}", model, model


def step_loop(model: SequenceModel) -> Callable[[Tensor], Tensor]:
    """The recurrence as a loop over time."""

    def run(inputs: Tensor) -> Tensor:
        state, output = model.initial_state(inputs.shape[0]), inputs.new_zeros(())
        for position in range(inputs.shape[1]):
            output, state = model.step(inputs[None, :, position], state)
        return output[0]

    return run


def all_pairs(model: SequenceModel) -> Callable[[Tensor], Tensor]:
    """Third-order attention with all scores of all pairs at once."""

    def attend(mixer: ThirdOrderAttention, x: Tensor) -> Tensor:
        query, key, other, value, second = mixer.project(x)[0].split(mixer.width, dim=-1)
        scores = torch.einsum("bic,bjc,bkc->bijk", query, key, other) / mixer.dimension**0.5
        weights = scores.flatten(2).softmax(dim=-1).view_as(scores)
        return mixer.output(torch.einsum("bijk,bjc,bkc->bic", weights, value, second)[None])

    def run(inputs: Tensor) -> Tensor:
        assert model.positions is not None and model.norm is not None
        x = model.positions(model.embedding(inputs[None]))
        for block in model.blocks:
            assert isinstance(block, Block) and isinstance(block.mixer, ThirdOrderAttention)
            assert block.norm is not None and block.feed_forward is not None and block.feed_forward_norm is not None
            x = x + attend(block.mixer, block.norm(x))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        return model.readout(model.norm(x))[0, :, -1]

    return run


def baseline(spec: ModelSpec, vocabulary: int, classes: int, length: int, features: int) -> Baseline:
    """The obvious way to run one model of this kind."""
    kind = spec.layers[0]
    if kind in ("transformer", "mamba", "mamba2"):
        found = hugging_face(spec, vocabulary, classes, length)
        if found is not None:
            return found
    if kind in RECURRENT:
        model = TorchRecurrent(kind, spec, vocabulary, classes)
        return f"torch.nn.{RECURRENT[kind].__name__}", model, model
    own = build_model(spec, vocabulary=vocabulary, classes=classes, length=length, features=features, seeds=[0])
    if kind == "third-order":
        return "all pairs at once", own, all_pairs(own)
    entry = spec.entries[0]
    if entry.recurrent and entry.linear_time and kind != "cnn":
        return "loop over time", own, step_loop(own)
    return "own layer, one by one", own, lambda inputs: own(inputs[None])[0, :, -1]
