"""The parallel scans against plain loops over the positions, in float64, with derivatives."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from separatrix.models.scans import attention, delta, keywise, selective
from separatrix.models.scans.attention import chunk_size, decayed_attention, decayed_weights, suffix_sums
from separatrix.models.scans.convolution import fast_size, long_convolution, short_convolution, short_convolution_step
from separatrix.models.scans.decays import decays, floor_of, raise_in_place
from separatrix.models.scans.delta import corrected_values, gated_delta_rule
from separatrix.models.scans.keywise import keywise_attention, keywise_weights
from separatrix.models.scans.recurrence import linear_recurrence
from separatrix.models.scans.selective import selective_scan, selective_scan_at

MEMBERS, BATCH, HEADS = 2, 3, 2


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def negative(seed: int, *shape: int) -> Tensor:
    return -2 * torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def same_with_derivatives(fast: Callable[..., Tensor], slow: Callable[..., Tensor], inputs: Sequence[Tensor]) -> None:
    """Equal outputs, and equal derivatives to every input."""
    inputs = [each.clone().requires_grad_() for each in inputs]
    ours, theirs = fast(*inputs), slow(*inputs)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-11)
    weight = normal(99, *ours.shape)
    kept = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
    for mine, other in zip(
        torch.autograd.grad(ours, inputs, weight, **kept),
        torch.autograd.grad(theirs, inputs, weight, **kept),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-10)


def looped_recurrence(decay: Tensor, drive: Tensor) -> Tensor:
    state, states = torch.zeros_like(drive[:, 0]), []
    for position in range(drive.shape[1]):
        state = decay[:, position] * state + drive[:, position]
        states.append(state)
    return torch.stack(states, dim=1)


@settings(max_examples=25, deadline=None)
@given(length=st.integers(1, 70), seed=st.integers(0, 10**6), shared=st.booleans())
def test_linear_recurrence(length: int, seed: int, shared: bool) -> None:
    decay = negative(seed, 2, length, 1 if shared else 3).exp()
    same_with_derivatives(
        lambda a, b: linear_recurrence(a, b, dim=1), looped_recurrence, (decay, normal(seed + 1, 2, length, 3))
    )


def looped_attention(query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor) -> Tensor:
    """log_decay (…, length, K or 1)."""
    state = torch.zeros(*value.shape[:-2], key.shape[-1], value.shape[-1], dtype=value.dtype)
    outputs = []
    for position in range(value.shape[-2]):
        state = log_decay[..., position, :, None].exp() * state
        state = state + key[..., position, :, None] * value[..., position, None, :]
        outputs.append((query[..., position, :, None] * state).sum(-2))
    return torch.stack(outputs, dim=-2)


def sequences(seed: int, length: int, key: int = 4, value: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    shape = (MEMBERS, BATCH, HEADS, length)
    return normal(seed, *shape, key), normal(seed + 1, *shape, key), normal(seed + 2, *shape, value)


@pytest.mark.parametrize(("length", "chunk"), [(1, None), (7, 3), (23, 5), (23, 8), (24, 8), (40, 64), (150, None)])
def test_attention_with_decay(length: int, chunk: int | None) -> None:
    same_with_derivatives(
        lambda q, k, v, g: decayed_attention(q, k, v, g, chunk=chunk),
        lambda q, k, v, g: looped_attention(q, k, v, g.unsqueeze(-1)),
        (*sequences(0, length), negative(3, MEMBERS, BATCH, HEADS, length)),
    )


@pytest.mark.parametrize(("length", "chunk"), [(23, 5), (150, None)])
def test_attention_without_decay(length: int, chunk: int | None) -> None:
    zero = torch.zeros(MEMBERS, BATCH, HEADS, length, 1, dtype=torch.float64)
    same_with_derivatives(
        lambda q, k, v: decayed_attention(q, k, v, chunk=chunk),
        lambda q, k, v: looped_attention(q, k, v, zero),
        sequences(0, length),
    )


def test_attention_with_shared_keys_and_decays() -> None:
    query, key, value = sequences(0, 23)
    decay = negative(3, 1, 1, HEADS, 23)
    same_with_derivatives(
        lambda q, k, v, g: decayed_attention(q[:, :, :1], k[:, :, :1], v, g, chunk=5),
        lambda q, k, v, g: looped_attention(
            q[:, :, :1].expand_as(query), k[:, :, :1].expand_as(key), v, g.expand(MEMBERS, BATCH, -1, -1).unsqueeze(-1)
        ),
        (query, key, value, decay),
    )


@pytest.mark.parametrize("length", [1, 5, 32, 33, 77])
def test_attention_with_a_decay_for_each_key(length: int) -> None:
    query, key, value = sequences(0, length)
    same_with_derivatives(
        keywise_attention, looped_attention, (query, key, value, negative(3, MEMBERS, BATCH, HEADS, length, 4))
    )


def looped_delta(query: Tensor, key: Tensor, value: Tensor, beta: Tensor, log_decay: Tensor) -> Tensor:
    state = torch.zeros(*value.shape[:-2], key.shape[-1], value.shape[-1], dtype=value.dtype)
    identity, outputs = torch.eye(key.shape[-1], dtype=value.dtype), []
    for position in range(value.shape[-2]):
        now, strength = key[..., position, :], beta[..., position, None, None]
        state = log_decay[..., position, None, None].exp() * torch.matmul(
            identity - strength * now.unsqueeze(-1) * now.unsqueeze(-2), state
        )
        state = state + strength * now.unsqueeze(-1) * value[..., position, None, :]
        outputs.append((query[..., position, :, None] * state).sum(-2))
    return torch.stack(outputs, dim=-2)


def delta_inputs(length: int) -> tuple[Tensor, ...]:
    query, key, value = sequences(0, length)
    key = torch.nn.functional.normalize(key, dim=-1)
    shape = (MEMBERS, BATCH, HEADS, length)
    return query, key, value, negative(3, *shape).exp(), negative(4, *shape)


@pytest.mark.parametrize("length", [1, 7, 32, 33, 77])
def test_gated_delta_rule(length: int) -> None:
    same_with_derivatives(gated_delta_rule, looped_delta, delta_inputs(length))


def test_delta_rule_with_one_key_again_and_again() -> None:
    # Powers of the triangular matrix would cancel here; substitution does not.
    query, key, value, _, _ = delta_inputs(77)
    key = key[..., :1, :].expand_as(key)
    one, zero = torch.ones(MEMBERS, BATCH, HEADS, 77), torch.zeros(MEMBERS, BATCH, HEADS, 77)
    inputs = [each.float() for each in (query, key, value, one, zero)]
    exact = looped_delta(*(each.double() for each in inputs))
    torch.testing.assert_close(gated_delta_rule(*inputs).double(), exact, rtol=1e-4, atol=1e-4)


def looped_selective(x: Tensor, step: Tensor, rate: Tensor, write: Tensor, query: Tensor) -> Tensor:
    state, outputs = torch.zeros(*x.shape[:2], *rate.shape[1:], dtype=x.dtype), []
    for position in range(x.shape[2]):
        driven = (step[:, :, position] * x[:, :, position]).unsqueeze(-1) * write[:, :, position, None]
        state = torch.exp(step[:, :, position, :, None] * rate[:, None]) * state + driven
        outputs.append((state * query[:, :, position, None]).sum(-1))
    return torch.stack(outputs, dim=2)


def selective_inputs(length: int, channels: int = 5, states: int = 4) -> tuple[Tensor, ...]:
    shape = (MEMBERS, BATCH, length)
    return (
        normal(0, *shape, channels), -negative(1, *shape, channels), negative(2, MEMBERS, channels, states) * 3,
        normal(3, *shape, states), normal(4, *shape, states),
    )  # fmt: skip


@pytest.mark.parametrize("length", [1, 15, 16, 17, 50])
@pytest.mark.parametrize("tile", [200, 1 << 19])
def test_selective_scan(length: int, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selective, "TILE", tile)
    same_with_derivatives(selective_scan, looped_selective, selective_inputs(length))


def at(tensor: Tensor, read: Tensor) -> Tensor:
    """(members, batch, …, length, k) at read (members, batch, reads)."""
    between = tensor.dim() - 4
    index = read.view(*read.shape[:2], *[1] * between, -1, 1)
    return torch.take_along_dim(tensor, index, dim=-2)


READ = torch.tensor([[[3, 49, 0], [5, 5, 48], [17, 16, 15]]] * MEMBERS)


def test_selective_scan_at_one_position() -> None:
    def direct(*inputs: Tensor) -> Tensor:
        query = at(inputs[4], READ[..., :1]).squeeze(2)
        return selective_scan_at(*inputs[:4], query, READ[..., 0])

    same_with_derivatives(
        direct, lambda *inputs: at(looped_selective(*inputs), READ[..., :1]).squeeze(2), selective_inputs(50)
    )


def test_weights_of_the_past() -> None:
    def direct(query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor) -> Tensor:
        return torch.matmul(decayed_weights(at(query, READ), key, READ, log_decay), value)

    same_with_derivatives(
        direct,
        lambda q, k, v, g: at(looped_attention(q, k, v, g.unsqueeze(-1)), READ),
        (*sequences(0, 50), negative(3, MEMBERS, BATCH, HEADS, 50)),
    )


def test_weights_of_the_past_with_a_decay_for_each_key() -> None:
    def direct(query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor) -> Tensor:
        weights = keywise_weights(at(query, READ[..., :1]).squeeze(3), key, log_decay, READ[..., 0])
        return torch.matmul(weights.unsqueeze(3), value)

    same_with_derivatives(
        direct,
        lambda *inputs: at(looped_attention(*inputs), READ[..., :1]),
        (*sequences(0, 50), negative(3, MEMBERS, BATCH, HEADS, 50, 4)),
    )


@settings(max_examples=25, deadline=None)
@given(
    length=st.integers(1, 60),
    seed=st.integers(0, 10**6),
    # Exponents of the farthest past from almost nothing to far below those whose exponential is a normal number.
    strength=st.sampled_from([1e-3, 1.0, 10.0, 40.0, 300.0, 1e4]),
    data=st.data(),
)
def test_sums_over_the_past_are_the_scans_whatever_the_decays(
    length: int, seed: int, strength: float, data: st.DataObject
) -> None:
    """In float64 with derivatives: cutting off exponents changes neither."""
    numbers = st.lists(st.integers(0, length - 1), min_size=MEMBERS * BATCH, max_size=MEMBERS * BATCH)
    read = torch.tensor(data.draw(numbers)).view(MEMBERS, BATCH, 1)
    shape = (MEMBERS, BATCH, length)
    channels, states, keys = 3, 2, 4
    step, rate = -strength * negative(seed, *shape, channels), negative(seed + 1, MEMBERS, channels, states)
    write, asked = normal(seed + 2, *shape, states), normal(seed + 3, *shape, states)

    def one(x: Tensor, step: Tensor, rate: Tensor, write: Tensor, asked: Tensor) -> Tensor:
        return selective_scan_at(x, step, rate, write, at(asked, read).squeeze(2), read[..., 0])

    given = (normal(seed + 4, *shape, channels) / max(1.0, strength), step, rate, write, asked)
    same_with_derivatives(one, lambda *inputs: at(looped_selective(*inputs), read).squeeze(2), given)
    same_with_derivatives(selective_scan, looped_selective, given)

    decay = strength * negative(seed + 5, MEMBERS, BATCH, HEADS, length, keys)
    same_with_derivatives(
        lambda q, k, v, g: torch.matmul(keywise_weights(at(q, read).squeeze(3), k, g, read[..., 0]).unsqueeze(3), v),
        lambda *inputs: at(looped_attention(*inputs), read),
        (*sequences(seed, length), decay),
    )
    same_with_derivatives(
        lambda q, k, v, g: torch.matmul(decayed_weights(at(q, read), k, read, g), v),
        lambda q, k, v, g: at(looped_attention(q, k, v, g.unsqueeze(-1)), read),
        (*sequences(seed, length), decay[..., 0]),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_decays_are_exponentials_down_to_the_smallest_normal_numbers(dtype: torch.dtype) -> None:
    tiny = torch.finfo(dtype).tiny
    floor = floor_of(dtype)
    assert tiny <= math.exp(floor) < 2 * tiny
    exponent = torch.linspace(0.0, 2 * floor, 4001, dtype=dtype).requires_grad_()
    found = decays(exponent)
    expected = torch.where(exponent > floor + 1, torch.exp(exponent), 0.0)
    near = (exponent > floor) & (exponent <= floor + 1)
    torch.testing.assert_close(found[~near], expected[~near], rtol=1e-6, atol=0.0)
    assert bool((found[near] <= math.exp(floor + 1)).all()) and bool((found[exponent <= floor] == 0).all())
    (slope,) = torch.autograd.grad(found.sum(), exponent)
    assert torch.equal(slope, found)
    written_over = exponent.detach().clone()
    assert raise_in_place(written_over) is written_over and torch.equal(written_over, found)


def test_the_past_of_corrected_values() -> None:
    def direct(query: Tensor, key: Tensor, value: Tensor, beta: Tensor, log_decay: Tensor) -> Tensor:
        corrected = corrected_values(key, value, beta, log_decay)
        return torch.matmul(decayed_weights(at(query, READ), key, READ, log_decay), corrected)

    same_with_derivatives(direct, lambda *inputs: at(looped_delta(*inputs), READ), delta_inputs(50))


@pytest.mark.parametrize("length", [1, 2, 11, 50])
def test_long_convolution(length: int) -> None:
    def slow(x: Tensor, kernel: Tensor) -> Tensor:
        return torch.stack(
            [
                sum((kernel[:, None, t - s] * x[:, :, s] for s in range(t + 1)), torch.zeros_like(x[:, :, 0]))
                for t in range(length)
            ],
            dim=2,
        )

    same_with_derivatives(long_convolution, slow, (normal(0, MEMBERS, BATCH, length, 3), normal(1, MEMBERS, length, 3)))


@pytest.mark.parametrize("biased", [False, True])
def test_short_convolution_is_that_of_torch(biased: bool) -> None:
    x, weight, bias = normal(0, MEMBERS, BATCH, 11, 6), normal(1, MEMBERS, 6, 4), normal(2, MEMBERS, 6)
    ours = short_convolution(x, weight, bias if biased else None)
    for member in range(MEMBERS):
        padded = torch.nn.functional.pad(x[member].mT, (3, 0))
        theirs = torch.conv1d(padded, weight[member].unsqueeze(1), bias[member] if biased else None, groups=6)
        torch.testing.assert_close(ours[member], theirs.mT)
    window, steps = torch.zeros(MEMBERS, BATCH, 3, 6, dtype=torch.float64), []
    for position in range(11):
        output, window = short_convolution_step(x[:, :, position], window, weight, bias if biased else None)
        steps.append(output)
    torch.testing.assert_close(torch.stack(steps, dim=2), ours)


@pytest.mark.parametrize("strength", [0.0, 1.0, 30.0, 500.0])
def test_strong_and_weak_decays_stay_finite(strength: float) -> None:
    """In float32 over 4096 positions: no overflow forwards or backwards, whatever the gates."""
    length = 4096
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, 1, 1, length, 4, generator=generator, requires_grad=True) for _ in range(3))
    decay = (-strength * torch.rand(1, 1, 1, length, 4, generator=generator)).requires_grad_()
    unit = torch.nn.functional.normalize(key, dim=-1)
    beta = torch.rand(1, 1, 1, length, generator=generator)
    outputs = [
        decayed_attention(query, key, value, decay[..., 0]),
        keywise_attention(query, key, value, decay),
        gated_delta_rule(query, unit, value, beta, decay[..., 0]),
        selective_scan(value[:, 0], -decay[:, 0], -torch.ones(1, 4, 3), query[:, 0, :, :, :3], key[:, 0, :, :, :3]),
    ]
    for output in outputs:
        assert output.isfinite().all()
    for gradient in torch.autograd.grad(sum(each.sum() for each in outputs), (query, key, value, decay)):
        assert gradient.isfinite().all()


def test_sizes() -> None:
    for length in range(1, 600):
        size = chunk_size(length)
        assert size <= max(attention.ONE_CHUNK, attention.CHUNK)
        assert -(-length // size) * size - length < 8 * -(-length // size)
        best = fast_size(length)
        assert best >= length and best % 2 == 0
        for prime in (2, 3, 5):
            while best % prime == 0:
                best //= prime
        assert best == 1


def test_suffix_sums_leave_out_the_own_entry() -> None:
    x = normal(0, 2, 7)
    expected = torch.stack([x[:, position + 1 :].sum(1) for position in range(7)], dim=1)
    torch.testing.assert_close(suffix_sums(x, -1), expected)


def test_chunks_are_smaller_than_the_lengths_tested() -> None:
    assert max(delta.CHUNK, keywise.CHUNK) < 77 and selective.CHUNK < 50 and attention.ONE_CHUNK < 150
