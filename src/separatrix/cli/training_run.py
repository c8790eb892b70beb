"""Running groups for a verb: store, executor, bars, Ctrl-C; and reading back what was recorded."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from separatrix.cli.training_options import Place
from separatrix.cli.training_progress import LiveBars
from separatrix.training.driver import Driver, interruptible
from separatrix.training.events import Point
from separatrix.training.group import Group
from separatrix.training.records import Record, Records, store_path


def run_groups(
    groups: Sequence[Group],
    store: Path | None,
    place: Place,
    full_grid: bool,
    resume: bool,
    quiet: bool,
    label: Callable[[Any], str],
) -> tuple[bool, dict[str, Record], dict[str, list[Point]]]:
    """Train what is not recorded; whether all is done, the records and the curves of all runs by name."""
    names = [spec.name for group in groups for spec in group.specs]
    place.check()
    with Records(store_path(store)) as records:
        if not resume:
            records.forget(names)
        with interruptible() as stopped, LiveBars(len(groups), quiet, label) as bars:
            executor, environment = place.opened(stopped)
            done = Driver(records, executor, environment, bars, full_grid, stopped).run(groups)
        found = records.find(names)
        return done, found, {name: records.curve(name) for name in names}
