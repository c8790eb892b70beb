"""Small files that would cost hours or gigabytes: what a claim costs grows with what it holds, not with its square."""

import hashlib
import json
import struct
from collections import Counter
from random import Random

import pytest

import separatrix_kernel.network
import separatrix_kernel.prefixes
from separatrix_kernel import reading
from separatrix_kernel.answers import Answers
from separatrix_kernel.content import ContentEdges
from separatrix_kernel.embedding import View
from separatrix_kernel.evaluation import decode
from separatrix_kernel.floats import Floats
from separatrix_kernel.network import Attention, GraphHead, Head, Matrix, Part, Reader, Readout, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.prefixes import Prefixes
from separatrix_kernel.reading import RefusedError, Tensors
from separatrix_kernel.specification import Automaton, Count, Inputs
from separatrix_kernel.thresholds import Part as Slice
from separatrix_kernel.thresholds import check_counts
from separatrix_kernel.trained import check_trained
from tests.kernel.files import File, joined, proved
from tests.kernel.test_running_forgeries import Small, claim


def weights(classes, tokens=2):
    """A model of width 1 whose weights are 0, but for class 0."""
    shapes = {
        "embedding.weight": [tokens, 1], "positions.table": [3, 1],
        "readout.weight": [1, classes], "readout.bias": [classes],
        "blocks.0.mixer.project.weight": [1, 3], "blocks.0.mixer.project.bias": [3],
        "blocks.0.mixer.output.weight": [1, 1], "blocks.0.mixer.output.bias": [1],
        "blocks.0.feed_forward.inner.weight": [1, 1], "blocks.0.feed_forward.inner.bias": [1],
        "blocks.0.feed_forward.outer.weight": [1, 1], "blocks.0.feed_forward.outer.bias": [1],
    }  # fmt: skip
    for name in ("norm", "blocks.0.norm", "blocks.0.feed_forward_norm"):
        shapes |= {f"{name}.weight": [1], f"{name}.bias": [1]}
    about = {
        "kind": "transformer", "width": 1, "heads": 1, "hidden": 1, "epsilon": [1, 1], "vocabulary": tokens,
        "classes": classes, "positions": 3,
    }  # fmt: skip
    header, body = {"__metadata__": {"separatrix": json.dumps(about)}}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        more = struct.pack(f"<{count}f", *([1.0 * (name == "readout.bias")] + [0.0] * (count - 1)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(more)]}
        body += more
    shown = json.dumps(header).encode()
    return len(shown).to_bytes(8, "little") + shown + body


def counts(data, conditions, answers, certified):
    inputs = [{"count": 3, "tokens": [0, 2]}]
    answer = {"kind": "count", "conditions": [{"places": conditions, "table": [0, 1]}], "answers": answers}
    return {
        "format": "separatrix-counts-1", "task": "counts", "length": 2, "sha256": hashlib.sha256(data).hexdigest(),
        "specification": {"inputs": inputs, "answer": answer}, "certified": certified, "counterexamples": [],
        "open": [],
    }  # fmt: skip


def test_slices_do_not_each_walk_through_all_answers():
    # The last place alone counts, so that no input that ends in 0 has another count, and nothing is to be computed.
    data, many = weights(2), 8_000
    answers = [[least, 0] for least in range(many)]
    accepted = check_counts(counts(data, [[2]] * many, answers, [[0, at, at, ["leaf"]] for at in range(1, many)]), data)
    assert accepted.inputs_certified == 0
    accepted = check_counts(counts(data, [[2]] * many, answers, [[0, 0, many, ["leaf"]]]), data)
    assert (accepted.inputs_certified, accepted.inputs) == (4, 8)


def test_there_is_no_room_for_more_slices_than_anybody_can_list():
    data = weights(2, tokens=1024)
    claim = counts(data, [[0]] * 4096, [[0, 0]], [])
    claim["specification"]["inputs"] = [{"count": 2, "tokens": [0, 2]}, {"count": 1, "tokens": [0, 1024]}]
    with pytest.raises(RefusedError, match="slices"):
        check_counts(claim, data)


def test_pairs_of_classes_that_no_proof_compares_take_no_room(monkeypatch):
    made, real = Counter(), Answers._difference

    def counted(self, c, k):
        made[c] += 1
        return real(self, c, k)

    monkeypatch.setattr(Answers, "_difference", counted)
    data = weights(40)
    accepted = check_counts(counts(data, [[0]], [[0, 0]], [[0, 0, 1, ["leaf"]]]), data)
    assert accepted.inputs_certified == 4
    assert set(made) == {0}


def test_places_that_count_much_cost_no_more_than_others():
    far = 10**12
    one = Slice([([0], [1], far), ([0], [1], 1)], far, far + 1, far + 1, far)
    assert one.least([[5, -7], [0, 3]]) == 5 - 12
    assert one.least([[5, 8], [0, -2]]) == 5


def test_the_answer_by_count_is_the_last_one_that_has_begun():
    random = Random(4)
    for _ in range(200):
        answers = [(0, random.randint(0, 2))] + [
            (least, random.randint(0, 2)) for least in range(1, 9) if random.random() < 0.4
        ]
        spec = Count([], answers, Inputs([range(2)], [(1, range(2))]))
        plain = [[answer for least, answer in answers if least <= count][-1] for count in range(12)]
        assert [spec.of_count(count) for count in range(12)] == plain
        low = random.randint(0, 11)
        high = random.randint(low, 11)
        assert spec.of_counts(low, high) == set(plain[low : high + 1])


@pytest.mark.parametrize("scoring", ["linear", "relu"])
def test_every_number_of_pairs_that_is_tried_is_paid_for(scoring, monkeypatch):
    numbers, vertices = Numbers("fixed:N=2,Kc=2,down"), 12
    one = Matrix((((0, numbers.scale),),), 1)
    head = GraphHead([0] * 7 + [4], 0, (one, one), one, scoring)
    part = Part(0, 1, True, (0, 1), (0, vertices), None, lambda _: [numbers.scale])
    network = Transformer(1, vertices, 1, (part,), (), Readout(one, [0], "bits", "every"))
    edges, real, tried = ContentEdges(head, network, numbers), Numbers.weights, Counter()

    def weighed(self, *rest):
        tried["numbers"] += 1
        return real(self, *rest)

    monkeypatch.setattr(Numbers, "weights", weighed)
    before = numbers.work.left
    found = [edges.average(((vertices**2, 1, vertices**2, 0),), ()) for _ in range(5)]
    assert len(set(found)) == 1
    # Positions and heads that ask the same again are answered from memory, and a number costs as 64 products do.
    assert tried["numbers"] == vertices**2
    assert before - numbers.work.left >= 64 * tried["numbers"]


def test_a_length_that_no_model_has_is_refused_before_anything_is_made_of_it():
    data = weights(2)
    claim = {
        "format": "separatrix-trained-1", "task": "index-lookup", "alphabet": 2, "length": 10**15,
        "sha256": hashlib.sha256(data).hexdigest(), "certified": [], "counterexamples": [], "open": [],
    }  # fmt: skip
    with pytest.raises(RefusedError, match="positions"):
        check_trained(claim, data)


def prefixes(states, tokens, positions):
    """A network that flags nothing and sums up zeros, and an automaton that reaches all of its states."""
    numbers = Numbers("fixed:N=4,Kc=2,down")
    none, zero, one = Matrix((), 1), Matrix(((),), 1), Matrix((((0, numbers.scale),),), 1)
    layer = Attention((Head(none, none, zero, one, "hard", "causal"),), residual=True)
    network = Transformer(tokens, positions, 1, (), (layer, layer), Readout(one, [0], "bits", "last"))
    steps = [[(state * tokens + token) % states for token in range(tokens)] for state in range(states)]
    inputs = Inputs([range(tokens)] * positions, [(positions, range(tokens))])
    return Prefixes(network, inputs, Automaton(0, steps, [0] * states), [], numbers), numbers.work


def test_every_prefix_and_token_is_paid_for_even_where_nothing_is_computed():
    rule, work = prefixes(50, 10, 30)
    before = work.left
    rule.check()
    assert before - work.left >= 8 * 28 * 50 * 10


def test_what_is_kept_of_prefixes_has_an_end(monkeypatch):
    monkeypatch.setattr(separatrix_kernel.prefixes, "MOST_KEPT", 800)
    with pytest.raises(RefusedError, match="of one position"):
        prefixes(50, 10, 30)[0].check()
    # A set of flagged states takes room once, however many positions have it.
    rule, _ = prefixes(1, 1, 1000)
    rule.check()
    assert len({id(each) for each in rule.flagged}) == 1
    with pytest.raises(RefusedError, match="of all positions"):
        for state in range(200):
            rule._shared(frozenset([state]))


def empty(*shapes, body=16):
    """A file of a few bytes and of tensors with these shapes, none of which has a number."""
    header = {"__metadata__": {"separatrix": "{}"}, "some": {"dtype": "U8", "shape": [body], "data_offsets": [0, body]}}
    for number, shape in enumerate(shapes):
        header[f"{number}"] = {"dtype": "U8", "shape": shape, "data_offsets": [body, body]}
    return joined(json.dumps(header), bytes(body))


def test_tensors_have_few_axes():
    # The product of a million axes would take hours.
    Tensors(empty([16, 0, 1]))
    for shape in ([0, 1, 1, 1], [1] * 1000):
        with pytest.raises(RefusedError, match="more than 3 axes"):
            Tensors(empty(shape))


def test_tensors_without_numbers_are_not_walked_along_again_and_again(monkeypatch):
    # Each takes no bytes, and a reader makes a row of it for each number of the file.
    monkeypatch.setattr(reading, "MOST_EMPTY", 20)
    Tensors(empty([16, 0], [0, 4]))
    for shapes in (([16, 0], [0, 4], [1, 0]), ([16, 0], [5, 0])):
        with pytest.raises(RefusedError, match="without numbers"):
            Tensors(empty(*shapes))


def test_layers_that_do_nothing_and_coordinates_do_not_multiply(monkeypatch):
    content, data = proved("majority", 3)
    file, numbers = File(data), Numbers(content["arithmetic"])
    network, layers = Reader(data, numbers).network(), file.structure["layers"]
    assert isinstance(network, Transformer)
    monkeypatch.setattr(separatrix_kernel.network, "MOST_COORDINATES", (len(layers) + 2) * network.width)
    layers += [{"kind": "attention", "residual": True, "heads": []}] * 2
    Reader(file.to_bytes(), numbers).network()
    layers.append(layers[-1])
    with pytest.raises(RefusedError, match="too many layers"):
        Reader(file.to_bytes(), numbers).network()


def test_parts_of_an_embedding_are_paid_for_whenever_they_are_looked_through():
    numbers = Numbers("fixed:N=2,Kc=2,down")
    parts = tuple(Part(0, 50, True, (0, 0), (0, 1), None, lambda _: [0] * 50) for _ in range(40))
    network = Transformer(1, 1, 50, parts, (), Readout(Matrix(((),), 50), [0], "bits", "last"))
    before = numbers.work.left
    View(network, [0], numbers)
    assert before - numbers.work.left >= 40 * 50


def test_answers_of_many_bits_are_paid_for():
    numbers = Numbers("fixed:N=2,Kc=2,down")
    readout = Readout(Matrix(((),) * 6400, 1), [0] * 6400, "bits", "last")
    before = numbers.work.left
    assert decode(readout, [0] * 6399 + [numbers.scale], numbers) == 1
    assert before - numbers.work.left >= 6400 * 100


def test_a_claim_in_float32_is_paid_for_too():
    automaton = {"start": 0, "steps": [[0, 0]], "answers": [1]}
    made = claim(Small([[0, 0], [1, 0]], [[0, 1], [1, 0]], [(-9, 9), (-9, 9)], 64), automaton, 64)
    work, network = made.floats.work, made.network
    assert Floats().work.left - work.left >= 64 * len(network.parts) + 4 * (2 + 8 * 2)
    before = work.left
    made.added((0, 0), (1, 1))
    made.answer([(0, 0), (0, 0)])
    matrices = [each for layer in made.after for each in (layer.inner, layer.outer)]
    assert before - work.left == 2 + sum(each.size for each in (made.head.output, network.readout.matrix, *matrices))
    work.left = 10
    with pytest.raises(RefusedError, match="float32 arithmetic"):
        made.answer([(0, 0), (0, 0)])
