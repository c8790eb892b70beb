"""Running sums in float32: for each obligation of the rule a false claim that fails it alone.

The networks have a running sum k of small integers and answer 1 where k lies in a box. The automata answer 0 in dead
states. Every claim here is false, or about a network that the rule does not cover.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from separatrix_kernel import running
from separatrix_kernel.floats import LIMIT, ONE, Floats
from separatrix_kernel.network import FeedForward, Matrix, Reader, Readout, Row, Transformer
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.running import RunningClaim
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File

WALL = 1 << 24
ANYWHERE = (-3 * WALL, 3 * WALL)
Rows = Sequence[Sequence[int]]
DIES_AT_ONCE = {"start": 0, "steps": [[1, 1], [1, 1]], "answers": [1, 0]}
DIES_BY_1 = {"start": 0, "steps": [[0, 1], [1, 1]], "answers": [1, 0]}
DIES_AT_2 = {"start": 0, "steps": [[1, 1], [2, 2], [2, 2]], "answers": [1, 1, 0]}


class Small(File):
    """A network of N positions (a power of two) on two tokens. Its running sum starts with a row of ``first`` and grows
    by rows of ``later``; it answers 1 where all coordinates are in ``box``."""

    def __init__(self, first: Rows, later: Rows, box: Sequence[tuple[int, int]], positions: int = 2) -> None:
        self.tensors: dict[str, tuple[str, list[int], list[int]]] = {}
        size = len(box)
        one = [[int(i == j) for j in range(size)] for i in range(size)]
        nothing = [[0] * size]
        head = {
            "scoring": "softmax", "mask": "none", "query": self.matrix(nothing), "key": self.matrix(nothing),
            "value": self.matrix([[positions * entry for entry in row] for row in one]), "output": self.matrix(one),
        }  # fmt: skip
        # How far a coordinate is below its box, and above.
        inner = [[sign * entry for entry in row] for sign in (-1, 1) for row in one]
        bias = [[low] for low, _ in box] + [[-high] for _, high in box]
        outer = [[1] * (2 * size)] + [[0] * (2 * size)] * (size - 1)
        self.structure: dict[str, Any] = {
            "format": "separatrix-network-1", "about": "", "slots": [["k", size]], "vocabulary": 2,
            "positions": positions, "features": [],
            "embedding": [
                {
                    "slot": "k", "source": "token", "tokens": [0, 2], "positions": reach, "indices": None,
                    "rule": {"kind": "table", "table": self.matrix(rows)},
                }
                for rows, reach in ((first, [0, 1]), (later, [1, positions]))
            ],
            "layers": [
                {"kind": "attention", "residual": False, "heads": [head]},
                {
                    "kind": "feed-forward", "residual": False, "inner": self.matrix(inner),
                    "inner_bias": self.matrix(bias), "outer": self.matrix(outer),
                    "outer_bias": self.matrix([[0]] * size),
                },
            ],
            "readout": {
                "matrix": self.matrix([[-1] + [0] * (size - 1)]), "bias": self.matrix([[1]]), "decoding": "bits",
                "at": "last",
            },
        }  # fmt: skip

    def matrix(self, rows: Rows) -> dict[str, Any]:
        """A tensor more, and its entry in the structure."""
        name = f"t{len(self.tensors)}"
        self.tensors[name] = ("I64", [len(rows), len(rows[0])], [entry for row in rows for entry in row])
        return {"numerators": name, "denominator": 1}


def claim(file: File, automaton: dict[str, Any], positions: int = 2) -> RunningClaim:
    """The claim that a network answers as an automaton."""
    floats = Floats()
    inputs, answers = read_specification(
        {"inputs": [{"count": positions, "tokens": [0, 2]}], "answer": {"kind": "automaton", **automaton}}
    )
    return RunningClaim(Reader(file.to_bytes(), floats).network(), inputs, answers, floats)


def check(
    file: File,
    automaton: dict[str, Any],
    weights: Sequence[int],
    home: Sequence[int],
    dead: Sequence[int] | None = None,
) -> None:
    """Apply the rule."""
    dead = [len(automaton["answers"]) - 1] if dead is None else dead
    claim(file, automaton).prove({"rule": "running-sums", "dead": [*dead], "weights": [*weights], "home": [*home]})


def test_a_true_claim_about_such_a_network_is_accepted() -> None:
    # Token 1 leads away from 0, and 0 alone is answered 1.
    check(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1, [1], [0])


def test_a_proof_by_another_rule_is_refused() -> None:
    stated = claim(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1)
    with pytest.raises(RefusedError):
        stated.prove({"rule": "automaton", "dead": [1], "weights": [1], "home": [0]})


GAP = 5592409
"""3 GAP is above 2^24 and odd, halfway between two floats, of which the upper one is even."""
FALSE: dict[str, tuple[Small, dict[str, Any], list[int], list[int], list[int]]] = {
    "dead states have different answers": (
        Small([[0], [0]], [[-1], [0]], [(2 * WALL, 2 * WALL)]),
        {"start": 0, "steps": [[1, 2], [1, 1], [2, 2]], "answers": [0, 0, 1]}, [1], [5], [1, 2],
    ),
    "a step leads back home": (
        Small([[WALL - 1], [WALL]], [[-1], [1]], [(WALL, WALL)]),
        {"start": 0, "steps": [[1, 0], [1, 1]], "answers": [1, 0]}, [1], [WALL], [1],
    ),
    "the lower wall swallows a step": (
        Small([[-WALL, WALL - 1], [0, -1]], [[-1, 1], [0, 0]], [(-WALL, -WALL), (WALL, WALL)]),
        DIES_AT_ONCE, [1, 1], [-WALL, WALL], [1],
    ),
    "the upper wall swallows a step": (
        Small([[WALL, 1 - WALL], [0, 1]], [[1, -1], [0, 0]], [(WALL, WALL), (-WALL, -WALL)]),
        DIES_AT_ONCE, [-1, -1], [WALL, -WALL], [1],
    ),
    "all vectors are answered as home is": (Small([[0], [-1]], [[0], [-1]], [ANYWHERE]), DIES_BY_1, [1], [0], [1]),
    "all vectors below home are answered as home is": (
        Small([[0], [-1]], [[0], [-1]], [(-3 * WALL, 0)]), DIES_BY_1, [1], [0], [1],
    ),
    "a living state is answered otherwise": (
        Small([[0], [-1]], [[0], [-1]], [(0, 0)]), {**DIES_BY_1, "answers": [0, 0]}, [1], [0], [1],
    ),
    "the last vector before the wall is answered as home is": (
        Small([[WALL - 1]] * 2, [[0], [1]], [(WALL - 1, WALL)]),
        {"start": 0, "steps": [[1, 1], [1, 2], [2, 2]], "answers": [1, 1, 0]}, [-1], [WALL - 1], [2],
    ),
    "steps are not a power of two": (
        Small([[3 * GAP - 3]] * 2, [[3], [3]], [(3 * GAP - 1, 3 * GAP + 1)]), DIES_AT_2, [-1], [GAP], [2],
    ),
    "steps have different sizes": (Small([[0], [0]], [[-1], [-2]], [(-1, 0)]), DIES_AT_2, [1], [0], [2]),
    "the first step is not a multiple": (Small([[-1], [-2]], [[0], [-2]], [(-1, 0)]), DIES_AT_ONCE, [1], [0], [1]),
    "the first step is beyond the wall": (
        Small([[WALL + 2, -1], [0, -1]], [[0, 0], [0, -1]], [(WALL + 2, WALL + 2), ANYWHERE]),
        DIES_AT_ONCE, [0, 1], [0, 0], [1],
    ),
    "the vector above home is answered as home is": (
        Small([[0], [1]], [[0], [1]], [(0, 1)]), DIES_BY_1, [-1], [0], [1],
    ),
    "the vector below home is answered as home is": (
        Small([[0], [-1]], [[0], [-1]], [(-1, 0)]), DIES_BY_1, [1], [0], [1],
    ),
    "where another coordinate is 0, the vector below home is answered as home is": (
        Small([[0, 0], [-1, 0]], [[0, 0], [-1, 0]], [(-1, 0), (0, 0)]), DIES_BY_1, [1, 0], [0, 0], [1],
    ),
    "where another coordinate is 2, the vector below home is answered as home is": (
        Small([[0, 2], [-1, 2]], [[0, 0], [-1, 0]], [(-1, 0), (2, 2)]), DIES_BY_1, [1, 0], [0, 2], [1],
    ),
    "a sum is behind home on the side from which steps lead there": (
        Small([[-1], [-1]], [[1], [0]], [(0, 0)]), DIES_AT_ONCE, [-1], [0], [1],
    ),
    "home is where a state dies": (Small([[0], [0]], [[0], [-1]], [(0, 0)]), DIES_AT_ONCE, [1], [0], [1]),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refused(name: str) -> None:
    file, automaton, weights, home, dead = FALSE[name]
    false = claim(file, automaton)
    assert any(false.wrong(tokens) for tokens in product(range(2), repeat=2))
    with pytest.raises(RefusedError):
        check(file, automaton, weights, home, dead)


def test_other_numbers_of_positions_and_tokens_are_refused() -> None:
    for name, value in (("positions", 4), ("vocabulary", 1)):
        file = Small([[0], [-1]], [[0], [-1]], [(0, 0)])
        file.structure[name] = value
        with pytest.raises(RefusedError):
            claim(file, DIES_BY_1)


def test_heads_that_are_not_uniform_are_refused() -> None:
    for name, value in (("scoring", "hard"), ("scoring", "linear"), ("mask", "strict"), ("residual", True)):
        file = Small([[0], [-1]], [[0], [-1]], [(0, 0)])
        layer = file.structure["layers"][0]
        (layer if name == "residual" else layer["heads"][0])[name] = value
        with pytest.raises(RefusedError):
            claim(file, DIES_BY_1)
    for name in ("query", "key"):
        file = Small([[0], [-1]], [[0], [-1]], [(0, 0)])
        file.structure["layers"][0]["heads"][0][name] = file.matrix([[1]])
        file.tensors.pop("t0" if name == "query" else "t1", None)
        with pytest.raises(RefusedError, match="uniform"):
            claim(file, DIES_BY_1)


def test_a_second_attention_layer_is_refused() -> None:
    file = Small([[0], [-1]], [[0], [-1]], [(0, 0)])
    head = {name: file.matrix([[0]]) for name in ("query", "key", "value", "output")}
    layer = {"kind": "attention", "residual": False, "heads": [{"scoring": "softmax", "mask": "none", **head}]}
    file.structure["layers"].insert(1, layer)
    with pytest.raises(RefusedError):
        claim(file, DIES_BY_1)


def test_more_positions_than_floats_can_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Small([[0], [-1]], [[0], [-1]], [(0, 0)], positions=4)
    monkeypatch.setattr(running, "WALL", 4)
    claim(file, DIES_BY_1, 4)
    monkeypatch.setattr(running, "WALL", 3)
    with pytest.raises(RefusedError):
        claim(file, DIES_BY_1, 4)


def test_the_wall_is_a_float() -> None:
    found = claim(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1)
    for unit, fits in ((LIMIT // WALL // 2, True), (LIMIT // WALL, False)):
        found.first = found.later = [(unit,)]
        if fits:
            assert found.unit() == unit
        else:
            with pytest.raises(RefusedError):
                found.unit()


def test_a_half_is_read_as_0() -> None:
    found = claim(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1)
    # The readout is 1 - k from 0 on.
    half = ONE // 2
    assert [found.answer([(k, k)]) for k in (0, half // 2, half, ONE)] == [1, 1, 0, 0]
    assert found.answer([(half, ONE)]) == 0
    with pytest.raises(RefusedError):
        found.answer([(0, half)])


def test_the_first_position_has_its_own_addends() -> None:
    file = Small([[0], [-3]], [[0], [-1]], [(0, 0)])
    found = claim(file, DIES_BY_1)
    assert (found.first, found.later) == ([(0,), (-3 * ONE,)], [(0,), (-ONE,)])
    floats, runs = Floats(), [{"count": 1, "tokens": [0, 2]}, {"count": 1, "tokens": [0, 1]}]
    inputs, answers = read_specification({"inputs": runs, "answer": {"kind": "automaton", **DIES_BY_1}})
    found = RunningClaim(Reader(file.to_bytes(), floats).network(), inputs, answers, floats)
    assert (found.first, found.later) == ([(0,), (-3 * ONE,)], [(0,)])


def test_the_lower_wall_swallows_the_last_of_three_steps() -> None:
    file = Small([[2 - WALL, WALL - 3], [0, -1]], [[-1, 1], [0, 0]], [(-WALL, -WALL), (WALL, WALL)], 4)
    false = claim(file, DIES_AT_ONCE, 4)
    assert false.wrong((0, 0, 0, 0))
    with pytest.raises(RefusedError):
        false.prove({"rule": "running-sums", "dead": [1], "weights": [1, 1], "home": [-WALL, WALL]})


@pytest.mark.parametrize("dead", [[1, 2], [1, 3], [1, 1], []])
def test_dead_states_are_states_of_the_automaton(dead: Sequence[int]) -> None:
    with pytest.raises(RefusedError):
        check(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1, [1], [0], dead)


def answering(layers: Sequence[FeedForward], matrix: Sequence[Row], bias: Sequence[float]) -> RunningClaim:
    """A claim whose network has these layers behind its attention, which gives (k, 0), and this readout."""
    found = claim(Small([[0], [-1]], [[0], [-1]], [(0, 0)]), DIES_BY_1)
    found.after = list(layers)
    found.head = replace(found.head, output=Matrix((((0, ONE),), ()), 1))
    assert isinstance(found.network, Transformer)
    read = Readout(Matrix(tuple(matrix), 2), [round(each * ONE) for each in bias], "bits", "last")
    found.network = replace(found.network, readout=read)
    return found


def test_answers_are_those_of_the_layers() -> None:
    """k and 0 become 2k + 1 and 1: a feed-forward with a residual adds k + 1 and 1."""
    one = ((0, ONE),), ((1, ONE),)
    layer = FeedForward(Matrix(one, 2), [0, 0], Matrix((one[0], ()), 2), [ONE, ONE], True)
    for first, second in product((4.75, 5.125), (0.75, 1.125)):
        found = answering([layer], one, [0.5 - first, 0.5 - second])
        assert found.answer([(2 * ONE, 2 * ONE)]) == 2 * (first < 5) + (second < 1)
        if first < 5:
            assert found.answer([(2 * ONE, 3 * ONE)]) == 2 + (second < 1)
        else:
            with pytest.raises(RefusedError):
                found.answer([(2 * ONE, 3 * ONE)])


def test_nothing_stays_nothing_whatever_it_is_multiplied_with() -> None:
    large = ((0, ONE << 62),), ()
    layer = FeedForward(Matrix(large[:1], 2), [0], Matrix(large, 1), [0, 0], False)
    for layers in range(3):
        assert answering([layer] * layers, large[:1], [0]).answer([(0, 0)]) == 0
