"""Power sums and graphs: what these rules accept is right on every input, and each of their obligations can fail."""

import copy
from itertools import product
from random import Random

import pytest

from separatrix.constructions import constructions
from separatrix.networks.store import to_bytes
from separatrix.provers import prove
from separatrix_kernel.checker import check
from separatrix_kernel.evaluation import evaluate, patterns, sketched
from separatrix_kernel.network import Reader
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.powers import distance
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import adjacency
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import Slow, wrong_input
from tests.kernel.mutants import campaign, rules_accept

POWERS, GRAPH = ("match3-heads", 3, {"modulus": 4}), ("directed-3-cycle", 3, {})
HEAD = "layers.0.heads.0."


def test_what_the_rules_accept_is_right_on_every_input():
    for name, count in (("match3-heads", 150), ("directed-3-cycle", 60)):
        found = campaign(count, 5, {name})
        assert found["wrong"] == 0
        assert found["right"] > 10
        assert found["refused"] > 10


def changed(base, **numbers):
    """A proved network with entries of some tensors replaced, and the claim about it."""
    content, data = proved(*base)
    file = File(data)
    for name, change in numbers.items():
        change(file.tensors[name.replace("__", ".")][2])
    data = file.to_bytes()
    return claimed(content, data), data


def judged(content, data):
    """Whether the rules accept; what they accept must be right on every input."""
    try:
        rules_accept(content, data)
    except RefusedError as refusal:
        return str(refusal)
    assert wrong_input(content, data) is None
    return ""


@pytest.mark.parametrize("modulus", [2, 5])
def test_sketches_stand_for_the_numbers_that_were_summed(modulus):
    for count in (1, 2, 3):
        for held in product(range(modulus), repeat=count):
            sums = tuple(sum(each**power for each in held) % 5 for power in range(1, count + 1))
            assert sketched(sums, modulus, 5) == set(held)
    assert [distance([each], 7) for each in range(-3, 8)] == [3, 2, 1, 0, 1, 2, 3, 3, 2, 1, 0]


@pytest.mark.parametrize("base", [POWERS, GRAPH])
def test_the_evaluation_is_that_of_the_second_evaluation_whatever_the_weights(base):
    content, data = proved(*base)
    random, arithmetic = Random(7), content["arithmetic"]
    for round_ in range(12):
        file = File(data)
        for kind, _, numbers in file.tensors.values():
            for place in range(len(numbers)):
                if kind == "I64" and random.random() < 0.3:
                    numbers[place] = random.choice((0, 1, -1, 2, 5, -7, 1 << 40, -(1 << 63)))
        file.structure["layers"][0]["residual"] = round_ % 2 == 0
        for head in file.structure["layers"][0]["heads"]:
            head["scoring"] = random.choice(("softmax", "hard", "leftmost", "linear", "relu"))
        numbers, changed_data = Numbers(arithmetic), file.to_bytes()
        network, slow = Reader(changed_data, numbers).network(), Slow(changed_data, arithmetic).everywhere()
        runs = [range(*run["tokens"]) for run in content["specification"]["inputs"] for _ in range(run["count"])]
        for _ in range(4):
            tokens = tuple(random.choice(each) for each in runs)
            assert evaluate(network, tokens, numbers, 3, (), 1) == slow(tokens)[-3:]


def test_graphs_are_read_row_by_row_without_their_diagonal():
    graph = adjacency((1, 0, 0, 1, 1, 0), 3)
    assert graph == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    # Vertex 1 is on the cycle 1 → 2 → 3 → 1: the pair (2, 3) has all three edges.
    assert patterns(graph, 0) == [0, 2, 1, 4, 4, 7, 2, 0, 1]


CONTRIBUTIONS = [
    # A prime more is the same element of the field; half of it is not.
    ("embedding__1__table", lambda numbers: numbers.__setitem__(0, numbers[0] + 5), True),
    ("embedding__1__table", lambda numbers: numbers.__setitem__(0, numbers[0] + 1), False),
    ("embedding__1__table", lambda numbers: numbers.__setitem__(3, numbers[3] - 5), True),
    ("embedding__0__table", lambda numbers: numbers.__setitem__(0, numbers[0] - 4), True),
    ("embedding__0__table", lambda numbers: numbers.__setitem__(0, numbers[0] + 5), False),
    ("readout__bias", lambda numbers: numbers.__setitem__(0, 4), True),
    ("readout__bias", lambda numbers: numbers.__setitem__(0, 5), False),
    ("readout__bias", lambda numbers: numbers.__setitem__(2, -5), True),
    ("readout__bias", lambda numbers: numbers.__setitem__(2, 4), False),
    ("readout__bias", lambda numbers: numbers.__setitem__(1, 1 << 62), False),
    ("readout__matrix", lambda numbers: numbers.__setitem__(0, 1 << 62), False),
    ("readout__matrix", lambda numbers: numbers.__setitem__(0, 5), True),
    ("layers__0__heads__0__value", lambda numbers: numbers.__setitem__(1, 1 << 62), False),
    ("layers__0__heads__1__output", lambda numbers: numbers.__setitem__(5, -1), False),
    ("layers__0__heads__0__query", lambda numbers: numbers.__setitem__(0, 9), True),
]


@pytest.mark.parametrize(("name", "change", "right"), CONTRIBUTIONS)
def test_only_classes_of_contributions_count(name, change, right):
    content, data = changed(POWERS, **{name: change})
    assert (judged(content, data) == "") == right
    assert (wrong_input(content, data) is None) == right or not right


def test_obligations_of_power_sums():
    content, data = proved(*POWERS)
    answer = content["specification"]["answer"]

    def claim(**changes):
        return {**content, "specification": {**content["specification"], "answer": {**answer, **changes}}}

    assert "another question" in judged(claim(modulus=2), data)
    assert "another question" in judged(claim(terms=2), data)
    assert "number of tokens" in judged(claim(window=[2, 4]), data)
    assert judged(claim(asked="any"), data)
    for key, value in (("mask", "causal"), ("scoring", "leftmost")):
        file = File(data)
        file.structure["layers"][0]["heads"][1][key] = value
        assert judged(claimed(content, file.to_bytes()), file.to_bytes())
    file = File(data)
    file.structure["layers"][0]["residual"] = False
    assert "rounded to a wrong number" in judged(claimed(content, file.to_bytes()), file.to_bytes())
    scored = changed(
        POWERS, **{HEAD + "query": lambda n: n.__setitem__(0, 1), HEAD + "key": lambda n: n.__setitem__(0, 1)}
    )
    assert "alike" in judged(*scored)
    for statement in ({"kind": "match"}, {"kind": "idle"}, {"kind": "power-sums", "more": 1}):
        with pytest.raises(RefusedError):
            check({**content, "proof": {"rule": "layers", "statements": [statement]}}, data)
    # The same network with a feed-forward behind it, or with a layer of heads that write nothing.
    file = File(data)
    width = sum(size for _, size in file.structure["slots"])
    layer = {"kind": "feed-forward", "residual": True}
    for name, shape in (
        ("inner", [1, width]),
        ("inner_bias", [1, 1]),
        ("outer", [width, 1]),
        ("outer_bias", [width, 1]),
    ):
        file.tensors[name] = ("I64", shape, [0] * (shape[0] * shape[1]))
        layer[name] = {"numerators": name, "denominator": 1}
    file.structure["layers"].append(layer)
    other = claimed(content, file.to_bytes())
    other["proof"] = {"rule": "layers", "statements": [{"kind": "power-sums"}, {"kind": "idle"}]}
    assert not judged(other, file.to_bytes())
    file.tensors["outer_bias"][2][0] = 4
    other = claimed(content, file.to_bytes())
    other["proof"] = {"rule": "layers", "statements": [{"kind": "power-sums"}, {"kind": "feed-forward"}]}
    assert "single layer" in judged(other, file.to_bytes())
    file = File(data)
    for name in [name for name in file.tensors if name.endswith("output")]:
        file.tensors[name][2][:] = [0] * len(file.tensors[name][2])
    file.structure["layers"][0]["residual"] = False
    assert "rounded to a wrong number" in judged(claimed(content, file.to_bytes()), file.to_bytes())


@pytest.mark.parametrize("sums", [[4, 4], [5, 5], [4, 3], [1, 5], [4, 9], [4], "4", [4, (1 << 31) + 11], None])
def test_the_numbers_of_a_decoding_are_read_strictly(sums):
    content, data = proved(*POWERS)
    file = File(data)
    if sums is None:
        del file.structure["readout"]["power_sums"]
    else:
        file.structure["readout"]["power_sums"] = sums
    with pytest.raises(RefusedError):
        check(claimed(content, file.to_bytes()), file.to_bytes())


def test_a_decoding_for_more_numbers_than_the_field_has_is_refused():
    content, data = proved("match3-heads", 4, {"modulus": 2})
    file = File(data)
    assert file.structure["readout"]["power_sums"] == [2, 5]
    file.structure["readout"]["power_sums"] = [2, 3]
    assert "prime" in judged(claimed(content, file.to_bytes()), file.to_bytes())


def test_sums_that_rounding_does_not_restore_are_refused():
    """The same network in ever coarser numbers: accepted only where it is right."""
    content, data = proved("match3-heads", 2, {"modulus": 3})
    seen = set()
    for rounding in ("down", "nearest"):
        for base, power in product((2, 3, 4, 5, 10), (1, 2, 3, 4)):
            reason = judged({**content, "arithmetic": f"fixed:N={base},Kc={power},{rounding}"}, data)
            seen.add(reason.split(" ", 2)[-1])
    assert {"", "of the readout may be saturated", "of the readout may be rounded to a wrong number"} <= {
        each.split(" ", 1)[-1] if each[:1].isdigit() else each for each in seen
    }
    heavy = changed(POWERS, **{HEAD + "output": lambda numbers: numbers.__setitem__(4, 1 << 62)})
    assert "of a head may be saturated" in judged(*heavy)


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_biases_at_the_ends_of_rounding(rounding):
    """A coordinate that is off by almost a half is rounded rightly, one that is off by a half need not be."""
    content, data = proved(*POWERS)
    content = {**content, "arithmetic": f"fixed:N=10,Kc=3,{rounding}"}
    assert judged(content, data) == ""
    for row in (0, 2):
        for off in (-500, -499, 499, 500):
            file = File(data)
            file.structure["readout"]["bias"]["denominator"] = 1000
            file.tensors["readout.bias"][2][row] = off
            other = claimed(content, file.to_bytes())
            assert (judged(other, file.to_bytes()) == "") == (abs(off) < 500)


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost", "linear", "relu"])
def test_thresholds_of_graphs_moved_step_by_step(scoring):
    """The readout's bias goes through all numbers of a coarse arithmetic; what is accepted is right on every graph."""
    content, data = proved(*GRAPH)
    accepted = 0
    for bias, rounding in product(range(-16, 17, 3), ("down", "nearest")):
        file = File(data)
        file.structure["layers"][0]["heads"][0]["scoring"] = scoring
        file.structure["layers"].pop()
        file.tensors = {name: each for name, each in file.tensors.items() if not name.startswith("layers.1.")}
        file.structure["readout"]["bias"]["denominator"] = 8
        file.tensors["readout.bias"][2][0] = bias
        other = claimed({**content, "arithmetic": f"fixed:N=2,Kc=4,{rounding}"}, file.to_bytes())
        other["proof"] = {"rule": "layers", "statements": [{"kind": "match"}]}
        accepted += judged(other, file.to_bytes()) == ""
    assert 0 < accepted < 22


def scores(**entries):
    """Other scores of a graph unit."""
    return lambda numbers: [numbers.__setitem__(int(name[1:]), value) for name, value in entries.items()]


def test_obligations_of_graphs():
    content, data = proved(*GRAPH)
    assert check(content, data).inputs_covered == "2^6"
    assert "directed graph" in check(content, data).words()
    assert "adjacency" in check(content, data).words()
    vertices = {"inputs": [{"count": 12, "tokens": [0, 2]}], "answer": {"kind": "cycles", "vertices": 4}}
    assert "positions" in judged({**content, "specification": vertices}, data)
    for answer in ({"vertices": 2}, {"vertices": 3, "more": 1}, {"vertices": "3"}, {"vertices": 1}, {}):
        with pytest.raises(RefusedError):
            check(
                {**content, "specification": {**content["specification"], "answer": {"kind": "cycles", **answer}}}, data
            )
    for run in ({"count": 6, "tokens": [0, 1]}, {"count": 6, "tokens": [0, 3]}, {"count": 5, "tokens": [0, 2]}):
        with pytest.raises(RefusedError):
            check({**content, "specification": {**content["specification"], "inputs": [run]}}, data)
    # A claim about tokens for a network on graphs, and the other way round.
    table = {"inputs": [{"count": 3, "tokens": [0, 1]}], "answer": {"kind": "table", "answers": [0]}}
    assert "about graphs" in judged({**content, "specification": table, "proof": {"rule": "enumeration"}}, data)
    other, tokens = proved("match2", 3, {"modulus": 4})
    assert "about graphs" in judged({**other, "specification": content["specification"]}, tokens)
    assert not judged({**content, "proof": {"rule": "enumeration"}}, data)
    statements = content["proof"]["statements"]
    with pytest.raises(RefusedError):
        check({**content, "proof": {"rule": "layers", "statements": [{"kind": "count"}, statements[1]]}}, data)


@pytest.mark.parametrize(
    ("entries", "right"),
    [
        ({"_6": 5}, None), ({"_6": 1 << 62}, False), ({"_7": 0}, False), ({"_0": -(1 << 63)}, True),
        ({"_7": (1 << 63) - 1}, True), ({"_7": -(1 << 63)}, False), ({f"_{n}": 0 for n in range(8)}, False),
    ],
)  # fmt: skip
def test_other_scores_of_edges(entries, right):
    content, data = changed(GRAPH, **{HEAD + "scores": scores(**entries)})
    accepted = judged(content, data) == ""
    assert right is None or accepted == right


@pytest.mark.parametrize("shape", [[2, 4], [1, 7], [8, 1]])
def test_units_on_graphs_are_read_strictly(shape):
    content, data = proved(*GRAPH)
    file = File(data)
    kind, _, numbers = file.tensors[HEAD + "scores"]
    file.tensors[HEAD + "scores"] = (kind, shape, numbers[: shape[0] * shape[1]])
    with pytest.raises(RefusedError):
        check(claimed(content, file.to_bytes()), file.to_bytes())
    file = File(data)
    file.structure["layers"][0]["heads"][0]["query"] = 0
    with pytest.raises(RefusedError):
        check(claimed(content, file.to_bytes()), file.to_bytes())


def test_vertices_that_hold_different_values_are_bounded_together():
    content, data = proved(*GRAPH)
    file = File(data)
    part = copy.deepcopy(file.structure["embedding"][0])
    file.tensors["rows"] = ("I64", [3, 1], [1, 1, 1])
    part.update(rule={"kind": "table", "table": {"numerators": "rows", "denominator": 1}})
    del file.tensors[file.structure["embedding"][0]["rule"]["generator"]]
    file.structure["embedding"] = [part]
    assert not judged(claimed(content, file.to_bytes()), file.to_bytes())
    file.tensors["rows"][2][2] = 0
    assert judged(claimed(content, file.to_bytes()), file.to_bytes())


def test_attention_to_pairs_or_edges_is_covered_in_one_place():
    content, data = proved(*GRAPH)
    file, pairs = File(data), File(proved("match3", 2, {"modulus": 5})[1])
    twice = [copy.deepcopy(file.structure["layers"][0]) for _ in range(2)]
    for name in [name for name in file.tensors if name.startswith("layers.0")]:
        file.tensors["again." + name] = copy.deepcopy(file.tensors[name])
    for matrix in twice[1]["heads"][0].values():
        if isinstance(matrix, dict):
            matrix["numerators"] = "again." + matrix["numerators"]
    file.structure["layers"] = [*twice, file.structure["layers"][1]]
    other = claimed(content, file.to_bytes())
    other["proof"]["statements"].insert(1, {"kind": "count"})
    assert "as the first layer" in judged(other, file.to_bytes())
    assert pairs.structure["layers"][0]["kind"] == "third-order-attention"


def test_power_sums_are_proved_at_every_length_that_is_built():
    for length in (2, 5, 12):
        built = constructions()["match3-heads"].build(length)
        found = prove(built.network, built.task, length, built.arithmetic)
        assert found is not None
        assert check(found.content, to_bytes(built.network)).rule == "layers"


@pytest.mark.parametrize("scoring", ["linear", "relu"])
def test_other_attention_to_edges_is_covered_for_two_scores_and_one_value(scoring):
    content, data = proved(*GRAPH)
    file = File(data)
    file.structure["layers"][0]["heads"][0]["scoring"] = scoring
    assert not judged(claimed(content, file.to_bytes()), file.to_bytes())
    uneven = file.copy()
    uneven.tensors[HEAD + "scores"][2][3] = 1
    assert "two scores" in judged(claimed(content, uneven.to_bytes()), uneven.to_bytes())
    rows = file.copy()
    rows.tensors["embedding.0.generator"][2][1] = 1
    assert "one value" in judged(claimed(content, rows.to_bytes()), rows.to_bytes())
    # The scores of all pairs, of the dummy or of both alike; a dummy that outweighs the rest; ends of the range.
    random = Random(scoring)
    for _ in range(25):
        other = file.copy()
        low, full, dummy = (random.choice((0, 0, 1, -1, 7, 1 << 40, -(1 << 63))) for _ in range(3))
        other.tensors[HEAD + "scores"][2][:] = [low] * 7 + [full]
        other.tensors[HEAD + "dummy"][2][:] = [dummy]
        judged(claimed(content, other.to_bytes()), other.to_bytes())


def test_coarse_numbers_and_broken_weights_are_accepted_only_where_right():
    """Products that are not exact, in numbers so coarse that each rounding counts."""
    content, data = proved("match3-heads", 2, {"modulus": 2})
    random, accepted = Random(1), 0
    for _ in range(400):
        file = File(data)
        for matrix in (file.structure["readout"]["matrix"], *(
            head[name] for head in file.structure["layers"][0]["heads"] for name in ("value", "output")
        )):  # fmt: skip
            numbers, factor = file.tensors[matrix["numerators"]][2], random.choice((1, 1, 2, 3, 7))
            matrix["denominator"] = factor
            numbers[:] = [factor * each + random.choice((0, 0, 0, 0, 1, -1)) * (factor > 1) for each in numbers]
        arithmetic = (
            f"fixed:N={random.choice((2, 3, 5, 6))},Kc={random.randint(1, 4)},{random.choice(('down', 'nearest'))}"
        )
        accepted += judged({**claimed(content, file.to_bytes()), "arithmetic": arithmetic}, file.to_bytes()) == ""
    assert accepted > 3
