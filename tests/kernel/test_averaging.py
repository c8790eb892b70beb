"""The rule for sums over named sets: what networks and claims mean, the rule's bounds, obligations, random claims."""

import copy
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, floor
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import arithmetic_named, dual_multiples
from separatrix.certificates.proofs import states_itself, tokens_of
from separatrix.constructions import Options, constructions
from separatrix.networks import SignRows, evaluate
from separatrix.networks.store import from_bytes
from separatrix.provers import prove
from separatrix.tasks import own_specification, tasks
from separatrix_kernel import averaging, evaluation, sets
from separatrix_kernel.checker import check
from separatrix_kernel.layers import Layers
from separatrix_kernel.network import Reader, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.rules import Claim
from separatrix_kernel.sets import NamedSums, multiples
from separatrix_kernel.specification import read_specification
from tests.kernel.averaging_claims import CUBE, ORTHOGONAL, SIMPLEX, campaign, network, stated
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import inputs_of, right_answers, wrong_input
from tests.kernel.mutants import rules_accept
from tests.kernel.nearest_claims import written

# -- the specification ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters"),
    [
        (2, {"sparsity": 1, "resolution": 2}),
        (2, {"sparsity": 2, "dimension": 2, "resolution": 2}),
        (3, {"sparsity": 2, "resolution": 1}),
        (2, {"sparsity": 1, "dimension": 3, "resolution": 1}),
    ],
)
def test_inputs_and_answers_are_the_tasks(length, parameters):
    task = tasks()["sparse-averaging"].with_parameters(**parameters)
    stated_so = own_specification(task, length)
    assert stated_so is not None
    inputs, answers = read_specification(stated_so)
    assert isinstance(answers, NamedSums)
    rows = [row for chunk in task.enumerate(length) for row in chunk.inputs.tolist()]
    solved = {tuple(tokens_of(row, answers)): (row, task.solve(row, length)) for row in rows}
    assert set(filter(answers.admits, inputs.all())) == set(inputs_of(stated_so)) == set(solved)
    for tokens, (row, right) in solved.items():
        assert answers.cells(tokens) == row
        assert right_answers(stated_so, tokens) == right
        assert answers.right(tokens) == [number for each in right_answers(stated_so, tokens) for number in each]
    random = Random(1)
    assert {answers.draw(inputs, random) for _ in range(20)} <= set(solved)
    assert len({answers.draw(inputs, random) for _ in range(200)}) > min(20, len(solved) // 2)
    assert max(max(answers.draw(inputs, random)) for _ in range(50)) == 2 * answers.norm
    assert answers.known({}) is None
    assert task.count(length) == answers.count(inputs) == len(solved)
    n, q = length, parameters["sparsity"]
    assert answers.covered(inputs) == f"(C({n},{q})*{round((len(solved) // comb(n, q) ** n) ** (1 / n))})^{n}"
    held = answers.held(inputs)
    assert (held.tokens, held.runs) == ([range(1)] * length, [(length, range(1))])
    assert answers.words()


def test_the_task_states_itself_at_great_lengths():
    for parameters in ({}, {"sparsity": 64}, {"dimension": 3, "resolution": 4}):
        assert states_itself(tasks()["sparse-averaging"].with_parameters(**parameters), 300)


GOOD = stated(3, 2, 2, 2, "fixed:N=8,Kc=3,down")["specification"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cells", 2), ("cells", 4), ("cells", 0), ("cells", True), ("named", 1), ("named", 0), ("named", 4),
        ("dimension", 1), ("dimension", 0), ("dimension", 17), ("norm", 1), ("norm", 0), ("norm", "2"),
        ("norm", 1 << 60), ("more", 1), ("kind", "named-products"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(field, value):
    read_specification(GOOD)
    with pytest.raises(RefusedError):
        read_specification({**GOOD, "answer": {**GOOD["answer"], field: value}})


@pytest.mark.parametrize(
    "runs",
    [
        [(6, [1, 4]), (6, [0, 5])], [(6, [0, 3]), (6, [1, 6])], [(6, [0, 3]), (6, [0, 4])], [(6, [0, 4]), (6, [0, 5])],
        [(6, [0, 3]), (7, [0, 5])], [(7, [0, 3]), (5, [0, 5])], [(5, [0, 3]), (7, [0, 5])],
        [(5, [0, 3]), (1, [0, 2]), (6, [0, 5])], [(6, [0, 3]), (5, [0, 5]), (1, [0, 6])],
    ],
)  # fmt: skip
def test_positions_and_coordinates_come_from_one_range_each(runs):
    inputs = [{"count": count, "tokens": tokens} for count, tokens in runs]
    with pytest.raises(RefusedError):
        read_specification({**GOOD, "inputs": inputs})


def test_more_vectors_than_can_be_counted_are_refused(monkeypatch):
    for sizes, count in (((3, 2, 2, 2), 25), ((3, 2, 1, 3), 7), ((1, 1, 1, 1), 3)):
        content = stated(*sizes, "fixed:N=8,Kc=3,down")
        monkeypatch.setattr(sets, "MOST_VALUES", count)
        read_specification(content["specification"])
        monkeypatch.setattr(sets, "MOST_VALUES", count - 1)
        with pytest.raises(RefusedError, match="vectors"):
            read_specification(content["specification"])


def test_vectors_of_norm_0_alone_are_refused():
    with pytest.raises(RefusedError, match="norm"):
        read_specification(stated(3, 2, 2, 0, "fixed:N=8,Kc=3,down")["specification"])


# -- evaluation ----------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 12), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_multiples_are_those_of_the_projects_linear_algebra(count, width, seed):
    random = Random(seed)
    words = [random.getrandbits(width) if width else 0 for _ in range(count)]
    gram = [[width - 2 * (a ^ b).bit_count() for b in words] for a in words]
    numerators, denominator = dual_multiples(numpy.array(gram))
    assert multiples(gram) == [Fraction(each, denominator) for each in numerators]


def random_cells(random: Random, positions: int, named: int, dimension: int, count: int) -> list[list[int]]:
    """Cells whose numbers are whatever has a sign vector."""
    return [
        [*(random.randint(1, count) for _ in range(1 + named)), *(random.randint(-3, 3) for _ in range(dimension))]
        for _ in range(positions)
    ]


@given(st.integers(0, 10**9))
@settings(max_examples=80, deadline=None)
def test_plain_evaluation_is_that_of_the_project(seed):
    random = Random(seed)
    positions, named, dimension = random.randint(2, 4), random.randint(1, 3), random.randint(1, 2)
    bits, width = random.randint(2, 3), random.randint(1, 6)
    code = [[random.randrange(2) for _ in range(width)] for _ in range(bits)]
    gain = Fraction(random.choice((1, -3, 7, 100, (1 << 61) + 1)), random.choice((1, 2, 3, 97, (1 << 61) - 1)))
    factors = [random.choice((1, 2, Fraction(1, 3), Fraction(7, 2), -1)) for _ in range(6)]
    scoring = random.choice(("softmax", "relu", "hard"))
    file = network(positions, named, dimension, code, gain, *factors, scoring=scoring)
    head, dual = file.structure["layers"][0]["heads"][0], file.structure["duals"][0]
    head["mask"] = random.choice(("none", "causal", "strict"))
    file.structure["layers"][0]["residual"] = random.random() < 0.3
    if random.random() < 0.5:
        # The cell's number and its set: a number that comes twice makes the vectors dependent.
        dual["range"], dual["number"] = [0, 1 + named], 1
    file.tensors["bias"][2][:] = [random.randint(-2, 2) for _ in range(dimension)]
    if random.random() < 0.5:
        file.structure["duals"].append({**copy.deepcopy(dual), "generator": "more", "slot": "key"})
        file.tensors["more"] = copy.deepcopy(file.tensors["asked.generator"])
    name = random.choice(("fixed:N=2,Kc=5,down", "fixed:N=3,Kc=1,nearest", "fixed:N=7,Kc=3,nearest"))
    cells = random_cells(random, positions, named, dimension, 1 << bits)
    data, numbers = file.to_bytes(), Numbers(name)
    read = Reader(data, numbers).network()
    found = evaluation.evaluate(read, [0] * positions, numbers, positions, cells, 1)
    theirs = evaluate(from_bytes(data, "network"), numpy.array([cells]), arithmetic_named(name)).answers
    assert found == theirs.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("raw", "whole"), [(0, 0), (3, 0), (4, 1), (5, 1), (-4, 0), (-5, -1), (-12, -1), (12, 2), (64, 8)]
)
def test_readouts_are_rounded_to_the_nearest_whole_number_and_ties_upwards(raw, whole):
    assert evaluation.whole(raw, Numbers("fixed:N=8,Kc=1,down")) == whole


def test_a_position_without_a_sign_vector_has_no_meaning():
    content = stated(3, 1, 1, 1, "fixed:N=8,Kc=3,down")
    numbers, data = Numbers(content["arithmetic"]), network(3, 2, 1, SIMPLEX, 20).to_bytes()
    found = Reader(data, numbers).network()
    for number in (0, 5):
        with pytest.raises(RefusedError, match="sign vector"):
            evaluation.evaluate(found, [0] * 3, numbers, 3, [[1, 2, number, 0]] * 3, 1)
    assert evaluation.evaluate(found, [0] * 3, numbers, 3, [[1, 2, 4, 1]] * 3, 1) == [2, 2, 2]


# -- certified networks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters", "options"),
    [
        (2, {"sparsity": 1, "resolution": 3}, {}),
        (2, {"sparsity": 2}, {"rounding": "nearest"}),
        (8, {}, {}),
        (8, {}, {"rounding": "nearest"}),
        (8, {"sparsity": 1}, {"variant": "half"}),
        (16, {"sparsity": 16}, {}),
        (20, {}, {"variant": "half", "rounding": "nearest"}),
        (33, {"sparsity": 2}, {}),
        (64, {"sparsity": 64}, {}),
        (300, {"dimension": 2, "resolution": 5}, {}),
        (1024, {"sparsity": 8}, {}),
        (1 << 14, {}, {}),
    ],
)
def test_constructions_are_proved_for_all_sets(length, parameters, options):
    built = constructions()["sparse-averaging"].build(length, Options(parameters=parameters, **options))
    found = prove(built.network, built.task, length, built.arithmetic)
    assert found is not None
    assert found.accepted.rules == "layers, averaging"
    assert found.accepted.inputs_covered.startswith(f"(C({length},{built.task.parameters()['sparsity']})*")


def test_few_inputs_are_also_enumerated():
    content, data = proved("sparse-averaging", 3, {"sparsity": 2, "resolution": 1})
    plain = {**content, "proof": {"rule": "enumeration"}}
    assert check(plain, data).rules == "enumeration, sets"
    file = File(data)
    file.structure["layers"][0]["heads"][0]["mask"] = "causal"
    changed = file.to_bytes()
    with pytest.raises(RefusedError):
        check(claimed(plain, changed), changed)
    file.structure["readout"].update(decoding="bits")
    changed = file.to_bytes()
    with pytest.raises(RefusedError, match="rounded"):
        check(claimed(plain, changed), changed)


# -- the rule's bounds, computed a second time ----------------------------------------------------------------


def weights_stated(
    sizes: tuple[int, int, int, int], code: list[list[int]], gain: Fraction, a: Fraction, b: Fraction, relu: bool,
    numbers: Numbers,
) -> averaging.Weights | None:  # fmt: skip
    """The weights of the docstring; None where its conditions on scores do not hold."""
    n, q, _, _ = sizes
    one, limit, width = numbers.scale, numbers.limit, len(code[0])
    vectors = [
        [(-1) ** sum(row[c] * (word >> bit) % 2 for bit, row in enumerate(code)) for c in range(width)]
        for word in range(1 << max(0, (n - 1).bit_length()))
    ]
    products = [sum(x * y for x, y in zip(vectors[0], other, strict=True)) for other in vectors[1:]]
    negative = Fraction(-sum(sorted(min(0, each) for each in products)[: q - 1]), width)
    positive = Fraction(sum(sorted((max(0, each) for each in products), reverse=True)[:q]), width)
    if a <= 0 or b <= 0 or gain <= 0 or positive + negative >= 1:
        return None
    outside = positive / (1 - negative)
    embedded = one * gain * q / (width * (1 - negative)) + 1
    query = a * embedded + 1
    if embedded > limit or query > limit or width * (b * query + 1) > limit:
        return None
    apart = max([0, *((width - each) // 2 for each in products)])
    loose = (a.denominator != 1, b.denominator != 1)
    r = apart * ((2 if numbers.rounding == "down" else 1) * b * (a + loose[0]) + loose[1])
    score = one * a * b * gain
    g = score * (1 - outside) - r
    if g <= -1 or ceil(g) < 0:
        return None
    errors = width * (b * (a + loose[0]) + loose[1])
    if relu:
        least, most = ceil(score - errors), floor(score + errors)
        t, p = least, max(0, most - ceil(g))
        low = t - floor(r)
        if q * most + (n - q) * p > limit:
            return None
    else:
        t, low, p = one, numbers.power(max(-floor(r), -limit)), numbers.power(max(-ceil(g), -limit))
    if low <= 0:
        return None
    total = t + (q - 1) * low
    high = numbers.quotient(one * t, total)
    light = numbers.quotient(one * low, low + (q - 1) * t + (n - q) * p)
    single = (n - q) * numbers.quotient(one * p, p + total)
    together = Fraction(one * (n - q) * p, (n - q) * p + total)
    together += Fraction(n - q, 2) if numbers.rounding == "nearest" else 0
    return averaging.Weights(light, high, min(single, floor(together)))


def judged(
    sizes: tuple[int, int, int, int], code: list[list[int]], gain: Fraction, ways: list[Fraction], relu: bool,
    bias: int, numbers: Numbers,
) -> bool:  # fmt: skip
    """Whether the rule of the docstring holds for ``network`` with these factors, each one a fraction of its own."""
    n, q, _, norm = sizes
    one, limit = numbers.scale, numbers.limit
    a, b, value, output, readout = (Fraction(numbers.encode(w.numerator, w.denominator), one) for w in ways[:5])
    feature, weights = ways[5], weights_stated(sizes, code, gain, a, b, relu, numbers)
    if weights is None:
        return False
    light, high, rest = weights.least, weights.most, weights.outside
    # One coordinate: all others are alike, and nothing mixes them.
    slope, size = one * feature, norm * one * abs(feature)
    error = Fraction(slope.denominator > 1)
    size += error
    fits, off = size <= limit, value.denominator > 1
    slope, error, size = value * slope, abs(value) * error + off, abs(value) * size + off
    fits = fits and size <= limit
    exact = not error and (slope / one).denominator == 1
    share = Fraction(q * high + rest, one)
    slope, error, size = slope / one, share * error + n * (not exact), share * size + n * (not exact)
    fits = fits and size <= limit
    for factor in (output, readout):
        off = factor.denominator > 1
        slope, error, size = factor * slope, abs(factor) * error + off, abs(factor) * size + off
        fits = fits and size <= limit
    fits = fits and size + abs(bias) <= limit
    worst = max(abs(high * slope - one), abs(light * slope - one))
    return fits and 2 * (norm * (q * worst + rest * abs(slope)) + error + abs(bias)) < one


def accepts(content: dict[str, Any], data: bytes) -> bool:
    """Whether the rules accept a claim, without the last net."""
    try:
        rules_accept(claimed(content, data), data)
    except RefusedError:
        return False
    return True


def compared(case: dict[str, Any]) -> bool:
    """The verdict about a network, which must be that of the docstring."""
    names = ("query", "key", "value", "output", "readout", "feature")
    ways = [Fraction(case[name]) for name in names]
    n, q, d, norm = sizes = case["sizes"]
    factors: dict[str, Any] = dict(zip(names, ways, strict=True))
    file = network(n, q, d, case["code"], case["gain"], scoring="relu" if case["relu"] else "softmax", **factors)
    file.tensors["bias"][2][:] = [case["bias"]] * d
    numbers = Numbers(case["arithmetic"])
    file.structure["readout"]["bias"]["denominator"] = numbers.scale
    right = judged(sizes, case["code"], Fraction(case["gain"]), ways, case["relu"], case["bias"], numbers)
    assert accepts(stated(n, q, d, norm, case["arithmetic"]), file.to_bytes()) == right, case
    return right


def weights_found(n: int, q: int, code: list[list[int]], gain: Fraction, relu: bool, name: str) -> Any:
    """The kernel's weights of a network of vectors with one number; None where it refuses."""
    data = network(n, q, 1, code, gain, scoring="relu" if relu else "softmax").to_bytes()
    content, numbers = claimed(stated(n, q, 1, 1, name), data), Numbers(name)
    claim = Claim(Reader(data, numbers).network(), *read_specification(content["specification"]), numbers)
    rule = averaging.Averaging(Layers(claim, content["proof"]["statements"]))
    layer: Any = rule.network.layers[0]
    try:
        return rule._weights(layer.heads[0])
    except RefusedError:
        return None


def test_weights_are_those_that_the_rule_states():
    random, found = Random(5), 0
    for _ in range(400):
        code = random.choice(
            (SIMPLEX, ORTHOGONAL, CUBE, [[1]], [[0, 1, 1, 1], [1, 0, 1, 1]], PRODUCTS_OF_1, BOTH_SIGNS)
        )
        n = random.randint(1, 1 << len(code))
        q, relu = random.randint(1, n), random.random() < 0.5
        name = f"fixed:N={random.choice((2, 3, 10))},Kc={random.randint(1, 5)},{random.choice(('down', 'nearest'))}"
        numbers, gain = Numbers(name), Fraction(random.randint(1, 400), random.choice((8, 20, 100)))
        right = weights_stated((n, q, 1, 1), code, gain, Fraction(1), Fraction(1), relu, numbers)
        assert weights_found(n, q, code, gain, relu, name) == right, (n, q, code, gain, relu, name)
        found += right is not None
    assert found > 100


def test_a_score_may_reach_the_end_of_the_range_and_no_further():
    scale = Numbers("fixed:N=8,Kc=2,down").scale
    # One sign, so that a coordinate, a query and a score are the factor itself, each with one unit for its rounding.
    for units, inside in ((3, True), (2, False)):
        gain = Fraction(scale * scale - units, scale)
        assert (weights_found(2, 1, [[1]], gain, False, "fixed:N=8,Kc=2,down") is not None) == inside


def edge(case: dict[str, Any], name: str, other: str, good: int, bad: int) -> None:
    """Compare verdicts up to where two numbers next to each other have different ones.

    The first factor is multiplied by the number's share of the good one, or is the number if it is 0; the other one is
    divided by it.
    """

    def changed(number: int) -> dict[str, Any]:
        share = Fraction(number, good or 1)
        more = {other: case[other] / share} if other else {}
        return {**case, name: case[name] * share if case[name] else number, **more}

    if compared(changed(bad)) or not compared(changed(good)):
        return
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if compared(changed(middle)):
            good = middle
        else:
            bad = middle


PRODUCTS_OF_1 = [[*row, 0] for row in CUBE]
BOTH_SIGNS = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0]]
"""The products are 1, -1 and -3 of 7."""


def test_bounds_are_those_that_the_rule_states():
    random, accepted = Random(3), 0
    for _ in range(60):
        base = random.choice((2, 4, 10))
        exponent = random.randint(4, 14) if base == 2 else random.randint(2, 6)
        code = random.choice((SIMPLEX, ORTHOGONAL, CUBE, [[1]], [[0, 1, 1, 1], [1, 0, 1, 1]], PRODUCTS_OF_1))
        n = random.randint(1 if random.random() < 0.1 else 2, 1 << len(code))
        q = random.randint(1, n)
        ways = [Fraction(random.choice((1, 1, 1, 2, Fraction(1, 2), Fraction(7, 3), 5))) for _ in range(5)]
        case: dict[str, Any] = {
            "sizes": (n, q, random.choice((1, 1, 2)), random.choice((1, 1, 2, 7))), "code": code,
            "query": ways[0], "key": ways[1], "value": ways[2], "output": ways[3], "feature": ways[4],
            "readout": q / ways[2] / ways[3] / ways[4], "relu": random.random() < 0.3, "bias": 0,
            "gain": Fraction(random.randint(20, 120), 4) / ways[0] / ways[1],
            "arithmetic": f"fixed:N={base},Kc={exponent},{random.choice(('down', 'nearest'))}",
        }  # fmt: skip
        if not compared(case):
            continue
        accepted += 1
        far, ends = 1 << 40, [(name, times, 1, 1 << 40) for name, times in PAIRS]
        ends += [("gain", "", 10**3, 0), ("gain", "", 1, far)]
        ends += [("readout", "", 10**6, 0), ("readout", "", 10**6, 2 * 10**6)]
        ends += [("bias", "", 0, 10**6), ("bias", "", 0, -(10**6))]
        for name, other, good, bad in random.sample(ends, 4):
            edge(case, name, other, good, bad)
    assert accepted > 20


PAIRS = (("value", "output"), ("feature", "value"), ("output", "readout"), ("query", "gain"), ("key", "gain"))
"""Factors of which one may be multiplied while the other is divided."""


# -- forged claims, one for each obligation ------------------------------------------------------------------

RIGHT = stated(3, 2, 1, 1, "fixed:N=8,Kc=4,down")
PLANE = stated(2, 1, 2, 1, "fixed:N=8,Kc=4,down")
BASE: dict[str, Any] = {"positions": 3, "named": 2, "dimension": 1, "code": ORTHOGONAL, "gain": 24}
FLAT: dict[str, Any] = {"positions": 2, "named": 1, "dimension": 2, "code": [[0, 1, 1, 1]], "gain": 30}


def forged(content: dict[str, Any], file: File) -> bool:
    """Whether the rules accept a claim, which must be right then."""
    data = file.to_bytes()
    if not accepts(content, data):
        return False
    assert wrong_input(claimed(content, data), data) is None
    return True


def is_wrong(content: dict[str, Any], file: File) -> bool:
    """Whether an input is answered wrongly."""
    data = file.to_bytes()
    return wrong_input(claimed(content, data), data) is not None


def head_of(file: File) -> dict[str, Any]:
    """The head."""
    return file.structure["layers"][0]["heads"][0]


def rows_of(file: File, name: str) -> list[list[int]]:
    """A tensor of two axes as rows."""
    _, (rows, columns), numbers = file.tensors[name]
    return [numbers[row * columns : row * columns + columns] for row in range(rows)]


def with_rows(file: File, name: str, rows: list[list[int]], columns: int | None = None) -> None:
    """Other rows for a tensor."""
    kind, shape, _ = file.tensors[name]
    file.tensors[name] = (kind, [len(rows), shape[1] if columns is None else columns], [x for row in rows for x in row])


@pytest.mark.parametrize(
    "change",
    [
        {}, {"key": 2, "query": Fraction(1, 2)}, {"query": 3, "gain": 8}, {"value": 2, "output": Fraction(1, 2)},
        {"query": Fraction(10003, 10000)}, {"value": Fraction(10003, 10000)}, {"readout": Fraction(20006, 10000)},
        {"feature": Fraction(1, 3), "value": 3}, {"output": -1, "readout": -2}, {"code": SIMPLEX, "scoring": "relu"},
        {"scoring": "relu"}, {"code": CUBE}, {"code": SIMPLEX}, {"key": Fraction(1, 3), "query": 3},
    ],
)  # fmt: skip
def test_small_networks_are_accepted(change):
    for rounding in ("down", "nearest"):
        content = {**RIGHT, "arithmetic": f"fixed:N=8,Kc=4,{rounding}"}
        assert forged(content, network(**{**BASE, **change}))
        if "scoring" not in change:
            readout = change.get("readout", 2) / Fraction(2)
            plane = {**PLANE, "arithmetic": content["arithmetic"]}
            assert forged(plane, network(**{**FLAT, **change, "code": [[0, 1, 1, 1]], "readout": readout}))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"gain": 0}, True), ({"gain": -24}, True), ({"gain": 1}, True), ({"gain": 1 << 20}, False),
        ({"query": -1}, True), ({"key": -1}, True), ({"query": -1, "key": -1}, False), ({"query": 0}, True),
        ({"readout": 1}, True), ({"readout": -2}, True), ({"value": 0}, True), ({"output": 0}, True),
        ({"scoring": "linear"}, True), ({"scoring": "leftmost"}, True),
        ({"code": [[0, 1, 0, 1], [0, 1, 0, 1]]}, True), ({"code": [[0, 0, 0, 1], [0, 0, 0, 0]]}, True),
        ({"readout": Fraction(5, 2)}, True), ({"value": 1 << 20}, True), ({"feature": 1 << 20}, True),
        ({"output": 1 << 20}, True),
    ],
)  # fmt: skip
def test_networks_that_compute_something_else_are_refused(change, wrong):
    file = network(**{**BASE, **change})
    assert is_wrong(RIGHT, file) == wrong
    assert not forged(RIGHT, file)


def test_queries_and_keys_are_compared_coordinate_by_coordinate():
    base = network(**BASE)
    for name, other in (("query", "key"), ("key", "query")):
        file = base.copy()
        with_rows(file, name, rows_of(file, name)[1:] + rows_of(file, name)[:1])
        assert is_wrong(RIGHT, file)
        assert not forged(RIGHT, file)
        # The same order on both sides is another order of one sum.
        with_rows(file, other, rows_of(file, other)[1:] + rows_of(file, other)[:1])
        assert forged(RIGHT, file)
    for change in (
        lambda rows: rows[:-1], lambda rows: [*rows, rows[0]], lambda rows: [rows[0], *rows[:-1]], lambda rows: [],
        lambda rows: [[2 * each for each in rows[0]], *rows[1:]], lambda rows: [[0] * len(rows[0]), *rows[1:]],
    ):  # fmt: skip
        file = base.copy()
        for name in ("query", "key"):
            with_rows(file, name, change(rows_of(file, name)))
        assert not forged(RIGHT, file)
    for name in ("query", "key"):
        file = base.copy()
        rows = rows_of(file, name)
        rows[0][0] = 1
        with_rows(file, name, rows)
        assert not forged(RIGHT, file)


def test_queries_read_sets_and_keys_positions():
    for name, other in (("query", "key"), ("key", "query")):
        file = network(**BASE)
        with_rows(file, name, rows_of(file, other))
        assert is_wrong(RIGHT, file)
        assert not forged(RIGHT, file)
    # Turned round, each key tells who asks for it.
    file = network(**BASE)
    queries, keys = rows_of(file, "query"), rows_of(file, "key")
    with_rows(file, "query", keys)
    with_rows(file, "key", queries)
    assert not forged(RIGHT, file)


@pytest.mark.parametrize(
    "change",
    [{"range": [0, 2]}, {"range": [2, 3]}, {"range": [1, 2]}, {"range": [1, 4], "number": 0}, {"number": 0}],
)
def test_sets_are_those_that_cells_name(change):
    file = network(**BASE)
    file.structure["duals"][0].update(change)
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


def test_sets_and_keys_have_the_same_sign_vectors():
    for name in ("asked.generator", "key.generator"):
        file = network(**BASE)
        file.tensors[name][2][1] ^= 1
        assert is_wrong(RIGHT, file)
        assert not forged(RIGHT, file)
    # A code of more words has those of the smaller one, and others.
    file = network(**BASE)
    file.tensors["key.generator"] = ("U8", [3, 4], [*file.tensors["key.generator"][2], 1, 1, 1, 1])
    assert not forged(RIGHT, file)
    file.tensors["asked.generator"] = file.tensors["key.generator"]
    assert forged(RIGHT, file)


def table_of_keys(file: File) -> dict[str, Any]:
    """The keys as a table."""
    signs = [[(-1) ** (a * (n & 1) + b * (n >> 1)) for a, b in zip(*ORTHOGONAL, strict=True)] for n in range(3)]
    return {"kind": "table", "table": written(file, "table", signs)}


@pytest.mark.parametrize(
    "change",
    [
        {"source": "token"}, {"tokens": [1, 1]}, {"positions": [1, 3]}, {"positions": [0, 2]}, {"indices": "order"},
        {"positions": [1, 4]},
    ],
)  # fmt: skip
def test_keys_are_the_sign_vectors_of_their_positions(change):
    file = network(**BASE)
    if "indices" in change:
        file.tensors["order"] = ("I64", [3], [0, 2, 1])
    file.structure["embedding"][0].update(change)
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


def test_keys_are_sign_vectors_and_may_go_on_after_the_last_position():
    file = network(**BASE)
    file.structure["embedding"][0]["positions"] = [0, 4]
    file.structure["embedding"][0]["tokens"] = [0, 5]
    assert forged(RIGHT, file)
    del file.tensors["key.generator"]
    file.structure["embedding"][0].update(rule=table_of_keys(file), positions=[0, 3])
    assert not is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


@pytest.mark.parametrize("slot", ["value", "asked", "key"])
@pytest.mark.parametrize("kind", ["part", "feature", "dual"])
def test_nothing_else_writes_where_the_head_reads(slot, kind):
    file = network(**BASE)
    width = dict(file.structure["slots"])[slot]
    if kind == "part":
        rule = {"kind": "table", "table": written(file, "more", [[0] * width, [9] * width, [0] * width])}
        part = file.structure["embedding"][0]
        file.structure["embedding"].append({**part, "slot": slot, "rule": rule})
    elif kind == "feature":
        file.structure["features"].append({"slot": slot, "matrix": written(file, "more", [[0, 0, 0, 5]] * width)})
    else:
        bits = [each for row in ORTHOGONAL for each in row[:width]]
        file.tensors["more"] = ("U8", [2, width], bits)
        file.structure["duals"].append({**file.structure["duals"][0], "slot": slot, "generator": "more"})
    # Twice the same set is twice the gain, and no two vectors of one sign are independent.
    assert is_wrong(RIGHT, file) == (kind != "dual" or slot == "key")
    assert not forged(RIGHT, file)


def test_what_writes_elsewhere_does_not_matter():
    file = network(**BASE)
    file.structure["slots"].append(["more", 1])
    for name in ("query", "key", "value", "readout"):
        with_rows(file, name, [[*row, 0] for row in rows_of(file, name)], len(rows_of(file, name)[0]) + 1)
    with_rows(file, "output", [*rows_of(file, "output"), [0]])
    rule = {"kind": "table", "table": written(file, "more", [[1], [2], [3]])}
    file.structure["embedding"].append({**file.structure["embedding"][0], "slot": "more", "rule": rule})
    assert forged(RIGHT, file)
    # Until the values read it as well.
    rows = rows_of(file, "value")
    rows[0][-1] = 1
    with_rows(file, "value", rows)
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


def test_values_come_from_the_cells_vectors():
    for column in range(3):
        file = network(**BASE)
        file.tensors["feature"][2][column] = 1
        assert is_wrong(RIGHT, file)
        assert not forged(RIGHT, file)
    for column in (1, 5):
        file = network(**BASE)
        file.tensors["value"][2][column] = 1
        assert is_wrong(RIGHT, file)
        assert not forged(RIGHT, file)


@pytest.mark.parametrize("mask", ["causal", "strict"])
def test_all_cells_are_seen(mask):
    file = network(**BASE)
    head_of(file)["mask"] = mask
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


def test_hard_attention_is_not_covered():
    file = network(**{**BASE, "scoring": "hard"})
    assert not forged(RIGHT, file)


def more_heads(file: File, output: int) -> None:
    """A second head that adds a multiple of the same average."""
    head = copy.deepcopy(head_of(file))
    for name in ("query", "key", "value", "output"):
        file.tensors[f"second.{name}"] = copy.deepcopy(file.tensors[name])
        head[name]["numerators"] = f"second.{name}"
    file.tensors["second.output"][2][:] = [output * each for each in file.tensors["output"][2]]
    file.structure["layers"][0]["heads"].append(head)


def test_one_head_writes_what_is_read():
    file = network(**BASE)
    more_heads(file, 0)
    assert forged(RIGHT, file)
    file = network(**BASE)
    more_heads(file, 1)
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)
    # The second head writes only the first of two coordinates.
    file = network(**FLAT)
    more_heads(file, 1)
    _, (_, columns), numbers = file.tensors["second.output"]
    numbers[:] = [0 if place % columns else each for place, each in enumerate(numbers)]
    assert is_wrong(PLANE, file)
    assert not forged(PLANE, file)
    file = network(**BASE)
    file.structure["layers"][0]["heads"] = []
    for name in ("query", "key", "value", "output"):
        del file.tensors[name]
    assert not forged(RIGHT, file)


def test_nothing_is_added_to_averages():
    file = network(**BASE)
    file.structure["layers"][0]["residual"] = True
    assert is_wrong(RIGHT, file)
    assert not forged(RIGHT, file)


@pytest.mark.parametrize("place", [0, 1])
def test_feed_forwards_before_or_after_averages_are_refused(place):
    for size in (0, 1):
        file = network(**BASE)
        width = sum(each for _, each in file.structure["slots"])
        layer = {
            "kind": "feed-forward", "residual": True, "inner": written(file, "inner", [[0] * width]),
            "inner_bias": written(file, "inner_bias", [[1]]),
            "outer": written(file, "outer", [[size]] + [[0]] * (width - 1)),
            "outer_bias": written(file, "outer_bias", [[0]] * width),
        }  # fmt: skip
        file.structure["layers"].insert(place, layer)
        for kind in ("feed-forward", "idle"):
            stated_so = [{"kind": "average"}]
            stated_so.insert(place, {"kind": kind})
            content = {**RIGHT, "proof": {"rule": "layers", "statements": stated_so}}
            assert forged(content, file) == (size == 0 and kind == "idle")


def test_coordinates_of_sums_are_their_own():
    assert forged(PLANE, network(**FLAT))
    for name in ("readout", "value"):
        file = network(**FLAT)
        with_rows(file, name, rows_of(file, name)[::-1])
        assert is_wrong(PLANE, file)
        assert not forged(PLANE, file)
    # Turned twice they are in their places again.
    with_rows(file, "readout", rows_of(file, "readout")[::-1])
    assert forged(PLANE, file)
    # A share of the other coordinate counts, here up to just below a half.
    for share, accepted in ((0, True), (49, True), (51, False)):
        file = network(**FLAT)
        rows = [[100 * each for each in row] for row in rows_of(file, "readout")]
        rows[1][0] = share
        with_rows(file, "readout", rows)
        file.structure["readout"]["matrix"]["denominator"] = 100
        assert forged(PLANE, file) == accepted


def test_a_bias_may_use_what_is_left_of_a_half():
    for number, accepted in ((49, True), (-49, True), (51, False), (-51, False)):
        file = network(**BASE)
        file.tensors["bias"][2][0] = number
        file.structure["readout"]["bias"]["denominator"] = 100
        assert forged(RIGHT, file) == accepted
        assert is_wrong(RIGHT, file) != accepted


@pytest.mark.parametrize("kind", ["match", "fetch", "count", "feed-forward", "idle", "attend", "averages"])
def test_the_statement_must_be_that_of_the_rule(kind):
    assert not forged({**RIGHT, "proof": {"rule": "layers", "statements": [{"kind": kind}]}}, network(**BASE))


def test_another_number_of_cells_positions_or_numbers_is_refused():
    base = network(**BASE)
    for sizes in ((3, 1, 1, 1), (3, 3, 1, 1), (2, 2, 1, 1), (3, 2, 2, 1), (4, 2, 1, 1)):
        assert not forged(stated(*sizes, RIGHT["arithmetic"]), base)
    # One number that the network answers, and two that are due.
    file = network(**{**FLAT, "dimension": 2})
    with_rows(file, "readout", rows_of(file, "readout")[:1])
    with_rows(file, "bias", [[0]])
    assert not forged(PLANE, file)
    file = network(**BASE)
    file.structure["readout"]["at"] = "last"
    assert not forged(RIGHT, file)


@pytest.mark.parametrize("decoding", ["bits", "argmax", "exact"])
def test_readouts_are_rounded(decoding):
    file = network(**BASE)
    file.structure["readout"]["decoding"] = decoding
    assert not forged(RIGHT, file)
    assert not forged({**RIGHT, "proof": {"rule": "enumeration"}}, file)


def test_no_other_claim_is_about_rounded_readouts_or_sets():
    content, data = proved("index-lookup", 4)
    file = File(data)
    file.structure["readout"]["decoding"] = "round"
    assert not accepts(content, file.to_bytes())
    content, data = proved("nearest-neighbour", 4, {"points": "hypercube", "dimension": 2, "margin": "1"})
    for proof in (content["proof"], {"rule": "enumeration"}):
        assert accepts({**content, "proof": proof}, data)
        file = File(data)
        slot, width = file.structure["slots"][0]
        file.tensors["more"] = ("U8", [2, width], [0] * 2 * width)
        file.structure["duals"] = [
            {"slot": slot, "generator": "more", "gain": [1, 1], "sets": "cell", "range": [0, 1], "number": 0}
        ]
        with pytest.raises(RefusedError, match="sets of positions"):
            check(claimed({**content, "proof": proof}, file.to_bytes()), file.to_bytes())


def test_what_is_left_of_the_range_after_relu_scores():
    """Three shares on the set and none elsewhere; in a narrower range their sum is cut off."""
    for named, base, accepted in ((3, 8, True), (1, 8, True), (3, 2, False)):
        content = stated(3, named, 1, 1, f"fixed:N={base},Kc=4,down")
        case = {**BASE, "named": named, "code": SIMPLEX, "gain": 400 if base == 8 else 2}
        assert forged(content, network(**case, scoring="relu")) == accepted


@pytest.mark.parametrize(
    "change",
    [
        {"slot": "nowhere"}, {"slot": "value"}, {"more": 1}, {"gain": [24]}, {"gain": [24, 0]}, {"gain": [24, -1]},
        {"gain": [24.0, 1]}, {"gain": [(1 << 62) + 1, 1]}, {"gain": [1, (1 << 62) + 1]}, {"gain": 24},
        {"sets": "table"}, {"range": [1, 5]}, {"range": [2, 2]}, {"range": [3, 1]}, {"range": [1]}, {"number": "1"},
        {"number": 1 << 63}, {"generator": "feature"}, {"generator": "key.generator"}, {"gain": [-(1 << 62) - 1, 1]},
        {"number": -(1 << 63)},
    ],
)  # fmt: skip
def test_parts_that_read_sets_are_read_strictly(change):
    numbers, file = Numbers(RIGHT["arithmetic"]), network(**BASE)
    Reader(file.to_bytes(), numbers).network()
    file.structure["duals"][0].update(change)
    with pytest.raises(RefusedError):
        Reader(file.to_bytes(), numbers).network()


def test_sets_need_cells():
    file = network(**BASE)
    file.structure["features"] = []
    del file.tensors["feature"]
    with pytest.raises(RefusedError, match="set 0"):
        check(claimed(RIGHT, file.to_bytes()), file.to_bytes())


def test_the_last_net_runs_sets(monkeypatch):
    data = network(**BASE).to_bytes()
    check(claimed(RIGHT, data), data)
    data = network(**{**BASE, "gain": -24}).to_bytes()
    monkeypatch.setattr("separatrix_kernel.checker.LAST_NET", 8)
    monkeypatch.setattr(Claim, "prove", lambda *_: "layers")
    with pytest.raises(RefusedError, match="answered wrongly"):
        check(claimed(RIGHT, data), data)


def test_inner_products_are_those_of_all_pairs():
    random = Random(2)
    for _ in range(20):
        bits, width = random.randint(1, 4), random.randint(1, 9)
        code = [[random.randrange(2) for _ in range(width)] for _ in range(bits)]
        positions = random.randint(1, 1 << bits)
        named = random.randint(1, positions)
        content = stated(positions, named, 1, 1, "fixed:N=8,Kc=2,down")
        numbers = Numbers(content["arithmetic"])
        network_read = Reader(network(positions, named, 1, code, 1).to_bytes(), numbers).network()
        assert isinstance(network_read, Transformer)
        inputs, answers = read_specification(content["specification"])
        claim = Claim(network_read, inputs, answers, numbers)
        rule = averaging.Averaging(averaging_layers(claim))
        signs = SignRows(numpy.array(code, dtype=numpy.uint8)).signs(numpy.arange(1 << (positions - 1).bit_length()))
        found = sorted((signs @ signs[0])[1:].tolist())
        inner = rule._inner_products(network_read.duals[0])
        # Of equal ones no more than matter.
        assert inner == sorted(each for n in set(found) for each in [n] * min(found.count(n), named))
        pairs = {int(a @ b) for a, b in combinations(signs[:positions], 2)}
        assert pairs <= set(inner)


def averaging_layers(claim: Claim) -> Any:
    """The layers' rule about a claim of averages."""
    return Layers(claim, [{"kind": "average"}])


def test_what_the_rules_accept_of_random_claims_is_right_on_every_input():
    found = campaign(120, 5)
    assert found["wrong"] == 0
    assert min(found["right"], found["refused"]) > 20
