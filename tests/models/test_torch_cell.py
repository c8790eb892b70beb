"""Theorem 2's protocol on torch's own recurrent modules: counted bits, and the answers of the module itself."""

import numpy
import pytest
import torch

from separatrix.arithmetic import FixedPoint, Floating
from separatrix.communication.protocols import QuantisedModel, run_directly, run_recurrent_model
from separatrix.errors import SeparatrixError
from separatrix.models.torch_cell import TorchCell

# torch says that it has no faster way for projections.
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections")

TOKENS = [0, 2, 1, 1, 0, 2, 2]
MODULES = {
    "rnn": (lambda: torch.nn.RNN(3, 4), 4),
    "relu": (lambda: torch.nn.RNN(3, 4, num_layers=2, nonlinearity="relu"), 8),
    "gru": (lambda: torch.nn.GRU(3, 5, num_layers=3), 15),
    "lstm": (lambda: torch.nn.LSTM(3, 4), 8),
    "projected": (lambda: torch.nn.LSTM(3, 6, num_layers=2, proj_size=2), 2 * (2 + 6)),
}


def cell_of(name: str) -> TorchCell:
    torch.manual_seed(1)
    return TorchCell(MODULES[name][0]().eval(), lambda token, position: torch.eye(3)[token], lambda top: top)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("after", [0, 3, len(TOKENS) - 1])
def test_the_state_is_sent_once_and_the_rest_is_the_same(name, after):
    cell = cell_of(name)
    assert cell.width == MODULES[name][1]
    model = QuantisedModel(cell, FixedPoint(64, 2))
    run = run_recurrent_model(model, TOKENS, after=after)
    assert run.transcript.total_bits == cell.width * FixedPoint(64, 2).precision_bits
    assert (run.raw == run_directly(model, TOKENS)[-1]).all()


@pytest.mark.parametrize("name", MODULES)
def test_in_its_own_numbers_nothing_is_rounded(name):
    cell = cell_of(name)
    outputs, _ = cell.module(torch.eye(3)[TOKENS])
    found = run_directly(QuantisedModel(cell, Floating("float32")), TOKENS)[-1]
    assert numpy.allclose(numpy.asarray(found, dtype=numpy.float64), outputs[-1].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("name", MODULES)
def test_states_come_back_from_their_numbers(name):
    cell = cell_of(name)
    state = cell.initial_state()
    for place, token in enumerate(TOKENS):
        state = cell.step(state, token, place)
    again = cell.from_numbers(cell.to_numbers(state))
    assert all(torch.equal(one, two) for one, two in zip(state, again, strict=True))


def test_modules_that_are_no_recurrent_models_end_in_one_line():
    with pytest.raises(SeparatrixError, match="reads its input twice"):
        TorchCell(torch.nn.GRU(3, 4, bidirectional=True), lambda token, place: torch.zeros(3), lambda top: top)
    with pytest.raises(SeparatrixError, match=r"0\.5.*call eval\(\)"):
        TorchCell(torch.nn.GRU(3, 4, 2, dropout=0.5), lambda token, place: torch.zeros(3), lambda top: top)
