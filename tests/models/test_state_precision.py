"""Theorem 2's protocol on trainable models: what is sent, what arrives, and what rounding does to the answers."""

from dataclasses import replace

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.naming import parse_spec
from separatrix.models.state_precision import (
    PrecisionPoint,
    Quantiser,
    from_numbers,
    prefix_cut,
    state_precision,
    to_numbers,
)
from separatrix.models.task_model import model_for_task
from separatrix.tasks import draws_from, tasks
from tests.models.architecture_cases import RECURRENT, WIDTH

LOOKUP = tasks()["index-lookup"]


def seen_after(model, cells, cut):
    """The state after the cut and a quantiser for what was seen there."""
    state = model.initial_state(cells.shape[1])
    for position in range(cut):
        _, state = model.step(cells[:, :, position], state)
    numbers = to_numbers(state)
    return state, lambda bits: Quantiser(numbers.amin(dim=1), numbers.amax(dim=1), bits)


@pytest.mark.parametrize("name", RECURRENT)
def test_the_state_of_every_recurrent_architecture_becomes_numbers_and_back(name):
    spec = ModelSpec((name, name), WIDTH)
    model = model_for_task(spec, LOOKUP, 10, seeds=[1], dtype=torch.float64)
    cells = torch.randint(64, (1, 20, 11), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        state, _ = seen_after(model, cells, 7)
        again = from_numbers(to_numbers(state), state)
        for before, after in zip(state, again, strict=True):
            for first, second in zip(before, after, strict=True):
                assert torch.equal(first, second)


@settings(deadline=None)
@given(st.integers(1, 24), st.integers(0, 99))
def test_rounding_moves_a_number_by_at_most_half_a_step(bits, seed):
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(2, 5, 3, dtype=torch.float64, generator=generator)
    least, largest = numbers.amin(dim=1), numbers.amax(dim=1)
    quantiser = Quantiser(least, largest, bits)
    codes = quantiser.codes(numbers)
    assert codes.min() >= 0 and codes.max() < 2**bits
    step = (largest - least).unsqueeze(1) / (2**bits - 1)
    assert torch.all((quantiser.rounded(numbers) - numbers).abs() <= step / 2 + 1e-12)
    torch.testing.assert_close(quantiser.codes(quantiser.values(codes)), codes)
    # What lies outside is moved to the nearest end.
    torch.testing.assert_close(quantiser.rounded(largest.unsqueeze(1) + 5.0), largest.unsqueeze(1))


def test_a_number_that_never_changes_comes_back():
    constant = torch.full((1, 1), 0.25)
    for bits in (0, 1, 8):
        quantiser = Quantiser(constant, constant, bits)
        assert torch.equal(quantiser.rounded(torch.full((1, 4, 1), 0.25)), torch.full((1, 4, 1), 0.25))


def remembering(length: int):
    """A recurrent network with hand-set weights that counts ones minus zeros, and the task that asks for its sign."""
    task = tasks()["majority"]
    model = model_for_task(parse_spec("RNN-(1,4)"), task, length, seeds=[0], dtype=torch.float64)
    mixer = model.blocks[0].mixer
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight[0, 1, 0] = 1.0
        model.embedding.weight[0, 0, 0] = -1.0
        # tanh is nearly linear near zero: h counts ones minus zeros in units of 1/1000.
        mixer.input_weight[0, 0, 0] = 1e-3
        mixer.state_weight[0, 0, 0] = 1.0
        model.readout.weight[0, 0, 1] = 1.0
    return model, task


def test_accuracy_falls_where_the_bits_no_longer_hold_the_count():
    """A counter needs about log₂ N bits; with fewer its answers near the threshold become wrong."""
    length = 15
    model, task = remembering(length)
    report = state_precision(model, task, length, bits=(1, 2, 6, 10), cut=length - 1, examples=200)
    assert report.unrounded == (1.0,)
    accuracy = {point.bits: point.accuracy[0] for point in report.points}
    assert accuracy[10] == 1.0
    assert accuracy[1] < 0.95
    assert report.bits_used() in (6, 10)
    assert [point.message_bits for point in report.points] == [4, 8, 24, 40]
    everywhere = state_precision(model, task, length, bits=(2, 12), cut=length - 1, examples=200, where="every step")
    assert everywhere.unrounded == (1.0,)
    assert everywhere.points[0].accuracy[0] < everywhere.points[1].accuracy[0]


def test_bits_used_needs_all_finer_points_too():
    model, task = remembering(7)
    report = state_precision(model, task, 7, bits=(1, 8), examples=50)
    data = report.as_data()
    assert data["state_numbers"] == 4 and len(data["points"]) == 2
    for accuracy, used in (
        ({2: 0.9, 4: 0.995, 8: 1.0}, 4),
        ({2: 1.0, 4: 0.9, 8: 1.0}, 8),
        ({8: 1.0, 2: 0.9, 4: 1.0}, 4),
        ({2: 1.0}, 2),
        ({2: 1.0, 8: 0.9}, None),
    ):
        points = tuple(PrecisionPoint(bits, 4 * bits, (each,)) for bits, each in accuracy.items())
        assert replace(report, points=points, unrounded=(1.0,)).bits_used() == used


def test_where_whole_strings_count_one_wrong_answer_makes_a_string_wrong():
    task = tasks()["eq-ncp"]
    model = model_for_task(parse_spec("RNN-(1,8)"), task, 8, seeds=[0, 1])
    report = state_precision(model, task, 8, bits=(24,), examples=40)
    fresh = task.sample(draws_from(1), 40, 8)
    with torch.no_grad():
        found = model(torch.from_numpy(fresh.inputs).expand(2, -1, -1)).argmax(dim=-1).numpy()
    asked = fresh.read & (numpy.arange(fresh.read.shape[1]) >= report.cut)
    right = ((found == fresh.targets) | ~asked).all(axis=-1).mean(axis=-1)
    assert report.unrounded == tuple(right)


def test_complex_numbers_are_sent_as_two():
    state = ((torch.randn(2, 3, 4), torch.randn(2, 3, 2, 2, dtype=torch.complex64)), (torch.randn(2, 3, 1),))
    numbers = to_numbers(state)
    assert numbers.shape == (2, 3, 4 + 2 * 4 + 1)
    for before, after in zip(state, from_numbers(numbers, state), strict=True):
        assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_members_are_measured_side_by_side():
    model = model_for_task(parse_spec("LSTM-(1,16)"), LOOKUP, 10, seeds=[0, 1], dtype=torch.float64)
    both = state_precision(model, LOOKUP, 10, bits=(3, 9), examples=64)
    for member in range(2):
        alone = state_precision(model.member(member), LOOKUP, 10, bits=(3, 9), examples=64)
        assert alone.unrounded == (both.unrounded[member],)
        assert [point.accuracy[0] for point in alone.points] == [point.accuracy[member] for point in both.points]


def test_the_cut_of_a_task():
    assert prefix_cut(LOOKUP, 20) == 20
    assert 0 < prefix_cut(tasks()["dyck"], 20) < tasks()["dyck"].positions(20)


def test_bad_input():
    model = model_for_task(parse_spec("LSTM-(1,16)"), LOOKUP, 10, seeds=[0])
    with pytest.raises(SeparatrixError, match="leaves one side nothing"):
        state_precision(model, LOOKUP, 10, cut=11)
    with pytest.raises(SeparatrixError, match="out of range"):
        state_precision(model, LOOKUP, 10, bits=(40,))
    with pytest.raises(SeparatrixError, match="no step form"):
        state_precision(model_for_task(parse_spec("TF-(1,16)"), LOOKUP, 10, seeds=[0]), LOOKUP, 10)
    averaging = tasks()["sparse-averaging"]
    with pytest.raises(SeparatrixError, match="vectors"):
        state_precision(model_for_task(parse_spec("LSTM-(1,16)"), averaging, 10, seeds=[0]), averaging, 10)
    with pytest.raises(SeparatrixError, match="no member 3 of 1"):
        model.member(3)
