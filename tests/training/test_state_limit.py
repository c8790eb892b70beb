"""What training reached of what the state allows: from records and bounds alone, undertrained lengths marked."""

import json
import sys

import pytest

from separatrix.bounds import protocol_bounds
from separatrix.models.naming import parse_spec
from separatrix.site.state_limit import state_limit_page, state_limit_picture
from separatrix.tasks import tasks
from separatrix.training.events import Point, Result
from separatrix.training.records import Records
from separatrix.training.state_limit import nearest, state_limit, state_limits
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import tiny

STRONG = {"warmup": 2, "clip": 1.0, "final_rate": 0.0, "questions": 2}


@pytest.fixture
def store(tmp_path):
    """An LSTM that learned 10 and, level and with its steps, not 20; one that is still rising; and what is left out."""
    path = tmp_path / "runs.sqlite"
    with Records(path) as records:
        for model, length, accuracy, curve, more in (
            ("LSTM-(1,8)", 10, 0.995, "level", STRONG), ("LSTM-(1,8)", 20, 0.6, "level", STRONG),
            ("LSTM-(1,16)", 10, 0.92, "rising", STRONG), ("TF-(1,8)", 10, 1.0, "level", STRONG),
            ("LSTM-(1,32)", 10, 1.0, "level", {}),
        ):  # fmt: skip
            spec = tiny(architecture=model, length=length, **more)
            points = [accuracy if curve == "level" else accuracy * step / 8 for step in range(1, 9)]
            records.add_points([Point(spec.name, step, 0.1, each, each) for step, each in enumerate(points, 1)])
            records.add_results([spec], [Result(spec.name, "steps", 60, accuracy, 0.1, 1.0, 8)], {}, None)
    return path


def test_every_model_has_what_was_learned_and_what_is_possible(store):
    with Records(store, create=False) as records:
        small, large = state_limit(records, 0.99, "strong")
        assert (small.model, small.learned, small.failed, small.open_ended) == (
            "LSTM-(1,8)",
            10,
            20,
            False,
        )
        assert (large.model, large.learned, large.open_ended) == ("LSTM-(1,16)", None, True)
        assert large.tried[0].undertrained == ("accuracy still rising",)
        assert small.state_bits == parse_spec("LSTM-(1,8)").state_bits(10, 32) == 512
        assert nearest([small, large]) == small.model and small.gap == small.limit / 10
        at_ninety = state_limit(records, 0.9, "strong")
        assert at_ninety[1].learned == 10 and at_ninety[1].failed is None and at_ninety[1].open_ended
        assert [each.model for each in state_limit(records, 0.99, "any")] == [
            "LSTM-(1,8)",
            "LSTM-(1,16)",
            "LSTM-(1,32)",
        ]


def test_the_limits_are_those_of_the_bounds(store):
    """No weights are right on every input beyond: there the bound asks for more bits than there are."""
    task = tasks()["index-lookup"]
    with Records(store, create=False) as records:
        for each in state_limit(records, 0.5, "any"):
            asked = [bound.required_bits(each.bound, task) for bound in protocol_bounds("index-lookup", "rnn")]
            beyond = [bound.required_bits(each.bound + 1, task) for bound in protocol_bounds("index-lookup", "rnn")]
            assert max(asked) <= each.state_bits < max(beyond)
            assert each.bound < each.limit, "half of the answers may be right on longer texts"


def test_it_is_drawn_and_told(store, tmp_path, call):  # noqa: F811
    ended = call("figure", "state-limit", "--store", str(store), "--out", str(tmp_path / "out"))
    assert ended.code == 0 and "LSTM-(1,8)" in ended.out
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "state-limit.svg",
        "state-limit.png",
        "state-limit.json",
        "state-limit.html",
        "state-limit-any.svg",
    } <= files
    found = json.loads((tmp_path / "out" / "state-limit.json").read_text("utf-8"))
    assert [view["goal"] for view in found["views"] if view["recipe"] == "strong"] == [0.99, 0.9, 0.5]
    page = (tmp_path / "out" / "state-limit.html").read_text("utf-8")
    assert page.count("data-view=") >= 2 * 6 and "accuracy still rising" in page
    with Records(store, create=False) as records:
        results = state_limits(records)
    linked = state_limit_picture(results, "")
    assert 'href="architectures/lstm.html#learned"' in linked and "href" not in state_limit_picture(results, None)
    assert "<script>" in state_limit_page(results, "made")


def test_what_cannot_be_drawn_is_one_line(tmp_path, call):  # noqa: F811
    Records(tmp_path / "empty.sqlite").close()
    ended = call("figure", "state-limit", "--store", str(tmp_path / "empty.sqlite"), "--out", str(tmp_path / "out"))
    assert ended.code == 2 and "separatrix train index-lookup" in ended.err and not (tmp_path / "out").exists()
    misspelt = call("figure", "stat-limit")
    assert misspelt.code == 2 and "state-limit" in misspelt.err
    scaled = call("figure", "state-limit", "--records", "shipped", "--scale", "quick")
    assert scaled.code == 2 and "--scale quick" in scaled.err


def test_it_needs_no_torch(store, monkeypatch):
    """The core alone reads records and bounds."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with Records(store, create=False) as records:
        assert len(state_limit(records)) == 2
