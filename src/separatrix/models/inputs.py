"""The first layer of a model whose cells are several numbers instead of one token.

Cells are rows of numbers (BHBK24 nearest neighbour, SHT23 sparse averaging and graphs). Columns that are numbers go
through one linear map after a fixed scaling; columns that are symbols (an index, a label) look up a row of a table, and
columns of one group share the table, so that a set of q indices enters as the sum of their rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from separatrix.models.ensemble import EnsembleEmbedding, EnsembleLinear
from separatrix.models.starts import Initialiser


@dataclass(frozen=True)
class Columns:
    """A group of neighbouring columns of a cell.

    ``number``: values are divided by ``scale``. ``symbol``: values are ``first`` … ``first + size - 1``.
    """

    kind: Literal["number", "symbol"]
    count: int
    scale: float = 1.0
    first: int = 0
    size: int = 0


class FeatureInput(nn.Module):
    """Cells (members, …, features) of any number type to (members, …, width)."""

    def __init__(self, members: int, columns: Sequence[Columns], width: int, *, start: Initialiser) -> None:
        super().__init__()
        self.columns = tuple(columns)
        numbers = sum(group.count for group in columns if group.kind == "number")
        self.numbers = EnsembleLinear(members, numbers, width) if numbers else None
        self.symbols = nn.ModuleList(
            EnsembleEmbedding(members, group.size, width, start=start) for group in columns if group.kind == "symbol"
        )
        scales = [1.0 / group.scale for group in columns if group.kind == "number" for _ in range(group.count)]
        self.scales: Tensor
        self.register_buffer("scales", torch.tensor(scales), persistent=False)

    def forward(self, cells: Tensor) -> Tensor:
        """Return the sum of what all groups give."""
        parts = cells.split([group.count for group in self.columns], dim=-1)
        numbers = [part for part, group in zip(parts, self.columns, strict=True) if group.kind == "number"]
        total: Tensor | None = None
        if self.numbers is not None:
            together = numbers[0] if len(numbers) == 1 else torch.cat(numbers, dim=-1)
            # The scales have the model's type, in which cells of any other are read.
            total = self.numbers(together.to(self.scales.dtype) * self.scales)
        tables = iter(self.symbols)
        for part, group in zip(parts, self.columns, strict=True):
            if group.kind == "symbol":
                rows = next(tables)(part.to(torch.int64) - group.first).sum(dim=-2)
                total = rows if total is None else total + rows
        assert total is not None
        return total
