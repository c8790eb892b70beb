"""How far long work is, reported to whoever listens.

Long loops are taken through :func:`tracked`; the command line listens with :func:`listening` and draws a bar. The
listener is a context variable, so that nothing in between needs another argument, nothing is reported when nobody
listens, and two threads that do two things do not hear each other.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Listener: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, the units done, and their number, None where it is not known."""

Item = TypeVar("Item")
_LISTENER: ContextVar[Listener | None] = ContextVar("separatrix_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Tell ``listener`` about all that is done inside.

    >>> with listening(lambda what, done, total: print(what, done, "of", total)):
    ...     report("inputs", 3, 8)
    inputs 3 of 8
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(what: str, done: int, total: int | None) -> None:
    """Say that ``done`` of ``total`` units are done; nothing is reported where nobody listens.

    >>> report("inputs", 3, 8)
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)


def tracked(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The items themselves, one unit of work each; ``total`` is their number where they do not know it.

    >>> heard = []
    >>> with listening(lambda what, done, total: heard.append((what, done, total))):
    ...     sum(tracked([1, 2], "numbers"))
    3
    >>> heard
    [('numbers', 0, 2), ('numbers', 1, 2), ('numbers', 2, 2)]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    report(what, 0, total)
    for done, item in enumerate(items, start=1):
        yield item
        report(what, done, total)
