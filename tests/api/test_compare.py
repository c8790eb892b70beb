"""A layer of your own next to known ones: equal budgets, rates chosen by short runs, warnings, one page, resumable."""

import json

import pytest

import separatrix as sx
from separatrix.answer import to_html
from separatrix.api.comparison import SHORT, Compared, Entry
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
    assert sum("did not learn" in each for each in found.warnings) == 2
    assert [each.state_bits for each in found.entries] == [8 * 32, None], "a module that does not state its size"
    assert "state_numbers" in to_html(found.sheet())


def test_the_same_call_goes_on_where_it_stopped(place, monkeypatch):
    asked = {"store": "r.sqlite", "budget": "1h", **SMALL}
    monkeypatch.setattr("separatrix.api.comparing.MOST", 100)
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
        ["mine.py:Average", "--recipe", "weak"], ["mine.py:Average", "--tasks", ","],
    ],
)  # fmt: skip
def test_bad_input_ends_in_one_line_and_leaves_nothing(place, capsys, more):
    before = sorted(place.rglob("*"))
    assert run(["compare", *more]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1 and said.err.startswith("separatrix: ")
    assert [path for path in sorted(place.rglob("*")) if "__pycache__" not in path.parts] == before


def test_a_budget_that_teaches_nothing_is_refused_after_the_first_timing(place, monkeypatch):
    from separatrix.training import planning

    timed, measure = list[str](), planning.measure
    monkeypatch.setattr(planning, "measure", lambda specs, device: timed.append("") or measure(specs, device))
    with pytest.raises(sx.SeparatrixError, match="give at least 6s"):
        sx.compare("RNN", ["LSTM", "GRU"], ["majority"], budget=5, **SMALL)
    assert not timed
    monkeypatch.setattr("separatrix.api.comparing.FEWEST", 1 << 40)
    with pytest.raises(sx.SeparatrixError, match="timed on 1 of 3 pairs"):
        sx.compare("RNN", ["LSTM", "GRU"], ["majority"], budget=6, **SMALL)
    assert len(timed) == 1
    assert [path.name for path in place.iterdir()] == ["mine.py"]


def entry(model, yours, learned, rate=0.01, diverged=False):
    return Entry(
        model=model, task="mqar", length=32, yours=yours, rate=rate, accuracy=0.5, majority=0.5, guess=None,
        learned=learned, diverged=diverged, steps=10, seconds=1.0, parameters=9, state_bits=64, grows=False,
        longest=None, claim="", run="r", curve=((10, 0.5),),
    )  # fmt: skip


def test_a_baseline_that_did_not_learn_is_named():
    entries = (entry("mine", True, True), entry("LSTM", False, False), entry("TF", False, True, 0.1))
    found = Compared("mine", 10, 64, (0.1, 0.01, 0.001), (0,), "strong", entries)
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
