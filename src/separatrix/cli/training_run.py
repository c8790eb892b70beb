"""Running groups for a verb: store, executor, bars, Ctrl-C; and reading back what was recorded."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from separatrix.cli.limits import within_free_memory
from separatrix.cli.output import notes
from separatrix.cli.training_options import Place, Recording
from separatrix.cli.training_progress import LiveBars
from separatrix.errors import StoppedError
from separatrix.models import parse_spec, remarks_on
from separatrix.training import (
    Driver,
    Group,
    Observers,
    Point,
    Record,
    Records,
    Sink,
    check_memory,
    check_trainable,
    device_named,
    drawing_remarks,
    interruptible,
    missing_runs,
    sink_from,
    store_path,
    try_user_tasks,
)


def run_groups(
    groups: Sequence[Group],
    place: Place,
    recording: Recording,
    label: Callable[[Any], str],
    *,
    full_grid: bool = False,
    quiet: bool,
) -> tuple[dict[str, Record], dict[str, list[Point]]]:
    """Train what is not recorded; the records and the curves of all runs by name, or StoppedError if interrupted."""
    names = [spec.name for group in groups for spec in group.specs]
    place.check()
    try_user_tasks(group.specs[0] for group in groups)
    if place.executor != "ray":  # the machines of a cluster may have what this one has not
        note_remarks(groups)
        device = device_named(place.device)
        for task, length, batch in dict.fromkeys(
            (spec.the_task(), spec.length, spec.batch) for spec in (group.specs[0] for group in groups)
        ):
            check_memory(task, length, batch, device)
    with opened_sinks(recording.sinks or ()) as watching, Records(store_path(recording.store)) as records:
        recorded = records.find(names) if recording.resume else {}
        left = [[spec.name for spec in missing_runs(group, recorded, full_grid)] for group in groups]
        with interruptible() as stopped, LiveBars(left, quiet, label) as bars:
            executor, environment = place.opened(stopped)
            observer = Observers([bars, *watching])
            driver = Driver(records, executor, environment, observer, full_grid, stopped)
            if not recording.resume:
                driver.forget(groups)
            with within_free_memory() if _trains_in_memory(place) else nullcontext():
                done = driver.run(groups)
        if not done:
            raise StoppedError("interrupted; the state is saved, the same command resumes it")
        return records.find(names), {name: records.curve(name) for name in names}


def _trains_in_memory(place: Place) -> bool:
    """Return whether models live in this machine's memory; drivers of GPUs reserve more than they use."""
    return place.executor != "ray" and device_named(place.device).type == "cpu"


def note_remarks(groups: Sequence[Group]) -> None:
    """Say which models of users run their members one after the other, and what else they do unexpectedly."""
    together = dict.fromkeys((group.specs[0].architecture, len(group.specs) > 1) for group in groups)
    for name in dict.fromkeys(name for name, _ in together):
        check_trainable(parse_spec(name))
    found = [remarks_on(parse_spec(name), members=1 + several) for name, several in together]
    found += [drawing_remarks(parse_spec(name)) for name in dict.fromkeys(name for name, _ in together)]
    for remark in dict.fromkeys(remark for remarks in found for remark in remarks):
        notes().print(remark, soft_wrap=True, markup=False)


@contextmanager
def opened_sinks(texts: Sequence[str]) -> Generator[list[Sink]]:
    """Yield the sinks of the command line, let go of at the end, whatever the end is."""
    sinks: list[Sink] = []
    try:
        for text in texts:
            sinks.append(sink_from(text))  # noqa: PERF401 - each is to be closed if the next one fails
        yield sinks
    finally:
        for sink in sinks:
            sink.close()
