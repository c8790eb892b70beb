"""Trained weights in the worst float32 that the claims allow: any order of sums, and a library at its stated limit.

Models are written by hand with some noise. The bias of an answer is lowered until the kernel only just accepts; then
every text is run in float32 with sums in random orders and groups, with and without fused multiply-add, gains inside
the next matrix or not, keys and values formed or not, and exp, tanh, roots and quotients off by 7u before they are
rounded. The evaluation shares no code with the kernel or the models.
"""

import itertools
import json
import math

import numpy
import pytest
import torch
from torch.nn import functional

from separatrix.provers.trained_lookup import ChosenProver, LookupProver
from separatrix.provers.trained_transformer import Outcome
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import TwoLayers, groups_of, read_lookup

ROUNDOFF = 2.0**-24
SINGLE = numpy.float32
ALPHABET, LENGTH, WIDTH = 3, 3, 8
TEXTS = numpy.array(list(itertools.product(range(ALPHABET), repeat=LENGTH)))


class Rounded:
    """Float32 operations; ``random`` chooses among all that a float32 library may do."""

    def __init__(self, random):
        self.random = random

    def library(self, exact):
        """A function of the library: its value, wrong by at most 7u, then rounded."""
        return (exact * (1 + 7 * ROUNDOFF * self.random.choice([-1.0, 0.0, 1.0], size=exact.shape))).astype(SINGLE)

    def total(self, terms, axis):
        """A sum in a random order, one after the other or in pairs."""
        parts = list(self.random.permutation(numpy.moveaxis(terms, axis, 0)))
        pairs = self.random.integers(2)
        while len(parts) > 1:
            half = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = half + parts[2 * len(half) :] if pairs else [parts[0] + parts[1], *parts[2:]]
        return parts[0]

    def product(self, x, matrix, bias=None):
        """x W + b, the bias at any place of the sum or after it."""
        terms = x[..., :, None] * matrix
        if self.random.integers(2):
            found = numpy.zeros(terms.shape[:-2] + terms.shape[-1:], SINGLE)
            for i in self.random.permutation(len(matrix)):  # fused: rounded once
                found = (x[..., i, None].astype(float) * matrix[i] + found).astype(SINGLE)
            return found if bias is None else found + bias
        if bias is not None and self.random.integers(2):
            bias = numpy.broadcast_to(bias, (*terms.shape[:-2], 1, len(bias)))
            return self.total(numpy.concatenate([terms, bias], axis=-2), -2)
        return self.total(terms, -2) + (SINGLE(0) if bias is None else bias)

    def normed(self, x, epsilon):
        """The norm before gain and shift; the variance in two passes or one."""
        count = SINGLE(x.shape[-1])
        mean = self.total(x, -1)[..., None] / count
        apart = x - mean
        square = self.total(apart * apart, -1)[..., None] / count
        if self.random.integers(2):
            square = numpy.maximum(self.total(x * x, -1)[..., None] / count - mean * mean, SINGLE(0))
        inverse = self.library(1 / numpy.sqrt((square + SINGLE(epsilon)).astype(float)))
        return apart * inverse if self.random.integers(2) else x * inverse - mean * inverse

    def mapped(self, x, epsilon, affine, matrix, bias):
        """The linear map of a norm, whose gain and shift may be in the map."""
        gain, shift = affine
        if self.random.integers(2):
            return self.product(
                self.normed(x, epsilon), gain[:, None] * matrix, self.product(shift[None], matrix)[0] + bias
            )
        return self.product(self.normed(x, epsilon) * gain + shift, matrix, bias)

    def gelu(self, x):
        inner = SINGLE(math.sqrt(2 / math.pi)) * (x + SINGLE(0.044715) * (x * x * x))
        return SINGLE(0.5) * x * (SINGLE(1) + self.library(numpy.tanh(inner.astype(float))))

    def attended(self, query, keys, values):
        """What one head's query (batch, m) gets of keys and values (batch, places, m)."""
        scores = self.total(query[:, None] * keys, -1) * SINGLE(1 / math.sqrt(query.shape[-1]))
        powers = self.library(numpy.exp((scores - scores.max(axis=1, keepdims=True)).astype(float)))
        inverse = self.library(1 / self.total(powers, 1).astype(float))[:, None]
        if self.random.integers(2):
            return self.total(values * (powers * inverse)[..., None], 1)
        return self.total(values * powers[..., None], 1) * inverse

    def logits(self, tensors, structure, rows):
        """The logits at the last place of each row."""
        width, heads, epsilon = structure["width"], structure["heads"], 1e-5
        inner = width // heads
        x = tensors["embedding.weight"][rows] + tensors.get("positions.table", numpy.zeros(1, SINGLE))[: rows.shape[1]]
        for layer in range(structure.get("layers", 1)):
            part = {name.split(".", 2)[2]: each for name, each in tensors.items() if f"blocks.{layer}." in name}
            affine = part["norm.weight"], part["norm.bias"]
            matrix, bias = part["mixer.project.weight"], part["mixer.project.bias"]
            thirds = [slice(start, start + width) for start in (0, width, 2 * width)]
            every = [self.mapped(x, epsilon, affine, matrix[:, third], bias[third]) for third in thirds]
            query, key, value = (each.reshape(*rows.shape, heads, inner) for each in every)
            if "positions.cosine" in tensors:
                query, key = (turned(each, tensors) for each in (query, key))
            given = [
                numpy.concatenate(
                    [
                        self.attended(query[:, place, head], key[:, : place + 1, head], value[:, : place + 1, head])
                        for head in range(heads)
                    ],
                    axis=-1,
                )
                for place in range(rows.shape[1])
            ]
            output = part["mixer.output.weight"], part["mixer.output.bias"]
            x = x + self.product(numpy.stack(given, axis=1), *output)
            affine = part["feed_forward_norm.weight"], part["feed_forward_norm.bias"]
            first = part["feed_forward.inner.weight"], part["feed_forward.inner.bias"]
            hidden = self.gelu(self.mapped(x, epsilon, affine, *first))
            x = x + self.product(hidden, part["feed_forward.outer.weight"], part["feed_forward.outer.bias"])
        affine = tensors["norm.weight"], tensors["norm.bias"]
        return self.mapped(x[:, -1], epsilon, affine, tensors["readout.weight"], tensors["readout.bias"])


def turned(vectors, tensors):
    """Rotary positions of vectors (batch, places, heads, m)."""
    first, second = numpy.split(vectors, 2, axis=-1)
    cosine, sine = (tensors[f"positions.{name}"][:, None] for name in ("cosine", "sine"))
    return numpy.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)


def written(kind, layers, random):
    """Tensors and structure of a model that looks symbols up, more or less: its noise and scale are random."""
    noise, scale = 10 ** random.uniform(-5, -1.5), 10 ** random.uniform(1, 1.8)
    tokens = ALPHABET + LENGTH
    tensors = {"embedding.weight": 2 * numpy.eye(tokens, WIDTH)}
    if kind == "transformer":
        places = numpy.arange(LENGTH)
        tensors["positions.table"] = numpy.zeros((LENGTH + 1, WIDTH))
        tensors["positions.table"][places, ALPHABET + places] = 2
    else:
        angles = 1.2 * numpy.arange(LENGTH + 1)[:, None] * numpy.ones(WIDTH // 2)
        tensors |= {"positions.cosine": numpy.cos(angles), "positions.sine": numpy.sin(angles)}
    for layer in range(layers):
        project, output, bias = numpy.zeros((WIDTH, 3 * WIDTH)), numpy.zeros((WIDTH, WIDTH)), numpy.zeros(3 * WIDTH)
        if layer == layers - 1:
            for place in range(LENGTH):
                if kind == "transformer":
                    project[ALPHABET + place, ALPHABET + place] = scale
                    project[ALPHABET + place, WIDTH + ALPHABET + place] = 1
                else:
                    # All keys are the same before they are turned; the query of a place is that key, turned as there.
                    bias[WIDTH : WIDTH + WIDTH // 2] = 1
                    ahead = 1.2 * (place - LENGTH)
                    for first, each in ((0, math.cos(ahead)), (WIDTH // 2, math.sin(ahead))):
                        project[ALPHABET + place, first : first + WIDTH // 2] = scale * each
            for symbol in range(ALPHABET):
                project[symbol, 2 * WIDTH + symbol] = 1
                output[symbol, symbol] = 2
        shapes = {
            "norm.bias": numpy.zeros(WIDTH), "norm.weight": numpy.ones(WIDTH), "mixer.project.weight": project,
            "mixer.project.bias": bias, "mixer.output.weight": output,
            "mixer.output.bias": numpy.zeros(WIDTH), "feed_forward_norm.weight": numpy.ones(WIDTH),
            "feed_forward_norm.bias": numpy.zeros(WIDTH), "feed_forward.inner.weight": numpy.eye(WIDTH, 4) / 4,
            "feed_forward.inner.bias": numpy.zeros(4), "feed_forward.outer.weight": numpy.eye(4, WIDTH) / 4,
            "feed_forward.outer.bias": numpy.zeros(WIDTH),
        }  # fmt: skip
        tensors |= {f"blocks.{layer}.{name}": each for name, each in shapes.items()}
    tensors |= {"norm.weight": numpy.ones(WIDTH), "norm.bias": numpy.zeros(WIDTH)}
    tensors |= {"readout.weight": numpy.eye(WIDTH, ALPHABET), "readout.bias": numpy.zeros(ALPHABET)}
    for name, each in tensors.items():
        moved = each + (0 if "positions.c" in name or "sine" in name else noise * random.normal(size=each.shape))
        tensors[name] = moved.astype(SINGLE)
    several = kind == "transformer" and layers == 1
    structure = {
        "kind": kind, "width": WIDTH, "heads": int(random.choice([1, 2])) if several else 1, "hidden": 4,
        "epsilon": [1, 100_000], "vocabulary": tokens, "classes": ALPHABET, "positions": LENGTH + 1,
    }  # fmt: skip
    return tensors, structure | ({"layers": layers} if layers > 1 else {})


def file_of(tensors, structure):
    """The safetensors file, without its library."""
    header, body = {"__metadata__": {"separatrix": json.dumps(structure)}}, b""
    for name, each in tensors.items():
        raw = each.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": each.shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def accepted(tensors, structure, place, symbol):
    """Whether a pair is certified."""
    layers = structure.get("layers", 1)
    weights = Weights(file_of(tensors, structure), layers)
    if layers == 1:
        prover = LookupProver(weights, ALPHABET, LENGTH, nodes=4)
        return prover.decide(place, symbol).outcome == Outcome.CERTIFIED
    held = [{"count": LENGTH, "tokens": [0, ALPHABET]}, {"count": 1, "tokens": [ALPHABET, ALPHABET + LENGTH]}]
    answer = {"kind": "select", "by": LENGTH, "first": ALPHABET}
    model = TwoLayers(weights, groups_of(read_lookup({"inputs": held, "answer": answer})))
    case = place, (symbol,)
    try:
        proof = ChosenProver(model.second, 4).tree(place, symbol, model.groups.sets(case))
        if proof is not None:
            model.prove(case, proof)
    except RefusedError:
        return False
    return proof is not None


@pytest.mark.parametrize(("kind", "layers"), [("transformer", 1), ("rotary-transformer", 1), ("transformer", 2)])
def test_what_is_only_just_accepted_is_right_in_the_worst_float32(kind, layers):
    random = numpy.random.default_rng(layers)
    edges = 0
    for _ in range(8):
        tensors, structure = written(kind, layers, random)
        place, symbol = int(random.integers(LENGTH)), int(random.integers(ALPHABET))
        if not accepted(tensors, structure, place, symbol):
            continue
        start = tensors["readout.bias"][symbol]
        high, low = float(start), float(start) - 20
        while high - low > 1e-6:
            middle = (high + low) / 2
            tensors["readout.bias"][symbol] = middle
            high, low = (middle, low) if accepted(tensors, structure, place, symbol) else (high, middle)
        tensors["readout.bias"][symbol] = high
        if not accepted(tensors, structure, place, symbol):
            continue
        edges += 1
        texts = TEXTS[TEXTS[:, place] == symbol]
        rows = numpy.concatenate([texts, numpy.full((len(texts), 1), ALPHABET + place)], axis=1)
        for _ in range(12):
            logits = Rounded(random).logits(tensors, structure, rows)
            rest = numpy.delete(logits, symbol, axis=1).max(axis=1)
            assert (logits[:, symbol] > rest).all()
    assert edges


def test_attention_in_torch_is_as_accurate_as_the_claims_assume():
    """Its exp is not ``torch.exp`` and comes closest to the limit of 8u; below 2^-125 it may be 0, which a unit of
    2^-40 covers."""
    # The largest score is 0 and the others sum to less than 2^-25, so that weights are the exponentials themselves.
    number, keys = 20_000, 16
    random = numpy.random.default_rng(0)
    values = torch.from_numpy(-random.uniform(18, 100, number).astype(SINGLE))
    at = torch.from_numpy(random.integers(1, keys, number))
    scores = torch.full((number, keys), -1000.0)
    scores[:, 0] = 0
    scores[torch.arange(number), at] = values
    query, key = torch.zeros(number, 1, 1, keys), torch.zeros(number, 1, keys, keys)
    query[..., 0], key[:, 0, :, 0] = 1, scores
    value = torch.eye(keys).expand(number, 1, keys, keys).contiguous()
    weights = functional.scaled_dot_product_attention(query, key, value, scale=1.0)[:, 0, 0]
    assert (weights[:, 0] == 1).all()
    found = weights[torch.arange(number), at].double().numpy()
    exact = numpy.exp(values.double().numpy())
    assert (abs(found - exact) <= 8 * ROUNDOFF * exact + 2.0**-124).all()


@pytest.mark.parametrize(
    ("function", "exact"),
    [(torch.exp, numpy.exp), (torch.tanh, numpy.tanh), (torch.rsqrt, lambda x: 1 / numpy.sqrt(x))],
    ids=["exp", "tanh", "rsqrt"],
)
def test_functions_of_torch_are_as_accurate_as_the_claims_assume(function, exact):
    x = torch.from_numpy(numpy.random.default_rng(0).uniform(1e-3, 40, 100_000).astype(SINGLE))
    x = x if function is torch.rsqrt else -x
    wanted = exact(x.double().numpy())
    assert (abs(function(x).double().numpy() - wanted) <= 8 * ROUNDOFF * abs(wanted)).all()
