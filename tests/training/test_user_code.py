"""A user's own code that was edited: neither old results nor old weights are taken for the new code's."""

import json
from pathlib import Path

import pytest
import torch

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.user_architecture import user_architecture
from separatrix.sources import check_unchanged, outside_sources
from separatrix.tasks import tasks
from separatrix.training.checkpoints import Checkpoint, part_of, read_checkpoint, written
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Saved
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.executors.processes import ProcessExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.trained import trained_model
from separatrix.training.user_code import user_code
from tests.training.cases import CPU, Listener, drive, tiny

SOURCE = """
from torch import nn

class M(nn.Module):
    causal = True

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, INNER, bias=False)
        self.back = nn.Linear(INNER, width, bias=False)

    def forward(self, x):
        return GAIN * self.back(self.linear(x))
"""
FEW = ["--length", "3", "--steps", "2", "--examples", "4", "--batch", "2", "--lr", "1e-3", "--device", "cpu", "--json"]


def write(path: Path, inner: int = 4, gain: int = 1) -> Path:
    path.write_text(SOURCE.replace("INNER", str(inner)).replace("GAIN", str(gain)))
    return path


def test_an_edited_module_is_refused_and_trains_again_when_told(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_STORE", "runs.sqlite")
    train = ["train", "majority", "edit.py:M-(1,16)", *FEW]
    write(Path("edit.py"))
    assert run(train) == 0
    (first,) = json.loads(capsys.readouterr().out)["runs"]
    assert list(first["environment"]["code"]) == ["edit.py"]
    assert run(train) == 0  # the same code: the record is shown
    assert json.loads(capsys.readouterr().out)["runs"] == [first]
    write(Path("edit.py"), gain=2)
    assert run(train) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err == (
        "separatrix: edit.py has changed since this run was recorded; train again with --fresh "
        "(in Python fresh=True), or under another name\n"
    )
    changed = pytest.raises(SeparatrixError, match=r"edit.py has changed since this run was recorded")
    with Records(Path("runs.sqlite"), create=False) as records, changed:
        trained_model(records.get(first["name"]), records.files, ["edit.py:M"])
    assert run([*train, "--fresh"]) == 0
    (second,) = json.loads(capsys.readouterr().out)["runs"]
    assert second["name"] == first["name"] and second["environment"]["code"] != first["environment"]["code"]
    assert second["loss"] != first["loss"]
    write(Path("edit.py"))
    assert run(train) == 2
    capsys.readouterr()


@pytest.mark.parametrize("edit", [{"gain": 2}, {"inner": 7}])
def test_a_checkpoint_of_other_code_is_refused(edit, tmp_path):
    file = write(tmp_path / "edit.py")
    group = Group((tiny(architecture=f"{file}:M-(1,8)", steps=40),))

    class Stop(Listener):
        def stopped(self) -> bool:
            return bool(self.of(Saved))

    heard = Stop()
    executor = LocalExecutor(CPU, save_every_seconds=0.0, stopped=heard.stopped)
    drive(tmp_path / "runs.sqlite", [group], executor, heard, stopped=heard.stopped)
    write(file, **edit)
    with pytest.raises(SeparatrixError, match=r"edit.py has changed since this run's checkpoint was recorded"):
        drive(tmp_path / "runs.sqlite", [group])
    write(file)
    drive(tmp_path / "runs.sqlite", [group])
    with Records(tmp_path / "runs.sqlite", create=False) as records:
        (record,) = records.all()
        assert record.environment["code"] == user_code(group.specs[0])
        trained_model(record, records.files, [f"{file}:M"])


FAILING = """
import torch
from torch import nn

class Own(Exception):
    def __init__(self, one, two):  # does not survive the journey between two processes
        super().__init__(f"{one} {two}")

class Late(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise Own("going", "back")

class M(nn.Module):
    causal = True
    calls = 0

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        type(self).calls += 1
        if type(self).calls > 40:
            RAISE
        return self.linear(x)
"""


@pytest.mark.parametrize(
    ("failing", "line"),
    [('raise Own("no", "more")', r":29: Own: no more"), ("x = Late.apply(x)", r":16: Own: going back")],
)
def test_a_module_that_fails_only_in_training_is_one_line_that_says_where(failing, line, tmp_path):
    file = tmp_path / "late.py"
    file.write_text(FAILING.replace("RAISE", failing))
    group = Group((tiny(architecture=f"{file}:M-(1,8)", steps=200),))
    executors = [LocalExecutor(CPU), ProcessExecutor(CPU, 1)] if "raise" in failing else [LocalExecutor(CPU)]
    for executor in executors:
        with pytest.raises(
            SeparatrixError, match=rf"late\.py:M-\(1,8\) .* failed after \d+ steps at .*late\.py{line};"
        ):
            drive(tmp_path / "runs.sqlite", [group], executor)


def test_other_errors_are_left_as_they_are(monkeypatch, tmp_path):
    """An error of this package is a defect: hiding where it arose would not help anybody."""

    def fail(self: Ensemble, steps: int) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(Ensemble, "advance", fail)
    with pytest.raises(ValueError, match=r"^a defect$"):
        drive(tmp_path / "runs.sqlite", [Group((tiny(),))])


def test_a_checkpoint_that_does_not_fit_is_one_line():
    spec = tiny()
    small = Ensemble([spec], CPU)
    large = Ensemble([spec.with_changes(architecture="TF-(1,16)")], CPU)
    with pytest.raises(SeparatrixError, match=r"the checkpoint has \d+ numbers of a model, TF-\(1,16\) has \d+; train"):
        large.load(small.tensors(), 1)


def test_a_checkpoint_keeps_the_code_it_was_trained_with():
    whole = Ensemble([tiny(), tiny(seed=1)], CPU)
    names = tuple(spec.name for spec in whole.specs)
    content = written(Checkpoint("both", names, 3, 1.0, whole.tensors(), {"edit.py": "f0"}))
    part = read_checkpoint(part_of(read_checkpoint(content, "both"), "one", names[:1]), "one")
    assert part.code == {"edit.py": "f0"}
    assert whole.code == {}
    assert b'"code"' not in written(Checkpoint("both", names, 3, 1.0, whole.tensors()))


def test_an_edited_file_is_loaded_again_in_one_session(tmp_path):
    file = write(tmp_path / "edit.py")
    before = user_architecture(f"{file}:M")
    assert parse_spec(f"{file}:M-(1,8)").entries[0] is before
    write(file, gain=2)  # of the same size, within the same second
    parse_spec(f"{file}:M-(1,8)")
    after = user_architecture(f"{file}:M")
    x = torch.ones(1, 1, 8)
    torch.manual_seed(0)
    one = before.make(8)(x)
    torch.manual_seed(0)
    assert torch.equal(after.make(8)(x), 2 * one)


def test_an_edited_module_that_was_imported_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "imported_mixer_of_a_test.py")
    parse_spec("imported_mixer_of_a_test:M-(1,8)")
    write(file, gain=2)
    with pytest.raises(SeparatrixError, match="imported_mixer_of_a_test has changed since it was imported"):
        parse_spec("imported_mixer_of_a_test:M-(1,8)")


def test_a_users_own_task_is_code_as_well():
    class Mine(type(tasks()["majority"])):
        pass

    assert list(outside_sources(Mine)) == [__name__]
    assert outside_sources(type(tasks()["majority"])) == {}
    with pytest.raises(SeparatrixError, match=f"{__name__} has changed"):
        check_unchanged({__name__: "0"}, outside_sources(Mine), "this run")
    check_unchanged(None, outside_sources(Mine), "a record of before")
