"""The symbols of a user's function: numbers, characters or words, possibly as many as the input is long.

Inside everything is a symbol number 0 … size − 1; the function sees the symbols themselves. One input is a tuple of
whole numbers, a string where every symbol is one character, or a tuple of words; a batch is an array (count, N) of
whole numbers (int64) or of strings.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.communication import Integers
from separatrix.errors import SeparatrixError

LARGEST = 1 << 16
OTHER_NUMBER = re.compile(r"[+-]\d+|[+-]?\d+(\.\d+|\.?\d*[eE][+-]?\d+)")


@dataclass(frozen=True)
class Alphabet:
    """The symbols; none are listed when they are the numbers 0 … ``size`` − 1, or ``grows``: N of them at length N."""

    size: int
    texts: tuple[str, ...] = ()
    grows: bool = False

    def at(self, length: int) -> "Alphabet":
        """Return the alphabet of inputs of one length."""
        return Alphabet(max(1, length)) if self.grows else self

    @property
    def characters(self) -> bool:
        """Whether every symbol is one character, so that an input is a string."""
        return bool(self.texts) and all(len(text) == 1 for text in self.texts)

    def one(self, numbers: list[int]) -> Any:
        """Return one input as the function sees it."""
        if not self.texts:
            return tuple(numbers)
        words = [self.texts[number] for number in numbers]
        return "".join(words) if self.characters else tuple(words)

    def batch(self, numbers: Integers) -> NDArray[Any]:
        """Return a batch (count, N) as the function sees it; a fresh array that the function may change."""
        return numpy.array(self.texts)[numbers] if self.texts else numbers.copy()

    def written(self, numbers: list[int]) -> str:
        """Return one input for messages."""
        return repr(self.one(numbers))

    def in_words(self) -> str:
        """Return the alphabet for tables."""
        if self.grows:
            return "0 … N − 1"
        if self.texts:
            return " ".join(self.texts)
        return " ".join(map(str, range(self.size))) if self.size <= 4 else f"0 … {self.size - 1}"


def parse_alphabet(text: str) -> Alphabet:
    """Return an alphabet from text: a size, ``N``, characters or words separated by commas.

    >>> parse_alphabet("4").size, parse_alphabet("()[]").texts, parse_alphabet("N").at(7).size
    (4, ('(', ')', '[', ']'), 7)
    """
    given = text.strip()
    if given == "N":
        return Alphabet(1, grows=True)
    # A number with a leading zero, such as 01, is a list of characters.
    if given.isdecimal() and (given[0] != "0" or given == "0"):
        size = int(given) if len(given) < 9 else LARGEST + 1
        if not 1 <= size <= LARGEST:
            raise SeparatrixError(f"--alphabet {given[:20]} is out of range; choose 1 to {LARGEST} symbols")
        return Alphabet(size)
    words = tuple(word.strip() for word in given.split(",")) if "," in given and len(given) > 1 else tuple(given)
    # -3, 3.0 and 1e3 are meant as sizes, not as characters.
    if OTHER_NUMBER.fullmatch(given) or not words or not all(words) or len(set(words)) != len(words):
        raise SeparatrixError(
            f"--alphabet {text[:40]!r} is not understood; write a size such as 4, N for as many symbols as positions, "
            "different characters such as ()[], or words such as push,pop"
        )
    return Alphabet(len(words), words)
