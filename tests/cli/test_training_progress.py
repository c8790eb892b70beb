"""The live bars: what they show, and that drawing them takes a small share of the time."""

import pytest

from separatrix.cli import training_progress
from separatrix.cli.training_progress import DRAWING_SHARE, MOST_BARS, LiveBars
from separatrix.training.events import Finished, Point, Progress, Result, Tick
from separatrix.training.grouping import Group
from tests.training.cases import grid


class Clock:
    """A clock that moves when told, and while something is drawn."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def planned(*groups: Group) -> list[list[str]]:
    """Everyone is still to end."""
    return [[spec.name for spec in group.specs] for group in groups]


def ended(*specs) -> Finished:
    return Finished(tuple(Result(spec.name, "steps", 40, 0.9, 0.1, 8.0, 10) for spec in specs), b"")


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(training_progress, "time", found)
    return found


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Standard error as a terminal that is wide enough; called, it tells what was drawn since the last call."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "160")
    return lambda: capsys.readouterr().err


def test_bars_show_accuracy_loss_and_speed_and_leave_when_a_run_ends(clock, terminal):
    group = Group(grid(2, steps=40))
    first, second = (spec.name for spec in group.specs)
    with LiveBars(planned(group), quiet=False, label=lambda spec: f"lr {spec.learning_rate:g}") as bars:
        bars.started(group, 0)
        clock.now += 2.0
        bars.happened(group, Tick(10))
        assert "5.0 steps/s" in terminal()
        clock.now += 2.0
        points = tuple(Point(name, 20, 1.25, 0.4, 0.625) for name in (first, second))
        bars.happened(group, Progress(20, points))
        drawn = terminal()
        assert "accuracy 0.625 loss 1.250" in drawn
        assert "lr 0.02" in drawn
        bars.happened(group, Finished((Result(first, "goal", 20, 1.0, 0.1, 4.0, 10),), b""))
        assert list(bars.members) == [second]
        bars.happened(group, Finished((Result(second, "steps", 40, 0.9, 0.1, 8.0, 10),), b""))
        assert bars.bars.tasks[0].completed == 1
        bars.said("a worker was lost")
        assert "note: a worker was lost" in terminal()


def test_brackets_in_the_name_of_a_model_are_drawn_as_they_are(clock, terminal):
    group = Group(grid(1, steps=40))
    with LiveBars(planned(group), quiet=False, label=lambda spec: "mine[1].py:Plain [/b]") as bars:
        bars.started(group, 0)
        clock.now += 2.0
        bars.happened(group, Tick(10))
        assert "mine[1].py:Plain [/b]" in terminal()


def test_drawing_takes_a_small_share_of_the_time_however_slow_the_terminal(clock, terminal, monkeypatch):
    group = Group(grid(3, steps=40))
    drawings: list[float] = []
    with LiveBars(planned(group), quiet=False, label=lambda spec: spec.name) as bars:
        bars.started(group, 0)

        def slow() -> None:
            drawings.append(clock.now)
            clock.now += 0.05

        monkeypatch.setattr(bars.bars, "refresh", slow)
        began = clock.now
        for step in range(1000):
            clock.now += 0.1
            bars.happened(group, Tick(step % 40))
        spent = 0.05 * len(drawings)
        assert len(drawings) >= 10
        assert spent <= (DRAWING_SHARE + 0.005) * (clock.now - began)


def test_many_members_have_few_bars_and_a_quiet_command_draws_nothing(clock, terminal):
    many = Group(grid(MOST_BARS + 4, steps=40))
    with LiveBars(planned(many), quiet=False, label=lambda spec: spec.name) as bars:
        bars.started(many, 0)
        assert len(bars.members) == MOST_BARS
    assert terminal()
    with LiveBars(planned(many), quiet=True, label=lambda spec: spec.name) as bars:
        bars.started(many, 0)
        clock.now += 1.0
        bars.happened(many, Tick(3))
        bars.said("nobody hears this")
    assert terminal() == ""


def test_a_group_counts_once_when_its_last_run_ends_drawn_or_not(clock, terminal):
    group, other = Group(grid(MOST_BARS + 4, steps=40)), Group(grid(2, steps=80))
    with LiveBars([*planned(group, other), []], quiet=False, label=lambda spec: spec.name) as bars:
        whole = bars.bars.tasks[0]
        assert (whole.completed, whole.total) == (1, 3)  # one group has nothing left to train
        bars.started(group, 0)
        bars.started(other, 0)
        assert len(bars.members) == MOST_BARS
        bars.happened(group, ended(*group.specs[:MOST_BARS]))
        assert (whole.completed, len(bars.members)) == (1, 0)
        for spec in group.specs[MOST_BARS:]:
            bars.happened(group, ended(spec))
        assert whole.completed == 2
        bars.happened(group, ended(group.specs[0]))  # told again, as after a lost worker
        assert whole.completed == 2
        bars.happened(other, ended(*other.specs))
        assert whole.completed == whole.total


def test_two_halves_are_one_group_and_draw_each_run_once(clock, terminal):
    group = Group(grid(4, steps=40))
    halves = Group(group.specs[:2]), Group(group.specs[2:])
    with LiveBars(planned(group), quiet=False, label=lambda spec: spec.name) as bars:
        for each in (group, *halves):
            bars.started(each, 10)
        assert len(bars.bars.tasks) == 1 + len(group.specs)
        bars.happened(halves[0], ended(*halves[0].specs))
        assert bars.bars.tasks[0].completed == 0
        bars.happened(halves[1], ended(*halves[1].specs))
        assert bars.bars.tasks[0].completed == 1
        assert len(bars.bars.tasks) == 1
