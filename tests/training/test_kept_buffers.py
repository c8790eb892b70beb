"""Buffers of users' own modules: kept in checkpoints and weights, for each member, whoever leaves the group."""

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.saved_tensors import fill, kept_buffers, kept_tensors
from separatrix.training.checkpoints import part_of, read_checkpoint, weights_of
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Finished, Saved
from separatrix.training.group import train
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.train_runs import train_runs
from separatrix.training.trained import trained_model, untrained_model
from tests.training.cases import grid

CPU = torch.device("cpu")
MODULE = "tests.models.user_modules:Smoothed"
LEVEL = "blocks.0.mixer.module/level"
COUNT = "blocks.0.mixer.module/norm/num_batches_tracked"


def runs(count=3, **changes):
    settings = {"architecture": f"{MODULE}-(1,8)", "steps": 12, "evaluate_every": 4, "goal": 0.0, **changes}
    return grid(count, **settings)


def weights(events):
    """What every run ended with, by name."""
    found = {}
    for event in events:
        if isinstance(event, Finished):
            found |= {each.run: weights_of(event.weights, each.run) for each in event.results}
    return found


def same(one, other):
    assert one.keys() == other.keys()
    for run in one:
        assert one[run].keys() == other[run].keys()
        assert all(torch.equal(value, other[run][name]) for name, value in one[run].items())


@pytest.mark.parametrize("members", [1, 3])
def test_an_interrupted_group_ends_with_the_same_statistics(members):
    group = Group(runs(members))
    whole = weights(train(group, CPU))
    assert {int(each[COUNT]) for each in whole.values()} == {12}
    assert all(bool(each[LEVEL].abs().sum() > 0) for each in whole.values())
    first = list(train(group, CPU, save_every_seconds=0.0, stopped=iter([False] * 5 + [True]).__next__))
    saved = [event for event in first if isinstance(event, Saved)][-1]
    assert 0 < saved.step < 12 and not weights(first)
    same(weights(train(group, CPU, saved.content)), whole)


def test_who_stays_keeps_its_statistics_when_others_leave():
    specs = runs(4)
    found = weights(train(Group(specs, rungs=(4, 8)), CPU))
    assert sorted(int(each[COUNT]) for each in found.values()) == [4, 4, 8, 12]
    alone = weights(train(Group(specs), CPU))
    (last,) = [run for run, each in found.items() if int(each[COUNT]) == 12]
    torch.testing.assert_close(found[last][LEVEL], alone[last][LEVEL])


def test_half_of_a_checkpoint_has_the_buffers_of_its_members():
    group = Group(runs(3))
    events = train(group, CPU, save_every_seconds=0.0)
    whole = read_checkpoint(next(each for each in events if isinstance(each, Saved)).content, group.name)
    part = Group(group.specs[1:])
    half = read_checkpoint(part_of(whole, part.name, [spec.name for spec in part.specs]), part.name)
    assert torch.equal(half.tensors[f"buffer/{LEVEL}"], whole.tensors[f"buffer/{LEVEL}"][1:])
    ensemble = Ensemble(part.specs, CPU)
    ensemble.load(half.tensors, half.step)
    assert torch.equal(ensemble.kept[LEVEL], whole.tensors[f"buffer/{LEVEL}"][1:])


@pytest.mark.parametrize("change", ["lost", "other"])
def test_a_checkpoint_with_other_buffers_is_refused(change):
    ensemble = Ensemble(runs(2), CPU)
    tensors = ensemble.tensors()
    level = tensors.pop(f"buffer/{LEVEL}")
    if change == "other":
        tensors[f"buffer/{LEVEL}"] = level[:, :-1]
    with pytest.raises(SeparatrixError, match=r"other buffers than .*; train again with --fresh"):
        ensemble.load(tensors, 3)


def test_an_evaluation_leaves_statistics_as_they_are():
    ensemble = Ensemble(runs(2), CPU)
    ensemble.advance(2)
    before = {name: each.clone() for name, each in kept_tensors(ensemble.model).items()}
    first = ensemble.accuracy(64, "probe", 0)
    assert first == ensemble.accuracy(64, "probe", 0)
    assert all(torch.equal(each, before[name]) for name, each in kept_tensors(ensemble.model).items())
    assert ensemble.model.training


def test_a_trained_model_comes_back_with_its_statistics(tmp_path):
    store = tmp_path / "runs.sqlite"
    records = train_runs(runs(2), store, device="cpu")
    with Records(store) as opened:
        for record in records:
            model = trained_model(record, opened.files, trusted=[MODULE])
            assert not model.training
            assert int(kept_buffers(model)[COUNT]) == record.spec.steps
            # Asked as in training, it answers what was recorded.
            ensemble = Ensemble([record.spec], CPU)
            fill(ensemble.model, {name: each[0] for name, each in kept_tensors(model).items()})
            assert ensemble.accuracy(record.spec.evaluation_examples, "evaluation", 0) == [record.result.accuracy]


def test_weights_without_the_buffers_do_not_fit():
    model = untrained_model(runs(1)[0], trusted=[MODULE])
    kept = {name: each[0] for name, each in kept_tensors(model).items() if name != LEVEL}
    with pytest.raises(SeparatrixError, match="level is missing or of another shape"):
        fill(model, kept)
