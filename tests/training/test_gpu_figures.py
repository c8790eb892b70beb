"""The command that trains the figures in pieces: it ends in time, goes on, and needs only what a GPU machine has."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tools import attacks
from tools.attacked_runs import attacked_there
from tools.gpu_figures import (
    PIECES,
    SEEDS,
    Part,
    Settings,
    Strong,
    groups_of,
    main,
    missing_points,
    most_needed,
    planned,
)

from separatrix.training.events import Result
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import plain_model
from separatrix.training.experiments.state_bits_data import state_bits
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec
from separatrix.training.train_runs import train_runs

ROOT = Path(__file__).parents[2]
# A machine that has torch and what comes with it, but none of these; array-api-compat is carried along.
WITHOUT = """
import runpy, sys
missing = {"pydantic", "ray", "flint", "automata", "pandas", "pyarrow", "plotly", "fastapi", "pytest", "hypothesis"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
for name in sys.argv.pop(1).split(","):
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code:
            raise
"""
CELL = ["--only", "architecture=TF-(1,64)", "--only", "length=20"]


def run_without(modules: str, *arguments: str) -> str:
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, modules, *arguments],
        capture_output=True, text=True, timeout=1200, cwd=ROOT, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_a_piece_ends_at_its_limit_and_goes_on(tmp_path, capsys):
    arguments = ["figure2-left", "--scale", "quick", *CELL, "--limit", "1", "--folder", str(tmp_path)]
    first = run_without("tools.gpu_figures", *arguments, "--device", "cpu")
    assert "TF-(1,64) on index-lookup N=20: 2 runs\n" in first
    assert "not done yet; the same command resumes it" in first
    assert len(list((tmp_path / "quick.files/checkpoints").glob("*.safetensors"))) == 1
    main([*arguments, "--device", "cpu"])
    assert "N=20: 2 runs, after " in capsys.readouterr().out


def test_the_gpu_benchmark_starts_with_what_is_there(tmp_path):
    """Everything that it imports is there; without a GPU only its help can be asked for."""
    told = run_without("benchmarks.gpu,benchmarks.gpu_lstm", "--help")
    assert "ROW" in told and "--members" in told


def test_a_short_piece_is_trained_shown_and_copied(tmp_path, capsys):
    common = ["--scale", "quick", "--folder", str(tmp_path / "kept"), "--copies", str(tmp_path / "copies")]
    only = ["--only", "architecture=LSTM-(1,64)", "--only", "length=2", "--steps", "10", "--device", "cpu"]
    assert main(["state-bits", *common, *only]) == 0
    told = capsys.readouterr().out
    assert "1 of 6 cells recorded" in told and told.endswith("all done\n")
    (measured,) = json.loads((tmp_path / "copies/state-bits-quick.json").read_text())
    assert measured["report"]["state_numbers"] == 128 and measured["report"]["length"] == 2
    with Records(tmp_path / "copies/quick.sqlite", create=False) as copied:
        assert [record.spec.steps for record in copied.all()] == [10, 10]
        # Copies come without weights, and what has none is left out.
        assert state_bits(Part("state-bits", 10).sweep("quick").cells(), {}, copied.files, "cpu") == []
    assert main(["state-bits", *common, *only, "--list"]) == 0
    assert "1 of 6 cells recorded" in capsys.readouterr().out


@pytest.mark.parametrize("name", PIECES)
def test_pieces_are_experiments_that_can_be_cut_short(name):
    for scale in ("quick", "reduced"):
        runs = [run for cell in Part(name, 10).sweep(scale).cells() for run in cell.runs]
        assert runs and all(run.steps == 10 and all(step <= 10 for step in run.snapshots) for run in runs)
        whole = [run for cell in experiments()[name].sweep(scale).cells() for run in cell.runs]
        assert len(whole) == len(runs)


def test_what_is_beyond_the_papers_is_there():
    """Longer inputs, wider Mamba, newer models and a hybrid, third-order attention, state bits."""
    models = {
        name: {str(cell.at("architecture")) for cell in experiments()[name].sweep("reduced").cells()} for name in PIECES
    }
    assert {"TF-(1,64)", "TF-(1,128)"} <= models["beyond-lengths"]
    assert {cell.at("length") for cell in experiments()["beyond-lengths"].sweep("reduced").cells()} >= {1600, 3200}
    assert "Mamba-(2,2048)" in models["beyond-widths"]
    assert {"Mamba2-(6,256)", "GDN-(6,256)", "Mamba,Mamba,TF-(6,256)"} <= models["newer-models"]
    assert any(each.startswith("ThirdTF") for each in models["match3-order"])


def test_a_wrong_name_is_told_before_anything_is_trained(tmp_path, capsys):
    assert main(["figure2-left", "figure-5", "--folder", str(tmp_path)]) == 2
    assert "figure-5" in capsys.readouterr().err and not list(tmp_path.iterdir())


PLAN = """
[[part]]
piece = "figure2-left"
steps = 10
only = {architecture = ["TF-(1,64)", "LSTM-(1,64)"], length = [5]}

[[part]]
piece = "figure2-left"
steps = 20
only = {architecture = ["TF-(1,64)"], length = [5, 10]}
"""


def test_a_plan_trains_its_parts_at_once(tmp_path, capsys):
    (tmp_path / "plan.toml").write_text(PLAN)
    parts = planned(tmp_path / "plan.toml")
    assert parts[0].only == ("architecture=TF-(1,64)", "architecture=LSTM-(1,64)", "length=5")
    groups = groups_of([*parts, parts[0]], "quick")
    assert [(group.specs[0].length, group.specs[0].steps) for group in groups] == [(5, 10), (5, 10), (5, 20), (10, 20)]
    arguments = [
        "--plan",
        str(tmp_path / "plan.toml"),
        "--scale",
        "quick",
        "--folder",
        str(tmp_path),
        "--device",
        "cpu",
    ]
    assert main([*arguments, "--at-once", "2"]) == 0
    told = capsys.readouterr().out
    assert "figure2-left: 3 of 24 cells recorded" in told
    with Records(tmp_path / "quick.sqlite", create=False) as records:
        assert sorted(record.spec.steps for record in records.all()) == [10] * 4 + [20] * 4
        assert {record.environment["at_once"] for record in records.all()} == {2}


def test_only_a_part_that_says_so_has_more_steps_than_the_scale(tmp_path):
    more = PLAN.replace("steps = 10", "steps = 9000").replace("steps = 20", "steps = 9000\nlonger = true")
    (tmp_path / "plan.toml").write_text(more)
    cut, longer = planned(tmp_path / "plan.toml")
    assert {run.steps for cell in cut.sweep("quick").cells() for run in cell.runs} == {1500}
    assert {run.steps for cell in longer.sweep("quick").cells() for run in cell.runs} == {9000}


def test_a_plan_that_is_none_is_refused(tmp_path, capsys):
    for content in ("part = 3", "[[part]]\nsteps = 3", "[[part", ""):
        (tmp_path / "plan.toml").write_text(content)
        assert main(["--plan", str(tmp_path / "plan.toml"), "--folder", str(tmp_path)]) == 2
        assert "plan.toml" in capsys.readouterr().err
    assert main(["--plan", str(tmp_path / "other.toml"), "figure3"]) == 2
    assert "leave names" in capsys.readouterr().err


def test_the_plan_that_ships_can_be_trained():
    """Every part names cells that exist, and together they cover each piece."""
    parts = planned(ROOT / "tools/one_hour_on_a_gpu.toml")
    assert {part.piece for part in parts} <= set(PIECES)
    assert len(groups_of(parts, "reduced")) > 150


# -- the recipe strong ------------------------------------------------------------------------------------


STRONG = """
[[strong]]
piece = "figure3"
model = "Mamba-(2,16)"
rates = [0.01, 0.02]
steps = {8 = 4}
batch = 4
goal = 0.0
precision = "float32"
evaluate_every = 2
probe_examples = 4
evaluation_examples = 8
warmup = 1
"""


def test_strong_cells_of_a_plan_train_to_their_end(tmp_path):
    """Without what a GPU machine lacks: three seeds at the first rate, one at the other."""
    (tmp_path / "plan.toml").write_text(STRONG)
    arguments = ["--plan", str(tmp_path / "plan.toml"), "--folder", str(tmp_path), "--at-once", "2", "--device", "cpu"]
    assert "all done" in run_without("tools.gpu_figures", *arguments)
    with Records(tmp_path / "reduced.sqlite", create=False) as records:
        found = records.all()
    assert {(each.spec.learning_rate, each.spec.seed) for each in found} == {
        *((0.01, seed) for seed in SEEDS),
        (0.02, 0),
    }
    assert all((each.spec.recipe, each.result.step) == ("strong", 4) and each.spec.questions > 1 for each in found)


def test_every_strong_cell_can_be_trained_and_is_one_of_its_figure():
    for part in planned(ROOT / "tools/strong_cells.toml"):
        cells = experiments()[part.piece].sweep("reduced").cells()
        rows = {plain_model(cell.at("architecture")) for cell in cells}
        for group in part.groups("reduced"):
            spec = group.specs[0]
            assert group.together and spec.recipe == "strong" and (spec.questions > 1) == spec.the_task().asks_last
            assert {each.seed for each in group.specs if each.learning_rate == spec.learning_rate} == set(SEEDS)
            assert plain_model(spec.architecture).replace(",positions=learned", "") in rows
            assert spec.length in {cell.at("length") for cell in cells}


# -- attacks ----------------------------------------------------------------------------------------------


EASY = RunSpec(
    task="majority", architecture="TF-(1,8)", length=3, learning_rate=0.03, steps=150, batch=16, evaluate_every=50,
    probe_examples=8, evaluation_examples=8, goal=1.0,
)  # fmt: skip


def test_runs_that_answer_every_sample_are_attacked_once_and_keep_the_result(tmp_path, monkeypatch):
    monkeypatch.setattr(attacks, "SECONDS", 0.05)
    store, cpu, said = tmp_path / "reduced.sqlite", torch.device("cpu"), []
    hopeless = EASY.with_changes(steps=1, seed=1)
    easy, missed = train_runs([EASY, hopeless], store)
    assert easy.result.accuracy == 1 > missed.result.accuracy
    names = [EASY.name, hopeless.name]
    with Records(store) as records:
        assert not attacks.attack_runs(records, names, cpu, lambda: True, said.append)
        assert attacks.attack_runs(records, names, cpu, lambda: False, said.append)
        assert attacks.attack_runs(records, names, cpu, lambda: True, said.append)
        found, other = records.get(EASY.name), records.get(hopeless.name)
    assert len(said) == 1 and other.attack is None
    assert found.attack == {"seconds": 0.05, "most": attacks.MOST, "failing": 0, "one": ""}
    assert {key: found.environment[key] for key in easy.environment} == easy.environment
    (row,) = attacked_there([found, other])
    assert (row.recorded, row.failing, row.accuracy) == (EASY.name, 0, 1)


# -- the order of need ------------------------------------------------------------------------------------


def test_cells_that_lack_most_come_first_and_recorded_ones_not_at_all(tmp_path):
    """TF learns the lookup at 20; the paper's LSTM has 100 there as well, at 400 it has 12 and nothing is missing."""
    parts = [
        Strong("figure2-left", "TF-(1,64)", ((20, 100),), (0.001,)),
        Strong("figure2-left", "LSTM-(3,256)", ((20, 100), (400, 100)), (0.001,)),
    ]
    near, wanted, low = (group for part in parts for group in part.groups("reduced"))
    assert near.specs[0].length == wanted.specs[0].length == 20

    def recorded(group, accuracy, seeds=3):
        results = [Result(run.name, "steps", 100, accuracy, 0.1, 1.0, 10) for run in group.specs[:seeds]]
        return [Record(run, each, {}, "", None) for run, each in zip(group.specs, results, strict=False)]

    assert missing_points(near, "figure2-left", recorded(near, 1.0)) == 0
    assert missing_points(near, "figure2-left", recorded(near, 1.0, seeds=2)) == 1
    assert missing_points(near, "figure2-left", recorded(near, 0.5)) == pytest.approx(47)
    assert missing_points(low, "figure2-left", recorded(low, 0.05)) == 0
    with Records(tmp_path / "reduced.sqlite") as records:
        for each in recorded(wanted, 0.5):
            records.add_results([each.spec], [each.result], {}, None)
    order = [group.name for group in most_needed(parts, Settings("reduced", tmp_path))]
    # Of these the shipped records have no three seeds, or the store has the very same runs.
    assert wanted.name not in order and order == sorted(order, key=[near.name, low.name].index)
