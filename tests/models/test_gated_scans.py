"""The scans over time against autograd through the plain formula, and the bookkeeping of the one for GPUs."""

import pytest
import torch

from separatrix.models.scans.gated import FusedLSTMScan, LSTMScan, gru_scan, lstm_scan, rnn_scan

LENGTH, MEMBERS, BATCH, SIZE = 7, 2, 3, 4


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


def plain_lstm(entering, weight):
    hidden = cell = torch.zeros(MEMBERS, BATCH, SIZE, dtype=torch.float64)
    outputs = []
    for step in range(entering.shape[2]):
        i, f, g, o = (entering[:, :, step] + hidden @ weight).chunk(4, dim=-1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        outputs.append(hidden)
    return torch.stack(outputs, dim=2)


def plain_gru(entering, weight, bias):
    hidden = torch.zeros(MEMBERS, BATCH, SIZE, dtype=torch.float64)
    outputs = []
    for step in range(entering.shape[2]):
        r, z, n = entering[:, :, step].chunk(3, dim=-1)
        to_r, to_z, to_n = (hidden @ weight).chunk(3, dim=-1)
        reset, update = (r + to_r).sigmoid(), (z + to_z).sigmoid()
        candidate = (n + reset * (to_n + bias.unsqueeze(1))).tanh()
        hidden = (1 - update) * candidate + update * hidden
        outputs.append(hidden)
    return torch.stack(outputs, dim=2)


def plain_rnn(entering, weight):
    hidden = torch.zeros(MEMBERS, BATCH, SIZE, dtype=torch.float64)
    outputs = []
    for step in range(entering.shape[2]):
        hidden = (entering[:, :, step] + hidden @ weight).tanh()
        outputs.append(hidden)
    return torch.stack(outputs, dim=2)


def check_same(ours, theirs, given):
    torch.testing.assert_close(ours, theirs)
    weights = torch.randn(ours.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    for mine, other in zip(
        torch.autograd.grad((ours * weights).sum(), given),
        torch.autograd.grad((theirs * weights).sum(), given),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("length", [1, LENGTH])
@pytest.mark.parametrize(
    ("scan", "plain", "gates", "biased"),
    [(lstm_scan, plain_lstm, 4, False), (gru_scan, plain_gru, 3, True), (rnn_scan, plain_rnn, 1, False)],
    ids=["lstm", "gru", "rnn"],
)
def test_scans_are_their_formulas(scan, plain, gates, biased, length):
    given = [normal(MEMBERS, BATCH, length, gates * SIZE), normal(MEMBERS, SIZE, gates * SIZE, seed=1)]
    given += [normal(MEMBERS, SIZE, seed=2)] if biased else []
    check_same(scan(*given), plain(*given), given)


def fused_cell(entering, recurrent, cell):
    """What torch's kernel for a step gives: hidden state, cell, and the gates after their activations."""
    i, f, g, o = (entering + recurrent).chunk(4, dim=-1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    after = f * cell + i * g
    return o * after.tanh(), after, torch.cat([i, f, g, o], dim=-1)


def fused_cell_backward(of_hidden, of_cell, before, after, gates, has_bias):
    assert not has_bias
    i, f, g, o = gates.chunk(4, dim=-1)
    squashed = after.tanh()
    total = of_cell + of_hidden * o * (1 - squashed**2)
    to = [
        total * g * i * (1 - i),
        total * before * f * (1 - f),
        total * i * (1 - g**2),
        of_hidden * squashed * o * (1 - o),
    ]
    return torch.cat(to, dim=-1), total * f, None


@pytest.mark.parametrize("length", [1, LENGTH])
def test_the_scan_for_gpus_passes_the_right_things_to_the_kernel(monkeypatch, length):
    """The kernel is played by its formula, so that the loop around it is tested without a GPU."""
    monkeypatch.setattr(torch.ops.aten, "_thnn_fused_lstm_cell", fused_cell)
    monkeypatch.setattr(torch.ops.aten, "_thnn_fused_lstm_cell_backward_impl", fused_cell_backward)
    given = [normal(length, MEMBERS, BATCH, 4 * SIZE), normal(MEMBERS, SIZE, 4 * SIZE, seed=1)]
    fused, plain = ([*scan.apply(*given)] for scan in (FusedLSTMScan, LSTMScan))
    check_same(*(torch.cat([hidden, cell[None]]) for hidden, cell in (fused, plain)), given)
