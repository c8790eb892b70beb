"""The gap that training asks for is the worst one over all texts, and training reaches it."""

import torch

from separatrix.training.ensemble import Ensemble
from separatrix.training.leaks import gaps, leak_losses
from separatrix.training.spec import RunSpec
from tests.kernel.trained_models import every_input, trained

RUN = RunSpec(
    task="index-lookup", task_parameters=(("alphabet", 3),), architecture="TF-(1,8)", length=4, learning_rate=0.01,
    steps=200, leak_margin=4.0,
)  # fmt: skip


def test_the_gap_is_the_least_over_every_text():
    for architecture in ("TF-(1,8)", "TF-(1,8,heads=2)"):
        model = trained(3, 4, 40, architecture)
        inputs = every_input(3, 4)
        weights = model.attention_weights(inputs[None])[0][0, :, :, -1, :-1].double()
        place = (inputs[:, -1] - 3)[:, None, None].expand(-1, weights.shape[1], 1)
        asked = weights.gather(2, place)[..., 0]
        found = asked.log() - (weights.sum(dim=2) - asked).log()
        slow = torch.stack([found[inputs[:, -1] == 3 + p].amin(dim=0) for p in range(4)], dim=1)
        assert torch.allclose(gaps(model, 4)[0].double(), slow, atol=1e-4)


def test_training_with_a_margin_closes_it_member_by_member():
    both = Ensemble([RUN, RUN.with_changes(seed=1)], torch.device("cpu"))
    before = leak_losses(both.model, 4, 4.0).detach()
    both.advance(200)
    after = leak_losses(both.model, 4, 4.0).detach()
    assert (before > 4).all() and (after < 0.5).all()
    alone = Ensemble([RUN.with_changes(seed=1)], torch.device("cpu"))
    assert torch.allclose(leak_losses(alone.model, 4, 4.0)[0], before[1], rtol=1e-4)
