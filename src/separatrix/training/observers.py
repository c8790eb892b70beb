"""Who watches while runs train: progress bars, sinks, the explorer. An observer hears what the driver has recorded."""

from collections.abc import Sequence
from typing import Protocol

from separatrix.training.events import Event
from separatrix.training.grouping import Group


class Observer(Protocol):
    """Whoever wants to see what happens, such as a progress bar."""

    def started(self, group: Group, step: int) -> None:
        """Note that a group starts, or resumes after ``step`` steps."""
        ...

    def happened(self, group: Group, event: Event) -> None:
        """Note an event, after it was recorded."""
        ...

    def said(self, message: str) -> None:
        """Show something a person should know: a damaged checkpoint, a lost worker, a group that was split."""
        ...


class Observers:
    """Several observers as one; each hears everything, in order."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = tuple(observers)

    def started(self, group: Group, step: int) -> None:
        """Note that a group starts, or resumes after ``step`` steps."""
        for each in self.observers:
            each.started(group, step)

    def happened(self, group: Group, event: Event) -> None:
        """Note an event, after it was recorded."""
        for each in self.observers:
            each.happened(group, event)

    def said(self, message: str) -> None:
        """Show something a person should know."""
        for each in self.observers:
            each.said(message)
