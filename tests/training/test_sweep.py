"""Sweeps: cells, files with all their mistakes, plans, tables, and the verb from start to resumed end."""

import importlib
import json
import re
from itertools import product

import pytest
import torch

from separatrix.cli.verb_sweep import heat_map_table
from separatrix.errors import SeparatrixError
from separatrix.training.devices import environment
from separatrix.training.events import Result
from separatrix.training.experiments.catalog import experiments, experiments_of
from separatrix.training.experiments.experiment import SCALES
from separatrix.training.experiments.figure_data import experiment_of
from separatrix.training.grouping import Group
from separatrix.training.heatmap import heat_maps
from separatrix.training.planning import Timing, cost_key, counted, known_timings, measure, phases, plan
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.sweep import Sweep
from separatrix.training.sweep_file import read_sweep
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import CPU, drive, grid, tiny

FILE = """
title = "Two small models"
[base]
task = "index-lookup"
steps = 40
batch = 8
evaluate_every = 20
probe_examples = 64
evaluation_examples = 100
[axes]
architecture = ["TF-(1,8)", "LSTM-(1,8)"]
length = [6, 8]
learning_rate = [1e-2, 1e-3]
"""


@pytest.fixture
def sweep_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(FILE)
    return tmp_path / "small.toml"


OWN = """
from torch import nn


class Mine(nn.Linear):
    def __init__(self, width: int) -> None:
        super().__init__(width, width)
"""


def test_a_module_is_found_beside_the_sweep_file_too(tmp_path, monkeypatch):
    folder, here = tmp_path / "sub", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    (folder / "mine_beside.py").write_text(OWN)
    models = '["mine_beside.py:Mine-(1,8)", "mine_beside.py:Mine,TF-(2,8)"]'
    text = re.sub(r"architecture = .*", f"architecture = {models}", FILE)
    (folder / "own.toml").write_text(text)
    found = read_sweep(folder / "own.toml")
    near = folder / "mine_beside.py"
    assert found.axes["architecture"] == [f"{near}:Mine-(1,8)", f"{near}:Mine,TF-(2,8)"]
    (here / "mine_beside.py").write_text(OWN)
    assert read_sweep(folder / "own.toml").axes["architecture"][0] == "mine_beside.py:Mine-(1,8)", "this folder first"
    near.unlink()
    (here / "mine_beside.py").unlink()
    with pytest.raises(SeparatrixError) as caught:
        read_sweep(folder / "own.toml")
    assert str(caught.value).count("there is no file mine_beside.py") == 1


def example(**changes):
    base = {**tiny().as_dict(), "task_parameters": {}}
    axes = {
        "architecture": ["TF-(1,8)", "tf-(1, 16)"],
        "length": [6, 8],
        "learning_rate": [0.01, 0.001],
        "seed": [0, 1],
    }
    axes.update(changes)
    return Sweep("example", "Example", {name: value for name, value in base.items() if name not in axes}, axes)


def test_cells_are_the_product_of_what_changes_shapes():
    cells = example().cells()
    assert [(cell.at("architecture"), cell.at("length")) for cell in cells] == list(
        product(["TF-(1,8)", "tf-(1, 16)"], [6, 8])
    )
    for cell in cells:
        assert {(run.learning_rate, run.seed) for run in cell.runs} == set(product([0.01, 0.001], [0, 1]))
        assert len({run.shape for run in cell.runs}) == 1
    assert {run.architecture for cell in cells for run in cell.runs} == {"TF-(1,8)", "TF-(1,16)"}


def test_groups_prune_unless_the_grid_is_wanted_whole():
    sweep = example()
    cells = sweep.cells()
    assert all(group.rungs and group.first_goal_ends for group in sweep.groups(cells))
    assert not any(group.rungs or group.first_goal_ends for group in sweep.groups(cells, full_grid=True))


def test_only_cuts_axes_down_and_reads_what_people_write():
    sweep = example().restricted(["architecture=TF-(1, 16)", "learning_rate=1e-2", "length=8", "length=6"])
    assert sweep.axes == {"architecture": ["tf-(1, 16)"], "length": [6, 8], "learning_rate": [0.01], "seed": [0, 1]}
    for text, word in (("lenth=6", "nearest: length"), ("length=7", "known: 6, 8"), ("length", "AXIS=VALUE")):
        with pytest.raises(SeparatrixError, match=word):
            example().restricted([text])


def test_a_file_is_the_sweep_it_describes(sweep_file):
    sweep = read_sweep(sweep_file)
    assert (sweep.name, sweep.title) == ("small", "Two small models")
    assert [len(cell.runs) for cell in sweep.cells()] == [2, 2, 2, 2]


def test_all_mistakes_of_a_file_are_told_in_one_line(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(
        'titel = "red"\nhalving = "yes"\n[base]\ntask = "index-lookup"\nstep = 40\nlength = 6\nbatch = 0\n'
        '[axes]\narchitecture = ["TF-(1,8)", "TFF-(1,8)"]\nlength = [6]\nlearning_rat = [1]\nseed = []\n'
        'precision = ["float32", "float99"]\n'
    )
    with pytest.raises(SeparatrixError) as caught:
        read_sweep(path)
    text = str(caught.value)
    for word in (
        "nearest: title", "halving", "'step'", "nearest: steps", "both in the base", "nearest: learning_rate", "seed",
        "batch=0 must be", "unknown architecture 'TFF'", "precision='float99' is unknown",
        "gives no learning_rate, steps",
    ):  # fmt: skip
        assert word in text, text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("axes = 3", "axes"),
        ("base = 3\n[axes]\nlength = [6]", "base: input should be a valid dictionary"),
        ("base = 'steps'\n[axes]\nlength = [6]", "base: input should be a valid dictionary"),
        ("[base]\ntask='dyck'\nsteps=1\nlearning_rate=1\narchitecture='TF-(1,8)'\n[axes]\nlength=[6,'x',2.5,true]",
         "length='x' must be a whole number; length=2.5 must be a whole number; length=True must be"),
        ("[base]\ntask='dyck'\nsteps=1\nlearning_rate=1\narchitecture='TF-(1,8)'\nlength=6\n[axes]\n"
         "task_parameters=[3, 'ab', [[1, 2, 3]]]", "task_parameters=3 must be a table .* task_parameters='ab' must be"),
        ("[base]\ntask='dyck'\nsteps=1\nlearning_rate=1\narchitecture='TF-(1,8)'\nlength=6\n[axes]\n"
         "task_parameters=[{nope=1}, {depth='x'}]", "nope"),
        ("[axes]\nlength = 3", "length"),
        ("[[[", "not TOML"),
        ("[base]\ntask = 'dyck'", "axes"),
        ("[axes]\nlength = [6, 6]", "axis length names 6 twice; keep one"),
        ("[base]\ntask='dyck'\nsteps=1\n[axes]\nlength=6\nlearning_rate=[1, 1.0]\n"
         "architecture=['TF-(1,8)', 'transformer-(1, 8)']",
         r"axes\.length = 6 is not a list of values; write \[6\], or put it into base; axis learning_rate names 1 "
         r"twice; keep one; axis architecture names transformer-\(1, 8\) twice, also as TF-\(1,8\); keep one$"),
        ("[base]\ntask='nothing'\nsteps=1\nlearning_rate=1\n[axes]\nlength=[6]\narchitecture=['TF-(1,8)']", "nothing"),
        ("[base]\ntask = 'dyck'\n[axes]\nlength = [6]", "gives no architecture, learning_rate, steps"),
        ("[base]\ntask='dyck'\nsteps=1\nlearning_rate=1\n[axes]\nlength=[7]\narchitecture=['XY-(1,8)']", "XY"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_in_one_line(tmp_path, content, word):
    path = tmp_path / "wrong.toml"
    path.write_text(content)
    with pytest.raises(SeparatrixError, match=word) as caught:
        read_sweep(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_and_a_binary_one(tmp_path):
    with pytest.raises(SeparatrixError, match="cannot read"):
        read_sweep(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SeparatrixError, match="not TOML"):
        read_sweep(tmp_path / "binary.toml")


# -- the papers' experiments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", experiments())
@pytest.mark.parametrize("scale", SCALES)
def test_every_experiment_is_a_sweep_at_every_scale(name, scale):
    experiment = experiments()[name]
    cells = experiment.sweep(scale).cells()
    axes = dict(cells[0].coordinates)
    assert {experiment.rows, experiment.columns} <= set(axes)
    assert len({run.name for cell in cells for run in cell.runs}) == sum(len(cell.runs) for cell in cells)
    for cell in cells:
        assert cell.runs[0].steps % cell.runs[0].evaluate_every == 0
        assert experiment.attention == bool(cell.runs[0].snapshots)


def test_the_papers_scale_is_the_papers_recipe():
    for name in ("figure2-left", "figure3", "figure4-random", "figure4-ncp"):
        for cell in experiments()[name].sweep("paper").cells():
            run = cell.runs[0]
            assert (run.batch, run.steps, run.evaluation_examples, run.precision) == (64, 250000, 5000, "float32")
            assert len(cell.runs) == 7


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"curve": True}, "curve"),
        ({"title": None}, "title"),
        ({"scales": {"huge": {}}}, "huge"),
        ({"common": {"length": [8], "stepz": 3}}, "stepz"),
        ({"common": {"length": []}}, "length"),
    ],
)
def test_a_wrong_entry_of_the_table_is_named_with_its_mistake(change, named):
    right = {"title": "Demo", "source": "a test", "task": "dyck", "common": {"length": [8], "steps": 100}}
    assert experiments_of({"demo": right})[0].scales["quick"]["length"] == (8,)
    with pytest.raises(SeparatrixError) as caught:
        experiments_of({"demo": {**right, **change}})
    assert "demo" in str(caught.value)
    assert named in str(caught.value)


# -- plans -----------------------------------------------------------------------------------------------------


def test_phases_are_those_of_the_group_itself():
    """The members that a real group has left after each rung are those that the plan counted."""
    group = Group(grid(5, steps=80, evaluate_every=10), rungs=(20, 40))
    expected = [(0, 20, 5), (20, 40, 3), (40, 80, 2)]
    assert phases(group) == expected
    assert counted([group], {}).model_steps == sum((end - start) * members for start, end, members in expected)


def test_a_plan_counts_what_is_left(tmp_path):
    groups = [Group(grid(2)), Group((tiny(seed=5),))]
    drive(tmp_path / "runs.sqlite", groups[:1])
    with Records(tmp_path / "runs.sqlite") as records:
        names = [spec.name for group in groups for spec in group.specs]
        found = records.find(names)
        whole = plan(groups, found, [], CPU, environment(CPU, "local"))
    assert (whole.runs, whole.recorded, whole.steps, whole.model_steps) == (3, 2, 60, 60)
    assert [each.done for each in whole.groups] == [True, False]
    assert whole.seconds is not None
    assert whole.seconds > 0
    assert whole.as_dict()["estimated_from"] == {"measured": 1}
    assert counted(groups, found).seconds is None


def test_records_of_the_same_shape_and_device_are_believed(tmp_path):
    groups = [Group(grid(2))]
    where = environment(CPU, "local")
    with Records(tmp_path / "runs.sqlite") as records:
        drive(tmp_path / "runs.sqlite", groups)
        earlier = [
            type(record)(record.spec, record.result, {**where, **record.environment}, "", None)
            for record in records.all()
        ]
    known = known_timings(earlier, where)
    timing = known[cost_key(groups[0].specs[0], 2)]
    assert timing.basis == "records"
    assert timing.step == pytest.approx(earlier[0].result.seconds / 60)
    assert known_timings(earlier, {**where, "device_name": "another"}) == {}
    later = plan([Group(grid(2, seed=9))], {}, earlier, CPU, where)
    assert later.as_dict()["estimated_from"] == {"records": 1}


def test_lengths_between_two_that_are_measured_are_interpolated():
    lengths = (4, 8, 12)
    found = plan([Group((tiny(length=length),)) for length in lengths], {}, [], CPU, environment(CPU, "local"))
    assert [each.basis for each in found.groups] == ["measured", "interpolated", "measured"]
    first, middle, last = (each.seconds for each in found.groups)
    assert middle == pytest.approx((first + last) / 2)


def test_shapes_that_are_too_slow_are_extrapolated(monkeypatch):
    monkeypatch.setattr("separatrix.training.planning.LONGEST_STEP", 1e-9)
    timing = measure(grid(3), torch.device("cpu"))
    assert timing.basis == "extrapolated"
    assert timing.step == pytest.approx(3 * timing.step_alone)


def test_time_is_counted_by_members_and_evaluations():
    group = Group(grid(3, steps=40, evaluate_every=20), rungs=(20,))
    timing = Timing(step=3.0, step_alone=1.0, example=0.01, basis="measured")
    # 20 steps of three, 20 of two; two probes of 64 and full evaluations of 100 at the rung and at the end.
    assert timing.seconds(group) == pytest.approx(20 * 3.0 + 20 * 2.0 + 0.01 * (2 * 64 + 2 * 100))


# -- tables ----------------------------------------------------------------------------------------------------


def test_heat_maps_show_the_best_of_each_cell(tmp_path):
    sweep = example(batch=[8, 16])
    cells = sweep.cells()
    drive(tmp_path / "runs.sqlite", sweep.groups(cells[:3]))
    with Records(tmp_path / "runs.sqlite") as records:
        found = {record.spec.name: record for record in records.all()}
    maps = heat_maps(cells, found)
    assert [each.title for each in maps] == ["batch 8", "batch 16"]
    assert maps[0].rows == ("TF-(1,8)", "tf-(1, 16)")
    assert maps[0].columns == ("6", "8")
    best = max(found[run.name].result.accuracy for run in cells[0].runs)
    assert maps[0].accuracy("TF-(1,8)", "6") == best
    assert maps[1].accuracy("tf-(1, 16)", "8") is None
    assert heat_maps(cells, found, ("length", "batch"))[0].columns == ("8", "16")
    with pytest.raises(SeparatrixError, match="nearest: length"):
        heat_maps(cells, found, ("lengths", "batch"))


@pytest.mark.parametrize(
    ("axes", "rows", "columns"),
    [
        ({"length": [6, 8]}, ("TF-(1,8)",), ("6", "8")),
        ({"batch": [4, 8]}, ("TF-(1,8)",), ("4", "8")),
        ({"architecture": ["TF-(1,8)", "TF-(1,16)"]}, ("TF-(1,8)", "TF-(1,16)"), ("6",)),
        ({"batch": [4, 8], "length": [6, 8]}, ("4", "8"), ("6", "8")),
    ],
)
def test_a_table_and_a_figure_of_a_sweep_have_the_same_rows_and_columns(axes, rows, columns, tmp_path):
    sweep = Sweep("one", "One", {k: v for k, v in tiny().as_dict().items() if k not in axes}, axes)
    (only,) = heat_maps(sweep.cells(), {})
    assert (only.rows, only.columns) == (rows, columns)
    assert len(only.cells) == len(rows) * len(columns)  # none is left empty
    experiment = experiment_of(sweep, "one.toml")
    assert (experiment.rows, experiment.columns) == (only.row_axis, only.column_axis)


def test_a_sweep_over_learning_rates_alone_has_one_cell():
    sweep = Sweep(
        "one", "One", {k: v for k, v in tiny().as_dict().items() if k != "learning_rate"}, {"learning_rate": [0.1]}
    )
    (only,) = heat_maps(sweep.cells(), {})
    assert (only.rows, only.columns) == (("TF-(1,8)",), ("6",))


def test_a_constant_answer_has_a_column_where_the_rows_are_tasks():
    base = {name: value for name, value in tiny().as_dict().items() if name not in ("task", "length")}
    sweep = Sweep("two", "Two", {**base, "task_parameters": {}}, {"task": ["equality", "index-lookup"], "length": [6]})
    (shown,) = heat_maps(sweep.cells(), {}, ("task", "length"))
    table = heat_map_table("Two", shown)
    assert [column.header for column in table.columns] == ["task \\ length", "6", "majority baseline"]
    first, second = (float(cell) for cell in table.columns[2].cells)
    assert first >= 50 > 5 > second


def test_a_cell_that_diverged_is_marked():
    base = {k: v for k, v in tiny().as_dict().items() if k != "learning_rate"}
    cells = Sweep("one", "One", base, {"learning_rate": [0.1, 0.2]}).cells()
    endings = dict(zip([run.name for run in cells[0].runs], ("diverged", "steps"), strict=True))
    results = {name: Result(name, ending, 9, 0.5, 1.0, 2.0, 100) for name, ending in endings.items()}
    found = {run.name: Record(run, results[run.name], {}, "", None) for run in cells[0].runs}
    (both,) = heat_maps(cells, found)
    lost = {name: record for name, record in found.items() if record.result.ending == "diverged"}
    (alone,) = heat_maps(cells, lost)
    shown = [next(iter(heat_map_table("One", each).columns[1].cells)) for each in (both, alone)]
    assert ["diverged" in each for each in shown] == [False, True]


# -- the verb --------------------------------------------------------------------------------------------------


def test_the_verb_says_what_it_will_do_trains_and_does_not_train_again(call, sweep_file):  # noqa: F811
    before = json.loads(call("sweep", "small.toml", "--dry-run", "--json").out)
    assert before["plan"]["runs"] == 8
    assert before["plan"]["recorded"] == 0
    assert before["plan"]["seconds_at_most"] > 0
    assert not (sweep_file.parent / "runs.sqlite").exists()
    ended = call("sweep", "small.toml", "--json", "--only", "length=6", "--no-estimate")
    assert ended.code == 0
    first = json.loads(ended.out)
    assert len(first["cells"]) == 2
    assert first["plan"]["seconds_at_most"] is None
    whole = json.loads(call("sweep", "small.toml", "--json").out)
    assert whole["plan"]["recorded"] == 4
    assert [cell["accuracy"] for cell in whole["cells"] if cell["length"] == 6] == [
        cell["accuracy"] for cell in first["cells"]
    ]
    assert all(cell["best"]["spec"]["task"] == "index-lookup" for cell in whole["cells"])
    table = call("sweep", "small.toml")
    assert "nothing is left to train" in table.err
    assert "LSTM-(1,8)" in table.out
    (last,) = [line for line in table.out.splitlines() if line.startswith("│ majority baseline")]
    shares = {cell["length"]: 100 * cell["constant_answer"] for cell in whole["cells"]}
    assert [f"{shares[length]:.1f}" for length in (6, 8)] == re.findall(r"\d+\.\d", last)
    plan_table = call("sweep", "small.toml", "--dry-run")
    assert plan_table.out.count("done") == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("figure2-lef",), ("figure2-lef", "nearest: figure2-left")),
        (("small.toml", "--scale", "quick"), ("--scale quick", "small.toml")),
        (("figure3", "--scale", "quik"), ("quik", "quick")),
        (("none.toml",), ("none.toml", "cannot read")),
        (("small.toml", "--sink", "prometheus:x"), ("prometheus", "tensorboard")),
        (("small.toml", "--sink", "wandb"), ("wandb:PROJECT",)),
        (("small.toml", "--executor", "slurm"), ("slurm",)),
        (("small.toml", "--only", "seed=1"), ("seed", "known: architecture")),
        (("small.toml", "--device", "tpu"), ("tpu",)),
    ],
)
def test_bad_input_is_one_line_and_trains_nothing(call, sweep_file, arguments, words):  # noqa: F811
    ended = call("sweep", *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    for word in words:
        assert word in ended.err
    assert [each.name for each in sweep_file.parent.iterdir()] == ["small.toml"]


def test_an_interrupted_sweep_says_how_to_go_on(call, sweep_file, monkeypatch):  # noqa: F811
    from contextlib import contextmanager

    @contextmanager
    def pressed():
        yield lambda: True

    # The façade's function `train_runs` hides the module of that name.
    monkeypatch.setattr(importlib.import_module("separatrix.training.train_runs"), "interruptible", pressed)
    ended = call("sweep", "small.toml", "--no-estimate")
    assert ended.code == 130
    assert "the same command resumes it" in ended.err


def test_data_beyond_the_memory_of_the_machine_are_refused_before_a_store_is_made(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("separatrix.training.batches.machine_bytes", lambda: 1 << 14)
    monkeypatch.chdir(tmp_path)
    ended = call("train", "index-lookup", "TF-(1,8)", "--length", "90", "--steps", "2", "--device", "cpu")
    assert ended.code == 2 and "and this machine has" in ended.err and ended.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
