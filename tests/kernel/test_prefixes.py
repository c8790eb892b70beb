"""Transformers that flag errors, against an automaton: what the rule accepts, and what each obligation refuses."""

from dataclasses import replace
from types import SimpleNamespace

import numpy
import pytest

from separatrix.networks import ExactMatrix, FeedForward, ThirdOrderAttention, ThirdOrderHead
from separatrix.networks.store import to_bytes
from separatrix.tasks import tasks
from separatrix_kernel import prefixes
from separatrix_kernel.network import Attention, Head, Matrix, Readout, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.prefixes import Prefixes
from separatrix_kernel.reading import Budget, RefusedError
from tests.certificates.changes import build, changed, with_layer
from tests.certificates.refused import column, halved, head, layers, read, scored
from tests.kernel.files import proved
from tests.kernel.independent import wrong_input
from tests.kernel.mutants import rules_accept

PARITY, LOOKUP = ("repaired", []), ("lookup", [2])
EVERY = pytest.mark.parametrize(("variant", "age"), [PARITY, LOOKUP])


def claim(variant, age, change=lambda network: network, length=4, **stated):
    """A claim about a changed network, and its file."""
    network, built = build("dyck-transformer", length, {}, variant=variant)
    data = to_bytes(change(network))
    task = tasks()["dyck"].with_parameters(**stated)
    content = {
        "arithmetic": str(built.arithmetic),
        "specification": task.specification(length),
        "proof": {"rule": "prefixes", "age": age},
    }
    return content, data


def readout_entry(slot, value):
    """The number that the readout's first row has for a slot."""
    return lambda network: read(matrix=changed(network.readout.matrix, 0, column(network, slot), value))(network)


def pairs(network):
    """A layer of third-order attention that writes the flag."""
    none = ExactMatrix(numpy.zeros((1, network.slots.width), dtype=numpy.int64))
    flag = none.numerators.T.copy()
    flag[network.slots.columns("flag").start] = 1
    unit = ThirdOrderHead(none, none, none, none, none, ExactMatrix(flag))
    return replace(network, layers=(ThirdOrderAttention((unit,)), *network.layers))


def two_flags(network):
    """A last head that writes two entries of its value."""
    last = network.layers[-1]
    both = replace(
        last.heads[0],
        value=ExactMatrix(numpy.repeat(last.heads[0].value.numerators, 2, axis=0)),
        output=ExactMatrix(numpy.repeat(last.heads[0].output.numerators, 2, axis=1)),
    )
    return with_layer(network, len(network.layers) - 1, heads=(both,))


def doubled(layer):
    """The head of a layer once more."""
    return lambda network: with_layer(network, layer, heads=network.layers[layer].heads * 2)


def one_sees_all(network):
    """The first head once more, without its mask."""
    (first,) = network.layers[1].heads
    return with_layer(network, 1, heads=(first, replace(first, mask="none")))


def early_flag(network):
    """A unit more that flags a weight of 1, which the first position alone gives: ReLU(4w - 3)."""
    layer = network.layers[2]
    inner, outer = (numpy.zeros(shape, dtype=numpy.int64) for shape in ((1, network.width), (network.width, 1)))
    inner[0, network.slots.columns("unit").start], outer[network.slots.columns("flag").start, 0] = 4, 1
    return with_layer(
        network,
        2,
        inner=ExactMatrix(numpy.concatenate([layer.inner.numerators, inner])),
        inner_bias=ExactMatrix(numpy.concatenate([layer.inner_bias.numerators, numpy.array([[-3]])])),
        outer=ExactMatrix(numpy.concatenate([layer.outer.numerators, outer], axis=1)),
    )


def small_flags(network):
    """Flags so small that their product with the last weight rounds to 0."""
    return scored(-1, value=ExactMatrix(network.layers[-1].heads[0].value.numerators, 36))(network)


def with_feed_forward(flag, at):
    """A feed-forward that adds a constant to the flag, before a layer."""

    def change(network):
        width = network.slots.width
        bias = numpy.zeros((width, 1), dtype=numpy.int64)
        bias[network.slots.columns("flag").start] = flag
        nothing = ExactMatrix(numpy.zeros((1, width), dtype=numpy.int64))
        turned = ExactMatrix(numpy.zeros((width, 1), dtype=numpy.int64))
        layer = FeedForward(nothing, ExactMatrix(numpy.zeros((1, 1), dtype=numpy.int64)), turned, ExactMatrix(bias))
        place = at % (len(network.layers) + 1)
        return replace(network, layers=(*network.layers[:place], layer, *network.layers[place:]))

    return change


@EVERY
@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_right_networks_are_accepted(variant, age, rounding):
    content, data = claim(variant, age)
    content["arithmetic"] = content["arithmetic"].replace("down", rounding)
    rules_accept(content, data)
    assert wrong_input(content, data) is None


@EVERY
@pytest.mark.parametrize(
    "change",
    [
        lambda network: with_layer(network, len(network.layers) - 1, residual=True),
        scored(-1, mask="none"),
        scored(-1, scoring="hard"),
        with_feed_forward(0, 0),
        with_feed_forward(0, -1),
        # Just above 1/2 without a flag: a single step less would be another answer.
        read(bias=ExactMatrix(numpy.array([[9]]), 16)),
        # What the last layer does not write is 0 behind it, and a query of 0 makes any key alike.
        readout_entry("last", -5),
        readout_entry("unit", -5),
        head("key", "first", -1),
    ],
)
def test_other_shapes_are_accepted_where_they_are_right(variant, age, change):
    content, data = claim(variant, age, change)
    rules_accept(content, data)
    assert wrong_input(content, data) is None


REFUSED = [
    (PARITY, pairs, "attention to pairs"),
    (PARITY, layers(lambda given: [*given[:-1]]), "two or three layers"),
    (PARITY, lambda network: with_layer(network, 1, heads=(), residual=False), "two or three layers"),
    (PARITY, scored(1, mask="none"), "weigh the past alike"),
    (PARITY, scored(1, mask="strict"), "weigh the past alike"),
    (PARITY, scored(-1, mask="strict"), "one number of all positions"),
    (PARITY, two_flags, "one number of all positions"),
    (PARITY, halved(1, "value"), "not of whole numbers"),
    (PARITY, read(bias=ExactMatrix(numpy.zeros((1, 1), dtype=numpy.int64))), "without a flag is answered"),
    (PARITY, readout_entry("flag", 4), "does not decide"),
    (PARITY, small_flags, "does not decide"),
    (PARITY, head("output", "flag", 1), "may be negative"),
    (PARITY, with_feed_forward(-1, 1), "may be negative"),
    (PARITY, with_feed_forward(-1, 3), "may be negative"),
    (PARITY, doubled(-1), "one number of all positions"),
    (LOOKUP, doubled(2), "one hard head"),
    (PARITY, one_sees_all, "weigh the past alike"),
    (LOOKUP, with_feed_forward(-1, -2), "may be negative"),
    (PARITY, with_feed_forward(1, -1), "without a flag is answered"),
    (PARITY, early_flag, "may still be answered otherwise"),
    (LOOKUP, scored(2, scoring="softmax"), "one hard head"),
    (LOOKUP, scored(2, mask="causal"), "one hard head"),
    (LOOKUP, head("key", "unit", 2, row=2, value=2), "does not score higher"),
    (LOOKUP, head("key", "unit", 2, row=2, value=1), "does not score higher"),
    (LOOKUP, head("query", "opening", 2, row=2, value=9), "not ordered"),
    (("lookup", [0, 1, 2]), lambda network: network, "of one kind and one position differ"),
    (("lookup", [3]), lambda network: network, "the coordinates of age"),
    (("repaired", [0]), lambda network: network, "the coordinates of age"),
]


@pytest.mark.parametrize(("which", "change", "words"), REFUSED)
def test_each_obligation_is_refused_by_its_name(which, change, words):
    content, data = claim(*which, change, length=6)
    with pytest.raises(RefusedError, match=words):
        rules_accept(content, data)


@EVERY
def test_a_layer_that_writes_nothing_is_left_out(variant, age):
    network, _ = build("dyck-transformer", 4, {}, variant=variant)
    number = 1 if variant == "repaired" else 0
    layer = network.layers[number]
    nothing = ExactMatrix(numpy.zeros_like(layer.heads[0].output.numerators))
    idle = replace(layer, heads=(replace(layer.heads[0], output=nothing),))
    rules_accept(*claim(variant, age, lambda given: replace(given, layers=(idle, *given.layers))))


@pytest.mark.parametrize(("answer", "accepted"), [(1, True), (0, False)])
def test_a_network_without_flags_answers_all_strings_alike(answer, accepted):
    """A feed-forward that writes nothing in the place of the one that flags, and an automaton of one state."""
    nothing = with_feed_forward(0, 0)
    content, data = claim(*PARITY, lambda network: with_layer(network, 2, **vars(nothing(network).layers[0])))
    automaton = {"kind": "automaton", "start": 0, "steps": [[0] * 4], "answers": [answer]}
    content["specification"] = {**content["specification"], "answer": automaton}
    if accepted:
        rules_accept(content, data)
    else:
        with pytest.raises(RefusedError, match="without a flag is answered"):
            rules_accept(content, data)


@EVERY
def test_another_language_is_refused(variant, age):
    for depth, words in ((1, "its state says 0"), (3, "may still be answered otherwise")):
        content, data = claim(variant, age, length=6, depth=depth)
        with pytest.raises(RefusedError, match=words):
            rules_accept(content, data)


def test_the_rule_is_about_transformers_and_automata():
    content, data = proved("dyck-rnn", 4)
    with pytest.raises(RefusedError, match="layers and an automaton"):
        rules_accept({**content, "proof": {"rule": "prefixes", "age": []}}, data)


def test_without_age_each_position_is_a_kind_of_its_own():
    rules_accept(*claim("lookup", [], length=6))


def test_too_many_prefixes_are_refused(monkeypatch):
    monkeypatch.setattr(prefixes, "MOST_PREFIXES", 2)
    with pytest.raises(RefusedError, match="different prefixes"):
        rules_accept(*claim(*PARITY))


# -- the rule's steps, each by itself ---

FIXED = Numbers("fixed:N=2,Kc=3,down")
ONE = FIXED.scale


def matrix(*rows):
    """A matrix of whole numbers."""
    return Matrix(tuple(tuple((c, ONE * w) for c, w in enumerate(row) if w) for row in rows), len(rows[0]))


def rule_of(residual, read=((1, 1),), bias=0):
    """A rule of which only its last layer matters: it writes two numbers of its average, the first one the flags'."""
    last = Head(*[matrix((0, 0))] * 2, matrix((1, 0), (0, 1)), matrix((1, 0), (0, 1)), "softmax", "none")
    rule = Prefixes.__new__(Prefixes)
    rule.numbers, rule.all, rule.lookup, rule.least = FIXED, [0, 1], None, 0
    rule.last, rule.entry, rule.flag = last, 0, matrix((0, 0))
    rule.attention = [(Attention((last,), residual), [last])] * 2
    rule.between = [[], [], []]
    readout = Readout(matrix(*read), [bias] * len(read), "bits", "last")
    rule.network = Transformer(1, 1, 2, (), (), readout)
    rule.kept, rule.kind_size = Budget(1 << 20, "numbers"), 1
    return rule


@pytest.mark.parametrize("residual", [True, False])
def test_layers_without_residual_start_from_zero(residual):
    rule, box = rule_of(residual, bias=ONE // 2), ((3, 5), (-2, 4))
    layer, heads = rule.attention[0]
    assert rule._anything(layer, [], box) == (box if residual else ((0, 0), (0, 0)))
    written = replace(heads[0], output=matrix((0, 0), (0, 1)))
    free = (-FIXED.limit, FIXED.limit)
    assert rule._anything(layer, [written], box) == (box[0] if residual else (0, 0), free)
    assert rule._next(0, [3, 4], [[8, 16]]) == ([11, 20] if residual else [8, 16])
    # Half of one is not above it; a flag of the smallest number is.
    point = ((0, 0), (0, 0)) if residual else ((9, 9), (9, 9))
    assert rule._answer(point, (0, 0)) == 0
    assert rule._answer(point, (1, 1)) == 1
    assert rule._answer(((1, 1), (0, 0)), (0, 0)) == int(residual)
    rule._walk = lambda: {((0, 0), 0)}
    rule.low = rule.high = [0, 0]
    rule.inputs = SimpleNamespace(tokens=[range(1)])
    for answer in (0, 1):
        rule.automaton = SimpleNamespace(answers=[answer])
        if answer:
            with pytest.raises(RefusedError):
                rule.check()
        else:
            rule.check()


def test_lookups_find_the_latest_key_of_the_kind_that_is_ahead():
    rule = rule_of(True)
    rule._fresh, rule._scores = {}, {}
    assert rule._looked(((ONE,), (), (ONE,), (7, 9)), ()) == ((0, 0), (((), (7, 9)),))
    for first, second, clear in (([3, 5], [1, 2], True), ([3, 5], [1, 3], False), ([3, 5], [4, 4], False)):
        rule.keys = {(0,): [(each,) for each in first], (1,): [(each,) for each in second]}
        rule._scores, rule._fresh = {}, {}
        memory = (((0,), (70,)), ((1,), (90,)))
        if clear:
            assert rule._looked(((ONE,), (0,), (6,), (50,)), memory) == ((70,), (((0,), (50,)), ((1,), (90,))))
        else:
            with pytest.raises(RefusedError):
                rule._looked(((ONE,), (0,), (6,), (50,)), memory)


def test_keys_of_one_kind_score_higher_and_higher():
    rule = rule_of(True)
    for keys, right in (([3, 5, 9], True), ([5, 3], False), ([5, 5], False), ([-9, -2], True), ([9, 5, 7], False)):
        rule.keys, rule._scores = {(): [(each,) for each in keys]}, {}
        if right:
            assert rule._range((ONE,), ()) == (keys[0], keys[-1])
            rule.keys[()].append((keys[-1] + 1,))
            assert rule._range((ONE,), ()) == (keys[0], keys[-1] + 1)
        else:
            with pytest.raises(RefusedError):
                rule._range((ONE,), ())
