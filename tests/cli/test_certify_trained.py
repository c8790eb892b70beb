"""Trained runs on the command line: certified, checked, refused, and taken up where they stopped."""

import json
from dataclasses import replace
from importlib import import_module
from unittest.mock import ANY

import pytest

from separatrix.models.certify_counts import certify_counts
from separatrix.models.certify_progress import PROGRESS_FILE, Progress
from separatrix.models.trained_files import weights_file
from separatrix.provers.trained_lookup import LookupProver
from separatrix.shipped import FOLDER
from separatrix.tasks import tasks
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE
from tests.kernel.test_thresholds import trained as counting
from tests.kernel.trained_models import every_input, failing, trained

certify_lookup = import_module("separatrix.models.certify_lookup")

LENGTH, ALPHABET = 3, 3


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a lookup that can be certified, and runs that cannot."""
    from separatrix.training.spec import RunSpec
    from separatrix.training.train_runs import train_runs

    common = {"learning_rate": 0.01, "length": LENGTH, "evaluation_examples": 64, "probe_examples": 64, "goal": 0}
    lookup = {**common, "task": "index-lookup", "task_parameters": (("alphabet", ALPHABET),)}
    runs = {
        "good": RunSpec(**lookup, architecture="TF-(1,8)", steps=300, leak_margin=4),
        "recurrent": RunSpec(**lookup, architecture="LSTM-(1,8)", steps=1),
        "two": RunSpec(**lookup, architecture="TF-(2,8)", steps=250, leak_margin=5),
        "deep": RunSpec(**lookup, architecture="TF-(3,8)", steps=1),
        "shallow": RunSpec(**{**common, "length": 2}, task="associative-recall", architecture="TF-(1,8)", steps=1),
        "unplaced": RunSpec(**lookup, architecture="TF-(1,8,positions=none)", steps=1),
        "task": RunSpec(**{**common, "length": 4}, task="match2", architecture="TF-(1,8)", steps=1),
        "words": RunSpec(**{**common, "length": 4}, task="equality", architecture="LSTM-(1,8)", steps=1),
        "layers": RunSpec(**{**common, "length": 4}, task="equality", architecture="TF-(2,8)", steps=1),
        "equality": RunSpec(**{**common, "length": 4}, task="equality", architecture="TF-(1,8)", steps=1),
    }
    path = tmp_path_factory.mktemp("trained") / "runs.sqlite"
    for each in runs.values():
        train_runs([each], path)
    return path, {name: each.name for name, each in runs.items()}


def test_a_run_that_was_trained_for_it_is_certified_and_checked(store, call, tmp_path):
    path, names = store
    folder = tmp_path / "made"
    ended = call("certify", names["good"][:8], "--store", str(path), "--out", str(folder), "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["certified"], found["share_certified"]) == (0, True, "1")
    assert found["pairs"] == {"certified": LENGTH * ALPHABET, "counterexample": 0, "open": 0}
    assert sorted(each.name for each in folder.iterdir()) == [TRAINED_FILE, WEIGHTS_FILE]
    checked = json.loads(call("check", str(folder), "--replay", "--json").out)
    assert (checked["valid"], checked["trust"], checked["share_certified"]) == (True, "kernel", "1")
    again = call("certify", str(folder), "--length", "2", "--out", str(tmp_path / "shorter"), "--json")
    assert json.loads(again.out)["inputs"] == "2*3^2"
    weights = folder / WEIGHTS_FILE
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    refused = call("check", str(folder), "--json")
    assert (refused.code, json.loads(refused.out)["valid"]) == (1, False)


def test_what_is_not_covered_is_refused_in_one_line(store, call, tmp_path):
    path, names = store
    common = ("--store", str(path), "--out", str(tmp_path / "none"))
    for name in ("recurrent", "deep", "shallow", "unplaced", "task", "words", "layers"):
        ended = call("certify", names[name], *common)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert "covered" in ended.err
    for more in (("--length", "4"), ("--length", "0"), ("--gain", "2"), ("--nodes", "0")):
        ended = call("certify", names["good"], *common, *more)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert more[0] in ended.err and more[1] in ended.err
    assert call("certify", "index-lookup", "--length", "8", "--store", "runs.sqlite").code == 2
    assert call("certify", "index-lookup").code == 2
    assert "no-such-folder" in call("certify", "no-such-folder").err
    assert not (tmp_path / "none").exists()


def test_a_folder_that_does_not_say_what_its_weights_are_for_is_refused_in_one_line(call, tmp_path):
    for name in ("dyck-rnn", "equality-8", "recall-8"):
        (tmp_path / name).mkdir()
        (tmp_path / name / WEIGHTS_FILE).write_bytes((FOLDER / "trained" / name / WEIGHTS_FILE).read_bytes())
        ended = call("certify", str(tmp_path / name), "--out", str(tmp_path / "none"))
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert TRAINED_FILE in ended.err
    ended = call("certify", str(tmp_path), "--out", str(tmp_path / "none"))
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert f"{tmp_path} has no {WEIGHTS_FILE}" in ended.err
    assert not (tmp_path / "none").exists()


def test_ctrl_c_says_that_the_same_command_resumes(store, call, tmp_path, monkeypatch):
    path, names = store
    real, asked = certify_lookup._decided, []

    def stopping(model, prover, pair):
        asked.append(pair)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return real(model, prover, pair)

    monkeypatch.setattr(certify_lookup, "_decided", stopping)
    command = ("certify", names["good"], "--store", str(path), "--out", str(tmp_path / "made"))
    ended = call(*command)
    assert (ended.code, ended.err) == (
        130,
        f"separatrix: interrupted; {tmp_path / 'made'} keeps what was decided, and the same command resumes\n",
    )
    found = json.loads(call(*command, "--json").out)
    assert (found["certified"], found["resumed"]) == (True, 2)


def test_a_run_of_two_layers_is_certified_and_checked(store, call, tmp_path):
    path, names = store
    folder = tmp_path / "made"
    ended = call("certify", names["two"], "--store", str(path), "--out", str(folder), "--nodes", "8", "--json")
    found = json.loads(ended.out)
    assert (ended.code == 0) == found["certified"] == (found["share_certified"] == "1")
    assert sum(found["cases"].values()) == LENGTH * ALPHABET and found["cases"]["certified"] > 0
    assert (found["task"], found["inputs"]) == ("index-lookup:alphabet=3", "3^4")
    checked = json.loads(call("check", str(folder), "--replay", "--json").out)
    assert (checked["valid"], checked["trust"]) == (True, "kernel")
    assert checked["share_certified"] == found["share_certified"]
    again = json.loads(call("certify", str(folder), "--nodes", "8", "--out", str(tmp_path / "again"), "--json").out)
    assert again["cases"] == found["cases"]
    claim = json.loads((folder / TRAINED_FILE).read_text())
    for change in ({"length": 2}, {"task": "index-lookup"}, {"task": "no-such-task"}):
        (folder / TRAINED_FILE).write_text(json.dumps({**claim, **change}))
        assert call("check", str(folder), "--json").code == 1
    (folder / TRAINED_FILE).unlink()
    refused = call("certify", str(folder), "--out", str(tmp_path / "none"))
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    attacked = json.loads(call("attack", names["two"], "--store", str(path), "--seconds", "1", "--json").out)
    assert found["certified"] <= (not attacked["failing"])


def test_inputs_that_fail_are_reported_and_replayed(call, tmp_path):
    model = trained(ALPHABET, LENGTH, 30)
    wrong = failing(model, ALPHABET, every_input(ALPHABET, LENGTH))
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / WEIGHTS_FILE).write_bytes(weights_file(model))
    ended = call("certify", str(folder), "--out", str(tmp_path / "made"), "--json")
    found = json.loads(ended.out)
    assert ended.code == 1 and not found["certified"]
    assert found["counterexamples"] and {tuple(row) for row in found["counterexamples"]} <= wrong
    assert "counterexample" in call("certify", str(folder), "--out", str(tmp_path / "made")).out
    checked = json.loads(call("check", str(tmp_path / "made"), "--replay", "--json").out)
    assert checked["valid"] and all(checked["replayed"])
    assert len(checked["replayed"]) == len(found["counterexamples"])


def test_a_model_that_counts_is_certified_checked_and_replayed(call, tmp_path):
    task = tasks()["majority"]
    good, bad = tmp_path / "good", tmp_path / "bad"
    for folder, steps in ((good, 60), (bad, 20)):
        certify_counts(counting("majority", 6, steps, "TF-(1,8)", 0), task, 6, folder)
    certified_again = call("certify", str(good), "--out", str(tmp_path / "again"), "--json")
    found = json.loads(certified_again.out)
    assert (certified_again.code, found["certified"], found["inputs"], found["task"]) == (0, True, "2^6", "majority")
    assert (tmp_path / "again" / TRAINED_FILE).read_text() == (good / TRAINED_FILE).read_text()
    assert call("check", str(good), "--json").code == 0
    ended = call("certify", str(bad), "--out", str(bad), "--json")
    found = json.loads(ended.out)
    assert ended.code == 1 and found["counterexamples"] and found["slices"]["counterexample"]
    assert found["counterexamples_shown"][0] in call("certify", str(bad), "--out", str(bad)).out
    checked = json.loads(call("check", str(bad), "--replay", "--json").out)
    assert checked["valid"] and all(checked["replayed"]) and len(checked["replayed"]) == len(found["counterexamples"])
    # Another length's, another task's or no task's specification does not pass under this name.
    claim = json.loads((good / TRAINED_FILE).read_text())
    for change in ({"length": 7}, {"task": "sparse-threshold:sparsity=1"}, {"task": "no-such-task"}, {"task": "dyck"}):
        (good / TRAINED_FILE).write_text(json.dumps({**claim, **change}))
        refused = call("check", str(good), "--json")
        assert (refused.code, json.loads(refused.out)["valid"]) == (1, False)
    (good / TRAINED_FILE).write_text(json.dumps(claim))
    for more in (("--length", "7"), ("--bits", "2")):
        refused = call("certify", str(good), "--out", str(tmp_path / "none"), *more)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert not (tmp_path / "none").exists()


def test_work_that_was_stopped_goes_on(tmp_path, monkeypatch):
    model = trained(ALPHABET, LENGTH, 30)
    whole = certify_lookup.certify_lookup(model, LENGTH, tmp_path / "whole")
    real, asked = LookupProver.decide, []

    def stopping(self, p, c):
        asked.append((p, c))
        if len(asked) == 5:
            raise KeyboardInterrupt
        return real(self, p, c)

    monkeypatch.setattr(LookupProver, "decide", stopping)
    with pytest.raises(KeyboardInterrupt):
        certify_lookup.certify_lookup(model, LENGTH, tmp_path / "stopped")
    # The last line is cut off, as by a power cut: it is decided again.
    progress = tmp_path / "stopped" / PROGRESS_FILE
    progress.write_text(progress.read_text()[:-5])
    again = certify_lookup.certify_lookup(model, LENGTH, tmp_path / "stopped")
    assert asked[5:][0] == asked[3] and len(asked) == 5 + LENGTH * ALPHABET - 3
    assert again == replace(whole, resumed=3)
    written = [(tmp_path / name / TRAINED_FILE).read_text() for name in ("whole", "stopped")]
    assert written[0] == written[1]
    assert not progress.exists()


def test_other_parts_resume_too_and_a_foreign_file_is_not_used(tmp_path, monkeypatch):
    """What was found about other weights, with other effort or by another kernel is not used, nor what is damaged."""
    models = {"good": counting("majority", 5, 60, "TF-(1,8)", 0), "bad": counting("majority", 5, 20, "TF-(1,8)", 0)}
    task = tasks()["majority"]
    whole = {name: certify_counts(model, task, 5, tmp_path / name) for name, model in models.items()}
    real, folder = Progress.decided, tmp_path / "stopped"

    def stopping(self, part, decide):
        if len(self.path.read_text().splitlines()) == 4:
            raise KeyboardInterrupt
        return real(self, part, decide)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Progress, "decided", stopping)
        certify_counts(models["good"], task, 5, folder)
    kept = (folder / PROGRESS_FILE).read_text()
    at = kept.index('"kernel"')
    for name, nodes, content, resumed in (
        ("good", 64, kept, 3),
        ("bad", 64, kept, 0),
        ("good", 63, kept, 0),
        ("good", 64, kept.replace("leaf", "le\x00"), 0),
        ("good", 64, kept.replace(kept[at : at + 20], '"kernel": "0000000000'), 0),
        ("good", 64, kept[:-9], 2),
        ("good", 64, "[]\n" + kept, 0),
        ("good", 64, kept.replace("certified", "right"), 0),
    ):
        (folder / PROGRESS_FILE).write_text(content)
        found = certify_counts(models[name], task, 5, folder, nodes)
        assert (found.resumed, found.share) == (resumed, whole[name].share)
        assert not (folder / PROGRESS_FILE).exists()


@pytest.fixture(scope="module")
def words_store(tmp_path_factory):
    """A store with recurrent runs on Dyck words of one type and depth 1: one to certify, one hardly trained."""
    import torch

    from separatrix.training.spec import RunSpec
    from separatrix.training.train_runs import train_runs

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    common = {
        "task": "dyck", "task_parameters": (("types", 1), ("depth", 1)), "length": 8, "batch": 32, "seed": 2,
        "learning_rate": 0.02, "clip": 1.0, "warmup": 20, "final_rate": 0.1, "goal": 0, "evaluation_examples": 64,
        "probe_examples": 64, "state_radius": 0.05,
    }  # fmt: skip
    runs = {
        "good": RunSpec(**common, architecture="RNN-(1,8)", steps=400),
        "bad": RunSpec(**common, architecture="GRU-(1,8)", steps=21),
        "wide": RunSpec(**{**common, "state_radius": 0.0, "precision": "float64"}, architecture="RNN-(1,8)", steps=21),
    }
    path = tmp_path_factory.mktemp("words") / "runs.sqlite"
    for each in runs.values():
        train_runs([each], path)
    torch.set_num_threads(before)
    return path, {name: each.name for name, each in runs.items()}


def test_a_recurrent_run_is_certified_for_every_length(words_store, call, tmp_path):
    path, names = words_store
    for bits in (0, 2):
        folder = tmp_path / f"bits-{bits}"
        more = ("--bits", str(bits)) if bits else ()
        ended = call("certify", names["good"], "--store", str(path), "--out", str(folder), "--json", *more)
        found = json.loads(ended.out)
        assert (ended.code, found["outcome"], found["state_bits"]) == (0, "certified", bits or None)
        checked = json.loads(call("check", str(folder), "--json").out)
        assert (checked["valid"], checked["boxes"], checked["task"]) == (True, found["boxes"], "dyck:depth=1,types=1")
        assert json.loads(call("certify", str(folder), "--out", str(folder), "--json", *more).out) == {
            **found, "run": f"bits-{bits}", "seconds": ANY, "provenance": ANY,
        }  # fmt: skip
    # Another task's automaton does not pass under this task's name.
    claim = json.loads((folder / TRAINED_FILE).read_text())
    (folder / TRAINED_FILE).write_text(json.dumps({**claim, "task": "dyck:depth=2,types=1"}))
    refused = call("check", str(folder), "--json")
    assert (refused.code, json.loads(refused.out)["valid"]) == (1, False)


def test_a_mamba_is_right_with_a_rounded_state_and_forgets_as_it_is(call, tmp_path):
    place, folder = str(FOLDER / "trained" / "dyck-mamba-2-bits"), str(tmp_path / "mamba")
    ended = call("certify", place, "--bits", "2", "--out", folder, "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["outcome"], found["words"]) == (0, "certified", "every length but 0")
    checked = json.loads(call("check", folder, "--json").out)
    assert (checked["valid"], checked["boxes"], checked["words"]) == (True, found["boxes"], found["words"])
    # After an error the unrounded state comes back to what it is without one.
    ended = call("certify", place, "--out", str(tmp_path / "none"), "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["outcome"], found["counterexample_shown"][-2:]) == (1, "counterexample", "()")


def test_a_word_that_fails_is_reported(words_store, call, tmp_path):
    path, names = words_store
    ended = call("certify", names["bad"], "--store", str(path), "--out", str(tmp_path / "none"), "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["outcome"], found["certificate"]) == (1, "counterexample", None)
    assert not (tmp_path / "none").exists()
    assert "word" in call("certify", names["bad"], "--store", str(path), "--out", str(tmp_path / "none")).out
    for name, more in (("bad", ("--length", "4")), ("bad", ("--bits", "17")), ("bad", ("--bits", "0")), ("wide", ())):
        refused = call("certify", names[name], "--store", str(path), *more)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)


def test_attacks_report_inputs_that_fail(words_store, store, call):
    path, names = words_store
    ended = call("attack", names["bad"], "--store", str(path), "--seconds", "600", "--most", "2", "--json")
    found = json.loads(ended.out)
    assert (ended.code, len(found["failing"]), found["length"]) == (1, 2, 8)
    path, names = store
    ended = call("attack", names["good"], "--store", str(path), "--seconds", "0.2", "--json")
    assert (ended.code, json.loads(ended.out)["failing"]) == (0, [])
    assert "proves nothing" in call("attack", names["good"], "--store", str(path), "--seconds", "0.1").out
    for more in (("--seconds", "0"), ("--most", "0"), ("--seed", "-1"), ("--length", "99")):
        refused = call("attack", names["good"], "--store", str(path), *more)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert more[0] in refused.err
    assert call("attack", "0b5d1c2e", "--store", str(path)).code == 2
