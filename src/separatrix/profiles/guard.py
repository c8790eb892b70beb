"""What surrounds a call of a user's function: its output, its warnings, its arithmetic and its time.

What it prints belongs to standard error and its warnings are its own affair, but numpy's divisions by zero, invalid
operations and overflows become errors: where a tuple would raise ZeroDivisionError, an array must not continue with
inf. Underflow to zero is left alone, since it is what e.g. exp(−1000) is meant to give.

A function that never returns is stopped by a timer of the system, where there is one and this is the main thread; no
other way stops a loop in the same process. Code in C that never returns to Python cannot be stopped so.
"""

import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import numpy

from separatrix.errors import SeparatrixError
from separatrix.sources import quiet

LONGEST = 1e8
"""Seconds that a timer can be set to everywhere: three years."""
AGAIN = 0.5
"""Seconds until the timer rings again, for a function that swallows everything that is raised in it."""


class TimeUp(BaseException):
    """The function's time is over; not an Exception, so that ``except Exception`` in it does not hide this."""


@contextmanager
def guarded() -> Generator[None]:
    """Quiet, and numpy's divisions by zero, invalid operations and overflows raise FloatingPointError.

    How deep Python may call is the same afterwards, whatever the function has set.
    """
    depth = sys.getrecursionlimit()
    try:
        with quiet(), numpy.errstate(divide="raise", invalid="raise", over="raise", under="ignore"):
            yield
    finally:
        sys.setrecursionlimit(depth)


class Allowance:
    """Seconds that the calls of a function may take, all together."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spending(self) -> Generator[None]:
        """Raise :class:`TimeUp` in the midst of what is done here, once nothing is left; here it becomes one line."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return
        started = time.perf_counter()
        before = signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, min(max(self.left, 1e-3), LONGEST), AGAIN)
        try:
            yield
        except TimeUp:
            raise SeparatrixError(
                "the function was still being called when --max-time was over; raise it or lower --length"
            ) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self.left -= time.perf_counter() - started


def _ring(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeUp
