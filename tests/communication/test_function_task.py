"""A function as a task: what it answers, which code a record can have run, and the one place that reads task names."""

import json
import os

import pytest
import torch

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.profiles.function_task import VARIABLE, FunctionTask
from separatrix.profiles.task_names import changed_parameters, is_known, known_task, task_argument
from separatrix.tasks import draws_from
from separatrix.tasks.user_task import _try_sample

FUNCTIONS = """
def parity(bits):
    return sum(bits) % 2 == 1

def palindrome(word):
    return word == word[::-1]

def total(digits):
    return sum(digits)

def running(digits):
    return [sum(digits[: place + 1]) % 3 for place in range(len(digits))]

def word(letters):
    return "ab" if "ab" in letters else "none"

def coin(bits):
    import random
    return random.random() < 0.5

def broken(bits):
    raise ValueError("no such bits")
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "{}")
    monkeypatch.setattr("separatrix.profiles.function_task._here", {})
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "length", "classes"),
    [
        ("mine.py:parity", 6, 2),
        ("mine.py:parity", 20, 2),
        ("mine.py:palindrome,alphabet=abc", 5, 2),
        ("mine.py:total,alphabet=4", 5, 16),
        ("mine.py:running,alphabet=3", 4, 3),
        ("mine.py:word,alphabet=abc", 6, 2),
    ],
)
def test_examples_answers_and_labels_agree(name, length, classes):
    task = task_argument(name)
    assert task.classes(length) == classes
    for split in ("train", "eval"):
        examples = task.sample(draws_from(1), 32, length, split)
        _try_sample(task, length, examples, 32)
    on_torch = task.sample(draws_from(torch.Generator().manual_seed(0)), 8, length)
    assert isinstance(on_torch.inputs, torch.Tensor) and isinstance(on_torch.targets, torch.Tensor)
    row = task.trim(examples.inputs[0], length)
    assert list(task.read(task.write(row, length), length)) == row


@pytest.mark.parametrize("length", [10, 16])
def test_a_rare_answer_is_seen_more_often_than_uniform_inputs_show_it(length):
    task = task_argument("mine.py:palindrome")
    share = [
        float(task.with_parameters(draw=draw).sample(draws_from(0), 512, length).targets[:, -1].mean())
        for draw in ("balanced", "uniform")
    ]
    assert share[0] > 4 * share[1]
    if length == 10:  # all inputs are listed
        assert abs(share[0] - 0.5) < 0.12


def test_an_answer_that_was_not_seen_is_named_with_the_remedy():
    task = task_argument("mine.py:total,outcomes=2")
    with pytest.raises(SeparatrixError, match="outcomes=n"):
        task.sample(draws_from(0), 64, 8)
    assert task.with_parameters(outcomes=9).sample(draws_from(0), 64, 8).targets.max() > 1


@pytest.mark.parametrize(
    "name", ["mine.py:coin", "mine.py:broken", "mine.py:gone", "gone.py:f", "mine.py:total,alphabet=-1"]
)
def test_what_cannot_be_a_task_ends_in_one_line(name):
    with pytest.raises(SeparatrixError) as error:
        task_argument(name).sample(draws_from(0), 4, 6)
    assert len(str(error.value).splitlines()) == 1


def test_one_place_reads_every_kind_of_name():
    assert task_argument("dyck:depth=3", ["types=1"]).parameters() == {"depth": 3, "types": 1}
    assert task_argument("mqar:zoology,filler=random").filler == "random"
    assert changed_parameters(task_argument("mine.py:total,alphabet=4")) == {"alphabet": "4"}
    assert task_argument("dyck") == known_task("dyck")
    for wrong in ("dyk", "dyck:deepth=3", "mqar:zoo", "dyck:depth=x"):
        with pytest.raises(SeparatrixError):
            task_argument(wrong)


def test_a_record_can_name_a_function_and_has_none_run(place):
    (place / "evil.py").write_text("open('ran', 'w')\ndef f(bits):\n    return True\n")
    task = known_task("evil.py:f")
    assert is_known("evil.py:f") and isinstance(task, FunctionTask)
    with pytest.raises(SeparatrixError, match="nobody named it"):
        task.sample(draws_from(0), 1, 4)
    assert not (place / "ran").exists()


def test_two_files_of_one_name_are_not_mixed_up(place):
    (place / "other").mkdir()
    (place / "other" / "mine.py").write_text(FUNCTIONS)
    task_argument("mine.py:parity")
    task_argument("./mine.py:parity")
    with pytest.raises(SeparatrixError, match="rename"):
        task_argument("other/mine.py:parity")


def test_another_process_knows_what_was_named(place, monkeypatch):
    task = task_argument("mine.py:parity")
    assert json.loads(os.environ[VARIABLE])["mine.py:parity"].startswith(str(place))
    monkeypatch.setattr("separatrix.profiles.function_task._here", {})  # as in a worker
    monkeypatch.chdir("/")
    assert task.solve([1, 0, 0], 3) == [None, None, 1]


TRAINED = ["--steps", "2", "--examples", "8", "--batch", "2", "--store", "runs.sqlite"]


def test_from_a_function_to_trained_runs_without_a_class(place, capsys):
    """The whole journey: look at it, train on it, list the runs, edit it, sweep over it, climb with it."""
    assert run(["sample", "mine.py:parity", "--length", "6"]) == 0
    train = ["train", "mine.py:parity", "RNN-(1,4)", "--length", "6", "--lr", "0.01", *TRAINED]
    assert run(train) == 0
    capsys.readouterr()
    assert run(["runs", "list", "--store", "runs.sqlite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["spec"]["task"] == "mine.py:parity"
    (place / "mine.py").write_text(FUNCTIONS.replace("== 1", "== 0"))
    assert run(train) == 2
    assert "mine.py has changed" in capsys.readouterr().err
    assert run([*train, "--fresh"]) == 0
    (place / "my.toml").write_text(
        '[base]\ntask = "mine.py:total,alphabet=3"\nsteps = 2\nbatch = 2\nevaluation_examples = 8\nprobe_examples = 8\n'
        'learning_rate = 0.01\nlength = 4\n[axes]\narchitecture = ["RNN-(1,4)", "TF-(1,4)"]\n'
    )
    capsys.readouterr()
    assert run(["sweep", "my.toml", "--no-estimate", "--store", "runs.sqlite", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["best"]["spec"]["task_parameters"] for cell in cells] == [{"alphabet": "3"}] * 2
    assert all(cell["learned"] is False for cell in cells)
    learned = ["--learned", "RNN-(1,W)", "--widths", "4", "--lengths", "4", "--steps", "2", "--store", "runs.sqlite"]
    assert run(["frontier", "mine.py:parity", *learned]) == 0


def test_verbs_that_need_a_theorem_say_why_not(capsys):
    assert run(["frontier", "mine.py:parity"]) == 2
    assert "--learned" in capsys.readouterr().err
    assert run(["bound", "mine.py:parity", "--model", "fnn", "--length", "6"]) == 2
    assert run(["capacity", "mamba-130m", "--task", "mine.py:parity"]) == 2
    assert all(line.startswith("separatrix: ") for line in capsys.readouterr().err.splitlines())


def test_bounds_of_a_function_are_those_of_its_profile(capsys):
    from separatrix import bound, design, profile

    def same_halves(bits):
        return bits[: len(bits) // 2] == bits[len(bits) // 2 :]

    counted = profile(same_halves, 8)
    found = bound(same_halves, "rnn", 8, precision=1)
    assert found.at_least == counted.state_bits == 4
    assert bound(same_halves, "RNN-(1,1)", 8).architecture.possible
    rows = {row.design: row for row in design(same_halves, 8).found.rows}
    assert rows["recurrent"].needs[0].at_least == 4
    assert rows["recurrent"].enough[0].bits >= 4
    assert rows["two-layer"].enough[0].evidence == "certified"
