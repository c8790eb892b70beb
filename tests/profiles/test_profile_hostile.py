"""Functions that do what no function should: each is profiled rightly or refused in one line that says why."""

import asyncio
import json
import sys
from pathlib import Path

import numpy
import pytest

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.profiles import load_function, parse_alphabet, profile
from separatrix.profiles.guard import Allowance


class OwnEnd(BaseException):
    """Not an Exception, as asyncio's CancelledError is none."""


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class NoHash(str):
    __hash__ = None  # type: ignore[assignment]


class NeverEqual(int):
    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


def refusing(error: type[BaseException]):
    def function(x):
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (refusing(asyncio.CancelledError), "raised CancelledError on (0, 0, 0)"),
        (refusing(OwnEnd), "raised OwnEnd on (0, 0, 0)"),
        (refusing(Speechless), "raised Speechless on (0, 0, 0)"),
        (lambda x: None, "returned NoneType for (0, 0, 0)"),
        (lambda x: 0.5, "returned float for (0, 0, 0)"),
        # Functions of batches that return no answer: the batch's fault is reported, not a tuple's missing axes.
        (lambda x: x[:, 0].astype(float), "returned float64 values for an array"),
        (lambda x: x[:, :1], "returned shape (12, 1) for an array of shape (12, 3)"),
        (lambda x: numpy.ma.array(x[:, 0], mask=x[:, 0] == 1), "raised MaskedError: some answers are masked"),
        # One array at a time would work, as a labelling that nobody meant.
        (
            lambda x: numpy.array([None if row.sum() > 1 else 1 for row in x], dtype=object),
            "returned NoneType for an array",
        ),
    ],
)
def test_what_is_no_answer_is_refused_in_words_that_fit(function, said):
    with pytest.raises(SeparatrixError) as refused:
        profile("f", function, length=3)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: NoHash("a" if x[0] else "b"),
        lambda x: NeverEqual(10**30 + x[0]),
        lambda x: numpy.bool_(x[0]),
        lambda x: numpy.array(x[0]),
        lambda x: numpy.uint64(2**63 + x[0]),
        lambda x: 1 if x[0] else "1",
        lambda x: [1, True][x[0]] if x[0] else "\ud800",
    ],
)
def test_answers_of_odd_kinds_are_what_they_say(function):
    assert profile("f", function, length=3).residuals.classes == (1, 2, 2, 2)


def test_a_function_may_change_its_input_and_how_deep_python_calls():
    def function(x):
        sys.setrecursionlimit(sys.getrecursionlimit() - 1)
        x[:, 1:] = 0
        return x.sum(axis=1)

    before = sys.getrecursionlimit()
    assert profile("f", function, length=4).residuals.classes == (1, 2, 2, 2, 2)
    assert sys.getrecursionlimit() == before


def test_a_time_beyond_every_timer_is_a_time():
    with Allowance(1e300).spending():
        pass
    assert profile("f", lambda x: x[0], length=2).residuals.most == 2


@pytest.mark.parametrize("given", ["-3", "+2", "3.0", "1e3", "-2.5"])
def test_a_number_that_is_no_size_is_not_taken_for_characters(given):
    with pytest.raises(SeparatrixError, match="not understood"):
        parse_alphabet(given)
    assert parse_alphabet("+-").texts == ("+", "-")


def test_half_a_surrogate_pair_is_printed_as_json_can(tmp_path, capsys):
    path = tmp_path / "odd.py"
    path.write_text('def f(x):\n    return "\\ud800" if x[0] else "b"\n')
    assert run(["profile", f"{path}:f", "--length", "2", "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_a_picture_goes_where_the_command_was_given(tmp_path, monkeypatch, capsys):
    other = tmp_path / "elsewhere"
    other.mkdir()
    (tmp_path / "moving.py").write_text(f"import os\n\ndef f(x):\n    os.chdir({str(other)!r})\n    return x[0]\n")
    monkeypatch.chdir(tmp_path)
    assert run(["profile", "moving.py:f", "--length", "2", "--plot", "here.svg"]) == 0
    assert (tmp_path / "here.svg").exists()


POSTPONED = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class State:
    ones: int = 0

def f(x):
    return State(sum(x)).ones % 2
"""


def test_a_file_with_dataclasses_of_postponed_types_can_be_loaded(tmp_path):
    path = tmp_path / "postponed.py"
    path.write_text(POSTPONED)
    assert profile(*load_function(f"{path}:f"), length=3).residuals.classes == (1, 2, 2, 2)


def test_a_file_that_ends_python_is_refused(tmp_path):
    Path(tmp_path / "ends.py").write_text("import asyncio\nraise asyncio.CancelledError\n")
    with pytest.raises(SeparatrixError, match="could not be loaded: CancelledError"):
        load_function(f"{tmp_path / 'ends.py'}:f")
