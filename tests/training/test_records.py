"""Reading a store, taking runs elsewhere and reading them back."""

import csv
import json
import shutil
import sqlite3
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from separatrix import shipped
from separatrix.errors import SeparatrixError
from separatrix.training.checkpoints import weights_of
from separatrix.training.events import Result
from separatrix.training.export_records import export, flat_row
from separatrix.training.exported_records import ExportedRecords
from separatrix.training.grouping import Group
from separatrix.training.record import Record, best_of
from separatrix.training.records import ENVIRONMENT_VARIABLE, Records, store_path
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import drive, grid, tiny


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Three runs; two of them trained together and kept weights."""
    path = tmp_path_factory.mktemp("store") / "runs.sqlite"
    drive(path, [Group(grid(2, steps=40, snapshots=(0, 30))), Group((tiny(seed=7, steps=40),))])
    return path


@pytest.fixture
def records(store):
    with Records(store) as opened:
        yield opened


def test_runs_are_found_by_the_beginning_of_their_name(records):
    for record in records.all():
        assert records.get(record.spec.name[:9]) == record
    for wrong in ("", "zz", "%", "_" * 16):
        with pytest.raises(SeparatrixError, match="no run"):
            records.get(wrong)


def test_an_ambiguous_beginning_is_refused(tmp_path):
    specs = [tiny(seed=seed, steps=1, evaluate_every=1) for seed in range(20)]
    drive(tmp_path / "many.sqlite", [Group(tuple(specs))])
    first = [spec.name[0] for spec in specs]
    digit = max(first, key=first.count)
    with Records(tmp_path / "many.sqlite") as records, pytest.raises(SeparatrixError, match="several"):
        records.get(digit)


def test_the_frame_has_a_row_for_each_run(records):
    frame = records.frame()
    assert len(frame) == 3
    assert set(frame["name"]) == {record.spec.name for record in records.all()}
    assert {"task", "architecture", "learning_rate", "accuracy", "seconds", "environment"} <= set(frame.columns)
    assert json.loads(frame["snapshots"][0]) in ([], [0, 30])


def test_a_table_without_pandas_ends_in_one_line(records, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SeparatrixError, match=r"separatrix\[records\]"):
        records.frame()


def test_exported_runs_are_read_back_as_they_were(records, tmp_path):
    path = tmp_path / "out" / "runs.json"
    assert export(records, records.all(), path) == 3
    back = ExportedRecords([path.parent])
    for record in records.all():
        name = record.spec.name
        again = back.get(name[:10])
        assert again.spec == record.spec
        assert again.environment == record.environment
        assert again.result.accuracy == record.result.accuracy
        assert [(p.step, p.accuracy) for p in back.curve(name)] == [
            (p.step, pytest.approx(p.accuracy, abs=1e-6)) for p in records.curve(name)
        ]
        assert set(back.snapshots(name)) == set(records.snapshots(name)) == set(record.spec.snapshots)
        for step, file in back.snapshots(name).items():
            ours, theirs = (
                weights_of(file.read_bytes(), name),
                weights_of(records.snapshots(name)[step].read_bytes(), name),
            )
            assert ours.keys() == theirs.keys()
            assert all((ours[key] == theirs[key]).all() for key in ours)
    assert back.find(["nothing"]) == {}
    assert [record.spec.name for record in back.all()] == [record.spec.name for record in records.all()]


def test_a_changed_description_is_noticed(records, tmp_path):
    path = tmp_path / "runs.json"
    export(records, records.all(), path)
    path.write_text(path.read_text().replace('"batch":8', '"batch":9', 1))
    with pytest.raises(SeparatrixError, match="was changed"):
        ExportedRecords([path])


def test_a_run_of_a_task_that_is_not_here_is_not_called_damaged(records, store, tmp_path):
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other = tmp_path / "other.sqlite"
    other.write_bytes(store.read_bytes())
    connection = sqlite3.connect(other)
    connection.execute("UPDATE runs SET spec = json_set(spec, '$.task', 'their-task')")
    connection.commit()
    connection.close()
    told = (
        r"of the task 'their-task', which is not here; bring it with separatrix --with FILE\.py or install its package$"
    )
    count = len(records.all())
    with Records(other, create=False) as opened:
        assert opened.all() == [] and opened.not_here() == {"their-task": count}
        with pytest.raises(SeparatrixError, match=told):
            opened.get(records.all()[0].spec.name)
    assert records.not_here() == {}


def test_runs_of_a_task_that_is_not_here_are_left_out_and_told(call, records, store, tmp_path):  # noqa: F811
    """One run of somebody's own task must not keep the others from being read, listed, exported and drawn."""
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other = tmp_path / "other.sqlite"
    other.write_bytes(store.read_bytes())
    shutil.copytree(records.files, tmp_path / "other.files")
    first = records.all()[0].spec.name
    connection = sqlite3.connect(other)
    connection.execute("UPDATE runs SET spec = json_set(spec, '$.task', 'their-task') WHERE name = ?", (first,))
    connection.commit()
    connection.close()
    result = call("runs", "list", "--store", str(other), "--json")
    assert result.code == 0
    assert len(json.loads(result.out)["runs"]) == len(records.all()) - 1
    assert "1 run of tasks that are not here (their-task) is left out; bring them with" in result.err
    exported = tmp_path / "exported.json"
    assert call("runs", "export", str(exported), "--store", str(other)).code == 0
    assert len(ExportedRecords([exported]).all()) == len(records.all()) - 1
    export(records, records.all(), exported)
    exported.write_text(exported.read_text().replace('"task":"', '"task":"their-', 1))
    assert sum(ExportedRecords([exported]).not_here().values()) == 1


@pytest.mark.parametrize("path", [".", "", "/"])
def test_a_folder_is_no_store(path):
    with pytest.raises(SeparatrixError, match="is a folder; name the file of a store, such as"):
        Records(Path(path))


def test_a_run_that_diverged_is_only_the_best_of_its_like():
    spec = tiny()
    ended = [("diverged", 0.9), ("steps", 0.4)]
    found = [Record(spec, Result(spec.name, each, 8, share, 0.7, 2.0, 100), {}, "", None) for each, share in ended]
    assert best_of(found) is found[1] and best_of(found[:1]) is found[0]


@pytest.mark.parametrize(
    ("ended", "best"),
    [
        ([("steps", 5, 0.0, 6.9), ("steps", 20, 0.0, 0.2)], 1),
        ([("goal", 20, 1.0, 0.1), ("goal", 5, 1.0, 0.2), ("steps", 4, 1.0, 0.0)], 1),
    ],
    ids=["of two at zero the lower loss", "of those at their goal the fewer steps"],
)
def test_equal_accuracies_are_ranked_by_what_still_differs(ended, best):
    spec = tiny()
    found = [
        Record(spec, Result(spec.name, ending, step, share, loss, 2.0, 100), {}, "", None)
        for ending, step, share, loss in ended
    ]
    assert best_of(found) is found[best]


@pytest.mark.parametrize("members", ['"two"', "0", "-1", "1.5", "null", "[2]"])
def test_a_number_of_members_that_is_none_is_noticed_before_times_are_taken_from_it(records, store, tmp_path, members):
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    forged, exported = tmp_path / "forged.sqlite", tmp_path / "forged.json"
    forged.write_bytes(store.read_bytes())
    connection = sqlite3.connect(forged)
    connection.execute("UPDATE runs SET environment = json_set(environment, '$.members', json(?))", (members,))
    connection.commit()
    connection.close()
    with Records(forged, create=False) as opened, pytest.raises(SeparatrixError, match="is damaged: it trained as one"):
        opened.all()
    export(records, records.all(), exported)
    exported.write_text(exported.read_text().replace('"members":2', f'"members":{members}', 1))
    with pytest.raises(SeparatrixError, match=r"forged\.json: the record of run .* it trained as one of"):
        ExportedRecords([exported])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "other"}', '{"format": "separatrix-runs-1"}'])
def test_what_is_no_export_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "runs.json"
    path.write_text(content)
    with pytest.raises(SeparatrixError, match="runs"):
        ExportedRecords([path])


def test_an_empty_folder_and_a_missing_file_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(SeparatrixError):
            ExportedRecords([path])


def test_a_store_is_read_without_a_single_write(records, store, tmp_path):
    """As it lies in a repository: read-only, without its side files; a folder of stores and exports is one source."""
    copied = tmp_path / "results" / "some.sqlite"
    copied.parent.mkdir()
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copied.write_bytes(store.read_bytes())
    copied.chmod(0o444)
    copied.parent.chmod(0o555)
    try:
        found = ExportedRecords([copied.parent])
        assert [record.as_dict() for record in found.all()] == [record.as_dict() for record in records.all()]
        for record in records.all():
            assert found.curve(record.spec.name) == records.curve(record.spec.name)
            assert set(found.snapshots(record.spec.name)) == set(record.spec.snapshots)
        assert [each.name for each in copied.parent.iterdir()] == ["some.sqlite"]
        assert copied.read_bytes() == store.read_bytes()
    finally:
        copied.parent.chmod(0o755)


def test_what_is_read_when_it_is_asked_for_is_what_a_store_gives(tmp_path):
    """The shipped runs, read in parts, against all of a store at once."""
    shutil.copy(shipped.FOLDER / "strong.sqlite", tmp_path / "some.sqlite")
    with Records(tmp_path / "some.sqlite", create=False) as store:
        every = store.all()
        assert len(every) > 100
        for limit in (0, 1, 3, len(every), len(every) + 1):
            expected = every[-limit:] if limit else []
            assert store.newest(limit) == ExportedRecords([tmp_path]).newest(limit) == expected
        found = ExportedRecords([tmp_path])
        for record in every[::25]:
            name = record.spec.name
            assert found.get(name[:12]) == found.find([name, "0a1b"])[name] == record
            assert found.curve(name) == store.curve(name) != []
            assert found.snapshots(name) == store.snapshots(name)
        assert found.all() == every


def test_damage_is_noticed_when_a_run_is_asked_for_and_not_before(records, store, tmp_path):
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = tmp_path / "other.sqlite"
    path.write_bytes(store.read_bytes())
    first, *_, last = (record.spec.name for record in records.all())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE runs SET accuracy = 2 WHERE name = ?", (first,))
    connection.execute("UPDATE points SET accuracy = 2 WHERE run = ?", (first,))
    connection.commit()
    connection.close()
    with Records(path, create=False) as opened:
        for source in (opened, ExportedRecords([path])):
            assert [record.spec.name for record in source.newest(1)] == [last]
            assert source.curve(last) == records.curve(last)
            assert source.not_here() == {}
            for ask in (partial(source.newest, 99), partial(source.find, [first]), partial(source.get, first)):
                with pytest.raises(SeparatrixError, match="is damaged: its accuracy"):
                    ask()
            with pytest.raises(SeparatrixError, match="is damaged: a point of its curve"):
                source.curve(first)


def test_of_a_run_in_several_files_the_last_one_counts_with_its_curve(records, store, tmp_path):
    records._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept, exported = tmp_path / "b.sqlite", tmp_path / "a.json"
    kept.write_bytes(store.read_bytes())
    shutil.copytree(records.files, tmp_path / "b.files")
    export(records, records.all(), exported)
    name = records.all()[0].spec.name
    exact = [point.loss for point in records.curve(name)]
    for order, losses in (((exported, kept), exact), ((kept, exported), [round(each, 6) for each in exact])):
        found = ExportedRecords(order)
        assert len(found.all()) == len(records.all())
        assert [point.loss for point in found.curve(name)] == losses


def test_files_that_are_no_stores_are_refused(tmp_path):
    (tmp_path / "text.sqlite").write_text("not a database")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE a (b)").connection.close()
    for name, word in (("text.sqlite", "cannot be read"), ("other.sqlite", "no store"), ("none.sqlite", "no store")):
        with pytest.raises(SeparatrixError, match=word):
            ExportedRecords([tmp_path / name])


def test_runs_with_and_without_later_fields_are_one_table(records):
    plain = records.all()[0]
    newer = replace(plain, spec=replace(plain.spec, full_length=0.5))
    rows = [flat_row(each) for each in (plain, newer)]
    assert list(rows[0]) == list(rows[1])
    assert [row["full_length"] for row in rows] == [0.0, 0.5]


def test_csv_and_parquet_hold_the_same_table(records, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for curves, rows in ((False, 3), (True, 6)):
        assert export(records, records.all(), tmp_path / "a.csv", curves=curves) == rows
        assert export(records, records.all(), tmp_path / "a.parquet", curves=curves) == rows
        with (tmp_path / "a.csv").open() as file:
            texts = list(csv.DictReader(file))
        table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
        assert len(texts) == len(table) == rows
        assert [float(row["accuracy"]) for row in texts] == [row["accuracy"] for row in table]
        assert list(texts[0]) == list(table[0])


def test_exports_that_cannot_be_are_refused(records, tmp_path, monkeypatch):
    with pytest.raises(SeparatrixError, match="must end in"):
        export(records, records.all(), tmp_path / "runs.doc")
    with pytest.raises(SeparatrixError, match="nothing to write"):
        export(records, [], tmp_path / "runs.csv")
    with pytest.raises(SeparatrixError, match="--curves"):
        export(records, records.all(), tmp_path / "runs.json", curves=True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SeparatrixError, match=r"separatrix\[records\]"):
        export(records, records.all(), tmp_path / "runs.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_named_by_option_environment_or_default(monkeypatch, tmp_path):
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    assert str(store_path(None)) == "runs.sqlite"
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "mine.sqlite"))
    assert store_path(None) == tmp_path / "mine.sqlite"
    assert store_path(tmp_path / "other.sqlite") == tmp_path / "other.sqlite"
