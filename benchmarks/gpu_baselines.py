"""The loop that BHBK24's authors describe, on a GPU: one model at a time, ``torch.optim.Adam``, batch 64, float32.

Hugging Face GPT-2, ``torch.nn.LSTM`` (cuDNN) or Hugging Face Mamba where there is one, our own module with one member,
run eagerly and computing every position, for the others. Data are made on the host. GPT-2 has as many heads as our
model and no dropout, which ours has not either. Its products may round float32 to TF32 (``benchmarks.gpu`` allows it).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.tasks import draws_from, tasks

BATCH = 64


class HuggingFaceModel(nn.Module):
    """GPT-2 or Mamba of Hugging Face with a readout at the asked position."""

    def __init__(
        self, kind: str, layers: int, width: int, heads: int, vocabulary: int, classes: int, length: int
    ) -> None:
        super().__init__()
        import transformers

        if kind == "TF":
            configuration: Any = transformers.GPT2Config(
                vocab_size=vocabulary, n_positions=length, n_embd=width, n_layer=layers, n_head=heads,
                resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            )  # fmt: skip
            self.backbone: Any = transformers.GPT2Model(configuration)
        else:
            configuration = transformers.MambaConfig(
                vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, use_cache=False
            )
            self.backbone = transformers.MambaModel(configuration)
        self.readout = nn.Linear(width, classes)

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden = self.backbone(tokens, use_cache=False).last_hidden_state
        return self.readout(hidden[torch.arange(len(read), device=read.device), read])


class TorchLSTM(nn.Module):
    """``torch.nn.LSTM`` with an embedding and a readout."""

    def __init__(self, layers: int, width: int, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.recurrence = nn.LSTM(width, width, layers, batch_first=True)
        self.readout = nn.Linear(width, classes)

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden, _ = self.recurrence(self.embedding(tokens))
        return self.readout(hidden[torch.arange(len(read), device=read.device), read])


class Eager(nn.Module):
    """Our own module with one member, run eagerly and computing every position."""

    def __init__(self, model: str, length: int) -> None:
        super().__init__()
        self.model = model_for_task(parse_spec(model), tasks()["index-lookup"], length, [0])

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden = self.model(tokens[None])[0]
        return hidden[torch.arange(len(read), device=read.device), read]


def baseline_module(model: str, length: int) -> tuple[str, nn.Module]:
    """What the baseline of a model is, and the module."""
    spec, task = parse_spec(model), tasks()["index-lookup"]
    kind, layers, width = spec.entries[0].short, spec.depth, spec.width
    vocabulary, classes, positions = task.vocabulary(length).size, task.classes(length), task.positions(length)
    heads = int(dict(spec.options).get("heads", 1))
    if kind in ("TF", "Mamba"):
        name = "Hugging Face GPT-2" if kind == "TF" else "Hugging Face Mamba"
        return name, HuggingFaceModel(kind, layers, width, heads, vocabulary, classes, positions)
    if kind == "LSTM":
        return "torch.nn.LSTM", TorchLSTM(layers, width, vocabulary, classes)
    return "eager module", Eager(model, length)


def baseline_step(module: nn.Module, length: int, device: torch.device) -> Callable[[], None]:
    """One step of the plain loop, data included."""
    task = tasks()["index-lookup"]
    module.to(device)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-4)
    draws = draws_from(0)

    def step() -> None:
        examples = task.sample(draws, BATCH, length, "train")
        tokens, read = torch.from_numpy(examples.inputs).to(device), torch.from_numpy(examples.read).to(device)
        place = read.int().argmax(dim=1)
        targets = torch.from_numpy(examples.targets).to(device).gather(1, place[:, None])[:, 0]
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(module(tokens, place), targets)
        loss.backward()
        optimiser.step()
        loss.item()

    return step
