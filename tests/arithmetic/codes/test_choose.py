import contextlib
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic.codes import code_from_description, families, sign_code
from separatrix.errors import SeparatrixError, UnknownNameError

QUARTER = Fraction(1, 4)


@pytest.mark.parametrize(
    ("count", "width"),
    [(16, 5), (32, 10), (64, 15), (128, 16), (256, 20), (512, 21), (1024, 31), (2048, 32), (4096, 52)],
)
def test_widths_within_a_quarter_and_every_product(count, width, all_products):
    code = sign_code(count)
    assert code.width == width
    assert all_products(code) == (code.max_inner, code.min_inner)
    assert code.max_inner <= QUARTER


@pytest.mark.parametrize(
    ("bits", "width"),
    [(13, 53), (14, 61), (15, 63), (16, 64), (17, 116), (18, 117), (20, 125), (22, 128), (23, 191), (24, 192)],
)
def test_widths_of_large_codes(bits, width):
    code = sign_code(1 << bits)
    assert code.width == width
    assert code.evidence.startswith("all 2^")
    assert code.max_inner <= QUARTER
    assert code.description_bits <= 4 * bits * bits


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("name", sorted(families()))
def test_every_family_tells_the_truth(name, two_sided, all_products):
    built = 0
    for count, max_inner in ((6, Fraction(1, 2)), (50, QUARTER), (300, QUARTER), (500, Fraction(1, 8))):
        proposals = sorted(families()[name].proposals(count, max_inner, two_sided), key=lambda each: each.width)
        for proposal in proposals[:3]:
            code = families()[name].build(count, proposal.parameters)
            assert (code.count, code.width, code.family) == (count, proposal.width, name)
            assert all_products(code) == (code.max_inner, code.min_inner)
            built += 1
    assert built >= (1 if two_sided else 2)


@pytest.mark.parametrize("name", sorted(families()))
def test_vectors_on_demand_match_the_whole_table(name):
    code = sign_code(200, family=name)
    table = code.signs(range(200))
    assert table.dtype == np.int8 and set(np.unique(table)) == {-1, 1}
    order = np.random.default_rng(0).permutation(200)
    assert np.array_equal(code.signs(order), table[order])
    assert all(np.array_equal(code.signs([each])[0], table[each]) for each in (0, 1, 77, 199))
    assert code.signs([]).shape == (0, code.width)


@settings(deadline=None, max_examples=20)
@given(
    st.integers(2, 400),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), QUARTER, Fraction(1, 8), Fraction(3, 16)]),
    st.booleans(),
)
def test_any_request_is_met_exactly(count, max_inner, two_sided):
    code = sign_code(count, max_inner, two_sided)
    signs = code.signs(range(count)).astype(np.int64)
    gram = signs @ signs.T
    products = gram[~np.eye(count, dtype=bool)]
    assert Fraction(int(products.max()), code.width) == code.max_inner <= max_inner
    assert Fraction(int(products.min()), code.width) == code.min_inner
    assert not two_sided or code.min_inner >= -max_inner


@pytest.mark.parametrize("name", sorted(families()))
def test_descriptions_survive_json(name):
    code = sign_code(100, family=name)
    again = code_from_description(json.loads(json.dumps(code.description())))
    assert again == code
    assert np.array_equal(again.signs(range(100)), code.signs(range(100)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_inner": "1/6"}, "claims max_inner 1/6"),
        ({"min_inner": "0"}, "claims min_inner 0"),
        ({"width": 12}, "claims width 12"),
        ({"count": 65}, "words, not 65"),
        ({"count": 1}, "at least 2"),
        ({"parameters": []}, "object of parameters"),
        ({"parameters": {"shortened": 2}}, "degree is None"),
        ({"parameters": {"degree": "4", "exponents": [1]}}, "degree is '4'"),
        ({"family": "trase"}, "trace"),
    ],
)
def test_inflated_or_malformed_descriptions_are_rejected(change, message):
    data = {**sign_code(64).description(), **change}
    with pytest.raises(SeparatrixError, match=message):
        code_from_description(data)


def test_a_description_must_be_a_complete_object():
    with pytest.raises(SeparatrixError, match="not list"):
        code_from_description([])
    data = sign_code(64).description()
    del data["width"], data["count"]
    with pytest.raises(SeparatrixError, match="lacks count, width"):
        code_from_description(data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 6, "order": 5, "step": 1, "leaders": [1]}, "order 5"),
        ({"degree": 6, "order": 3, "step": 1, "leaders": [70]}, "leaders"),
        ({"degree": 6, "order": 3, "step": 1, "leaders": 7}, "leaders is 7"),
        ({"degree": 40, "order": 3, "step": 1, "leaders": [1]}, "degree is 40"),
    ],
)
def test_bad_code_parameters_are_one_line_errors(parameters, message):
    data = {**sign_code(64, family="orbit").description(), "parameters": {**parameters, "shortened": 0, "punctured": 0}}
    with pytest.raises(SeparatrixError, match=message):
        code_from_description(data)


@pytest.mark.parametrize(
    ("count", "max_inner", "message"),
    [
        (1, QUARTER, "at least 2 vectors, not 1"),
        (16, Fraction(0), "max_inner is 0"),
        (16, Fraction(1), "max_inner is 1"),
        (16, Fraction(-1, 4), "max_inner is -1/4"),
        (1 << 24, Fraction(1, 128), "16777216 vectors within 1/128; give a smaller count"),
    ],
)
def test_impossible_requests_name_the_value_and_the_remedy(count, max_inner, message):
    with pytest.raises(SeparatrixError, match=message):
        sign_code(count, max_inner)


def test_unknown_families_and_missing_members():
    with pytest.raises(UnknownNameError, match="nearest: elliptic"):
        sign_code(16, family="eliptic")
    with pytest.raises(SeparatrixError, match="no elliptic sign code holds"):
        sign_code(1 << 28, family="elliptic")


@pytest.mark.parametrize("indices", [[-1], [16], [[0, 1]]])
def test_indices_are_checked(indices):
    with pytest.raises(SeparatrixError, match=r"integers in 0\.\.15"):
        sign_code(16).signs(indices)


def test_a_linear_code_refuses_more_vectors_than_it_has():
    code = sign_code(16, family="reed-muller")
    with pytest.raises(SeparatrixError, match="words, not 100"):
        code_from_description({**code.description(), "count": 100})


def test_more_words_than_can_be_weighed_are_refused():
    with pytest.raises(SeparatrixError, match="too many words to weigh"):
        sign_code(1 << 29)


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("count", [2, 16, 100, 256])
def test_the_narrowest_code_is_the_narrowest_of_all_families(count, two_sided):
    found = []
    for family in families():
        with contextlib.suppress(SeparatrixError):
            found.append(sign_code(count, two_sided=two_sided, family=family))
    assert sign_code(count, two_sided=two_sided) == min(found, key=lambda code: (code.width, code.description_bits))
