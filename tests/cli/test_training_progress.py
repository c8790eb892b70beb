"""The live bars: what they show, and that drawing them takes a small share of the time."""

import pytest

from separatrix.cli import training_progress
from separatrix.cli.training_progress import DRAWING_SHARE, MOST_BARS, LiveBars
from separatrix.training.events import Finished, Point, Progress, Result, Tick
from separatrix.training.group import Group
from tests.training.cases import grid


class Clock:
    """A clock that moves when told, and while something is drawn."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


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
    with LiveBars(1, quiet=False, label=lambda spec: f"lr {spec.learning_rate:g}") as bars:
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


def test_drawing_takes_a_small_share_of_the_time_however_slow_the_terminal(clock, terminal, monkeypatch):
    group = Group(grid(3, steps=40))
    drawings: list[float] = []
    with LiveBars(1, quiet=False, label=lambda spec: spec.name) as bars:
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
    with LiveBars(1, quiet=False, label=lambda spec: spec.name) as bars:
        bars.started(many, 0)
        assert len(bars.members) == MOST_BARS
    assert terminal()
    with LiveBars(1, quiet=True, label=lambda spec: spec.name) as bars:
        bars.started(many, 0)
        clock.now += 1.0
        bars.happened(many, Tick(3))
        bars.said("nobody hears this")
    assert terminal() == ""
