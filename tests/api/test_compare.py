"""A layer of your own next to known ones: equal budgets, rates chosen by short runs, warnings, one page, resumable."""

import json
import re
from dataclasses import asdict, replace

import pytest

import separatrix as sx
from separatrix.answer import to_html
from separatrix.api.budget import FEW, MOST, BudgetFile, Timed
from separatrix.api.comparison import FEWEST, SHORT, Compared, Entry
from separatrix.cli.app import run
from separatrix.cli.training_options import parse_names
from separatrix.training.records import Records

LAYER = """
import torch
from torch import nn

class Average(nn.Module):
    causal = True

    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        steps = torch.arange(1, x.shape[1] + 1, device=x.device)
        return self.mix(x.cumsum(1) / steps[:, None])

    @staticmethod
    def state_numbers(width, length):
        return width

class Wrong(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x[:, :1]

class Silent(Average):
    state_numbers = None

def first(bits):
    return bits[0] == 1
"""
SMALL = {"length": 4, "width": 4, "layers": 1, "rates": [0.03, 0.01], "examples": 64, "batch": 4}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_FUNCTIONS", "{}")
    (tmp_path / "mine.py").write_text(LAYER)
    return tmp_path


def test_all_models_have_the_same_budget_and_their_own_rate(place):
    found = sx.compare("mine.py:Average", ["LSTM"], ["majority", "mine.py:first"], steps=10, store="r.sqlite", **SMALL)
    assert [(each.model, each.task, each.yours) for each in found.entries] == [
        ("mine.py:Average-(1,4)", "majority", True), ("LSTM-(1,4)", "majority", False),
        ("mine.py:Average-(1,4)", "mine.py:first", True), ("LSTM-(1,4)", "mine.py:first", False),
    ]  # fmt: skip
    with Records(place / "r.sqlite") as records:
        runs = records.all()
    short, full = ([run for run in runs if run.spec.steps == steps] for steps in (10 // SHORT, 10))
    assert (len(short), len(full), len(runs)) == (8, 4, 12)
    for each in found.entries:
        mine = [run for run in short if (run.spec.architecture, run.spec.task) == (each.model, each.task)]
        assert {run.spec.learning_rate for run in mine} == {0.03, 0.01}
        best = max(mine, key=lambda run: (run.result.accuracy, -run.result.loss))
        assert each.rate == best.spec.learning_rate
        assert each.curve[-1] == (each.steps, each.accuracy)
    average, lstm = found.entries[:2]
    assert (average.state_bits, lstm.state_bits) == (4 * 32, 8 * 32)
    assert {run.spec.batch for run in runs} == {4}


def test_a_guess_among_the_labels_of_a_text_is_not_taken_for_recall(place):
    """Every model soon answers with the commonest label, which beats the majority baseline by far."""
    small = {**SMALL, "length": 16, "width": 8, "rates": [0.01], "examples": 1000, "batch": 32}
    found = sx.compare("mine.py:Average", ["mine.py:Silent"], ["mqar"], steps=60, store="r.sqlite", **small)
    for each in found.entries:
        assert each.guess is not None and each.majority < 0.55 < 0.6 < each.guess
        assert each.accuracy > each.majority + 0.05 and not each.learned
    assert len(found.warnings) == 1, "one for the task, not one for each model"
    assert [each.state_bits for each in found.entries] == [8 * 32, None], "a module that does not state its size"
    assert "state_numbers" in to_html(found.sheet())


def test_the_same_call_goes_on_where_it_stopped(place, monkeypatch):
    asked = {"store": "r.sqlite", "budget": "1h", **SMALL}
    monkeypatch.setattr("separatrix.api.budget.MOST", 100)
    trained: list[int] = []

    def stopped(specs):
        from separatrix.training.train_runs import train_runs

        trained.append(len(specs))
        if len(trained) == 2:
            raise KeyboardInterrupt
        return {each.spec.name: each for each in train_runs(specs, place / "r.sqlite")}

    with pytest.raises(KeyboardInterrupt):
        sx.compare("RNN", ["GRU"], ["majority"], trainer=stopped, **asked)
    kept = list(place.glob("r.compare-*.json"))
    assert len(kept) == 1
    with Records(place / "r.sqlite") as records:
        before = {run.spec.name: run.finished_at for run in records.all()}
    monkeypatch.setattr("separatrix.training.planning.measure", lambda *_: pytest.fail("timed again"))
    found = sx.compare("RNN", ["GRU"], ["majority"], **asked)
    assert found.steps == json.loads(kept[0].read_text())["steps"] == 100
    with Records(place / "r.sqlite") as records:
        after = {run.spec.name: run.finished_at for run in records.all()}
    assert before.items() <= after.items() and len(after) == len(before) + 2


def test_the_verb_writes_one_page_that_fetches_nothing(place, capsys):
    command = [
        "compare", "mine.py:Average", "--against", "RNN-(1,4)", "--tasks", "majority,dyck:depth=3", "--steps", "2",
        "--length", "4", "--width", "4", "--lr", "0.01", "--batch", "2", "--examples", "16", "--report", "page.html",
    ]  # fmt: skip
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    page = (place / "page.html").read_text()
    assert told["report"] == "page.html"
    assert {each["model"] for each in told["entries"]} == {"mine.py:Average-(2,4)", "RNN-(1,4)"}
    assert all(each["model"] in page for each in told["entries"])
    assert page.count("<svg") == 2
    assert not any(part in page for part in ("<script", 'src="http', 'href="http', "@import", "<link"))
    assert run(command) == 0
    assert "Average" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    [
        ["mine.py:Gone"], ["mine.py:Wrong"], ["gone.py:Layer"], ["mine.py:Average", "--budget", "soon"],
        ["mine.py:Average", "--tasks", "dyk"], ["mine.py:Average", "--against", "LTSM"],
        ["mine.py:Average", "--report", "page.pdf"], ["mine.py:Average", "--steps", "0"],
        ["mine.py:Average", "--steps", "5", "--budget", "1min"], ["mine.py:Average", "--lr", "0"],
        ["mine.py:Average", "--recipe", "weak"], ["mine.py:Average", "--threads", "-1"],
        ["mine.py:Average", "--tasks", ","],
    ],
)  # fmt: skip
def test_bad_input_ends_in_one_line_and_leaves_nothing(place, capsys, more):
    before = sorted(place.rglob("*"))
    assert run(["compare", *more]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1 and said.err.startswith("separatrix: ")
    assert [path for path in sorted(place.rglob("*")) if "__pycache__" not in path.parts] == before


def test_every_model_is_trained_on_the_smallest_budget_and_the_report_says_so(place):
    found = sx.compare("RNN", ["GRU"], ["majority"], budget=60, store="r.sqlite", **SMALL)
    timed = json.loads(next(place.glob("r.compare-*.json")).read_text())
    assert found.budget == 60 and found.steps == timed["steps"] > found.short > 0
    slow = {**timed, "pairs": [[5.0, 0.001]] * 2, "steps": None}  # as if a step took five seconds
    next(place.glob("r.compare-*.json")).write_text(json.dumps(slow))
    found = sx.compare("RNN", ["GRU"], ["majority"], budget=60, store="r.sqlite", **SMALL)
    assert (found.short, found.rates, found.examples) == (0, (0.01,), 64), "one rate, for which no run is spent"
    assert {each.steps for each in found.entries} == {found.steps} and 1 <= found.steps <= 6
    assert "--budget" in found.warnings[0]


@pytest.mark.parametrize("damaged", ["", "{}", '{"pairs": [[1, 1]], "seconds": 1, "threads": 1}', "minus", "steps"])
def test_a_damaged_file_of_what_fits_is_made_anew(place, damaged):
    timed = Timed(((1.0, 0.0), (1.0, 0.0)), 1.0, 1)
    bad = {"minus": replace(timed, seconds=-1.0), "steps": replace(timed, steps=1 << 40)}
    file = BudgetFile("question", place / "r.sqlite")
    file.keep(timed)
    assert file.kept(2) == timed and file.kept(3) is None
    file.path.write_text(json.dumps(asdict(bad[damaged])) if damaged in bad else damaged)
    assert file.kept(2) is None


def test_a_budget_below_one_step_is_refused_and_names_the_least(place, monkeypatch):
    from separatrix.training import planning

    timed = list[str]()
    monkeypatch.setattr(planning, "measure", lambda *_: timed.append("") or planning.Timing(9.0, 9.0, 0.0, "measured"))
    with pytest.raises(sx.SeparatrixError) as error:
        sx.compare("RNN", ["LSTM", "GRU"], ["majority"], budget=20, **SMALL)
    assert len(timed) == 3, "two steps fit, the third does not"
    assert int(re.findall(r"at least (\d+)s", str(error.value))[0]) >= 27
    assert [path.name for path in place.iterdir()] == ["mine.py"]


def test_what_fits_is_the_fullest_plan_with_enough_steps():
    timed, rates = Timed(((0.01, 0.00005),) * 2, 10.0, 1), (0.3, 0.1, 0.03, 0.01)
    fits = [timed.fit(seconds, rates, 1, 2000) for seconds in (10_000.0, 17.8, 16.4, 15.1, 14.0, 1.0)]
    assert [(each.rates, each.examples) for each in fits] == [
        (rates, 2000), (rates, 2000), (rates, FEW), (rates[1:3], FEW), ((0.03,), FEW), ((0.03,), FEW),
    ]  # fmt: skip
    steps = [each.steps for each in fits]
    assert steps[0] == MOST and steps[-1] == 1 and all(each >= FEWEST for each in steps[:5])
    for seconds, each in zip((17.8, 16.4, 15.1, 14.0), fits[1:], strict=False):
        short = timed.cost(len(each.rates), each.short, each.examples) if len(each.rates) > 1 else 0
        assert 10 + short + timed.cost(1, each.steps, each.examples) <= seconds


def entry(model, yours, learned, rate=0.01, diverged=False):
    return Entry(
        model=model, task="mqar", length=32, yours=yours, rate=rate, accuracy=0.5, majority=0.5, guess=None,
        learned=learned, diverged=diverged, steps=10, seconds=1.0, parameters=9, state_bits=64, grows=False,
        longest=None, claim="", run="r", curve=((10, 0.5),),
    )  # fmt: skip


def test_a_baseline_that_did_not_learn_is_named():
    entries = (entry("mine", True, True), entry("LSTM", False, False), entry("TF", False, True, 0.1))
    found = Compared("mine", 10, 2, 64, (0.1, 0.01, 0.001), (0,), "strong", 64, None, entries)
    idle, edge = found.warnings
    assert "LSTM" in idle and "TF" not in idle and "mine" not in idle
    assert "TF" in edge and "--lr" in edge
    shown = found.sheet()
    assert shown.grids[0].tones[1, 2] == "bad"
    assert shown.warnings == found.warnings
    assert to_html(shown).index("Warning") < to_html(shown).index("<table>")


def test_names_with_commas_inside():
    assert parse_names("TF, LSTM-(1,64) ,dyck:depth=3,types=2,mqar") == [
        "TF",
        "LSTM-(1,64)",
        "dyck:depth=3,types=2",
        "mqar",
    ]
