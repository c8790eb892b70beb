"""Running groups for a verb: where, with which bars and sinks; what is recorded comes back."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from separatrix.cli.limits import within_free_memory
from separatrix.cli.output import notes
from separatrix.cli.training_options import Place, Recording
from separatrix.cli.training_progress import LiveBars
from separatrix.training import Group, Observer, Observers, Record, check_groups, device_named, sink_from, train_groups


def run_groups(
    groups: Sequence[Group],
    place: Place,
    recording: Recording,
    label: Callable[[Any], str],
    *,
    full_grid: bool = False,
    quiet: bool,
) -> dict[str, Record]:
    """Train what is not recorded; the records of all runs by name, with their curves."""
    place.check()
    here = place.executor != "ray"
    for remark in check_groups(groups, place.device if here else None):
        notes().print(remark, soft_wrap=True, markup=False)

    @contextmanager
    def watching(left: list[list[str]]) -> Generator[Observer]:
        with LiveBars(left, quiet, label) as bars:
            yield Observers([bars, *sinks])

    with ExitStack() as stack:
        sinks = [stack.enter_context(_closing(text)) for text in recording.sinks or ()]
        # Models live in this machine's memory; drivers of GPUs reserve more than they use.
        limited = here and device_named(place.device).type == "cpu"
        stack.enter_context(within_free_memory() if limited else nullcontext())
        return train_groups(
            groups, recording.store, place.opened, watching, full_grid=full_grid, fresh=not recording.resume
        )


@contextmanager
def _closing(text: str) -> Generator[Observer]:
    """Yield a sink of the command line, closed at the end, whatever the end is."""
    sink = sink_from(text)
    try:
        yield sink
    finally:
        sink.close()
