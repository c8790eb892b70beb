"""Catalogs: discovery, duplicates, third-party entries, helpful misses."""

import types
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from separatrix.catalog import Catalog, _collected, discover
from separatrix.certificates.checker import methods
from separatrix.certificates.verdict import Method
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.networks import Network, RecurrentNetwork
from separatrix.tasks import Task, tasks


@dataclass(frozen=True)
class Thing:
    name: str


def test_duplicates_raise():
    with pytest.raises(SeparatrixError, match="two things are named 'a'"):
        Catalog("thing", [Thing("a"), Thing("a")])


def test_a_miss_names_the_nearest():
    catalog = Catalog("thing", [Thing("apple"), Thing("pear")])
    with pytest.raises(UnknownNameError, match="unknown thing 'aple'; nearest: apple"):
        catalog["aple"]
    with pytest.raises(UnknownNameError, match="known: apple, pear"):
        catalog["zzzzzz"]
    assert "apple" in catalog
    assert "aple" not in catalog


def test_catalogs_are_sorted_and_immutable():
    names = list(tasks())
    assert names == sorted(names)
    with pytest.raises(TypeError):
        tasks()["new"] = tasks()["dyck"]  # type: ignore[index]


def test_a_folder_whose_file_lacks_the_constant_is_an_error(tmp_path, monkeypatch):
    package = tmp_path / "broken_entries"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_shared.py").write_text("raise RuntimeError('shared files are not entries')")
    (package / "entry.py").write_text("OTHER = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = __import__("broken_entries")
    with pytest.raises(SeparatrixError, match=r"broken_entries\.entry\.THING is missing"):
        discover("thing", folder, "THING", Thing)


def test_entry_points_add_entries(tmp_path, monkeypatch):
    class Point:
        name, group = "extra", "separatrix.tasks"

        @staticmethod
        def load() -> Task:
            return tasks()["dyck"].with_parameters(depth=5)

    monkeypatch.setattr("separatrix.catalog.entry_points", lambda group: [Point()])
    empty = types.ModuleType("empty")
    empty.__path__ = [str(tmp_path)]  # type: ignore[attr-defined]
    assert list(discover("task", empty, "TASK", Task)) == ["dyck"]  # type: ignore[type-abstract]


def test_no_package_adds_a_method_that_decides_what_is_valid(monkeypatch):
    class Anything(Method):
        name, order, kinds = "anything", 0, (RecurrentNetwork, Network)

        def prove(self, network: object, claim: object) -> str:
            return "all"

    class Point:
        name, group, dist = "extra", "separatrix.methods", None

        @staticmethod
        def load() -> Method:
            return Anything()

    monkeypatch.setattr("separatrix.catalog.entry_points", lambda group: [Point()])
    methods.cache_clear()
    _collected.cache_clear()
    try:
        assert "enumeration" in methods()
        assert "anything" not in methods()
    finally:
        methods.cache_clear()
        _collected.cache_clear()


def test_a_broken_entry_of_another_package_is_left_out_with_one_line(tmp_path, monkeypatch, capsys):
    points = [
        EntryPoint("gone", "nomodule_of_that_name:X", "separatrix.tasks"),
        EntryPoint("wrong", "math:pi", "separatrix.tasks"),
        EntryPoint("twice", "separatrix.tasks.problems.dyck:TASK", "separatrix.tasks"),
        EntryPoint("good", "separatrix.tasks.problems.dyck:TASK", "separatrix.tasks"),
    ]
    monkeypatch.setattr("separatrix.catalog.entry_points", lambda group: points)
    empty = types.ModuleType("empty")
    empty.__path__ = [str(tmp_path)]  # type: ignore[attr-defined]
    assert list(discover("task", empty, "TASK", Task)) == ["dyck"]  # type: ignore[type-abstract]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(
        "separatrix: left out gone of separatrix.tasks from package nomodule_of_that_name: Module"
    )
    assert "math" in lines[1]
    assert "two tasks are named 'dyck'" in lines[2]


def test_a_catalog_keeps_the_promises_of_a_mapping():
    catalog = Catalog("thing", [Thing("apple")])
    assert catalog.get("pear") is None
    assert catalog.get("pear", Thing("other")).name == "other"
    assert catalog.get("apple") == Thing("apple")
    with pytest.raises(KeyError) as missed:
        catalog["pear"]
    assert str(missed.value) == "unknown thing 'pear'; known: apple"
