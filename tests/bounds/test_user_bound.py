"""A bound from outside: its formula must give whole numbers, and it must not ask for more than is enough."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from separatrix.bit_counts import bits_for
from separatrix.bounds import ModelSize, ProtocolBound, bounds, floating, protocol_bounds
from separatrix.bounds.consistency import check_length_arithmetic, check_small_lengths
from separatrix.bounds.user_bound import (
    asks_differently,
    claimed,
    consistent_bounds,
    is_user_bound,
    judged,
    limits,
    origin,
)
from separatrix.capacities import capacity, describe
from separatrix.communication.reductions import reductions
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import tasks
from separatrix.tasks.problems.directed_3_cycle import Directed3Cycle
from separatrix.user_files import using_files

FILE = """
from dataclasses import replace
from separatrix.bounds.claims.index_lookup_rnn import BOUND as KNOWN
BOUND = replace(KNOWN, name="mine", claim="a lemma of mine", {changes})
"""


def written(folder: Path, changes: str) -> Path:
    path = folder / "lemma_of_mine.py"
    path.write_text(FILE.format(changes=changes), encoding="utf-8")
    return path


def named(name: str) -> ProtocolBound:
    found = bounds()[name]
    assert isinstance(found, ProtocolBound)
    return found


def texts(name, task, limit=4, factor=1):
    bound = named(name)
    found = check_small_lengths(bound if factor == 1 else bound.inflated(factor), tasks()[task], limit)
    return [(each.text, each.holds) for each in found]


def test_a_bound_is_somebodys_own_by_where_its_formula_stands():
    bound = named("index-lookup-rnn")
    assert not is_user_bound(bound)
    assert is_user_bound(replace(bound, hidden_bits=lambda task, length: length))


@pytest.mark.parametrize("bits", [1.0, True, -1, None, "3", "x", float("inf")])
def test_a_formula_that_gives_no_whole_number_is_refused(bits):
    index = tasks()["index"]
    bound = named("index-lookup-rnn")
    assert bound.required_bits(8, index) == 8
    with pytest.raises(SeparatrixError, match=r"hidden_bits of index-lookup-rnn gives .* give an int from 0 on"):
        replace(bound, hidden_bits=lambda task, length: bits).required_bits(8, index)


def test_a_recurrent_bound_is_held_against_the_exact_state_bits():
    ((text, holds),) = texts("index-lookup-rnn", "index")
    assert text == "requires no more than the exact state bits at N = 1 to 5" and holds
    ((text, holds),) = texts("index-lookup-rnn", "index", factor=2)
    assert text.startswith("requires 2 bits at N = 1, where 1 are enough") and not holds


def test_what_cannot_be_compared_is_not():
    """No length with so few inputs; from where on a task has several answers; another member of a class; vectors."""
    assert texts("sparse-threshold-transformer-1layer", "sparse-threshold") == []
    assert texts("directed-3-cycle-graph-transformer", "directed-3-cycle") == []
    assert check_small_lengths(named("index-lookup-rnn"), tasks()["index"], 0) == ()
    assert texts("match2-rnn", "match2", limit=8) == [
        ("requires no more than the exact state bits at N = 1 to 1", True)
    ]


def test_the_comparison_ends_where_the_inputs_cannot_be_listed(monkeypatch):
    def refusing(task, length):
        raise SeparatrixError(f"{task.name} at {length}")

    monkeypatch.setattr("separatrix.bounds.consistency._exact_state_bits", refusing)
    assert texts("index-lookup-rnn", "index") == []


def test_other_bounds_are_held_against_protocols_that_send_a_row_or_a_column():
    enough = "the bits of a protocol that sends a row or a column"
    ((text, holds),) = texts("inequality-transformer-1layer", "inequality")
    assert text == f"requires no more than {enough} at N = 2 to 8" and holds
    ((text, holds),) = texts("inequality-transformer-1layer", "inequality", factor=2)
    assert text.startswith("requires 2 bits at N = 2, where 1 are enough") and not holds
    ((_, holds),) = texts("dyck-transformer-1layer", "dyck")
    assert holds


@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda bound: bound.name)
def test_no_bound_of_the_package_passes_what_is_enough_at_any_length(bound):
    for name in bound.task_names:
        task = tasks()[name]
        for about in (64, 1000, 10**6, 2**40):
            assert (
                check_length_arithmetic(bound, task, max(task.minimum_length, about - about % task.length_step)) == ()
            )


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
    assert any(why in each.text for each in check_length_arithmetic(wrong, tasks()[task], length))


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
        found.refuted_by.text == "requires 500 bits at N = 1000, where a model with 10 bits does it: a counter of ones"
    )
    assert "(BHBK24 Theorem 3, test_user_bound.py) for majority: requires 500 bits" in found.in_words()


def test_what_was_not_checked_is_said():
    mine = replace(named("index-lookup-rnn"), task_names=("majority",), reduction=None, hidden_bits=lambda task, n: 1)
    assert (origin(mine), claimed(mine)) == ("test_user_bound.py", "BHBK24 Theorem 3, from test_user_bound.py")
    found = judged(mine, tasks()["majority"], [1000], limit=4)
    assert found.in_words() == ""
    assert found.rests_on(1000) == ("at N = 1000 this rests on the formula in test_user_bound.py; checked up to N = 8")
    assert found.rests_on(8) == ""
    nothing = judged(mine, tasks()["majority"], [1000], limit=0)
    assert nothing.rests_on(1000).endswith("not checked at any length")


def test_every_own_bound_is_judged_and_no_other():
    index = tasks()["index"]
    built_in = named("index-lookup-rnn")
    false = replace(built_in, name="false", hidden_bits=lambda task, n: n + 1, reduction=None)
    true = replace(built_in, name="true", hidden_bits=lambda task, n: n, reduction=None)
    kept, refuted = consistent_bounds([false, built_in, true, built_in.inflated(2)], index, [8], limit=3)
    assert [each.name for each in kept] == ["index-lookup-rnn", "true", "index-lookup-rnn×2"]
    assert [each.bound.name for each in refuted] == ["false"]
    open_to, refuted = limits([false, true], ModelSize(32, 32), index, floating(32))
    assert [each[:2] for each in open_to] == [(1024, "BHBK24 Theorem 3, from test_user_bound.py")]
    assert [each.bound.name for each in refuted] == ["false"]


def test_a_misspelt_reduction_is_named():
    wrong = replace(named("inequality-transformer-1layer"), reduction="equality-to-inequalty")
    with pytest.raises(SeparatrixError, match=r"unknown reduction .* nearest: equality-to-inequality"):
        check_length_arithmetic(wrong, tasks()["inequality"], 8)


# -- bounds from files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ('task_names=("index", "indx")', "unknown task in task_names of mine 'indx'; nearest: index"),
        ('models=("rnn", "rnm")', "unknown class of models in models of mine 'rnm'; nearest: rnn"),
    ],
)
def test_a_bound_that_names_what_there_is_not_is_refused(tmp_path, changes, said):
    """It would be silent: no table has a place where it could be."""
    with using_files([written(tmp_path, changes)]), pytest.raises(UnknownNameError, match=said):
        bounds()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("hidden_bits=lambda task, length: None", "hidden_bits of mine gives None at length"),
        ("hidden_bits=lambda task, length: float('inf')", "hidden_bits of mine gives inf at length"),
        ("hidden_bits=lambda task, length: -1", "hidden_bits of mine gives -1 at length"),
        ("setting=lambda task, length: 3", "setting of mine gives 3 at length .* give a Setting"),
        (
            "hidden_bits=lambda task, length: 0, checks=lambda limit: None",
            "checks of mine gives None; give a tuple of Evidence",
        ),
        ("checks=lambda limit: (True,)", r"checks of mine gives \(True,\); give a tuple of Evidence"),
    ],
)
def test_parts_that_give_something_else_end_in_one_line_wherever_they_are_asked(tmp_path, changes, said):
    with using_files([written(tmp_path, f"{changes}, reduction=None")]), pytest.raises(SeparatrixError, match=said):
        capacity(describe("rnn-1-128"), precision=64, alphabet=2, only=["index-lookup"])


def test_a_bound_from_a_file_stands_beside_the_others_while_the_file_is_in_use(tmp_path):
    with using_files([written(tmp_path, 'task_names=("index",)')]):
        assert bounds()["mine"].task_names == ("index",)
    (tmp_path / "task_of_mine.py").write_text("TASK = None\n", encoding="utf-8")
    with using_files([tmp_path / "task_of_mine.py"]):
        assert "mine" not in bounds() and "index-lookup-rnn" in bounds()


def test_a_formula_of_the_package_for_another_task_is_judged_too(tmp_path):
    """Index lookup needs N bits, and majority does not."""
    majority = tasks()["majority"]
    with using_files([written(tmp_path, 'task_names=("majority",), reduction=None')]):
        kept, refuted = consistent_bounds(protocol_bounds("majority", "rnn"), majority, [64])
        assert [each.name for each in kept] == ["majority-rnn"] and [origin(each.bound) for each in refuted] == [
            "lemma_of_mine.py"
        ]
        assert "requires 64 bits at N = 64" in " ".join(each.text for each in refuted[0].evidence)
        assert not is_user_bound(named("index-lookup-rnn")) and origin(named("index-lookup-rnn")) == ""


def test_capacity_names_a_refuted_bound_and_does_not_use_it(tmp_path):
    model = describe("rnn-1-128")
    before = capacity(model, precision=64, alphabet=2, only=["index-lookup"])
    assert before.refuted == ()
    with using_files([written(tmp_path, "hidden_bits=lambda task, length: 8 * length * length, reduction=None")]):
        after = capacity(model, precision=64, alphabet=2, only=["index-lookup"])
    assert after.limits == before.limits
    ((task, text),) = after.refuted
    assert task == "index-lookup" and text.startswith(
        "mine (a lemma of mine, lemma_of_mine.py) for index-lookup: requires"
    )


# -- reductions and tasks of somebody's own ---------------------------------------------------------------


def test_below_its_smallest_instance_a_reduction_hides_nothing():
    bound, task = named("sparse-threshold-rnn"), tasks()["sparse-threshold"]
    smallest = reductions()["disjointness-to-sparse-threshold"]
    first = smallest.length(smallest.smallest)
    assert check_length_arithmetic(replace(bound, hidden_bits=lambda task, n: 2), task, first) == ()
    (found,) = check_length_arithmetic(replace(bound, hidden_bits=lambda task, n: 2), task, first - 1)
    assert found.text.endswith("where reduction disjointness-to-sparse-threshold hides 0") and not found.holds


def test_a_reduction_says_nothing_about_parameters_that_it_is_not_about():
    """Symbols of 8 bits hide 8 bits each; the reduction is about the 64 symbols of the catalog's task."""
    lookup = tasks()["index-lookup"]
    bound = replace(
        named("index-lookup-alphabet-rnn"), hidden_bits=lambda task, n: n * bits_for(task.parameters()["alphabet"])
    )
    assert check_length_arithmetic(bound, lookup.with_parameters(alphabet=256), 16) == ()
    large = replace(bound, hidden_bits=lambda task, n: 8 * n)
    assert "index-to-index-lookup-packed hides 96" in check_length_arithmetic(large, lookup, 16)[0].text


@dataclass(frozen=True, kw_only=True)
class Coloured(Directed3Cycle):
    """A task from outside whose cells are vectors."""


def test_how_many_bits_a_vector_of_anyones_own_task_has_is_not_known():
    known = tasks()["directed-3-cycle"]
    mine = Coloured(**{each.name: getattr(known, each.name) for each in fields(known)})
    large = replace(named("directed-3-cycle-rnn"), hidden_bits=lambda task, n: n**9, reduction=None)
    assert check_length_arithmetic(large, mine, 16) == ()
    assert [each.holds for each in check_length_arithmetic(large, known, 16)] == [False]


def test_a_part_may_have_as_many_bits_as_the_input():
    """Both halves of eq-ncp are the same numbers: a protocol may need more than half of the input's bits."""
    copied = tasks()["eq-ncp"]
    talking = replace(named("inequality-transformer-1layer"), task_names=("eq-ncp",), reduction=None)
    assert check_length_arithmetic(replace(talking, hidden_bits=lambda task, n: 10), copied, 2) == ()
    (found,) = check_length_arithmetic(replace(talking, hidden_bits=lambda task, n: 11), copied, 2)
    assert found.text == "requires 11 bits at N = 2, where 10 are enough: one party sends all that it has"


def test_a_reduction_whose_inputs_or_bits_do_not_grow_ends(monkeypatch):
    stuck = reductions()["index-to-index-lookup"].corrupted(length=lambda size: 8)
    monkeypatch.setattr("separatrix.bounds.consistency.reductions", lambda: {stuck.name: stuck})
    bound = replace(named("index-lookup-rnn"), reduction=stuck.name)
    assert check_length_arithmetic(bound, tasks()["index-lookup"], 8) == ()
    constant = reductions()["index-to-index-lookup"].corrupted(bits=lambda size: 4)
    with pytest.raises(SeparatrixError, match="hides 4 bits at size 1 and no more at 3; its bits must grow"):
        constant.verified_to(6)


def test_the_token_that_asks_is_looked_at_beyond_the_shortest_length() -> None:
    assert not asks_differently(tasks()["match3-last"]), "the last number is always the same"
    # One input of length 1 asks as every other does; of two symbols on it can be any position.
    assert asks_differently(tasks()["index-lookup"])
    assert asks_differently(tasks()["eq-one"])
