"""One bar on standard error for long work: what is being done, how much of it, how long it will still take.

Nothing is drawn where standard error is not a terminal or ``--json`` was asked for, so that logs and pipes stay clean.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from separatrix.cli.output import notes
from separatrix.progress import Listener


def bar_columns() -> tuple[Any, ...]:
    """Return description, bar, units done of all, elapsed time and estimate of the rest."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip


@contextmanager
def progress_bar(first: str, quiet: bool) -> Generator[Listener]:
    """Yield a function to call with what is being done, the units done and their number; every new text starts anew."""
    from rich.progress import Progress

    console = notes()
    with Progress(*bar_columns(), console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        work = bar.add_task(first, total=None)
        current = first

        def show(what: str, done: int, total: int | None) -> None:
            nonlocal current
            if what != current:
                current = what
                bar.reset(work, total=total, completed=done, description=what)
            else:
                bar.update(work, total=total, completed=done)

        yield show
