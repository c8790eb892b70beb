"""Ctrl-C at the right moment: while files that belong together are written, it waits until they are all there.

It is also remembered, because not everything lets it through.
"""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered() -> Generator[list[int]]:
    """Note Ctrl-C in the list, besides its usual effect: compiled modules, and others, raise another error."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed  # only the main thread is ever interrupted
        return

    def raise_and_remember(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, raise_and_remember)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def uninterrupted() -> Generator[None]:
    """Hold back Ctrl-C until the end; it then takes effect as if it had been pressed there."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    pressed: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        del frame
        pressed.append(number)

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
