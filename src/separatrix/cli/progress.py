"""One bar on standard error for long work: what is being done, how much of it, how long it will still take.

Nothing is drawn where standard error is not a terminal or ``--json`` is given, so that logs and pipes stay clean.
"""

from collections.abc import Generator
from contextlib import contextmanager

from separatrix.cli.output import notes
from separatrix.progress import Listener


@contextmanager
def progress_bar(first: str, quiet: bool) -> Generator[Listener]:
    """Yield a function to call with what is being done, the units done and their number; a new text starts anew, unless
    it counts on to the same number."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    console = notes()
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        work = bar.add_task(first, total=None)

        def show(what: str, done: int, total: int | None) -> None:
            held = bar.tasks[work]
            goes_on = total is not None and held.total == total and held.completed <= done
            if what == held.description or goes_on:
                bar.update(work, total=total, completed=done, description=what)
            else:
                bar.reset(work, total=total, completed=done, description=what)

        yield show
