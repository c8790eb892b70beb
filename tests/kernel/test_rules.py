"""The rules: what they prove, what they refuse, and every piece of them held to plain evaluation."""

import copy
from collections import Counter
from itertools import product
from random import Random

import pytest

from separatrix.constructions import Options, constructions
from separatrix.networks.store import to_bytes
from separatrix.provers import prove
from separatrix_kernel.attention import FixedWeights, Words, blocks, packed
from separatrix_kernel.boxes import BoxLayer, BoxReadout, live_coordinates
from separatrix_kernel.checker import check
from separatrix_kernel.counting import Polynomial
from separatrix_kernel.evaluation import decode, embed, feed_forward, read, score
from separatrix_kernel.network import Attention, FeedForward, Matrix, Reader, Readout, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import wrong_input
from tests.kernel.mutants import campaign, rules_accept

PROVED = (
    ("index-lookup", 5, "64^5*5", "layers"),
    ("index-lookup", 64, "64^65", "layers"),
    ("equality", 40, "2^40", "layers"),
    ("equality-partition", 16, "2^16", "layers"),
    ("majority", 33, "2^33", "layers"),
    ("cnf", 12, "2^12", "layers"),
    ("dnf", 12, "2^12", "layers"),
    ("disjointness", 40, "2^40", "layers"),
    ("dyck-rnn", 1000, "4^1000", "automaton"),
    ("dyck-dfa", 1000, "4^1000", "automaton"),
    ("associative-recall", 16, "32!/16!*2^16*16", "layers"),
    ("mqar", 16, "16!/8!*2^8*8!", "layers"),
    ("match2", 8, "64^8", "layers"),
    ("match2-code", 16, "256^16", "layers"),
    ("match3-last", 8, "64^7", "layers"),
    ("match3", 4, "16^4", "layers"),
    ("match3-heads", 8, "64^8", "layers"),
    ("directed-3-cycle", 100, "2^9900", "layers"),
)


@pytest.mark.parametrize(("name", "length", "covered", "rule"), PROVED)
@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_constructions_are_proved_from_their_weights_alone(name, length, covered, rule, rounding):
    content, data = proved(name, length, rounding=rounding)
    accepted = check(content, data)
    assert (accepted.inputs_covered, accepted.rule, accepted.length) == (covered, rule, length)
    assert rounding in accepted.arithmetic


def test_what_the_rules_accept_is_right_on_every_input():
    found = campaign(300, 11, {name for name, *_ in PROVED[:10]})
    assert found["wrong"] == 0
    assert found["right"] > 30
    assert found["refused"] > 30


@pytest.mark.parametrize("attention", ["hard", "leftmost", "relu", "linear"])
def test_other_attention_is_judged_as_it_is(attention):
    built = constructions()["index-lookup"].build(4, Options(parameters={"alphabet": 2}, attention=attention))
    found = prove(built.network, built.task, 4, built.arithmetic)
    data = to_bytes(built.network)
    base, _ = proved("index-lookup", 4, {"alphabet": 2})
    assert (found is not None) == (wrong_input(claimed(base, data), data) is None)


def forged(content, change):
    """The content with its proof changed."""
    other = copy.deepcopy(content)
    change(other["proof"])
    return other


def test_every_altered_statement_is_refused():
    content, data = proved("equality", 8)
    places = content["proof"]["statements"][0]["places"]
    changes = [
        lambda proof: proof.update(rule="trust me"),
        lambda proof: proof.update(rule="automaton"),
        lambda proof: proof.update(more=1),
        lambda proof: proof["statements"].pop(),
        lambda proof: proof["statements"].append({"kind": "feed-forward"}),
        lambda proof: proof["statements"][0].update(by="token"),
        lambda proof: proof["statements"][0].update(kind="count"),
        lambda proof: proof["statements"][0]["places"].pop(),
        lambda proof: proof["statements"][0]["places"].append([]),
        lambda proof: proof["statements"][0]["places"][7].append(8),
        lambda proof: proof["statements"][0]["places"][7].append(places[7][0]),
        lambda proof: proof["statements"][0]["places"][7].clear(),
        lambda proof: proof["statements"][0]["places"].reverse(),
        lambda proof: proof["statements"][1].update(kind="count"),
        lambda proof: proof["statements"][1].update(more=1),
        lambda proof: proof["statements"][2].update(kind="feed-forward"),
        lambda proof: proof["statements"].__setitem__(2, {}),
    ]
    for change in changes:
        with pytest.raises(RefusedError):
            check(forged(content, change), data)
    with pytest.raises(RefusedError):
        check({**content, "proof": []}, data)
    more = forged(content, lambda proof: proof["statements"][0]["places"][7].append(0))
    assert check(more, data).rule == "layers"


def test_a_place_that_is_named_for_nothing_makes_a_lookup_no_less_true():
    content, data = proved("index-lookup", 4, {"alphabet": 2})
    more = forged(content, lambda proof: [each.append(4) for each in proof["statements"][0]["places"]])
    assert check(more, data).rule == "layers"
    for places in ([], [3, 3], [1]):
        with pytest.raises(RefusedError):
            check(forged(content, lambda proof, p=places: proof["statements"][0]["places"].__setitem__(0, p)), data)


def test_the_answer_is_the_specifications_and_no_other():
    content, data = proved("index-lookup", 4, {"alphabet": 2})
    table = [tokens[3] for tokens in product((0, 1), (0, 1), (0, 1), (0, 1), range(4))]
    for answer in ({"kind": "select", "by": 3, "first": 0}, {"kind": "table", "answers": table}):
        with pytest.raises(RefusedError):
            check({**content, "specification": {**content["specification"], "answer": answer}}, data)
    content, data = proved("majority", 5)
    for answers in ([[0, 1], [3, 0]], [[0, 0], [4, 1]], [[0, 0]]):
        specification = copy.deepcopy(content["specification"])
        specification["answer"]["answers"] = answers
        with pytest.raises(RefusedError):
            check({**content, "specification": specification}, data)
    specification = copy.deepcopy(content["specification"])
    specification["answer"]["conditions"][0]["places"][0] = [2]
    with pytest.raises(RefusedError):
        check({**content, "specification": specification}, data)
    with pytest.raises(RefusedError):
        check(
            {
                **content,
                "specification": {**content["specification"], "answer": {"kind": "select", "by": 0, "first": 2}},
            },
            data,
        )


def test_a_lookup_of_a_fixed_place_is_decided_by_the_specification_itself():
    """The last position's token decides which condition is looked at: each case is compared with what is known."""
    content, data = proved("index-lookup", 2, {"alphabet": 2})
    entries = [int(tokens[tokens[2] - 2]) for tokens in product((0, 1), (0, 1), (2, 3))]
    count = {"kind": "count", "conditions": [{"places": [[0, 1, 2]], "table": entries}], "answers": [[0, 0], [1, 1]]}
    both = forged(content, lambda proof: proof["statements"][0].update(places=[[0, 1], [0, 1]]))
    both["specification"] = {**content["specification"], "answer": count}
    assert check(both, data).rule == "layers"
    count["conditions"][0]["table"][0] = 1
    with pytest.raises(RefusedError):
        check(both, data)


def test_positions_vocabulary_and_the_place_of_the_readout_must_fit():
    content, data = proved("equality", 4)
    for runs in ([{"count": 5, "tokens": [0, 2]}], [{"count": 4, "tokens": [0, 3]}]):
        answer = {"kind": "count", "conditions": [], "answers": [[0, 1]]}
        with pytest.raises(RefusedError):
            check({**content, "specification": {"inputs": runs, "answer": answer}}, data)
    file = File(data)
    file.structure["readout"]["at"] = "every"
    with pytest.raises(RefusedError):
        check(claimed(content, file.to_bytes()), file.to_bytes())


def test_enumeration_runs_every_input_and_no_more_than_it_can():
    content, data = proved("equality", 6)
    plain = {**content, "proof": {"rule": "enumeration"}}
    assert check(plain, data).rule == "enumeration"
    specification = copy.deepcopy(content["specification"])
    specification["answer"]["answers"] = [[0, 1], [1, 0], [3, 1]]
    with pytest.raises(RefusedError):
        check({**plain, "specification": specification}, data)
    content, data = proved("equality", 40)
    for rule in ("enumeration", "automaton"):
        with pytest.raises(RefusedError):
            check({**content, "proof": {"rule": rule}}, data)


def test_automata_are_walked_to_the_exact_length(monkeypatch):
    content, data = proved("dyck-rnn", 6)
    assert check(content, data).inputs_covered == "4^6"
    specification = copy.deepcopy(content["specification"])
    states = len(specification["answer"]["answers"])
    # At even lengths an odd number of brackets is never open, so what is answered there does not matter.
    for state in range(1, states - 1):
        odd = copy.deepcopy(specification)
        odd["answer"]["answers"][state] = 1
        runs = next(depth for depth in range(9) if state < sum(2**level for level in range(depth + 1)))
        if runs % 2:
            assert check({**content, "specification": odd}, data).rule == "automaton"
        else:
            with pytest.raises(RefusedError):
                check({**content, "specification": odd}, data)
    with pytest.raises(RefusedError):
        check({**content, "proof": {"rule": "layers", "statements": []}}, data)
    monkeypatch.setattr("separatrix_kernel.rules.MOST_PAIRS", 3)
    with pytest.raises(RefusedError):
        check(content, data)


def test_the_last_net_catches_what_a_wrong_rule_would_let_through(monkeypatch):
    content, data = proved("equality", 4)
    monkeypatch.setattr("separatrix_kernel.checker.LAST_NET", 8)
    monkeypatch.setattr("separatrix_kernel.rules.Claim.prove", lambda self, proof: "layers")
    specification = copy.deepcopy(content["specification"])
    specification["answer"]["answers"] = [[0, 0], [1, 1]]
    with pytest.raises(RefusedError):
        check({**content, "specification": specification}, data)


def random_matrix(random, rows, columns, numbers):
    """Whole and broken weights, some beyond the range's root."""
    choices = (
        0,
        1,
        -1,
        numbers.scale,
        -numbers.scale,
        3 * numbers.scale,
        numbers.scale // 2,
        numbers.limit,
        -numbers.limit,
    )
    dense = [[random.choice(choices) for _ in range(columns)] for _ in range(rows)]
    return Matrix(tuple(tuple((c, w) for c, w in enumerate(row) if w) for row in dense), columns)


@pytest.mark.parametrize("name", ["fixed:N=3,Kc=1,down", "fixed:N=10,Kc=1,nearest", "fixed:N=4,Kc=2,down"])
def test_boxes_hold_what_is_computed_from_every_vector_in_them(name):
    numbers, random, sharp = Numbers(name), Random(name), 0
    for _ in range(400):
        units, width = random.randint(1, 4), 2
        bias = [random.choice((0, -numbers.scale, numbers.scale, 7, -numbers.limit)) for _ in range(units + width)]
        layer = FeedForward(
            random_matrix(random, units, width, numbers), bias[:units], random_matrix(random, width, units, numbers),
            bias[units:], random.random() < 0.5,
        )  # fmt: skip
        low = [random.randint(-2 * numbers.scale, 2 * numbers.scale) for _ in range(width)]
        box = tuple((each, each + random.randint(0, 3)) for each in low)
        readout = Readout(
            random_matrix(random, 2, width, numbers), bias[:1] * 2, random.choice(("bits", "argmax", "exact")), "last"
        )
        result = BoxLayer(layer, [0, 1], [0, 1], numbers)(box)
        answer = BoxReadout(readout, [0, 1], numbers)(box)
        for vector in product(*[range(a, b + 1) for a, b in box]):
            found = feed_forward(layer, list(vector), numbers)
            assert all(a <= each <= b for each, (a, b) in zip(found, result, strict=True))
            assert answer in (None, decode(readout, read(readout, list(vector), numbers), numbers))
        sharp += all(a == b for a, b in result)
    assert sharp > 100


def test_one_of_three_coordinates_is_the_largest_for_certain():
    numbers = Numbers("fixed:N=3,Kc=1,down")
    one = numbers.scale
    rows = Matrix(tuple(((place, one),) for place in range(3)), 3)
    largest = BoxReadout(Readout(rows, [0] * 3, "argmax", "last"), [0, 1, 2], numbers)
    for box, answer in (
        (((3, 3), (1, 5), (0, 0)), None), (((3, 3), (0, 0), (1, 5)), None), (((3, 3), (3, 3), (0, 3)), 0),
        (((0, 2), (3, 5), (0, 3)), 1), (((0, 3), (3, 3), (0, 0)), None), (((0, 1), (2, 2), (0, 3)), None),
    ):  # fmt: skip
        assert largest(box) == answer
    exact = BoxReadout(Readout(rows, [0] * 3, "exact", "last"), [0, 1, 2], numbers)
    assert exact(((one, one), (0, 0), (one, one))) == 5
    assert exact(((one, one), (0, 1), (one, one))) is None


def test_noise_cancels_where_units_are_affine():
    numbers = Numbers("fixed:N=8,Kc=2,down")
    one = numbers.scale
    inner, outer = Matrix((((0, 4 * one),), ((0, 4 * one),)), 1), Matrix((((0, one), (1, -one)),), 2)
    layer = BoxLayer(FeedForward(inner, [-one, -2 * one], outer, [0], False), [0], [0], numbers)
    assert layer(((one // 2, one),)) == ((one, one),)
    assert layer(((0, one // 4),)) == ((0, 0),)
    low, high = layer(((0, one),))[0]
    assert (low, high) != (one, one)


def test_linear_words_are_counted_by_coset_and_others_one_by_one():
    random = Random(9)
    code = [0]
    for row in [random.getrandbits(24) for _ in range(7)]:
        code += [word ^ row for word in code]
    for words in (
        code,
        [word ^ 12345 for word in code],
        code[1:],
        [random.getrandbits(24) for _ in range(90)],
        code[:5],
        [1, 1],
    ):
        found = blocks(3, words)
        assert [word for each in found for word in each.words] == words
        queries = [*words[:20], *[random.getrandbits(24) for _ in range(20)]]
        for block in found:
            names = {}
            for query in queries:
                counted = Counter((query ^ word).bit_count() for word in block.words)
                assert block.distances(query) == counted
                assert names.setdefault(block.name(query), counted) == counted
    # The words x11 of six numbers x, and 64 of all with six bits besides, which have the same bits beyond the first's.
    for words in ([3 ^ 4 * each for each in range(64)], [3, *random.sample([*range(3), *range(4, 128)], 63)]):
        names = {}
        for query in range(256):
            counted = Counter((query ^ word).bit_count() for word in words)
            assert names.setdefault(Words(words).name(query), counted) == counted
    assert Words(code).coset
    assert Words(code).name(code[5]) == Words(code).name(code[99])
    assert not Words(code[1:]).coset


@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
@pytest.mark.parametrize("base", [("index-lookup", 4, {"alphabet": 2}), ("majority", 5, {}), ("equality", 6, {})])
def test_a_head_sees_what_evaluation_sees(base, mask):
    content, data = proved(*base)
    file = File(data)
    for layer in file.structure["layers"]:
        for head in layer.get("heads", []):
            head["mask"] = mask
    numbers = Numbers(content["arithmetic"])
    network = Reader(file.to_bytes(), numbers).network()
    inputs, _ = read_specification(content["specification"])
    assert isinstance(network, Transformer)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    for number, head in enumerate(layer.heads):
        fixed = FixedWeights(head, network, inputs, numbers, f"head {number}")
        for position in range(network.positions):
            for token in inputs.tokens[position]:
                query = head.query.apply(embed(network, token, position, numbers), numbers)
                seen = fixed.seen(position, query, packed(query))
                for tokens in list(inputs.all())[::7]:
                    stream = [embed(network, each, place, numbers) for place, each in enumerate(tokens)]
                    keys = [head.key.apply(each, numbers) for each in stream][: head.visible(position, len(stream))]
                    scores = [score(query, key, numbers) for key in keys]
                    weights = numbers.weights(head.scoring, Counter(scores))
                    assert weights == seen.weights
                    values = [head.value.apply(each, numbers) for each in stream]
                    for place in range(len(head.value.rows)):
                        total = sum(numbers.product(weights[s], v[place]) for s, v in zip(scores, values, strict=False))
                        assert seen.low[place] <= total <= seen.high[place]


def test_only_vectors_of_one_size_are_taken_as_signs():
    assert packed([2, -2, 2]) == (2, 0b010)
    assert packed([-7]) == (7, 1)
    for other in ([], [0], [0, 0], [3, 5], [-3, 5], [3, -3, 4], [3, -3, 0], [5, 3], [-2, -3]):
        assert packed(other) is None


@pytest.mark.parametrize("base", [("index-lookup", 5, {"alphabet": 2}), ("majority", 5, {})])
def test_keys_are_scored_as_evaluation_scores_them_whatever_the_query_is(base):
    content, data = proved(*base)
    numbers, random = Numbers(content["arithmetic"]), Random(8)
    network = Reader(data, numbers).network()
    inputs, _ = read_specification(content["specification"])
    assert isinstance(network, Transformer)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    head = layer.heads[0]
    fixed = FixedWeights(head, network, inputs, numbers, "a head")
    size, ends = len(head.query.rows), (numbers.limit, -numbers.limit, 0, 1, -1, 3 * numbers.scale, -numbers.scale // 2)
    for number in range(60):
        # Mixed entries, signs of one size, and sizes whose products are saturated.
        some = random.choice(ends) or 7
        signs = [random.choice((some, -some)) for _ in range(size)]
        query = signs if number % 2 else [random.choice(ends) for _ in range(size)]
        found = fixed.seen(0, query, packed(query))
        counts = Counter()
        for position, tokens in enumerate(inputs.tokens):
            key = head.key.apply(embed(network, tokens.start, position, numbers), numbers)
            right = score(query, key, numbers)
            assert fixed.score(query, packed(query), fixed.key_of[position]) == right
            counts[right] += 1
        assert found.weights == numbers.weights(head.scoring, counts)


def test_polynomials_are_the_functions_they_are_made_of():
    random = Random(4)
    inputs, _ = read_specification(
        {
            "inputs": [{"count": 2, "tokens": [0, 2]}, {"count": 1, "tokens": [1, 4]}],
            "answer": {"kind": "table", "answers": [0] * 12},
        }
    )
    for _ in range(50):
        places = tuple(random.sample(range(3), random.randint(0, 3)))
        size = 1
        for place in places:
            size *= len(inputs.tokens[place])
        table = tuple(random.randint(-3, 3) for _ in range(size))
        found = Polynomial(inputs)
        found.add(places, table)
        for tokens in inputs.all():
            number = 0
            for place in places:
                number = number * len(inputs.tokens[place]) + inputs.tokens[place].index(tokens[place])
            held = {(place, inputs.tokens[place].index(token)) for place, token in enumerate(tokens)}
            value = sum(each for name, each in found.terms.items() if set(name) <= held)
            assert value == table[number]
        twice = Polynomial(inputs)
        twice.add(places, tuple(2 * each + 5 for each in table))
        line = twice.line_of(found)
        assert line is not None
        assert all(2 * each + 5 == line[0] * each + line[1] for each in table)
        if len(set(table)) > 1:
            assert found.line_of(twice) is None or 2 * found.line_of(twice)[0] == 1


def test_coordinates_that_nothing_reads_are_not_live():
    content, data = proved("equality", 4)
    network = Reader(data, Numbers(content["arithmetic"])).network()
    assert isinstance(network, Transformer)
    live = live_coordinates(network)
    assert len(live) == len(network.layers) + 1
    assert live[-1] == sorted(network.readout.matrix.reads)
    assert len(live[0]) > len(live[1]) > len(live[-1])


def test_keys_that_depend_on_tokens_are_refused():
    content, data = proved("equality", 4)
    file = File(data)
    kind, shape, numbers = file.tensors["layers.0.heads.0.key"]
    numbers[0] = 1
    with pytest.raises(RefusedError) as refusal:
        rules_accept(claimed(content, file.to_bytes()), file.to_bytes())
    assert "depends on its token" in str(refusal.value)
    assert (kind, len(shape)) == ("I64", 2)
