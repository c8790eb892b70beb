"""Ctrl-C at the right moment: while files that belong together are written, it waits until they are all there.

It is also remembered, because not everything lets it through.
"""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered() -> Generator[list[int]]:
    """Note Ctrl-C in the list, in addition to its usual effect: compiled modules, and others, raise another error."""
    pressed: list[int] = []

    def raise_and_remember(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    with _handled(raise_and_remember):
        yield pressed


@contextmanager
def uninterrupted() -> Generator[None]:
    """Hold back Ctrl-C until the end; it then takes effect as if it had been pressed there."""
    pressed: list[int] = []
    with _handled(lambda number, _: pressed.append(number)):
        yield
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Let a function handle Ctrl-C; only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
