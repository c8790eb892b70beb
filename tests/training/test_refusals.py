"""What cannot be is refused in one line: rows of a store, files next to it, devices, texts that describe runs."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.saved_tensors import fill
from separatrix.training.checkpoints import Checkpoint, read_checkpoint, weights_of, with_checksum, written
from separatrix.training.devices import device_named, device_text, processor_name
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Result
from separatrix.training.export_records import export
from separatrix.training.exported_records import ExportedRecords
from separatrix.training.group_files import GroupFiles
from separatrix.training.learned_frontier import Ladder, climb, longest_possible
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.row_checks import checked_environment, checked_point, checked_run, checked_text
from separatrix.training.spec import RunSpec, spec_from
from separatrix.training.sweep import Sweep
from separatrix.training.trained import trained_model, untrained_model
from tests.training.cases import CPU, tiny

RUN = tiny()
WHOLE = {
    "name": RUN.name, "spec": json.dumps(RUN.as_dict()), "ending": "steps", "step": 60, "accuracy": 0.5, "loss": 0.1,
    "seconds": 1.0, "parameters": 7,
}  # fmt: skip


def test_a_whole_row_is_a_run():
    spec, result = checked_run("here", *WHOLE.values())
    assert spec == RUN
    assert result == Result(RUN.name, "steps", 60, 0.5, 0.1, 1.0, 7)
    assert math.isnan(checked_run("here", *{**WHOLE, "loss": None}.values())[1].loss)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("spec", "{", "its description is none"),
        ("spec", "[]", "its description is none .*describes no run; it must be a table of task, architecture"),
        ("spec", 3, "its description is none"),
        ("spec", json.dumps({**RUN.as_dict(), "task": 3}), "task=3 must be a name"),
        ("spec", json.dumps({**RUN.as_dict(), "batch": 9}), "its description was changed"),
        ("ending", "tired", "it ended by 'tired'"),
        ("step", -1, "not counts"),
        ("step", True, "not counts"),
        ("parameters", 1.5, "not counts"),
        ("accuracy", 1.01, "not such a number"),
        ("loss", math.inf, "not such a number"),
        ("seconds", "long", "not such a number"),
    ],
)
def test_a_row_that_no_run_has_is_damaged(field, value, told):
    with pytest.raises(SeparatrixError, match=rf"^here: the record of run {RUN.name} is damaged: .*{told}"):
        checked_run("here", *{**WHOLE, field: value}.values())


@pytest.mark.parametrize("row", [(-1, 0.1, 0.5, 0.5), (1, "x", 0.5, 0.5), (1, 0.1, 2, 0.5), (1, 0.1, 0.5, None)])
def test_a_point_that_no_curve_has_is_damaged(row):
    with pytest.raises(SeparatrixError, match="a point of its curve"):
        checked_point("here", RUN.name, *row)


@pytest.mark.parametrize("value", ["{", "[1]", None, 3])
def test_an_environment_that_is_no_table_is_damaged(value):
    with pytest.raises(SeparatrixError, match="is not an object"):
        checked_environment("here", RUN.name, value)


def test_a_text_that_is_none_is_damaged():
    for value in (3, "x" * 1001):
        with pytest.raises(SeparatrixError, match="is not a time or a file"):
            checked_text("here", RUN.name, value)


def test_checkpoints_of_other_formats_and_parts_are_refused(monkeypatch):
    tensors = Ensemble([RUN], CPU).tensors()
    whole = Checkpoint("g", (RUN.name,), 0, 0.0, tensors)
    assert read_checkpoint(written(whole), "g").runs == (RUN.name,)
    for wrong in ({**tensors, "more": torch.ones(1)}, {**tensors, "sums": torch.ones(3, 2)}):
        with pytest.raises(SeparatrixError, match="do not belong together"):
            read_checkpoint(written(replace(whole, tensors=wrong)), "g")
    with monkeypatch.context() as patch:
        patch.setattr("separatrix.training.checkpoints.FORMAT", "separatrix-checkpoint-0")
        older = written(whole)
    with pytest.raises(SeparatrixError, match="has format 'separatrix-checkpoint-0'"):
        read_checkpoint(older, "g")


def test_weights_that_were_changed_or_are_of_another_model_are_refused():
    content = with_checksum({f"{RUN.name}/a": torch.ones(3)})
    assert weights_of(content, RUN.name)["a"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(SeparatrixError, match="checksum is wrong"):
        weights_of(content[:-1] + b"\x41", RUN.name)
    with pytest.raises(SeparatrixError, match=r"the weights do not fit TF-\(1,8\): .* is missing or of another shape"):
        fill(untrained_model(RUN), {})
    with pytest.raises(SeparatrixError, match="has no weights in this place"):
        trained_model(Record(RUN, Result(RUN.name, "steps", 1, 0.5, 0.1, 1.0, 7), {}, "", None), Path())


def test_devices_that_are_not_here_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name, told in (("cuda", "torch sees no GPU"), ("meta", "is not supported"), ("gpu", "is unknown")):
        with pytest.raises(SeparatrixError, match=told):
            device_named(name)
    assert device_text("auto", 2) == "this CPU with 2 threads"
    assert device_text("cpu", 0) == "this CPU with 1 thread"  # tests use one
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError()))
    assert processor_name()


def test_a_folder_in_the_place_of_a_checkpoint_is_told(tmp_path):
    (tmp_path / "checkpoints" / "g.safetensors").mkdir(parents=True)
    with pytest.raises(SeparatrixError, match="is a folder where a checkpoint belongs"):
        GroupFiles(tmp_path, print).checkpoint("g", [])


def test_exported_runs_are_asked_for_by_names_that_are_there(tmp_path):
    specs = [tiny(seed=seed) for seed in range(17)]  # two begin with the same digit
    with Records(tmp_path / "runs.sqlite") as records:
        for spec in specs:
            records.add_results([spec], [Result(spec.name, "steps", 60, 0.5, 0.1, 1.0, 7)], {}, None)
        export(records, records.all(), tmp_path / "runs.json")
        records.settle("g", [spec.name for spec in specs])
        records._connection.execute("UPDATE groups SET members = '{}'")
        with pytest.raises(SeparatrixError, match="a group has no members"):
            records.settled("g")
    exported = ExportedRecords([tmp_path / "runs.json"])
    for wrong in ("", "zz"):
        with pytest.raises(SeparatrixError, match="is named"):
            exported.get(wrong)
    digits = [spec.name[0] for spec in specs]
    with pytest.raises(SeparatrixError, match="begins the names of several runs"):
        exported.get(max(digits, key=digits.count))


def test_sweeps_that_are_too_large_or_cut_down_to_nothing_are_refused():
    with pytest.raises(SeparatrixError, match="1,000,000 runs; a sweep has at most"):
        Sweep("a", "", {}, {"seed": range(1000), "batch": range(1, 1001)})
    sweep = Sweep("a", "", {}, {"architecture": ["TF-(1,8)"], "length": [8], "task": ["dyck"]})
    for only in ("architecture=nothing", "length=long", "task=other"):
        with pytest.raises(SeparatrixError, match="unknown value of axis"):
            sweep.restricted([only])


def test_a_description_that_is_no_table_names_its_fields():
    number: Any = 7
    with pytest.raises(SeparatrixError, match="'7' describes no run; it must be a table of task"):
        spec_from(number)
    with pytest.raises(SeparatrixError, match="task=None must be a name"):
        RunSpec(**{**RUN.as_dict(), "task": None})


def test_a_ladder_that_nobody_climbed_is_told():
    ladder = Ladder(
        task="majority", patterns=("TF-(1,W)",), widths=(8,), lengths=(3,), learning_rates=(0.01,), steps=10
    )
    with pytest.raises(SeparatrixError, match=r"TF-\(1,8\) at length 3 was not trained"):
        climb(ladder, lambda groups: {})
    assert longest_possible(parse_spec("TF-(2,8)"), RUN, 32) == (None, "", "")
