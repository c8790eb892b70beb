"""The embedding seen through some coordinates: which tokens and positions look alike there.

A part of the embedding writes a row that its token or its position names. Through given coordinates only the parts that
write there matter. So the vector at (token, position) is a function of what these parts know of the token (its *sign*)
and of the position. Tokens and positions with the same signs are interchangeable.

Feed-forwards before the first attention (``Transformer.prefix``) work on the vector of each position by itself. So the
vector after them is such a function too, through the coordinates that they need.
"""

from collections.abc import Iterable
from typing import TypeAlias

from separatrix_kernel.boxes import is_idle, live_before, restricted
from separatrix_kernel.evaluation import added, feed_forward
from separatrix_kernel.network import FeedForward, Matrix, Part, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import require

Sign: TypeAlias = tuple[int | None, ...]


class View:
    """The embedding through ``columns``."""

    def __init__(self, network: Transformer, columns: Iterable[int], numbers: Numbers) -> None:
        require(not network.features, "cells of several numbers are not told apart by tokens")
        live = live_before(network.prefix, columns)
        self.columns, self.numbers = live[-1], numbers
        self.place = {column: number for number, column in enumerate(self.columns)}
        self.layers: list[tuple[FeedForward, list[int]]] = []
        for layer, before, after in zip(network.prefix, live, live[1:], strict=False):
            if not is_idle(layer, after):
                place = {column: number for number, column in enumerate(before)}
                own = [place[each] for each in after] if layer.residual else []
                self.layers.append((restricted(layer, before, after), own))
        self.embedded = len(live[0])
        numbers.work.spend(sum(1 + part.width for part in network.parts))
        first = {column: number for number, column in enumerate(live[0])}
        self.parts: list[tuple[Part, list[tuple[int, int]]]] = []
        for part in network.parts:
            written = [(n, first[part.start + n]) for n in range(part.width) if part.start + n in first]
            if written:
                self.parts.append((part, written))
        # What a vector takes: the coordinates, and the rows that are made on the way.
        self.steps = 1 + self.embedded + sum(part.width for part, _ in self.parts)
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
        """The coordinates: the sum of all parts that apply, added and saturated in their order, and the prefix."""
        self.numbers.work.spend(self.steps)
        found = [0] * self.embedded
        for (part, written), at_position, at_token in zip(self.parts, position, token, strict=True):
            if at_position is not None and at_token is not None:
                row = part.row(at_token if part.by_token else at_position)
                for source, place in written:
                    found[place] = self.numbers.saturate(found[place] + row[source])
        for layer, own in self.layers:
            after = feed_forward(layer, found, self.numbers)
            found = added([found[place] for place in own], after, self.numbers) if own else after
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
