"""Planted faults: every one is rejected, with an input that really fails; and right networks are never rejected."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Floating
from separatrix.certificates import check
from separatrix.certificates.meanings.counts import Count, Lookup, meaning_of
from separatrix.networks import Attention, FeedForward, Network, SignRows
from separatrix.tasks import tasks
from tests.certificates.changes import assert_refuted, build, changed, with_layer

CASES = [("index-lookup", 16), ("equality", 12), ("disjointness", 12), ("dnf", 12), ("majority", 12)]


@pytest.mark.parametrize(("name", "length"), CASES)
def test_a_gain_that_is_far_too_small(name, length):
    assert_refuted(*build(name, length, gain=Fraction(1, 2)))


@pytest.mark.parametrize(("name", "length"), CASES)
def test_swapped_masks(name, length):
    network, claim = build(name, length)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    heads = tuple(replace(head, mask="strict") for head in layer.heads)
    verdict = check(with_layer(network, 0, heads=heads), claim)
    if name in ("index-lookup", "equality", "disjointness"):
        # These look back only: a strict mask changes what a position sees of itself, which lookups do not need.
        enumerated = check(with_layer(network, 0, heads=heads), claim, "enumeration") if length <= 12 else verdict
        assert verdict.valid == enumerated.valid or verdict.refuted == enumerated.refuted
    else:
        assert not verdict.valid


@pytest.mark.parametrize(("name", "length"), CASES)
def test_a_code_with_too_large_inner_products(name, length):
    """Two addresses that are the same vector: a lookup cannot tell them apart."""
    network, claim = build(name, length)
    parts = []
    for part in network.embedding:
        rule = part.rule
        if isinstance(rule, SignRows):
            generator = rule.generator.copy()
            generator[1] = 0
            rule = SignRows(generator)
        parts.append(replace(part, rule=rule))
    broken = replace(network, embedding=tuple(parts))
    verdict = check(broken, claim)
    assert not verdict.valid
    if claim.task.count(length) <= 1 << 14:
        assert check(broken, claim, "enumeration").refuted


@pytest.mark.parametrize("name", ["disjointness", "dnf", "majority"])
def test_kc_of_one_loses_uniform_attention(name):
    """E4: at Kc = 1 the weight 1/(N+1) rounds to 0."""
    network, claim = build(name, 12, exponent=1)
    verdict = check(network, claim)
    assert not verdict.valid


def test_e4_is_refuted_with_a_positive_instance():
    network, claim = build("dnf", 12, exponent=1)
    verdict = check(network, claim)
    assert verdict.refuted
    assert claim.task.solve(list(verdict.counterexample or ()), 12)[-1] == 1


@pytest.mark.parametrize(("name", "length"), CASES)
def test_every_moved_bias_is_rejected_or_harmless(name, length):
    """A moved bias may do no harm; then every input must still be right. Otherwise it is rejected."""
    length = min(length, 8)
    network, claim = build(name, length, **({"parameters": {"alphabet": 3}} if name == "index-lookup" else {}))
    rejected = 0
    for number, layer in enumerate(network.layers):
        if not isinstance(layer, FeedForward):
            continue
        for unit in range(min(layer.inner_bias.shape[0], 6)):
            for by in (-3, 2):
                broken = with_layer(network, number, inner_bias=changed(layer.inner_bias, unit, 0, by))
                verdict = check(broken, claim, "position-addressed")
                truth = check(broken, claim, "enumeration")
                assert not (verdict.valid and not truth.valid), "a wrong network was accepted"
                rejected += not truth.valid
    assert rejected > 0


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_single_change_is_wrongly_accepted(data):
    """The core of the matter: whatever weight is changed, a valid verdict means that every input is right."""
    name, length, options = data.draw(
        st.sampled_from(
            [
                ("index-lookup", 4, {"parameters": {"alphabet": 3}}),
                ("equality", 6, {}),
                ("disjointness", 6, {}),
                ("dnf", 6, {"parameters": {"sparsity": 2}}),
                ("majority", 6, {}),
            ]
        )
    )
    network, claim = build(name, length, **options)
    broken = mutated(network, data)
    verdict = check(broken, claim, "position-addressed")
    truth = check(broken, claim, "enumeration")
    if verdict.valid:
        assert truth.valid, "a wrong network was accepted"
    if verdict.refuted:
        assert truth.refuted, "a right network was refuted"


def mutated(network: Network, data: st.DataObject) -> Network:
    """One change: a weight, a sign of a code, a range of the embedding, a mask, a scoring, a residual."""
    kind = data.draw(st.sampled_from(["weight", "sign", "range", "mask", "scoring", "residual", "readout"]))
    if kind == "range":
        parts = list(network.embedding)
        number = data.draw(st.integers(0, len(parts) - 1))
        field = data.draw(st.sampled_from(["tokens", "positions"]))
        first, last = getattr(parts[number], field)
        shorter = data.draw(st.sampled_from([(min(first + 1, last), last), (first, max(first, last - 1))]))
        parts[number] = replace(parts[number], **{field: shorter})
        return replace(network, embedding=tuple(parts))
    if kind == "sign":
        numbers = [n for n, part in enumerate(network.embedding) if isinstance(part.rule, SignRows)]
        number = data.draw(st.sampled_from(numbers))
        part = network.embedding[number]
        assert isinstance(part.rule, SignRows)
        generator = part.rule.generator.copy()
        row = data.draw(st.integers(0, generator.shape[0] - 1))
        column = data.draw(st.integers(0, generator.shape[1] - 1))
        generator[row, column] ^= 1
        parts = list(network.embedding)
        parts[number] = replace(part, rule=SignRows(generator))
        return replace(network, embedding=tuple(parts))
    if kind == "readout":
        matrix = network.readout.matrix
        row = data.draw(st.integers(0, matrix.shape[0] - 1))
        column = data.draw(st.integers(0, matrix.shape[1] - 1))
        return replace(network, readout=replace(network.readout, matrix=changed(matrix, row, column, 1)))
    number = data.draw(st.integers(0, len(network.layers) - 1))
    layer = network.layers[number]
    if kind == "residual":
        return with_layer(network, number, residual=not layer.residual)
    if isinstance(layer, FeedForward):
        field = data.draw(st.sampled_from(["inner", "inner_bias", "outer", "outer_bias"]))
        matrix = getattr(layer, field)
        row = data.draw(st.integers(0, matrix.shape[0] - 1))
        column = data.draw(st.integers(0, matrix.shape[1] - 1))
        return with_layer(
            network, number, **{field: changed(matrix, row, column, data.draw(st.sampled_from([-2, -1, 1, 5])))}
        )
    assert isinstance(layer, Attention)
    place = data.draw(st.integers(0, len(layer.heads) - 1))
    head = layer.heads[place]
    if kind == "mask":
        head = replace(head, mask=data.draw(st.sampled_from(["causal", "strict"])))
    elif kind == "scoring":
        head = replace(head, scoring=data.draw(st.sampled_from(["hard", "leftmost", "linear", "relu"])))
    else:
        field = data.draw(st.sampled_from(["query", "key", "value", "output"]))
        matrix = getattr(head, field)
        row = data.draw(st.integers(0, matrix.shape[0] - 1))
        column = data.draw(st.integers(0, matrix.shape[1] - 1))
        head = replace(head, **{field: changed(matrix, row, column, data.draw(st.sampled_from([-1, 1, 3])))})
    heads = list(layer.heads)
    heads[place] = head
    return with_layer(network, number, heads=tuple(heads))


@pytest.mark.parametrize(
    ("name", "length", "parameters"),
    [
        ("index-lookup", 4, {"alphabet": 3}),
        ("equality", 6, {"alphabet": 3}),
        ("inequality", 8, {}),
        ("sparse-threshold", 8, {}),
        ("dnf", 8, {}),
        ("cnf", 8, {"sparsity": 2}),
        ("majority", 7, {}),
    ],
)
def test_meanings_are_what_the_tasks_solve(name, length, parameters):
    task = tasks()[name].with_parameters(**parameters)
    meaning = meaning_of(task, length)
    for examples in task.enumerate(length):
        for row in examples.inputs.tolist():
            if isinstance(meaning, Lookup):
                expected = row[row[-1] - meaning.first_token]
            else:
                assert isinstance(meaning, Count)
                features = zip(meaning.places.tolist(), meaning.tables, strict=True)
                held = sum(int(table[tuple(row[place] for place in places)]) for places, table in features)
                expected = meaning.answer(held)
            assert expected == task.solve(row, length)[-1]


def test_networks_outside_the_method_are_not_claimed():
    network, claim = build("index-lookup", 16)
    verdict = check(network, replace(claim, arithmetic=Floating("float64")), "position-addressed")
    assert not verdict.valid
    assert not verdict.refuted
    assert "not a fixed point" in verdict.reason
