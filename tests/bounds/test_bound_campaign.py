"""Profiles of random functions against exhaustive search, briefly; ``python -m tools.bound_campaign`` does it at
length."""

import json

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools import bound_campaign, smallest
from tools.bound_campaign import KINDS, Campaign, draw

from separatrix.communication.partition import of_positions
from separatrix.communication.partition_bounds import PartitionBound
from separatrix.profiles.residuals import Residuals
from tests.communication.automata import random_automaton


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Searches that take long are left to the campaign itself."""
    monkeypatch.setattr(smallest, "PATIENCE", 20_000)
    monkeypatch.setattr(bound_campaign, "SHAPES", ((2, 2), (2, 3), (3, 2)))


@given(
    st.integers(0, 2**32), st.sampled_from(KINDS), st.sampled_from([(2, 2), (2, 3), (2, 4), (3, 2)]), st.integers(1, 3)
)
@settings(max_examples=25, deadline=None)
def test_no_bound_is_on_the_wrong_side_of_the_minimum(seed, kind, shape, held):
    symbols, length = shape
    generator = numpy.random.default_rng(seed)
    alice = generator.choice(length, min(held, length - 1), replace=False).tolist()
    campaign = Campaign()
    campaign.examine(draw(generator, kind, symbols, length), of_positions(length, alice), "drawn")
    assert campaign.tallies["residual classes of a cut"].compared == length + 1
    assert [text for tally in campaign.tallies.values() for text in tally.wrong] == []


@pytest.mark.parametrize(
    ("owner", "name", "quantity"),
    [
        (PartitionBound, "bits", "bits of any protocol"),
        (PartitionBound, "rank_bits", "bits by ranks"),
        (Residuals, "minimum_state_bits", "state bits of a recurrent model"),
        (Residuals, "automaton_states", "states of the DFA for exactly N"),
    ],
)
def test_an_inflated_bound_is_found(monkeypatch, owner, name, quantity):
    honest = getattr(owner, name).fget
    monkeypatch.setattr(owner, name, property(lambda self: honest(self) + 1))
    wrong = bound_campaign.run(8, seed=1).tallies[quantity].wrong
    assert wrong
    assert quantity in wrong[0]
    assert "seed 1, function" in wrong[0]


def test_an_upper_bound_that_is_too_small_is_found(monkeypatch):
    monkeypatch.setattr("separatrix.communication.partition_bounds.largest_rectangle_at_most", lambda *given: 1)
    campaign = bound_campaign.run(8, seed=1)
    assert campaign.tallies["largest rectangle"].wrong
    assert campaign.tallies["rectangles of a value"].wrong


def test_the_command_prints_a_table_or_one_object(capsys, monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bounds -->\nold\n<!-- end of bounds -->\nafter\n")
    assert bound_campaign.main(["--functions", "4", "--seed", "2", "--write", str(page)]) == 0
    out = capsys.readouterr().out
    assert "| bits of any protocol | lower bound |" in out
    assert "4 functions (`python -m tools.bound_campaign --functions 4 --seed 2`" in out
    assert out.strip() in page.read_text()
    assert "old" not in page.read_text()
    assert bound_campaign.main(["--functions", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["functions"] == 2
    monkeypatch.setattr(Residuals, "minimum_state_bits", property(lambda self: 99))
    assert bound_campaign.main(["--functions", "1"]) == 1


# -- the searches themselves -------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_searched_automaton_is_the_minimal_one(seed, states):
    moves, accepting, minimal = random_automaton(seed, states)
    at, labels = numpy.array([0]), []
    for _ in range(2 * states + 1):
        labels.append(accepting[at].tolist())
        at = moves[at].reshape(-1)
    assert smallest.smallest_automaton(labels, 2) == len(minimal.states)


def test_searches_with_known_answers():
    equal = numpy.eye(4, dtype=int)
    assert smallest.cheapest_protocol(equal) == 3
    assert smallest.largest_fooling_set(equal, 1) == 4
    assert smallest.fewest_rectangles(equal, 1) == 4
    assert smallest.fewest_messages(equal.tolist()) == 4
    assert smallest.fewest_rectangles(numpy.zeros((3, 3), dtype=int), 0) == 1
    assert smallest.smallest_automaton(smallest.of_one_length([1, 1, 1, 1], 2, 2), 2) == 4
    assert smallest.smallest_automaton([[0], [1, 1]], 2, most=1) is None


def test_a_search_that_takes_too_long_says_nothing(monkeypatch):
    monkeypatch.setattr(smallest, "PATIENCE", 3)
    assert smallest.smallest_automaton([[0], [0, 1], [0, 1, 1, 0]], 2) is None
    assert smallest.fewest_rectangles(numpy.eye(4, dtype=int), 0) is None
    campaign = bound_campaign.run(2, seed=0)
    assert any(tally.not_searched for tally in campaign.tallies.values())
