"""Networks as data: exact weights, slots, embedding, evaluation, storage."""

import json
import tracemalloc
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, arithmetic_named
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    Readout,
    SignRows,
    Slots,
    TableRows,
    evaluate,
    exact,
    identity,
)
from separatrix.networks.evaluate import attend, decode, run_layer
from separatrix.networks.store import from_bytes, load_network, save_network, to_bytes
from separatrix.networks.weights import SCORINGS

SLOTS = Slots((("a", 2), ("b", 3)))


def zeros(rows: int, columns: int) -> ExactMatrix:
    return ExactMatrix(numpy.zeros((rows, columns), dtype=numpy.int64))


def small_network(scoring: str = "softmax", mask: str = "none", seed: int = 0, decoding: str = "argmax") -> Network:
    """A network of no meaning with every kind of part, small whole-number weights."""
    generator = numpy.random.default_rng(seed)

    def matrix(rows: int, columns: int, denominator: int = 1) -> ExactMatrix:
        return ExactMatrix(generator.integers(-2, 3, (rows, columns)), denominator)

    signs = SignRows(generator.integers(0, 2, (3, 3)).astype(numpy.uint8))
    embedding = (
        EmbeddingPart("a", TableRows(matrix(4, 2)), "token", (0, 4), (0, 5)),
        EmbeddingPart("b", signs, "position", (0, 4), (0, 5), indices=numpy.array([4, 0, 7, 2, 2])),
    )
    heads = tuple(
        Head(matrix(2, 5, 4), matrix(2, 5), matrix(2, 5), matrix(5, 2), scoring, mask)  # type: ignore[arg-type]
        for _ in range(2)
    )
    feed_forward = FeedForward(matrix(4, 5), matrix(4, 1), matrix(5, 4, 2), matrix(5, 1), residual=True)
    readout = Readout(matrix(3, 5), matrix(3, 1), decoding, "every")  # type: ignore[arg-type]
    return Network(SLOTS, 4, 5, embedding, (Attention(heads), feed_forward), readout, "for tests")


def plain_evaluation(network: Network, tokens: list[int]) -> list[list[Fraction]]:
    """Attention without exponentials in Fractions, one position after the other: the obvious oracle."""
    rows = []
    for position, token in enumerate(tokens):
        row = [Fraction(0)] * network.slots.width
        for part in network.embedding:
            inside = part.tokens[0] <= token < part.tokens[1] and part.positions[0] <= position < part.positions[1]
            if inside:
                number = token - part.tokens[0] if part.source == "token" else position - part.positions[0]
                number = number if part.indices is None else int(part.indices[number])
                if isinstance(part.rule, TableRows):
                    values = list(part.rule.table.fractions()[number])
                else:
                    chosen = [part.rule.generator[b] for b in range(len(part.rule.generator)) if number >> b & 1]
                    values = [Fraction((-1) ** int(sum(int(r[c]) for r in chosen))) for c in range(part.rule.width)]
                start = network.slots.columns(part.slot).start
                for offset, value in enumerate(values):
                    row[start + offset] += value
        rows.append(row)

    def times(matrix: ExactMatrix, vector: list[Fraction]) -> list[Fraction]:
        return [sum((a * b for a, b in zip(line, vector, strict=True)), Fraction(0)) for line in matrix.fractions()]

    def plus(vector: list[Fraction], bias: ExactMatrix) -> list[Fraction]:
        return [value + shift for value, shift in zip(vector, bias.fractions()[:, 0], strict=True)]

    for layer in network.layers:
        following = []
        for position, row in enumerate(rows):
            if isinstance(layer, FeedForward):
                inner = [max(Fraction(0), value) for value in plus(times(layer.inner, row), layer.inner_bias)]
                outer = [
                    v + b for v, b in zip(times(layer.outer, inner), layer.outer_bias.fractions()[:, 0], strict=True)
                ]
                following.append([a + b for a, b in zip(row, outer, strict=True)] if layer.residual else outer)
                continue
            total = list(row) if layer.residual else [Fraction(0)] * len(row)
            for head in layer.heads:
                seen = {"none": len(rows), "causal": position + 1, "strict": position}[head.mask]
                query = times(head.query, row)
                scores = [sum(a * b for a, b in zip(query, times(head.key, key), strict=True)) for key in rows[:seen]]
                if head.scoring == "hard" and scores:
                    best = [Fraction(score == max(scores)) for score in scores]
                    scores = [weight / sum(best) for weight in best]
                elif head.scoring == "leftmost" and scores:
                    scores = [Fraction(place == scores.index(max(scores))) for place in range(len(scores))]
                elif head.scoring == "relu":
                    positive = [max(Fraction(0), score) for score in scores]
                    scores = [weight / (sum(positive) or 1) for weight in positive]
                average = [Fraction(0)] * head.value.shape[0]
                for weight, key in zip(scores, rows, strict=False):
                    average = [a + weight * v for a, v in zip(average, times(head.value, key), strict=True)]
                total = [a + b for a, b in zip(total, times(head.output, average), strict=True)]
            following.append(total)
        rows = following
    return [
        [v + b for v, b in zip(times(network.readout.matrix, row), network.readout.bias.fractions()[:, 0], strict=True)]
        for row in rows
    ]


@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
@pytest.mark.parametrize("scoring", ["linear", "hard", "leftmost", "relu"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), tokens=st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_evaluation_equals_fractions(scoring, mask, seed, tokens):
    network = small_network(scoring, mask, seed)
    # Rounding errors of 7^-60 grow by the weights alone, and every quotient of small numbers is distinguished.
    arithmetic = FixedPoint(7, 60, "nearest")
    outputs = evaluate(network, numpy.array([tokens]), arithmetic)
    expected = plain_evaluation(network, tokens)
    given_values = arithmetic.decode(outputs.raw)[0]
    for row, given_row in zip(expected, given_values, strict=True):
        for value, found in zip(row, given_row, strict=True):
            assert abs(value - found) < Fraction(1, 7**50)


@pytest.mark.parametrize("name", ["fixed:N=5,Kc=6,down", "fixed:N=5,Kc=40,nearest", "float64", "float32", "balls:200"])
def test_softmax_evaluation_agrees_across_arithmetics(name):
    network = small_network("softmax", "causal", 3, "bits")
    tokens = numpy.random.default_rng(0).integers(0, 4, (6, 5))
    reference = FixedPoint(5, 30)
    exact_outputs = reference.to_float64(evaluate(network, tokens, reference).raw)
    arithmetic = arithmetic_named(name)
    numpy.testing.assert_allclose(
        arithmetic.to_float64(evaluate(network, tokens, arithmetic).raw), exact_outputs, rtol=2e-2, atol=2e-2
    )


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
def test_streaming_over_queries_changes_nothing(scoring, mask):
    network = small_network(scoring, mask, 5)
    tokens = numpy.random.default_rng(1).integers(0, 4, (7, 5))
    arithmetic = FixedPoint(5, 4)
    whole = evaluate(network, tokens, arithmetic).raw
    for chunk in (1, 2, 3):
        numpy.testing.assert_array_equal(evaluate(network, tokens, arithmetic, chunk=chunk).raw, whole)


def test_reading_only_the_last_position_changes_nothing():
    every = small_network("softmax", "none", 8)
    last = Network(
        every.slots, 4, 5, every.embedding, every.layers, Readout(every.readout.matrix, every.readout.bias, "argmax")
    )
    tokens = numpy.random.default_rng(2).integers(0, 4, (9, 5))
    arithmetic = FixedPoint(5, 4)
    numpy.testing.assert_array_equal(
        evaluate(last, tokens, arithmetic).raw[:, 0], evaluate(every, tokens, arithmetic).raw[:, -1]
    )


def test_a_strict_mask_leaves_the_first_position_without_keys():
    network = small_network("softmax", "strict", 4)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    stream = FixedPoint(5, 4).encode(numpy.ones((2, 5, 5), dtype=int))
    assert not attend(layer.heads[0], stream, numpy.arange(stream.shape[1]), FixedPoint(5, 4))[:, 0].any()
    assert run_layer(Attention(layer.heads, residual=False), stream, FixedPoint(5, 4))[:, 0].any() == numpy.False_


def test_storage_round_trips_and_repeats(tmp_path):
    network = small_network()
    digest = save_network(network, tmp_path / "n.safetensors")
    loaded, found = load_network(tmp_path / "n.safetensors")
    assert digest == found
    assert to_bytes(network) == to_bytes(loaded)
    tokens = numpy.random.default_rng(3).integers(0, 4, (5, 5))
    arithmetic = FixedPoint(5, 4)
    numpy.testing.assert_array_equal(
        evaluate(network, tokens, arithmetic).raw, evaluate(loaded, tokens, arithmetic).raw
    )
    assert [path.name for path in tmp_path.iterdir()] == ["n.safetensors"]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused_in_one_line(data):
    content = bytearray(to_bytes(small_network()))
    kind = data.draw(st.sampled_from(["cut", "flip", "header"]))
    if kind == "cut":
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    elif kind == "flip":
        place = data.draw(st.integers(0, int.from_bytes(content[:8], "little") + 7))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        content[:8] = data.draw(st.integers(0, 2**63)).to_bytes(8, "little")
    try:
        from_bytes(bytes(content), "file")
    except SeparatrixError as error:
        assert "\n" not in str(error)


def test_foreign_formats_and_missing_files(tmp_path):
    with pytest.raises(SeparatrixError, match="cannot read"):
        load_network(tmp_path / "none")
    with pytest.raises(SeparatrixError, match="not a readable network file"):
        from_bytes(b"", "empty")
    from safetensors.numpy import save

    other = save({"x": numpy.zeros(2)}, metadata={"separatrix": json.dumps({"format": "other"})})
    with pytest.raises(SeparatrixError, match="'other'"):
        from_bytes(other, "foreign")


def test_shapes_that_do_not_fit_are_all_named():
    network = small_network()
    with pytest.raises(SeparatrixError) as caught:
        Network(SLOTS, 4, 5, network.embedding, network.layers, Readout(zeros(3, 4), zeros(2, 1), "bits"))
    assert "readout is (3, 4)" in str(caught.value)
    assert "readout bias is (2, 1)" in str(caught.value)


def test_tokens_that_do_not_fit_are_refused():
    network = small_network()
    for tokens, message in [
        ([[0, 1]], "reads 5 tokens"),
        ([[0, 1, 2, 3, 4]], "vocabulary"),
        ([[0, 1, 2, 3, -1]], "-1"),
    ]:
        with pytest.raises(SeparatrixError, match=message):
            evaluate(network, numpy.array(tokens), FixedPoint(5, 2))


def test_slots_place_blocks_and_refuse_others():
    block = exact([[Fraction(1, 2), 1, 0]])
    placed = SLOTS.reading(1, {"b": block})
    assert placed.fractions().tolist() == [[0, 0, Fraction(1, 2), 1, 0]]
    assert SLOTS.read_by(placed) == {"b"}
    assert SLOTS.writing(2, {"a": identity(2, 3)}).fractions()[:2].tolist() == [[3, 0], [0, 3]]
    with pytest.raises(SeparatrixError, match="slot 'a' has shape"):
        SLOTS.reading(1, {"a": block})
    with pytest.raises(SeparatrixError, match="no slot is named 'c'"):
        SLOTS.columns("c")
    with pytest.raises(SeparatrixError, match="repeat a name"):
        Slots((("a", 1), ("a", 2)))


@given(st.lists(st.fractions(-1000, 1000, max_denominator=50), min_size=1, max_size=6))
def test_exact_matrices_are_exact(values):
    matrix = exact([values])
    assert matrix.fractions()[0].tolist() == values
    arithmetic = FixedPoint(10, 3)
    assert matrix.encoded(arithmetic).tolist() == [arithmetic.encode(values).tolist()]


def test_floats_and_huge_fractions_are_no_exact_weights():
    with pytest.raises(SeparatrixError, match="float64"):
        exact(numpy.array([[0.5]]))
    with pytest.raises(SeparatrixError, match="beyond 2\\^62"):
        exact([[Fraction(1, 3**50), Fraction(1, 2**50)]])
    with pytest.raises(SeparatrixError, match="not whole"):
        exact([[Fraction(1, 2)]]).whole()


def test_size_counts_weights_and_descriptions():
    network = small_network()
    weights = sum(m.parameters for layer in network.layers for m in _matrices(layer))
    weights += network.readout.matrix.parameters + network.readout.bias.parameters
    embedding = 4 * 2 * 10 + (3 * 3 + 5 * 3)
    assert network.size_bits(10) == weights * 10 + embedding
    assert (network.depth, network.heads, network.width) == (1, 2, 5)


def _matrices(layer):
    from separatrix.networks.network import matrices_of

    return matrices_of(layer)


@pytest.mark.parametrize(
    ("raw", "answer"), [([0, 9], 1), ([9, 0], 2), ([9, 9], 3), ([8, 0], -1), ([0, 1], -1), ([18, 0], -1), ([-9, 0], -1)]
)
def test_exact_answers_are_exactly_zeros_and_ones(raw, answer):
    """Read with the threshold 1/2 all of these would be answers; exactly read only whole bits are."""
    network = small_network("softmax", "none", 1)
    exactly = Network(
        network.slots, 4, 5, network.embedding, network.layers, Readout(zeros(2, 5), zeros(2, 1), "exact", "every")
    )  # fmt: skip
    assert decode(exactly, numpy.array([raw]), FixedPoint(9, 1)).tolist() == [answer]
    assert to_bytes(from_bytes(to_bytes(exactly), "stored")) == to_bytes(exactly)


def test_memory_grows_with_the_length_times_the_width():
    """Scores of a few queries are alive at a time: at twice the length no more than about twice the memory is held."""

    def peak(length: int) -> int:
        network = constructions()["equality"].build(length, Options(family="digits")).network
        tokens = numpy.zeros((1, length), dtype=numpy.int64)
        tracemalloc.start()
        try:
            evaluate(network, tokens, FixedPoint(length, 2), chunk=4)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    shorter, longer = peak(512), peak(1024)
    assert longer < 3 * shorter
    assert longer < 8 * 1024**2, f"{longer} bytes: less than one number for each pair of positions"
