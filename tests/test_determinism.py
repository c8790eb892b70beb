"""The same commands in other processes: a short campaign, and that its comparison sees what differs."""

import subprocess
import sys
from pathlib import Path

from tools.determinism.__main__ import TRAINING, across_threads, compared, page
from tools.determinism.cases import asking, certifying, training, without_times

from separatrix.bounds import bounds
from separatrix.constructions import constructions
from separatrix.tasks import tasks

ROOT = Path(__file__).parents[1]


def test_a_short_campaign_finds_nothing_that_differs():
    command = [sys.executable, "-m", "tools.determinism", "--short", "--executors", "local"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 of them not the same" in ended.stdout
    for kind in ("certify", "sample", "bound", "protocol", "train on a CPU, 1 thread"):
        assert f"| {kind}" in ended.stdout


def test_the_long_campaign_takes_everything_in_the_catalogs():
    certified = {case.arguments[1] for case in certifying(longer=True)}
    assert certified == set(constructions())
    asked = asking(longer=True)
    assert {case.arguments[1] for case in asked if case.kind == "sample"} == set(tasks())
    named = {task for bound in bounds().values() for task in bound.task_names}
    assert {case.arguments[1] for case in asked if case.kind == "bound"} == named
    assert {each.executor for each in TRAINING} == {"local", "processes", "turns", "ray"}
    assert [each.threads for each in TRAINING[:2]] == [(1, 2), (1, 2)]


def result(**changes):
    return {"kind": "certify", "code": 0, "result": {"printed": "1", "network.safetensors": "2", **changes}}


def test_a_byte_that_differs_is_found():
    rows, wrong = compared([{"certify a": result(), "certify b": result()}] * 2)
    assert wrong == []
    assert (rows[0].commands, rows[0].done, rows[0].processes, rows[0].different) == (2, 2, 2, 0)
    other = {"certify a": result(), "certify b": result(**{"network.safetensors": "3"})}
    rows, wrong = compared([{"certify a": result(), "certify b": result()}, other])
    assert rows[0].different == 1
    assert wrong == ["separatrix certify b: network.safetensors differs in process 1"]


def test_only_times_are_left_out():
    value = {
        "seconds": 1,
        "width": 3,
        "points": [{"seconds": 2.0, "bits": 4}],
        "provenance": {"made_at": "x", "seed": 0},
    }
    assert without_times(value) == {"width": 3, "points": [{"bits": 4}], "provenance": {"seed": 0}}


def test_how_far_other_numbers_of_threads_lead_is_told():
    def trained(loss, weights):
        (case,) = training(1, "local", ["LSTM-(1,16)"])
        run = {"result": ["steps", 12, 0.5, loss, 99], "curve": [], "weights": weights}
        return {case.name: {"kind": "train", "code": 0, "result": {"a": run}}}

    assert "1 of 1 runs" in across_threads(trained("0.5", "x"), trained("0.5", "x"))
    told = across_threads(trained("0.5", "x"), trained("0.75", "y"))
    assert told.startswith("0 of 1 runs have the same bits")
    assert told.endswith("at most 2e-01")


def test_the_page_says_what_the_record_holds():
    row = {"kind": "certify", "commands": 3, "processes": 2, "done": 3, "different": 1}
    record = {"short": False, "wrong": 1, "across": "nothing", "rows": [row]}
    text = page(record)
    assert text.startswith("3 commands (`python -m tools.determinism`), 1 of them not the same")
    assert "| certify | 3 | 3 | 2 | 1 |" in text
