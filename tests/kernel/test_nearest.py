"""The rule for the nearest point: bounds of scores against all points, obligations one by one, and random claims."""

import copy
from fractions import Fraction
from itertools import product
from math import ceil, floor
from random import Random
from typing import Any

import pytest

from separatrix.certificates.proofs import states_itself, tokens_of
from separatrix.constructions import Options, constructions
from separatrix.networks.store import to_bytes
from separatrix.provers import prove
from separatrix.tasks import draws_from, own_specification, tasks
from separatrix_kernel import nearest
from separatrix_kernel.checker import check
from separatrix_kernel.embedding import View
from separatrix_kernel.evaluation import embed, score, weigh
from separatrix_kernel.network import Attention, Feature, Head, Matrix, Part, Reader, Readout, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.points import Nearest
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.rules import Claim
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import inputs_of, right_answers, wrong_input
from tests.kernel.mutants import EXTREME, rules_accept
from tests.kernel.nearest_claims import campaign, network, stated

CORNERS = {"points": "hypercube", "dimension": 2, "margin": "1"}


# -- the specification ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters"),
    [
        (2, {"dimension": 2, "margin": "1/2"}),
        (4, {"dimension": 1, "margin": "1"}),
        (4, {"dimension": 2, "margin": "1/3"}),
        (2, {"dimension": 3, "labels": 3, "margin": "1/2"}),
    ],
)
def test_inputs_and_answers_are_the_tasks(length, parameters):
    task = tasks()["nearest-neighbour"].with_parameters(points="hypercube", **parameters)
    stated_so = own_specification(task, length)
    inputs, answers = read_specification(stated_so)
    assert isinstance(answers, Nearest)
    rows = [row for chunk in task.enumerate(length) for row in chunk.inputs.tolist()]
    solved = {tuple(tokens_of(row, answers)): (row, task.solve(row, length)) for row in rows}
    assert solved
    assert set(filter(answers.admits, inputs.all())) == set(inputs_of(stated_so)) == set(solved)
    for tokens, (row, right) in solved.items():
        assert answers.cells(tokens) == row
        assert answers.right(tokens) == right_answers(stated_so, tokens) == [each for each in right if each is not None]
        assert [place for place, each in enumerate(right) if each is not None] == [2 * each for each in answers.asking]
    random = Random(1)
    assert {answers.draw(inputs, random) for _ in range(20)} <= {*solved, None}
    assert answers.known({}) is None
    assert task.count(length) == answers.count(inputs)


@pytest.mark.parametrize("parameters", [{}, {"dimension": 3}, {"points": "hypercube"}, {"margin": "1/1000"}])
def test_samples_keep_the_promise_and_points_beyond_it_do_not(parameters):
    task = tasks()["nearest-neighbour"].with_parameters(**parameters)
    assert states_itself(task, 8)
    inputs, answers = read_specification(task.specification(8))
    assert isinstance(answers, Nearest)
    random = Random(2)
    drawn = [answers.draw(inputs, random) for _ in range(5)]
    assert all(tokens is not None and answers.admits(tokens) for tokens in drawn) or parameters.get("dimension") == 3
    (row,) = task.sample(draws_from(0), 1, 8).inputs.tolist()
    tokens = tokens_of(row, answers)
    assert answers.admits(tokens)
    # A point that is met twice has no margin.
    assert not answers.admits(
        [*tokens[: answers.dimension], *tokens[: answers.dimension], *tokens[2 * answers.dimension :]]
    )


def test_norms_are_those_of_the_task_at_both_ends():
    task = tasks()["nearest-neighbour"].with_parameters(dimension=1)
    _, answers = read_specification(task.specification(2))
    assert isinstance(answers, Nearest)
    cells = task.sample(draws_from(0), 1, 2).inputs
    for far in (-2, -1, 0, 1, 2):
        moved = cells.copy()
        moved[0, 0::2, 2] = (1 << 20) + far
        tokens = tokens_of(moved[0].tolist(), answers)
        kept = bool(task.admissible(moved, 2)[0])
        inside = all(each in answers.values for each in tokens[:2])
        assert (inside and answers.admits(tokens)) == kept == (abs(far) <= 1)


GOOD = stated(3, 2, (-1, 2, 2), (2, 2), 2)["specification"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("points", 1), ("points", 4), ("points", True), ("dimension", 1), ("dimension", 0), ("queries", 0),
        ("queries", 3), ("first", 1 << 41), ("first", -(1 << 41)), ("step", 0), ("step", (1 << 40) + 1),
        ("norms", [2]), ("norms", [3, 2]), ("norms", [-1, 2]), ("norms", [0, (1 << 128) + 1]), ("ahead", 0),
        ("ahead", 5), ("ahead", "1"), ("more", 1), ("kind", "furthest"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(field, value):
    read_specification(GOOD)
    with pytest.raises(RefusedError):
        read_specification({**GOOD, "answer": {**GOOD["answer"], field: value}})


@pytest.mark.parametrize(
    "runs",
    [
        [(6, [1, 3]), (2, [0, 2])], [(6, [0, 2]), (2, [1, 2])], [(5, [0, 2]), (1, [0, 3]), (2, [0, 2])],
        [(6, [0, 2]), (1, [0, 2]), (1, [0, 3])], [(6, [0, 2]), (3, [0, 2])], [(8, [0, 1])],
    ],
)  # fmt: skip
def test_coordinates_and_labels_come_from_one_range_each(runs):
    inputs = [{"count": count, "tokens": tokens} for count, tokens in runs]
    if runs == [(8, [0, 1])]:
        assert read_specification({**GOOD, "inputs": inputs})[0].tokens == [range(1)] * 8
        return
    with pytest.raises(RefusedError):
        read_specification({**GOOD, "inputs": inputs})


# -- certified networks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters", "options"),
    [
        (2, {}, {}),
        (16, {}, {}),
        (16, {}, {"rounding": "nearest"}),
        (16, {}, {"attention": "hard"}),
        (16, {}, {"attention": "hard", "rounding": "nearest"}),
        (16, {"margin": "1/1000", "dimension": 5}, {}),
        (64, {"points": "hypercube", "dimension": 32, "margin": "1/100"}, {}),
        (4, {"points": "hypercube", "dimension": 3, "margin": "1"}, {}),
    ],
)
def test_constructions_are_proved_for_all_points(length, parameters, options):
    built = constructions()["nearest-neighbour"].build(length, Options(parameters=parameters, **options))
    found = prove(built.network, built.task, length, built.arithmetic)
    assert found is not None
    assert found.accepted.rules == "layers, nearest"
    assert "as promised" in found.accepted.inputs_covered


@pytest.mark.parametrize("variant", ["query-scale", "unmasked", "clamped-labels"])
def test_what_the_paper_wrote_is_refused(variant):
    content, _ = proved("nearest-neighbour", 32)
    data = to_bytes(constructions()["nearest-neighbour"].build(32, Options(variant=variant)).network)
    with pytest.raises(RefusedError):
        check(claimed(content, data), data)


def test_a_margin_that_is_not_promised_is_not_used():
    content, data = proved("nearest-neighbour", 16, {"margin": "1/10"})
    check(content, data)
    answer = content["specification"]["answer"]
    for more in ({"ahead": answer["ahead"] // 4}, {"norms": [0, 100 * answer["norms"][1]]}):
        with pytest.raises(RefusedError):
            check({**content, "specification": {**content["specification"], "answer": {**answer, **more}}}, data)
    wider = {**answer, "norms": [0, answer["norms"][1]]}
    check({**content, "specification": {**content["specification"], "answer": wider}}, data)


def test_few_points_are_also_enumerated():
    content, data = proved("nearest-neighbour", 4, CORNERS)
    plain = {**content, "proof": {"rule": "enumeration"}}
    assert check(plain, data).rules == "enumeration, points"
    file = File(data)
    file.structure["layers"][0]["heads"][0]["mask"] = "none"
    changed = file.to_bytes()
    assert wrong_input(claimed(plain, changed), changed) is not None
    with pytest.raises(RefusedError):
        check(claimed(plain, changed), changed)


# -- bounds of scores ----------------------------------------------------------------------------------------


def sparse(rows: list[list[int]]) -> tuple[Any, ...]:
    """Rows as the kernel keeps them."""
    return tuple(tuple((column, each) for column, each in enumerate(row) if each) for row in rows)


def random_head(
    random: Random, numbers: Numbers, points: int, d: int, size: int, unit: int, labels: int
) -> Transformer:
    """A network of one head that compares points, mostly; two coordinates after those of points are constants."""
    one, width, positions = numbers.scale, size + 2, 2 * points - 1

    def weight() -> int:
        if random.random() < 0.04:
            return numbers.encode(random.choice(EXTREME), random.choice((1, 1, 3, 1 << 20, 1 << 62)))
        return numbers.saturate(
            random.choice((one, 2 * one, -one, one // 2, one // 3, random.randint(-3 * one, 3 * one)))
        )

    rows = [
        [random.choice((0, 0, 1, -1)), random.choice((0, 0, 0, 1, 3)), *(int(i == j) for j in range(d))]
        for i in range(size)
    ]
    if random.random() < 0.1:
        rows[0][2] = random.choice(EXTREME)
    kinds = [[random.choice((0, -2)), random.choice((0, 1)), *[0] * d] for _ in range(2)]
    constants = [random.choice((0, one, -one, one // 2, 1, 3 * one)) for _ in range(2)]
    features = [Feature(0, sparse(rows), d + 2, unit)]
    if size > 1 and random.random() < 0.5:
        other = random.choice((unit, unit, 2 * unit))
        features = [Feature(0, sparse(rows[:1]), d + 2, unit), Feature(1, sparse(rows[1:]), d + 2, other)]
    features.append(Feature(size, sparse(kinds), d + 2, random.choice((1, 1, 3))))
    same = [weight(), weight()]
    both = [[[each * (i == j % d) for j in range(width)] for i in range(size)] for each in same]
    if d == size == 2 and random.random() < 0.4:
        both = [[[each, each, 0, 0], [each, -each, 0, 0]] for each in same]
    if d == 1 < size and random.random() < 0.5:
        # One coordinate reads a point's number twice.
        both = [[[weight() * (place in (0, d)) for place in range(width)]] for _ in same]
    for _ in range(random.choice((0, 1, 2))):
        for side in both:
            side.append([*[0] * size, *(random.choice((0, weight())) for _ in range(2))])
    if random.random() < 0.1:
        both[0].append([0] * width)
        both[1].append([weight(), *[0] * (width - 1)])
    part = Part(size, 2, False, (0, 1), (0, positions), None, lambda _: constants)
    nothing = Matrix(((),), width)
    head = Head(Matrix(sparse(both[0]), width), Matrix(sparse(both[1]), width), nothing, nothing, "softmax", "strict")
    read = Readout(nothing, [0], "bits", "every")
    return Transformer(
        labels + 1, positions, width, (part,), (Attention((head,), True),), read, features=tuple(features)
    )


def stream_of(network: Transformer, cells: list[list[int]], numbers: Numbers) -> list[list[int]]:
    """The embedded cells, by plain evaluation."""
    stream = [embed(network, 0, position, numbers) for position in range(len(cells))]
    for feature in network.features:
        for vector, cell in zip(stream, cells, strict=True):
            for place, value in enumerate(feature.of(cell, numbers), feature.start):
                vector[place] = numbers.saturate(vector[place] + value)
    return stream


def scores_of(network: Transformer, cells: list[list[int]], numbers: Numbers) -> list[list[int]]:
    """The score of each pair of a query and a key."""
    stream, layer = stream_of(network, cells, numbers), network.layers[0]
    assert isinstance(layer, Attention)
    asked, held = (
        [side.apply(each, numbers) for each in stream] for side in (layer.heads[0].query, layer.heads[0].key)
    )
    return [[score(query, key, numbers) for key in held] for query in asked]


def test_no_score_is_above_its_bound_and_some_reach_it():
    random, compared, reached, refused = Random(3), 0, 0, 0
    for _ in range(1000):
        points, d = random.choice(((2, 1), (3, 1), (3, 1), (2, 2), (3, 2)))
        values = random.choice((2, 3)) if d == 1 else 2
        first, step = random.choice((-2, -1, -1, 0, 1, 5)), random.choice((1, 2, 3))
        if random.random() < 0.2:
            first, step = random.choice((-(1 << 20), 1 << 20)), random.choice((1, 1 << 21))
        most = d * max(first**2, (first + step * (values - 1)) ** 2)
        norms = 0, random.choice((most, random.randint(1, most)))
        ahead = random.randint(1, min(2 * norms[1], random.choice((6, norms[1]))))
        labels = random.choice((1, 2))
        rounding = random.choice(("down", "nearest"))
        numbers = Numbers(f"fixed:N={random.choice((2, 3, 8, 16))},Kc={random.choice((1, 2, 3, 5))},{rounding}")
        inputs, spec = read_specification(stated(points, d, (first, step, values), norms, ahead)["specification"])
        assert isinstance(spec, Nearest)
        unit = random.choice((1, 1, 2, 3, numbers.scale, 97, step))
        found = random_head(random, numbers, points, d, random.choice((d, d, d + 1)), unit, labels)
        layer = found.layers[0]
        assert isinstance(layer, Attention)
        try:
            told, _ = nearest.told_apart(found, spec, numbers)
            point, label = nearest.behind(layer.heads[0], found, told, spec, numbers)
        except RefusedError:
            refused += 1
            continue
        for tokens in filter(spec.admits, inputs.all()):
            scores = scores_of(found, spec.cells(tokens), numbers)
            vectors = spec.vectors(tokens)
            for query in spec.asking:
                products = [sum(a * b for a, b in zip(vectors[query], each, strict=True)) for each in vectors[:query]]
                best = products.index(max(products))
                behind = [scores[2 * query][key] - scores[2 * query][2 * best] for key in range(2 * query)]
                assert max(behind[1::2]) <= label
                assert all(each <= point for number, each in enumerate(behind[::2]) if number != best)
                compared += 1
                reached += label in behind[1::2] or point in behind[::2]
    assert min(compared, reached, refused) > 80


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("unit", [1, 3, 8])
@pytest.mark.parametrize("far", [4, 12])
def test_what_rounding_and_the_range_cost_is_counted(rounding, unit, far):
    """Points of one number, whole or rounded or cut off, times weights that are whole or not, in one to three rows."""
    numbers, random, compared, kept = Numbers(f"fixed:N=8,Kc=1,{rounding}"), Random(unit + far), 0, 0
    content = stated(3, 1, (-far, 1, 2 * far + 1), (0, far * far), 1, queries=1)
    _, spec = read_specification(content["specification"])
    assert isinstance(spec, Nearest)
    feature = Feature(0, (((2, 1),),), 3, unit)
    points = {x: [numbers.saturate(each) for each in feature.of([0, 0, x], numbers)] for x in range(-far, far + 1)}
    nothing = Matrix(((),), 1)
    for _ in range(400):
        size = random.choice((1, 1, 1, 2, 2, 3))
        weights = [[random.choice((1, 3, 7, 8, 11, 16, 20, 64)) for _ in range(size)] for _ in range(2)]
        weights[1] = [random.choice((1, 1, -1)) * each for each in weights[1]]
        asking, keeping = (Matrix(tuple(((0, each),) for each in some), 1) for some in weights)
        head = Head(asking, keeping, nothing, nothing, "softmax", "strict")
        read = Readout(nothing, [0], "bits", "every")
        found = Transformer(3, 5, 1, (), (Attention((head,), True),), read, features=(feature,))
        told, _ = nearest.told_apart(found, spec, numbers)
        try:
            point, label = nearest.behind(head, found, told, spec, numbers)
        except RefusedError:
            continue
        kept += 1
        asked, held = ({x: matrix.apply(each, numbers) for x, each in points.items()} for matrix in (asking, keeping))
        for x in points:
            scores = [(score(asked[x], held[y], numbers), x * y) for y in points]
            assert max(-each for each, _ in scores) <= label
            pairs = [(other - best, p - q) for (best, p), (other, q) in product(scores, repeat=2)]
            assert all(each <= point for each, ahead in pairs if ahead >= 1)
            compared += 1
    assert kept > 10 or (far, unit) in ((12, 1), (12, 3))


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_rounding_adds_up_over_all_coordinates(rounding):
    """Points of two numbers, rotated and rounded."""
    numbers, far, reached = Numbers(f"fixed:N=8,Kc=2,{rounding}"), 3, 0
    one = numbers.scale
    content = stated(3, 2, (-far, 1, 2 * far + 1), (0, 2 * far * far), 1, queries=1)
    _, spec = read_specification(content["specification"])
    assert isinstance(spec, Nearest)
    every = list(product(range(-far, far + 1), repeat=2))
    nothing, feature = Matrix(((),), 2), Feature(0, (((2, 1),), ((3, 1),)), 4, one)
    for a, b in ((1, 1), (3, 1), (1, 40), (40, 3), (100, 100), (130, 200), (640, 33)):
        sides = [Matrix((((0, 3 * each), (1, 2 * each)), ((0, -2 * each), (1, 3 * each))), 2) for each in (a, b)]
        head = Head(sides[0], sides[1], nothing, nothing, "softmax", "strict")
        read = Readout(nothing, [0], "bits", "every")
        found = Transformer(3, 5, 2, (), (Attention((head,), True),), read, features=(feature,))
        told, _ = nearest.told_apart(found, spec, numbers)
        point, label = nearest.behind(head, found, told, spec, numbers)
        asked, held = ({x: matrix.apply(list(x), numbers) for x in every} for matrix in sides)
        for x in every[::5]:
            scores = sorted((x[0] * y[0] + x[1] * y[1], score(asked[x], held[y], numbers)) for y in every)
            assert max(-each for _, each in scores) <= label
            for n, (product_here, best) in enumerate(scores):
                behind = [each - best for less, each in scores[:n] if less < product_here]
                reached += bool(behind) and max(behind) > 0
                assert max(behind, default=point) <= point
    assert reached > 10


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
@pytest.mark.parametrize("points", [2, 3])
def test_averages_lie_in_their_boxes(points, scoring, rounding):
    """Values that differ between points, labels and positions, where other points keep some of the weight."""
    random, reached = Random(points), 0
    content = {**stated(points, 2, (-1, 2, 2), (2, 2), 2), "arithmetic": f"fixed:N=4,Kc=3,{rounding}"}
    numbers = Numbers(content["arithmetic"])
    inputs, spec = read_specification(content["specification"])
    assert isinstance(spec, Nearest)
    for number in range(12):
        scale = Fraction(random.choice((1, 2, 3, 4, 6)), 4)
        kinds = random.choice((3, 4, Fraction(1, 2))), 1
        query = [[scale, 0], [0, scale]]
        file = network(points, BASE["feature"], 1, query, BASE["key"], kinds, scoring=scoring)
        _, _, values = file.tensors["0.value"]
        values[:] = [0, 0, *(random.randint(-5, 5) for _ in range(4))]
        file.structure["layers"][0]["heads"][0]["value"]["denominator"] = 1 + number % 3
        rule = {"kind": "table", "table": {"numerators": "more", "denominator": 1}}
        file.tensors["more"] = ("I64", [2 * points - 1, 1], random.choices(range(-4, 5), k=2 * points - 1))
        ranges = {"tokens": [0, 1], "positions": [0, 2 * points - 1], "source": "position", "indices": None}
        file.structure["embedding"].append({"slot": "found", "rule": rule, **ranges})
        found = Reader(file.to_bytes(), numbers).network()
        assert isinstance(found, Transformer)
        layer = found.layers[0]
        assert isinstance(layer, Attention)
        told, held = nearest.told_apart(found, spec, numbers)
        head = nearest.NearestHead(layer.heads[0], found, told, held, spec, numbers)
        # As many keys as the last query sees.
        assert [count for count, *_ in head.groups] == [1, *([points - 2] if points > 2 else []), points - 1]
        boxes = [head.average(pair)[0] for pair in range(points - 1)]
        for tokens in filter(spec.admits, inputs.all()):
            stream = stream_of(found, spec.cells(tokens), numbers)
            scores = scores_of(found, spec.cells(tokens), numbers)
            vectors = spec.vectors(tokens)
            shown = [layer.heads[0].value.apply(each, numbers)[0] for each in stream]
            for each in spec.asking:
                products = [sum(a * b for a, b in zip(vectors[each], other, strict=True)) for other in vectors[:each]]
                low, high = boxes[products.index(max(products))]
                weights = weigh(layer.heads[0], scores[2 * each][: 2 * each], numbers)
                average = sum(numbers.product(a, b) for a, b in zip(weights, shown, strict=False))
                assert low <= numbers.saturate(average) <= high
                reached += high - low <= 2 * numbers.scale
    assert reached > 10


def bounds_of(
    sides: list[list[list[int]]], unit: int, constants: tuple[int, int], norm: int, numbers: Numbers
) -> tuple[bool, int, int]:
    """Whether everything stays in the range, the bound of other points, and the nearest point's least score: as the
    rule's docstring says it, for dense weights of as many features as coordinates, in exact fractions."""
    one, limit, far = numbers.scale, numbers.limit, nearest.root(norm * numbers.scale**2)
    fits, errors, reach = True, list[list[int]](), list[list[int]]()
    for rows in sides:
        most = far // unit + 2
        fits = fits and most <= limit
        errors.append(
            [sum(abs(w) * (one % unit != 0) + one * (w % one != 0 and unit != 1) for w in row) for row in rows]
        )
        reach.append([sum(abs(w) * most // one + 1 for w in row if w) for row in rows])
    sizes = [
        max(sum(map(abs, row)) for row in rows) * max(sum(map(abs, column)) for column in zip(*rows, strict=True))
        for rows in sides
    ]
    alpha, beta = errors
    whole = [unit == 1 and not any(w % one for w in row) for row in [*sides[0], *sides[1]]]
    inexact = sum(not (a or b) for a, b in zip(whole[: len(alpha)], whole[len(alpha) :], strict=True))
    roots = [
        nearest.root(sum(a * a for a in alpha) * sizes[1] * norm),
        nearest.root(sum(b * b for b in beta) * sizes[0] * norm),
    ]
    error = Fraction(sum(roots), one * one * unit) + Fraction(sum(map(int.__mul__, alpha, beta)), one**3) + inexact
    factor = Fraction(sum(a[0] * b[0] for a, b in zip(*sides, strict=True)), one * unit * unit)
    constant = numbers.product(*constants)
    fits = fits and all(each <= limit for each in (*reach[0], *reach[1]))
    fits = fits and all(a * b // one + 1 <= limit for a, b in zip(*reach, strict=True))
    fits = fits and abs(constant) + factor * norm + error <= limit
    return fits, floor(2 * error - factor), ceil(constant - factor * norm - error)


def test_bounds_are_those_that_the_rule_states():
    random, accepted = Random(8), 0
    for _ in range(400):
        numbers = Numbers(f"fixed:N={random.choice((2, 4, 8))},Kc={random.choice((1, 2, 3))},down")
        one, far = numbers.scale, random.choice((1, 2, 5))
        unit, d = random.choice((1, 1, 2, 3, one)), random.choice((1, 2))
        weights = [
            numbers.saturate(random.choice((1, 3, one, one, 2 * one, 5, one + 1, numbers.limit // 2))) for _ in range(2)
        ]
        if d == 2 and random.random() < 0.5:
            # Columns of different sizes.
            small, large = (max(1, w // 2) for w in weights)
            sides = [[[small, 0], [0, 2 * small]], [[2 * large, 0], [0, large]]]
        else:
            sides = [[[w]] if d == 1 else [[w, w], [w, -w]] for w in weights]
        if random.random() < 0.3:
            sides = [[*rows, [0] * (d - 1) + [w]] if d == 1 else rows for rows, w in zip(sides, weights, strict=True)]
        constants = [random.choice((0, one, 3, numbers.limit)) for _ in range(2)]
        constants[1] = random.choice((0, constants[1]))
        width, nothing = d + 2, Matrix(((),), d + 2)
        matrices = [
            Matrix(sparse([[*row, 0, 0] for row in rows] + [[0] * (d + n) + [one] + [0] * (1 - n)]), width)
            for n, rows in enumerate(sides)
        ]
        # The key's constant is in the row of the query's: both are at the end, each reads its own column.
        head = Head(matrices[0], matrices[1], nothing, nothing, "softmax", "strict")
        part = Part(d, 2, False, (0, 1), (0, 5), None, lambda _, held=tuple(constants): list(held))
        feature = Feature(0, tuple(((2 + place, 1),) for place in range(d)), d + 2, unit)
        read = Readout(nothing, [0], "bits", "every")
        found = Transformer(3, 5, width, (part,), (Attention((head,), True),), read, features=(feature,))
        norm = d * far * far
        content = stated(3, d, (-far, 1, 2 * far + 1), (0, norm), 1)
        _, spec = read_specification(content["specification"])
        assert isinstance(spec, Nearest)
        fits, point, least = bounds_of(sides, unit, (constants[0], constants[1]), norm, numbers)
        told, _ = nearest.told_apart(found, spec, numbers)
        try:
            other, label = nearest.behind(head, found, told, spec, numbers)
        except RefusedError:
            assert not fits
            continue
        assert fits
        assert other == point
        # A label's key has the constant alone.
        assert label == numbers.product(constants[0], constants[1]) - least
        accepted += 1
    assert 50 < accepted < 380


def test_coordinates_reach_the_end_of_the_range_and_no_further():
    numbers = Numbers("fixed:N=8,Kc=1,down")
    found = Transformer(3, 5, 1, (), (), Readout(Matrix((), 1), [], "bits", "every"), features=(FEATURE,))
    for far in range(55, 70):
        _, spec = read_specification(stated(3, 1, (-far, 1, 2 * far + 1), (0, far * far), 1)["specification"])
        assert isinstance(spec, Nearest)
        told, _ = nearest.told_apart(found, spec, numbers)
        # A coordinate is x, and 64 the largest number; a unit is left for its rounding, and one for the root's.
        for weight in (1, 8, 16):
            matrix = Matrix((((0, weight),),), 1)
            right = far <= 62 and weight * (far + 2) // 8 + 1 <= 64
            try:
                reach = nearest.Side(matrix, found, told, spec, numbers).reach[0]
            except RefusedError:
                assert not right
                continue
            assert right
            assert reach >= weight * far // 8


FEATURE = Feature(0, (((2, 1),),), 3, 8)


def test_roots_are_rounded_up():
    assert nearest.root(0) == 0
    for value in (*range(1, 200), 10**40, 10**40 + 1):
        assert (nearest.root(value) - 1) ** 2 < value <= nearest.root(value) ** 2


# -- forged claims, one for each obligation ------------------------------------------------------------------

BASE: dict[str, Any] = {
    "points": 3, "feature": [[1, 0], [0, 1]], "unit": 1, "query": [[4, 0], [0, 4]], "key": [[1, 0], [0, 1]],
    "kinds": (16, 1),
}  # fmt: skip
RIGHT = stated(3, 2, (-1, 2, 2), (2, 2), 2)


def forged(content: dict[str, Any], file: File) -> bool:
    """Whether the rules accept a claim, which must be right then; without the last net."""
    data = file.to_bytes()
    content = claimed(content, data)
    try:
        rules_accept(content, data)
    except RefusedError:
        return False
    assert wrong_input(content, data) is None
    return True


def test_the_small_network_is_accepted():
    assert forged(RIGHT, network(**BASE))
    assert next(iter(inputs_of(RIGHT["specification"])), None) is not None
    # Also as a rotation of the points, in other units, and with a coordinate that is split into two.
    assert forged(RIGHT, network(**{**BASE, "feature": [[1, 1], [1, -1]]}))
    assert forged(RIGHT, network(**{**BASE, "unit": 2, "query": [[16, 0], [0, 16]]}))
    twice = {"feature": [[1, 0], [0, 1], [0, 1]], "query": [[4, 0, 0], [0, 2, 0], [0, 0, 2]]}
    assert forged(RIGHT, network(**{**BASE, **twice, "key": [[int(i == j) for j in range(3)] for i in range(3)]}))
    few = stated(3, 2, (-1, 2, 2), (2, 2), 2, queries=1)
    assert forged(few, network(**BASE))
    assert forged(few, network(**BASE, at="last"))
    assert not forged(RIGHT, network(**BASE, at="last"))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"query": [[4, 0], [0, 0]]}, True),
        ({"query": [[4, 0], [0, 3]]}, False),
        ({"query": [[4, 1], [0, 4]]}, False),
        ({"query": [[-4, 0], [0, -4]]}, True),
        ({"query": [[4, 0], [0, -4]]}, True),
        ({"query": [[0, 4], [4, 0]]}, True),
        ({"key": [[1, 1], [0, 1]]}, True),
        # Right because corners are few; norm and margin do not show it.
        ({"query": [[Fraction(1, 8), 0], [0, Fraction(1, 8)]]}, False),
        ({"kinds": (1, 1)}, False),
        ({"kinds": (0, 0)}, False),
        ({"kinds": (-16, 1)}, True),
        ({"mask": "none"}, True),
        ({"mask": "causal"}, True),
        ({"scoring": "linear"}, False),
        ({"scoring": "relu"}, False),
        ({"gain": 0}, True),
        ({"gain": Fraction(1, 8)}, True),
    ],
)
def test_networks_that_compare_otherwise_are_refused(change, wrong):
    file = network(**{**BASE, **change})
    data = file.to_bytes()
    assert (wrong_input(claimed(RIGHT, data), data) is not None) == wrong
    assert not forged(RIGHT, file)


@pytest.mark.parametrize(("key", "extra"), [("query", 1), ("key", 1), ("value", 1)])
def test_points_are_read_by_comparing_alone(key, extra):
    """The kind's coordinate, or the address, reads a point as well."""
    file = network(**BASE)
    name = file.structure["layers"][0]["heads"][0][key]["numerators"]
    _, (rows, columns), numbers = file.tensors[name]
    numbers[(rows - 1) * columns] = extra * 4
    assert not forged(RIGHT, file)


@pytest.mark.parametrize("where", ["2.query", "2.key", "2.value", "inner", "readout"])
def test_nothing_after_the_first_layer_reads_points(where):
    file = network(**BASE)
    numbers = file.tensors[where][2]
    for far in (1, 1 << 62, -(1 << 62)):
        numbers[0] = far
        assert not forged(RIGHT, file) or where in ("2.query", "readout")


def test_no_point_is_known_at_any_position():
    numbers = Numbers("fixed:N=4,Kc=3,down")
    found = Reader(network(**BASE).to_bytes(), numbers).network()
    _, spec = read_specification(RIGHT["specification"])
    assert isinstance(found, Transformer)
    assert isinstance(spec, Nearest)
    told, _ = nearest.told_apart(found, spec, numbers)
    for column, known in ((0, False), (1, False), (2, True)):
        view = View(told, [column], numbers)
        for position in range(0, 5, 2):
            if known:
                assert view.vector(view.position(position), view.token(0)) == [numbers.scale]
                continue
            with pytest.raises(RefusedError, match="by comparing"):
                view.vector(view.position(position), view.token(0))


def test_points_that_score_alike_are_all_heard_by_hard_attention():
    """Points do not matter to any score, so that all of them are averaged."""
    file = network(**{**BASE, "query": [[0, 0], [0, 0]], "scoring": "hard"})
    assert not forged(RIGHT, file)
    assert wrong_input(claimed(RIGHT, file.to_bytes()), file.to_bytes()) is not None
    assert forged(RIGHT, network(**{**BASE, "scoring": "hard"}))


@pytest.mark.parametrize("strength", [4, 40])
def test_points_finer_than_the_arithmetic_cost_their_rounding(strength):
    """Queries read 0 of the point 1, and a step of -1; hard attention would see any difference."""
    names = {"feature": [[1], [4551]], "query": [[strength, 0]], "key": [[0, 1]], "scoring": "hard", "kinds": (99, 1)}
    claim = stated(3, 1, (-1, 2, 2), (1, 1), 2, queries=1)
    assert not forged(claim, network(3, unit=4551, **names))
    file = network(3, unit=4551, **names)
    assert wrong_input(claimed(claim, file.to_bytes()), file.to_bytes()) is not None
    # A step is a 4,096th, and 4,096 of them are the point.
    assert forged(claim, network(3, unit=4096, **{**names, "feature": [[1 << 12], [1 << 12]]}))


def test_a_constant_times_a_point_is_no_product_of_points():
    """A constant of 0 is: what the other side reads does not matter then."""
    file = network(**BASE)
    for name, other in (("query", "key"), ("key", "query")):
        for size in (8, 0):
            changed = file.copy()
            for side, column, number in ((name, 0, 8), (other, 2, size)):
                tensor = changed.structure["layers"][0]["heads"][0][side]["numerators"]
                kind, (rows, columns), numbers = changed.tensors[tensor]
                more = [0] * columns
                more[column] = number
                changed.tensors[tensor] = (kind, [rows + 1, columns], numbers + more)
            assert forged(RIGHT, changed) == (size == 0)


def test_a_constant_that_labels_lack_may_put_them_ahead_of_all_points():
    """Labels have kind 0 here. 8 times the query's first number is added to all points, which may be far below 0."""
    file = network(**BASE)
    file.tensors["kinds"][2][0] = -1
    assert forged(RIGHT, file)
    for side, column in (("query", 0), ("key", 2)):
        tensor = file.structure["layers"][0]["heads"][0][side]["numerators"]
        kind, (rows, columns), numbers = file.tensors[tensor]
        file.tensors[tensor] = (
            kind,
            [rows + 1, columns],
            numbers + [8 * (place == column) for place in range(columns)],
        )
    data = file.to_bytes()
    assert wrong_input(claimed(RIGHT, data), data) is not None
    assert not forged(RIGHT, file)


def test_what_else_writes_where_points_are_is_refused():
    base = network(**BASE)
    table = {"kind": "table", "table": {"numerators": "more", "denominator": 1}}
    part = {
        "slot": "point", "source": "position", "tokens": [0, 1], "positions": [0, 5], "indices": None, "rule": table,
    }  # fmt: skip
    file = base.copy()
    file.tensors["more"] = ("I64", [5, 2], [0, 0, 9, 9, 0, 0, 0, 0, 0, 0])
    file.structure["embedding"].append(part)
    assert not forged(RIGHT, file)
    file = base.copy()
    file.tensors["more"] = ("I64", [2, 4], [0, 0, -3, 0, 0, 0, 0, -3])
    file.structure["features"].append({"slot": "point", "matrix": {"numerators": "more", "denominator": 1}})
    assert not forged(RIGHT, file)
    # One coordinate alone, the first of its slot.
    line, file = stated(3, 1, (-1, 2, 2), (1, 1), 2), network(3, [[1]], 1, [[4]], [[1]], (16, 1))
    assert forged(line, file)
    file.tensors["more"] = ("I64", [5, 1], [0, 0, 9, 0, 0])
    file.structure["embedding"].append(part)
    assert not forged(line, file)
    # By token 0, which every cell has.
    file = base.copy()
    file.tensors["more"] = ("I64", [1, 1], [1])
    file.structure["embedding"].append({**part, "slot": "label", "source": "token"})
    assert not forged(RIGHT, file)


def test_points_are_compared_in_one_unit():
    """In halves, the second slot turns -4 x + 6 x/2 = -x into the x that is seen if all units are taken for halves."""
    content = stated(3, 1, (-1, 2, 2), (1, 1), 2)
    for unit, accepted in ((1, True), (2, False)):
        file = network(3, [[1], [1]], 1, [[-4, 6], [0, 0]], [[4, 0], [0, 0]], (16, 1))
        file.structure["slots"] = [["point", 1], ["half", 1], *file.structure["slots"][1:]]
        file.tensors["points"] = ("I64", [1, 3], [0, 0, 1])
        file.tensors["halves"] = ("I64", [1, 3], [0, 0, 1])
        matrix = {"numerators": "halves", "denominator": unit}
        file.structure["features"].append({"slot": "half", "matrix": matrix})
        assert forged(content, file) == accepted
        assert (wrong_input(claimed(content, file.to_bytes()), file.to_bytes()) is None) == accepted


def test_parts_of_other_tokens_do_not_count():
    """Cells have token 0: a part for token 1 alone is never added."""
    file = network(**BASE)
    for part in file.structure["embedding"]:
        if part["slot"] == "address":
            part["tokens"] = [1, 2]
    assert not forged(RIGHT, file)
    file = network(**BASE)
    file.tensors["more"] = ("I64", [5, 1], [-7] * 5)
    rule = {"kind": "table", "table": {"numerators": "more", "denominator": 1}}
    part = {"slot": "kind", "source": "position", "tokens": [1, 2], "positions": [0, 5], "indices": None, "rule": rule}
    file.structure["embedding"].append(part)
    assert forged(RIGHT, file)
    part["tokens"] = [0, 2]
    assert not forged(RIGHT, file)


def test_what_a_query_holds_before_counts():
    """At the last point what is found is pushed to the other address; elsewhere there is no other one, or no query."""
    for position, accepted in ((4, False), (2, True), (0, True), (1, True)):
        file = network(**BASE)
        file.tensors["more"] = ("I64", [1, 1], [3])
        rule = {"kind": "table", "table": {"numerators": "more", "denominator": 1}}
        file.structure["embedding"].append(
            {
                "slot": "found", "source": "position", "tokens": [0, 1], "positions": [position, position + 1],
                "indices": None, "rule": rule,
            }
        )  # fmt: skip
        assert forged(RIGHT, file) == accepted


@pytest.mark.parametrize(
    ("position", "queries", "accepted"), [(0, 1, False), (2, 1, False), (4, 1, True), (4, 2, False)]
)
def test_points_at_different_positions_are_compared_alike(position, queries, accepted):
    """The kind, which pushes points ahead of labels, is larger at one point: as a key it is always found."""
    content = stated(3, 2, (-1, 2, 2), (2, 2), 2, queries=queries)
    file = network(**BASE)
    file.tensors["one"][2][position] = 5
    data = file.to_bytes()
    assert (wrong_input(claimed(content, data), data) is None) == (position == 4)
    assert forged(content, file) == accepted


def test_constants_of_queries_are_those_at_points():
    """At labels, which ask nothing and push nothing ahead, the kind may be another one."""
    file = network(**BASE)
    file.tensors["one"][2][1::2] = [0, 0]
    assert forged(stated(3, 2, (-1, 2, 2), (2, 2), 2, queries=2), file)


def test_labels_that_score_like_points_are_seen():
    """A label's cell writes to the coordinates of points, as large as its number; queries have both signs."""
    for size in (30, -30):
        file = network(**BASE)
        file.tensors["points"][2][1] = size
        assert not forged(RIGHT, file)


@pytest.mark.parametrize("base", ["fixed:N=2,Kc=1,down", "fixed:N=2,Kc=2,nearest", "fixed:N=4,Kc=1,down"])
def test_saturated_scores_are_refused(base):
    content = {**RIGHT, "arithmetic": base}
    for query in ([[4, 0], [0, 4]], [[1, 0], [0, 1]], [[64, 0], [0, 64]]):
        assert not forged(content, network(**{**BASE, "query": query}))


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("arithmetic", ["fixed:N=2,Kc=5,", "fixed:N=3,Kc=3,", "fixed:N=10,Kc=2,"])
def test_rounded_points_cost_what_their_rounding_costs(arithmetic, rounding):
    """In units of 1/97 nothing is exact; what the rule accepts is right at every scale."""
    content = {**stated(3, 1, (-2, 2, 3), (0, 4), 1), "arithmetic": f"{arithmetic}{rounding}"}
    accepted = 0
    for unit, scale in ((1, 1), (1, 3), (2, 8), (3, 12), (7, 90), (97, 2000)):
        query, key = [[Fraction(scale, unit)]], [[unit]]
        accepted += forged(content, network(3, [[1]], unit, query, key, (30, 1)))
    assert accepted < 6


def test_a_network_whose_cells_have_another_size_is_refused():
    data = network(**BASE).to_bytes()
    other = stated(3, 1, (-1, 2, 2), (1, 1), 2)
    with pytest.raises(RefusedError, match="cells"):
        check(claimed(other, data), data)
    content, tokens = proved("index-lookup", 4)
    with pytest.raises(RefusedError, match="cells"):
        check(claimed({**RIGHT, "arithmetic": content["arithmetic"]}, tokens), tokens)
    with pytest.raises(RefusedError):
        check(claimed(content, data), data)
    file = network(**BASE)
    file.tensors["labels"] = ("I64", [1, 3], [0, 1, 0])
    with pytest.raises(RefusedError, match="sizes"):
        check(claimed(RIGHT, file.to_bytes()), file.to_bytes())


@pytest.mark.parametrize(
    "change",
    [
        {"slot": "nowhere"}, {"slot": "kind"}, {"more": 1}, {"matrix": {"numerators": "points", "denominator": 0}},
        {"matrix": {"numerators": "points", "denominator": (1 << 62) + 1}}, {"matrix": {"numerators": "points"}},
        {"matrix": {"numerators": "sign", "denominator": 1}}, {"matrix": []},
    ],
)  # fmt: skip
def test_features_are_read_strictly(change):
    file = network(**BASE)
    file.structure["features"][0].update(change)
    with pytest.raises(RefusedError):
        check(claimed(RIGHT, file.to_bytes()), file.to_bytes())


def test_feed_forwards_before_the_comparison_are_refused():
    file = network(**BASE)
    before = copy.deepcopy(file.structure["layers"][1])
    for name in ("inner", "inner_bias", "outer", "outer_bias"):
        file.tensors[f"before.{name}"] = copy.deepcopy(file.tensors[name])
        before[name]["numerators"] = f"before.{name}"
    file.structure["layers"].insert(0, before)
    proof = {**RIGHT["proof"], "statements": [{"kind": "feed-forward"}, *RIGHT["proof"]["statements"]]}
    assert not forged({**RIGHT, "proof": proof}, file)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("kind", ["match", "fetch", "count", "feed-forward", "idle", "attend"])
def test_statements_must_be_those_of_the_rule(number, kind):
    other = copy.deepcopy(RIGHT)
    if other["proof"]["statements"][number] != {"kind": kind}:
        other["proof"]["statements"][number] = {"kind": kind}
        assert not forged(other, network(**BASE))


def test_more_points_than_can_be_checked_are_refused(monkeypatch):
    assert forged(RIGHT, network(**BASE))
    monkeypatch.setattr(nearest, "MOST_POINTS", 2)
    assert not forged(RIGHT, network(**BASE))


def test_a_promise_that_nothing_keeps_is_not_drawn_for(monkeypatch):
    content = stated(3, 2, (-1, 2, 2), (3, 4), 2)
    inputs, answers = read_specification(content["specification"])
    assert not any(map(answers.admits, inputs.all()))
    assert answers.draw(inputs, Random(1)) is None
    monkeypatch.setattr("separatrix_kernel.checker.LAST_NET", 8)
    data = network(**BASE).to_bytes()
    assert check(claimed(content, data), data).rules == "layers, nearest"


def test_the_last_net_runs_points(monkeypatch):
    content, data = stated(3, 2, (-1, 2, 2), (2, 2), 2, queries=1), network(**BASE).to_bytes()
    check(claimed(content, data), data)
    data = network(**{**BASE, "query": [[-4, 0], [0, -4]]}).to_bytes()
    monkeypatch.setattr("separatrix_kernel.checker.LAST_NET", 8)
    monkeypatch.setattr(Claim, "prove", lambda *_: "layers")
    with pytest.raises(RefusedError, match="answered wrongly"):
        check(claimed(content, data), data)


def test_the_reader_keeps_features_whole():
    """Numbers of cells may exceed the range; what they add is cut off, not they."""
    file = network(**BASE)
    file.tensors["points"][2][2] = (1 << 63) - 1
    numbers = Numbers("fixed:N=2,Kc=1,down")
    found = Reader(file.to_bytes(), numbers).network()
    assert isinstance(found, Transformer)
    assert found.cell_size == 4
    assert found.features[0].of([0, 0, 1, -3], numbers) == [numbers.limit, -numbers.limit]
    assert found.features[0].of([0, 0, -1, 1], numbers) == [-numbers.limit, numbers.scale]


def test_what_the_rules_accept_of_random_claims_is_right_on_every_input():
    found = campaign(150, 5)
    assert found["wrong"] == 0
    assert min(found["right"], found["refused"]) > 20
