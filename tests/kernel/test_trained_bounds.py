"""Bounds of a trained Transformer's layer, one by one, where float32's own error does not hide that they are too small.

Models are written by hand, so that all numbers on the way are known exactly; each bound is held to the real number.
"""

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import pi, sqrt, tanh
from typing import Any

import flint
import numpy
import pytest
from safetensors.numpy import save

from separatrix_kernel import heads as heads_file
from separatrix_kernel.answers import Answers, Box
from separatrix_kernel.balls import ONE, Balls
from separatrix_kernel.heads import Heads
from separatrix_kernel.lookup import Chosen
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import check_two_layers

EPSILON = Fraction(1, 1 << 20)


def model(
    width: int, filled: dict[str, Any] | None = None, kind: str = "transformer", layers: int = 1, heads: int = 1,
    depth: int = 0,
) -> bytes:  # fmt: skip
    """A file with four tokens, two classes, one hidden unit and four positions; weights are 0 but for the filled ones.

    Norms take no gain and no shift, and class 0 has the larger bias.
    """
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (4, width), "norm.weight": (width,), "norm.bias": (width,), "readout.weight": (width, 2),
        "readout.bias": (2,),
    }  # fmt: skip
    if kind == "transformer":
        shapes["positions.table"] = (4, width)
    else:
        shapes |= {f"positions.{name}": (4, width // heads // 2) for name in ("cosine", "sine")}
    for name in (f"blocks.{number}" for number in range(layers)):
        maps = {"mixer.project": (width, 3 * width), "mixer.output": (width, width)}
        maps |= {"feed_forward.inner": (width, 1), "feed_forward.outer": (1, width)}
        for each, shape in maps.items():
            shapes |= {f"{name}.{each}.weight": shape, f"{name}.{each}.bias": shape[1:]}
        for each in ("norm", "feed_forward_norm"):
            shapes |= {f"{name}.{each}.weight": (width,), f"{name}.{each}.bias": (width,)}
    held = {name: numpy.full(shape, name.endswith("norm.weight"), numpy.float32) for name, shape in shapes.items()}
    held["readout.bias"][0] = 1
    for name, values in (filled or {}).items():
        held[name][...] = values
    structure = {
        "kind": kind, "width": width, "heads": heads, "hidden": 1, "vocabulary": 4, "classes": 2, "positions": 4,
        "epsilon": [EPSILON.numerator, EPSILON.denominator], "layers": depth or layers,
    }  # fmt: skip
    return save(held, {"separatrix": json.dumps(structure)})


def normed(x: Sequence[float]) -> list[flint.arb]:
    """The norm of a vector."""
    numbers = [flint.arb(each) for each in x]
    mean = sum(numbers) / len(x)
    deviation = (sum((each - mean) ** 2 for each in numbers) / len(x) + flint.arb(1) / EPSILON.denominator).sqrt()
    return [(each - mean) / deviation for each in numbers]


# -- keys and questions -----------------------------------------------------------------------------------------------

ROWS = [[0, 1, -1], [0, 2, -1], [5, 0, -1], [1, 1, 7]]


def test_normed_vectors_of_keys_and_questions_are_within_their_errors_and_sizes():
    found = Heads(Weights(model(3, {"embedding.weight": ROWS})), [range(2)] * 2, range(2, 4))
    kept = [(number, found.rows[place][number]) for place in range(2) for number in range(2)]
    kept += [(token, found._normed(found.vector(token, 2)).centres) for token in (2, 3)]
    for token, centres in kept:
        numbers = zip(normed(ROWS[token]), centres, found.row_errors, found.sizes, strict=True)
        assert all(abs(real * ONE - c) < error and abs(real * ONE) < size for real, c, error, size in numbers)


@pytest.mark.parametrize("value", [True, False])
def test_products_of_weights_that_are_lost_are_within_the_error_of_what_heads_add(value):
    """Half a unit of 2^-40 becomes 0: in one of the two maps, whose product has it 256 · 256 or 256 times."""
    project, output = numpy.zeros((2, 6)), numpy.zeros((2, 2))
    gain = [256, 256] if value else [256, 1]
    project[:, 4:] = 2.0**-41 if value else [[256, 256], [0, 0]]
    output[:, 0] = 256 if value else 2.0**-41
    filled = {"blocks.0.mixer.project.weight": project, "blocks.0.mixer.output.weight": output}
    weights = Weights(model(2, {**filled, "blocks.0.norm.weight": gain}))
    found = Heads(weights, [range(2)], range(2, 4))
    exact = numpy.array(gain)[:, None] * project[:, 4:] @ output * float(ONE)
    (columns,) = found.through
    lost = abs(exact - numpy.array(columns).T)
    assert 0 < lost.max() <= found.through_error


def test_points_and_distances_of_what_keys_add_hold_all_vectors():
    found = Chosen(Weights(model(3, {"embedding.weight": ROWS, **SHOWN})), [range(2)] * 2, range(2, 4))
    (point, most), (adds,) = found.rounds[0], found.adds
    far = [sum((a - b) ** 2 for a, b in zip(vector, point, strict=True)) for place in adds for vector in place]
    assert 0 < max(far) <= most**2


SHOWN = {
    "blocks.0.mixer.project.weight": numpy.tile(numpy.eye(3), 3), "blocks.0.mixer.output.weight": numpy.eye(3),
}  # fmt: skip
WIDE = [[0, 1, -1, 2, 5, -3], [3, 2, -1, 1, 1, 1], [5, 0, -1, 0, 2, 2], [1, 1, 7, 1, 1, 0]]
COSINES = numpy.array([[1, 1, 1], [0.75, 0.5, -0.25], [0.125, 0.25, 0.625], [-0.5, 0.375, 0.25]])
SINES = numpy.array([[0, 0, 0], [0.5, -0.75, 0.5], [0.875, 0.5, -0.5], [0.25, -0.5, 0.75]])
TURNED = {
    "embedding.weight": WIDE, "positions.cosine": COSINES, "positions.sine": SINES,
    "blocks.0.mixer.project.weight": numpy.tile(numpy.eye(6), 3) / 3,
    "blocks.0.mixer.project.bias": numpy.arange(18) / 7,
}  # fmt: skip


def test_scores_of_turned_keys_are_within_their_error_and_size():
    weights = Weights(model(6, TURNED, kind="rotary-transformer"))
    assert weights.places == [[0] * 6] * 4
    found = Heads(weights, [range(2)] * 2, range(2, 4))
    query = Balls([3 * ONE, -ONE, 2 * ONE, ONE // 2, ONE, -ONE], [0] * 6)
    own = found._normed(found.vector(2, 2)).centres
    assert weights.turns is not None
    scores, error, whole = found._turned(slice(0, 6), query, own, weights.turns)

    def turned(x: Any, place: int) -> list[flint.arb]:
        cosine, sine = ([flint.arb(float(each)) for each in table[place]] for table in (COSINES, SINES))
        pairs = list(zip(x[:3], x[3:], cosine, sine, strict=True))
        return [a * c - b * s for a, b, c, s in pairs] + [b * c + a * s for a, b, c, s in pairs]

    matrix, bias = (
        numpy.asarray(TURNED[f"blocks.0.mixer.project.{name}"], numpy.float32) for name in ("weight", "bias")
    )
    ahead, far = turned([flint.arb(each) / ONE for each in query.centres], 2), []
    for place, token in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2)):
        x = normed(WIDE[token])
        key = [sum((x[i] * float(matrix[i, 6 + n]) for i in range(6)), flint.arb(float(bias[6 + n]))) for n in range(6)]
        real = sum(a * b for a, b in zip(ahead, turned(key, place), strict=True)) / flint.arb(6).sqrt()
        far.append(abs(real * ONE - scores[place][0 if place == 2 else token]))
        assert far[-1] < error
        assert abs(real) * ONE < whole


@pytest.mark.parametrize(("kind", "more"), [("transformer", 0), ("rotary-transformer", 8)])
def test_each_rounding_of_a_score_is_counted(kind, more, monkeypatch):
    """2·width + m + 32 on a path, 8 for each of two blocks of keys, 8 where keys are turned."""
    counted, real = [], heads_file.slack

    def slack(terms: int, size: int) -> int:
        counted.append(terms)
        return real(terms, size)

    filled = {"embedding.weight": WIDE} if kind == "transformer" else TURNED
    found = Heads(Weights(model(6, filled, kind=kind)), [range(2)] * 2, range(2, 4))
    _ = found.attention_noise
    monkeypatch.setattr(heads_file, "slack", slack)
    found.question(0)
    assert max(counted) == 12 + 6 + 32 + 16 + more


# -- behind the attention ---------------------------------------------------------------------------------------------


def gelu(x: float) -> float:
    """Its tanh form."""
    return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))


def boxed(answers: Answers, centres: list[float], radii: list[float]) -> Box:
    """The box of all vectors that are so near to a point."""
    y = Balls([round(each * ONE) for each in centres], [round(each * ONE) for each in radii])
    forms = answers.inward.floors(y.centres)[len(centres) :]
    far = answers.inward_sizes.floors(y.radii)[len(centres) :]
    reach = round(sqrt(sum(each**2 for each in radii)) * ONE) + 1
    return Box(y, [(form - r - 2, form + r + 2) for form, r in zip(forms, far, strict=True)], reach)


def test_what_units_give_is_within_their_radius():
    filled = {"blocks.0.feed_forward.inner.weight": [[2], [0], [0]]}
    answers = Answers(Weights(model(3, filled)))
    for first in (0, 1, -1):
        half = answers.halfway(boxed(answers, [first, 3, -3], [1, 0.125, 0.125]))
        (centre,), (radius,) = half.hidden
        assert radius > ONE // 2
        for x in (centre - radius, centre, centre + radius):
            assert abs(gelu(x / ONE) * ONE - half.bends[0].value) <= half.active[0]


def test_what_a_form_of_the_box_leaves_out_is_lost():
    """The unit gets k(y_0 - y_1)/σ, and y_2 and y_3 bring σ down to 0.62 of what it is at the centre."""
    k, down, aside = 1 / 64, 0.38, 2.0**-5
    filled = {
        "blocks.0.feed_forward.inner.weight": [[k], [-k], [0], [0]],
        "blocks.0.feed_forward.inner.bias": [20], "blocks.0.feed_forward.outer.weight": [[64, 0, 0, 0]],
    }  # fmt: skip
    answers = Answers(Weights(model(4, filled)))
    centres, radii = [0.0, 0.0, 1.0, -1.0], [aside, aside, down, down]
    half = answers.halfway(boxed(answers, centres, radii))
    for sign in (1, -1):
        form, loss = answers.pulled(half, [sign * ONE, 0, 0, 0])
        left = []
        for signs in product((-1, 1), repeat=4):
            y = [c + s * r for c, r, s in zip(centres, radii, signs, strict=True)]
            mean = sum(y) / 4
            deviation = sqrt(sum((each - mean) ** 2 for each in y) / 4 + float(EPSILON))
            z = y[0] + 64 * gelu(k * (y[0] - y[1]) / deviation + 20)
            near = sum(f * (a - b) for f, a, b in zip(form, y, centres, strict=True))
            left.append(near - sign * (z * ONE - half.z.centres[0]))
        assert 0 < max(left) <= loss


def test_models_of_these_shapes_are_read():
    assert Weights(model(4, kind="rotary-transformer")).turns is not None
    assert len(Weights(model(4, layers=2, heads=2), layers=2).layers) == 2


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "layers"),
    [
        (model(4, layers=2), 1),
        (model(4), 2),
        (model(4, depth=2), 1),
        (model(4, kind="rotary-transformer", layers=2), 2),
        (model(4, heads=3), 1),
        (model(3, kind="rotary-transformer"), 1),
    ],
)
def test_models_of_other_shapes_are_refused(data, layers):
    with pytest.raises(RefusedError):
        Weights(data, layers)


KEYS, LABELS = {"count": 1, "tokens": [0, 2]}, {"count": 1, "tokens": [2, 4]}


def test_a_counterexample_is_an_input():
    data, leaf = model(2, layers=2), ["leaf", []]
    claim = {
        "format": "separatrix-two-layers-1", "task": "recall", "length": 2,
        "sha256": hashlib.sha256(data).hexdigest(), "certified": [[0, [0, 2], leaf]], "open": [],
        "counterexamples": [[0, 3, 0]],
        "specification": {"inputs": [KEYS, LABELS, KEYS], "answer": {"kind": "recall", "pairs": 1}},
    }  # fmt: skip
    assert check_two_layers(claim, data).counterexamples == ((0, 3, 0),)
    for row in ([0, 9, 0], [0, 3, 1], [0, 2, 0], [0, 3], [0, 1, 0]):
        with pytest.raises(RefusedError):
            check_two_layers({**claim, "counterexamples": [row]}, data)
