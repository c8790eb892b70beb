"""The symbols of a task: numbers inside, words outside.

A vocabulary is a list of groups (the letters, the position tokens, the separator, …); a token's number is its
place in that list. Groups are ranges, so a vocabulary of a million residues costs nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from separatrix.errors import SeparatrixError

BASE64 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
"""One character for each of the first 64 letters of an alphabet."""


@dataclass(frozen=True)
class Symbols:
    """One group: ``size`` symbols that mean the same kind of thing.

    Written as the characters of ``texts`` if there are enough, else as ``prefix`` and a number counted from
    ``first``.
    """

    meaning: str
    size: int
    prefix: str = ""
    first: int = 0
    texts: Sequence[str] = ()

    def write(self, offset: int) -> str:
        """Return the text of the symbol at ``offset`` of this group."""
        if self.size <= len(self.texts):
            return self.texts[offset]
        return f"{self.prefix}{self.first + offset}"

    def find(self, text: str) -> int | None:
        """Return the offset of the symbol with this text, or None."""
        if self.size <= len(self.texts):
            # Compared one by one: a string of texts would also "contain" runs of several symbols.
            return next((offset for offset in range(self.size) if self.texts[offset] == text), None)
        number = text.removeprefix(self.prefix)
        if not text.startswith(self.prefix) or not number.isdecimal():
            return None
        offset = int(number) - self.first
        return offset if 0 <= offset < self.size and self.write(offset) == text else None


def alphabet_of(size: int) -> Symbols:
    """Return an alphabet: the bits 0 and 1, single characters up to 64 letters, ``s0``, ``s1``, … beyond.

    >>> [alphabet_of(size).write(1) for size in (2, 3, 100)]
    ['1', 'b', 's1']
    """
    return Symbols("bits", 2, texts="01") if size == 2 else Symbols("symbols", size, prefix="s", texts=BASE64)


@dataclass(frozen=True)
class Vocabulary:
    """Groups of symbols in the order of their token numbers."""

    groups: tuple[Symbols, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first token number of each group."""
        numbers = [0]
        for group in self.groups:
            numbers.append(numbers[-1] + group.size)
        return tuple(numbers)

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return self.starts[-1]

    def write(self, token: int) -> str:
        """Return the text of one token."""
        for start, group in zip(self.starts, self.groups, strict=False):
            if start <= token < start + group.size:
                return group.write(token - start)
        raise SeparatrixError(f"token {token} is not in the vocabulary of {self.size} tokens (0 to {self.size - 1})")

    def read(self, text: str) -> int:
        """Return the token with this text."""
        for start, group in zip(self.starts, self.groups, strict=False):
            offset = group.find(text)
            if offset is not None:
                return start + offset
        raise SeparatrixError(f"{text!r} is not a symbol of this task; its symbols are {self.in_words()}")

    def in_words(self) -> str:
        """Return every group with its range of texts, for messages and pages."""
        return "; ".join(_range_in_words(group) for group in self.groups if group.size)

    def texts(self, tokens: Iterable[int]) -> list[str]:
        """Return the texts of several tokens."""
        return [self.write(token) for token in tokens]


def _range_in_words(group: Symbols) -> str:
    if group.size <= 4:
        shown = " ".join(group.write(offset) for offset in range(group.size))
    else:
        shown = f"{group.write(0)} … {group.write(group.size - 1)} ({group.size})"
    return f"{group.meaning}: {shown}"
