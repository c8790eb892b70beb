"""Claims that an adversary writes from nothing: networks, specifications and proofs that no builder would make."""

from random import Random
from typing import Any

import pytest

from separatrix_kernel.checker import check
from separatrix_kernel.evaluation import evaluate
from separatrix_kernel.network import Reader
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File, claimed, proved
from tests.kernel.forgeries import Writer, campaign, claim
from tests.kernel.independent import Slow, inputs_of

ZERO = {"kind": "count", "conditions": [], "answers": [[0, 0]]}


def test_what_the_rules_accept_of_random_claims_is_right_on_every_input():
    found = campaign(150, 7)
    for kind in ("table", "count", "automaton"):
        assert found[f"{kind} wrong"] == 0
        accepted = found[f"{kind} right"] + found[f"{kind} right and constant"]
        assert min(accepted, found[f"{kind} refused"]) > 3
    assert found["table right"] > 3


def test_plain_evaluation_agrees_with_a_second_one():
    random = Random(5)
    answers = set()
    for _ in range(60):
        content, data = claim(random)
        numbers = Numbers(content["arithmetic"])
        network, slow = Reader(data, numbers).network(), Slow(data, content["arithmetic"]).network()
        for tokens in inputs_of(content["specification"]):
            answers.add(slow(tokens))
            assert evaluate(network, tokens, numbers, 1, (), 1) == [slow(tokens)]
    assert len(answers) > 3


def small(positions: int, tokens: int, attends: bool = False) -> File:
    """A network of one coordinate that answers 0, perhaps with a layer of attention that does nothing."""
    writer = Writer(Random(1))

    def zero() -> dict[str, Any]:
        return {"numerators": writer.tensor("I64", [1, 1], [0]), "denominator": 1}

    names = ("query", "key", "value", "output")
    heads = [{"scoring": "softmax", "mask": "none", **{name: zero() for name in names}}] if attends else []
    writer.file.structure = {
        "format": "separatrix-network-1", "slots": [["a", 1]], "vocabulary": tokens, "positions": positions,
        "embedding": [], "features": [], "layers": [{"kind": "attention", "residual": True, "heads": heads}],
        "readout": {"matrix": zero(), "bias": zero(), "decoding": "bits", "at": "last"}, "about": "",
    }  # fmt: skip
    return writer.file


def stated(file: File, positions: int, tokens: int, proof: dict[str, Any], answer: dict[str, Any] = ZERO) -> Any:
    """The verdict about a claim that all inputs of so many tokens are answered by 0."""
    data = file.to_bytes()
    content = {
        "format": "separatrix-proof-1", "task": "zero", "parameters": {}, "length": 1,
        "arithmetic": "fixed:N=8,Kc=2,down", "network": "network.safetensors", "proof": proof,
        "specification": {"inputs": [{"count": positions, "tokens": [0, tokens]}], "answer": answer},
    }  # fmt: skip
    return check(claimed(content, data), data)


def attend(places: list[list[int]]) -> dict[str, Any]:
    """A proof for one layer of attention."""
    return {"rule": "layers", "statements": [{"kind": "attend", "by": "token", "places": places}]}


@pytest.mark.parametrize("attends", [True, False])
def test_the_small_network_is_right_where_it_is_small(attends):
    assert stated(small(3, 2, attends), 3, 2, {"rule": "enumeration"}).inputs_covered == "2^3"
    assert stated(small(3, 2, attends), 3, 2, attend([[0, 1]] * 2)).rule == "layers"


@pytest.mark.parametrize(
    ("positions", "tokens", "proof"),
    [
        (1 << 32, 1, {"rule": "enumeration"}),
        (1 << 17, 1, {"rule": "enumeration"}),
        (1, 10**30, {"rule": "enumeration"}),
        (1, 1 << 32, attend([])),
        (1, 1 << 23, attend([])),
        (64, 64, attend([list(range(63))] * 64)),
    ],
)
def test_a_claim_that_would_take_hours_or_all_memory_is_refused(positions, tokens, proof):
    with pytest.raises(RefusedError):
        stated(small(positions, tokens, True), positions, tokens, proof)


def test_an_axis_without_numbers_is_not_walked():
    file = small(1, 1)
    structure = file.structure
    for name, shape in (("inner", [10**12, 0]), ("inner_bias", [1, 0]), ("outer", [0, 10**12]), ("outer_bias", [0, 1])):
        file.tensors[name] = ("I64", shape, [])
    numbers = {name: {"numerators": name, "denominator": 1} for name in ("inner", "inner_bias", "outer", "outer_bias")}
    structure["slots"] = []
    structure["layers"] = [{"kind": "feed-forward", "residual": True, **numbers}]
    with pytest.raises(RefusedError):
        stated(file, 1, 1, {"rule": "enumeration"})


@pytest.mark.parametrize(
    ("name", "limit", "base"),
    [
        ("rules.MOST_STEPS", 30, ("dyck-dfa", 8)),
        ("layers.MOST_CASES", 30, ("majority", 33)),
        ("layers.MOST_QUERIES", 30, ("majority", 33)),
        ("layers.MOST_QUERIES", 7, ("index-lookup", 8)),
        ("attention.MOST_KEYS", 30, ("majority", 33)),
        ("attention.MOST_BOUNDS", 30, ("majority", 33)),
        ("attention.MOST_VECTORS", 30, ("majority", 33)),
        ("specification.MOST_POSITIONS", 32, ("majority", 33)),
        ("specification.MOST_TOKENS", 1, ("majority", 33)),
        ("specification.MOST_ENTRIES", 65, ("majority", 33)),
        ("reading.LARGEST_TEXT", 1000, ("majority", 33)),
        ("numbers.MOST_WORK", 1000, ("majority", 33)),
        ("numbers.MOST_WORK", 1000, ("dyck-dfa", 8)),
        ("numbers.MOST_WORK", 1000, ("mqar", 6)),
        ("numbers.MOST_WORK", 1000, ("match2", 3)),
        ("numbers.MOST_WORK", 60, ("sparse-averaging", 33)),
        ("numbers.MOST_WORK", 1000, ("match2-code", 4)),
        ("content.MOST_NUMBERS", 30, ("associative-recall", 3)),
        ("content.MOST_NUMBERS", 200, ("match3", 3)),
    ],
)
def test_every_kind_of_work_has_an_end(name, limit, base, monkeypatch):
    content, data = proved(*base)
    assert check(content, data).length == base[1]
    monkeypatch.setattr(f"separatrix_kernel.{name}", limit)
    with pytest.raises(RefusedError):
        check(content, data)


def test_names_are_called_names_and_cannot_pose_as_facts():
    content, data = proved("majority", 5)
    posing = {"x": "\n" + " " * 300 + "right is    what everybody expects", "y": "\x1b[2J"}
    words = check({**content, "parameters": posing, "length": 1 << 40}, data).words()
    assert "everybody" not in words
    assert words.isprintable() or set(words) - set(map(chr, range(32, 127))) == {"\n"}
    assert len(words.splitlines()) == 6
    (facts,) = (line for line in words.splitlines() if line.startswith("inputs"))
    assert "2^5" in facts
    assert str(1 << 40) not in facts
    with pytest.raises(RefusedError):
        check({**content, "length": 10**100}, data)


def test_conditions_on_fewer_positions_read_differently():
    content, data = proved("majority", 5)
    words = check(content, data).answer
    answer = content["specification"]["answer"]
    same = {
        **answer,
        "conditions": [
            {**group, "places": group["places"][:1] * len(group["places"])} for group in answer["conditions"]
        ],
    }
    forged = {**content, "specification": {**content["specification"], "answer": same}}
    _, answers = read_specification(forged["specification"])
    assert answers.words() != words
