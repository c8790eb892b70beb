"""What is read from the files of entries is what their catalogs say, and a file that does not tell is named."""

import ast
from importlib.metadata import EntryPoint

import pytest

from separatrix import catalog_names as module
from separatrix.api import CATALOGS
from separatrix.api.catalog_rows import IN_SHORT
from separatrix.catalog_names import names_in_files
from separatrix.errors import SeparatrixError


@pytest.mark.parametrize("name", list(IN_SHORT))
def test_the_short_list_is_the_catalog(name):
    whole, short = CATALOGS[name].rows(), IN_SHORT[name]()
    assert len(short) >= 10
    assert short == [{field: entry[field] for field in each} for each, entry in zip(short, whole, strict=True)]


def test_a_field_that_is_no_plain_text_is_named():
    with pytest.raises(SeparatrixError, match="options of ARCHITECTURE"):
        names_in_files("architecture", "models/architectures", "ARCHITECTURE", ("name", "options"))


def test_what_is_given_counts_before_what_the_class_says():
    text = "class A:\n    name: str = 'a'\n    title: str = 'x'\n    size: int = 3\nENTRY = A(title='y', other=f(1))\n"
    assert module._texts(ast.parse(text), "ENTRY") == {"name": "a", "title": "y"}
    assert module._texts(ast.parse("ENTRY = make()[0]\n"), "ENTRY") == {}
    assert module._texts(ast.parse("OTHER = A()\n"), "ENTRY") == {}


def test_entries_of_other_packages_are_named_and_not_loaded(monkeypatch):
    point = EntryPoint("shifted", "no_such_package.shifted:ARCHITECTURE", "separatrix.architectures")
    monkeypatch.setattr(module, "entry_points", lambda group: [point] if group == point.group else [])
    found = names_in_files("architecture", "models/architectures", "ARCHITECTURE", ("name", "short", "title"))
    (theirs,) = [each for each in found if each["name"] == "shifted"]
    assert theirs == {"name": "shifted", "short": "", "title": "of the package no_such_package.shifted"}
