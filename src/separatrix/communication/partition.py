"""Who holds which positions of an input: the partitions of BHBK24 Theorems 2 and 4.

Theorem 2 (recurrent models) needs a prefix and a suffix; Theorem 4 (one-layer Transformers) takes any partition, of
which odd against even positions is the one of Lemma 1. Positions are counted from 0 here; "odd" positions in the
papers, which count from 1, are the numbers 0, 2, 4, ….
"""

from collections.abc import Iterable
from dataclasses import dataclass

from separatrix.errors import SeparatrixError

HOW = "write cut:5 (Alice holds the first 5), halves, odd-even, or Alice's positions counted from 0 such as 0,2,4"


@dataclass(frozen=True)
class Partition:
    """Alice holds the positions ``alice`` (ascending, counted from 0) of ``positions``, Bob all others."""

    positions: int
    alice: tuple[int, ...]

    def __post_init__(self) -> None:
        chosen = tuple(sorted(self.alice))
        if len(set(chosen)) != len(chosen):
            raise SeparatrixError(f"positions {', '.join(map(str, chosen))} name one twice; name each once")
        if chosen and not 0 <= chosen[0] <= chosen[-1] < self.positions:
            wrong = next(place for place in chosen if not 0 <= place < self.positions)
            raise SeparatrixError(
                f"position {wrong} is not among the {self.positions} positions; choose 0 to {self.positions - 1}"
            )
        object.__setattr__(self, "alice", chosen)

    @property
    def bob(self) -> tuple[int, ...]:
        """Bob's positions, ascending."""
        held = set(self.alice)
        return tuple(place for place in range(self.positions) if place not in held)

    @property
    def is_cut(self) -> bool:
        """Whether Alice holds a prefix, so that Theorem 2 applies."""
        return self.alice == tuple(range(len(self.alice)))

    @property
    def name(self) -> str:
        """The shortest text that :func:`parse_partition` reads back.

        >>> odd_even(6).name, cut(6, 2).name, Partition(6, (0, 5)).name
        ('odd-even', 'cut:2', '0,5')
        """
        if self.is_cut:
            return f"cut:{len(self.alice)}"
        if self.alice == tuple(range(0, self.positions, 2)):
            return "odd-even"
        return ",".join(map(str, self.alice))


def cut(positions: int, after: int) -> Partition:
    """Alice holds the first ``after`` positions, Bob the rest.

    >>> cut(5, 2).alice
    (0, 1)
    """
    if not 0 <= after <= positions:
        raise SeparatrixError(f"cut:{after} is outside an input of {positions} positions; choose 0 to {positions}")
    return Partition(positions, tuple(range(after)))


def odd_even(positions: int) -> Partition:
    """Alice holds the odd positions of the papers (0, 2, 4, … here), Bob the even ones (BHBK24 Lemma 1).

    >>> odd_even(5).bob
    (1, 3)
    """
    return Partition(positions, tuple(range(0, positions, 2)))


def of_positions(positions: int, alice: Iterable[int]) -> Partition:
    """Alice holds the given positions, counted from 0.

    >>> of_positions(5, [4, 0]).alice
    (0, 4)
    """
    return Partition(positions, tuple(alice))


def parse_partition(text: str, positions: int) -> Partition:
    """Return a partition from text: ``cut:5``, ``halves``, ``odd-even`` or Alice's positions such as ``0,2,4``.

    >>> parse_partition("odd-even", 5).alice
    (0, 2, 4)
    >>> parse_partition("cut:2", 5).bob
    (2, 3, 4)
    """
    word = text.strip().lower()
    if word == "odd-even":
        return odd_even(positions)
    if word == "halves":
        return cut(positions, positions // 2)
    if word.startswith("cut:") and word[4:].isdecimal():
        return cut(positions, _small(text, word[4:]))
    numbers = [piece.strip() for piece in word.split(",")]
    if all(piece.isdecimal() for piece in numbers):
        return of_positions(positions, [_small(text, piece) for piece in numbers])
    raise SeparatrixError(f"partition {text[:60]!r} is not understood; {HOW}")


def _small(text: str, digits: str) -> int:
    if len(digits) > 9:
        raise SeparatrixError(f"partition {text[:60]!r} names a position of {len(digits)} digits; {HOW}")
    return int(digits)
