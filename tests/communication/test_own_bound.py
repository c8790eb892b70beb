"""A bound from outside: its formula must give whole numbers, and it must not ask for more than is enough."""

from dataclasses import replace

import pytest

from separatrix.communication.bounds import ProtocolBound, bounds
from separatrix.communication.bounds.own_bound import check_own_bound, held_against_truth, is_own
from separatrix.errors import SeparatrixError
from separatrix.tasks import tasks


def named(name: str) -> ProtocolBound:
    found = bounds()[name]
    assert isinstance(found, ProtocolBound)
    return found


def texts(name, task, limit=4, factor=1):
    bound = named(name)
    found = held_against_truth(bound if factor == 1 else bound.inflated(factor), tasks()[task], limit)
    return [(each.text, each.holds) for each in found]


def test_a_bound_is_somebodys_own_by_where_its_formula_stands():
    bound = named("index-lookup-rnn")
    assert not is_own(bound)
    assert is_own(replace(bound, hidden_bits=lambda task, length: length))


@pytest.mark.parametrize("bits", [1.0, True, -1, None, "3"])
def test_a_formula_that_gives_no_whole_number_is_refused(bits):
    index = tasks()["index"]
    bound = named("index-lookup-rnn")
    check_own_bound(bound, index, 8)
    with pytest.raises(SeparatrixError, match=r"hidden_bits of index-lookup-rnn gives .* give an int from 0 on"):
        check_own_bound(replace(bound, hidden_bits=lambda task, length: bits), index, 8)


def test_a_recurrent_bound_is_held_against_the_exact_state_bits():
    ((text, holds),) = texts("index-lookup-rnn", "index")
    assert text == "asks for no more than the exact state bits at N = 1 to 5" and holds
    ((text, holds),) = texts("index-lookup-rnn", "index", factor=2)
    assert text.startswith("asks for 2 bits at N = 1, where 1 are enough") and not holds


def test_what_cannot_be_compared_is_not():
    """Another model's bound; no length with so few inputs; from where on a task has several answers."""
    assert texts("dyck-transformer-1layer", "dyck") == []
    assert held_against_truth(named("index-lookup-rnn"), tasks()["index"], 0) == ()
    assert texts("match2-rnn", "match2", limit=8) == [
        ("asks for no more than the exact state bits at N = 1 to 1", True)
    ]


def test_the_comparison_ends_where_the_inputs_cannot_be_listed(monkeypatch):
    def refusing(task, length):
        raise SeparatrixError(f"{task.name} at {length}")

    monkeypatch.setattr("separatrix.communication.bounds.own_bound._exact_state_bits", refusing)
    assert texts("index-lookup-rnn", "index") == []
