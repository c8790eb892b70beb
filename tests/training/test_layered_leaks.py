"""What training asks of two layers: the worst leak over all inputs, member by member, and training reaches it."""

import itertools
import math

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models import linear
from separatrix.models.certify_two_layers import lookup_groups
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.tasks.automata import labelled_task
from separatrix.training.ensemble import Ensemble
from separatrix.training.layered_leaks import asked_gaps, behind, layered_losses, local_gaps
from separatrix.training.leaks import check_leaks
from separatrix.training.spec import RunSpec


def made(label, length, seeds):
    """Models whose weights are far from their small starts, so that attention differs; and the groups."""
    task = labelled_task(label)
    model = model_for_task(parse_spec("TF-(2,8,heads=2)"), task, length, seeds=seeds)
    generator = torch.Generator().manual_seed(3)
    for each in model.parameters():
        each.data += 0.3 * torch.randn(each.shape, generator=generator)
    return model.eval(), lookup_groups(task, length)


@pytest.mark.parametrize(("label", "length"), [("index-lookup:alphabet=3", 3), ("associative-recall:keys=3", 2)])
@torch.no_grad()
def test_the_local_gap_is_the_least_over_every_text(label, length):
    model, groups = made(label, length, [0])
    places = [*(groups.tokens * groups.number), groups.asking]
    # Texts are all products: what is promised of keys is not known to the first layer.
    inputs = torch.tensor(list(itertools.product(*places)))
    weights = model.attention_weights(inputs[None], layers=[0])[0][0].double()
    found = local_gaps(model, model.blocks[0], groups)
    for at, tokens in enumerate(places):
        kind = at % groups.size if at < len(places) - 1 else groups.size
        first = at - kind if at < len(places) - 1 else at
        shown = found[kind][0].unflatten(1, (-1, len(tokens)))[:, at // groups.size if kind < groups.size else 0]
        for number, token in enumerate(tokens):
            kept = weights[inputs[:, at] == token, :, at, first]
            slow = (kept.log() - (1 - kept).clamp(min=1e-300).log()).amin(dim=0)
            if at > first or first > 0:
                least = shown[:, number].double()
                # Tokens at the first place of the group and elsewhere are chosen one by one.
                assert torch.allclose(least, slow, atol=1e-4) if at == first else (least <= slow + 1e-4).all()


@torch.no_grad()
def test_the_asked_gap_is_the_least_over_all_groups():
    model, groups = made("associative-recall:keys=3", 2, [0])
    second = model.blocks[1]
    keys, asked = behind(model, model.blocks[0], groups)
    found = asked_gaps(second, keys, asked, groups)[0]
    mixer = second.mixer
    weight, bias = (each[..., : 2 * mixer.width] for each in (mixer.project.weight, mixer.project.bias))

    def parts(x):
        flat = linear(second.norm(x[None]), weight, bias)[0]
        return flat.view(*x.shape[:-1], 2, mixer.heads, mixer.dimension).unbind(dim=-3)

    query, key = parts(asked[0])[0], parts(keys[0])[1]
    symbols = list(itertools.product(*groups.tokens))
    for head in range(mixer.heads):
        slow = []
        for q, p in itertools.product(range(3), range(2)):
            score = (query[q, 0, head] * key[:, :, :, head]).sum(dim=-1) * mixer.scale
            own = min(math.log(sum(score[p, s].exp())) for s, held in enumerate(symbols) if held[0] == q)
            rest = [s for s, held in enumerate(symbols) if held[0] != q]
            other = sum(math.exp(max(score[1 - p, s, i] for s in rest)) for i in range(2))
            slow.append(own - math.log(other))
        assert torch.allclose(found[head], torch.tensor(slow), atol=1e-4)


def test_losses_belong_to_their_members_and_training_lowers_them():
    model, groups = made("associative-recall:keys=3", 2, [0, 1])
    for done in (0.0, 0.5, 1.0):
        both = layered_losses(model, groups, 6.0, torch.tensor(done))
        alone = [layered_losses(model.member(number), groups, 6.0, torch.tensor(done)) for number in range(2)]
        assert torch.allclose(both, torch.cat(alone), rtol=1e-4)
    run = RunSpec(
        task="index-lookup", task_parameters=(("alphabet", 3),), architecture="TF-(2,8)", length=3, learning_rate=0.01,
        steps=200, leak_margin=4.0,
    )  # fmt: skip
    trained = Ensemble([run], torch.device("cpu"))
    assert trained.groups is not None
    before = layered_losses(trained.model, trained.groups, 4.0, torch.tensor(1.0))
    trained.advance(200)
    after = layered_losses(trained.model, trained.groups, 4.0, torch.tensor(1.0))
    assert float(after.detach()) < float(before.detach()) / 2


def test_what_two_layers_are_not_certified_for_is_refused():
    common = {"learning_rate": 0.01, "steps": 5, "leak_margin": 4.0}
    check_leaks(RunSpec(task="associative-recall", architecture="TF-(2,8)", length=3, **common))
    for task, architecture, length in (
        ("associative-recall", "TF-(1,8)", 3), ("associative-recall", "TF-(2,8,positions=rotary)", 3),
        ("mqar", "TF-(2,8)", 4), ("equality", "TF-(2,8)", 4), ("associative-recall", "TF-(3,8)", 3),
    ):  # fmt: skip
        with pytest.raises(SeparatrixError):
            check_leaks(RunSpec(task=task, architecture=architecture, length=length, **common))
