"""Functions to try ``separatrix profile`` on, each in one of the forms that a function of your own may have.

``separatrix profile separatrix.profiles.examples:parity --length 12``
"""

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray


def parity(x: NDArray[Any]) -> NDArray[Any]:
    """Takes arrays: x is (count, N), and the result has one value for each row."""
    return x.sum(axis=1) % 2 == 1


def majority(x: Any) -> Any:
    """More ones than zeros; takes one input or an array, because the last axis is counted."""
    return 2 * numpy.sum(x, axis=-1) > numpy.shape(x)[-1]


def equal_halves(x: Sequence[int]) -> bool:
    """Takes one input, a tuple of numbers; not defined at odd lengths."""
    if len(x) % 2:
        raise ValueError("only even lengths have two halves")
    return x[: len(x) // 2] == x[len(x) // 2 :]


def balanced(text: str) -> bool:
    """Dyck-(2,2); with ``--alphabet '()[]'`` an input is a string."""
    opened: list[str] = []
    for symbol in text:
        if symbol in "([":
            opened.append(symbol)
            if len(opened) > 2:
                return False
        elif not opened or opened.pop() + symbol not in ("()", "[]"):
            return False
    return not opened


def repeats(x: Sequence[int]) -> bool:
    """Return whether some symbol occurs twice; most interesting with ``--alphabet N``, as many symbols as positions."""
    return len(set(x)) < len(x)


def running_sum(x: Sequence[int]) -> list[int]:
    """Return a labelling: the sum modulo 3 so far, one label for each position."""
    return [sum(x[: place + 1]) % 3 for place in range(len(x))]
