"""Who watches while runs train: progress bars, sinks, the explorer. An observer hears what the driver has recorded."""

from collections.abc import Sequence
from typing import Protocol

from separatrix.training.events import Event
from separatrix.training.grouping import Group


class Observer(Protocol):
    """Whoever wants to see what happens, such as a progress bar."""

    def started(self, group: Group, step: int) -> None:
        """A group starts, or goes on after ``step`` steps."""
        ...

    def happened(self, group: Group, event: Event) -> None:
        """An event, after it was recorded."""
        ...

    def said(self, message: str) -> None:
        """Something a person should know: a damaged checkpoint, a lost worker, a group that was split."""
        ...


class Observers:
    """Several observers as one; each hears everything, in order."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = tuple(observers)

    def started(self, group: Group, step: int) -> None:
        """A group starts, or goes on after ``step`` steps."""
        for each in self.observers:
            each.started(group, step)

    def happened(self, group: Group, event: Event) -> None:
        """An event, after it was recorded."""
        for each in self.observers:
            each.happened(group, event)

    def said(self, message: str) -> None:
        """Something a person should know."""
        for each in self.observers:
            each.said(message)
