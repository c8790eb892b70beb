"""The weights at which every architecture of the catalog starts, its feed-forward part and its norm: one table.

What each paper, or its authors' code, says is in ``ROWS``; a parameter without an entry fails. An architecture that
follows no paper needs no row: that its first outputs and gradients have a sensible size is tested for all. Drawn
weights are held to the mean, the mean square and the mean fourth power of their distribution, each within five standard
deviations of the sample's, so that the tolerance follows from how many numbers were drawn.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architecture import ModelSpec
from separatrix.models.block import make_norm
from separatrix.models.mixers.attention import rotate
from separatrix.models.mixers.dss import _skew_hippo
from tests.models.architecture_cases import NAMES, inputs_of, model_of

WIDTH, LAYERS, LENGTH = 64, 3, 12
# Two and four heads are few numbers to draw for each member.
MEMBERS = {"mamba2": 64, "gated-deltanet": 64}
STEPS = (math.log(1e-3), math.log(1e-1))


def as_it_is(values: Tensor) -> Tensor:
    return values


def log_softplus(bias: Tensor) -> Tensor:
    return functional.softplus(bias).log()


@dataclass(frozen=True)
class Drawn:
    """Independent numbers with these moments around a centre, and within these bounds, behind ``seen``."""

    centre: float
    scale: float
    powers: tuple[float, float, float, float]
    """Means of the second, fourth, sixth and eighth power of (x - centre)/scale; odd ones are 0."""
    largest: float = math.inf
    seen: Callable[[Tensor], Tensor] = as_it_is

    def check(self, values: Tensor) -> None:
        ours = (self.seen(values.double()).flatten() - self.centre) / self.scale
        second, fourth, _, eighth = self.powers
        if self.largest < math.inf:
            # Of n uniform numbers none lies that near to an end with probability e⁻¹⁴.
            gap = self.largest * 28 / len(ours)
            for end in (float(ours.max()), -float(ours.min())):
                assert self.largest - gap <= end <= self.largest * (1 + 1e-4), f"ends at {end:.4g}"
        for power, mean, variance in (
            (1, 0.0, second), (2, second, fourth - second**2), (4, fourth, eighth - fourth**2),
        ):  # fmt: skip
            found, allowed = float(ours.pow(power).mean()), 5.0 * math.sqrt(variance / len(ours))
            assert abs(found - mean) <= allowed, f"mean power {power} is {found:.4g}, not {mean:.4g} ± {allowed:.2g}"


@dataclass(frozen=True)
class Fixed:
    """The same numbers in every member: one number, or a tensor of the shape of its last axes."""

    values: float | Tensor

    def check(self, values: Tensor) -> None:
        expected = torch.as_tensor(self.values, dtype=values.dtype).expand_as(values)
        torch.testing.assert_close(values, expected, rtol=1e-6, atol=1e-6)


@dataclass(frozen=True)
class Parts:
    """Several starts side by side along the last axis."""

    parts: tuple[tuple[int, Drawn], ...]

    def check(self, values: Tensor) -> None:
        for part, (_, start) in zip(values.split([size for size, _ in self.parts], dim=-1), self.parts, strict=True):
            start.check(part)


Start = Drawn | Fixed | Parts


def normal(deviation: float) -> Drawn:
    return Drawn(0.0, deviation, (1.0, 3.0, 15.0, 105.0))


def uniform(low: float, high: float, seen: Callable[[Tensor], Tensor] = as_it_is) -> Drawn:
    return Drawn((low + high) / 2, (high - low) / 2, (1 / 3, 1 / 5, 1 / 7, 1 / 9), 1.0, seen)


def within(bound: float) -> Drawn:
    return uniform(-bound, bound)


def torch_linear(inputs: int) -> Drawn:
    return within(1 / math.sqrt(inputs))


def xavier(inputs: int, outputs: int, gain: float = 1.0) -> Drawn:
    return within(gain * math.sqrt(6 / (inputs + outputs)))


@dataclass(frozen=True)
class Row:
    """What one architecture starts with; names of parameters without the number of the block."""

    starts: dict[str, Start]
    feed_forward: tuple[str, int] | None
    """Activation and hidden width."""
    norm: str | None = "layer"


ZERO, ONE = Fixed(0.0), Fixed(1.0)
LAYER_NORM: dict[str, Start] = {"norm.weight": ONE, "norm.bias": ZERO}
SECOND_LAYER_NORM: dict[str, Start] = {"feed_forward_norm.weight": ONE, "feed_forward_norm.bias": ZERO}
RMS_NORM: dict[str, Start] = {"norm.weight": ONE}
SECOND_RMS_NORM: dict[str, Start] = {"feed_forward_norm.weight": ONE}
READOUT: dict[str, Start] = {"readout.weight": torch_linear(WIDTH), "readout.bias": torch_linear(WIDTH)}
ENDS: dict[str, Start] = {"embedding.weight": normal(0.02), **READOUT}
# GPT-2: two residual branches in each layer.
LAST = normal(0.02 / math.sqrt(2 * LAYERS))
GPT2: dict[str, Start] = {
    **LAYER_NORM, **SECOND_LAYER_NORM, "feed_forward.inner.weight": normal(0.02), "feed_forward.inner.bias": ZERO,
    "feed_forward.outer.weight": LAST, "feed_forward.outer.bias": ZERO,
}  # fmt: skip
ATTENTION: dict[str, Start] = {
    **GPT2, "positions.table": normal(0.02), "mixer.project.weight": normal(0.02), "mixer.project.bias": ZERO,
    "mixer.output.weight": LAST, "mixer.output.bias": ZERO,
}  # fmt: skip
RECURRENT: dict[str, Start] = {
    "embedding.weight": normal(1.0), "readout.weight": torch_linear(WIDTH), "readout.bias": torch_linear(WIDTH),
    **{f"mixer.{name}": torch_linear(WIDTH) for name in ("input_weight", "state_weight", "input_bias", "state_bias")},
}  # fmt: skip
FOUR_TAPS = within(1 / math.sqrt(4))
GELU, SWIGLU = ("gelu", 4 * WIDTH), ("swiglu", round(8 / 3 * WIDTH))
SMALL = 2**-2.5

ROWS = {
    "transformer": Row({**ENDS, **ATTENTION}, GELU),
    "hard-attention": Row({**ENDS, **ATTENTION}, GELU),
    "third-order": Row({**ENDS, **ATTENTION}, GELU),
    "graph-transformer": Row(
        {
            **READOUT, **ATTENTION, "mixer.gain": ONE, "mixer.shift": ZERO,
            **{f"embedding.numbers.{name}": torch_linear(LENGTH) for name in ("weight", "bias")},
        },
        GELU,
    ),
    "cnn": Row(
        {**ENDS, **GPT2, **{f"mixer.taps.{name}": torch_linear(3 * WIDTH) for name in ("weight", "bias")}}, GELU
    ),
    "fnn": Row(
        {
            **{name: start for name, start in RECURRENT.items() if not name.startswith("mixer")},
            "mixer.inner.weight": torch_linear(LENGTH * WIDTH), "mixer.inner.bias": torch_linear(LENGTH * WIDTH),
            "mixer.outer": torch_linear(WIDTH), "mixer.outer_bias": torch_linear(WIDTH),
        },
        None, None,
    ),
    "lstm": Row(RECURRENT, None, None),
    "gru": Row(RECURRENT, None, None),
    "rnn": Row(RECURRENT, None, None),
    "linear-transformer": Row(
        {
            **ENDS, **LAYER_NORM, **SECOND_LAYER_NORM,
            **{f"mixer.{name}.weight": torch_linear(WIDTH) for name in ("project", "output")},
            **{f"mixer.{name}.bias": torch_linear(WIDTH) for name in ("project", "output")},
            "feed_forward.inner.weight": torch_linear(WIDTH), "feed_forward.inner.bias": torch_linear(WIDTH),
            "feed_forward.outer.weight": torch_linear(4 * WIDTH), "feed_forward.outer.bias": torch_linear(4 * WIDTH),
        },
        GELU,
    ),
    "retnet": Row(
        {
            **ENDS, **LAYER_NORM, **SECOND_LAYER_NORM, "embedding.weight": normal(1.0),
            "mixer.project.weight": Parts(
                (*[(WIDTH, xavier(WIDTH, WIDTH, SMALL))] * 2, *[(2 * WIDTH, xavier(WIDTH, 2 * WIDTH, SMALL))] * 2)
            ),
            "mixer.output.weight": xavier(2 * WIDTH, WIDTH), "mixer.norm_weight": ONE, "mixer.norm_bias": ZERO,
            "feed_forward.inner.weight": torch_linear(WIDTH), "feed_forward.inner.bias": torch_linear(WIDTH),
            "feed_forward.outer.weight": torch_linear(2 * WIDTH), "feed_forward.outer.bias": torch_linear(2 * WIDTH),
        },
        ("gelu", 2 * WIDTH),
    ),
    "dss": Row(
        {
            **ENDS, **LAYER_NORM, "mixer.rate": Fixed(_skew_hippo(64)),
            "mixer.log_step": uniform(*STEPS, seen=lambda steps: steps[..., 0]),
            "mixer.weight": normal(1.0), "mixer.skip": normal(1.0),
            "mixer.output.weight": torch_linear(WIDTH), "mixer.output.bias": torch_linear(WIDTH),
        },
        None,
    ),
    "mamba": Row(
        {
            **READOUT, **RMS_NORM, "embedding.weight": normal(0.1),
            "mixer.step_bias": uniform(*STEPS, seen=log_softplus),
            "mixer.log_rate": Fixed(torch.arange(1.0, 17.0).log()), "mixer.skip": ONE,
            "mixer.project_in.weight": normal(0.1), "mixer.convolution.weight": FOUR_TAPS,
            "mixer.convolution.bias": ZERO, "mixer.project_selection.weight": normal(0.1),
            "mixer.project_step.weight": torch_linear(WIDTH // 16),
            "mixer.project_out.weight": torch_linear(2 * WIDTH),
        },
        None, "rms",
    ),
    "mamba2": Row(
        {
            **ENDS, **RMS_NORM, "mixer.step_bias": uniform(*STEPS, seen=log_softplus),
            "mixer.log_rate": uniform(1.0, 16.0, seen=torch.exp), "mixer.skip": ONE, "mixer.norm.weight": ONE,
            "mixer.project_in.weight": torch_linear(WIDTH), "mixer.convolution.weight": FOUR_TAPS,
            "mixer.convolution.bias": FOUR_TAPS,
            "mixer.project_out.weight": within(1 / math.sqrt(2 * WIDTH * LAYERS)),
        },
        None, "rms",
    ),
    "gated-linear-attention": Row(
        {
            **ENDS, **RMS_NORM, **SECOND_RMS_NORM, "mixer.norm.weight": ONE,
            **{f"mixer.to_{name}.weight": xavier(WIDTH, WIDTH // 2, SMALL) for name in ("query", "key")},
            **{f"mixer.to_{name}.weight": xavier(WIDTH, WIDTH, SMALL) for name in ("value", "gate")},
            "mixer.to_rank.weight": xavier(WIDTH, 16, SMALL), "mixer.to_decay.weight": xavier(16, WIDTH // 2, SMALL),
            "mixer.to_decay.bias": ZERO, "mixer.output.weight": xavier(WIDTH, WIDTH, SMALL),
            "feed_forward.inner.weight": torch_linear(WIDTH), "feed_forward.outer.weight": torch_linear(SWIGLU[1]),
        },
        SWIGLU, "rms",
    ),
    "gated-deltanet": Row(
        {
            **ENDS, **RMS_NORM, **SECOND_RMS_NORM, "mixer.norm.weight": ONE,
            "mixer.step_bias": uniform(*STEPS, seen=log_softplus),
            "mixer.log_rate": uniform(0.0, 16.0, seen=torch.exp), "mixer.convolution.weight": FOUR_TAPS,
            **{f"mixer.{name}.weight": normal(0.02) for name in ("project", "to_gate", "to_rates")},
            "mixer.output.weight": LAST, "feed_forward.inner.weight": normal(0.02), "feed_forward.outer.weight": LAST,
        },
        SWIGLU, "rms",
    ),
}  # fmt: skip


@cache
def started(name: str):
    return model_of(ModelSpec((name,) * LAYERS, WIDTH), LENGTH, seeds=range(100, 100 + MEMBERS.get(name, 16)))


@pytest.mark.parametrize("name", NAMES)
def test_every_model_starts_with_outputs_and_gradients_of_a_sensible_size(name):
    spec = ModelSpec((name,) * LAYERS, WIDTH)
    model = model_of(spec, LENGTH, seeds=range(2))
    found = model(inputs_of(spec, 2, 16, LENGTH))
    assert 1e-3 < float(found.detach().std()) < 1e2
    found.square().mean().backward()
    sizes = [float(each.grad.abs().max()) for each in model.parameters() if each.grad is not None]
    assert sizes and all(math.isfinite(size) for size in sizes) and max(sizes) > 1e-6


@pytest.mark.parametrize("name", ROWS)
def test_every_parameter_starts_as_its_paper_says(name):
    row, found = ROWS[name], dict[str, list[Tensor]]()
    for full, parameter in started(name).named_parameters():
        short = full.split(".", 2)[2] if full.startswith("blocks.") else full
        found.setdefault(short, []).append(parameter.detach())
    assert found.keys() == row.starts.keys()
    for short, layers in found.items():
        try:
            row.starts[short].check(torch.stack(layers))
        except AssertionError as wrong:
            raise AssertionError(f"{short}: {wrong}") from wrong


@pytest.mark.parametrize("name", ROWS)
def test_feed_forward_parts_and_norms_are_those_of_the_paper(name):
    row, block = ROWS[name], started(name).blocks[0]
    norms = [each for each in (block.norm, block.feed_forward_norm) if each is not None]
    assert len(norms) == (row.norm is not None) + (row.feed_forward is not None)
    for norm in norms:
        expected = make_norm(row.norm, norm.members, WIDTH, 1e-5)
        assert type(norm) is type(expected) and norm.epsilon == 1e-5
    if row.feed_forward is None:
        assert block.feed_forward is None
        return
    activation, hidden = row.feed_forward
    part = block.feed_forward
    x = torch.randn(part.outer.members, 5, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    inner = torch.bmm(x, part.inner.weight)
    if activation == "gelu":
        inner = inner + part.inner.bias[:, None]
        units = 0.5 * inner * (1 + torch.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))
    else:
        gate, value = inner[..., :hidden], inner[..., hidden:]
        units = gate * torch.sigmoid(gate) * value
    assert units.shape[-1] == hidden
    outer = torch.bmm(units, part.outer.weight)
    torch.testing.assert_close(part(x), outer if part.outer.bias is None else outer + part.outer.bias[:, None])


def test_wrong_starts_are_found():
    """The table's tolerance: a tenth more in scale, or the other distribution with the same deviation, is too much."""
    drawn = torch.randn(4000, generator=torch.Generator().manual_seed(1))
    normal(1.0).check(drawn)
    even = torch.rand(4000, generator=torch.Generator().manual_seed(1)) * 2 - 1
    within(1.0).check(even)
    for start, values in (
        (normal(1.0), 1.1 * drawn), (normal(1.0), math.sqrt(3) * even), (within(1.0), 1.1 * even),
        (within(1.0), 0.9 * even), (within(1.0), drawn / math.sqrt(3)), (normal(1.0), drawn + 0.2),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            start.check(values)


def test_rotary_positions_turn_by_the_papers_angles():
    """Su et al. 2021: pair i of position p by p·10000^(-2i/m); our pairs are coordinates i and i + m/2."""
    length, size = 9, 8
    x = torch.randn(length, size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    turned = rotate(x, torch.arange(length))
    pairs = torch.complex(x[:, : size // 2], x[:, size // 2 :])
    for position in range(length):
        for pair in range(size // 2):
            angle = position * 10000.0 ** (-2 * pair / size)
            expected = complex(pairs[position, pair]) * complex(math.cos(angle), math.sin(angle))
            found = complex(turned[position, pair], turned[position, pair + size // 2])
            assert abs(found - expected) < 1e-6  # angles are float32
