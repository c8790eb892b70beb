"""Bounds: exact arithmetic at every length, the papers' numbers, evidence that runs."""

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.bounds import (
    MODELS,
    Barrier,
    ModelSize,
    OpenQuestion,
    ProtocolBound,
    bounds,
    bounds_for,
    model_named,
    protocol_bounds,
)
from separatrix.bounds.claims._settings import width_by_claim
from separatrix.capacities.report import BOUNDED
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import tasks

NUMBERED = protocol_bounds()


def named(bound) -> str:
    return bound.name


# -- the contract of every entry --------------------------------------------------------------------------


@pytest.mark.parametrize("bound", bounds().values(), ids=named)
def test_every_entry_says_what_it_is_and_its_evidence_runs(bound):
    assert set(bound.task_names) <= set(tasks())
    assert set(bound.models) <= set(MODELS)
    assert bound.kind == {ProtocolBound: "bound", Barrier: "barrier", OpenQuestion: "conjecture"}[type(bound)]
    if not bound.extension:
        assert bound.claim.startswith(("BHBK24", "SHT23"))
    found = bound.evidence(4)
    assert found
    for each in found:
        assert each.holds, each.text
        json.dumps(each.described())


@pytest.mark.parametrize("bound", NUMBERED, ids=named)
def test_numbers_are_exact_at_every_length(bound):
    for name in bound.task_names:
        task = tasks()[name]
        lengths = [length for length in range(task.minimum_length, 200) if length % task.length_step == 0]
        required = [bound.required_bits(length, task) for length in lengths]
        assert required == sorted(required), "what is needed never falls with the length"
        for length in (lengths[-1], 20000):
            for precision, heads in ((1, 1), (8, 3), (32, 1)):
                width = bound.smallest_width(length, precision, heads, task=task)
                assert bound.possible(length, ModelSize(width, precision, heads), task)
                assert width == 1 or not bound.possible(length, ModelSize(width - 1, precision, heads), task)
                text = bound.formula(length, precision, heads, task=task)
                assert str(bound.required_bits(length, task)) in text
                assert f"N = {length}" in text


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_longest_length_is_the_inverse_of_the_smallest_width(data):
    bound = data.draw(st.sampled_from(NUMBERED))
    name = data.draw(st.sampled_from(bound.task_names))
    task = tasks()[name].with_parameters(**BOUNDED.get(name, {}))
    size = ModelSize(*data.draw(st.tuples(*(st.integers(1, most) for most in (6, 9, 3, 2)))))
    longest = bound.longest_length(size, task)
    lengths = [length for length in range(task.minimum_length, 1500) if length % task.length_step == 0]
    possible = [length for length in lengths if bound.possible(length, size, task)]
    if longest is None:
        assert possible[-1] == lengths[-1]
    elif longest < 1500:
        assert (possible[-1] if possible else 0) == longest
    else:
        assert bound.possible(longest, size, task)
        assert not bound.possible(longest + task.length_step, size, task)


def test_state_bits_may_replace_width_times_precision():
    bound = bounds()["index-lookup-rnn"]
    assert bound.longest_length(ModelSize(1, 1, state_bits=777)) == 777
    assert bound.longest_length(ModelSize(10**9, 64)) == 64 * 10**9
    with pytest.raises(SeparatrixError, match="width=0"):
        ModelSize(0, 8)
    with pytest.raises(SeparatrixError, match="negative"):
        ModelSize(1, 8, state_bits=-1)


# -- the papers' numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "length", "precision", "width"),
    [
        ("index-lookup-rnn", 1024, 32, 32),  # N/p
        ("index-lookup-rnn", 1025, 32, 33),
        ("associative-recall-rnn", 1024, 32, 32),  # N/p
        ("nearest-neighbour-rnn", 1024, 32, 16),  # N/2p
        ("inequality-rnn", 1024, 32, 16),  # N/2p
        ("inequality-dfa", 1024, 32, 16),
    ],
)
def test_recurrent_bounds_are_the_papers(name, length, precision, width):
    bound = bounds()[name]
    assert bound.smallest_width(length, precision) == bound.paper_width(length, precision) == width


def test_the_dyck_bound_in_numbers():
    bound = bounds()["dyck-transformer-1layer"]
    # 2 + (4·32 + 2·9 + 64m) ≥ 399 gives m ≥ 251/64; the paper's 399/(3(32 + log2 400)) is 3.3.
    assert bound.required_bits(400) == 399
    assert bound.smallest_width(400, 32) == 4
    assert bound.paper_width(400, 32) == 4
    # Without a condition on m the count is weaker at small lengths and stronger at large ones (E13).
    assert bound.smallest_width(64, 8) <= bound.paper_width(64, 8)
    assert bound.smallest_width(10**6, 32) > 2 * bound.paper_width(10**6, 32)
    assert bound.smallest_width(4000, 32, heads=4) < bound.smallest_width(4000, 32)


@given(st.integers(0, 3000), st.integers(1, 40), st.integers(2, 5000), st.integers(1, 4))
@settings(deadline=None, max_examples=20)
def test_the_claimed_width_is_exact(bits, precision, length, heads):
    width = width_by_claim(bits, precision, length, heads)

    def reaches(m: int) -> bool:
        # 3mH(p + log2 N) ≥ bits, without a logarithm: N^(3mH) ≥ 2^(bits - 3mHp).
        factor = 3 * m * heads
        return length**factor >= 2 ** max(0, bits - factor * precision)

    assert reaches(width)
    assert width == 1 or not reaches(width - 1)


def test_other_dyck_languages():
    bound = bounds()["dyck-transformer-1layer"]
    four = tasks()["dyck"].with_parameters(types=4)
    deep = tasks()["dyck"].with_parameters(depth=3)
    one = tasks()["dyck"].with_parameters(types=1)
    assert bound.required_bits(40, four) == 2 * 20 + 19
    assert bound.required_bits(40, deep) == 20
    assert bound.required_bits(40, one) == 19


def test_graph_bound_grows_with_the_length_over_eighteen_times_the_precision():
    bound = bounds()["directed-3-cycle-graph-transformer"]
    width = bound.smallest_width(36_000, 20)
    assert width == -(-(12_000**2) // (2 * 36_000 * 20)) == 100
    assert bound.smallest_width(36_000, 20, heads=5, layers=4) == 5


def test_a_small_modulus_hides_fewer_bits():
    match3 = tasks()["match3"].with_parameters(modulus=20)
    assert bounds()["match3-transformer-1layer"].required_bits(1001, match3) == 8
    assert bounds()["match3-transformer-1layer"].required_bits(1001) == 500
    match2 = tasks()["match2"].with_parameters(modulus=20)
    assert bounds()["match2-rnn"].required_bits(1001, match2) == 9


# -- barriers, conjectures, names -------------------------------------------------------------------------


def test_the_two_layer_barrier_on_built_networks():
    barrier = bounds()["two-layer-protocols"]
    factors = []
    for length in (64, 256, 1024, 4096):
        built = constructions()["equality-partition"].build(length)
        size = ModelSize(built.network.width, built.arithmetic.precision_bits, built.network.heads)
        factors.append(Fraction(barrier.hidden_bits(length), size.width * size.precision * size.heads))
    # Four times the length makes N/log² N more than twice as large here.
    assert all(later > 2 * earlier for earlier, later in pairwise(factors))


def test_the_conjecture_has_no_number():
    conjecture = bounds()["match3-conjecture"]
    assert not isinstance(conjecture, ProtocolBound)
    assert not hasattr(conjecture, "smallest_width")
    assert {each.kind for each in conjecture.evidence(3)} == {"cited"}
    assert [each.kind for each in bounds_for("match3", "transformer-2layer")] == ["conjecture"]


def test_unknown_names_are_explained():
    assert model_named("rnn") == "rnn"
    with pytest.raises(UnknownNameError, match="nearest: transformer"):
        bounds_for("dyck", "transformer-3layer")
    with pytest.raises(UnknownNameError, match="nearest: dyck"):
        bounds_for("dick", "rnn")
    with pytest.raises(UnknownNameError, match="task of dyck-transformer-1layer"):
        bounds()["dyck-transformer-1layer"].required_bits(10, tasks()["index"])


def test_bounds_on_graphs_grow_faster_where_cells_have_n_numbers():
    everything = bounds()["first-layer-fnn"]
    assert everything.growth_for("directed-3-cycle") == "quadratic"
    assert everything.growth_for("index-lookup") == everything.growth == "linear"
