"""``separatrix.capacity``: what a model at hand keeps, weighed by running it, against sizes known otherwise."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

import separatrix as sx
from separatrix.capacities import bytes_at
from separatrix.errors import SeparatrixError
from separatrix.models import model_for_task, parse_spec
from separatrix.models.measured import capacity
from separatrix.tasks import tasks


@pytest.mark.parametrize(
    ("model", "numbers"),
    [
        (nn.LSTM(5, 16, num_layers=3), 3 * 2 * 16),
        (nn.LSTM(5, 16, proj_size=4), 4 + 16),
        (nn.GRU(5, 16, num_layers=2, batch_first=True), 2 * 16),
        (nn.RNN(5, 7), 7),
    ],
)
def test_torch_modules_of_known_sizes(model, numbers):
    found = sx.capacity(model)
    assert set(found.bytes_at.values()) == {4 * numbers}
    assert found.fixed_bytes == 4 * numbers
    assert found.card.state_bits == 32 * numbers
    assert found.agrees
    assert found.card.applies == ("rnn",)


def test_formats_count():
    assert set(capacity(nn.LSTM(4, 8).double()).bytes_at.values()) == {8 * 16}
    half = capacity(nn.GRU(4, 8).bfloat16())
    assert set(half.bytes_at.values()) == {2 * 8}
    # A verdict counts a narrower state in 32 bits, as cards do: other code may keep more.
    assert half.card.state_bits == 32 * 8
    assert half.agrees


def test_a_network_of_both_directions_reads_twice_and_has_no_verdict():
    found = capacity(nn.LSTM(4, 8, bidirectional=True))
    assert set(found.bytes_at.values()) == {2 * 4 * 16}
    assert found.card.applies == ()


@pytest.mark.parametrize(
    "name", ["LSTM-(2,16)", "RNN-(1,8)", "Mamba-(2,16)", "Mamba2-(1,16)", "RetNet-(2,16)", "DSS-(1,8)"]
)
def test_models_of_ours_keep_what_their_description_counts(name):
    model = model_for_task(parse_spec(name), tasks()["index-lookup"], 10, seeds=[0, 1])
    found = capacity(model)
    assert found.name == name
    assert found.agrees, (dict(found.bytes_at), bytes_at(found.card.model, 64))
    assert found.by_config


def test_a_trained_run_is_measured(tmp_path):
    from separatrix.training.spec import RunSpec
    from separatrix.training.train_runs import train_runs
    from separatrix.training.trained import trained_model

    spec = RunSpec(
        task="equality", architecture="LSTM-(1,8)", length=4, learning_rate=0.01, steps=2, evaluation_examples=8,
        probe_examples=8,
    )  # fmt: skip
    (record,) = train_runs([spec], tmp_path / "runs.sqlite")
    found = capacity(trained_model(record, tmp_path / "runs.files"))
    assert set(found.bytes_at.values()) == {4 * 2 * 8}
    assert found.card.state_bits == 32 * 2 * 8


class Growing(nn.Module):
    """A state and a cache, as a user may write them."""

    def __init__(self, every: int = 1) -> None:
        super().__init__()
        self.every = every
        self.layer = nn.Linear(4, 4)

    def read(self, length):
        return {"state": torch.zeros(1, 4, 4), "cache": [torch.zeros(1, length // self.every, 6)]}


def test_a_module_of_a_user_with_a_function_that_runs_it():
    found = capacity(Growing(), keeps=Growing.read)
    assert found.bytes_at == {length: 4 * 16 + 4 * 6 * length for length in (3, 17, 64)}
    assert [(each.path, each.growth) for each in found.arrays] == [(".cache.0", "token"), (".state", "fixed")]
    assert found.agrees
    assert found.card.applies == ()


def test_what_grows_in_another_way_leaves_the_verdict_open():
    found = capacity(Growing(every=5), keeps=Growing.read)
    assert {each.growth for each in found.arrays} == {"fixed", "other"}
    assert found.card.applies == ()
    assert not found.card.limits
    assert not found.card.needs


def test_a_state_of_a_user_gets_the_bounds_of_recurrent_models():
    found = capacity(Growing(), keeps=lambda model, length: torch.zeros(8), length=10**6)
    assert found.card.state_bits == 256
    assert any(limit.task == "index" and limit.impossible_at_length for limit in found.card.limits)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (Growing(), {}),
        ("gpt2", {}),
        (nn.LSTM(2, 2), {"lengths": (3,)}),
        (nn.LSTM(2, 2), {"lengths": (0, 3)}),
        (Growing(), {"keeps": lambda model, length: model.missing}),
    ],
)
def test_what_cannot_be_measured_is_one_line(model, given):
    with pytest.raises(SeparatrixError) as caught:
        capacity(model, **given)
    assert "\n" not in str(caught.value)


def test_attention_of_ours_has_no_step_form():
    model = model_for_task(parse_spec("TF-(1,8)"), tasks()["equality"], 8, seeds=[0])
    with pytest.raises(SeparatrixError):
        capacity(model)


def test_a_model_stays_in_the_mode_in_which_it_was():
    model = nn.LSTM(2, 2).train()
    capacity(model)
    assert model.training


def test_importing_the_package_loads_no_torch():
    script = "import sys, separatrix; separatrix.capacity; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
    with pytest.raises(AttributeError):
        sx.nothing  # noqa: B018
