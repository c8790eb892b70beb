"""Training from Python gives the records that the command line gives, in the order asked for, each trained once."""

import signal
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from separatrix.errors import SeparatrixError
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.train_runs import train_runs, try_user_tasks
from tests.training.cases import Listener, drive, tiny


def test_records_come_back_in_the_order_asked_for_and_are_those_of_the_driver(tmp_path):
    first, second, other = tiny(), tiny(learning_rate=0.003), tiny(architecture="LSTM-(1,8)")
    heard = Listener()
    found = train_runs([first, other, second, first], tmp_path / "a.sqlite", device="cpu", observers=[heard])
    assert [record.spec for record in found] == [first, other, second, first]
    assert [name for name, _ in heard.starts] == [Group((first, second)).name, Group((other,)).name]
    drive(tmp_path / "b.sqlite", [Group((first, second)), Group((other,))])
    with Records(tmp_path / "b.sqlite", create=False) as records:
        for record in found:
            same = records.get(record.spec.name).result
            assert (record.result.accuracy, record.result.loss) == (same.accuracy, same.loss)


def test_what_is_recorded_is_not_trained_again(tmp_path):
    store = tmp_path / "runs.sqlite"
    (record,) = train_runs([tiny()], store, device="cpu")
    heard = Listener()
    again, new = train_runs([tiny(), tiny(seed=1)], store, device="cpu", observers=[heard])
    assert again == record
    assert new.spec.seed == 1
    assert [name for name, _ in heard.starts] == [Group((tiny(seed=1),)).name]


def test_a_model_has_one_name_and_the_store_is_that_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (record,) = train_runs([tiny(architecture="transformer-(1, 8)", steps=2)])
    assert record.spec == tiny(steps=2)
    assert Path("runs.sqlite").is_file()
    assert train_runs([]) == []


def test_what_cannot_be_trained_is_one_line_and_makes_no_store(tmp_path):
    store = tmp_path / "runs.sqlite"
    with pytest.raises(SeparatrixError, match="unknown architecture 'FT'"):
        train_runs([tiny(architecture="FT-(1,8)")], store)
    assert not store.exists()


def test_tasks_are_tried_once_at_each_length(monkeypatch):
    tried = []
    module = import_module("separatrix.training.train_runs")
    monkeypatch.setattr(module, "try_user_task", lambda task, length: tried.append((task.name, length)))
    try_user_tasks([tiny(), tiny(seed=1), tiny(length=8)])
    assert tried == [("index-lookup", 6), ("index-lookup", 8)]


class PressesCtrlC(Listener):
    """Interrupts at the first event of the training."""

    def happened(self, group, event):
        super().happened(group, event)
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_saves_and_the_same_call_goes_on(tmp_path):
    spec, store = tiny(steps=40, evaluate_every=10, goal=0.0), tmp_path / "runs.sqlite"
    with pytest.raises(KeyboardInterrupt):
        train_runs([spec], store, device="cpu", observers=[PressesCtrlC()])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    heard = Listener()
    (again,) = train_runs([spec], store, device="cpu", observers=[heard])
    assert 0 < heard.starts[0][1] < 40, "it goes on after the steps that were saved"
    (whole,) = train_runs([spec], tmp_path / "whole.sqlite", device="cpu")
    assert (again.result.accuracy, again.result.loss) == (whole.result.accuracy, whole.result.loss)


def test_it_trains_in_a_thread_where_no_signal_arrives(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        (record,) = pool.submit(train_runs, [tiny(steps=2)], tmp_path / "runs.sqlite", device="cpu").result()
    assert record.result.step == 2
