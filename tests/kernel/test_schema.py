"""The published JSON Schemas and the kernel's strict readers accept and refuse the same forms."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import separatrix_kernel
from separatrix.shipped import FOLDER as SHIPPED
from separatrix_kernel.checker import FORMAT, check
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.thresholds import check_counts
from separatrix_kernel.trained import (
    COUNTS_FORMAT,
    TRAINED_FILE,
    TRAINED_FORMAT,
    TWO_LAYERS_FORMAT,
    WEIGHTS_FILE,
    WORDS_FORMAT,
    read_claim,
)
from separatrix_kernel.two_layers import check_two_layers
from separatrix_kernel.words import check_words
from tests.kernel.files import proved
from tests.kernel.test_thresholds import MIXED, certified
from tests.kernel.test_two_layers import GOOD as TWO_LAYERS
from tests.kernel.test_two_layers import certified as certified_cases

jsonschema = pytest.importorskip("jsonschema")
FOLDER = Path(separatrix_kernel.__file__).parent
PROVED = [
    ("index-lookup", 3, {"alphabet": 2}),
    ("majority", 3, {}),
    ("dyck-dfa", 4, {"types": 1, "depth": 2}),
    ("dyck-float", 4, {}),
    ("dyck-transformer", 4, {"types": 1, "depth": 3}),
    ("mqar", 4, {"keys": 3}),
    ("match2", 2, {"modulus": 5}),
    ("match3-last", 3, {"modulus": 4}),
    ("match3", 2, {"modulus": 5}),
    ("match3-heads", 2, {"modulus": 5}),
    ("match3-local", 2, {"modulus": 3, "window": 1}),
    ("directed-3-cycle", 3, {}),
    ("nearest-neighbour", 2, {"points": "hypercube", "dimension": 2}),
    ("sparse-averaging", 2, {"sparsity": 1, "resolution": 1}),
]


def schema(name: str) -> Any:
    """The validator of a published schema."""
    found = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert found["$id"] == name
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def malformed(value: Any, free: tuple[str, ...]) -> Iterator[Any]:
    """Copies with one thing of another form: a type changed, a field left out or added; ``free`` fields stay."""
    if isinstance(value, dict):
        yield {**value, "more": 1}
        for name in value:
            yield {key: each for key, each in value.items() if key != name}
            for other in () if name in free else malformed(value[name], free):
                yield {**value, name: other}
    elif isinstance(value, list):
        yield {}
        yield "[]"
        # Entries of a list have one form; the first few show it.
        for place in range(min(3, len(value))):
            for other in malformed(value[place], free):
                yield [*value[:place], other, *value[place + 1 :]]
    elif isinstance(value, str):
        yield from (0, None, value + "?", [value])
    else:
        yield from (True, float(value), str(value), None, [value])


@pytest.mark.parametrize("base", PROVED, ids=lambda base: base[0])
def test_the_schema_of_proofs_and_the_reader_agree(base):
    content, data = proved(*base)
    validator = schema(FORMAT)
    assert validator.is_valid(content)
    check(content, data)
    tried = 0
    for other in malformed(content, ("parameters", "network", "task", "length")):
        # To a schema 1.0 is a whole number; the reader of JSON refuses it before anything else is looked at.
        if "." not in json.dumps(other, default=str).replace(content["network"], ""):
            assert not validator.is_valid(other), other
        with pytest.raises(RefusedError):
            check(copy.deepcopy(other), data)
        tried += 1
    assert tried > 50


def test_every_rule_and_answer_has_a_place_in_the_schema():
    content, data = proved("index-lookup", 2, {"alphabet": 2})
    validator = schema(FORMAT)
    plain = {**content, "proof": {"rule": "enumeration"}}
    check(plain, data)
    assert validator.is_valid(plain)
    for changed in (
        {"rule": "none"},
        {"rule": "enumeration", "statements": []},
        {"rule": "layers"},
        {"rule": "layers", "statements": [{"kind": "guess"}] * 2},
        {"rule": "running-sums"},
    ):
        other = {**content, "proof": changed}
        assert not validator.is_valid(other)
        with pytest.raises(RefusedError):
            check(other, data)
    for name, value in (("length", 0), ("task", "a b"), ("network", "../n"), ("arithmetic", "reals"), ("sha256", "0")):
        other = {**content, name: value}
        assert not validator.is_valid(other)
        with pytest.raises(RefusedError):
            check(other, data)


def test_the_schema_of_trained_weights_and_the_reader_agree():
    leaf = ["leaf", [[1, -5, 7]]]
    content = {
        "format": TRAINED_FORMAT, "task": "index-lookup", "alphabet": 3, "length": 2, "sha256": "0" * 64,
        "certified": [[0, 1, leaf], [1, 2, ["split", 0, [0, 2], leaf, ["leaf", []]]]],
        "counterexamples": [[0, 1, 3]], "open": [[1, 0]],
    }  # fmt: skip
    validator = schema(TRAINED_FORMAT)
    assert validator.is_valid(content)
    read_claim(content)
    for other in malformed(content, ("sha256", "certified")):
        if "." not in json.dumps(other):
            assert not validator.is_valid(other), other
        with pytest.raises(RefusedError):
            read_claim(copy.deepcopy(other))
    for proof in (["leaf"], ["split", 0, [0], leaf], ["guess", []], ["leaf", [[1]]], ["leaf", [1]], "leaf", []):
        assert not validator.is_valid({**content, "certified": [[0, 0, proof]]})


def test_the_schema_of_counts_and_the_reader_agree():
    content, data = certified(MIXED)[1:]
    # Few slices, so that each refusal takes no proof before it.
    some = content["certified"][0]
    content = {**content, "certified": [some], "open": [some[:3]]}
    validator = schema(COUNTS_FORMAT)
    assert validator.is_valid(content)
    check_counts(content, data)
    for other in malformed(content, ("task", "certified")):
        if "." not in json.dumps(other):
            assert not validator.is_valid(other), other
        with pytest.raises(RefusedError):
            check_counts(copy.deepcopy(other), data)
    for proof in (["leaf", []], ["split", 0, [0], ["leaf"]], ["guess"], "leaf", [], ["leaf", ["leaf"]]):
        other = {**content, "certified": [[*some[:3], proof]]}
        assert not validator.is_valid(other)
        with pytest.raises(RefusedError):
            check_counts(other, data)


def test_the_schema_of_two_layers_and_the_reader_agree():
    content, data = certified_cases(TWO_LAYERS)[1:]
    some = content["certified"][0]
    content = {**content, "certified": [some], "open": [[1, [2]] if some[:2] != [1, [2]] else [1, [1]]]}
    validator = schema(TWO_LAYERS_FORMAT)
    assert validator.is_valid(content)
    check_two_layers(content, data)
    for other in malformed(content, ("task", "certified")):
        if "." not in json.dumps(other):
            assert not validator.is_valid(other), other
        with pytest.raises(RefusedError):
            check_two_layers(copy.deepcopy(other), data)
    for proof in (["leaf"], ["split", 0, [0], ["leaf", []]], ["guess", []], ["leaf", [[0]]], "leaf", []):
        other = {**content, "certified": [[*some[:2], proof]]}
        assert not validator.is_valid(other)
        with pytest.raises(RefusedError):
            check_two_layers(other, data)


@pytest.mark.parametrize("name", ["dyck-rnn", "dyck-gru-3-bits", "dyck-mamba-2-bits"])
def test_the_schema_of_words_and_the_reader_agree(name):
    place = SHIPPED / "trained" / name
    content, data = json.loads((place / TRAINED_FILE).read_text()), (place / WEIGHTS_FILE).read_bytes()
    validator = schema(WORDS_FORMAT)
    assert validator.is_valid(content)
    for other in malformed(content, ("task",)):
        # Whether last tokens are due depends on the weights, which a schema does not see.
        if "." not in json.dumps({**other, "task": ""}) and ("last" in other) == ("last" in content):
            assert not validator.is_valid(other), other
        with pytest.raises(RefusedError):
            check_words(copy.deepcopy(other), data)
    first = content["boxes"][0]
    changes = (
        {"boxes": []}, {"boxes": [first[:2]]}, {"boxes": [[*first, *first]]}, {"bits": -1}, {"bits": 17}, {"unit": 25},
        {"automaton": {"start": 0, "steps": [], "answers": []}},
        {"automaton": {"start": -1, "steps": [[0]], "answers": [0]}},
    )  # fmt: skip
    for change in changes:
        other = {**content, **change}
        assert not validator.is_valid(other), change
        with pytest.raises(RefusedError):
            check_words(other, data)
