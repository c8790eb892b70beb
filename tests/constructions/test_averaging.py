"""Sparse averaging and its relatives: right answers, claimed sizes, dual certificates and power sums behind them."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy
import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Balls, FixedPoint, Floating, outside_bound
from separatrix.arithmetic.interface import UndecidedError
from separatrix.constructions import Built, Options, constructions
from separatrix.constructions.theorems._averaging import SetCodes
from separatrix.constructions.theorems.match3_local import STEP_BITS, window_queries
from separatrix.errors import SeparatrixError
from separatrix.networks import CellSets, DualPart, Network, PowerSums, SignRows, evaluate
from separatrix.networks.decoding import nearest_whole
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.tasks import draws_from
from separatrix.tasks.problems._matching import Matching
from separatrix.tasks.problems.match3_local import Match3Local
from separatrix.tasks.problems.sparse_averaging import SparseAveraging
from tests.arithmetic.codes.test_dual import dual_certificate

NAMES = ("sparse-averaging", "match3-local", "match3-heads")
SMALL: list[tuple[str, int, dict[str, Any]]] = [
    ("sparse-averaging", 2, {"sparsity": 1, "resolution": 3}),
    ("sparse-averaging", 3, {"sparsity": 2, "resolution": 1}),
    ("sparse-averaging", 3, {"sparsity": 3, "resolution": 2, "dimension": 2}),
    ("match3-local", 2, {"modulus": 3}),
    ("match3-local", 4, {"modulus": 6, "window": 1}),
    ("match3-local", 5, {"modulus": 4, "window": 2}),
    ("match3-heads", 2, {"modulus": 2}),
    ("match3-heads", 3, {"modulus": 9}),
    ("match3-heads", 4, {"modulus": 6}),
    ("match3-heads", 6, {"modulus": 3}),
]


def build(name: str, length: int, parameters: dict[str, Any] | None = None, **options: Any) -> Built:
    return constructions()[name].build(length, Options(parameters=parameters or {}, **options))


def network_of(built: Built) -> Network:
    assert isinstance(built.network, Network)
    return built.network


def agrees_with_solve(built: Built, inputs: Any) -> bool:
    answers = evaluate(built.network, inputs, built.arithmetic).answers.tolist()
    for row, given_row in zip(inputs.tolist(), answers, strict=True):
        for expected, found in zip(built.task.solve(row, built.length), given_row, strict=True):
            if expected is not None and found != (list(expected) if isinstance(expected, tuple) else expected):
                return False
    return True


# -- answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("name", "length", "parameters"), SMALL)
def test_every_input_of_a_small_length_is_answered_as_solve_says(name, length, parameters, rounding):
    built = build(name, length, parameters, rounding=rounding)
    seen = 0
    for examples in built.task.enumerate(length, 4096):
        assert agrees_with_solve(built, examples.inputs)
        seen += len(examples)
    assert seen == built.task.count(length)


@pytest.mark.parametrize(
    ("name", "length", "parameters", "count"),
    [("sparse-averaging", 128, {"sparsity": 8}, 1), ("sparse-averaging", 40, {"dimension": 3, "resolution": 5}, 3),
     ("sparse-averaging", 24, {"sparsity": 24}, 2), ("match3-local", 64, {}, 4), ("match3-local", 40, {"window": 6}, 2),
     ("match3-local", 12, {"window": 40, "modulus": 30}, 10), ("match3-heads", 24, {}, 5),
     ("match3-heads", 40, {"modulus": 100}, 3)],
)  # fmt: skip
def test_random_inputs_at_larger_lengths(name, length, parameters, count):
    built = build(name, length, parameters)
    examples = built.task.sample(draws_from(length), count, length)
    assert agrees_with_solve(built, examples.inputs)


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_sets_and_values_are_averaged(data):
    """All cells with one set, all with their own, values at the ends of their range: nothing but the sum counts."""
    length, q, reach = 9, 3, 8
    built = build("sparse-averaging", length)
    subset = st.lists(st.integers(1, length), min_size=q, max_size=q, unique=True).map(sorted)
    value = st.sampled_from((-reach, -1, 0, 1, reach))
    cells = [[place, *data.draw(subset), data.draw(value)] for place in range(1, length + 1)]
    assert agrees_with_solve(built, numpy.array([cells]))


@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_triples_at_the_edge_of_a_window(data):
    """Ones and one number that completes two of them: only positions within T see it."""
    length, window, modulus = 12, data.draw(st.integers(1, 4)), 40
    built = build("match3-local", length, {"window": window, "modulus": modulus})
    row = [0, *[1] * length]
    row[data.draw(st.integers(1, length))] = modulus - 2
    row[data.draw(st.integers(1, length))] = data.draw(st.integers(1, modulus))
    assert agrees_with_solve(built, numpy.array([row]))


def test_other_arithmetics_give_the_same_sums():
    built = build("sparse-averaging", 8)
    examples = built.task.sample(draws_from(1), 4, 8)
    for arithmetic in (Floating("float64"), Balls(128)):
        answers = evaluate(built.network, examples.inputs, arithmetic).answers
        numpy.testing.assert_array_equal(answers, examples.targets)


# -- sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters"), [(8, {}), (100, {"dimension": 2, "resolution": 4}), (1024, {"sparsity": 8})]
)
@pytest.mark.parametrize("variant", ["repaired", "half"])
def test_width_of_sparse_averaging(length, parameters, variant):
    built = build("sparse-averaging", length, parameters, variant=variant)
    network, task = network_of(built), built.task
    assert isinstance(task, SparseAveraging)
    k = network.dual_parts[0].rule.width
    claimed = constructions()["sparse-averaging"].claimed_width(task, length, k)
    assert network.width == claimed == 2 * k + task.dimension
    if length == 1024:
        # A quarter of the positions, where the bound 1/2 of the slides takes nearly all of them.
        assert k == {"repaired": 256, "half": 982}[variant]
        # Codes, a generator of 10 rows each, instead of a table.
        assert sum(part.size_bits(50) for part in (*network.embedding, *network.dual_parts)) == 2 * 10 * k + 4 * 50


@pytest.mark.parametrize(("length", "parameters"), [(4, {}), (10, {"window": 3}), (64, {}), (5, {"window": 9})])
def test_width_of_local_matching(length, parameters):
    built = build("match3-local", length, parameters)
    network, task = network_of(built), built.task
    assert isinstance(task, Match3Local)
    k, q = network.slots.size("key"), min(2 * task.window + 1, length)
    block = 1 + (task.modulus_at(length) - 1).bit_length()
    assert network.width == constructions()["match3-local"].claimed_width(task, length, k)
    assert network.width == 2 * k + (q + 1) * block + q + 1


@pytest.mark.parametrize("length", [3, 16, 40])
def test_heads_times_dimension_is_the_length(length):
    built = build("match3-heads", length)
    network, task = network_of(built), built.task
    layer: Any = network.layers[0]
    assert isinstance(task, Matching)
    assert network.depth == 1
    assert sum(head.value.shape[0] for head in layer.heads) == network.heads * 1 == length
    assert network.width == constructions()["match3-heads"].claimed_width(task, length, 0) == 2 * length + 1
    prime = network.readout.power_sums.prime if network.readout.power_sums else 0
    assert prime > length and prime >= task.modulus_at(length)


@pytest.mark.parametrize(
    ("name", "parameters"), [("match3-local", {"window": 200}), ("match3-heads", {"modulus": 2**22})]
)
def test_sizes_that_would_not_fit_end_in_one_line(name, parameters):
    with pytest.raises(SeparatrixError) as caught:
        build(name, 300, parameters)
    assert "\n" not in str(caught.value)
    assert "too" in str(caught.value)


# -- dual certificates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "q"), [(8, 3), (16, 4), (12, 2), (32, 3)])
def test_every_dual_certificate_keeps_the_bound(length, q):
    """⟨w_S, u_j⟩ is exactly 1 on S and below the bound elsewhere, and its norm is at most 2√q; for about 150 sets."""
    network = network_of(build("sparse-averaging", length, {"sparsity": q}))
    rule = network.dual_parts[0].rule
    signs = rule.signs(numpy.arange(length))
    k = rule.width
    bound = outside_bound(rule.signs(numpy.arange(1, rule.count)).sum(axis=1).tolist(), k, q)
    assert bound is not None and bound <= Fraction(q, q + 1)
    sets = list(combinations(range(length), q))
    for chosen in sets[:: -(-len(sets) // 150)]:
        w = dual_certificate(signs[list(chosen)])
        products = [sum((int(u) * each for u, each in zip(row, w, strict=True)), Fraction(0)) for row in signs]
        assert all(products[j] == 1 for j in chosen)
        assert max([Fraction(-1), *(products[j] for j in range(length) if j not in chosen)]) <= bound
        # Vectors of norm 1 are u/√k, and then the certificate is √k·w.
        assert k * sum(each * each for each in w) <= 4 * q


@given(st.integers(1, 6), st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_dual_certificates_of_any_signs_are_exact_or_zero(q, k, seed):
    signs = numpy.random.default_rng(seed).integers(0, 2, (q, k)) * 2 - 1
    products = signs.astype(object) @ dual_certificate(signs)
    dependent = fmpz_mat(signs.tolist()).rank() < q
    assert products.tolist() == ([0] * q if dependent else [1] * q)


@given(st.lists(st.integers(-24, 24), min_size=4, max_size=12), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_bound_grows_with_the_set(inner, q):
    bound, larger = outside_bound(inner, 24, q), outside_bound(inner, 24, q + 1)
    if larger is not None:
        assert bound is not None and bound <= larger < 1


def test_the_vectors_of_a_cell_are_those_of_its_windows():
    rule = SignRows(
        numpy.array([[0, 1, 1, 0, 1, 0, 1], [1, 0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]], dtype=numpy.uint8)
    )
    arithmetic = FixedPoint(8, 3)
    by_cell = DualPart("a", rule, CellSets((0, 3), 1), Fraction(3))
    table = window_queries(SetCodes(rule, Fraction(1, 2)), 5, 1, Fraction(3))
    assert table.shape == (5, 7)
    cells = numpy.array([[[1, 2, 3], [2, 3, 4], [3, 4, 5]]])
    steps = FixedPoint(2, STEP_BITS)
    assert by_cell.rows(cells, steps)[0].tolist() == table.encoded(steps)[1:4].tolist()
    assert by_cell.rows(cells, arithmetic).shape == (1, 3, 7)
    with pytest.raises(SeparatrixError, match="outside 0 to 7"):
        by_cell.rows(numpy.array([[[1, 2, 9]]]), arithmetic)


@pytest.mark.parametrize("sets", [CellSets((3, 3)), CellSets((-1, 2))])
def test_sets_that_make_no_sense_are_refused(sets):
    rule = SignRows(numpy.ones((3, 4), dtype=numpy.uint8))
    with pytest.raises(SeparatrixError, match="slot 'a'"):
        DualPart("a", rule, sets, Fraction(1))


@pytest.mark.parametrize("name", NAMES)
def test_stored_networks_answer_alike(name):
    built = build(name, 6)
    loaded = from_bytes(to_bytes(built.network), "stored")
    examples = built.task.sample(draws_from(2), 3, 6)
    first, second = (evaluate(each, examples.inputs, built.arithmetic).answers for each in (built.network, loaded))
    assert first.tolist() == second.tolist()


# -- power sums --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "modulus", "prime"), [(1, 5, 5), (2, 7, 7), (3, 6, 7), (4, 5, 5), (5, 4, 7)])
def test_power_sums_determine_the_set(length, modulus, prime):
    """All M^N inputs: the roots are exactly the numbers that occur, and other multisets have other sums."""
    sums = PowerSums(modulus, prime)
    sketches: dict[tuple[int, ...], tuple[int, ...]] = {}
    for row in product(range(modulus), repeat=length):
        sketch = tuple(sum(y**t for y in row) % prime for t in range(1, length + 1))
        assert sums.values(sketch).tolist() == sorted(set(row))
        assert sketches.setdefault(sketch, tuple(sorted(row))) == tuple(sorted(row))


def test_power_sums_need_a_prime_field_that_is_large_enough():
    for modulus, prime in ((5, 9), (8, 7), (1, 7), (3, 2**31 + 11)):
        with pytest.raises(SeparatrixError, match="prime"):
            PowerSums(modulus, prime)


def test_rounding_is_exact_and_undecided_balls_say_so():
    fixed = FixedPoint(10, 3)
    values = [Fraction(-3, 2), Fraction(-1499, 1000), Fraction(1, 2), Fraction(499, 1000), Fraction(7)]
    assert nearest_whole(fixed.encode(values), fixed).tolist() == [-1, -1, 1, 0, 7]
    balls = Balls(53)
    third = balls.encode([Fraction(1, 3)])
    assert nearest_whole(third, balls).tolist() == [0]
    with pytest.raises(UndecidedError):
        # 3/2 · 1/3 is a ball around 1/2.
        nearest_whole(balls.multiply(third, balls.encode([Fraction(3, 2)])), balls)
