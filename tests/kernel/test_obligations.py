"""Small false claims, each of which fails one obligation of a rule, and true ones at the edge of it.

Networks are written as the kernel's own data. A false claim is wrong on some input, and every proof of it is refused;
where an obligation of the kernel's code is left out or turned around, the claim is accepted, or a true one refused.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, cast

import pytest

from separatrix_kernel.attention import FirstAttention, FixedWeights, packed
from separatrix_kernel.boxes import Box, exactly, live_before, live_coordinates
from separatrix_kernel.content import Case, Choices, ContentEdges, Grouped, together, weight_sums, weighted_sum
from separatrix_kernel.counting import CountLayer, Polynomial, coefficients
from separatrix_kernel.embedding import Projection, View
from separatrix_kernel.evaluation import attend, decode, embed, evaluate, feed_forward, score, sketched
from separatrix_kernel.matching import hull
from separatrix_kernel.network import (
    Attention,
    FeedForward,
    GraphAttention,
    GraphHead,
    Head,
    Layer,
    Matrix,
    PairAttention,
    PairHead,
    Part,
    Readout,
    Recurrent,
    Transformer,
)
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.powers import PowerSums, distance
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.rules import Claim
from separatrix_kernel.specification import Count, Sums, read_specification
from separatrix_kernel.windows import Windows
from separatrix_kernel.windows import _signed as signed_slopes  # pyright: ignore[reportPrivateUsage]

Rows = Sequence[Sequence[float]]
ONE = 8


def numbers(rounding: str = "down") -> Numbers:
    """Multiples of 1/8 up to 8."""
    return Numbers(f"fixed:N=2,Kc=3,{rounding}")


def raw(value: float) -> int:
    """A number of the arithmetic."""
    found = Fraction(value) * ONE
    assert found.denominator == 1
    return int(found)


def matrix(rows: Rows, columns: int | None = None) -> Matrix:
    """A matrix by its rows."""
    kept = tuple(tuple((column, raw(each)) for column, each in enumerate(row) if each) for row in rows)
    return Matrix(kept, len(rows[0]) if columns is None else columns)


def part(rows: Rows, tokens: tuple[int, int], positions: tuple[int, int], start: int = 0, by: str = "token") -> Part:
    """What tokens (or positions) in a range add from a column on."""
    held = [[raw(each) for each in row] for row in rows]
    return Part(start, len(held[0]), by == "token", tokens, positions, None, lambda number: held[number])


def head(
    value: Rows, output: Rows, query: Rows | None = None, key: Rows | None = None, scoring: str = "hard",
    mask: str = "none",
) -> Head:  # fmt: skip
    """A head; without queries it weighs all keys alike."""
    width = len(value[0])
    return Head(matrix(query or [], width), matrix(key or [], width), matrix(value), matrix(output), scoring, mask)


def attention(*heads: Head, residual: bool = True) -> Attention:
    """A layer."""
    return Attention(heads, residual)


def readout(rows: Rows, bias: Sequence[float], decoding: str = "bits", at: str = "last", sums: Any = (0, 0)) -> Readout:
    """A readout."""
    return Readout(matrix(rows), [raw(each) for each in bias], decoding, at, sums)


def claim(
    parts: Sequence[Part], layers: Sequence[Layer], read: Readout, tokens: Sequence[tuple[int, int]], answer: Any,
    rounding: str = "down",
) -> Claim:  # fmt: skip
    """The claim that a network answers all inputs with such tokens as a specification says."""
    inputs, answers = read_specification(
        {"inputs": [{"count": 1, "tokens": list(t)} for t in tokens], "answer": answer}
    )
    vocabulary = max(stop for _, stop in tokens)
    network = Transformer(vocabulary, len(tokens), read.matrix.columns, tuple(parts), tuple(layers), read)
    return Claim(network, inputs, answers, numbers(rounding))


def wrong(stated: Claim) -> bool:
    """Whether some input is answered wrongly."""
    inputs = filter(stated.answers.admits, stated.inputs.all())
    return any(stated.wrong(tokens) for tokens in inputs)


def layered(*statements: Any) -> dict[str, Any]:
    """A proof."""
    return {"rule": "layers", "statements": list(statements)}


def always(answer: int) -> dict[str, Any]:
    """The specification that everything is answered alike."""
    return {"kind": "count", "conditions": [], "answers": [[0, answer]]}


# -- counting: the token at position j is x_j; column 0 holds it, column 1 is written, column 2 is 1 ---

BITS = (0, 2)
X = part([[0, 0, 1], [1, 0, 1]], BITS, (0, 3))
AGAIN = part([[0], [1]], BITS, (1, 2))
"""x_1 once more."""
COUNT = layered({"kind": "attend", "by": "position", "places": [[], []]}, {"kind": "count"})
COUNT_3 = layered({"kind": "attend", "by": "position", "places": [[], [], []]}, {"kind": "count"})
NOTHING = attention()
TO_1 = [[0], [1], [0]]


def pair(answers: Any) -> dict[str, Any]:
    """A function of x_0 + x_1."""
    return {"kind": "count", "conditions": [{"places": [[0], [1]], "table": [0, 1]}], "answers": answers}


def above(least: float, column: int = 1, times: float = 1) -> Readout:
    """1 if a column is above a number."""
    row = [0.0, 0, 0]
    row[column] = times
    return readout([row], [0.5 - least])


ADDS_UP = attention(head([[2, 0, 0]], TO_1))
"""x_0 + x_1 in column 1."""
SHOWS_OWN = attention(head([[0, 0, 0]], [[0]] * 3))


def at(column: int, position: int, value: float = 1) -> Part:
    """A number at one position."""
    return part([[value]], BITS, (position, position + 1), column, "position")


COUNTING = {
    "the sum is another function than the count": claim(
        [X, AGAIN], [NOTHING, ADDS_UP], above(1.5), [BITS, BITS], pair([[0, 0], [2, 1]])
    ),
    "a vector is not known": claim(
        # Position 1 sees x_0 alone, which no place names.
        [X], [attention(head([[1, 0, 0]], TO_1, mask="strict")), attention(head([[0, 2, 0]], TO_1), residual=False)],
        above(0.5), [BITS, BITS], always(0),
    ),
    **{
        f"a key depends on its token, {answer}": claim(
            # Position 0 has the key x_0, position 1 the key 1/2, and the value of position 0 is 1.
            [part([[0, 0, 1], [1, 0, 1]], BITS, (0, 1)), part([[0.5, 0, 1]] * 2, BITS, (1, 2)), at(1, 0)],
            [NOTHING, attention(head([[0, 1, 0]], TO_1, [[0, 0, 1]], [[1, 0, 0]]), residual=False)],
            above(0.5), [BITS, BITS], always(answer),
        )
        for answer in (0, 1)
    },
    "the last query depends on its token": claim(
        [X, at(1, 0)], [NOTHING, attention(head([[0, 1, 0]], TO_1, [[1, 0, 0]], [[0, 1, 0]]), residual=False)],
        above(0.5), [BITS, BITS], always(0),
    ),
    **{
        f"the last position's own token decides, {answer}": claim(
            [X], [NOTHING, SHOWS_OWN], above(0.5, 0), [BITS, (0, 1), BITS], always(answer)
        )
        for answer in (0, 1)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTING)
def test_a_false_claim_by_counting_is_refused(name):
    false = COUNTING[name]
    assert wrong(false)
    with pytest.raises(RefusedError):
        false.prove(COUNT if len(false.inputs.tokens) == 2 else COUNT_3)


def test_true_claims_by_counting_are_accepted():
    true = claim([X], [NOTHING, ADDS_UP], above(1.5), [BITS, BITS], pair([[0, 0], [2, 1]]))
    assert not wrong(true)
    assert true.prove(COUNT) == "layers"
    # The query of position 1 depends on its token, that of the last position does not.
    asks = attention(head([[0, 1, 0]], TO_1, [[1, 0, 0]], [[0, 0, 1]]), residual=False)
    parts = [part([[0, 0, 1], [1, 0, 1]], BITS, (0, 2)), part([[0, 0, 1]], (0, 1), (2, 3))]
    true = claim(parts, [NOTHING, asks], above(0.5), [BITS, BITS, (0, 1)], always(0))
    assert not wrong(true)
    assert true.prove(COUNT_3) == "layers"


def test_coefficients_give_their_table_back():
    for sizes in ((6,), (2, 3), (3, 2), (2, 3, 2)):
        table = tuple(7 * number**2 % 11 for number in range(prod(sizes)))
        found = coefficients(table, sizes)
        for entry, held in zip(table, product(*map(range, sizes)), strict=True):
            assert sum(value for name, value in found if all(held[axis] == i for axis, i in name)) == entry


def test_lines_of_a_count_are_all_of_its_coefficients():
    inputs, _ = read_specification({"inputs": [{"count": 2, "tokens": [0, 2]}], "answer": always(0)})

    def summed(*tables: tuple[tuple[int, ...], tuple[int, ...]]) -> Polynomial:
        found = Polynomial(inputs)
        for places, table in tables:
            found.add(places, table)
        return found

    both = summed(((0,), (0, 1)), ((1,), (0, 1)))
    for first, second in product(range(-2, 3), repeat=2):
        line = summed(((0,), (7, 7 + first)), ((1,), (0, second))).line_of(both)
        assert line == ((first, 7) if first == second else None)
    # A coefficient that cancels, and a constant before all others.
    count = summed(((0,), (1, 0)), ((0,), (0, 1)), ((1,), (1, 3)))
    assert summed(((1,), (0, 4))).line_of(count) == (2, -4)
    assert summed(((0,), (0, 1))).line_of(count) is None


def seen_by(layer: Attention, stated: Claim, held: Sequence[int]) -> list[list[int]]:
    """All vectors after a layer on one input."""
    assert isinstance(stated.network, Transformer)
    stream = [embed(stated.network, token, place, stated.numbers) for place, token in enumerate(held)]
    return attend(layer, stream, stated.numbers, [])


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
def test_a_query_whose_keys_are_known_is_a_point(residual, mask):
    """All values are above 0, and the tokens at all places are known."""
    ones = part([[1, 0.125], [2, 0.125]], BITS, (0, 3))
    layer = attention(head([[1, 0]], [[0], [1]], mask=mask), residual=residual)
    stated = claim([ones], [layer], readout([[1, 1]], [0]), [BITS] * 3, always(0), "nearest")
    assert isinstance(stated.network, Transformer)
    rule = FirstAttention(stated.network, live_coordinates(stated.network), stated.inputs, stated.numbers)
    for position, token in product(range(3), range(2)):
        places = tuple(place for place in range(3) if place != position)
        for held, box in rule.cases(position, token, places).items():
            found = dict(zip(places, held, strict=True))
            vectors = seen_by(layer, stated, [found.get(place, token) for place in range(3)])
            assert box == tuple(map(exactly, vectors[position]))


def test_the_embedding_is_seen_through_the_feed_forwards_before_the_first_attention():
    """With a residual and without, and one of two coordinates."""
    parts = (part([[1, 0], [2, 1]], BITS, (0, 2)), part([[0, 1], [0.5, 3]], BITS, (0, 2), 0, "position"))
    shown = FeedForward(matrix([[1, 1], [-1, 2]]), [raw(0.5), 0], matrix([[1, 0], [0.5, 1]]), [0, raw(1)], True)
    for first, second in product((True, False), repeat=2):
        prefix = (replace(shown, residual=first), replace(shown, residual=second))
        network = Transformer(2, 2, 2, parts, (), readout([[1, 0]], [0]), prefix)
        for columns, position, token in product(([0, 1], [0], [1]), range(2), range(2)):
            view = View(network, columns, numbers())
            vector = embed(network, token, position, numbers())
            for layer in prefix:
                vector = feed_forward(layer, vector, numbers())
            assert view.columns == columns
            assert view.vector(view.position(position), view.token(token)) == [vector[each] for each in columns]
            read = Projection(network, Matrix((((columns[-1], ONE),),), 2), numbers())
            assert read.project(read.position(position), read.token(token)) == [vector[columns[-1]]]


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
def test_a_count_is_taken_from_all_keys_that_the_last_position_sees(residual, mask):
    """Column 1 adds up column 0 of the keys; the last vector is not known, and is another one than the first."""
    layer = attention(head([[1, 0]], [[0], [1]], mask=mask), residual=residual)
    for where in range(3):
        stated = claim([], [layer], readout([[1, 1]], [0]), [BITS] * 3, always(0))
        seen = where < {"none": 3, "causal": 3, "strict": 2}[mask]
        tables = {"kind": "count", "conditions": [{"places": [[where]], "table": [0, 1]}], "answers": [[0, 0]]}
        _, spec = read_specification({"inputs": [{"count": 3, "tokens": [0, 2]}], "answer": tables})
        assert isinstance(spec, Count)
        rule = CountLayer(layer, [0, 1], [0, 1], spec, stated.numbers)
        local = [
            ((place,), [((0, 0), (3, 9)), ((24 * (place == where), 24 * (place == where)), (3, 9))])
            for place in range(3)
        ]
        local[2] = (2,), [(local[2][1][0][0], (5, 6)), (local[2][1][1][0], (4, 8))]
        boxes = list[Box]()

        def rest(box: Box, boxes: list[Box] = boxes) -> int:
            boxes.append(box)
            return 0

        rule.check(local, rest)
        weight = stated.numbers.weights("hard", {0: {"none": 3, "causal": 3, "strict": 2}[mask]})[0]
        last = (0, 24) if where == 2 else (0, 0)
        for count, box in enumerate(boxes):
            more = stated.numbers.product(weight, 24) * count * seen
            assert box == ((last, (4 + more, 8 + more)) if residual else ((0, 0), (more, more)))
        assert len(boxes) == 2


# -- attend: the same columns; statements of a layer ---

OWN = {"kind": "count", "conditions": [{"places": [[1]], "table": [0, 1]}], "answers": [[0, 0], [1, 1]]}
"""The answer is x_1."""
FREE = {"kind": "attend", "by": "token", "places": [[], []]}
ADDS_1 = FeedForward(matrix([], 3), [], matrix([[]] * 3, 0), [0, ONE, 0], True)
PAIR = matrix([[0, 0, 1]])
PAIRS = PairAttention(
    (PairHead(matrix([], 3), (matrix([], 3), matrix([], 3)), (PAIR, PAIR), matrix(TO_1), "softmax"),), True
)
"""Writes 1 to column 1, the product of two ones."""
LOOKUP = {"kind": "attend", "by": "token", "places": [[0, 1]] * 2}


def lookup(asked: Sequence[int]) -> Claim:
    """The last token q names a position, and column 5 gets what is at position ``asked[q]``."""
    key, query = [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]
    parts = [
        part([[0], [1]], BITS, (0, 2)), part([[1, 0], [0, 1]], BITS, (0, 2), 1, "position"),
        part([[each == 0, each == 1] for each in asked[:2]], BITS, (2, 3), 3),
    ]  # fmt: skip
    layer = attention(head([[1, 0, 0, 0, 0, 0]], [[0]] * 5 + [[1]], query, key))
    read = readout([[0, 0, 0, 0, 0, 1]], [0])
    return claim(parts, [layer], read, [BITS] * 3, {"kind": "select", "by": 2, "first": asked[2]})


def far_lookup() -> Claim:
    """The last token q asks for position q - 1, and gets what is at position q + 1."""
    key, query = [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]
    each = [[1, 0], [0, 1]]
    parts = [part([[0], [1]], BITS, (0, 4)), part(each, (0, 3), (2, 4), 1, "position"), part(each, (1, 3), (4, 5), 3)]
    layer = attention(head([[1, 0, 0, 0, 0, 0]], [[0]] * 5 + [[1]], query, key))
    read = readout([[0, 0, 0, 0, 0, 1]], [0])
    return claim(parts, [layer], read, [*[BITS] * 4, (1, 3)], {"kind": "select", "by": 4, "first": 1})


ATTENDS = {
    "a key that is not seen": (
        claim([X], [attention(head([[1, 0, 0]], TO_1, mask="strict"))], above(0.5), [(0, 1), BITS], OWN), [FREE],
    ),
    "a layer that acts is called idle": (
        claim([X], [NOTHING, ADDS_1], above(0.5), [BITS, BITS], always(0)), [FREE, {"kind": "idle"}],
    ),
    "attention that acts is called idle": (
        claim([X], [NOTHING, attention(head([[0, 0, 1]], TO_1))], above(0.5), [BITS, BITS], always(0)),
        [FREE, {"kind": "idle"}],
    ),
    "what is summed up decides": (claim([X], [ADDS_UP], above(0.5), [BITS, BITS], OWN), [FREE]),
    "one of three places decides": (
        claim([X], [attention(head([[2.625, 0, 0]], TO_1))], above(1.5), [BITS] * 3, pair([[0, 0], [1, 1]])),
        [{"kind": "attend", "by": "token", "places": [[0, 1]] * 2}],
    ),
    **{
        f"a key depends on its token, {answer}": (
            claim(
                [part([[0, 0, 1], [1, 0, 1]], BITS, (0, 1)), part([[0.5, 0, 1]] * 2, BITS, (1, 2)), at(1, 0)],
                [attention(head([[0, 1, 0]], TO_1, [[0, 0, 1]], [[1, 0, 0]]), residual=False)],
                above(0.5), [BITS, BITS], always(answer),
            ),
            [FREE],
        )
        for answer in (0, 1)
    },
    "a head writes one of two coordinates": (
        claim([X], [attention(head([[0, 0, 1]], TO_1))], readout([[0, 1, 1]], [-1]), [BITS, BITS], always(0)), [FREE],
    ),
    "a layer that changes one of two coordinates is called idle": (
        claim([X], [NOTHING, ADDS_1], readout([[0, 1, 1]], [-1]), [BITS, BITS], always(0)), [FREE, {"kind": "idle"}],
    ),
    "no answer where the places determine none": (
        claim([X], [NOTHING], readout([[0, 0, 0.5]], [0], "exact"), [BITS, BITS], pair([[0, 0], [2, 1]])), [FREE],
    ),
    "a first layer that writes what the second one reads is called idle": (
        claim([X], [ADDS_1, attention(head([[0, 1, 0]], [[1], [0], [0]]))], above(1.5, 0), [BITS, BITS], always(0)),
        [{"kind": "idle"}, FREE],
    ),
    "what a feed-forward adds decides": (
        claim([X], [NOTHING, ADDS_1], above(0.5), [BITS, BITS], always(0)), [FREE, {"kind": "feed-forward"}],
    ),
    "the token two positions further is looked up": (
        far_lookup(), [{"kind": "attend", "by": "token", "places": [[0, 1, 2, 3]] * 2}],
    ),
    "the wrong token is looked up": (lookup([1, 0, 0]), [LOOKUP]),
    "another token is looked up": (lookup([1, 1, 0]), [LOOKUP]),
    "a pair of positions decides": (claim([X], [PAIRS], above(0.5), [BITS, BITS], always(0)), [{"kind": "match"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTENDS)
def test_a_false_claim_by_attention_is_refused(name):
    false, statements = ATTENDS[name]
    assert wrong(false)
    with pytest.raises(RefusedError):
        false.prove(layered(*statements))


def test_a_true_lookup_is_accepted():
    true = lookup([0, 1, 0])
    assert not wrong(true)
    assert true.prove(layered(LOOKUP)) == "layers"
    for places in ([[0], [1]], [[1, 0]] * 2):
        assert true.prove(layered({**LOOKUP, "places": places})) == "layers"
    with pytest.raises(RefusedError):
        true.prove(layered({**LOOKUP, "places": [[0], [0]]}))


def test_statements_are_those_of_the_layers():
    true = claim([X], [attention(head([[0, 0, 1]], TO_1))], above(0.5), [BITS, BITS], always(1))
    assert true.prove(layered(FREE)) == "layers"
    counted = claim([X], [NOTHING, ADDS_UP], above(1.5), [BITS, BITS], pair([[0, 0], [2, 1]]))
    by_position, count = COUNT["statements"]
    for stated, statements in (
        (true, [{**FREE, "by": "position"}]), (true, [{**FREE, "places": [[]]}]),
        (true, [{**FREE, "places": [[]] * 3}]),
        (true, [{**FREE, "kind": "match"}]), (true, [{**FREE, "places": [[0, 0], []]}]), (true, []),
        (true, [{**FREE, "places": [[2], []]}]), (true, [{**FREE, "places": [[], [3]]}]),
        (counted, [by_position, {"kind": "idle"}]), (counted, [by_position, {"kind": "fetch"}]),
        (counted, [{**by_position, "by": "token"}, count]), (counted, [{**by_position, "places": [[], [], []]}, count]),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            stated.prove(layered(*statements))


@pytest.mark.parametrize("terms", [2, 3])
def test_matching_by_what_attention_writes(terms):
    """Modulo 1 everything matches, which is right because the layer writes 1."""
    spec = {"kind": "sums", "window": [0, 2], "modulus": 1, "terms": terms, "asked": "each"}
    layer = PAIRS if terms == 3 else attention(head([[0, 0, 1]], TO_1))
    for times, right in ((1, True), (-1, False)):
        # The head's 1 is read as it is, or taken away from 1.
        read = readout([[0, times, 0]], [(1 - times) / 2], "bits", "every")
        stated = claim([part([[0, 0, 1], [1, 0, 1]], BITS, (0, 2))], [layer], read, [BITS, BITS], spec)
        assert wrong(stated) != right
        if right:
            assert stated.prove(layered({"kind": "match"})) == "layers"
        with pytest.raises(RefusedError):
            stated.prove(layered(FREE if right else {"kind": "match"}))
    if terms == 2:
        read = readout([[0, 1, 0]], [0], "bits", "every")
        stated = claim([X], [NOTHING, ADDS_1], read, [BITS, BITS], spec)
        assert not wrong(stated)
        assert stated.prove(layered({"kind": "match"}, {"kind": "feed-forward"})) == "layers"


@pytest.mark.parametrize(("least", "column", "right"), [(0.5, 0, True), (1.5, 0, False), (0.5, 2, False)])
def test_whether_one_of_some_tokens_matches_is_a_count(least, column, right):
    """Modulo 3 a token 0 matches and a token 1 does not; position 0 is not asked about."""
    spec = {"kind": "sums", "window": [1, 3], "modulus": 3, "terms": 2, "asked": "any"}
    parts = [part([[1, 0, 0], [0, 0, 1]], BITS, (1, 3)), part([[3, 0, 3]], (0, 1), (0, 1))]
    adds = attention(head([[2.625 * (each == column) for each in range(3)]], TO_1), residual=False)
    match, count = {"kind": "match"}, {"kind": "count"}
    # Position 0 adds 3.
    stated = claim(parts, [NOTHING, adds], above(least + 3), [(0, 1), BITS, BITS], spec, "nearest")
    assert wrong(stated) != right
    if right:
        assert stated.prove(layered(match, count)) == "layers"
    for statements in ([match, {"kind": "fetch"}], [count, count], [match, count] * (not right)):
        with pytest.raises(RefusedError):
            stated.prove(layered(*statements))
    # Each token is asked although a layer mixes them, and one answer is asked although none does.
    for asked, at_place, layers in (("each", "every", [NOTHING, adds]), ("any", "last", [NOTHING])):
        read = replace(above(least + 3), at=at_place)
        other = claim(parts, layers, read, [(0, 1), BITS, BITS], {**spec, "asked": asked}, "nearest")
        with pytest.raises(RefusedError):
            other.prove(layered(*[match, count][: len(layers)]))


def test_rules_refuse_networks_and_questions_that_they_are_not_about():
    automaton = {"kind": "automaton", "start": 0, "steps": [[0, 1], [1, 1]], "answers": [0, 1]}
    inputs, answers = read_specification({"inputs": [{"count": 2, "tokens": [0, 2]}], "answer": automaton})
    cell = ((matrix([[1, 1]]), [0]),)
    recurrent = Recurrent(2, 2, [[0], [ONE]], [0], cell, readout([[1]], [0]))
    seen = Claim(recurrent, inputs, answers, numbers())
    assert not wrong(seen)
    assert seen.prove({"rule": "automaton"}) == "automaton"
    for answer in ({**automaton, "answers": [0, 0]}, {**automaton, "start": 1}):
        _, other = read_specification({"inputs": [{"count": 2, "tokens": [0, 2]}], "answer": answer})
        false = Claim(recurrent, inputs, other, numbers())
        assert wrong(false)
        for rule in ("automaton", "enumeration"):
            with pytest.raises(RefusedError):
                false.prove({"rule": rule})
    plain = claim([X], [NOTHING], above(0.5), [BITS, BITS], always(0))
    reads = claim([X], [NOTHING], above(0.5, 0), [BITS, BITS], {**automaton, "steps": [[0, 1], [0, 1]]})
    assert not wrong(reads)
    for stated, proof in (
        (seen, layered()), (seen, {"rule": "prefixes", "age": []}), (plain, {"rule": "prefixes", "age": []}),
        (plain, {"rule": "automaton"}), (reads, {"rule": "automaton"}), (reads, layered()),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            stated.prove(proof)
    for stated, proof in (
        (seen, {"rule": "automaton", "more": 1}), (seen, ["automaton"]), (seen, {"rule": "other"}), (seen, {}),
        (plain, {"rule": "enumeration", "statements": []}), (plain, {"rule": "layers"}), (reads, {"rule": "prefixes"}),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            stated.prove(proof)
    assert plain.prove({"rule": "enumeration"}) == reads.prove({"rule": "enumeration"}) == "enumeration"
    count, table = pair([[0, 0], [2, 1]]), {"kind": "table", "answers": [0, 0, 0, 1]}
    forward = {"kind": "feed-forward"}
    for layers, answer, statements in (
        ([NOTHING, ADDS_UP, ADDS_UP], count, [*COUNT["statements"], {"kind": "count"}]),
        ([ADDS_1, ADDS_UP], count, [forward, {"kind": "count"}]), ([ADDS_1], always(1), [forward]),
        ([PAIRS], always(1), [FREE]), ([NOTHING, PAIRS], always(1), COUNT["statements"]),
        ([NOTHING] * 3, always(0), [FREE] * 3),
        ([NOTHING, ADDS_UP], table, COUNT["statements"]), ([NOTHING, ADDS_1], always(1), [FREE, {"kind": "match"}]),
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            claim([X], layers, above(0.5), [BITS, BITS], answer).prove(layered(*statements))
    # Networks of other positions and tokens, and on graphs.
    given = (plain.inputs, plain.answers, numbers())
    assert isinstance(plain.network, Transformer)
    graph = GraphAttention((), True)
    for changed in ({"positions": 3}, {"positions": 1}, {"vocabulary": 1}, {"layers": (graph, ADDS_1)}):
        with pytest.raises(RefusedError):
            Claim(replace(plain.network, **cast("Any", changed)), *given)
    inputs, answers = read_specification(
        {"inputs": [{"count": 1, "tokens": [0, 2]}, {"count": 1, "tokens": [0, 1]}], "answer": always(0)}
    )
    with pytest.raises(RefusedError):
        Claim(replace(plain.network, vocabulary=1), inputs, answers, numbers())
    # Two answers are asked for, and the network is read at the last position.
    recall = {"kind": "recall", "pairs": 2}
    with pytest.raises(RefusedError):
        claim([X], [NOTHING], above(0.5), [BITS] * 6, recall)
    with pytest.raises(RefusedError):
        claim([X], [NOTHING], readout([[0, 1, 0]], [0], "bits", "every"), [BITS, BITS], always(0))


@pytest.mark.parametrize("length", range(1, 10))
def test_automata_are_walked_to_the_length_also_where_sets_of_states_come_again(length):
    """The state of the network and of the automaton change at each token."""
    for answers in product((0, 1), repeat=2):
        automaton = {"kind": "automaton", "start": 0, "steps": [[1, 1], [0, 0]], "answers": [*answers]}
        inputs, right = read_specification({"inputs": [{"count": length, "tokens": [0, 2]}], "answer": automaton})
        cell = ((matrix([[-1, 0]]), [ONE]),)
        network = Recurrent(2, length, [[0], [ONE]], [0], cell, readout([[1]], [0]))
        stated = Claim(network, inputs, right, numbers())
        assert wrong(stated) == (answers[length % 2] != length % 2)
        if wrong(stated):
            with pytest.raises(RefusedError):
                stated.prove({"rule": "automaton"})
        else:
            assert stated.prove({"rule": "automaton"}) == "automaton"


@pytest.mark.parametrize("length", range(1, 12))
def test_automata_are_walked_to_the_length_behind_a_first_state_that_does_not_come_again(length):
    """States are 0, then 1, 2, 3 again and again; the network always answers 1."""
    states = [0, *[1, 2, 3] * 4]
    for right in range(4):
        answers = [int(state == right) for state in range(4)]
        automaton = {"kind": "automaton", "start": 0, "steps": [[1], [2], [3], [1]], "answers": answers}
        inputs, spec = read_specification({"inputs": [{"count": length, "tokens": [0, 1]}], "answer": automaton})
        network = Recurrent(1, length, [[0]], [0], ((matrix([[0, 0]]), [0]),), readout([[1]], [1]))
        stated = Claim(network, inputs, spec, numbers())
        assert wrong(stated) == (states[length] != right)
        if wrong(stated):
            with pytest.raises(RefusedError):
                stated.prove({"rule": "automaton"})
        else:
            assert stated.prove({"rule": "automaton"}) == "automaton"


def test_heads_need_what_their_queries_keys_and_values_read():
    rows = [[int(place == each) for each in range(7)] for place in range(7)]
    query, one, two, three, four = (matrix([rows[place]]) for place in range(5))
    to = matrix([[int(place == 5)] for place in range(7)])
    pairs = PairAttention((PairHead(query, (one, two), (three, four), to, "hard"),), False)
    graph = GraphAttention((GraphHead([0] * 8, 0, (three, four), to, "hard"),), False)
    plain = Attention((Head(query, one, two, to, "hard", "none"),), False)
    for layer, needed in ((pairs, [0, 1, 2, 3, 4]), (graph, [3, 4]), (plain, [0, 1, 2])):
        assert live_before([layer], [5]) == [needed, [5]]
        assert live_before([replace(layer, residual=True)], [5]) == [[*needed, 5], [5]]
        assert live_before([layer], [6]) == [[], [6]]


def test_answers_are_decoded_as_they_are_defined():
    bits, exact = (readout([[1], [1]], [0, 0], decoding) for decoding in ("bits", "exact"))
    half = ONE // 2
    for values, by_bits, exactly_read in (
        ([ONE, 0], 2, 2), ([ONE, ONE], 3, 3), ([0, ONE], 1, 1), ([0, 0], 0, 0), ([half, half + 1], 1, None),
        ([1, ONE], 1, None), ([0, 1], 0, None), ([0, ONE - 1], 1, None),
    ):  # fmt: skip
        assert (decode(bits, values, numbers()), decode(exact, values, numbers())) == (by_bits, exactly_read)
    for prime, most in ((2, 1), (3, 2), (7, 4)):
        for held in product(range(prime), repeat=most):
            sums = tuple([sum(each**power for each in held) % prime for power in range(1, most + 1)])
            assert sketched(sums, prime, prime) == set(held)


def test_vertices_of_a_graph_hold_token_0():
    edges = GraphAttention((), True)
    read = readout([[1]], [0], at="every")
    for token in range(2):
        held = part([[1]], (token, token + 1), (0, 2))
        network = Transformer(2, 2, 1, (held,), (edges,), read)
        assert evaluate(network, (0, 0), numbers(), 2, (), 1) == [1 - token] * 2


@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
@pytest.mark.parametrize(
    "keys",
    [
        [[1, 1], [1, -1], [-1, 1], [1, 1]],
        [[1, 1], [1, 0], [0, -1], [0, 0]],
        [[2, 2], [2, -2], [-0.5, 0.5], [0.5, 0.5]],
    ],
)
def test_queries_see_keys_of_all_kinds(mask, keys):
    """Keys of signs, of which some belong to values of another kind, and keys that are not signs."""
    fixed = numbers()
    parts = [
        part(keys, BITS, (0, 4), 0, "position"), part([[0], [1]], BITS, (0, 4), 2), part([[1], [-1]], BITS, (1, 2), 2),
        part([[-2]], BITS, (2, 3), 2, "position"),
    ]  # fmt: skip
    network = Transformer(2, 4, 3, tuple(parts), (), readout([[0, 0, 1]], [0]))
    inputs, _ = read_specification({"inputs": [{"count": 4, "tokens": [0, 2]}], "answer": always(0)})
    one = head([[0, 0, 1]], [[0], [0], [1]], [[0, 0, 0]] * 2, [[1, 0, 0], [0, 1, 0]], "softmax", mask)
    rule = FixedWeights(one, network, inputs, fixed, "a head")
    for position, query in product(range(4), ([8, 8], [-8, 8], [8, 0], [3, -5], [0, 0])):
        seen = rule.seen(position, query, packed(query))
        visible = {"none": 4, "causal": position + 1, "strict": position}[mask]
        sums = []
        for held in product(range(2), repeat=4):
            stream = [embed(network, token, place, fixed) for place, token in enumerate(held)][:visible]
            scores = [score(query, each[:2], fixed) for each in stream]
            weights = fixed.weights("softmax", Counter(scores))
            sums.append(sum(fixed.product(weights[s], each[2]) for s, each in zip(scores, stream, strict=True)))
        assert (seen.low, seen.high) == ([min(sums)], [max(sums)])


# -- power sums: one number x modulo 3; column 0 holds it, the others are written ---

THREE = (0, 3)
EACH = {"kind": "sums", "window": [0, 1], "modulus": 3, "terms": 3, "asked": "each"}


def sketch(parts: Sequence[Part], layer: Attention, row: Sequence[float], bias: float = 0, asked: Any = EACH) -> Claim:
    """One token, whose number is read from column 0 and whose power sum is read by a row."""
    own = [1.0, *[0] * (len(row) - 1)]
    read = readout([own, row], [0, bias], "power-sums", "every", (3, 3))
    return claim(parts, [layer], read, [(0, 2) if asked["modulus"] == 2 else THREE], asked)


def tokens(*rows: Sequence[float]) -> Part:
    """What the three tokens hold."""
    return part(rows, THREE, (0, 1))


def moved(base: Sequence[float], adds: Sequence[float], bias: float) -> Claim:
    """Column 1 holds ``base`` of the token, the head adds column 2 to it, and half of it is read, with a bias."""
    held = tokens(*[(x, base[x], adds[x]) for x in range(3)])
    return sketch([held], attention(head([[0, 0, 1]], TO_1)), [0, 0.5, 0], bias)


POWERS = {
    "outputs are rounded": sketch(
        [tokens([0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0])],
        attention(
            head(
                [[0.625, 0, 0, 0], [0.625, 0, 0, 0], [0.75, 0, 0, 0]],
                [[0, 0, 0], [0.125, 0, 0], [0, 0.125, 0], [0, 0, 0.125]],
            )
        ),
        [0, 4, 4, 4],
    ),
    "the stream is saturated above": moved((6, 6, 6), (0, 2, 4), -3),
    "the stream is saturated below": moved((-6, -6, -6), (0, -4, -2), 3),
    "the stream is saturated where the token's own part is low": moved((0, -6, 0), (0, -4, 4), 0),
    "the readout is saturated": sketch(
        [tokens([0, 0, 0], [1, 2.5, 0], [2, 0.5, 0])], attention(head([[0, 1, 0]], [[0], [0], [1]])), [0, 0, 4]
    ),
    "the stream is saturated where the token's own part is high": sketch(
        [tokens([0, 0, 0], [1, 3, 7], [2, 0, 2])], attention(head([[0, 0, 1]], TO_1)), [0, 1, 0]
    ),
    "two numbers are summed up and one sum is read": claim(
        [part([[0, 0], [1, 0], [2, 0]], THREE, (0, 2))],
        [attention(head([[2, 0]], [[0], [1]]))],
        readout([[1, 0], [0, 1]], [0, 0], "power-sums", "every", (3, 3)),
        [THREE, THREE],
        {**EACH, "window": [0, 2]},
    ),
    "a head sees nothing": sketch(
        [tokens([0, 0], [1, 0], [2, 0])], attention(head([[1, 0]], [[0], [1]], mask="strict")), [0, 1]
    ),
    "keys are weighed by their scores": claim(
        [tokens([0, 0, 0]), part([[0, 0, 1], [1, 0, 1], [2, 0, 1]], THREE, (1, 2))],
        [attention(head([[2, 0, 0]], TO_1, [[0, 0, 1]], [[0, 0, 1]]))],
        readout([[1, 0, 0], [0, 1, 0]], [0, 0], "power-sums", "every", (3, 3)),
        [(0, 1), THREE],
        {**EACH, "window": [1, 2]},
    ),
    "another modulus is asked for": sketch(
        [tokens([0, 0], [1, 0])], attention(head([[1, 0]], [[0], [1]])), [0, 1], asked={**EACH, "modulus": 2}
    ),
    "sums of two numbers are asked for": sketch(
        [tokens([0, 0], [1, 0], [2, 0])], attention(head([[1, 0]], [[0], [1]])), [0, 1], asked={**EACH, "terms": 2}
    ),
    # Heads add -5 and -3.125, less than -8, and 2.5 elsewhere: -5.625 would be rounded to -6, -5.5 is not.
    "the stream is saturated where there is no residual": claim(
        [part([[0, 0, 1, 0]], (0, 1), (0, 1))],
        [
            attention(
                head([[0, 0, -5, 0], [0, 0, 2.5, 0]], [[0, 0], [1, 0], [0, 0], [0, 1]]),
                head([[0, 0, -3.125, 0]], [[0], [1], [0], [0]]),
                residual=False,
            )
        ],
        readout([[0, 0, 0, 0], [0, 1, 0, 1]], [0, 0], "power-sums", "every", (3, 3)),
        [(0, 1)],
        EACH,
    ),
    # Products of 1/8 with 7/8 and -7/8 are rounded down to 0 and -1/8.
    "the readout is rounded": sketch(
        [tokens(*[[x, 0, *[0.875, -0.875] * 5] for x in range(3)])],
        attention(head([[1, *[0] * 11]], [[0], [1], *[[0]] * 10])),
        [0, 1, *[0.125] * 10],
    ),
    # The number 2, which is -1 modulo 3, adds -1/2, which is rounded to 0.
    "a tie is taken for the number below": sketch(
        [tokens([0, 0, 0], [1, 0, 1], [2, 0, -0.5])], attention(head([[0, 0, 1]], TO_1)), [0, 1, 0]
    ),
    "a tie is rounded up": sketch([tokens([0, 0], [1, 0], [2, 0])], attention(head([[1, 0]], [[0], [1]])), [0, 1], 0.5),
}


@pytest.mark.parametrize("name", POWERS)
def test_a_false_claim_by_power_sums_is_refused(name):
    assert wrong(POWERS[name])
    with pytest.raises(RefusedError):
        POWERS[name].prove(layered({"kind": "power-sums"}))


def test_power_sums_are_read_from_one_layer():
    layers = [
        attention(head([[1, 0]], [[0], [1]])),
        FeedForward(matrix([], 2), [], matrix([[]] * 2, 0), [0, ONE], False),
    ]
    read = readout([[1, 0], [0, 1]], [0, 0], "power-sums", "every", (3, 3))
    false = claim([tokens([0, 0], [1, 0], [2, 0])], layers, read, [THREE], EACH)
    assert wrong(false)
    with pytest.raises(RefusedError):
        false.prove(layered({"kind": "power-sums"}, {"kind": "feed-forward"}))


@pytest.mark.parametrize("true", [moved((6, 6, 6), (0, 2, -2), -3), moved((-6, -6, -6), (0, 2, -2), 3)])
def test_sums_that_reach_the_end_of_the_range_are_not_saturated(true):
    assert not wrong(true)
    assert true.prove(layered({"kind": "power-sums"})) == "layers"
    with pytest.raises(RefusedError):
        true.prove(layered({"kind": "match"}))


def test_distances_are_those_of_the_farthest_number():
    for values, modulus, right in (([7, -1], 3, 1), ([3, 6], 3, 0), ([2, 4], 5, 2), ([4, 1], 5, 1), ([-7], 16, 7)):
        assert distance(values, modulus) == right


def test_averages_of_power_sums_are_not_saturated():
    for count, value, fits in ((8, 8, True), (8, -8, True), (9, 8, False), (9, -8, False), (9, 7, True)):
        rule = cast("Any", PowerSums.__new__(PowerSums))
        rule.numbers, rule.roles = numbers(), [range(count)]
        # Two coordinates, of which the first one may be saturated; nothing of it is written.
        one = head([[1, 0], [0, 1]], [[0, 1], [0, 0]])
        tables = [{0: [value, 0], 1: [0, 1]}]
        if fits:
            rule._add([(0, 0), (0, 0)], one, tables)
        else:
            with pytest.raises(RefusedError):
                rule._add([(0, 0), (0, 0)], one, tables)


def test_answers_by_power_sums_ask_for_two_numbers_of_the_window():
    read = readout([[1], [1], [1]], [0, 0, 0], "power-sums", "every", (3, 3))
    # The window holds 0 and 1, so that s_1 = s_2 = 1, or 0 twice.
    for sums, right in ((ONE, [1, 1, 1]), (0, [1, 0, 0])):
        assert [decode(read, [ONE * own, sums, sums], numbers()) for own in range(3)] == right


# -- recall: a key, its label, a query; columns: 0 the answer, 1 a label, 2 is 1, 3 the place, 4 is written ---

RECALL = {"kind": "recall", "pairs": 1}
LABELS = part([[0, 0, 0, 0, 0], [0, 1, 0, 0, 0]], BITS, (1, 2))
ONES = part([[0, 0, 1, 0, 0]] * 3, BITS, (0, 3), 0, "position")
PLACE = part([[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]], BITS, (0, 3), 0, "position")
ANSWER = readout([[1, 0, 0, 0, 0]], [0], "bits", "every")
FETCH = head([[0, 1, 0, 0, 0]], [[1], [0], [0], [0], [0]], [[0, 0, 1, 0, 0]], [[0, 0, 0, 1, 0]])
"""Attends to place 1 and writes its label to the answer."""
IDLE = FeedForward(matrix([], 5), [], matrix([[]] * 5, 0), [0] * 5, True)
MATCH, FORWARD, FETCHES = {"kind": "match"}, {"kind": "feed-forward"}, {"kind": "fetch"}


def writes(column: int, value: Sequence[float]) -> Attention:
    """Weighs all three keys alike and writes 8/3 times the average of what a row reads."""
    return attention(head([[*value]], [[8 * (place == column)] for place in range(5)]))


def recalled(parts: Sequence[Part], *layers: Layer) -> Claim:
    """The claim that a network recalls one label."""
    return claim([LABELS, ONES, PLACE, *parts], layers, ANSWER, [BITS, BITS, BITS], RECALL)


LOOKS_AWAY = head(
    [[0, 1, 0, 0, 0]], [[1], [0], [0], [0], [0]], [[0, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
    [[0, 0, 0, 1, 0], [0, 0, 1, -1, 0]],
)  # fmt: skip
"""Attends to place 1 as long as column 4 is 0."""
RECALLS = {
    "labels are overwritten": recalled([], writes(1, [0, 0, 1, 0, 0]), attention(FETCH)),
    "labels are overwritten before a layer that does nothing": recalled(
        [], writes(1, [0, 0, 1, 0, 0]), IDLE, attention(FETCH)
    ),
    "the query is not known": recalled([], writes(4, [0, 1, 0, 0, 0]), attention(LOOKS_AWAY)),
    "the query itself is taken for the label": recalled(
        [part([[0], [1]], BITS, (2, 3), 4)],
        attention(),
        attention(head([[0, 0, 0, 0, 1]], [[8], [0], [0], [0], [0]])),
    ),
    "the query's own answer is added": recalled(
        [part([[1], [1]], BITS, (2, 3))], writes(4, [0, 0, 1, 0, 0]), attention(FETCH)
    ),
}


def compared(queries: int, *parts: Part) -> Claim:
    """Two keys of three, their labels, and queries. Queries with column 4 to 7 find keys with column 8 to 11.

    Column 0 is the answer, 1 a label, 2 is 1 or -1 for both keys, 12 for their labels, 3 what a query finds.
    """
    width, stop = 13, 4 + queries
    units = [[int(place == each) for each in range(width)] for place in range(width)]
    one_of = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    held = [
        part([[0], [1]], (3, 5), (0, 4), 1),
        part([[1], [0], [-1], [0]], (0, 5), (0, 4), 2, "position"),
        part([[0], [1], [0], [-1]], (0, 5), (0, 4), 12, "position"),
        part(one_of, (0, 3), (0, 4), 8), part(one_of, (0, 3), (4, stop), 4),
    ]  # fmt: skip
    first = head([units[2]], [[each] for each in units[3]], units[4:8], units[8:12])
    second = head([units[1]], [[each] for each in units[0]], [units[3]], [units[12]])
    spans = [(0, 3), (3, 5), (0, 3), (3, 5), *[(0, 3)] * queries]
    answers = {"kind": "recall", "pairs": 2}
    layers = [attention(first), attention(second)]
    return claim([*held, *parts], layers, readout([units[0]], [0], "bits", "every"), spans, answers)


@pytest.mark.parametrize("queries", [1, 2])
def test_keys_of_other_tokens_are_all_compared(queries):
    """A query with token 0 finds a key with token 1, or a query with token 1, before its own key."""
    true = compared(queries)
    assert not wrong(true)
    assert true.prove(layered(MATCH, FETCHES)) == "layers"
    asks = part([[2]], (0, 1), (4, 4 + queries), 5 if queries == 1 else 7)
    false = compared(queries, asks, *[part([[1]], (1, 2), (4, 6), 11)] * (queries - 1))
    assert wrong(false)
    with pytest.raises(RefusedError):
        false.prove(layered(MATCH, FETCHES))


@pytest.mark.parametrize("name", RECALLS)
def test_a_false_claim_of_recall_is_refused(name):
    false = RECALLS[name]
    assert wrong(false)
    with pytest.raises(RefusedError):
        false.prove(layered(MATCH, *[FORWARD] * (len(false.network.layers) - 2), FETCHES))  # pyright: ignore[reportAttributeAccessIssue]


def test_a_true_claim_of_recall_is_accepted():
    for layers in ((attention(),), (writes(4, [0, 0, 1, 0, 0]), IDLE)):
        true = recalled([], *layers, attention(FETCH))
        assert not wrong(true)
        assert true.prove(layered(MATCH, *[FORWARD] * (len(layers) - 1), FETCHES)) == "layers"
        alone = recalled([], *layers)
        with pytest.raises(RefusedError):
            alone.prove(layered(MATCH, *[FORWARD] * (len(layers) - 1)))
        # Without a residual it does not matter what the answer was before.
        true = recalled([part([[1], [1]], BITS, (2, 3))], *layers, attention(FETCH, residual=False))
        assert not wrong(true)
        assert true.prove(layered(MATCH, *[FORWARD] * (len(layers) - 1), FETCHES)) == "layers"
        for first, last in ((FETCHES, FETCHES), (MATCH, MATCH)):
            with pytest.raises(RefusedError):
                true.prove(layered(first, *[FORWARD] * (len(layers) - 1), last))


# -- groups of keys ---


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_weights_of_groups_hold_for_every_choice_of_scores(scoring, rounding):
    fixed, some = numbers(rounding), (-9, -8, -4, -1, 0, 1, 8)
    for groups in (
        [(1, 0, 1, 0), (1, None, 0, 1)], [(1, 1, 8, 0), (2, None, 0, 1)], [(2, -1, 0, 0), (1, -9, -1, 1)],
        [(1, 8, 8, 0), (1, 8, 8, 1)], [(3, 0, 0, 0)],
        [(1, 1, 8, 0), (1, None, 0, 1), (1, None, 8, 2)], [(1, -4, 8, 0), (1, -8, -4, 1)],
    ):  # fmt: skip
        found = weight_sums(groups, scoring, fixed)
        assert len(found) == len(groups)
        keys = [number for number, (count, *_) in enumerate(groups) for _ in range(count)]
        for scores in product(some, repeat=len(keys)):
            held = [[s for s, k in zip(scores, keys, strict=True) if k == g] for g in range(len(groups))]
            fits = all(max(s) <= h and (b is None or max(s) >= b) for s, (_, b, h, _) in zip(held, groups, strict=True))
            if not fits:
                continue
            counts = {s: scores.count(s) for s in scores}
            if scoring == "leftmost":
                best = max(scores)
                weights = [{fixed.scale} if s == best else {0} for s in scores]
                options = [o for o in product((0, fixed.scale), repeat=len(keys)) if sum(o) == fixed.scale]
                options = [o for o in options if all(a in w for a, w in zip(o, weights, strict=True) if a)]
            else:
                table = fixed.weights(scoring, counts)
                options = [tuple(table[s] for s in scores)]
            for option in options:
                for number, (low, high, most) in enumerate(found):
                    mine = [w for w, k in zip(option, keys, strict=True) if k == number]
                    assert low <= sum(mine) <= high
                    assert sum(map(bool, mine)) <= most


def test_nothing_is_said_of_other_attention_and_of_unknown_scores():
    for groups, scoring in (([(1, None, 0, 0)], "hard"), ([(1, 0, 0, 0)], "linear"), ([(9, 0, 0, 0)], "hard")):
        with pytest.raises(RefusedError):
            weight_sums(cast("Any", groups), scoring, numbers())
    assert weight_sums([(8, 0, 0, 0)], "hard", numbers()) == [(1, 8, 8)]


def test_groups_that_are_put_together_know_what_all_of_them_know():
    groups = [(1, None, 5, 0), (2, 3, 4, 1), (1, 9, 9, 2)]
    values = [((0, 1, True),), ((-2, 0, False),), ((8, 8, True),)]
    some, theirs = together(groups, values, ["a", "a", "b"])
    assert [each[:3] for each in some] == [(3, 3, 5), (1, 9, 9)]
    assert theirs == [((-2, 1, False),), ((8, 8, True),)]
    assert hull([((0, 5), (1, 1)), ((-3, 2), (4, 4))]) == ((-3, 5), (1, 4))


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_scores_of_choices_are_those_of_evaluation(rounding):
    fixed = numbers(rounding)
    for keys in (
        [[8, 8], [8, -8], [-8, 8]], [[8, 8], [4, -4], [4, 4]], [[8, 0], [0, 8], [-3, 0]], [[64, 1], [-64, 1], [0, 1]],
        [[3, 1], [1, 3], [0, 0]], [[4, 4], [8, 8], [0, 0]],
    ):  # fmt: skip
        choices = Choices(keys, 1, fixed)
        for query in ([8, 8], [-8, 8], [3, -5], [64, -64], [63, 9], [1, 64], [0, 0]):
            scores = [score(query, key, fixed) for key in keys]
            assert [choices.score(query, token) for token in (1, 2, 3)] == scores
            for without in (range(0), range(1, 2), range(2, 3), range(2, 4)):
                left = [each for token, each in enumerate(scores, 1) if token not in without]
                assert choices.bounds(query, without) == (min(left), max(left))
            with pytest.raises(RefusedError):
                choices.bounds(query, range(1, 4))


def test_values_of_groups_are_ranges_and_whole_where_all_are():
    network = Transformer(2, 1, 1, (), (), readout([[1]], [0]))
    grouped = Grouped(network, matrix([], 1), "softmax", False, numbers())
    assert grouped.ranges([[8, 8, 3], [16, 12, -8]]) == ((8, 16, True), (8, 12, False), (-8, 3, False))
    # Three tokens with the scores 0, 1 and 2: a key that holds one of the last two scores at least 1.
    grouped.add(2, [[0], [8], [16]], 0, [[0]])
    for some, least in ((frozenset[int](), 0), (frozenset([1, 2]), 8), (frozenset([2]), 16), (frozenset([0]), 0)):
        assert grouped.rest([8], Case(some=some), [2]) == [(2, least, 16, 0)]
    masked = Grouped(network, matrix([], 1), "softmax", True, numbers())
    masked.add(2, [[0], [8], [16]], 0, [[0]])
    assert masked.rest([8], Case(), [2]) == [(2, None, 16, 0)]
    with pytest.raises(RefusedError):
        masked.rest([8], Case(some=frozenset([2])), [2])


@pytest.mark.parametrize("scoring", ["linear", "relu"])
def test_every_number_of_pairs_is_covered_where_their_values_agree(scoring):
    fixed, vertices = numbers(), 2
    unit = [[1.0, 0]]
    network = Transformer(
        1, vertices, 2, (part(unit, (0, 1), (0, 2)), part([[0], [1]], (0, 1), (0, 2), 1, "position")), (),
        readout([[1, 0]], [0], "bits", "every"),
    )  # fmt: skip
    alike = matrix([[1, 0]])
    edges = ContentEdges(GraphHead([0] * 7 + [4], 3, (alike, alike), alike, scoring), network, fixed)
    found = {
        number: fixed.saturate(number * fixed.product(table.get(4, 0), 8))
        for number in range(1, vertices**2 + 1)
        for table in [fixed.weights(scoring, {4: number, 3: 1} | ({0: vertices**2 - number} if number < 4 else {}))]
    }
    assert edges.average(((4, 1, 4, 0),), ()) == ((min(found.values()), max(found.values())),)
    assert min(found.values()) < max(found.values())
    assert edges.average(((4, 0, 0, 0),), ()) == ((0, 0),)
    # One coordinate of the values is the same at all vertices, and one is not.
    both = matrix([[1, 0], [0, 1]])
    for scores, values in (([0] * 7 + [4], both), ([1, *[0] * 6, 4], alike)):
        with pytest.raises(RefusedError):
            ContentEdges(GraphHead(scores, 3, (values, values), values, scoring), network, fixed).average(
                ((4, 1, 4, 0),), ()
            )


def test_averages_of_values_that_are_not_whole_allow_for_rounding():
    fixed = numbers()
    for whole, ends in ((True, (3, 3)), (False, (2, 3))):
        # Two keys with weights that add up to 3, and the value 1: at least 3 - 1 where products are rounded.
        assert weighted_sum([((8, 8, whole),)], [(3, 3, 2)], fixed) == (ends,)


# -- windows: tokens 0, 1, 2 modulo 3 at two positions; column 0 holds the own one, 4 and 5 those of both positions ---

NEAR_WIDTH = 7
TWO_FORMS = ((0, 4), (0, 5))
TERNARY_NUMBERS = [[0], [1], [2]]
SEARCHED = layered({"kind": "windows"}, {"kind": "search"})
MORE_SEARCHED = layered({"kind": "windows"}, {"kind": "feed-forward"}, {"kind": "search"})


def columns(*some: int) -> list[int]:
    """A row that reads these columns, as often as they are named."""
    return [some.count(column) for column in range(NEAR_WIDTH)]


def searching(
    forms: Sequence[Sequence[float]], factors: Sequence[int] = (1, 1), starts: Sequence[int] = (0, 0),
    step: float = 1, found: Sequence[int] = (0, 3),
) -> FeedForward:  # fmt: skip
    """Adds to column 1 a factor for each form, in units of a step, that is a multiple of 3 from its start on."""
    bumps = [(at, side) for at in found for side in (1, 0, -1)]
    inner = [[step * each for each in form] for form in forms for _ in bumps]
    bias = [raw(step * (side - at - start)) for start in starts for at, side in bumps]
    outer = [factor * (-2 if side == 0 else 1) for factor in factors for _, side in bumps]
    rows = [outer if column == 1 else [0] * len(outer) for column in range(NEAR_WIDTH)]
    return FeedForward(matrix(inner), bias, matrix(rows), [0] * NEAR_WIDTH, True)


def adding(row: Sequence[float], bias: float, column: int) -> FeedForward:
    """Adds ReLU(row + bias) to a column."""
    to = [[int(each == column)] for each in range(NEAR_WIDTH)]
    return FeedForward(matrix([row]), [raw(bias)], matrix(to), [0] * NEAR_WIDTH, True)


def taking(to: dict[int, int], times: int = 2, mask: str = "none") -> Head:
    """Puts columns, as often as named, into others; with two keys both have the weight 1/2."""
    value = [[times * each for each in columns(column)] for column in to]
    output = [[int(column == target) for target in to.values()] for column in range(NEAR_WIDTH)]
    return head(value, output, scoring="softmax", mask=mask)


def both(first: FeedForward, second: FeedForward) -> FeedForward:
    """The units of two layers in one."""
    shift = len(first.inner.rows)
    rows = zip(first.outer.rows, second.outer.rows, strict=True)
    outer = tuple((*one, *((unit + shift, weight) for unit, weight in other)) for one, other in rows)
    inner = Matrix(first.inner.rows + second.inner.rows, NEAR_WIDTH)
    bias = [*first.inner_bias, *second.inner_bias]
    return FeedForward(inner, bias, Matrix(outer, len(bias)), first.outer_bias, True)


def near(
    *after: Layer, second: int = 5, more: Sequence[Part] = (), reach: int = 1, heads: Sequence[Head] | None = None
) -> Claim:
    """Whether the own token and one of both, perhaps itself, add up to 0 modulo 3; the second is put into a column."""
    parts = [
        part(TERNARY_NUMBERS, (0, 3), (0, 2)),
        part(TERNARY_NUMBERS, (0, 3), (0, 1), 2),
        part(TERNARY_NUMBERS, (0, 3), (1, 2), 3),
    ]
    heads = [taking({2: 4, 3: second})] if heads is None else heads
    answer = {"kind": "nearby-sums", "window": [0, 2], "modulus": 3, "terms": 2, "reach": reach}
    layers = [attention(*heads), *after]
    return claim([*parts, *more], layers, readout([columns(1)], [0], at="every"), [(0, 3)] * 2, answer)


FORMS = [columns(*form) for form in TWO_FORMS]
AND_6 = [columns(0, 4, 6), columns(0, 5)]
NO_0, NO_2 = ([-each for each in columns(column)] for column in (0, 2))
NEARS = {
    "both are found": (lambda: near(searching(FORMS)), SEARCHED, True),
    "both add enough": (lambda: near(searching(FORMS, (2, 2), step=0.5)), SEARCHED, True),
    # 1/2 is read as 0.
    "one adds too little": (lambda: near(searching(FORMS, (1, 2), step=0.5)), SEARCHED, False),
    "what another column adds is always 0": (lambda: near(adding(NO_0, 0, 6), searching(AND_6)), MORE_SEARCHED, True),
    "it is 1 where the token is 0": (lambda: near(adding(NO_0, 1, 6), searching(AND_6)), MORE_SEARCHED, False),
    "what a column adds that the search does not read is always 0": (
        lambda: near(adding(NO_2, 0, 6), searching(AND_6)), MORE_SEARCHED, True,
    ),
    "it is 1 at the second position": (lambda: near(adding(NO_2, 1, 6), searching(AND_6)), MORE_SEARCHED, False),
    "the own token where the other one is": (
        lambda: near(
            searching([columns(6, 4), columns(6, 0)], starts=(0, 2)),
            second=0, more=[part(TERNARY_NUMBERS, (0, 3), (0, 2), 6)],
        ),
        SEARCHED, False,
    ),
    "three times the own token, less the other": (
        lambda: near(searching([*FORMS, [3, 0, 0, 0, 0, -1, 0]], (1, 1, 1), (0, 0, 0))), SEARCHED, False,
    ),
    "twice the other token": (
        lambda: near(searching([*FORMS, columns(5, 5)], (1, 1, 1), (0, 0, 0))), SEARCHED, False,
    ),
    "a sum of 3 is not found": (lambda: near(searching(FORMS, found=(0,))), SEARCHED, False),
    "all answers are put together": (
        lambda: near(searching(FORMS), attention(head([columns(1)], [[2 * int(each == 1)] for each in range(7)]))),
        layered({"kind": "windows"}, {"kind": "search"}, {"kind": "count"}), False,
    ),
    "two heads": (lambda: near(searching(FORMS), heads=[taking({2: 4}), taking({3: 5})]), SEARCHED, True),
    "three times the own token, less the other, in small steps": (
        lambda: near(both(searching(FORMS), searching([[3, 0, 0, 0, 0, -1, 0]], (5,), (0,), 1 / 8))), SEARCHED, False,
    ),
    "the own token alone": (lambda: near(searching([columns(0, 0)], (1,), (0,)), reach=0, heads=[]), SEARCHED, True),
    **{
        f"the second position sees more than the first, times {times}": (
            lambda times=times: near(
                searching([columns(0, 0)], (1,), (0,)), reach=0, heads=[taking({2: 1}, times, mask="strict")]
            ),
            SEARCHED, False,
        )
        for times in (1, -1)
    },
    "what the search adds to is above 0 for one token": (
        lambda: near(searching(FORMS), more=[part([[0], [0], [1]], (0, 3), (0, 2), 1)]), SEARCHED, False,
    ),
    "what the search adds to lowers it": (
        lambda: near(searching(FORMS), more=[part([[-1], [0], [0]], (0, 3), (0, 2), 1)]), SEARCHED, False,
    ),
}  # fmt: skip


def heights(first: float, second: float) -> FeedForward:
    """Adds a number to column 1 where a sum is 0 and another where it is 3, for both choices of the second number."""
    bumps = [(at, side, 2 * height) for at, height in ((0, first), (3, second)) for side in (1, 0, -1)]
    inner = [[0.5 * each for each in form] for form in FORMS for _ in bumps]
    bias = [raw((side - at) / 2) for _ in FORMS for at, side, _ in bumps]
    outer = [height * (-2 if side == 0 else 1) for _ in FORMS for _, side, height in bumps]
    rows = [outer if each == 1 else [0] * len(outer) for each in range(NEAR_WIDTH)]
    return FeedForward(matrix(inner), bias, matrix(rows), [0] * NEAR_WIDTH, True)


def too_much(least: float) -> FeedForward:
    """Takes 8 times of what column 1 is above a number away from it."""
    to = [[-8 * int(each == 1)] for each in range(NEAR_WIDTH)]
    return FeedForward(matrix([columns(1)]), [raw(-least)], matrix(to), [0] * NEAR_WIDTH, True)


AFTER = layered({"kind": "windows"}, {"kind": "search"}, {"kind": "feed-forward"})
HALF = [part([[0.5]] * 2, (0, 3), (0, 2), 1, "position")]
NEARS |= {
    # One choice adds 1 or more, both together at most 4.
    "a sum of 3 adds more than one of 0": (lambda: near(heights(1, 2)), SEARCHED, True),
    "more than 5 would be taken away": (lambda: near(heights(1, 2), too_much(5)), AFTER, True),
    "more than 2 is taken away": (lambda: near(heights(1, 3), too_much(2)), AFTER, False),
    "a sum of 0 adds too little": (
        lambda: near(heights(1, 2), more=[part([[-0.5]] * 2, (0, 3), (0, 2), 1, "position")]), SEARCHED, False,
    ),
    "what follows the search takes all away": (lambda: near(searching(FORMS), too_much(0)), AFTER, False),
    "a number of the position is added to a sum": (
        lambda: near(
            searching([columns(0, 4, 6), columns(0, 5, 6)], starts=(1, 1)),
            more=[part([[1]] * 2, (0, 3), (0, 2), 6, "position")],
        ),
        SEARCHED, True,
    ),
    "a number that a feed-forward has made is added to a sum": (
        lambda: near(adding([0] * NEAR_WIDTH, 1, 6), searching([columns(0, 4, 6), columns(0, 5, 6)], starts=(1, 1))),
        MORE_SEARCHED, True,
    ),
    "the search adds to a half": (lambda: near(searching(FORMS), more=HALF), SEARCHED, True),
    "the search adds a half": (
        lambda: near(replace(searching(FORMS), outer_bias=[0, ONE // 2, 0, 0, 0, 0, 0])), SEARCHED, True,
    ),
    "the search takes a half away from one": (
        lambda: near(replace(searching(FORMS), outer_bias=[0, -ONE // 2, 0, 0, 0, 0, 0]), more=HALF * 2),
        SEARCHED, True,
    ),
    "a coordinate that no token is written to is turned around": (
        # Column 6 is 1 - ReLU(1) = 0, which the first feed-forward sees to.
        lambda: near(
            FeedForward(
                matrix([columns(2, 3)]), [ONE],
                matrix([[-int(each == 6)] for each in range(NEAR_WIDTH)]), [0] * NEAR_WIDTH, True,
            ),
            searching(AND_6),
            more=[part([[1]] * 2, (0, 3), (0, 2), 6, "position")],
        ),
        MORE_SEARCHED, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("residual", [True, False])
def test_windows_without_residual_start_from_zero(residual: bool) -> None:
    """One number, which a head puts into column 5; that of another position is outside of the window."""
    answer = {"kind": "nearby-sums", "window": [1, 2], "modulus": 3, "terms": 2, "reach": 1}
    parts = [part(TERNARY_NUMBERS, (0, 3), (0, 1), 2), part(TERNARY_NUMBERS, (0, 3), (1, 2), 3)]
    layers = [attention(taking({3: 5}), residual=residual), searching([columns(5, 5)], (1,), (0,))]
    true = claim(parts, layers, readout([columns(1)], [0], at="every"), [(0, 3)] * 2, answer)
    assert not wrong(true)
    assert true.prove(SEARCHED) == "layers"


def test_a_form_takes_all_of_its_numbers_as_often_as_the_others() -> None:
    """3 a + b for the own number a and another one b, which is 2 n where a is b, but not elsewhere."""
    rule = cast("Any", Windows.__new__(Windows))
    rule.numbers, rule._found, rule.before, rule.after = numbers(), {}, {0: 0, 1: 1}, {}
    rule.spec = Sums(range(2), 3, 2, True, 1)
    for slopes, right in (((3, 1), False), ((1, 1), True), ((0, 2), False), ((2, 0), True)):
        rule._line = lambda pieces, slopes=slopes: (slopes[pieces[0][0]], 0)
        bumps = [(at, side) for at in ((0, 3) if right else (0, 6)) for side in (1, 0, -1)]
        bends = tuple((side - at, (-2 if side == 0 else 1) * ONE) for at, side in bumps)
        rule._found = {}
        if right:
            assert rule._form(0, [(0, 0), (1, 1)], ((0, 1), (1, 1)), bends)[1] == (1, 1)
        else:
            with pytest.raises(RefusedError):
                rule._form(0, [(0, 0), (1, 1)], ((0, 1), (1, 1)), bends)
    assert signed_slopes(Counter({0: 1, 1: -2, 2: -1, 3: 5, 4: 0})) == ([-2, -1], [1, 5])


def test_a_search_is_judged_up_to_the_ends_of_the_range() -> None:
    rule = cast("Any", Windows.__new__(Windows))
    rule.numbers, rule.spec = numbers(), Sums(range(2), 3, 2, True, 1)
    limit = rule.numbers.limit
    for bends, ends, fits in (
        ([], (-limit, limit), True), ([], (-limit - 1, 0), False), ([], (0, limit + 1), False),
        ([(-8, ONE)], (0, 8), True), ([(-9, ONE)], (-limit + 9, 0), True), ([(-9, ONE)], (-limit + 8, 0), False),
        ([(-8, 0)], (8 - limit, limit), True),
    ):  # fmt: skip
        if fits:
            assert rule._added(tuple(bends), 0, 0, list(ends)) is None
        else:
            with pytest.raises(RefusedError):
                rule._added(tuple(bends), 0, 0, list(ends))
    # The only sum above 0 is the greatest one, by a single step.
    with pytest.raises(RefusedError):
        rule._added(((-7, ONE),), 0, 0, [0, 8])


@pytest.mark.parametrize("name", NEARS)
def test_a_window_is_searched_for_all_sums_and_no_others(name):
    stated, proof, right = NEARS[name][0](), *NEARS[name][1:]
    assert wrong(stated) != right
    if right:
        stated.prove(proof)
    else:
        with pytest.raises(RefusedError):
            stated.prove(proof)
