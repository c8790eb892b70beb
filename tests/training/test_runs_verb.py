"""Looking at runs from the command line, and showing them in TensorBoard and Weights & Biases while they train."""

import json
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from separatrix.cli.verb_runs import sparks
from separatrix.errors import SeparatrixError
from separatrix.training.checkpoints import weights_of
from separatrix.training.group_files import GroupFiles
from separatrix.training.grouping import Group
from separatrix.training.observers import Observers
from separatrix.training.records import Records
from separatrix.training.sinks import label, sink_from
from separatrix.training.trained import trained_model
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import Listener, drive, grid, tiny


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "runs.sqlite"
    drive(path, [Group(grid(2, steps=40)), Group((tiny(architecture="LSTM-(1,8)", length=8, steps=40),))])
    return path


def names(store):
    """Those of the grid first, whatever their names are."""
    with Records(store) as records:
        return [each.spec.name for each in sorted(records.all(), key=lambda each: each.spec.architecture, reverse=True)]


def listed(call, store, *arguments):  # noqa: F811
    ended = call("runs", "list", "--store", str(store), "--json", *arguments)
    assert ended.code == 0
    return [run["name"] for run in json.loads(ended.out)["runs"]]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ((), 3),
        (("--task", "index-lookup"), 3),
        (("--task", "dyck"), 0),
        (("--architecture", "lstm"), 1),
        (("--architecture", "tf-(1, 8)"), 2),
        (("--architecture", "TF-(1,8,mask=causal)"), 2),
        (("--architecture", "TF-(1,16)"), 0),
        (("--length", "8"), 1),
        (("--length", "6", "--architecture", "TF"), 2),
        (("--limit", "2"), 2),
        (("--experiment", "figure3"), 0),
    ],
)
def test_runs_are_listed_and_filtered(call, store, filters, count):  # noqa: F811
    found = listed(call, store, *filters)
    assert len(found) == count
    assert set(found) <= set(names(store))


def test_tables_for_people(call, store):  # noqa: F811
    text = call("runs", "list", "--store", str(store)).out
    assert "3 runs" in text
    assert all(name[:8] in text for name in names(store))
    first, second, third = names(store)
    shown = call("runs", "show", first[:12], "--store", str(store)).out
    assert all(word in shown for word in ("learning_rate", "accuracy over steps", "index-lookup"))
    compared = call("runs", "compare", first, second, third, "--store", str(store)).out
    assert "architecture" in compared
    assert "batch" not in compared  # the same for all


def test_filters_that_leave_nothing_say_what_there_is(call, store, tmp_path):  # noqa: F811
    lines = call("runs", "list", "--store", str(store), "--task", "dyck").out.splitlines()
    assert lines == [
        f"0 runs: none of the 3 runs in {store} is such a run; there are",
        "  --task index-lookup", "  --architecture LSTM-(1,8), TF-(1,8)", "  --length 6, 8",
    ]  # fmt: skip
    empty = tmp_path / "empty.sqlite"
    Records(empty).close()
    assert f"0 runs: nothing is recorded in {empty}" in call("runs", "list", "--store", str(empty)).out


def test_groups_that_were_interrupted_are_told_of(call, tmp_path):  # noqa: F811
    path = tmp_path / "runs.sqlite"
    Records(path).close()
    with Records(path, create=False) as records:
        GroupFiles(records.files, print).save("0123456789abcdef", b"a state")
    said = call("runs", "list", "--store", str(path)).out
    assert "also saved: 1 unfinished group; the command that was training resumes from it" in said


def test_two_runs_compared_are_a_table_at_80_columns(call, store, monkeypatch):  # noqa: F811
    monkeypatch.setenv("COLUMNS", "80")
    first, second, _ = names(store)
    compared = call("runs", "compare", first, second, "--store", str(store)).out
    head, _, rest = compared.partition("the same for all: ")
    lines = head.splitlines()
    assert lines[1].startswith("┏")
    assert max(map(len, lines)) <= 80
    assert first[:8] in head
    assert first not in head
    assert "weights" not in compared
    assert "learning_rate" in head
    assert "accuracy" in head
    for field in ("step 40", "ending steps", "parameters", "device", "trained with 1 other run"):
        assert field in " ".join(rest.split())
        assert field.split()[0] not in head.replace("accuracy over steps", "")


def test_show_and_compare_for_machines_and_as_a_picture(call, store, tmp_path):  # noqa: F811
    first, second, _ = names(store)
    ended = call("runs", "compare", first, second, "--store", str(store), "--json", "--plot", str(tmp_path / "c.svg"))
    found = json.loads(ended.out)
    assert [run["name"] for run in found["runs"]] == [first, second]
    assert [point["step"] for point in found["runs"][0]["curve"]] == [20, 40]
    assert found["provenance"]["command"].startswith("separatrix runs compare")
    drawn = (tmp_path / "c.svg").read_text()
    assert drawn.startswith("<svg")
    assert "the marked end is the full evaluation" in drawn


def test_exports_and_reads_back(call, store, tmp_path):  # noqa: F811
    path = tmp_path / "runs.json"
    ended = call("runs", "export", str(path), "--store", str(store), "--architecture", "TF", "--json")
    assert json.loads(ended.out)["rows"] == 2
    again = call("runs", "list", "--records", str(path), "--json")
    assert {run["name"] for run in json.loads(again.out)["runs"]} == set(listed(call, store, "--architecture", "TF"))
    table = call("runs", "export", str(tmp_path / "curves.csv"), "--curves", "--store", str(store))
    assert "6 rows" in table.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("forget",), ("forget", "known")),
        (("show", "0123zz"), ("0123zz", "runs list")),
        (("list", "--task", "dick"), ("dick", "nearest: dyck")),
        (("list", "--experiment", "figure33"), ("figure33", "figure3")),
        (("list", "--limit", "-1"), ("--limit -1",)),
        (("show", "FIRST", "--plot", "a.pdf"), ("a.pdf",)),
    ],
)
def test_bad_input_is_one_line(call, store, arguments, words):  # noqa: F811
    first = names(store)[0]
    ended = call("runs", *[first if each == "FIRST" else each for each in arguments], "--store", str(store))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    for word in words:
        assert word in ended.err


def test_bits_rounds_the_state_of_the_trained_model(call, store):  # noqa: F811
    with Records(store) as records:
        run = next(record for record in records.all() if record.spec.architecture == "LSTM-(1,8)")
        model = trained_model(run, records.files)
        assert run.weights is not None
        kept = weights_of((records.files / run.weights).read_bytes(), run.spec.name)
    assert all(torch.equal(parameter[0], kept[name]) for name, parameter in model.named_parameters())
    told = call("runs", "bits", run.spec.name, "--bits", "0,4,16", "--store", str(store), "--json")
    assert told.code == 0
    found = json.loads(told.out)
    assert (found["state_numbers"], found["cut"]) == (16, 8)
    assert [point["message_bits"] for point in found["points"]] == [0, 64, 256]
    assert found["points"][-1]["accuracy"] == pytest.approx(found["unrounded"], abs=0.01)
    assert found["unrounded"] == pytest.approx([run.result.accuracy], abs=0.1)
    assert (found["bits_needed"], found["provenance"]["arithmetic"]) == (48, "float32")
    assert "at least 48 bits (BHBK24 Theorem 3" in call("runs", "bits", run.spec.name, "--store", str(store)).out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("TF",), "has no step form"),
        (("LSTM", "--bits", "3,1"), "must ascend"),
        (("LSTM", "--bits", "99"), "99 bits for a number are out of range"),
        (("LSTM", "--bits", "x"), "'x' in --bits x is not a whole number"),
    ],
)
def test_bits_that_cannot_be_are_refused(call, store, words, told):  # noqa: F811
    with Records(store) as records:
        short = {record.spec.architecture[:-6]: record.spec.name for record in records.all()}
    ended = call("runs", "bits", *[short.get(word, word) for word in words], "--store", str(store))
    assert ended.code == 2
    assert told in ended.err
    assert ended.err.count("\n") == 1


def test_a_store_that_is_not_there_is_not_made(call, tmp_path):  # noqa: F811
    ended = call("runs", "list", "--store", str(tmp_path / "none.sqlite"))
    assert ended.code == 2
    assert "no store" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_sparks_cover_the_whole_curve():
    assert sparks([0.0, 1.0], 10) == "▁█"
    assert sparks([number / 999 for number in range(1000)], 8) == "▁▂▃▄▅▆▇█"
    assert sparks([], 5) == ""


# -- sinks -----------------------------------------------------------------------------------------------------


class Writer:
    """Stands in for TensorBoard's writer."""

    made: list["Writer"] = []  # noqa: RUF012

    def __init__(self, log_dir):
        self.folder, self.scalars, self.closed = log_dir, [], False
        Writer.made.append(self)

    def add_text(self, name, text, step):
        assert name == "run"
        assert "learning_rate" in text
        assert step == 0

    def add_scalar(self, name, value, step):
        self.scalars.append((name, step, value))

    def close(self):
        self.closed = True


@pytest.fixture
def tensorboard(monkeypatch):
    module = ModuleType("torch.utils.tensorboard")
    vars(module)["SummaryWriter"] = Writer
    Writer.made = []
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    return Writer


def test_tensorboard_hears_every_point_and_the_end(tensorboard, tmp_path):
    sink = sink_from("tensorboard:logs")
    heard = Listener()
    drive(tmp_path / "runs.sqlite", [Group(grid(2, steps=40))], listener=Observers([heard, sink]))
    assert len(tensorboard.made) == 2
    with Records(tmp_path / "runs.sqlite") as records:
        for record, writer in zip(
            [records.get(spec.name) for spec in grid(2, steps=40)], tensorboard.made, strict=True
        ):
            assert writer.folder == f"logs/{label(record.spec)}"
            points = [(step, value) for name, step, value in writer.scalars if name == "accuracy"]
            assert points == [(point.step, point.accuracy) for point in records.curve(record.spec.name)]
            assert writer.scalars[-1] == ("final/accuracy", 40, record.result.accuracy)
            assert writer.closed
    assert sink.open == {}
    assert heard.starts


def test_weights_and_biases_hears_every_point_and_the_end(monkeypatch, tmp_path):
    runs = []

    class Run:
        def __init__(self, **settings):
            self.settings, self.logged, self.summary, self.ended = settings, [], {}, None

        def log(self, values, step):
            self.logged.append((step, values["accuracy"]))

        def finish(self, exit_code=0):
            self.ended = exit_code

    def init(**settings):
        runs.append(Run(**settings))
        return runs[-1]

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    sink = sink_from("wandb:lookup")
    drive(tmp_path / "runs.sqlite", [Group(grid(2, steps=40))], listener=Observers([sink]))
    assert [run.settings["id"] for run in runs] == [spec.name for spec in grid(2, steps=40)]
    for run in runs:
        assert run.settings["project"] == "lookup"
        assert run.settings["resume"] == "allow"
        assert run.settings["config"]["task"] == "index-lookup"
        assert [step for step, _ in run.logged] == [20, 40]
        assert run.summary["ending"] == "steps"
        assert run.ended == 0


def test_runs_that_were_interrupted_are_let_go(tensorboard):
    sink = sink_from("tensorboard:logs")
    sink.started(Group((tiny(),)), 0)
    sink.close()
    assert tensorboard.made[0].closed
    assert sink.open == {}


def test_the_verb_passes_runs_to_a_sink(call, tensorboard, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    ended = call(
        "train", "index-lookup", "TF-(1,8)", "--length", "6", "--lr", "0.01", "--steps", "10", "--batch", "8",
        "--evaluate-every", "5", "--examples", "50", "--sink", "tensorboard:logs", "--json",
    )  # fmt: skip
    assert ended.code == 0
    assert [step for name, step, _ in tensorboard.made[0].scalars if name == "loss"] == [5, 10]


@pytest.mark.parametrize("text", ["tensorboard:logs", "wandb:project"])
def test_packages_that_are_missing_are_named(text, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(SeparatrixError, match="pip install"):
        sink_from(text)


def test_real_tensorboard_files_hold_the_curve(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    sink = sink_from(f"tensorboard:{tmp_path / 'logs'}")
    drive(tmp_path / "runs.sqlite", [Group((tiny(steps=40),))], listener=Observers([sink]))
    (folder,) = (tmp_path / "logs").iterdir()
    events = EventAccumulator(str(folder)).Reload()
    assert [each.step for each in events.Scalars("accuracy")] == [20, 40]


def test_real_weights_and_biases_holds_the_runs_offline(tmp_path):
    pytest.importorskip("wandb")
    words = [
        "train", "majority", "TF-(1,8)", "--length", "3", "--lr", "0.01,0.001", "--steps", "10", "--batch", "8",
        "--evaluate-every", "5", "--examples", "50", "--goal", "0", "--sink", "wandb:lookup", "--json",
    ]  # fmt: skip
    command = [sys.executable, "-c", "import sys; from separatrix.cli import main; sys.exit(main())", *words]
    quiet = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **quiet}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = {run["name"] for run in json.loads(done.stdout)["runs"]}
    kept = {folder.name.rpartition("-")[2]: folder for folder in (tmp_path / "wandb").glob("offline-run-*")}
    assert set(kept) == names
    for name, folder in kept.items():
        assert b"training_accuracy" in (folder / f"run-{name}.wandb").read_bytes()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("list", "0a1b"), "list takes no names"),
        (("show",), "show takes one run"),
        (("compare", "0a1b"), "compare takes at least two runs"),
        (("bits", "0a1b", "0a1c"), "bits takes one run"),
        (("export",), "export takes one file"),
        (("export", "runs.xls"), "cannot export to runs.xls"),
        (("export", "runs.json", "--curves"), "leave --curves out"),
    ],
)
def test_what_an_action_cannot_take_is_refused_before_records_are_read(call, tmp_path, given, said):  # noqa: F811
    """The store is not there: whoever looked for it first would say so."""
    ended = call("runs", *given, "--store", str(tmp_path / "none.sqlite"))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert said in ended.err
