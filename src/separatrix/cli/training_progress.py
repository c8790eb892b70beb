"""What a person sees while runs train: a bar for each member with accuracy, loss, speed and an estimate."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from separatrix.cli.output import notes
from separatrix.training import Event, Finished, Group, Progress, Tick

MOST_BARS = 16
"""Of runs, whatever the number of groups that train at once; the others are counted and not drawn."""
LEAST_PAUSE, DRAWING_SHARE = 0.2, 0.01
"""Seconds between two drawings, and the share of the time that they may take; Rich's own ten a second took 6 %."""


class LiveBars:
    """An observer that draws on standard error; silent where that is not a terminal, except for remarks.

    ``left`` are for each planned group the names of the runs that are still to end; a group without any is done. They
    are counted by run, because a group may train as a part of what was planned, or as two halves.
    """

    def __init__(self, left: Sequence[Collection[str]], quiet: bool, label: Callable[[Any], str]) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        console = notes()
        self.quiet = quiet
        self.label = label
        self.bars: Bars = Bars(
            TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"), TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
            console=console, transient=True, auto_refresh=False, disable=quiet or not console.is_terminal,
        )  # fmt: skip
        self.left = [set(names) for names in left]
        self.whole = self.bars.add_task("all groups", total=len(left), completed=self._done(), state="", speed="")
        self.members: dict[str, Any] = {}
        self.began: dict[str, tuple[float, int]] = {}
        self.drawn, self.pause = time.monotonic(), 0.0

    def __enter__(self) -> "LiveBars":
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def started(self, group: Group, step: int) -> None:
        """Add a bar for each member that has none yet, as long as there is room."""
        self.began[group.name] = (time.monotonic(), step)
        waiting = set[str]().union(*self.left)
        new = [spec for spec in group.specs if spec.name in waiting and spec.name not in self.members]
        for spec in new[: MOST_BARS - len(self.members)]:
            self.members[spec.name] = self.bars.add_task(
                self.label(spec), total=spec.steps, completed=step, state="", speed=""
            )

    def happened(self, group: Group, event: Event) -> None:
        """Move the bars."""
        if isinstance(event, Tick | Progress):
            began, first = self.began[group.name]
            rate = (event.step - first) / max(time.monotonic() - began, 1e-9)
            for spec in group.specs:
                if spec.name in self.members:
                    self.bars.update(self.members[spec.name], completed=event.step, speed=f"{rate:.1f} steps/s")
        if isinstance(event, Progress):
            for point in event.points:
                if point.run in self.members:
                    state = f"accuracy {point.accuracy:.3f} loss {point.loss:.3f}"
                    self.bars.update(self.members[point.run], state=state)
        if isinstance(event, Finished):
            ended = {result.run for result in event.results}
            for name in ended & self.members.keys():
                self.bars.remove_task(self.members.pop(name))
            for names in self.left:
                names -= ended
            self.bars.update(self.whole, completed=self._done())
        self._draw()

    def _done(self) -> int:
        """Return how many planned groups have no run left."""
        return sum(not names for names in self.left)

    def _draw(self) -> None:
        """Show the bars as they are now, unless they were shown a moment ago."""
        now = time.monotonic()
        if now - self.drawn >= self.pause:
            self.bars.refresh()
            self.drawn = time.monotonic()
            self.pause = max(LEAST_PAUSE, (self.drawn - now) / DRAWING_SHARE)

    def said(self, message: str) -> None:
        """Print a remark above the bars."""
        if not self.quiet:
            self.bars.console.print(f"note: {message}", style="yellow")
