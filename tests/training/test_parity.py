"""Learning curves of ours against plain loops: the same cell, independent code, several seeds, as distributions.

Theirs is a model of torch or Hugging Face with its own start, ``torch.optim.Adam``, and one seed after the other; ours
is the ensemble of the trainer. Both draw their own data. At every stretch of steps the mean losses of the seeds are two
samples, whose means must agree within three standard errors. Seeds are fixed, so that a test ends the same way every
time. A start that is wrong is found by the same rule.
"""

from collections.abc import Callable
from statistics import fmean, stdev

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from separatrix.tasks import Task, draws_from
from separatrix.training.ensemble import Ensemble
from tests.training.cases import CPU, tiny

SEEDS, STEPS, STRETCH = 6, 60, 10
CELL = {
    "task_parameters": {"alphabet": 8}, "length": 4, "batch": 32, "learning_rate": 1e-2, "steps": STEPS,
}  # fmt: skip


class Plain(nn.Module):
    """A published body between an embedding of its own and a linear readout, asked at the last position."""

    def __init__(self, body: nn.Module, width: int, classes: int, vocabulary: int | None = None) -> None:
        super().__init__()
        self.body, self.readout = body, nn.Linear(width, classes)
        self.embedding = None if vocabulary is None else nn.Embedding(vocabulary, width)

    def forward(self, tokens: Tensor) -> Tensor:
        found = self.body(tokens) if self.embedding is None else self.body(self.embedding(tokens))
        states = found[0] if self.embedding is not None else found.last_hidden_state
        return self.readout(states[:, -1])


def lstm(vocabulary: int, positions: int, classes: int) -> nn.Module:
    del positions
    return Plain(nn.LSTM(16, 16, batch_first=True), 16, classes, vocabulary)


def gpt2(vocabulary: int, positions: int, classes: int) -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        vocab_size=vocabulary, n_positions=positions, n_embd=16, n_layer=1, n_head=1, resid_pdrop=0.0, embd_pdrop=0.0,
        attn_pdrop=0.0,
    )  # fmt: skip
    return Plain(GPT2Model(config), 16, classes)


def mamba(vocabulary: int, positions: int, classes: int) -> nn.Module:
    from transformers import MambaConfig, MambaModel

    del positions
    config = MambaConfig(vocab_size=vocabulary, hidden_size=16, num_hidden_layers=1, state_size=16)
    return Plain(MambaModel(config), 16, classes)


def their_curves(make: Callable[[int, int, int], nn.Module], task: Task) -> list[list[float]]:
    """Mean losses of each stretch, seed by seed, in the plainest loop."""
    curves: list[list[float]] = []
    length, batch = CELL["length"], CELL["batch"]
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        model = make(task.vocabulary(length).size, task.positions(length), task.classes(length))
        optimiser = torch.optim.Adam(model.parameters(), lr=CELL["learning_rate"])
        drawn = task.sample(draws_from(1000 + seed), STEPS * batch, length, "train")
        inputs, answers = torch.from_numpy(drawn.inputs), torch.from_numpy(drawn.targets[:, -1])
        losses: list[float] = []
        for step in range(STEPS):
            rows = slice(step * batch, (step + 1) * batch)
            loss = functional.cross_entropy(model(inputs[rows]), answers[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        curves.append([fmean(losses[start : start + STRETCH]) for start in range(0, STEPS, STRETCH)])
    return curves


def our_curves(model: str, change: Callable[[Ensemble], None] = lambda _: None) -> list[list[float]]:
    """The same of the trainer's ensemble."""
    ensemble = Ensemble([tiny(**CELL, architecture=model, seed=seed) for seed in range(SEEDS)], CPU)
    change(ensemble)
    stretches: list[list[float]] = []
    for _ in range(0, STEPS, STRETCH):
        ensemble.advance(STRETCH)
        stretches.append([total / STRETCH for total in ensemble.training_metrics()[0]])
    return [list(curve) for curve in zip(*stretches, strict=True)]


def differences(ours: list[list[float]], theirs: list[list[float]]) -> list[float]:
    """For each stretch how many standard errors the means of two samples of seeds lie apart."""
    found: list[float] = []
    for mine, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        error = ((stdev(mine) ** 2 + stdev(other) ** 2) / SEEDS) ** 0.5
        # A floor of 0.2 % of the loss: in the first steps seeds hardly differ, and data do.
        found.append(abs(fmean(mine) - fmean(other)) / (error + 0.002 * fmean(other)))
    return found


ALLOWED = 3.0
PEERS = {"LSTM-(1,16)": lstm, "TF-(1,16)": gpt2, "Mamba-(1,16)": mamba}


@pytest.mark.parametrize("model", PEERS)
def test_curves_are_those_of_a_plain_loop(model):
    task = tiny(**CELL).the_task()
    theirs, ours = their_curves(PEERS[model], task), our_curves(model)
    assert fmean(curve[-1] for curve in theirs) < fmean(curve[0] for curve in theirs) - 0.05, "it learns something"
    assert max(differences(ours, theirs)) < ALLOWED


def test_a_wrong_start_is_found():
    """An embedding with a fifth of its deviation, as Mamba's once had here, moves the curves too far."""

    def wrong(ensemble: Ensemble) -> None:
        with torch.no_grad():
            ensemble.model.embedding.weight.mul_(0.2)

    assert max(differences(our_curves("LSTM-(1,16)", wrong), our_curves("LSTM-(1,16)"))) > ALLOWED
