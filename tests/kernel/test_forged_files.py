"""Small files, each wrong in one place: networks, specifications, and claims about trained weights written by hand."""

import copy
import hashlib
import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from separatrix_kernel import reading
from separatrix_kernel.network import GraphAttention, PairAttention, Reader, Recurrent, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import (
    RefusedError,
    Tensors,
    integer,
    integers,
    interval,
    items,
    parse,
    read_bytes,
    truth,
)
from separatrix_kernel.specification import Count, Sums, read_specification
from separatrix_kernel.thresholds import Thresholds, check_counts, read_counting
from separatrix_kernel.trained import check_trained
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import _case as read_case  # pyright: ignore[reportPrivateUsage]
from separatrix_kernel.two_layers import groups_of
from separatrix_kernel.words import check_words
from tests.kernel.files import File, joined, proved
from tests.kernel.forgeries import Writer
from tests.kernel.test_small_files import counts, weights

NUMBERS = Numbers("fixed:N=2,Kc=3,down")
Change = Callable[[Any], Any]


# -- plain readers ---


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (truth, [True, False], [0, 1, None, "true"]),
        (items, [[], [1]], [{}, {"a": 1}, "ab", (1,), None]),
        (integers, [[], [-1]], [[True], [1.0], "1", ["1"]]),
        (interval, [[0, 0], [1, 2]], [[2, 1], [-1, 2], [1], [1, 2, 3], [False, True]]),
        (integer, [0, -5], [True, 1.0, "1", None]),
    ],
)
def test_values_have_one_form(read, good, bad):
    for value in good:
        assert read(value, "it") in (value, tuple(value) if isinstance(value, list) else value)
    for value in bad:
        with pytest.raises(RefusedError):
            read(value, "it")


def test_long_files_are_refused_at_their_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LARGEST_TEXT", 6)
    assert parse(b"[1,23]", "it") == [1, 23]
    with pytest.raises(RefusedError):
        parse(b"[1,234]", "it")
    monkeypatch.setattr(reading, "LARGEST_FILE", 3)
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_bytes(path) == b"abc"
    path.write_bytes(b"abcd")
    for each in (path, tmp_path, tmp_path / "none"):
        with pytest.raises(RefusedError):
            read_bytes(each)


def tensors(header: Any, body: bytes = bytes(8)) -> bytes:
    """A file with this header."""
    return joined(json.dumps(header), body)


META = {"__metadata__": {"separatrix": "{}"}}


def entry(start: int, stop: int, shape: list[int], kind: str = "U8") -> dict[str, Any]:
    """A tensor in the header."""
    return {"dtype": kind, "shape": shape, "data_offsets": [start, stop]}


def test_files_of_tensors_are_complete_and_nothing_else():
    good = tensors({**META, "a": entry(0, 3, [3]), "b": entry(3, 8, [5, 1])})
    found = Tensors(good)
    assert found.take("a", "U8", 1, "a") == ([3], (0, 0, 0))
    with pytest.raises(RefusedError):
        found.finish()
    for arguments in (("a", "U8", 1), ("c", "U8", 1), ("b", "U8", 1), ("b", "I64", 2), (1, "U8", 1)):
        with pytest.raises(RefusedError):
            found.take(*arguments, "it")
    Tensors(tensors(META, b"")).finish()
    empty = tensors(META, b"")
    longer = (int.from_bytes(empty[:8], "little") + 1).to_bytes(8, "little") + empty[8:]
    for data in (
        b"", bytes(7), bytes(8), longer, tensors([1]), tensors({}), tensors(META), tensors({**META, "a": 1}, b""),
        tensors({**META, "a": entry(0, 8, [7])}), tensors({**META, "a": entry(0, 7, [7])}),
        tensors({**META, "a": entry(1, 8, [7])}), tensors({**META, "a": entry(0, 5, [5]), "b": entry(4, 8, [4])}),
        tensors({**META, "a": entry(0, 3, [3]), "b": entry(4, 8, [4])}), tensors({**META, "a": entry(0, 9, [9])}),
        tensors({**META, "a": entry(0, 8, [8], "U16")}), tensors({**META, "a": entry(0, 8, [8, -1, -1])}),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            Tensors(data)


# -- networks ---


def matrices(value: Any) -> list[str]:
    """The names of all matrices in a structure."""
    if isinstance(value, list):
        return [name for each in value for name in matrices(each)]
    if not isinstance(value, dict):
        return []
    return [value["numerators"]] if "numerators" in value else matrices(list(value.values()))


def test_a_matrix_has_no_row_and_no_column_more_than_fits():
    content, data = proved("majority", 3)
    file, numbers = File(data), Numbers(content["arithmetic"])
    for name in matrices([file.structure["layers"], file.structure["readout"]]):
        kind, (height, width), entries = file.tensors[name]
        rows = [entries[start : start + width] for start in range(0, height * width, width)]
        for more in ([*rows, [0] * width], [[*row, 0] for row in rows]):
            larger = file.copy()
            larger.tensors[name] = kind, [len(more), len(more[0])], [each for row in more for each in row]
            with pytest.raises(RefusedError):
                Reader(larger.to_bytes(), numbers).network()
    for name in matrices(file.structure["embedding"]):
        kind, (height, width), entries = file.tensors[name]
        rows = [[*entries[start : start + width], 0] for start in range(0, height * width, width)]
        larger = file.copy()
        larger.tensors[name] = kind, [height, width + 1], [each for row in rows for each in row]
        with pytest.raises(RefusedError):
            Reader(larger.to_bytes(), numbers).network()
    none = file.copy()
    matrix, bias = matrices([none.structure["readout"]["matrix"], none.structure["readout"]["bias"]])
    none.tensors[matrix], none.tensors[bias] = ("I64", [0, file.tensors[matrix][1][1]], []), ("I64", [0, 1], [])
    with pytest.raises(RefusedError):
        Reader(none.to_bytes(), numbers).network()


class Hand(Writer):
    """Writes a file by hand."""

    def __init__(self) -> None:
        super().__init__(Random(0))

    def put(self, rows: list[list[int]], denominator: int = 1) -> dict[str, Any]:
        """A matrix."""
        name = self.tensor("I64", [len(rows), len(rows[0])], [each for row in rows for each in row])
        return {"numerators": name, "denominator": denominator}


def head(hand: Hand) -> dict[str, Any]:
    """A plain head."""
    return {
        "scoring": "hard", "mask": "causal", "query": hand.put([[1, 0]]), "key": hand.put([[0, 1]]),
        "value": hand.put([[1, 0]]), "output": hand.put([[0], [1]]),
    }  # fmt: skip


def pair_head(hand: Hand) -> dict[str, Any]:
    """A head of pairs."""
    names = ("query", "first_key", "second_key", "first_value", "second_value")
    return {"scoring": "softmax", **{name: hand.put([[1, 0]]) for name in names}, "output": hand.put([[0], [1]])}


def graph_head(hand: Hand) -> dict[str, Any]:
    """A head on edges."""
    names = ("first_value", "second_value")
    return {
        "scoring": "hard", "scores": hand.put([[0] * 7 + [2]]), "dummy": hand.put([[1]]),
        **{name: hand.put([[1, 0]]) for name in names}, "output": hand.put([[0], [1]]),
    }  # fmt: skip


def file(kind: str) -> File:
    """A small network with one of everything."""
    hand = Hand()
    read: dict[str, Any] = {"matrix": hand.put([[1, 0], [0, 1]]), "bias": hand.put([[0], [1]]), "at": "last"}
    read |= {"decoding": "bits"} if kind != "power-sums" else {"decoding": "power-sums", "power_sums": [3, 3]}
    if kind == "recurrent":
        cell = [{"weights": hand.put([[1, 0, 1], [0, 1, 0]]), "bias": hand.put([[0], [1]])}]
        hand.file.structure = {
            "format": "separatrix-recurrent-1", "vocabulary": 3, "positions": 2, "about": "",
            "embedding": hand.put([[0], [1], [2]]), "initial": hand.put([[1], [2]]), "cell": cell, "readout": read,
        }  # fmt: skip
        return hand.file
    name, unit = {"third": ("third-order-attention", pair_head), "graph": ("graph-attention", graph_head)}.get(
        kind, ("attention", head)
    )
    forward = {"inner": [[1, 0]], "inner_bias": [[1]], "outer": [[0], [1]], "outer_bias": [[0], [1]]}
    rows = hand.put([[5], [6]])
    hand.file.structure = {
        "format": "separatrix-network-1", "slots": [["a", 1], ["b", 1]], "vocabulary": 3, "positions": 2,
        "embedding": [
            {
                "slot": "a", "source": "token", "tokens": [0, 3], "positions": [0, 2],
                "rule": {"kind": "table", "table": rows}, "indices": hand.tensor("I64", [3], [0, 1, 1]),
            },
            {
                "slot": "b", "source": "position", "tokens": [0, 3], "positions": [0, 2],
                "rule": {"kind": "signs", "generator": hand.tensor("U8", [1, 1], [1])}, "indices": None,
            },
        ],
        "features": [], "about": "", "readout": read,
        "layers": [
            {"kind": name, "residual": True, "heads": [unit(hand)]},
            {"kind": "feed-forward", "residual": False, **{each: hand.put(forward[each]) for each in forward}},
        ],
    }  # fmt: skip
    return hand.file


def test_the_files_are_read_as_they_are_meant():
    found = {kind: Reader(file(kind).to_bytes(), NUMBERS).network() for kind in KINDS}
    plain = found["plain"]
    assert isinstance(plain, Transformer) and not plain.reads_graphs
    assert [plain.parts[0].row(each) for each in (0, 1)] == [[40], [48]]
    assert [plain.parts[0].at_token(each) for each in range(4)] == [0, 1, 1, None]
    assert [plain.parts[1].row(each) for each in (0, 1)] == [[8], [-8]]
    recurrent = found["recurrent"]
    assert isinstance(recurrent, Recurrent)
    assert (recurrent.initial, recurrent.embedding, recurrent.cell[0][1]) == ([8, 16], [[0], [8], [16]], [0, 8])
    third, graph = found["third"], found["graph"]
    assert isinstance(third, Transformer) and isinstance(third.layers[0], PairAttention)
    assert isinstance(graph, Transformer) and isinstance(graph.layers[0], GraphAttention) and graph.reads_graphs
    assert (graph.layers[0].heads[0].scores, graph.layers[0].heads[0].dummy) == ([0] * 7 + [16], 8)
    assert found["power-sums"].readout.sums == (3, 3)


KINDS = ("plain", "third", "graph", "recurrent", "power-sums")
SHAPES = {
    "plain": ["key", "value", "output"], "third": ["first_key", "second_key", "second_value", "output"],
    "graph": ["scores", "dummy", "second_value", "output"],
}  # fmt: skip
WRONG: list[tuple[str, Change]] = [
    *[("power-sums", lambda s, n=n: s["readout"].update(power_sums=n)) for n in ([4, 3], [3, 4], [2, 9], [1, 1])],
    ("power-sums", lambda s: s["readout"].pop("power_sums")),
    ("plain", lambda s: s["readout"].update(power_sums=[3, 3])),
    ("plain", lambda s: s["layers"].append(1)), ("plain", lambda s: s["layers"].append({"kind": "other"})),
    ("plain", lambda s: s["embedding"][0].update(rule=1)), ("plain", lambda s: s.update(about=1)),
    ("plain", lambda s: s["embedding"][0].update(tokens=[0, 4])),
    ("plain", lambda s: s["embedding"][1].update(positions=[0, 3])),
    ("plain", lambda s: s["slots"].append(["a", 1])), ("plain", lambda s: s.update(features=[1])),
    ("plain", lambda s: s["slots"][0].__setitem__(1, 2)), ("recurrent", lambda s: s.update(vocabulary=2)),
    ("recurrent", lambda s: s.update(vocabulary=4)), ("recurrent", lambda s: s.update(cell=[])),
    ("recurrent", lambda s: s.update(about=[])),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_structure_that_is_wrong_in_one_place_is_refused(number):
    kind, change = WRONG[number]
    found = file(kind)
    change(found.structure)
    with pytest.raises(RefusedError):
        Reader(found.to_bytes(), NUMBERS).network()


def test_shapes_and_indices_that_do_not_fit_are_refused():
    for kind, names in SHAPES.items():
        for name in names:
            for shape in ([2, 2], [1, 3], [3, 1], [2, 1], [1, 1]):
                found = file(kind)
                place = found.structure["layers"][0]["heads"][0][name]["numerators"]
                if found.tensors[place][1] != shape:
                    found.tensors[place] = ("I64", shape, [1] * (shape[0] * shape[1]))
                    with pytest.raises(RefusedError):
                        Reader(found.to_bytes(), NUMBERS).network()
    for indices in ([0, 1, 2], [0, -1, 1], [0, 1]):
        found = file("plain")
        found.tensors[found.structure["embedding"][0]["indices"]] = ("I64", [len(indices)], indices)
        with pytest.raises(RefusedError):
            Reader(found.to_bytes(), NUMBERS).network()
    for name in ("matrix", "bias"):
        for kind, shape in (("plain", [0, 2]), ("plain", [3, 2]), ("power-sums", [4, 2]), ("recurrent", [3, 1])):
            found = file(kind)
            place = found.structure["readout"][name]["numerators"]
            found.tensors[place] = ("I64", shape, [1] * (shape[0] * shape[1]))
            with pytest.raises(RefusedError):
                Reader(found.to_bytes(), NUMBERS).network()
    found = file("power-sums")
    for name, columns in (("matrix", 2), ("bias", 1)):
        place = found.structure["readout"][name]["numerators"]
        found.tensors[place] = ("I64", [3, columns], [1] * (3 * columns))
    assert len(Reader(found.to_bytes(), NUMBERS).network().readout.bias) == 3
    # Nothing is read, and four rows with as many biases where the field has three elements.
    for kind, rows in (("plain", 0), ("power-sums", 4)):
        found = file(kind)
        for name, columns in (("matrix", 2), ("bias", 1)):
            place = found.structure["readout"][name]["numerators"]
            found.tensors[place] = ("I64", [rows, columns], [1] * (rows * columns))
        with pytest.raises(RefusedError):
            Reader(found.to_bytes(), NUMBERS).network()
    for rows in (1, 3):
        found = file("recurrent")
        cell = found.structure["cell"][0]
        for name, columns in (("weights", 3), ("bias", 1)):
            found.tensors[cell[name]["numerators"]] = ("I64", [rows, columns], [1] * (rows * columns))
        with pytest.raises(RefusedError):
            Reader(found.to_bytes(), NUMBERS).network()


def test_edges_and_sums_of_a_specification():
    for count, tokens, vertices in ((6, 2, 3), (5, 2, 3), (6, 3, 3), (7, 3, 3), (2, 2, 2)):
        value = {
            "inputs": [{"count": count, "tokens": [0, tokens]}],
            "answer": {"kind": "cycles", "vertices": vertices},
        }
        if count == vertices * (vertices - 1) and tokens == 2:
            assert read_specification(value)[1].asked == vertices
        else:
            with pytest.raises(RefusedError):
                read_specification(value)
    says = [Sums(range(3), 4, terms, True).words() for terms in (2, 3)]
    assert ["one of them adds" in each for each in says] == [True, False]


# -- counts of places, by a model that answers 0 to everything ---

MODEL = weights(2)


def slices(certified: Any, answers: Any = ((0, 0),), **changes: Any) -> dict[str, Any]:
    """A claim about x_0 + x_1 and the last token, where the last place counts too."""
    rows = [[*each] for each in answers]
    return {**counts(MODEL, [[0], [1], [2]], rows, certified), **changes}


ALL = [[0, 0, 3, ["leaf"]], [1, 0, 3, ["leaf"]]]
SPLIT = ["split", 0, [0], ["leaf"], ["leaf"]]


def test_what_a_constant_model_answers_is_certified():
    assert check_counts(slices(ALL), MODEL).share == 1
    assert check_counts(slices([[0, 0, 3, SPLIT]]), MODEL).inputs_certified == 4
    accepted = check_counts(slices([[0, 1, 1, ["leaf"]]], counterexamples=[[0, 0, 0]], open=[[1, 0, 3]]), MODEL)
    assert (accepted.inputs_certified, accepted.inputs, accepted.left_open) == (2, 8, 1)
    assert accepted.certified == ((0, 1, 1),)
    assert accepted.counterexamples == ((0, 0, 0),)
    # One condition holds: the answer 1 begins there.
    accepted = check_counts(slices([[0, 0, 0, ["leaf"]], [1, 1, 1, ["leaf"]]], [(0, 0), (2, 1)]), MODEL)
    assert accepted.inputs_certified == 2
    said: list[tuple[int, int]] = []
    check_counts(slices(ALL), MODEL, lambda *each: said.append(each))
    assert said == [(0, 2), (1, 2)]


def test_slices_next_to_each_other_are_certified_one_by_one():
    for rows in ([(0, 0), (1, 1), (2, 2), (3, 3)], [(3, 3), (0, 1), (2, 2)], [(1, 2), (0, 0), (3, 3)]):
        certified = [[0, *each, ["leaf"]] for each in rows]
        assert check_counts(slices(certified), MODEL).inputs_certified == 4


def test_last_tokens_may_begin_at_any_token():
    model = weights(2, 3)
    claim = counts(model, [[0], [1]], [[0, 0]], [[2, 0, 2, ["leaf"]]])
    claim["specification"]["inputs"] = [{"count": 2, "tokens": [0, 2]}, {"count": 1, "tokens": [1, 3]}]
    accepted = check_counts({**claim, "counterexamples": [[0, 0, 1]]}, model)
    assert (accepted.certified, accepted.inputs_certified, accepted.inputs) == (((2, 0, 2),), 4, 8)
    for more in ({"counterexamples": [[0, 0, 2]]}, {"counterexamples": [[0, 0, 0]]}, {"open": [[0, 0, 0]]}):
        with pytest.raises(RefusedError):
            check_counts({**claim, **more}, model)


@pytest.mark.parametrize("joint", [[0, 2], [2, 0], [0, 1], [1, 2]])
def test_inputs_are_counted_by_their_last_token_and_count(joint):
    """A condition on two places of which only the first token of the first one and the second of the other one hold."""
    for table in ([0, 1, 0, 0], [0, 1, 1, 1]):
        conditions = [{"places": [[0], [2]], "table": [0, 1]}, {"places": [joint], "table": table}]
        answer = {"kind": "count", "conditions": conditions, "answers": [[0, 0]]}
        inputs, count = read_specification({"inputs": [{"count": 3, "tokens": [0, 2]}], "answer": answer})
        assert isinstance(count, Count)
        model = Thresholds(Weights(MODEL), inputs, count)
        found = [[0] * 4 for _ in range(2)]
        for tokens in inputs.all():
            held = tokens[0] + tokens[2] + table[2 * tokens[joint[0]] + tokens[joint[1]]]
            assert model.counted(tokens) == held
            found[tokens[2]][held] += 1
        assert model.numbers == found


def test_groups_of_places_are_named_and_numbered():
    spans = [{"count": 1, "tokens": each} for each in ([2, 5], [5, 7], [2, 5], [5, 7], [2, 5])]
    recall = groups_of(read_specification({"inputs": spans, "answer": {"kind": "recall", "pairs": 2}}))
    case = recall.asked((4, 6, 3, 5, 3))
    assert case == (1, (3, 5))
    assert (recall.question(case), recall.answer(case), recall.cases) == (1, 0, 12)
    # Another key than the asked one, and then also its label: 2 i + j of the i-th key and the j-th label.
    assert recall.sets(case) == [[0, 2], [0, 1, 4, 5], [1], [2]]
    spans = [{"count": 3, "tokens": [0, 4]}, {"count": 1, "tokens": [4, 7]}]
    select = groups_of(read_specification({"inputs": spans, "answer": {"kind": "select", "by": 3, "first": 4}}))
    case = select.asked((3, 1, 2, 5))
    assert case == (1, (1,))
    assert (select.question(case), select.answer(case), select.cases) == (1, 1, 12)
    assert select.sets(case) == [[0, 1, 2, 3], [1], [0, 1, 2, 3]]
    spans = [{"count": 2, "tokens": [0, 4]}, {"count": 1, "tokens": [0, 3]}, {"count": 1, "tokens": [4, 7]}]
    with pytest.raises(RefusedError):
        groups_of(read_specification({"inputs": spans, "answer": {"kind": "select", "by": 3, "first": 4}}))
    for groups, right in ((recall, [1, [4, 6]]), (select, [2, [3]])):
        assert read_case(right, groups) == (right[0], tuple(right[1]))
        for wrong in ([groups.number, right[1]], [-1, right[1]], [0, [*right[1], 0]], [0, [9] * len(right[1])]):
            with pytest.raises(RefusedError):
                read_case(wrong, groups)


@pytest.mark.parametrize(
    "claim",
    [
        slices([[0, 0, 1, ["leaf"]]], [(0, 1)]), slices([[0, 0, 1, ["leaf"]]], [(0, 0), (1, 1)]),
        slices([[0, 2, 2, ["leaf"]]], [(0, 0), (2, 1)]), slices([[0, 1, 2, ["leaf"]]], [(0, 0), (2, 1)]),
        slices([ALL[0], ALL[0]]), slices([[0, 0, 1, ["leaf"]], [0, 1, 2, ["leaf"]]]),
        slices([[0, 0, 1, ["leaf"]], [0, 0, 2, ["leaf"]]]), slices([[2, 0, 0, ["leaf"]]]),
        slices([[0, 1, 2, ["leaf"]], [0, 0, 1, ["leaf"]]]), slices([[0, 0, 0, ["leaf"]]] * 2),
        slices([[0, 1, 1, ["leaf"]], [0, 0, 0, ["leaf"]], [0, 1, 1, ["leaf"]]]),
        slices([[0, 1, 2, ["leaf"]], [0, 3, 3, ["leaf"]], [0, 3, 3, ["leaf"]]]),
        slices([[0, 2, 1, ["leaf"]]]), slices([[0, 0, 4, ["leaf"]]]), slices([[0, 0, 0]]), slices([[0, 0, ["leaf"]]]),
        slices([[0, 0, 0, ["leaf", 1]]]), slices([[0, 0, 0, []]]), slices([[0, 0, 0, "leaf"]]),
        slices([[0, 0, 0, ["other"]]]), slices([[0, 0, 0, SPLIT[:4]]]), slices([[0, 0, 0, [*SPLIT, 1]]]),
        slices([[0, 0, 0, ["split", 2, [0], ["leaf"], ["leaf"]]]]),
        slices([[0, 0, 0, ["split", 0, [2], ["leaf"], ["leaf"]]]]),
        slices([[0, 0, 0, ["split", 0, [0], ["leaf"], ["leaf", 1]]]]), slices(ALL, counterexamples=[[0, 0, 0]]),
        slices([[1, 1, 1, ["leaf"]]], counterexamples=[[0, 0, 1]]), slices([], counterexamples=[[0, 0]]),
        slices([], counterexamples=[[0, 0, 2]]), slices([], counterexamples=[[2, 0, 0]]),
        slices([], counterexamples=[[0, 2, 0]]), slices([], open=[[2, 0, 0]]), slices([], open=[[0, 0, 4]]),
        slices([], open=[[0, 1, 0]]), slices([], format="separatrix-counts-2"), slices([], task="x" * 201),
        slices([], task="a\nb"), slices([], length=0), slices([], sha256="0" * 64), slices([], more=1),
        slices([], [(0, 0), (1, 2)]),
    ],
)  # fmt: skip
def test_a_false_or_malformed_claim_about_counts_is_refused(claim):
    with pytest.raises(RefusedError):
        check_counts(claim, MODEL)


def test_conditions_of_no_place_and_models_of_other_sizes_are_refused():
    check_counts(slices([], task="x" * 200), MODEL)
    none = slices([])
    none["specification"]["answer"]["conditions"] = [{"places": [[]], "table": [1]}]
    tokens = slices([])
    tokens["specification"]["inputs"] = [{"count": 3, "tokens": [0, 3]}]
    tokens["specification"]["answer"]["conditions"] = []
    last = slices([])
    last["specification"]["inputs"] = [{"count": 2, "tokens": [0, 2]}, {"count": 1, "tokens": [0, 3]}]
    last["specification"]["answer"]["conditions"] = []
    places, single, table = slices([]), slices([]), slices([])
    places["specification"]["inputs"][0]["count"] = 4
    single["specification"]["inputs"][0]["count"] = 1
    single["specification"]["answer"]["conditions"] = []
    table["specification"]["answer"] = {"kind": "table", "answers": [0] * 8}
    # Only one place has a token that the model lacks.
    one = slices([])
    one["specification"]["inputs"] = [{"count": 1, "tokens": [0, n]} for n in (2, 3, 2)]
    one["specification"]["answer"]["conditions"] = []
    for claim in (none, tokens, last, places, single, table, one):
        with pytest.raises(RefusedError):
            check_counts(claim, MODEL)


def test_parts_are_those_inputs_that_have_the_counts():
    inputs, count = read_counting(slices([])["specification"])
    model = Thresholds(Weights(MODEL), inputs, count)
    both, first = [[0, 1], [0, 1]], ([0], [1], 1)
    assert model.part(0, both, 1, 1) == ([first, first], 1, 1, 2, 1)
    assert model.part(1, both, 1, 3) == ([first, first], 0, 2, 2, 1)
    assert model.part(1, [[1], [0, 1]], 0, 2) == ([([1], [], 0), first], 0, 0, 1, 1)
    assert model.part(1, both, 0, 0) is model.part(0, both, 3, 3) is None
    assert [model.numbers[p] for p in (0, 1)] == [[1, 2, 1, 0], [0, 1, 2, 1]]
    # The last place does not count.
    model = Thresholds(Weights(MODEL), *read_counting(counts(MODEL, [[0], [1]], [[0, 0]], [])["specification"]))
    assert model.numbers == [[1, 2, 1], [1, 2, 1]]
    assert model.part(1, both, 1, 1) == ([first, first], 1, 1, 2, 1)
    # Three symbols that count 0, 1 and 2.
    data = weights(2, tokens=3)
    specification = {
        "inputs": [{"count": 1, "tokens": [0, n]} for n in (3, 2, 2)],
        "answer": {
            "kind": "count", "answers": [[0, 0]],
            "conditions": [{"places": [[0]], "table": [0, 1, 1]}, {"places": [[0]], "table": [0, 0, 1]}],
        },
    }  # fmt: skip
    model = Thresholds(Weights(data), *read_counting(specification))
    assert model.part(0, [[0, 2], [0, 1]], 0, 2) == ([([0], [2], 2), ([0, 1], [], 0)], 0, 2, 2, 2)
    with pytest.raises(RefusedError):
        model.part(0, [[0, 1, 2], [0, 1]], 0, 2)


def with_header(change: Change) -> bytes:
    """The model's file with another header, and a tensor more of one byte if that names it."""
    size = int.from_bytes(MODEL[:8], "little")
    header = json.loads(MODEL[8 : 8 + size])
    about = json.loads(header["__metadata__"]["separatrix"])
    change(header, about)
    header["__metadata__"]["separatrix"] = json.dumps(about)
    return joined(json.dumps(header), MODEL[8 + size :] + bytes("more" in header))


@pytest.mark.parametrize(
    "change",
    [
        *[
            lambda header, about, name=name, shape=shape: header[name].update(shape=shape)
            for name, shape in (
                ("embedding.weight", [1, 2]), ("embedding.weight", [2]), ("positions.table", [1, 3]),
                ("readout.weight", [2, 1]), ("readout.bias", [2, 1]), ("blocks.0.mixer.project.weight", [3, 1]),
            )
        ],
        *[
            lambda header, about, value=value: about.update(value)
            for value in (
                {"kind": "other"}, {"kind": "rotary-transformer"}, {"width": 0}, {"width": 2}, {"heads": 2},
                {"epsilon": [2, 1]}, {"epsilon": [1]}, {"epsilon": [1, 1, 1]}, {"epsilon": [0, 1]}, {"hidden": 2},
                {"vocabulary": 3}, {"vocabulary": 1}, {"classes": 1}, {"classes": 3}, {"positions": 2}, {"more": 1},
            )
        ],
        lambda header, about: about.pop("heads"),
    ],
)  # fmt: skip
def test_weights_of_other_shapes_are_refused(change):
    Weights(with_header(lambda header, about: None))
    with pytest.raises(RefusedError):
        Weights(with_header(change))


def test_vectors_of_other_lengths_are_refused():
    def longer(header: Any, about: Any) -> None:
        del about
        first, second = header["blocks.0.norm.weight"], header["blocks.0.norm.bias"]
        start, stop = first["data_offsets"][0], second["data_offsets"][1]
        first.update(shape=[2], data_offsets=[start, stop])
        second.update(shape=[0], data_offsets=[stop, stop])

    with pytest.raises(RefusedError, match="shape"):
        Weights(with_header(longer))


def test_a_tensor_that_no_model_has_is_refused():
    size = int.from_bytes(MODEL[:8], "little")
    rest = len(MODEL) - 8 - size
    with pytest.raises(RefusedError, match="not part"):
        Weights(with_header(lambda header, about: header.update(more=entry(rest, rest + 1, [1]))))


# -- lookups, by a model that answers 0 to everything ---

TEXTS = weights(2, tokens=4)


def pairs(certified: Any, **changes: Any) -> dict[str, Any]:
    """A claim about texts of two symbols from two."""
    return {
        "format": "separatrix-trained-1", "task": "index-lookup", "alphabet": 2, "length": 2,
        "sha256": hashlib.sha256(TEXTS).hexdigest(), "certified": certified, "counterexamples": [], "open": [],
        **changes,
    }  # fmt: skip


LEAF = ["leaf", []]


def test_lookups_of_a_constant_model_are_certified_for_the_symbol_that_it_answers():
    claim = pairs(
        [[0, 0, LEAF], [1, 0, ["split", 0, [1], LEAF, LEAF]]], counterexamples=[[0, 1, 3], [1, 0, 2]], open=[[0, 1]]
    )
    accepted = check_trained(claim, TEXTS)
    assert (accepted.certified, accepted.left_open) == (((0, 0), (1, 0)), 1)
    assert accepted.counterexamples == ((0, 1, 3), (1, 0, 2))
    assert accepted.share == accepted.share.__class__(1, 2)
    assert accepted.share_in_words() == "1/2 of all inputs"
    said: list[tuple[int, int]] = []
    check_trained(claim, TEXTS, lambda *each: said.append(each))
    assert said == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    "claim",
    [
        pairs([[0, 1, LEAF]]), pairs([[0, 1, ["split", 0, [0], LEAF, LEAF]]]),
        pairs([[0, 1, ["split", 1, [0], LEAF, LEAF]]]), pairs([[0, 0, ["leaf"]]]), pairs([[0, 0, ["leaf", [], []]]]),
        pairs([[0, 0, ["leaf", 1]]]), pairs([[0, 0, ["leaf", [[0]]]]]), pairs([[0, 0, ["leaf", [[0, 0, 0]]]]]),
        pairs([[0, 1, ["leaf", [[0, 1 << 30]]]]]), pairs([[0, 1, ["leaf", [[1, 0]]]]]),
        pairs([[0, 0, LEAF], [0, 0, LEAF]]), pairs([[0, 0]]), pairs([[2, 0, LEAF]]), pairs([[0, 2, LEAF]]),
        pairs([], open=[[0]]), pairs([], open=[[0, 0, 0]]), pairs([], counterexamples=[[0, 2]]),
        pairs([], counterexamples=[[2, 0, 2]]), pairs([], counterexamples=[[0, 0, 4]]),
        pairs([], counterexamples=[[0, 0, 1]]), pairs([[0, 0, LEAF]], counterexamples=[[0, 1, 2]]),
        pairs([[1, 0, LEAF]], counterexamples=[[1, 0, 3]]), pairs([], alphabet=3), pairs([], length=3),
        pairs([], counterexamples=[[0, 2, 2]]), pairs([], alphabet=3, length=1),
        pairs([], format="other"), pairs([], task="other"), pairs([], alphabet=1), pairs([], length=0),
    ],
)  # fmt: skip
def test_a_false_or_malformed_claim_about_lookups_is_refused(claim):
    with pytest.raises(RefusedError):
        check_trained(claim, TEXTS)


# -- words: h' = tanh(4h + 12x - 2), and the answer is whether h is above 1/2 ---


def cell(kind: str = "rnn", **changes: Any) -> bytes:
    """The weights of a recurrent network that remembers whether there was a 1."""
    held: dict[str, tuple[list[int], list[float]]] = {
        "embedding.weight": ([2, 1], [0, 1]), "blocks.0.mixer.input_weight": ([1, 1], [12]),
        "blocks.0.mixer.state_weight": ([1, 1], [4]), "blocks.0.mixer.input_bias": ([1], [-1]),
        "blocks.0.mixer.state_bias": ([1], [-1]), "readout.weight": ([1, 2], [-1, 1]),
        "readout.bias": ([2], [0.5, -0.5]),
        **changes,
    }  # fmt: skip
    about = {"kind": "recurrent", "cell": kind, "width": 1, "vocabulary": 2, "classes": 2}
    header: dict[str, Any] = {"__metadata__": {"separatrix": json.dumps({**about, **changes.get("about", {})})}}
    held.pop("about", None)
    body = b""
    for name, (shape, values) in held.items():
        more = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(more)]}
        body += more
    return joined(json.dumps(header), body)


CELL = cell()
REMEMBERS = {"start": 0, "steps": [[0, 1], [1, 1]], "answers": [0, 1]}
TENTH = (1 << 24) // 10
REAL = [[0, [0, 1], [-11 * TENTH], [0]], [1, [1, 1], [9 * TENTH], [11 * TENTH]]]
"""Below 0 before the first 1, and from 0.9 on after it."""
ROUNDED = [[0, [1, 2], [0]], [0, [1, 2], [-3]], [1, [2, 2], [3]]]
"""The start, and the two levels ±3/4."""


def word(boxes: Any, data: bytes = CELL, bits: int = 0, **changes: Any) -> dict[str, Any]:
    """A claim about all words of two tokens."""
    return {
        "format": "separatrix-words-1", "task": "seen", "sha256": hashlib.sha256(data).hexdigest(), "bits": bits,
        "unit": bits or 24, "automaton": REMEMBERS, "boxes": boxes, **changes,
    }  # fmt: skip


def test_a_network_that_remembers_is_certified_as_it_is_and_rounded():
    assert check_words(word(REAL), CELL).boxes == 2
    accepted = check_words(word(ROUNDED, bits=2), CELL)
    assert (accepted.boxes, accepted.bits) == (3, 2)
    assert check_words(word(REAL, task="x" * 200), CELL).state_in_words == "as it is"
    assert accepted.state_in_words != "as it is"
    said: list[tuple[int, int]] = []
    check_words(word(REAL), CELL, lambda *each: said.append(each))
    assert said == [(0, 2), (1, 2)]


def changed(boxes: Any, box: int, field: int, value: Any) -> Any:
    """The boxes with another entry."""
    found = copy.deepcopy(boxes)
    found[box][field] = value
    return found


@pytest.mark.parametrize(
    "claim",
    [
        word(REAL, automaton={**REMEMBERS, "answers": [0, 0]}), word(REAL, automaton={**REMEMBERS, "answers": [1, 1]}),
        word(REAL, automaton={**REMEMBERS, "start": 1}), word(REAL, automaton={**REMEMBERS, "answers": [0, 2]}),
        word(REAL, automaton={**REMEMBERS, "steps": [[0, 0], [1, 1]]}), word(REAL[::-1]), word([]), word(REAL[:1]),
        word(REAL, automaton={"start": 0, "steps": [[0, 1, 0], [1, 1, 1]], "answers": [0, 1]}),
        word([[each[0], [*each[1], each[1][0]], *each[2:]] for each in REAL],
             automaton={"start": 0, "steps": [[0, 1, 0], [1, 1, 1]], "answers": [0, 1]}),
        word(changed(REAL, 0, 1, [0, 0])), word(changed(REAL, 0, 1, [1, 1])), word(changed(REAL, 1, 1, [0, 1])),
        word(changed(REAL, 1, 2, [95 * TENTH // 10])), word(changed(REAL, 1, 3, [99 * TENTH // 10])),
        word(changed(REAL, 0, 2, [-9 * TENTH])), word(changed(REAL, 0, 3, [-1])), word(changed(REAL, 0, 2, [1])),
        word(changed(REAL, 0, 3, [6 * TENTH])), word(changed(REAL, 1, 3, [8 * TENTH])),
        word(changed(REAL, 0, 0, 1)), word(changed(REAL, 0, 0, 2)), word(changed(REAL, 0, 1, [0])),
        word(changed(REAL, 0, 1, [0, 2])), word(changed(REAL, 0, 1, [0, 1, 1])), word(changed(REAL, 0, 2, [0, 0])),
        word(changed(REAL, 0, 3, [0, 0])), word([[0, [0, 1]], REAL[1]]), word([[*REAL[0], 1], REAL[1]]),
        word(changed(REAL, 0, 2, [-(17 << 24)])), word(changed(REAL, 1, 3, [17 << 24])),
        word([[0, [0, 1], [-TENTH] * 2, [0] * 2], [1, [1, 1], [TENTH] * 2, [TENTH] * 2]]),
        word(REAL, format="other"), word(REAL, task="x" * 201), word(REAL, task="\n"), word(REAL, sha256="0" * 64),
        word(REAL, more=1), word(REAL, unit=25), word(ROUNDED, bits=2, unit=3), word(ROUNDED, bits=3, unit=2),
        word(ROUNDED, bits=17), word(changed(ROUNDED, 0, 1, [0, 2]), bits=2),
        word(changed(ROUNDED, 1, 2, [-1]), bits=2),
        word(changed(ROUNDED, 2, 2, [1]), bits=2), word(changed(ROUNDED, 0, 2, [-1]), bits=2),
        word(changed(ROUNDED, 0, 2, [1]), bits=2), word(changed(ROUNDED, 2, 1, [1, 2]), bits=2),
        word(changed(ROUNDED, 1, 1, [0, 2]), bits=2),
    ],
)  # fmt: skip
def test_a_false_or_malformed_claim_about_words_is_refused(claim):
    with pytest.raises(RefusedError):
        check_words(claim, CELL)


def test_boxes_of_two_numbers():
    """A network whose state is 0 whatever it reads, and whose answer is 0."""
    zeros = {f"blocks.0.mixer.{name}": ([2, 2], [0] * 4) for name in ("input_weight", "state_weight")}
    zeros |= {f"blocks.0.mixer.{name}_bias": ([2], [0] * 2) for name in ("input", "state")}
    zeros |= {"embedding.weight": ([2, 2], [0] * 4), "readout.weight": ([2, 2], [0] * 4)}
    data = cell(about={"width": 2}, **zeros)
    t, alike = TENTH, {"start": 0, "steps": [[0, 0]], "answers": [0]}
    around = [0, [0, 0], [-t, -t], [t, t]]
    assert check_words(word([around], data, automaton=alike), data).boxes == 1
    levels = [0, [0, 0], [-3, -3], [3, 3]]
    assert check_words(word([levels], data, 2, automaton=alike), data).boxes == 1
    away = [[[1, -t], [t, t]], [[-t, 1], [t, t]], [[-t, -t], [-1, t]], [[-t, -t], [t, -1]]]
    for claim in (
        word([levels], data, 2, automaton=alike, unit=3),
        *[word([[0, [1, 1], *ends], [0, [1, 1], *around[2:]]], data, automaton=alike) for ends in away],
        word([around, [0, [0, 0], [t, -t], [-t, t]]], data, automaton=alike),
        word([around, [0, [0, 0], [-t, t], [t, -t]]], data, automaton=alike),
        word([[0, [0, 0], [-t, -t], [t]]], data, automaton=alike),
        word([[0, [0, 0], [-t], [t, t]]], data, automaton=alike), word([[0, [0, 0], [-t], [t]]], data, automaton=alike),
        word([around], data, automaton={**alike, "answers": [1]}),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            check_words(claim, data)


@pytest.mark.parametrize(
    "changes",
    [
        {"more": ([1], [0])}, {"embedding.weight": ([1, 2], [0, 1])}, {"readout.weight": ([2, 1], [-1, 1])},
        {"readout.bias": ([1], [0.5])}, {"embedding.weight": ([2, 1], [0, 257])}, {"about": {"width": 2}},
        {"about": {"kind": "other"}}, {"about": {"cell": "gru"}}, {"about": {"classes": 1}},
        {"about": {"vocabulary": 3}},
        # Another network: it forgets, it is never sure, and its answers tie at 0.
        {"blocks.0.mixer.state_weight": ([1, 1], [0])}, {"blocks.0.mixer.input_weight": ([1, 1], [0])},
        {"readout.bias": ([2], [0, 0])}, {"readout.weight": ([1, 2], [0, 0])},
    ],
)  # fmt: skip
def test_other_weights_are_another_network(changes):
    data = cell(**changes)
    with pytest.raises(RefusedError):
        check_words(word(REAL, data), data)
