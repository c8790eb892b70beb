"""Modules of users as architectures: the documented example, what is found out about a module, and bad ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model
from separatrix.models.task_model import model_for_task
from separatrix.tasks import tasks

MODULE = "tests.models.user_modules"
EXAMPLE = Path(__file__).parents[2] / "examples" / "own_mixer.py"


def built(text: str, seeds=(1, 2), dtype=torch.float64):
    return build_model(parse_spec(text), vocabulary=7, classes=3, length=10, seeds=seeds, dtype=dtype)


def tokens(members=2, seed=0):
    return torch.randint(6, (members, 4, 10), generator=torch.Generator().manual_seed(seed))


def test_the_documented_example_is_short_and_runs_like_a_built_in():
    name = f"{EXAMPLE}:ForgettingAverage"
    spec = parse_spec(f"{name}-(2,16)")
    assert parse_spec(str(spec)) == spec
    code = [
        line for line in EXAMPLE.read_text().splitlines() if line.strip() and not line.strip().startswith(('"', "#"))
    ]
    assert len(code) <= 25
    model = model_for_task(spec, tasks()["index-lookup"], 12, seeds=[0, 1, 2])
    assert [block.mixer.batching for block in model.blocks] == ["vmap", "vmap"]
    assert all(block.mixer.causal for block in model.blocks)
    inputs = torch.randint(64, (3, 2, 13))
    outputs = model(inputs, read=torch.full((3, 2, 1), 12))
    assert outputs.shape == (3, 2, 1, 64)
    outputs.square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert spec.state_bits(400, 32) == 2 * 16 * 32


def test_the_example_mixes_with_a_built_in_architecture():
    spec = parse_spec(f"{EXAMPLE}:ForgettingAverage,TF-(4,16,heads=2,slowest=0.9)")
    assert spec.layers[1] == "transformer" and dict(spec.options) == {"heads": 2, "slowest": 0.9}
    model = build_model(spec, vocabulary=7, classes=3, length=10, seeds=(1,))
    assert model.blocks[0].mixer._template[0].slowest == 0.9
    assert torch.isfinite(model(tokens(1))).all()


def test_an_installed_command_finds_modules_in_the_current_folder(tmp_path):
    (tmp_path / "mine.py").write_text(EXAMPLE.read_text())
    code = "from separatrix.models import parse_spec; print(parse_spec('mine:ForgettingAverage-(1,8)'))"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.stdout.strip() == "mine:ForgettingAverage-(1,8)", ended.stderr


@pytest.mark.parametrize("name", ["Shift", "Average", "MaskedAverage", "Stubborn", "Counting", "Smoothed", "Rotary"])
def test_an_ensemble_of_user_modules_is_its_single_models(name):
    together = built(f"{MODULE}:{name}-(2,16)", seeds=(11, 5, 40)).eval()
    inputs = tokens(3)
    outputs = together(inputs)
    for member, seed in enumerate((11, 5, 40)):
        single = built(f"{MODULE}:{name}-(2,16)", seeds=(seed,)).eval()
        for key, value in single.state_dict().items():
            assert torch.equal(value[0], together.state_dict()[key][member]), key
        alone = single(inputs[member : member + 1])
        torch.testing.assert_close(alone[0], outputs[member])
        weights = torch.randn(alone[0].shape, dtype=alone.dtype, generator=torch.Generator().manual_seed(0))
        theirs = torch.autograd.grad((alone[0] * weights).sum(), list(single.parameters()))
        ours = torch.autograd.grad((outputs[member] * weights).sum(), list(together.parameters()), retain_graph=True)
        for mine, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine[member], other[0])


def test_buffers_that_training_changes_are_each_members_own():
    """Running statistics, changed in place or assigned anew, are those of the member alone; evaluation leaves them."""
    together, inputs = built(f"{MODULE}:Smoothed-(1,16)", seeds=(11, 5, 40)), tokens(3)
    mixer = together.blocks[0].mixer
    assert mixer.batching == "loop" and mixer.batching_reason == "training changes its buffer level"
    assert "run one after the other: training changes its buffer level" in together.remarks()[0]
    before = {name: value.clone() for name, value in together.state_dict().items()}
    outputs = [together(inputs), together(inputs.flip(1))][-1]
    outputs.square().sum().backward()
    for member, seed in enumerate((11, 5, 40)):
        single = built(f"{MODULE}:Smoothed-(1,16)", seeds=(seed,))
        single(inputs[member : member + 1])
        torch.testing.assert_close(single(inputs[member : member + 1].flip(1))[0], outputs[member])
        for name, value in single.state_dict().items():
            torch.testing.assert_close(value[0], together.state_dict()[name][member])
    changed = {name for name, value in together.state_dict().items() if not torch.equal(value, before[name])}
    kept = ("level", "norm/running_mean", "norm/running_var", "norm/num_batches_tracked")
    assert changed == {f"blocks.0.mixer.module/{name}" for name in kept}
    assert "blocks.0.mixer.module/start" in before and "blocks.0.mixer.module/table" not in before
    after = {name: value.clone() for name, value in together.state_dict().items()}
    together.eval()(inputs)
    assert all(torch.equal(value, after[name]) for name, value in together.state_dict().items())


def test_how_members_are_batched_is_said():
    fast = built(f"{MODULE}:Shift-(1,16)").blocks[0].mixer
    assert (fast.batching, fast.batching_reason) == ("vmap", "torch.func.vmap works")
    slow = built(f"{MODULE}:Stubborn-(1,16)").blocks[0].mixer
    assert slow.batching == "loop"
    assert slow.batching_reason.startswith("torch.func.vmap does not work")
    assert "\n" not in slow.batching_reason
    other = built(f"{MODULE}:Fickle-(1,16)").blocks[0].mixer
    assert (other.batching, other.batching_reason) == ("loop", "torch.func.vmap gives other numbers than single runs")
    lost = built(f"{MODULE}:Lost-(1,16)").blocks[0].mixer
    assert (lost.batching, lost.batching_reason) == ("vmap", "torch.func.vmap works"), "no number in both is the same"
    remarks = built(f"{MODULE}:Stubborn-(1,16)").remarks()
    assert len(remarks) == 1 and "one after the other" in remarks[0]
    assert built(f"{MODULE}:Shift-(1,16)").remarks() == []
    assert built(f"{MODULE}:Stubborn-(1,16)", seeds=(1,)).remarks() == []


def test_causality_is_found_out():
    assert built(f"{MODULE}:Shift-(1,16)").blocks[0].mixer.causal
    assert not built(f"{MODULE}:Average-(1,16)").blocks[0].mixer.causal


@pytest.mark.parametrize("name", ["Average", "MaskedAverage"])
def test_padding_does_not_leak_its_content(name):
    model = built(f"{MODULE}:{name}-(1,16)").eval()
    lengths = torch.tensor([[10, 4, 7, 1], [3, 10, 10, 5]])
    inside = torch.arange(10) < lengths[..., None]
    first, second = tokens(), torch.where(inside, tokens(), 6)
    outputs = [model(inputs, lengths=lengths)[inside] for inputs in (first, second)]
    torch.testing.assert_close(*outputs)
    if name == "MaskedAverage":
        # A module that masks by itself gives what it gives on the short input alone.
        short = model(first[:, 1:2, :3], lengths=torch.tensor([[3], [3]]))
        long = model(first[:, 1:2], lengths=torch.tensor([[3], [3]]))[:, :, :3]
        torch.testing.assert_close(short, long)


def test_dropout_differs_between_members_and_stops_in_evaluation():
    model = built(f"{MODULE}:Counting-(1,16)")
    inputs = tokens()
    assert not torch.equal(model(inputs), model(inputs))
    model.eval()
    assert torch.equal(model(inputs), model(inputs))


def test_options_reach_the_constructor_and_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    model = built(f"{MODULE}:Shift-(1,16,gain=0.25,deep=true)")
    assert torch.equal(before, torch.get_rng_state())
    template = model.blocks[0].mixer._template[0]
    assert template.gain == 0.25 and isinstance(template.linear, nn.Sequential)
    assert built(f"{MODULE}:Demanding-(1,16,kernel=2)").blocks[0].mixer.causal


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{MODULE}:Narrow", "returned (2, 5, 3) for an input of (2, 5, 16); expected the same shape"),
        (f"{MODULE}:Tuple", "returned tuple for an input of (2, 5, 16); expected a tensor"),
        (f"{MODULE}:Doubling", "returned torch.float64 for an input of torch.float32; expected the same"),
        (f"{MODULE}:Remembering", "it keeps state between calls"),
        (f"{MODULE}:Broken", "failed on a trial input of batch 2, length 5, width 16"),
        (f"{MODULE}:Late", "makes its buffer level in forward and changes it there"),
        (f"{MODULE}:Turning", "has complex numbers in turns; keep them as pairs"),
        (f"{MODULE}:Demanding", "could not be made with width 16"),
        (f"{MODULE}:Shfit", "nearest: Shift"),
        (f"{MODULE}:not_a_class", "not a class of torch modules"),
        ("no_such_package.anywhere:Mixer", "cannot be imported: ModuleNotFoundError"),
        ("no_such_file.py:Mixer", "there is no file no_such_file.py"),
    ],
)
def test_bad_modules_are_explained_in_one_line(name, words):
    with pytest.raises(SeparatrixError) as caught:
        built(f"{name}-(1,16)")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


FEW = ["--length", "3", "--steps", "2", "--examples", "4", "--batch", "2", "--lr", "1e-3", "--device", "cpu", "--json"]


def test_the_command_line_trains_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    assert run(["train", "index-lookup", "--arch", f"{EXAMPLE}:ForgettingAverage", *FEW]) == 0
    (trained,) = json.loads(capsys.readouterr().out)["runs"]
    assert trained["spec"]["architecture"] == f"{EXAMPLE}:ForgettingAverage-(1,64)" and trained["spec"]["steps"] == 2
    assert run(["train", "index-lookup", "--arch", f"{EXAMPLE}:ForgettingAverage-(2,8)", *FEW]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["spec"]["architecture"].endswith("-(2,8)")


def test_the_command_line_says_where_members_run_one_by_one(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    two = ["--seed", "0,1"]
    assert run(["train", "index-lookup", "--arch", f"{MODULE}:Stubborn-(1,8)", *FEW, *two]) == 0
    assert f"the members of {MODULE}:Stubborn run one after the other: torch.func.vmap" in capsys.readouterr().err
    assert run(["train", "index-lookup", "--arch", f"{EXAMPLE}:ForgettingAverage-(1,8)", *FEW, *two]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Boasting", "says causal = True, and its outputs depend on later positions"),
        ("Normalising", "mixes the examples of a batch"),
    ],
)
def test_the_command_line_warns_of_what_a_module_does(capsys, monkeypatch, tmp_path, name, words):
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    assert run(["train", "index-lookup", "--arch", f"{MODULE}:{name}-(1,8)", *FEW]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{MODULE}:{name} ") and words in line


def test_a_dtype_that_only_the_trial_gets_right_is_one_line_as_well():
    model = built(f"{MODULE}:Single-(1,16)")
    with pytest.raises(SeparatrixError, match=r"Single returned torch\.float32 for an input of torch\.float64"):
        model(tokens())
    assert torch.isfinite(built(f"{MODULE}:Single-(1,16)", dtype=torch.float32)(tokens())).all()


def test_there_is_no_step_form_of_a_module():
    with pytest.raises(SeparatrixError, match=r"has no step form: .*:Window is a user's module without one"):
        built(f"{MODULE}:Window-(1,16)").initial_state(4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no model given; name one"),
        (["TF-(1,8)", "--arch", "LSTM"], "two models, TF-(1,8) and LSTM given"),
        (["--arch", f"{MODULE}:Narrow"], "returned (2, 5, 3) for an input of (2, 5, 64)"),
        (["--arch", "Transfomer"], "nearest: transformer"),
    ],
)
def test_the_command_line_refuses_bad_ones(capsys, monkeypatch, tmp_path, arguments, words):
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    assert run(["train", "index-lookup", *arguments, *FEW]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and words in captured.err
    assert len(captured.err.splitlines()) == 1
