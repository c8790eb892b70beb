"""Attention that compares tokens: its bounds hold on all that they speak about, and the rules refuse the rest."""

import copy
from collections import Counter
from contextlib import suppress
from itertools import product
from random import Random

import pytest

from separatrix.constructions import Options, constructions
from separatrix.networks.store import to_bytes
from separatrix.provers import prove
from separatrix_kernel import fetching
from separatrix_kernel.checker import check
from separatrix_kernel.content import Case, Choices, ContentHead, ContentLayer, rounded_sum, together, weight_sums
from separatrix_kernel.embedding import Projection
from separatrix_kernel.evaluation import attend, embed, score, weigh
from separatrix_kernel.matching import ALL_EDGES
from separatrix_kernel.network import (
    Attention,
    GraphAttention,
    GraphHead,
    Head,
    Matrix,
    PairAttention,
    PairHead,
    Part,
    Reader,
    Readout,
    Transformer,
)
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import Cycles, Inputs, adjacency, read_specification
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import wrong_input
from tests.kernel.mutants import campaign, rules_accept

NAMES = ("associative-recall", "mqar", "match2", "match2-code", "match3-last", "match3")
ARITHMETICS = ("fixed:N=2,Kc=1,down", "fixed:N=3,Kc=1,nearest", "fixed:N=2,Kc=2,nearest", "fixed:N=3,Kc=2,down")


def test_what_the_rules_accept_is_right_on_every_input():
    found = campaign(60, 3, NAMES)
    assert found["wrong"] == 0
    assert found["right"] > 12
    assert found["refused"] > 12


def head_of(scoring: str) -> Head:
    """A head of which only the scoring matters."""
    return Head(*[Matrix((), 1)] * 4, scoring=scoring, mask="none")


@pytest.mark.parametrize("name", ARITHMETICS)
@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
def test_sums_of_weights_hold_for_all_scores_and_are_reached_by_some(name, scoring):
    """Every choice of scores within the groups' bounds, the ends of the range among them."""
    numbers, random, sharp = Numbers(name), Random(name + scoring), 0
    ends = (numbers.limit, -numbers.limit, 0, 1, -1, numbers.scale, -numbers.scale, 2 * numbers.scale)
    for _ in range(150):
        groups, choices = [], []
        for number in range(random.randint(1, 3)):
            count, high = random.randint(1, 2), random.choice(ends)
            best = random.choice([None, high, *[each for each in ends if each <= high]]) if number else high
            low = max(-numbers.limit, high - 3 * numbers.scale)
            levels = sorted({low, high, (low + high) // 2, best if best is not None else low})
            groups.append((count, best, high, number))
            some = [each for each in product(levels, repeat=count) if best is None or max(each) >= best]
            # A group without a b may be empty: a mask may hide it.
            choices.append([(), *some] if best is None else some)
        if scoring == "hard" and sum(count for count, *_ in groups) > numbers.scale:
            with pytest.raises(RefusedError):
                weight_sums(groups, scoring, numbers)
            continue
        sums = weight_sums(groups, scoring, numbers)
        values = [((number, number, True),) for number in range(len(groups))]
        ((total,), _), both = together(groups, values, [0] * len(groups)), random.sample([0, 0, 1, 2], len(groups))
        (total,) = weight_sums([total], scoring, numbers)
        joined, ranges = together(groups, values, both)
        assert [each[0][:2] for each in ranges] == [
            (min(mine), max(mine)) for name in dict.fromkeys(both)
            for mine in [[number for number, each in enumerate(both) if each == name]]
        ]  # fmt: skip
        joined_sums = weight_sums(joined, scoring, numbers)
        least, most = [numbers.limit] * len(groups), [0] * len(groups)
        for rows in product(*choices):
            weights = weigh(head_of(scoring), [each for row in rows for each in row], numbers)
            assert total[0] <= sum(weights) <= total[1]
            assert sum(map(bool, weights)) <= total[2]
            starts = [sum(map(len, rows[:number])) for number in range(len(rows))]
            for name, bounds in zip(dict.fromkeys(both), joined_sums, strict=True):
                mine = [number for number, each in enumerate(both) if each == name]
                summed = sum(sum(weights[starts[each] : starts[each] + len(rows[each])]) for each in mine)
                assert bounds[0] <= summed <= bounds[1]
            for number, row in enumerate(rows):
                own, weights = weights[: len(row)], weights[len(row) :]
                assert sums[number][0] <= sum(own) <= sums[number][1]
                assert sum(map(bool, own)) <= sums[number][2]
                least[number], most[number] = min(least[number], sum(own)), max(most[number], sum(own))
        sharp += sum((low, high) == each[:2] for low, high, each in zip(least, most, sums, strict=True))
    assert sharp > 30


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_sums_of_rounded_quotients_lie_between_their_bounds(rounding):
    numbers, random = Numbers(f"fixed:N=3,Kc=1,{rounding}"), Random(rounding)
    for _ in range(2000):
        divisor, count = random.randint(1, 9), random.randint(0, 5)
        tops = [random.randint(-20, 20) for _ in range(count)]
        low, high = rounded_sum(sum(tops), sum(tops), divisor, count, numbers)
        assert low <= sum(numbers.quotient(top, divisor) for top in tops) <= high


def test_nothing_is_said_of_a_row_without_a_known_score():
    numbers = Numbers("fixed:N=4,Kc=2,down")
    for scoring, best in (("softmax", None), ("linear", 0), ("relu", 0)):
        with pytest.raises(RefusedError):
            weight_sums([(2, best, 5, 0)], scoring, numbers)


def choices_of(view, position, tokens, numbers):
    """The keys of a position."""
    keys = [view.project(view.position(position), view.token(token)) for token in tokens]
    return Choices(keys, tokens.start, numbers)


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_scores_are_right_up_to_the_ends_of_the_range(rounding):
    numbers, random = Numbers(f"fixed:N=3,Kc=1,{rounding}"), Random(rounding)
    ends = (numbers.limit, -numbers.limit, numbers.limit - 1, 0, 1, -1, numbers.scale, -numbers.scale, 5, -7)
    for _ in range(200):
        keys = [[random.choice(ends) for _ in range(3)] for _ in range(random.randint(1, 4))]
        query = [random.choice(ends) for _ in range(3)]
        if random.random() < 0.5:
            # Signs of one size, or of one size for each key, which must not be taken for the former.
            sizes = random.choice(((5,), (5, numbers.scale), (5, 7, 0)))
            keys = [[random.choice((-1, 1)) * size for _ in range(3)] for size in random.choices(sizes, k=len(keys))]
            query = [random.choice((-1, 1)) * 7 for _ in range(3)]
        scores = [score(query, key, numbers) for key in keys]
        for without in (range(0), (4,), (5 + len(keys),)):  # no token, or one that no key has
            assert Choices(keys, 5, numbers).bounds(query, without) == (min(scores), max(scores))
        assert [Choices(keys, 5, numbers).score(query, 5 + each) for each in range(len(keys))] == scores


@pytest.mark.parametrize(
    "base",
    [
        ("associative-recall", 3, {"keys": 5}),
        ("match2", 3, {"modulus": 9}),
        ("match2-code", 3, {"modulus": 40}),
        ("match2-code", 2, {"modulus": 64}),
    ],
)
def test_keys_are_scored_as_evaluation_scores_them(base):
    content, data = proved(*base)
    numbers, random = Numbers(content["arithmetic"]), Random(7)
    network = Reader(data, numbers).network()
    inputs, _ = read_specification(content["specification"])
    assert isinstance(network, Transformer)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    head, tokens = layer.heads[0], inputs.tokens[-1]
    view = Projection(network, head.key, numbers)
    choices = choices_of(view, network.positions - 1, tokens, numbers)
    keys = {token: head.key.apply(embed(network, token, network.positions - 1, numbers), numbers) for token in tokens}
    ends = (numbers.limit, -numbers.limit, 0, 1, -1, 3 * numbers.scale, -numbers.scale // 2)
    for number in range(60):
        some = random.choice(ends) or 7
        signs = [random.choice((some, -some)) for _ in head.query.rows]
        query = signs if number % 2 else [random.choice(ends) for _ in head.query.rows]
        first = random.choice(tokens)
        without = range(first, tokens.stop, random.randint(1, 3)) if number % 3 else range(0)
        scores = [score(query, key, numbers) for token, key in keys.items() if token not in without]
        assert all(choices.score(query, token) == score(query, key, numbers) for token, key in keys.items())
        if scores:
            assert choices.bounds(query, without) == (min(scores), max(scores))
            assert choices.bounds(query, without) == (min(scores), max(scores))
    with pytest.raises(RefusedError):
        choices.bounds([0] * len(head.query.rows), tokens)


@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
@pytest.mark.parametrize("third", [1, 3])
def test_averages_lie_in_their_boxes_on_every_input_of_the_case(mask, scoring, third):
    """Values that are whole and values that are not; a known key, tokens left out, tokens that are there."""
    content, data = proved("match2-code", 3, {"modulus": 4})
    file = File(data)
    head = file.structure["layers"][0]["heads"][0]
    head.update(mask=mask, scoring=scoring)
    head["value"]["denominator"] = third
    numbers = Numbers("fixed:N=3,Kc=2,nearest" if third == 1 else "fixed:N=3,Kc=2,down")
    network = Reader(file.to_bytes(), numbers).network()
    inputs, _ = read_specification(content["specification"])
    assert isinstance(network, Transformer)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    found = layer.heads[0]
    content_head = ContentHead(found, network, inputs, [range(1, 4), range(1)], numbers)
    cases = [Case(), Case(without={0: range(2, 3)}), Case(((1, 4),), {0: range(4, 5)}), Case(((1, 4), (3, 2)))]
    cases += [Case(some=range(3, 4))] if mask == "none" else []
    for case in cases:
        rows = [row for row in inputs.all() if held(case, row)]
        for token in inputs.tokens[3]:
            if any(place == 3 and known != token for place, known in case.known):
                continue
            try:
                groups = content_head.groups(3, token, case)
                box = content_head.average(groups, case.known)
            except RefusedError:
                assert mask != "none" or scoring == "hard"
                continue
            for row in [row for row in rows if row[3] == token]:
                stream = [embed(network, each, place, numbers) for place, each in enumerate(row)]
                query, seen = found.query.apply(stream[3], numbers), found.visible(3, 4)
                keys = [found.key.apply(each, numbers) for each in stream]
                weights = weigh(found, [score(query, key, numbers) for key in keys[:seen]], numbers)
                values = [found.value.apply(each, numbers)[0] for each in stream]
                total = sum(numbers.product(w, v) for w, v in zip(weights, values, strict=False))
                assert box[0][0] <= numbers.saturate(total) <= box[0][1]
    if mask != "none":
        with pytest.raises(RefusedError):
            content_head.groups(3, 1, Case(some=range(3, 4)))


def held(case, row):
    """Whether an input is one of a case."""
    known = dict(case.known)
    if any(row[place] != token for place, token in known.items()):
        return False
    rest = [token for place, token in enumerate(row) if place and place not in known]
    return not set(rest) & set(case.without.get(0, ())) and (not case.some or bool(set(row[1:]) & set(case.some)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("attention", ["hard", "leftmost", "linear", "relu"])
def test_other_attention_is_judged_as_it_is(name, attention):
    parameters = {"keys": 3} if name in ("mqar", "associative-recall") else {"modulus": 4}
    length = {"mqar": 4, "associative-recall": 2, "match3": 2}.get(name, 3)
    built = constructions()[name].build(length, Options(parameters=parameters, attention=attention))
    found = prove(built.network, built.task, length, built.arithmetic)
    content, _ = proved(name, length, parameters)
    data = to_bytes(built.network)
    right = wrong_input(claimed(content, data), data) is None
    assert found is None or right
    assert found is not None or not right or attention in ("linear", "relu")
    assert found is not None or attention != "hard"


def test_a_fetching_layer_without_residual_starts_from_zero(monkeypatch):
    content, data = proved("associative-recall", 2, {"keys": 3})
    file, starts = File(data), []
    second = [layer for layer in file.structure["layers"] if layer["kind"] == "attention"][1]
    second["residual"] = False
    real = fetching.written

    def recorded(box, heads, numbers):
        starts.append(box)
        return real(box, heads, numbers)

    monkeypatch.setattr(fetching, "written", recorded)
    changed = file.to_bytes()
    with suppress(RefusedError):
        rules_accept(claimed(content, changed), changed)
    assert starts
    assert any(starts)
    assert all(ends == (0, 0) for box in starts for ends in box)


@pytest.mark.parametrize("name", NAMES)
def test_statements_must_be_those_of_the_rule(name):
    content, data = proved(name, 8)
    for number in range(len(content["proof"]["statements"])):
        for kind in ("match", "fetch", "count", "feed-forward", "idle", "attend"):
            other = copy.deepcopy(content)
            if other["proof"]["statements"][number] != {"kind": kind}:
                other["proof"]["statements"][number] = {"kind": kind}
                with pytest.raises(RefusedError):
                    check(other, data)


@pytest.mark.parametrize("name", ["mqar", "associative-recall"])
@pytest.mark.parametrize("variant", ["query-scale", "unmasked", "clamped-labels"])
def test_what_the_paper_wrote_is_refused(name, variant):
    content, _ = proved(name, 32)
    data = to_bytes(constructions()[name].build(32, Options(variant=variant)).network)
    with pytest.raises(RefusedError):
        check(claimed(content, data), data)


def test_keys_of_the_same_values_are_weighed_together():
    """The last token matches M like those of the window: only together have they nearly all of the weight."""
    content, data = proved("match3-last", 32, {"modulus": 5})
    assert check(content, data).inputs_covered == "5^31"


@pytest.mark.parametrize(("name", "length"), [("mqar", 1024), ("match2", 64), ("match2-code", 200)])
def test_claims_that_would_take_minutes_are_left_to_others(name, length):
    built = constructions()[name].build(length)
    assert prove(built.network, built.task, length, built.arithmetic) is None


def test_the_vacuous_matching_is_refused():
    content, _ = proved("match3-last", 4)
    data = to_bytes(constructions()["match3-last"].build(4, Options(variant="original")).network)
    with pytest.raises(RefusedError):
        check(claimed(content, data), data)


def test_what_one_layer_cannot_do_is_refused():
    """A recall without a second layer, one answer about all tokens without one, and each token's answer with one."""
    for name, answer in (
        ("mqar", None),
        ("match3", {"kind": "sums", "window": [1, 4], "modulus": 4, "terms": 2, "asked": "each"}),
        ("match2", {"kind": "sums", "window": [1, 4], "modulus": 4, "terms": 3, "asked": "each"}),
        ("match2-code", {"kind": "sums", "window": [1, 4], "modulus": 4, "terms": 2, "asked": "any"}),
        ("match3-last", {"kind": "sums", "window": [1, 4], "modulus": 4, "terms": 2, "asked": "each"}),
    ):
        parameters = {"keys": 3} if name == "mqar" else {"modulus": 4}
        content, data = proved(name, 4 if name == "mqar" else 3, parameters)
        file = File(data)
        if name == "mqar":
            taken = {each for each in file.tensors if each.startswith(("layers.2", "layers.3"))}
            file.tensors = {each: value for each, value in file.tensors.items() if each not in taken}
            file.structure["layers"] = file.structure["layers"][:2]
            content["proof"]["statements"] = content["proof"]["statements"][:2]
        else:
            # Triples and pairs are another matter, in the specification and in the network.
            file.structure["readout"]["at"] = "last" if name == "match2-code" else "every"
            content["specification"]["answer"] = answer
            content["specification"]["inputs"] = [
                {"count": 1, "tokens": [0, 1]}, {"count": 3, "tokens": [1, 5]},
            ]  # fmt: skip
        with pytest.raises(RefusedError):
            check(claimed(content, file.to_bytes()), file.to_bytes())


def test_answers_at_several_positions_are_read_at_every_one():
    content, data = proved("mqar", 4)
    file = File(data)
    file.structure["readout"]["at"] = "last"
    with pytest.raises(RefusedError):
        check(claimed(content, file.to_bytes()), file.to_bytes())
    plain = {**content, "proof": {"rule": "enumeration"}}
    assert check(plain, data).rule == "enumeration"
    wrong = constructions()["mqar"].build(4, Options(variant="unmasked")).network
    with pytest.raises(RefusedError):
        check({**claimed(plain, to_bytes(wrong))}, to_bytes(wrong))


@pytest.mark.parametrize(("mask", "alike"), [("strict", True), ("causal", False), ("none", False)])
def test_queries_that_see_themselves_are_told_apart_by_their_values(mask, alike):
    """The address of a query is its value: one box for all of them would hold the first one's alone."""
    content, data = proved("mqar", 8)
    file = File(data)
    file.structure["layers"][0]["heads"][0]["mask"] = mask
    numbers = Numbers(content["arithmetic"])
    network = Reader(file.to_bytes(), numbers).network()
    inputs, _ = read_specification(content["specification"])
    assert isinstance(network, Transformer)
    live = [place for place, row in enumerate(network.layers[0].heads[0].output.rows) if row]
    layer = ContentLayer(network, live, inputs, [range(0, 8, 2), range(1, 8, 2), range(8, 12)], numbers)
    assert (layer.look(8) == layer.look(11)) == alike
    case = [Case(((0, 3), (position, 3)), {0: range(3, 4), 2: range(3, 4)}) for position in (8, 11)]
    boxes = [layer.box(at, 3, layer.groups(at, 3, each), each) for at, each in zip((8, 11), case, strict=True)]
    assert (boxes[0] == boxes[1]) == alike


def test_positions_that_look_different_are_not_compared():
    content, data = proved("match2-code", 3, {"modulus": 4})
    file = File(data)
    for part in file.structure["embedding"]:
        if part["slot"] == "key":
            part["positions"] = [0, 3]
    with pytest.raises(RefusedError) as refusal:
        check(claimed(content, file.to_bytes()), file.to_bytes())
    assert "depend on their positions" in str(refusal.value)


def test_counts_of_distances_are_those_of_the_words():
    """Words of a code of 64 numbers, so many that cosets are used."""
    content, data = proved("match2-code", 2, {"modulus": 64})
    numbers = Numbers(content["arithmetic"])
    network = Reader(data, numbers).network()
    assert isinstance(network, Transformer)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    view = Projection(network, layer.heads[0].key, numbers)
    choices = choices_of(view, 1, range(1, 65), numbers)
    assert choices.size == numbers.scale
    assert any(block.coset for block in choices.blocks)
    counted = Counter((choices.words[3] ^ word).bit_count() for word in choices.words)
    assert sum((block.distances(choices.words[3]) for block in choices.blocks), Counter()) == counted


FINE = Numbers("fixed:N=4,Kc=4,down")


def dense(random, rows, columns, entries):
    """A matrix of some of these numbers, in units of 1/16."""
    held = [[random.choice(entries) * FINE.scale // 16 for _ in range(columns)] for _ in range(rows)]
    return Matrix(tuple(tuple((c, w) for c, w in enumerate(row) if w) for row in held), columns)


def holds(layer, network, inputs, cases, answers):
    """The box of a query holds what evaluation gives on all inputs of each case."""
    roles = [range(3), range(3, 4)]
    content = ContentLayer(network, list(range(network.width)), inputs, roles, FINE)
    for position, case, rows in cases:
        box = content.box(position, 0, content.groups(position, 0, case), case)
        for row in rows:
            stream = [embed(network, each, place, FINE) for place, each in enumerate(answers(row))]
            graph = adjacency(row, network.positions) if network.reads_graphs else []
            found = attend(layer, stream, FINE, graph)[position]
            assert all(low <= each <= high for each, (low, high) in zip(found, box, strict=True))


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("pairs", [True, False])
def test_boxes_of_a_layer_hold_every_input_of_a_case(scoring, residual, pairs):
    """Three positions of one kind and one other; scores are so near each other that all keys have a weight."""
    random = Random(f"{scoring}{residual}")
    every = [(*row, 0) for row in product(range(3), repeat=3)]
    for _ in range(8):
        width = 3
        keys = [random.choice((-2, 0, 0, 1, 16)) for _ in range(3)]
        rows = [[key * FINE.scale // 16, random.choice((-9, 0, 5, 16)) * FINE.scale // 16, FINE.scale] for key in keys]
        parts = (
            Part(0, width, True, (0, 3), (0, 3), None, lambda number, rows=rows: rows[number]),
            Part(0, width, True, (0, 1), (3, 4), None, lambda number, rows=rows: [rows[1][1], rows[0][0], FINE.scale]),
        )
        query, output = dense(random, 1, width, (0, 0, 3, 16)), dense(random, width, 1, (0, -16, 5, 16))
        one, two, three, four = (dense(random, 1, width, (0, 0, 5, 16)) for _ in range(4))
        head = Head(query, one, two, output, scoring, "none")
        both = PairHead(query, (one, two), (three, four), output, scoring)
        layer = PairAttention((both,), residual) if pairs else Attention((head,), residual)
        inputs = Inputs([range(3)] * 3 + [range(1)], [])
        readout = Readout(Matrix(((),), width), [0], "bits", "last")
        network = Transformer(3, 4, width, parts, (layer,), readout)

        def held(row):
            return {3 * a + b for a, b in product(row[:3], repeat=2)} if pairs else set(row[:3])

        names = range(9 if pairs else 3)
        cases = [(3, Case(), every)]
        for name in names:
            cases.append((3, Case(some=frozenset([name])), [row for row in every if name in held(row)]))
            without = [row for row in every if name not in held(row)]
            cases.append((3, Case(without={0: frozenset([name])}), without))
        if not pairs:
            for row in every:
                cases.append((3, Case(tuple(enumerate(row[:3]))), [row]))
                cases.append((3, Case(((1, row[1]),)), [each for each in every if each[1] == row[1]]))
        holds(layer, network, inputs, cases, tuple)


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost", "linear", "relu"])
@pytest.mark.parametrize("residual", [True, False])
def test_boxes_of_a_layer_hold_every_graph(scoring, residual):
    """Vertices of which each is on a cycle or not; for linear and ReLU attention values and other scores are equal."""
    random = Random(f"{scoring}{residual}")
    every = list(product(range(2), repeat=6))
    for _ in range(8):
        summed = scoring in ("linear", "relu")
        common = random.choice((-5, 0, 3, 16))
        scores = [common if summed else random.choice((-5, 0, 3, 16)) for _ in range(7)] + [random.choice((-5, 0, 9))]
        value = [random.choice((0, 5, 16)), 16]
        rows = [value if summed else [random.choice((0, 5, 16)), 16] for _ in range(3)]
        rows = [[each * FINE.scale // 16 for each in row] for row in rows]
        part = Part(0, 2, False, (0, 1), (0, 3), None, rows.__getitem__)
        matrices = tuple(dense(random, 2, 2, (0, 5, 16)) for _ in range(2))
        raw = [each * FINE.scale // 16 for each in (*scores, random.choice((-5, 0, 20)))]
        head = GraphHead(raw[:8], raw[8], matrices, dense(random, 2, 2, (0, -16, 5, 16)), scoring)
        layer = GraphAttention((head,), residual)
        readout = Readout(Matrix(((),), 2), [0], "bits", "every")
        network = Transformer(1, 3, 2, (part,), (layer,), readout)
        spec = Cycles(3)
        cases = []
        for vertex in range(3):
            right = {row: spec.right(row)[vertex] for row in every}
            cases.append((vertex, Case(some=ALL_EDGES), [row for row in every if right[row]]))
            cases.append((vertex, Case(without={0: ALL_EDGES}), [row for row in every if not right[row]]))
        holds(layer, network, spec.held(Inputs([], [])), cases, lambda row: (0,) * 3)


def test_values_that_are_put_together_are_whole_if_all_are():
    for first, second in product((True, False), repeat=2):
        _, (value,) = together([(1, 0, 0, 0)] * 2, [((1, 1, first),), ((0, 2, second),)], ["a", "a"])
        assert value == ((0, 2, first and second),)
