"""The matching and cycle constructions: right answers, sizes, and the pieces behind them."""

from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, arithmetic_named
from separatrix.constructions import Built, Options, constructions
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._dummy import (
    TABLE_BITS,
    circle_scale,
    cosines,
    join_columns,
    ones,
    partners,
    scale_of,
)
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    ExactMatrix,
    Network,
    evaluate,
)
from separatrix.tasks import draws_from

NUMBERS = ("match2-code", "match2", "match3", "match3-last")


def build(name: str, length: int, modulus: int | None = None, **options: Any) -> Built:
    parameters = {} if modulus is None else {"modulus": modulus}
    return constructions()[name].build(length, Options(parameters=parameters, **options))


def network_of(built: Built) -> Network:
    assert isinstance(built.network, Network)
    return built.network


def given_answers(built: Built, inputs: Any) -> list[list[Any]]:
    """What the network answers, in the form of ``solve``: None where nothing is asked."""
    network = network_of(built)
    answers = evaluate(network, inputs, built.arithmetic).answers.tolist()
    found: list[list[Any]] = []
    for row, given_row in zip(inputs.tolist(), answers, strict=True):
        asked = [each is not None for each in built.task.solve(row, built.length)]
        padded = given_row if network.readout.at == "every" else [0] * (len(asked) - 1) + given_row
        found.append([each if wanted else None for each, wanted in zip(padded, asked, strict=True)])
    return found


# -- answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("length", "modulus"), [(2, 3), (2, 4), (3, 5), (3, 8), (4, 3), (4, 6), (5, 3)])
@pytest.mark.parametrize("name", NUMBERS)
def test_every_input_of_a_small_length_is_answered_as_solve_says(name, length, modulus, rounding):
    built = build(name, length, modulus, rounding=rounding)
    seen = 0
    for examples in built.task.enumerate(length):
        expected = [list(built.task.solve(row, length)) for row in examples.inputs.tolist()]
        assert given_answers(built, examples.inputs) == expected
        seen += len(expected)
    assert seen == built.task.count(length)


@pytest.mark.parametrize("length", [3, 4])
def test_every_small_graph_is_answered_as_solve_says(length):
    built = build("directed-3-cycle", length)
    for examples in built.task.enumerate(length):
        expected = [list(built.task.solve(row, length)) for row in examples.inputs.tolist()]
        assert given_answers(built, examples.inputs) == expected


@pytest.mark.parametrize(
    ("name", "length", "modulus"),
    [("match2-code", 200, 1000), ("match2-code", 64, 65536), ("match2", 60, None), ("match3", 32, None),
     ("match3", 20, 1001), ("match3-last", 100, 777), ("directed-3-cycle", 24, None)],
)  # fmt: skip
def test_random_inputs_with_near_misses(name, length, modulus):
    built = build(name, length, modulus)
    examples = built.task.sample(draws_from(numpy.random.default_rng(length)), 8, length)
    answers = evaluate(network_of(built), examples.inputs, built.arithmetic).answers
    if network_of(built).readout.at == "last":
        assert answers[:, 0].tolist() == examples.targets[:, -1].tolist()
        assert set(answers[:, 0].tolist()) == {0, 1}
    else:
        assert answers[examples.read].tolist() == examples.targets[examples.read].tolist()
        assert set(answers[examples.read].tolist()) == {0, 1}


@given(data=st.data(), name=st.sampled_from(("match2-code", "match2")))
@settings(max_examples=25, deadline=None)
def test_rows_of_nothing_but_near_misses(data, name):
    """z among numbers that all miss it by one, with and without one match: the hardest rows there are."""
    length, modulus = 12, 50
    built = build(name, length, modulus)
    z = data.draw(st.integers(1, modulus))
    misses = [data.draw(st.sampled_from((1, -1))) for _ in range(length - 1)]
    others = [(miss - z) % modulus or modulus for miss in misses]
    for row in ([0, z, *others], [0, z, (-z) % modulus or modulus, *others[1:]]):
        assert given_answers(built, numpy.array([row])) == [list(built.task.solve(row, length))]


def test_cosines_run_out_of_float32_and_sign_codes_do_not():
    """Evidence for erratum E10: near misses at M = 2^16, evaluated in floats."""
    length, modulus = 16, 1 << 16
    row = numpy.array([[0, *[7919 * place % modulus + 1 for place in range(1, length + 1)]]])
    row[:, 2::2] = (1 - row[:, 1:-1:2]) % modulus
    expected = [0] * length
    for name, kind, right in (
        ("match2", "float32", False),
        ("match2", "float64", True),
        ("match2-code", "float32", True),
    ):
        built = build(name, length, modulus)
        assert list(built.task.solve(row[0].tolist(), length)) == [None, *expected]
        answers = evaluate(network_of(built), row, arithmetic_named(kind)).answers[0, 1:].tolist()
        assert (answers == expected) == right, (name, kind)


# -- sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NUMBERS, "directed-3-cycle"])
@pytest.mark.parametrize("length", [3, 4, 17, 64])
def test_claimed_width_is_the_built_one(name, length):
    built = build(name, length)
    network = network_of(built)
    code = network.slots.size("key") if "key" in dict(network.slots.parts) else 0
    assert constructions()[name].claimed_width(built.task, length, code) == network.width
    assert network.heads == 1
    assert network.depth == (2 if name == "match3-last" else 1)


@pytest.mark.parametrize(("name", "inner"), [("match2", 3), ("match3", 4)])
def test_the_inner_dimension_does_not_grow(name, inner):
    for length in (4, 16, 64):
        layer = network_of(build(name, length)).layers[0]
        assert layer.heads[0].query.shape[0] == inner


def test_sign_codes_at_the_size_of_the_erratum():
    network = network_of(build("match2-code", 1024, 65536))
    head = network.layers[0].heads[0]
    assert head.query.shape[0] == 65
    gain = Fraction(int(head.query.numerators[0].max()), head.query.denominator) * 64
    assert 14 < gain < 17


def test_precision_of_codes_stays_and_of_cosines_grows_with_the_modulus():
    bits = {
        name: [build(name, 8, m).arithmetic.precision_bits for m in (64, 4096)] for name in ("match2", "match2-code")
    }
    assert bits["match2-code"][0] == bits["match2-code"][1]
    assert bits["match2"][1] >= bits["match2"][0] + 18


def test_original_variant_answers_one_everywhere():
    built = build("match3-last", 4, 7, variant="original")
    for examples in built.task.enumerate(4):
        assert evaluate(network_of(built), examples.inputs, built.arithmetic).answers.all()


def test_bad_requests_end_in_one_line():
    for name, options in (
        ("match3-last", Options(parameters={"exclude_query": False})),
        ("match2", Options(variant="original")),
        ("match2-code", Options(family="no-such-family")),
        ("match2-code", Options(parameters={"modulus": 1})),
    ):
        with pytest.raises(SeparatrixError) as caught:
            constructions()[name].build(4, options)
        assert "\n" not in str(caught.value)
    with pytest.raises(SeparatrixError, match="directed-3-cycle has no network of length 2; choose 3 to"):
        constructions()["directed-3-cycle"].build(2)


# -- pieces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("modulus", [2, 3, 4, 7, 12, 360])
def test_cosines_are_the_nearest_multiples(modulus):
    """Against mathematics that needs no cosine: symmetry, known values, the circle and the three-phase sum."""
    one = 1 << TABLE_BITS
    cos, sin = (cosines(modulus, turns).numerators[:, 0].tolist() for turns in (Fraction(0), Fraction(1, 4)))
    third = cosines(modulus, Fraction(1, 3)).numerators[:, 0].tolist()
    last = cosines(modulus, Fraction(2, 3)).numerators[:, 0].tolist()
    assert cos[-1] == one
    assert sin[-1] == 0
    for place in range(modulus - 1):
        assert cos[place] == cos[modulus - 2 - place]
        assert sin[place] == -sin[modulus - 2 - place]
    for c, s, t, u in zip(cos, sin, third, last, strict=True):
        assert abs(c * c + s * s - one * one) <= 2 * one
        assert abs(c + t + u) <= 2
    if modulus % 4 == 0:
        assert cos[modulus // 4 - 1] == 0
        assert sin[modulus // 4 - 1] == one
    if modulus % 6 == 0:
        assert 2 * cos[modulus // 6 - 1] == one


@given(modulus=st.integers(2, 400))
def test_partners_add_up_to_zero(modulus):
    rows = partners(modulus)
    for number, row in enumerate(rows.tolist(), start=1):
        assert 0 <= row < modulus
        assert (number + row + 1) % modulus == 0


@given(entries=st.integers(1, 1 << 40), fall=st.fractions(Fraction(1, 1000), 1))
def test_scores_leave_room_on_both_sides(entries, fall):
    scores = scale_of(entries, fall, None)
    other = scores.match * (1 - fall)
    assert scores.match - scores.dummy == 2
    # e^x ≥ 2^(10x/7) · 2^(-1) is more than enough room to compare with 3 · entries in whole numbers.
    assert 2 ** int((scores.dummy - other) * 10 / 7) >= entries
    half = scale_of(entries, fall, scores.match / 2)
    assert half.match - half.dummy == 1


@given(entries=st.integers(1, 10**6), modulus=st.integers(2, 10**6))
def test_circle_scores_are_whole(entries, modulus):
    scores = circle_scale(entries, modulus, None)
    assert scores.match.denominator == scores.dummy.denominator == 1
    assert scores.match - scores.dummy == 2


def test_small_pieces():
    assert least_exponent(2, 256) == 8
    assert least_exponent(1024, 5) == 2
    rows = ones(5).rows(numpy.arange(5), FixedPoint(4, 2))
    assert rows.tolist() == [[16]] * 5
    with pytest.raises(SeparatrixError, match="different denominators"):
        join_columns(ExactMatrix(numpy.array([[1]])), ExactMatrix(numpy.array([[1]]), 2))
