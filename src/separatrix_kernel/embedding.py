"""The embedding seen through some coordinates: which tokens and positions look alike there.

A part of the embedding writes a row that its token or its position names. Through given coordinates only the parts that
write there matter. So the vector at (token, position) is a function of what these parts know of the token (its *sign*)
and of the position. Tokens and positions with the same signs are interchangeable.
"""

from collections.abc import Iterable
from typing import TypeAlias

from separatrix_kernel.network import Matrix, Part, Transformer
from separatrix_kernel.numbers import Numbers

Sign: TypeAlias = tuple[int | None, ...]


class View:
    """The embedding through ``columns``."""

    def __init__(self, network: Transformer, columns: Iterable[int], numbers: Numbers) -> None:
        self.columns, self.numbers = sorted(columns), numbers
        self.place = {column: number for number, column in enumerate(self.columns)}
        self.parts: list[tuple[Part, list[tuple[int, int]]]] = []
        for part in network.parts:
            written = [(n, self.place[part.start + n]) for n in range(part.width) if part.start + n in self.place]
            if written:
                self.parts.append((part, written))
        # What a vector takes: the coordinates, and the rows that are made on the way.
        self.steps = 1 + len(self.columns) + sum(part.width for part, _ in self.parts)
        self._signs: dict[range, list[Sign]] = {}

    def token(self, token: int) -> Sign:
        """The sign of a token."""
        self.numbers.work.spend(4 + len(self.parts))
        return tuple([part.at_token(token) for part, _ in self.parts])

    def position(self, position: int) -> Sign:
        """The sign of a position."""
        self.numbers.work.spend(4 + len(self.parts))
        return tuple([part.at_position(position) for part, _ in self.parts])

    def signs(self, tokens: range) -> list[Sign]:
        """The different signs of some tokens."""
        if tokens not in self._signs:
            self._signs[tokens] = list(dict.fromkeys(map(self.token, tokens)))
        return self._signs[tokens]

    def vector(self, position: Sign, token: Sign) -> list[int]:
        """The coordinates: the sum of all parts that apply, added and saturated in their order."""
        self.numbers.work.spend(self.steps)
        found = [0] * len(self.columns)
        for (part, written), at_position, at_token in zip(self.parts, position, token, strict=True):
            if at_position is not None and at_token is not None:
                row = part.row(at_token if part.by_token else at_position)
                for source, place in written:
                    found[place] = self.numbers.saturate(found[place] + row[source])
        return found


class Projection(View):
    """A matrix applied to the embedding, through the columns that it reads."""

    def __init__(self, network: Transformer, matrix: Matrix, numbers: Numbers) -> None:
        super().__init__(network, matrix.reads, numbers)
        rows = tuple(tuple((self.place[column], weight) for column, weight in row) for row in matrix.rows)
        self.matrix = Matrix(rows, len(self.columns))

    def project(self, position: Sign, token: Sign) -> list[int]:
        """W x for the vector of a position and a token with these signs."""
        return self.matrix.apply(self.vector(position, token), self.numbers)
