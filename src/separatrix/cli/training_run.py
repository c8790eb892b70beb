"""Running groups for a verb: store, executor, bars, Ctrl-C; and reading back what was recorded."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from separatrix.cli.training_options import Place
from separatrix.cli.training_progress import LiveBars
from separatrix.training.driver import Driver, interruptible
from separatrix.training.events import Point
from separatrix.training.group import Group
from separatrix.training.records import Record, Records, store_path
from separatrix.training.sinks import Observers, Sink, sink_from


def run_groups(
    groups: Sequence[Group],
    store: Path | None,
    place: Place,
    full_grid: bool,
    resume: bool,
    quiet: bool,
    label: Callable[[Any], str],
    sinks: Sequence[str] = (),
) -> tuple[bool, dict[str, Record], dict[str, list[Point]]]:
    """Train what is not recorded; whether all is done, the records and the curves of all runs by name."""
    names = [spec.name for group in groups for spec in group.specs]
    place.check()
    with opened_sinks(sinks) as watching, Records(store_path(store)) as records:
        with interruptible() as stopped, LiveBars(len(groups), quiet, label) as bars:
            executor, environment = place.opened(stopped)
            observer = Observers([bars, *watching])
            driver = Driver(records, executor, environment, observer, full_grid, stopped)
            if not resume:
                driver.forget(groups)
            done = driver.run(groups)
        found = records.find(names)
        return done, found, {name: records.curve(name) for name in names}


@contextmanager
def opened_sinks(texts: Sequence[str]) -> Generator[list[Sink]]:
    """The sinks of the command line, let go of at the end, whatever the end is."""
    sinks: list[Sink] = []
    try:
        for text in texts:
            sinks.append(sink_from(text))  # noqa: PERF401 - each is to be closed if the next one fails
        yield sinks
    finally:
        for sink in sinks:
            sink.close()
