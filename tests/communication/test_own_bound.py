"""A bound from outside: its formula must give whole numbers, and it must not ask for more than is enough."""

from dataclasses import replace

import pytest

from separatrix.communication.bounds import ModelSize, ProtocolBound, bounds, protocol_bounds
from separatrix.communication.bounds.own_bound import (
    check_own_bound,
    claimed,
    held_against_truth,
    held_at_length,
    is_own,
    judged,
    limits,
    origin,
    standing,
)
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
    """No length with so few inputs; from where on a task has several answers; another member of a class; vectors."""
    assert texts("sparse-threshold-transformer-1layer", "sparse-threshold") == []
    assert texts("directed-3-cycle-graph-transformer", "directed-3-cycle") == []
    assert held_against_truth(named("index-lookup-rnn"), tasks()["index"], 0) == ()
    assert texts("match2-rnn", "match2", limit=8) == [
        ("asks for no more than the exact state bits at N = 1 to 1", True)
    ]


def test_the_comparison_ends_where_the_inputs_cannot_be_listed(monkeypatch):
    def refusing(task, length):
        raise SeparatrixError(f"{task.name} at {length}")

    monkeypatch.setattr("separatrix.communication.bounds.own_bound._exact_state_bits", refusing)
    assert texts("index-lookup-rnn", "index") == []


def test_other_bounds_are_held_against_protocols_that_send_a_row_or_a_column():
    enough = "the bits of a protocol that sends a row or a column"
    ((text, holds),) = texts("inequality-transformer-1layer", "inequality")
    assert text == f"asks for no more than {enough} at N = 2 to 8" and holds
    ((text, holds),) = texts("inequality-transformer-1layer", "inequality", factor=2)
    assert text.startswith("asks for 2 bits at N = 2, where 1 are enough") and not holds
    ((_, holds),) = texts("dyck-transformer-1layer", "dyck")
    assert holds


@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda bound: bound.name)
def test_no_bound_of_the_package_passes_what_is_enough_at_any_length(bound):
    for name in bound.task_names:
        task = tasks()[name]
        for about in (64, 1000, 10**6, 2**40):
            assert held_at_length(bound, task, max(task.minimum_length, about - about % task.length_step)) == ()


@pytest.mark.parametrize(
    ("name", "task", "length", "bits", "why"),
    [
        ("index-lookup-rnn", "index", 1000, lambda n: 100 * n, "1010 are enough: the whole input has no more"),
        ("inequality-transformer-1layer", "inequality", 4096, lambda n: n * n, "2048 are enough: one party sends all"),
        ("inequality-transformer-1layer", "inequality", 4096, lambda n: n // 2 + 1, "to-inequality hides 2048"),
    ],
)
def test_a_formula_is_held_against_arithmetic_at_the_length_that_was_asked_for(name, task, length, bits, why):
    wrong = replace(named(name), hidden_bits=lambda task, n: bits(n))
    assert any(why in each.text for each in held_at_length(wrong, tasks()[task], length))


def test_a_formula_is_held_against_a_model_that_solves_the_task():
    """Right at every length whose inputs can be listed, and larger than a counter beyond."""
    late = replace(
        named("index-lookup-rnn"), task_names=("majority",), reduction=None,
        checks=lambda limit: (), hidden_bits=lambda task, n: 1 if n < 13 else n // 2,
    )  # fmt: skip
    majority = tasks()["majority"]
    assert judged(late, majority, [12], limit=6).refuted_by is None
    found = judged(late, majority, [1000], limit=6)
    assert found.refuted_by is not None
    assert (
        found.refuted_by.text == "asks for 500 bits at N = 1000, where a model with 10 bits does it: a counter of ones"
    )
    assert "(BHBK24 Theorem 3, test_own_bound.py) for majority: asks for 500 bits" in found.in_words()


def test_what_was_not_checked_is_said():
    mine = replace(named("index-lookup-rnn"), task_names=("majority",), reduction=None, hidden_bits=lambda task, n: 1)
    assert (origin(mine), claimed(mine)) == ("test_own_bound.py", "BHBK24 Theorem 3, from test_own_bound.py")
    found = judged(mine, tasks()["majority"], [1000], limit=4)
    assert found.in_words() == ""
    assert found.rests_on(1000) == ("at N = 1000 this rests on the formula in test_own_bound.py; checked up to N = 8")
    assert found.rests_on(8) == ""
    nothing = judged(mine, tasks()["majority"], [1000], limit=0)
    assert nothing.rests_on(1000).endswith("not checked at any length")


def test_every_own_bound_is_judged_and_no_other():
    index = tasks()["index"]
    built_in = named("index-lookup-rnn")
    false = replace(built_in, name="false", hidden_bits=lambda task, n: n + 1, reduction=None)
    true = replace(built_in, name="true", hidden_bits=lambda task, n: n, reduction=None)
    kept, refuted = standing([false, built_in, true, built_in.inflated(2)], index, [8], limit=3)
    assert [each.name for each in kept] == ["index-lookup-rnn", "true", "index-lookup-rnn×2"]
    assert [each.bound.name for each in refuted] == ["false"]
    open_to, refuted = limits([false, true], ModelSize(32, 32), index)
    assert open_to == [(1024, "BHBK24 Theorem 3, from test_own_bound.py")]
    assert [each.bound.name for each in refuted] == ["false"]


def test_a_misspelt_reduction_is_named():
    wrong = replace(named("inequality-transformer-1layer"), reduction="equality-to-inequalty")
    with pytest.raises(SeparatrixError, match=r"unknown reduction .* nearest: equality-to-inequality"):
        held_at_length(wrong, tasks()["inequality"], 8)
