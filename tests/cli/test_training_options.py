"""Options of the verbs that train: none is silently ignored, and a refusal names the option, the value, the way out."""

import pytest

from separatrix.cli.app import run
from separatrix.cli.training_options import Place

TRAIN = ["train", "majority", "TF-(1,4)", "--length", "4", "--steps", "1", "--batch", "2", "--examples", "4"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--workers", "5"], "--workers 5 is for --executor processes or turns; local trains one group after another"),
        (["--workers", "2", "--executor", "ray"], "ray trains as many groups as the cluster has room for"),
        (["--seed", "1.5"], "'1.5' in --seed 1.5 is not a whole number; write such as --seed 1,2,3"),
        (["--seed", "0,7,7"], "--seed 0,7,7 names 7 twice; keep one"),
        (["--lr", "1e-2,0.01"], "--lr 1e-2,0.01 names 0.01 twice; keep one"),
        (["--lr", "fast"], "'fast' in --lr fast is not a number; write such as --lr 1e-3,5e-4"),
    ],
)
def test_options_that_mean_nothing_are_refused_in_one_line(given, told, capsys, tmp_path):
    store = tmp_path / "runs.sqlite"
    assert run([*TRAIN, "--store", str(store), *given]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
    assert not store.exists()


def test_the_threads_that_were_asked_for_are_those_of_a_worker():
    def place(executor: str, threads: int) -> Place:
        return Place("cpu", executor, 1 if executor == "processes" else 0, None, threads, 30.0)

    assert place("processes", 3).threads_of_worker() == 3
    assert place("processes", 0).threads_of_worker() >= 1
    assert (place("local", 3).threads_of_worker(), place("local", 0).threads_of_worker()) == (3, 0)


def test_a_module_of_ones_own_without_sizes_is_told_to_have_some(capsys):
    assert run(["capacity", "my_mixer:Decay"]) == 2
    told = "separatrix: 'my_mixer:Decay' names a module of your own without its sizes; write 'my_mixer:Decay-(1,64)'\n"
    assert capsys.readouterr().err == told


def test_a_function_is_swept_without_a_file_and_a_model_at_chance_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def ok(x):\n    return sum(x) % 2 == 1\n")
    sweep = ["sweep", "mine.py:ok", "--models", "RNN-(1,2)", "--lengths", "6", "--lr", "1e-9", "--steps", "1"]
    assert run([*sweep, "--no-estimate"]) == 0
    shown = capsys.readouterr().out
    assert "mine.py:ok: accuracy" in shown, "a name is shown as it is, not as an emoji"
    assert "not shown to be better than the majority baseline" in shown
    assert run([*sweep, "--scale", "quick"]) == 2
    assert run(["sweep", "figure2-left", "--lengths", "6"]) == 2
