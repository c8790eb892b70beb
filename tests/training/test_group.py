"""A group of runs from start to end: who leaves when and why, and that stopping in between changes nothing."""

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.training import group as group_module
from separatrix.training.checkpoints import read_checkpoint, weights_of
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Event, Finished, Point, Progress, Result, Saved, Snapshot
from separatrix.training.group import train
from separatrix.training.grouping import Group, halving_rungs
from tests.training.cases import CPU, grid, tiny

COMPETING = Group(grid(5, steps=24, evaluate_every=4, snapshots=(0, 6, 16)), rungs=(4, 8))


class After:
    """Says stop after being asked some number of times."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def timeless(event: Event) -> Any:
    """An event without its times; weights as bytes."""
    if isinstance(event, Progress):
        return ("progress", event.step, event.points)
    if isinstance(event, Finished):
        results = [(r.run, r.ending, r.step, r.accuracy, repr(r.loss), r.parameters) for r in event.results]
        return ("finished", results, event.weights)
    if isinstance(event, Snapshot):
        return ("snapshot", event.step, event.runs, event.weights)
    return None


def told(events: Iterator[Event]) -> list[Any]:
    return [each for each in map(timeless, events) if each is not None]


@cache
def saved_at_every_step() -> list[Event]:
    return list(train(COMPETING, CPU, save_every_seconds=0.0))


@cache
def undisturbed() -> list[Any]:
    return told(train(COMPETING, CPU))


def results(group: Group, **more: Any) -> dict[str, Result]:
    events = list(train(group, CPU, **more))
    found = [result for event in events if isinstance(event, Finished) for result in event.results]
    assert sorted(result.run for result in found) == sorted(spec.name for spec in group.specs), "each ends once"
    return {result.run: result for result in found}


# -- stopping and going on -------------------------------------------------------------------------------


@settings(max_examples=14, deadline=None)
@given(stops=st.lists(st.integers(0, 13), max_size=4))
def test_stopping_at_any_step_changes_nothing(stops: list[int]) -> None:
    """Stops after any number of steps, several times, also at evaluations, rungs and snapshots."""
    found: list[Any] = []
    checkpoint: bytes | None = None
    for stop in [*stops, 10**6]:
        events = list(train(COMPETING, CPU, checkpoint, stopped=After(stop)))
        found += told(iter(events))
        if isinstance(events[-1], Finished):
            break
        assert isinstance(events[-1], Saved)
        checkpoint = events[-1].content
    assert found == undisturbed()


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_going_on_from_any_checkpoint_changes_nothing(data: st.DataObject) -> None:
    """As after a kill: whatever was reported after the last checkpoint is reported again, the same."""
    events = saved_at_every_step()
    saves = [place for place, event in enumerate(events) if isinstance(event, Saved)]
    assert len(saves) == 23
    place = data.draw(st.sampled_from(saves))
    saved = events[place]
    assert isinstance(saved, Saved)
    before = told(iter(events[:place]))
    assert before + told(train(COMPETING, CPU, saved.content)) == undisturbed()


def test_every_step_can_be_saved_even_where_every_step_is_evaluated() -> None:
    group = Group(grid(2, steps=5, evaluate_every=1))
    events = list(train(group, CPU, save_every_seconds=0.0))
    assert [event.step for event in events if isinstance(event, Saved)] == [1, 2, 3, 4]
    assert [event.step for event in events if isinstance(event, Progress)] == [1, 2, 3, 4, 5]


def test_the_last_points_loss_is_a_mean_over_the_steps_since_the_one_before() -> None:
    group = Group((tiny(steps=25, evaluate_every=20, precision="float64"),))
    points = [event.points[0] for event in train(group, CPU) if isinstance(event, Progress)]
    assert [point.step for point in points] == [20, 25]
    ensemble = Ensemble(group.specs, CPU)
    ensemble.advance(20)
    first, _ = ensemble.training_metrics()
    ensemble.advance(5)
    second, accuracy = ensemble.training_metrics()
    assert [point.loss for point in points] == [first[0] / 20, second[0] / 5]
    assert points[1].training_accuracy == accuracy[0]


def test_a_checkpoint_names_who_is_still_in_training() -> None:
    events = list(train(COMPETING, CPU))
    sizes = [len(read_checkpoint(e.content, COMPETING.name).runs) for e in events if isinstance(e, Saved)]
    assert sizes == [3, 2]


def test_snapshots_are_the_weights_at_their_steps() -> None:
    events = list(train(COMPETING, CPU))
    found = {event.step: event for event in events if isinstance(event, Snapshot)}
    assert {step: len(event.runs) for step, event in found.items()} == {0: 5, 6: 3, 16: 2}
    last = COMPETING.specs[0]
    ensemble = Ensemble(COMPETING.specs, CPU)
    start = dict(ensemble.model.named_parameters())
    for name, value in weights_of(found[0].weights, last.name).items():
        assert torch.equal(value, start[name][0])
    with pytest.raises(SeparatrixError, match="holds no weights of run"):
        weights_of(found[16].weights, "0123456789abcdef")


# -- who leaves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "members", "every", "expected"),
    [
        (8000, 7, 500, (2000, 4000)),
        (8000, 8, 500, (2000, 4000)),
        (8000, 9, 500, (1000, 2000, 4000)),
        (8000, 2, 500, ()),
        (8000, 1, 500, ()),
        (8000, 3, 3000, (3000,)),
        (1000, 16, 500, (500,)),
    ],
)
def test_rungs_double_and_fall_on_evaluations(steps: int, members: int, every: int, expected: tuple[int, ...]) -> None:
    found = halving_rungs(steps, members, every)
    assert found == expected
    assert all(rung % every == 0 for rung in found)


@given(st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 10**4))
def test_rungs_are_few_and_ascend(steps: int, members: int, every: int) -> None:
    found = halving_rungs(steps, members, every)
    assert list(found) == sorted(set(found))
    assert all(rung % every == 0 and rung >= 1 for rung in found)
    assert all(rung <= max(every, steps // 2) for rung in found)


def test_the_better_half_survives_each_rung() -> None:
    points: dict[int, tuple[Point, ...]] = {}
    endings: dict[str, Result] = {}
    for event in train(COMPETING, CPU):
        if isinstance(event, Progress):
            points[event.step] = event.points
        if isinstance(event, Finished):
            endings |= {result.run: result for result in event.results}
    assert sorted((result.step, result.ending) for result in endings.values()) == [
        (4, "pruned"), (4, "pruned"), (8, "pruned"), (24, "steps"), (24, "steps"),
    ]  # fmt: skip
    for rung in COMPETING.rungs:
        order = {point.run: (-point.accuracy, point.loss) for point in points[rung]}
        left = [run for run in order if endings[run].step == rung]
        stayed = [run for run in order if endings[run].step > rung]
        assert len(left) == len(order) // 2
        assert max(order[run] for run in stayed) <= min(order[run] for run in left)


def test_a_full_grid_keeps_everyone() -> None:
    found = results(Group(COMPETING.specs))
    assert {(result.ending, result.step) for result in found.values()} == {("steps", 24)}


EASY = {"task": "majority", "architecture": "TF-(1,16)", "length": 3, "steps": 200, "batch": 32, "goal": 0.97}


def test_who_reaches_the_goal_ends_and_the_others_go_on() -> None:
    specs = (tiny(learning_rate=0.01, **EASY), tiny(learning_rate=1e-7, **EASY))
    found = results(Group(specs))
    quick, slow = (found[spec.name] for spec in specs)
    assert quick.ending == "goal"
    assert quick.step < 200
    assert quick.accuracy >= 0.97
    assert (slow.ending, slow.step) == ("steps", 200)


def test_the_first_goal_ends_a_cell() -> None:
    specs = (tiny(learning_rate=1e-7, **EASY), tiny(learning_rate=0.01, **EASY))
    found = results(Group(specs, first_goal_ends=True))
    assert found[specs[1].name].ending == "goal"
    assert found[specs[0].name].ending == "beaten"
    assert found[specs[0].name].step == found[specs[1].name].step < 200


def test_a_run_ends_in_company_where_it_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member whose own probe is below the goal goes on, even if the evaluation that another asked for is above."""
    probes = {0: [1.0, 1.0, 1.0], 1: [0.5, 0.5, 1.0]}
    group = Group(grid(2, goal=0.9))

    def accuracy(self: Ensemble, examples: int, purpose: str, number: int) -> list[float]:
        rates = [spec.learning_rate for spec in self.specs]
        known = [spec.learning_rate for spec in group.specs]
        return [
            probes[known.index(rate)][number // 20 - 1] if purpose == "probe" else (0.8 if number else 1.0)
            for rate in rates
        ]

    monkeypatch.setattr(Ensemble, "accuracy", accuracy)
    together = results(group)
    assert [together[spec.name].step for spec in group.specs] == [20, 60]
    for spec in group.specs:
        assert results(Group((spec,)))[spec.name].step == together[spec.name].step


def test_a_probe_alone_does_not_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def accuracy(self: Ensemble, examples: int, purpose: str, number: int) -> list[float]:
        asked.append(purpose)
        return [1.0 if purpose == "probe" else 0.5] * len(self.specs)

    monkeypatch.setattr(Ensemble, "accuracy", accuracy)
    found = results(Group((tiny(goal=0.9),)))
    assert [result.ending for result in found.values()] == ["steps"]
    assert asked == ["probe", "evaluation"] * 3


def test_a_diverged_member_is_marked_and_the_others_are_as_without_it() -> None:
    good = grid(2)
    wild = tiny(learning_rate=1e30)
    found = results(Group((good[0], wild, good[1])))
    assert (found[wild.name].ending, found[wild.name].step) == ("diverged", 20)
    assert found[wild.name].loss != found[wild.name].loss or found[wild.name].loss == float("inf")
    without = results(Group(good))
    for spec in good:
        mine, other = found[spec.name], without[spec.name]
        assert (mine.ending, mine.step) == ("steps", 60)
        assert mine.loss == pytest.approx(other.loss, rel=1e-5)
        assert mine.accuracy == pytest.approx(other.accuracy, abs=0.02)


def test_a_group_is_of_one_shape_and_has_no_run_twice() -> None:
    with pytest.raises(SeparatrixError, match="a group of no runs"):
        Group(())
    with pytest.raises(SeparatrixError, match="2 runs of 2 shapes"):
        Group((tiny(), tiny(length=7)))
    with pytest.raises(SeparatrixError, match="twice"):
        Group((tiny(), tiny()))
    assert Group(grid(2)).name != Group(grid(2), rungs=(20,)).name


def test_ticks_come_while_a_group_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "TICK_SECONDS", 0.0)
    steps = [event.step for event in train(Group((tiny(),)), CPU) if isinstance(event, group_module.Tick)]
    assert len(steps) > 30
    assert steps == sorted(set(steps))


def test_saving_takes_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is moved by hand: a step takes a second, what is done with a checkpoint takes five."""
    clock = [0.0]
    monkeypatch.setattr(group_module.time, "monotonic", lambda: clock[0])

    def second(self: Ensemble, steps: int) -> None:
        clock[0] += 1.0
        self.step += steps

    monkeypatch.setattr(Ensemble, "advance", second)
    steps: list[int] = []
    for event in train(Group((tiny(steps=600, evaluate_every=600),)), CPU, save_every_seconds=10.0):
        if isinstance(event, Saved):
            steps.append(event.step)
            clock[0] += 5.0
    assert steps == [11, 137, 263, 389, 515], "the first when it was asked for, then every 5 / 0.04 seconds"


def test_members_that_leave_together_wait_for_the_last():
    specs = (tiny(goal=0.9), tiny(goal=0.9, seed=1))

    def endings(step, accuracies, **how):
        points = [Point(spec.name, step, 0.1, each, each) for spec, each in zip(specs, accuracies, strict=True)]
        ensemble = SimpleNamespace(step=step, accuracy=lambda *_: list(accuracies))
        return group_module._endings(Group(specs, **how), ensemble, points)[0]

    assert endings(20, (1.0, 0.1)) == {0: "goal"}
    assert endings(20, (1.0, 0.1), together=True) == {}
    assert endings(20, (1.0, 0.95), together=True) == {0: "goal", 1: "goal"}
    assert endings(60, (1.0, 0.1), together=True) == {0: "goal", 1: "steps"}
    assert Group(specs).name != Group(specs, together=True).name
