"""``separatrix profile``: tables, one JSON object, a plot, a certified network, one line for bad input."""

import json
import os
import pty
import signal
import sys

import numpy
import pytest

from separatrix.certificates.verdict import Verdict
from separatrix.cli.app import run
from separatrix.profiles import profile
from separatrix.profiles.table import InputChunks
from separatrix.progress import listening
from tests.cli.test_interrupts import HANGING, read_until, start

OWN = """
def parity(x):
    print("a remark of mine")
    return x.sum(axis=1) % 2

def majority(x):
    return sum(x) > len(x) / 2

def raises(x):
    raise ValueError("two\\nlines")

def random(x):
    import random
    return random.random() < 0.5

def hungry(x):
    import numpy
    return numpy.empty(2**31 + x[0], dtype=numpy.uint8)[0] > 255
"""


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "own.py").write_text(OWN)

    def runner(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["profile", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def test_json_is_one_object_with_everything(call):
    code, out, _ = call("own.py:parity", "--length", "9", "--json")
    assert code == 0
    record = json.loads(out)
    assert record["function"] == "own.py:parity"
    assert record["residual_classes"] == [1] + [2] * 9
    assert record["minimum_state_bits"] == 1
    assert record["automaton"]["all_lengths"]["states"] == 2
    assert [(each["length"], each["classes"]) for each in record["lengths"]] == [(n, 2) for n in range(1, 10)]
    assert record["one_layer"]["communication_bits"] == 2
    assert record["sparse_threshold"] is None
    assert record["network"] is None
    assert record["provenance"]["seed"] == 0
    again = json.loads(call("own.py:parity", "--length", "9", "--json")[1])
    del record["provenance"], again["provenance"]
    assert record == again


def test_a_sparse_function_gets_a_certified_network(call):
    code, out, _ = call("own.py:majority", "--length", "7", "--json")
    assert code == 0
    record = json.loads(out)
    assert record["sparse_threshold"]["features"] == 7
    assert record["network"]["certified"]
    assert record["network"]["inputs_covered"] == "2^7"
    assert record["network"]["layers"] == 2


def test_the_certified_network_is_checked_against_the_function_that_was_found():
    from separatrix.table.user_function import certify_sparse_form
    from separatrix.tasks.problems.sparse_threshold import SparseFunction

    pairs = numpy.array([[0, 3], [1, 4], [2, 5]])
    unequal = SparseFunction(pairs, numpy.tile(numpy.array([0, 1, 1, 0]), (3, 1)), 0)
    found = certify_sparse_form(unequal, 6)
    assert found.certified
    assert (found.heads, found.inputs_covered) == (2, "2^6")


@pytest.mark.parametrize(
    ("refuted", "reason", "told"),
    [
        (True, "an input is answered wrongly", "refuted: an input is answered wrongly"),
        (False, "enumeration: too many inputs", "not proved: enumeration: too many inputs"),
    ],
)
def test_a_network_that_is_not_proved_is_told_in_the_words_of_every_verdict(call, monkeypatch, refuted, reason, told):
    monkeypatch.setattr(
        "separatrix.table.user_function.with_proof",
        lambda network, claim, verdict: (Verdict(False, refuted, reason, "enumeration"), None),
    )
    code, out, _ = call("own.py:majority", "--length", "5")
    assert code == 1
    assert told in " ".join(out.replace("│", " ").split()) and "for all 0 inputs" not in out


def test_tables_and_plots(call, tmp_path):
    for name in ("figure.png", "figure.svg"):
        code, out, _ = call("own.py:majority", "--length", "8", "--plot", name, "--partition", "halves")
        assert code == 0
        for words in ("Cuts", "Partitions", "Every length up to N", "any recurrent model", "certified", "cut:4"):
            assert words in out
        assert (tmp_path / name).stat().st_size > 10_000
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figure.svg").read_text().startswith("<svg")


def test_names_that_look_like_markup_are_shown_as_they_are(call, tmp_path):
    (tmp_path / "a[bold]").mkdir()
    (tmp_path / "a[bold]" / "own[red].py").write_text(OWN)
    code, out, _ = call("a[bold]/own[red].py:majority", "--length", "3")
    assert code == 0
    assert out.startswith("own[red].py:majority: decision")


def test_the_cost_is_said_before_it_is_spent(call, monkeypatch):
    """On standard error, with the number of evaluations, from some seconds on; and how far it is goes to listeners."""
    assert call("own.py:majority", "--length", "9", "--json")[2] == ""
    monkeypatch.setattr("separatrix.cli.verb_profile.ANNOUNCED", 0.0)
    code, out, err = call("own.py:majority", "--length", "9", "--json")
    assert (code, json.loads(out)["length"]) == (0, 9)
    assert f"{2**10 - 1:,} inputs of length up to 9 are evaluated" in err

    heard = []
    with listening(lambda what, done, total: heard.append((what, done, total))):
        profile("parity", lambda x: sum(x) % 2, 18)
    chunks = InputChunks(2, 18).count
    assert chunks > 1
    assert [(done, total) for what, done, total in heard if "2^18" in what][-1] == (chunks, chunks)


def test_examples_of_the_package_by_module_name(call):
    target = "separatrix.profiles.examples:balanced"
    code, out, _ = call(target, "--length", "4", "--alphabet", "()[]", "--json")
    assert code == 0
    assert json.loads(out)["residual_classes"] == [1, 3, 6, 3, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit")
def test_a_function_that_takes_more_memory_than_allowed_is_stopped(call):
    """2 GiB are asked for and not touched: the system refuses them at once."""
    code, out, err = call("own.py:hungry", "-n", "3", "--max-memory", "1G")
    assert (code, out) == (2, "")
    assert err.startswith("separatrix: stopped: this needs more than the 1 GiB of --max-memory")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["own.py:raises", "-n", "4"], ["ValueError", "two lines"]),
        (["own.py:random", "-n", "4"], ["not deterministic"]),
        (["own.py:absent", "-n", "4"], ["no function 'absent'", "parity"]),
        (["other.py:f", "-n", "4"], ["not a file"]),
        (["own.py", "-n", "4"], ["FILE.py", "file.py:function"]),
        (["own.py:parity", "-n", "0"], ["at least 1"]),
        (["own.py:parity", "-n", "60"], ["largest that fits"]),
        (["own.py:parity", "-n", "41", "--alphabet", "1"], ["--length 41", "1 to 40"]),
        (["own.py:parity", "-n", "16", "--max-memory", "1M"], ["--max-memory"]),
        (["own.py:parity", "-n", "16", "--max-memory", "much"], ["not a size"]),
        (["own.py:parity", "-n", "24", "--max-time", "5"], ["--max-time", "largest that fits"]),
        (["own.py:parity", "-n", "4", "--max-time", "-1"], ["--max-time"]),
        (["own.py:parity", "-n", "4", "--alphabet", "aa"], ["--alphabet"]),
        (["own.py:parity", "-n", "4", "--partition", "cut:9"], ["cut:9"]),
        (["own.py:parity", "-n", "4", "--partition", "nothing"], ["'nothing'"]),
        (["own.py:parity", "-n", "4", "--precision", "0"], ["--precision 0"]),
        (["own.py:parity", "-n", "4", "--plot", "figure.gif"], [".svg or .png"]),
        (["own.py:parity", "-n", "4", "--seed", "-1"], ["--seed"]),
        (["own.py:parity"], ["--length"]),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(call, tmp_path, arguments, words):
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    # What the function itself prints goes to standard error and is not ours.
    lines = [line for line in err.splitlines() if line != "a remark of mine"]
    assert len(lines) == 1, err
    assert lines[0].startswith("separatrix: ")
    for word in words:
        assert word in lines[0] or word in "FILE.py", lines[0]
    after = sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__")
    assert after == [name for name in before if name != "__pycache__"]


def test_progress_is_drawn_and_ctrl_c_ends_it(tmp_path):
    """A function of a millisecond for each of 2^16 inputs, interrupted while a bar is on the terminal."""
    (tmp_path / "slow.py").write_text("import time\n\ndef slow(x):\n    time.sleep(0.001)\n    return x[0] == x[-1]\n")
    ours, theirs = pty.openpty()
    target = f"{tmp_path / 'slow.py'}:slow"
    words = ("profile", target, "-n", "16", "--max-time", "1e6", "--plot", str(tmp_path / "figure.svg"))
    process = start(*words, terminal=theirs)
    os.close(theirs)
    shown = read_until(ours, b"evaluating all 2^")
    process.send_signal(signal.SIGINT)
    shown += read_until(ours, b"interrupted")
    out, _ = process.communicate(timeout=HANGING)
    os.close(ours)
    assert (process.returncode, out) == (130, b"")
    assert "━".encode() in shown or b"-" in shown, "a bar is drawn"
    assert not (tmp_path / "figure.svg").exists()


def test_a_model_is_held_against_the_function(tmp_path, capsys):
    """Equality of two halves needs N/2 bits of state; one attention layer as many of communication."""
    pytest.importorskip("torch")
    path = tmp_path / "mine.py"
    path.write_text("def same(x):\n    return x[: len(x) // 2] == x[len(x) // 2 :]\n")

    def asked(model, *more):
        assert run(["profile", f"{path}:same", "--length", "10", "--model", model, "--json", *more]) == 0
        return json.loads(capsys.readouterr().out)["model"]

    exact = asked("RNN-(1,1)", "--precision", "4")
    assert (exact["first"], exact["needs"], exact["has"]) == (10, 5, 4)
    further = asked("LSTM-(1,2)")
    assert (further["first"], further["quantity"], further["run"][-1]) == (None, "state bits", 10)
    assert asked("TF-(1,64)")["quantity"] == "bits of communication"
    assert asked("gpt2")["quantity"] is None
    assert "12 attention layers" in asked("gpt2")["reason"]
    assert run(["profile", f"{path}:same", "--length", "10", "--model", "RNN-(1,1)", "--precision", "4"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "RNN-(1,1) excluded at N = 10, whatever its weights (computed on all inputs)" in shown
    assert run(["profile", f"{path}:same", "--length", "6", "--model", "gpt2"]) == 0
    assert "12 attention layers" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert run(["profile", f"{path}:same", "--length", "3", "--model", "LSTM-(1,2)"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "LSTM-(1,2) not excluded at any length that was run" in shown
    assert run(["profile", f"{path}:same", "--length", "8", "--model", "mamba-131m"]) == 2
    assert "nearest: mamba-130m" in capsys.readouterr().err


def test_words_of_small_cases(tmp_path, call):
    (tmp_path / "small.py").write_text("def one(x):\n    return True\n\ndef last(x):\n    return x[-1]\n")
    _, out, _ = call("small.py:one", "--length", "5")
    assert "the function is constant at this N and needs none" in out
    assert "1 state for all lengths up to N" in out
    assert "for m ≥ 4, by odd-even" in out
    _, out, _ = call("small.py:last", "--length", "1")
    assert "sought from N = 2 on" in out
    assert "3 states for exactly N" in out
