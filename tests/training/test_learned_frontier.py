"""The learned frontier: each width stops where it fails, and theorems are next to what was learned."""

import json

import pytest

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.site.training_figures import learned_frontier_figure
from separatrix.training.events import Result
from separatrix.training.learned_frontier import Ladder, climb, longest_possible
from separatrix.training.record import Record
from separatrix.training.records import Records
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import drive, tiny


def ladder(**changes):
    fields = {
        "task": "index-lookup", "patterns": ("LSTM-(1,W)", "TF-(1,W)"), "widths": (8, 16, 32),
        "lengths": (4, 8, 16, 32), "learning_rates": (0.01, 0.001), "steps": 100,
    }  # fmt: skip
    return Ladder(**{**fields, **changes})


def pretended(reached, asked):
    """A trainer that learns what ``reached(model, length)`` says, and remembers what it was asked."""

    def train(groups):
        found = {}
        for group in groups:
            first = group.specs[0]
            asked.append((first.architecture, first.length))
            for place, spec in enumerate(group.specs):
                accuracy = 1.0 if reached(parse_spec(spec.architecture), spec.length) and place == 1 else 0.3
                found[spec.name] = Record(spec, Result(spec.name, "steps", 100, accuracy, 1.0, 1.0, 1), {}, "", None)
        return found

    return train


def test_every_width_climbs_until_it_fails():
    asked = []
    points = climb(ladder(), pretended(lambda model, length: not model.recurrent or length <= model.width // 2, asked))
    learned = {point.model: point.learned for point in points}
    assert learned == {
        "LSTM-(1,8)": 4, "LSTM-(1,16)": 8, "LSTM-(1,32)": 16,
        "TF-(1,8)": 32, "TF-(1,16)": 32, "TF-(1,32)": 32,
    }  # fmt: skip
    by_model = {point.model: point for point in points}
    assert by_model["LSTM-(1,8)"].failed.length == 8
    assert by_model["TF-(1,8)"].failed is None
    # Nothing is trained beyond the first failure.
    assert [length for model, length in asked if model == "LSTM-(1,8)"] == [4, 8]
    assert len(asked) == len(set(asked)) == 2 + 3 + 4 + 4 * 3


def test_a_model_that_learns_nothing_has_no_length():
    (point,) = climb(ladder(patterns=("TF-(1,W)",), widths=(8,)), pretended(lambda *_: False, []))
    assert point.learned is None
    assert point.failed.length == 4
    assert point.as_dict()["rungs"][0]["accuracy"] == 0.3


def test_bounds_are_those_of_the_catalog_and_never_below_what_is_learned():
    run = tiny(architecture="LSTM-(1,8)")
    spec = parse_spec("LSTM-(1,8)")
    bound, claim, arithmetic = longest_possible(spec, run, 32)
    # 512 bits of state, 6 bits for each symbol of an alphabet of 64.
    assert spec.state_bits(6, 32) == 512
    assert bound == 512 // 6
    assert "Theorem 3" in claim
    assert "p bits" in arithmetic
    assert longest_possible(parse_spec("TF-(1,8)"), run, 32) == (None, "", "")
    assert longest_possible(parse_spec("TF-(2,8)"), run, 32) == (None, "", "")
    # Odd against even positions says nothing about running sums; the halves of equality do.
    assert longest_possible(parse_spec("TF-(1,8)"), tiny(task="dyck", length=8), 32) == (None, "", "")
    one_layer, claim, arithmetic = longest_possible(parse_spec("TF-(1,8)"), tiny(task="equality", length=8), 32)
    assert one_layer is not None
    assert one_layer > 8
    assert "Theorem" in claim
    assert "float32" in arithmetic


def test_real_runs_are_remembered(tmp_path):
    small = ladder(
        patterns=("TF-(1,W)",), widths=(8,), lengths=(3, 6), task="majority", goal=0.6, steps=120,
        settings={"batch": 16, "evaluate_every": 30, "evaluation_examples": 200, "probe_examples": 100},
    )  # fmt: skip
    trained = []

    def train(groups):
        trained.append(len(drive(tmp_path / "runs.sqlite", groups).events))
        with Records(tmp_path / "runs.sqlite") as records:
            return records.find(spec.name for group in groups for spec in group.specs)

    first, again = climb(small, train), climb(small, train)
    assert first == again
    assert first[0].learned is not None
    assert trained[: len(trained) // 2] != [0] * (len(trained) // 2)
    assert trained[len(trained) // 2 :] == [0] * (len(trained) // 2)
    assert learned_frontier_figure("majority", 0.6, first).png.startswith(b"\x89PNG")


def test_the_verb_trains_draws_and_remembers(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    arguments = (
        "frontier", "majority", "--learned", "TF-(1,W)", "--learned", "RNN-(1,W)", "--widths", "8", "--lengths", "3",
        "--steps", "60", "--goal", "0.6", "--lr", "0.01", "--store", "runs.sqlite", "--figure", "f.svg",
    )  # fmt: skip
    first, again = (json.loads(call(*arguments, "--json").out) for _ in range(2))
    assert first["points"] == again["points"]
    assert [point["model"] for point in first["points"]] == ["TF-(1,8)", "RNN-(1,8)"]
    assert first["points"][1]["state_bits"] == 8 * 32
    assert (tmp_path / "f.svg").exists()
    assert "grows with N" in call(*arguments).out
    ended = call("frontier", "majority", "--learned", "TF-(1,8)")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)


def test_a_function_with_a_length_is_sent_to_design(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def even(x):\n    return sum(x) % 2 == 0\n")
    ended = call("frontier", "mine.py:even", "--length", "8")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "separatrix design mine.py:even" in ended.err


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"patterns": ("LSTM-(1,64)",)}, "write W"),
        ({"patterns": ("LSTN-(1,W)",)}, "LSTM"),
        ({"widths": ()}, "widths"),
        ({"widths": (8, 8)}, "widths"),
        ({"lengths": (8, 4)}, "ascend"),
        ({"lengths": (0, 4)}, "length"),
        ({"learning_rates": (-1.0,)}, "learning_rate"),
        ({"steps": 0}, "steps"),
    ],
)
def test_what_cannot_be_climbed_is_refused_before_anything_trains(changes, word):
    with pytest.raises(SeparatrixError, match=word):
        ladder(**changes)
