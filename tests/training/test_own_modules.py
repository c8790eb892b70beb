"""Odd modules of users: what they freeze, print, end or take more memory for than there is."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from separatrix.cli import limits
from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.training.spec import RunSpec
from separatrix.training.train_runs import train_runs

SOURCE = """
import sys
import torch
from torch import nn

class Plain(nn.Module):
    causal = True

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x).cumsum(1)

class Frozen(Plain):
    def __init__(self, width):
        super().__init__(width)
        self.linear.weight.requires_grad_(False)

class Whole(Plain):
    def __init__(self, width):
        super().__init__(width)
        self.table = nn.Parameter(torch.arange(3), requires_grad=False)

class Lazy(Plain):
    def __init__(self, width):
        super().__init__(width)
        self.linear = nn.LazyLinear(width)

class Talks(Plain):
    def forward(self, x):
        print("forward")
        return super().forward(x)

class Forgets(Plain):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)

class Noisy(Plain):
    def forward(self, x):
        return super().forward(x) + torch.rand_like(x)

class Lost(Plain):
    def forward(self, x):
        return super().forward(x) * float("nan")

class Short(Plain):
    def forward(self, x):
        assert x.shape[1] < 6, "too long for me"
        return super().forward(x)

class Leaves(Plain):
    def forward(self, x):
        sys.exit(0)

class LeavesLater(Plain):
    def forward(self, x):
        if x.shape[0] == 7:  # the batches of training, not the trial
            sys.exit(4)
        return super().forward(x)
"""
FEW = ["--length", "3", "--steps", "2", "--examples", "4", "--batch", "2", "--lr", "1e-3", "--device", "cpu"]


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_STORE", "runs.sqlite")
    Path("odd.py").write_text(SOURCE)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Frozen", "linear.weight, which is frozen (requires_grad=False), and parameters are trained here without"),
        ("Whole", "table, which is of torch.int64, and parameters are trained here without"),
        ("Lazy", "linear.weight a shape only when it is called; make it in the constructor"),
    ],
)
def test_parameters_that_would_be_overrun_are_refused_before_anything_is_written(name, told, capsys):
    assert run(["train", "majority", f"odd.py:{name},LSTM-(2,4)", *FEW]) == 2
    error = capsys.readouterr().err
    assert f"odd.py:{name} " in error and told in error and error.count("\n") == 1
    assert not Path("runs.sqlite").exists()
    spec = RunSpec(task="majority", architecture=f"odd.py:{name}-(1,4)", length=3, learning_rate=0.1, steps=2)
    with pytest.raises(SeparatrixError, match=r"^odd\.py:"):
        train_runs([spec])


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_what_a_module_prints_is_not_among_the_json(executor, capfd):
    assert (
        run(["train", "majority", "odd.py:Talks-(1,4)", *FEW, "--executor", executor, "--workers", "1", "--json"]) == 0
    )
    printed = capfd.readouterr()
    assert len(json.loads(printed.out)["runs"]) == 1
    assert "forward" in printed.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Forgets", "odd.py:Forgets draws random numbers in training, as dropout does"),
        ("Noisy", "odd.py:Noisy draws random numbers in evaluation, too: its accuracy is that of one draw"),
    ],
)
def test_modules_that_draw_numbers_repeat_them_and_are_told_of(name, told, capsys):
    """Torch gives its generator another seed in every process, so that dropout gave other records each time."""
    losses: list[float] = []
    for seed in (1, 2):  # as two processes would have them
        torch.manual_seed(seed)
        assert run(["train", "majority", f"odd.py:{name}-(1,4)", *FEW, "--fresh", "--json"]) == 0
        printed = capsys.readouterr()
        losses.append(json.loads(printed.out)["runs"][0]["loss"])
        assert told in printed.err
    assert losses[0] == losses[1]
    after = torch.rand(3)
    torch.manual_seed(2)
    assert torch.equal(after, torch.rand(3))  # and nobody else's numbers are moved


def test_modules_that_draw_no_numbers_are_not_told_of(capsys):
    assert run(["train", "majority", "odd.py:Plain-(1,4)", *FEW]) == 0
    assert "draws" not in capsys.readouterr().err


def test_the_accuracy_of_a_run_that_diverged_is_said_to_mean_nothing(capsys):
    assert run(["train", "majority", "odd.py:Lost-(1,4)", *FEW]) == 0
    assert "diverged: the loss is no longer a number, so that the accuracy means nothing" in capsys.readouterr().out


def test_a_module_that_ends_the_program_is_no_success(capsys):
    assert run(["train", "majority", "odd.py:Leaves-(1,4)", *FEW]) == 2
    error = capsys.readouterr().err
    assert error.startswith("separatrix: code of your own ended the program with exit code 0 at ")
    assert "odd.py:" in error and error.count("\n") == 1


def test_a_worker_that_a_module_ends_is_not_taken_for_one_that_was_lost(capfd):
    train = ["train", "majority", "odd.py:LeavesLater-(1,4)", *FEW, "--executor", "processes", "--workers", "1"]
    assert run([*train, "--batch", "7"]) == 2
    told = r"separatrix: code of your own ended the program with exit code 4 at odd\.py:\d+; let it raise an error .*\n"
    assert re.fullmatch(told, capfd.readouterr().err)


SWEEP = """
[base]
task = "majority"
steps = 2
learning_rate = 0.1
architecture = "MODEL"
[axes]
length = [LENGTH]
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Short", "odd.py:Short-(1,4) on majority at length 8 failed at odd.py:"),
        ("Lazy", "odd.py:Lazy gives its parameter linear.weight a shape only when it is called"),
    ],
)
def test_a_module_that_fails_while_a_sweep_is_estimated_is_told_in_one_line(name, told, capsys):
    Path("mine.toml").write_text(SWEEP.replace("MODEL", f"odd.py:{name}-(1,4)").replace("LENGTH", "8"))
    assert run(["sweep", "mine.toml", "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
    assert not Path("runs.sqlite").exists()


LONG = ["--length", "20000", "--steps", "1", "--examples", "4", "--batch", "64", "--lr", "1e-3", "--device", "cpu"]
COMMANDS = (
    ["train", "majority", "LSTM-(1,64)", *LONG],
    ["sweep", "long.toml", "--dry-run", "--device", "cpu", "--json"],
    ["sweep", "long.toml", "--dry-run", "--device", "cpu"],
)
IN_LITTLE_MEMORY = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from separatrix.cli import limits
from separatrix.cli.app import run
limits.free_bytes = lambda: 100 << 20
for command in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = run(command)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


@pytest.mark.skipif(not limits.enforceable(), reason="only Linux refuses memory")
def test_what_does_not_fit_into_memory_is_refused_in_one_line_and_has_no_estimate():
    """In a process that has freed nothing before: memory that tests left to this one would be used again.

    100 MB are less than a step of the fewest examples takes, so that no measured time decides how much is tried.
    """
    Path("long.toml").write_text(SWEEP.replace("MODEL", "LSTM-(1,64)").replace("LENGTH", "20000"))
    command = [sys.executable, "-c", IN_LITTLE_MEMORY, json.dumps(COMMANDS)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    trained, planned, shown = (json.loads(line) for line in ended.stdout.splitlines())
    code, _, error = trained
    assert code == 2 and error.count("\n") == 1
    assert "LSTM-(1,64) on majority at length 20000 does not fit into memory even alone" in error
    assert "choose a smaller batch, width or length" in error
    plan = json.loads(planned[1])["plan"]
    assert (planned[0], plan["seconds_at_most"], plan["estimated_from"]) == (0, None, {"unknown": 1})
    assert shown[0] == 0
    assert shown[1].startswith("long: 1 cell, 1 run; at most 2 steps") and "unknown" in shown[1]


@pytest.mark.skipif(not limits.enforceable(), reason="only Linux refuses memory")
def test_the_free_memory_is_that_of_the_control_group_where_it_has_less(monkeypatch, tmp_path):
    whole = limits.free_bytes()
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2500\n")
    (tmp_path / "memory.stat").write_text("anon 2000\ninactive_file 500\n")
    monkeypatch.setattr(limits, "CONTROL_GROUP", tmp_path)
    assert limits.free_bytes() == 3000 < whole
    (tmp_path / "memory.max").write_text("max\n")
    assert limits.free_bytes() > 3000


def test_brackets_in_titles_and_names_of_files_are_shown_as_they_are(capsys):
    """Rich takes them for markup: a title with [/b] ended in a traceback, and [1] vanished."""
    Path("mine[1].py").write_text(SOURCE)
    text = SWEEP.replace("MODEL", "mine[1].py:Plain-(1,4)").replace("LENGTH", "4")
    Path("mine.toml").write_text('title = "mine [/b] [red]"' + text.replace("steps = 2", "steps = 2\nbatch = 2"))
    for words in (["sweep", "--dry-run"], ["sweep", "--no-estimate"], ["figure", "--out", "figures"]):
        assert run([words[0], "mine.toml", *words[1:]]) == 0
        printed = capsys.readouterr()
        assert "mine [/b] [red]" in printed.out + printed.err and "mine[1].py:Plain" in printed.out
    assert run(["runs", "list"]) == 0
    assert "mine[1].py:Plain" in capsys.readouterr().out
    assert run(["train", "majority", "mine[1].py:Plain-(1,4)", *FEW]) == 0
    assert "mine[1].py:Plain-(1,4) on majority" in capsys.readouterr().out
