"""Tubes around the states of recurrent networks: intervals against steps, words of a run, members apart."""

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.block import Block
from separatrix.models.mixers.recurrent import TorchLayerMixer
from separatrix.models.recurrent_files import answers_to_words, levels
from separatrix.tasks import tasks
from separatrix.training.ensemble import Ensemble
from separatrix.training.spec import RunSpec
from separatrix.training.trained import untrained_model
from separatrix.training.tubes import (
    _images,
    _states,
    check_tubes,
    mixed_words,
    radius_at,
    rounded_run,
    tables_of,
    tube_losses,
)

RUN = RunSpec(task="dyck", architecture="GRU-(1,6)", length=8, learning_rate=0.01, steps=40, batch=16, state_radius=0.1)
MAMBA = RUN.with_changes(architecture="Mamba-(1,6,state=2)", state_radius=0.25)
CELLS = ("RNN-(1,6)", "GRU-(1,6)", "LSTM-(1,6)")


@pytest.mark.parametrize("architecture", CELLS)
def test_images_hold_the_steps_of_all_states_in_the_tube(architecture):
    model = untrained_model(RUN.with_changes(architecture=architecture))
    block = model.blocks[0]
    assert isinstance(block, Block) and isinstance(block.mixer, TorchLayerMixer)
    generator, radius = torch.Generator().manual_seed(0), torch.tensor(0.3)
    words = torch.randint(0, 4, (1, 5, 7), generator=generator)
    x = model.embedding(words)
    states = _states(block.mixer, x)
    before = torch.cat([torch.zeros_like(states[:, :, :, :1]), states[:, :, :, :-1]], dim=3)
    images = list(zip(*_images(block.mixer, x, before, radius), strict=True))
    state = block.mixer.initial_state(5)
    for place in range(7):
        for _ in range(20):
            moved = tuple(part + (2 * torch.rand(part.shape, generator=generator) - 1) * radius for part in state)
            _, after = block.mixer.step(x[:, :, place], moved)
            for (low, high), part in zip(images, after, strict=True):
                assert bool(((low[:, :, place] <= part + 1e-6) & (part <= high[:, :, place] + 1e-6)).all())
        _, state = block.mixer.step(x[:, :, place], state)
        for found, part in zip(states, state, strict=True):
            assert torch.allclose(found[:, :, place], part, atol=1e-5)


def test_words_are_a_function_of_the_inputs_and_reach_every_state():
    tables = tables_of(tasks()["dyck"])
    inputs = torch.randint(0, 4, (2, 256, 10), generator=torch.Generator().manual_seed(1))
    words = mixed_words(inputs, tables)
    assert torch.equal(words, mixed_words(inputs, tables))
    assert torch.equal(words[:, ::4], inputs[:, ::4])
    # A member's words do not depend on the others.
    assert torch.equal(words[1:], mixed_words(inputs[1:], tables))
    state, seen = torch.zeros(2, 256, dtype=torch.int64), set()
    for place in range(10):
        pairs = state * 4 + words[:, :, place]
        seen |= set(pairs.flatten().tolist())
        state = tables.steps[state, words[:, :, place]]
    assert seen == set(range(4 * len(tables.answers)))


def test_members_do_not_mix_and_training_lowers_the_loss():
    both = Ensemble([RUN, RUN.with_changes(seed=1)], torch.device("cpu"))
    inputs = torch.randint(0, 4, (1, 16, 8), generator=torch.Generator().manual_seed(2))
    words, radius = mixed_words(inputs, both.automaton).expand(2, -1, -1), torch.tensor(0.05)
    together = tube_losses(both.model, both.automaton, words, radius, 0.05).detach()
    for member in range(2):
        alone = tube_losses(both.model.member(member), both.automaton, words[:1], radius, 0.05)
        assert torch.allclose(together[member], alone[0], atol=1e-5)
    both.advance(40)
    assert bool((tube_losses(both.model, both.automaton, words, radius, 0.05) < together).all())


def test_mambas_words_run_as_its_rounded_state_does_token_by_token():
    model = untrained_model(MAMBA)
    words = torch.randint(0, 4, (1, 32, 9), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 3
        for share, bits in ((0.0, 0), (1.0, 2)):
            logits, states = rounded_run(model, model.blocks[0], words, torch.tensor(share), 0.25)
            state = model.initial_state(32)
            for place in range(9):
                found, ((window, numbers),) = model.step(words[:, :, place], state)
                assert torch.allclose(found, logits[:, :, place], atol=1e-4)
                assert torch.allclose(numbers, states[:, :, place], atol=1e-5)
                state = ((window, levels(numbers, bits) if bits else numbers),)
            answers = answers_to_words(model, words[0], bits)
            assert float((answers == logits[0].argmax(dim=-1)).float().mean()) > 0.99


def test_mamba_learns_with_a_rounded_state_and_members_do_not_mix():
    both = Ensemble([MAMBA, MAMBA.with_changes(seed=1)], torch.device("cpu"))
    inputs = torch.randint(0, 4, (1, 16, 8), generator=torch.Generator().manual_seed(2))
    words = mixed_words(inputs, both.automaton).expand(2, -1, -1)

    def total(model, words):
        return tube_losses(model, both.automaton, words, torch.tensor(0.25), 0.25).detach()

    together = total(both.model, words)
    for member in range(2):
        assert torch.allclose(together[member], total(both.model.member(member), words[:1])[0], atol=1e-5)
    both.advance(40)
    assert bool((total(both.model, words) < together).all())


@pytest.mark.parametrize("radius", [0.04, 0.3, 1.0, 2.0**-17])
def test_a_radius_that_is_not_that_of_a_rounding_is_refused(radius):
    check_tubes(MAMBA)
    with pytest.raises(SeparatrixError, match="2\\^-p"):
        check_tubes(MAMBA.with_changes(state_radius=radius))


def test_the_radius_grows_to_what_was_asked_for():
    found = [float(radius_at(RUN, torch.tensor(step))) for step in (0, 16, 22, 28, 40)]
    assert found == pytest.approx([0, 0, 0.05, 0.1, 0.1])


def test_a_radius_for_what_cannot_be_certified_is_refused():
    for changes in ({"task": "majority"}, {"architecture": "GRU-(2,6)"}, {"precision": "float64"}):
        with pytest.raises(SeparatrixError):
            check_tubes(RUN.with_changes(**changes))
        with pytest.raises(SeparatrixError):
            Ensemble([RUN.with_changes(**changes)], torch.device("cpu"))
