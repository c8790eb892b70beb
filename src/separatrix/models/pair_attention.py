"""Softmax attention over all pairs of positions, streamed: memory O(N·m), never O(N²·m).

    out_i = Σ_{j,k} a_ijk v_j∘w_k,    a_i = softmax over pairs (j, k) of s_ijk = Σ_c q_ic k_jc l_kc

The scores of one (i, j) against all k are one row of a matrix product: (q_i∘k_j) Lᵀ. So tiles of rows (i, j) are
formed, their maximum and sums are folded into running ones (online softmax, Milakov and Gimelshein 2018; Rabe and
Staats 2021), and the tile is dropped. Backwards the tiles are formed once more from the saved logarithms of the sums,
as in FlashAttention (Dao et al. 2022). Work is O(N³·m) in both directions.

A tile holds at most ``CPU_TILE`` or ``GPU_TILE`` scores, or one row of N, whichever is more. It spans as many groups
(members, sequences, heads) as leave each of them enough rows for a product of matrices: with fewer rows the keys of all
groups would be read again for every row (measured on a CPU, forwards and backwards, eight members at N = 800 and one
position read: 0.4 s a member instead of 6.0 s with all groups in every tile).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from separatrix.models.scans.exact import at_least_float32, exactly
from separatrix.models.scans.once import differentiable_once

CPU_TILE = 1 << 18
GPU_TILE = 1 << 26
"""Scores held at a time, over all groups: 1 MiB in float32, which stays in the cache, or 256 MiB, which fills a GPU."""
ENOUGH_ROWS = 256
"""Rows of a group that make a product of matrices worth while; a tile spans fewer groups before it has fewer."""


@dataclass(frozen=True)
class Visibility:
    """Which pairs a query sees: those with both positions inside, and none behind it where it is causal.

    place (groups, queries) int64 where causal, inside (groups,) int64 where there is padding.
    """

    place: Tensor | None
    inside: Tensor | None

    def of(self, groups: slice) -> "Visibility":
        """Return the same for some of the groups."""
        return Visibility(*(None if each is None else each[groups] for each in (self.place, self.inside)))

    def hidden(self, queries: slice, firsts: slice, length: int, device: torch.device) -> Tensor | None:
        """Return what a tile must not see, bool, broadcasting to (groups, queries, firsts, length)."""
        if self.place is None and self.inside is None:
            return None
        first = torch.arange(length, device=device)[firsts].view(1, 1, -1, 1)
        second = torch.arange(length, device=device).view(1, 1, 1, -1)
        # A pair is hidden when its later position is.
        later = torch.maximum(first, second)
        hidden = None if self.place is None else later > self.place[:, queries, None, None]
        if self.inside is None:
            return hidden
        outside = later >= self.inside.view(-1, 1, 1, 1)
        return outside if hidden is None else hidden | outside


def pair_attention(
    query: Tensor,
    first_key: Tensor,
    second_key: Tensor,
    first_value: Tensor,
    second_value: Tensor,
    visibility: Visibility,
    tile: int | None = None,
) -> Tensor:
    """Return the averages (groups, queries, v).

    query (groups, queries, m), keys (groups, length, m), values (groups, length, v). Every query must see a pair.

    A query of 0 averages over all pairs; here v_j w_k over (j, k) in {0, 1}²:
    """
    held = tile or (GPU_TILE if query.is_cuda else CPU_TILE)
    given = (query, first_key, second_key, first_value, second_value)
    kind = at_least_float32(query.dtype)
    # Running sums over N² pairs lose too much in half precision.
    with exactly(query):
        return PairAttention.apply(*(each.to(kind) for each in given), visibility, held).to(query.dtype)


def spans(groups: int, queries: int, length: int, tile: int) -> Iterator[slice]:
    """Yield slices of groups that share tiles.

    >>> list(spans(3, 1, 800, 1 << 18)), list(spans(300, 1, 800, 1 << 26))
    ([slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)], [slice(0, 300, None)])
    """
    size = max(1, min(groups, tile // max(1, length * min(queries * length, ENOUGH_ROWS))))
    for start in range(0, groups, size):
        yield slice(start, min(groups, start + size))


def tiles(groups: int, queries: int, length: int, tile: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of queries and first positions, such that groups · queries · firsts · length stays below
    ``tile``."""
    rows = max(1, tile // max(1, groups * length))
    firsts = max(1, min(length, rows // max(1, min(queries, rows))))
    size = max(1, min(queries, rows // firsts))
    for start in range(0, queries, size):
        for first in range(0, length, firsts):
            yield slice(start, start + size), slice(first, first + firsts)


def tile_scores(query: Tensor, first_key: Tensor, second_key: Tensor, hidden: Tensor | None) -> Tensor:
    """Return the scores of a tile, (groups, queries, firsts, length)."""
    groups, queries, _ = query.shape
    rows = (query[:, :, None] * first_key[:, None]).flatten(1, 2)
    scores = torch.bmm(rows, second_key.transpose(1, 2)).view(groups, queries, -1, second_key.shape[1])
    return scores if hidden is None else scores.masked_fill_(hidden, float("-inf"))


def with_ones(x: Tensor) -> Tensor:
    """(groups, length, c) to (groups, c + 1, length), the last row of ones."""
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1).transpose(1, 2)


def with_offset(rows: Tensor, offset: Tensor, firsts: int) -> Tensor:
    """Return rows (groups, queries·firsts, c) with -offset (groups, queries) of their query as one more column."""
    return torch.cat([rows, offset.neg().repeat_interleave(firsts, dim=1).unsqueeze(-1)], dim=-1)


class PairAttention(Function):
    """Forwards by the online softmax, backwards by forming every tile again."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        first_key: Tensor,
        second_key: Tensor,
        first_value: Tensor,
        second_value: Tensor,
        visibility: Visibility,
        tile: int,
    ) -> Tensor:
        """Return the averages."""
        groups, queries, _ = query.shape
        output = query.new_zeros(groups, queries, first_value.shape[2])
        logarithm = query.new_empty(groups, queries)
        for part in spans(groups, queries, first_value.shape[1], tile):
            given = [each[part] for each in (query, first_key, second_key, first_value, second_value)]
            forward_part(given, visibility.of(part), tile, (output[part], logarithm[part]))
        ctx.save_for_backward(query, first_key, second_key, first_value, second_value, output, logarithm)
        ctx.visibility, ctx.tile = visibility, tile
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return gradients of queries, keys and values."""
        saved: tuple[Tensor, ...] = ctx.saved_tensors
        results = [torch.zeros_like(each) for each in saved[:5]]
        groups, queries, _ = saved[0].shape
        for part in spans(groups, queries, saved[1].shape[1], ctx.tile):
            given = [each[part] for each in (*saved, gradients[0])]
            backward_part(given, ctx.visibility.of(part), ctx.tile, [each[part] for each in results])
        return *results, None, None


def forward_part(given: Sequence[Tensor], visibility: Visibility, tile: int, results: tuple[Tensor, Tensor]) -> None:
    """Some of the groups, from their queries, keys and values: averages, from 0 on, and logarithms of their sums."""
    query, first_key, second_key, first_value, second_value = given
    output, logarithm = results
    groups, queries, _ = query.shape
    length, size = first_value.shape[1:]
    largest = query.new_full((groups, queries), float("-inf"))
    total = query.new_zeros(groups, queries)
    for chosen, firsts in tiles(groups, queries, length, tile):
        hidden = visibility.hidden(chosen, firsts, length, query.device)
        scores = tile_scores(query[:, chosen], first_key[:, firsts], second_key, hidden)
        before = largest[:, chosen]
        now = torch.maximum(before, scores.amax(dim=(2, 3)))
        # As long as nothing was visible the maximum is -∞, and every share must come out as 0 and not as NaN.
        base = now.masked_fill(now == float("-inf"), 0.0)
        shares = scores.sub_(base[..., None, None]).exp_()
        kept = (before - base).exp_()
        averaged = torch.bmm(shares.flatten(1, 2), second_value).view(groups, -1, shares.shape[2], size)
        averaged = (averaged * first_value[:, None, firsts]).sum(dim=2)
        output[:, chosen] = output[:, chosen] * kept[..., None] + averaged
        total[:, chosen] = total[:, chosen] * kept + shares.sum(dim=(2, 3))
        largest[:, chosen] = now
    output /= total[..., None]
    torch.add(largest, total.log(), out=logarithm)


def backward_part(given: Sequence[Tensor], visibility: Visibility, tile: int, results: Sequence[Tensor]) -> None:
    """Some of the groups, from what forward kept and the gradient of their averages; adds to the five gradients."""
    query, first_key, second_key, first_value, second_value, output, logarithm, outer = given
    to_query, to_first, to_second, to_first_value, to_second_value = results
    groups, queries, m = query.shape
    length, size = first_value.shape[1:]
    # Σ_jk a_ijk ∂a_ijk, the part of the softmax's derivative that all pairs of a query share. What is taken off all
    # scores of a query goes into the products as one more column, against a column of ones.
    common = (outer * output).sum(dim=-1)
    keys, values = with_ones(second_key), with_ones(second_value)
    for chosen, firsts in tiles(groups, queries, length, tile):
        hidden = visibility.hidden(chosen, firsts, length, query.device)
        asked, key, value, above = query[:, chosen], first_key[:, firsts], first_value[:, firsts], outer[:, chosen]
        rows = (asked[:, :, None] * key[:, None]).flatten(1, 2)
        back = (above[:, :, None] * value[:, None]).flatten(1, 2)
        weights = torch.bmm(with_offset(rows, logarithm[:, chosen], key.shape[1]), keys).exp_()
        shape = (groups, asked.shape[1], key.shape[1])
        if hidden is not None:
            weights.view(*shape, length).masked_fill_(hidden, 0.0)
        to_second_value.baddbmm_(weights.transpose(1, 2), back)
        averaged = torch.bmm(weights, second_value).view(*shape, size)
        to_first_value[:, firsts] += (averaged * above[:, :, None]).sum(dim=1)
        change = torch.bmm(with_offset(back, common[:, chosen], key.shape[1]), values).mul_(weights)
        to_second.baddbmm_(change.transpose(1, 2), rows)
        to_rows = torch.bmm(change, second_key).view(*shape, m)
        to_query[:, chosen] += (to_rows * key[:, None]).sum(dim=2)
        to_first[:, firsts] += (to_rows * asked[:, :, None]).sum(dim=1)
