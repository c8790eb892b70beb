"""A store of a stranger names code: nobody who only looks at it runs that code, whatever is asked."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.models import user_architecture as loading
from separatrix.models.naming import code_named_in, parse_spec
from separatrix.site.sections import training
from separatrix.table.recorded import Sources
from separatrix.training.events import Result
from separatrix.training.experiments.attention_data import attention_maps
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import plain_model
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.trained import trained_model
from separatrix.training.user_code import user_code
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import drive, tiny

SOURCE = """
import pathlib
pathlib.Path({mark!r}).touch()

from torch import nn

class M(nn.Linear):
    causal = True

    def __init__(self, width):
        super().__init__(width, width)
"""
SWEEP = """
[base]
task = "index-lookup"
steps = 60
batch = 8
evaluate_every = 20
[axes]
architecture = ["TF-(1,8)"]
length = [6]
learning_rate = [0.01]
"""


@pytest.fixture
def hostile(monkeypatch, tmp_path):
    """A folder with code and a store whose records name it, with its right digest; and the file it makes when run."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "ran"
    for file in ("hostile.py", "hostile_module_of_a_test.py"):
        Path(file).write_text(SOURCE.format(mark=str(mark)))
    cell = experiments()["figure2-left"].sweep("quick").cells()[0].runs[0]
    names = ["hostile.py:M-(1,8)", "hostile_module_of_a_test:M-(1,8)", "LSTM,hostile.py:M-(2,8)"]
    runs = [spec.with_changes(architecture=name) for name in names for spec in (tiny(), cell)]
    drive(Path("runs.sqlite"), [Group((tiny(architecture=names[0], snapshots=(0,)),))])
    where = {"device_name": "a device", "code": user_code(runs[0])}
    with Records(Path("runs.sqlite")) as records:
        for run in runs:
            result = Result(run.name, "steps", run.steps, 0.5, 0.1, 3.0, 1000)
            records.add_results([run], [result], where, "weights/a.safetensors")
    monkeypatch.setattr(loading, "_loaded", {})
    plain_model.cache_clear()
    mark.unlink()
    return mark


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("runs list", 0),
        ("runs list --architecture hostile.py:M", 0),
        ("runs list --experiment figure2-left", 0),
        ("runs show {run}", 0),
        ("runs compare {run} {other}", 0),
        ("runs bits {run}", 2),
        ("runs bits {other}", 2),
        ("runs export out.json", 0),
        ("runs export out.csv --curves", 0),
        ("figure figure2-left --scale quick", 2),
        ("figure own.toml", 2),
        ("sweep own.toml --dry-run --no-estimate", 0),
    ],
)
def test_no_verb_runs_code_that_a_record_names(call, hostile, arguments, code):  # noqa: F811
    Path("own.toml").write_text(SWEEP)
    with Records(Path("runs.sqlite"), create=False) as records:
        run, other, *_ = [record.spec.name for record in records.all() if ".py:" in record.spec.architecture]
    ended = call(*arguments.format(run=run, other=other).split(), "--store", "runs.sqlite")
    assert ended.code == code, ended.err
    assert not hostile.exists()
    if "bits" in arguments:
        assert len(ended.err.splitlines()) == 1 and "hostile.py:M" in ended.err and "choose a run" in ended.err
        assert "docs/how-to/own-architecture.md" in ended.err


def test_the_atlas_leaves_out_what_only_a_record_names(hostile):
    results = training.SECTION.collect_from(Sources(store=Path("runs.sqlite")), lambda what: None)
    assert results.runs == 7 and results.learned == results.marks == {}
    assert not hostile.exists()


def test_a_model_is_loaded_when_its_code_is_named(hostile):
    with Records(Path("runs.sqlite"), create=False) as records:
        record = next(record for record in records.all() if record.spec.snapshots)
        for trusted in ((), ["M"], ["hostile.py"], ["other.py:M"]):
            with pytest.raises(SeparatrixError, match=r"names the code hostile\.py:M, .*trusted=\['hostile\.py:M'\]"):
                trained_model(record, records.files, trusted)
        assert not hostile.exists()
        model = trained_model(record, records.files, ["hostile.py:M"])
        assert hostile.exists()
        assert str(model.spec) == record.spec.architecture
        with pytest.raises(SeparatrixError, match="attention is shown for sparse-averaging"):
            attention_maps(record, records)


def test_attention_of_foreign_code_is_not_computed(hostile):
    spec = tiny(task="sparse-averaging", architecture="hostile.py:M-(1,8)", length=6, snapshots=(0,))
    drive(Path("attention.sqlite"), [Group((spec,))])
    hostile.unlink()
    with Records(Path("attention.sqlite"), create=False) as records:
        (record,) = records.all()
        with pytest.raises(SeparatrixError, match="which a record alone cannot have run"):
            attention_maps(record, records)
    assert not hostile.exists()


@given(st.text(st.sampled_from("aF:.,-(1)2 fla\tpy="), max_size=24))
def test_what_is_not_said_to_be_code_is_never_loaded(text):
    asked: list[str] = []

    def load(name: str) -> loading.UserArchitecture:
        asked.append(name)
        raise SeparatrixError("not here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_load", load)
        patch.setattr(loading, "_loaded", {})
        for each in (text, f"{text}-(2,8)", f"TF,{text}(2,8)"):
            asked.clear()
            with suppress(SeparatrixError):
                parse_spec(each)
            assert {name for name in asked if name.rpartition(":")[0] != "fla"} <= set(code_named_in(each)), each
