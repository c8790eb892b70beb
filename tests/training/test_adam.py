"""Our Adam is torch's, for each member as if it were alone."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from separatrix.training.adam import Adam, FlatParameters, MemberRates

SHAPES = ((3, 4), (5,), (2, 1, 3))


class Members(nn.Module):
    """Parameters with a leading axis of members."""

    def __init__(self, members: int, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(members)
        start = [torch.randn(members, *shape, generator=generator, dtype=torch.float64) for shape in SHAPES]
        self.weights = nn.ParameterList(each.to(dtype) for each in start)


def gradients(members: int, step: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Some gradients, with scales from tiny to large and one exact zero."""
    generator = torch.Generator().manual_seed(1000 * step + 7)
    found = [torch.randn(members, *shape, generator=generator, dtype=torch.float64) for shape in SHAPES]
    found[1][:, 0] = 0.0
    return [each.mul(10.0 ** ((step + place) % 5 - 3)).to(dtype) for place, each in enumerate(found)]


def ours(rates: MemberRates, steps: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """The parameters after some steps of our optimiser, all members at once."""
    members = len(rates.learning_rate)
    model = Members(members, dtype)
    flat = FlatParameters(model)
    adam = Adam(flat, rates)
    for step in range(steps):
        for parameter, gradient in zip(model.parameters(), gradients(members, step, dtype), strict=True):
            assert parameter.grad is not None
            parameter.grad.copy_(gradient)
        adam.update()
        assert not flat.gradients.any(), "gradients are cleared for the next step"
    return [each.detach().clone() for each in model.parameters()]


def theirs(rates: MemberRates, member: int, steps: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """One member with torch.optim.AdamW, torch's clipping, a linear warm-up and half a cosine."""
    members = len(rates.learning_rate)
    parameters = [nn.Parameter(each.detach()[member].clone()) for each in Members(members, dtype).parameters()]
    rate, warmup = rates.learning_rate[member], rates.warmup[member]
    adam = torch.optim.AdamW(parameters, lr=rate, weight_decay=rates.weight_decay[member], eps=1e-8)
    for step in range(steps):
        for parameter, gradient in zip(parameters, gradients(members, step, dtype), strict=True):
            parameter.grad = gradient[member].clone()
        if rates.clip[member]:
            nn.utils.clip_grad_norm_(parameters, rates.clip[member])
        adam.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / warmup) if warmup else rate
        if rates.final_rate:
            final, done = rates.final_rate[member], max(0.0, (step - warmup) / max(1, rates.steps - warmup))
            adam.param_groups[0]["lr"] *= final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
        adam.step()
    return [each.detach() for each in parameters]


def assert_same(rates: MemberRates, steps: int, tolerance: float = 1e-13) -> None:
    found = ours(rates, steps)
    for member in range(len(rates.learning_rate)):
        for mine, expected in zip(found, theirs(rates, member, steps), strict=True):
            torch.testing.assert_close(mine[member], expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"weight_decay": (0.0, 0.1, 0.5)},
        {"warmup": (0, 3, 50)},
        {"clip": (0.0, 0.01, 5.0)},
        {"final_rate": (0.0, 1.0, 0.3), "steps": 25},
        {
            "weight_decay": (0.1, 0.0, 0.2),
            "warmup": (10, 0, 4),
            "clip": (0.5, 0.0, 0.001),
            "final_rate": (0.1, 0.0, 1.0),
            "steps": 30,
        },
    ],
    ids=["plain", "decay", "warm-up", "clip", "cosine", "all"],
)
def test_adam_is_that_of_torch(changes: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"weight_decay": (0.0,) * 3, "warmup": (0,) * 3, "clip": (0.0,) * 3}
    assert_same(MemberRates(learning_rate=(0.1, 1e-3, 1e-6), **{**fields, **changes}), steps=25)


def test_without_decay_it_is_also_the_plain_adam() -> None:
    rates = MemberRates((0.05,), (0.0,), (0,), (0.0,))
    parameters = [nn.Parameter(each.detach()[0].clone()) for each in Members(1).parameters()]
    adam = torch.optim.Adam(parameters, lr=0.05)
    for step in range(10):
        for parameter, gradient in zip(parameters, gradients(1, step), strict=True):
            parameter.grad = gradient[0].clone()
        adam.step()
    for mine, expected in zip(ours(rates, 10), parameters, strict=True):
        torch.testing.assert_close(mine[0], expected.detach(), rtol=1e-13, atol=1e-13)


def test_float32_differs_by_rounding_only() -> None:
    rates = MemberRates((0.1, 1e-3), (0.1, 0.0), (5, 0), (0.5, 0.0))
    found = ours(rates, 25, torch.float32)
    for member in range(2):
        for mine, expected in zip(found, theirs(rates, member, 25, torch.float32), strict=True):
            torch.testing.assert_close(mine[member], expected, rtol=2e-6, atol=2e-6)


@settings(max_examples=20, deadline=None)
@given(
    rates=st.lists(
        st.tuples(
            st.floats(1e-6, 1.0),
            st.sampled_from([0.0, 0.01, 0.3]),
            st.integers(0, 6),
            st.sampled_from([0.0, 1e-3, 2.0]),
        ),
        min_size=1,
        max_size=4,
    ),
    steps=st.integers(1, 8),
)
def test_any_mixture_of_members(rates: list[tuple[float, float, int, float]], steps: int) -> None:
    columns = list(zip(*rates, strict=True))
    assert_same(MemberRates(*columns), steps, tolerance=1e-12)


def test_a_member_that_is_not_a_number_leaves_the_others_alone() -> None:
    rates = MemberRates((0.1, 0.1, 0.1), (0.1, 0.1, 0.1), (3, 3, 3), (1.0, 1.0, 1.0))
    model = Members(3)
    flat = FlatParameters(model)
    adam = Adam(flat, rates)
    for step in range(4):
        for parameter, gradient in zip(model.parameters(), gradients(3, step), strict=True):
            assert parameter.grad is not None
            parameter.grad.copy_(gradient)
            parameter.grad[1] = float("nan")
        adam.update()
    for mine in model.parameters():
        assert mine[1].isnan().all()
    for member in (0, 2):
        for mine, expected in zip(model.parameters(), theirs(rates, member, 4), strict=True):
            torch.testing.assert_close(mine.detach()[member], expected, rtol=1e-13, atol=1e-13)


def test_flat_buffers_are_the_parameters_themselves() -> None:
    model = Members(2)
    before = [each.detach().clone() for each in model.parameters()]
    flat = FlatParameters(model)
    for parameter, value in zip(model.parameters(), before, strict=True):
        assert torch.equal(parameter, value)
        assert parameter.data.untyped_storage().data_ptr() == flat.values.untyped_storage().data_ptr()
    rows = flat.by_member(flat.values)
    assert torch.equal(rows[1], torch.cat([value[1].reshape(-1) for value in before]))
    flat.write(flat.values, rows.flip(0))
    assert torch.equal(next(model.parameters()), before[0].flip(0))
    assert (
        flat.spread(torch.tensor([2.0, 3.0])).tolist()
        == torch.cat(
            [torch.tensor([2.0, 3.0])[:, None].expand(2, value[0].numel()).reshape(-1) for value in before]
        ).tolist()
    )
