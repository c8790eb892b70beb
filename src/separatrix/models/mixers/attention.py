"""Multi-head attention for many members, as several architectures use it: softmax or hard, masked or not.

Only what is read is computed. Where few positions are read, keys and values are not even formed: with q the query of a
head, the scores qᵀ W_K x_j = (W_Kᵀ q)ᵀ x_j need one vector W_Kᵀ q for each head and read position, and the average
of W_V x_j is W_V applied to the average of x_j. That costs N·width·heads for each read instead of N·width². The key's
bias adds the same number to all scores of a query and changes neither a softmax nor a maximum.
"""

import math
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

from separatrix.models.architecture import Options
from separatrix.models.ensemble import Affine, EnsembleLinear, absorbed, linear
from separatrix.models.mixer import AttentionMixer, Questions, with_positions
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import by_heads, turn
from separatrix.models.scans.once import differentiable_once
from separatrix.models.starts import Constant, Generators, Normal

Scoring: TypeAlias = Literal["softmax", "hard"]


class SelfAttention(AttentionMixer):
    """Multi-head attention for all members, GPT-2's weights and start."""

    absorbs_affine = True

    def __init__(
        self, width: int, members: int, options: Options, *, layers: int, scoring: Scoring = "softmax"
    ) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension = width, options["heads"], width // options["heads"]
        self.causal, self.rotary = options["mask"] == "causal", options["positions"] == "rotary"
        self.scoring: Scoring = scoring
        self.branches = self.causal
        self.scale = 1.0 / math.sqrt(self.dimension)
        self.project = EnsembleLinear(members, width, 3 * width, weight_start=Normal(0.02), bias_start=Constant(0.0))
        self.output = residual_projection(members, width, layers)

    def initialise(self, generators: Generators) -> None:
        """Both maps draw their own weights."""

    def forward(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        affine: Affine | None = None,
        questions: Questions | None = None,
    ) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read."""
        maps = self._maps(affine)
        if read is None and self.scoring == "softmax" and questions is None:
            return self.output(self._everywhere(x, lengths, maps))
        if read is None:
            read = every_position(x)
        # Multiplications for each sequence: with keys and values formed, and without.
        length, reads = x.shape[2], read.shape[2]
        formed = 2 * length * self.width**2
        if not self.rotary and 2 * reads * self.heads * (length + self.width) * self.width < formed:
            return self.output(self._folded(x, read, lengths, maps, questions))
        return self.output(self._at(x, read, lengths, maps, questions))

    def weights(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        affine: Affine | None = None,
    ) -> Tensor:
        """Return the weights (members, batch, heads, reads or length, length)."""
        read = every_position(x) if read is None else read
        query, key, _, mask = self._queries_and_keys(x, read, lengths, self._maps(affine))
        return self._weights_of(query @ key.transpose(-1, -2), mask)[0].unflatten(0, x.shape[:2])

    def _maps(self, affine: Affine | None) -> tuple[Tensor, Tensor]:
        """Return the maps to queries, keys and values, with the gain and shift of the norm before them."""
        weight, bias = absorbed(self.project.weight, self.project.bias, affine)
        assert bias is not None
        return weight, bias

    def _everywhere(self, x: Tensor, lengths: Tensor | None, maps: tuple[Tensor, Tensor]) -> Tensor:
        query, key, value = self._heads(linear(x, *maps)).unbind(dim=0)
        if self.rotary:
            place = torch.arange(x.shape[2], device=x.device)
            query, key = rotate(query, place), rotate(key, place)
        # Behind a causal mask padding at the end is never seen; without one its keys are hidden.
        mask = None if self.causal or lengths is None else visible(None, lengths, x.shape[2])
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=self.causal)
        return self._joined(attended, x)

    def _queries_and_keys(
        self,
        x: Tensor,
        read: Tensor,
        lengths: Tensor | None,
        maps: tuple[Tensor, Tensor],
        questions: Questions | None = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Return queries at the positions read, keys and values everywhere, (members·batch, heads, …, m), and the
        mask."""
        (weight, bias), width = maps, self.width
        x, rows = with_positions(x, read)
        query = self._heads(linear(rows, weight[..., :width], bias[..., :width]))[0]
        key, value = self._heads(linear(x, weight[..., width:], bias[..., width:])).unbind(dim=0)
        if self.rotary:
            place = every_position(x)
            if questions is not None:
                place = torch.cat([questions.split(place)[0], questions.at.expand(-1, -1, questions.number)], dim=2)
            query = rotate(query, place.gather(2, read).flatten(0, 1).unsqueeze(1))
            key = rotate(key, place.flatten(0, 1).unsqueeze(1))
        return query, key, value, visible(read if self.causal else None, lengths, x.shape[2], questions)

    def _at(
        self,
        x: Tensor,
        read: Tensor,
        lengths: Tensor | None,
        maps: tuple[Tensor, Tensor],
        questions: Questions | None = None,
    ) -> Tensor:
        query, key, value, mask = self._queries_and_keys(x, read, lengths, maps, questions)
        if self.scoring == "softmax":
            attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            weights, soft = self._weights_of(query @ key.transpose(-1, -2), mask)
            # Straight through: the value is that of the hard weights, the derivative that of the soft ones.
            attended = (weights + (soft - soft.detach())) @ value
        return self._joined(attended, x)

    def _weights_of(self, products: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return weights (…, keys) from products of queries and keys, and those whose derivative is taken."""
        scores = products * self.scale
        return attention_weights(scores if mask is None else scores.masked_fill(~mask, float("-inf")), self.scoring)

    def _folded(
        self,
        x: Tensor,
        read: Tensor,
        lengths: Tensor | None,
        maps: tuple[Tensor, Tensor],
        questions: Questions | None = None,
    ) -> Tensor:
        members, batch, length, width = x.shape
        reads, heads, inner = read.shape[2], self.heads, self.dimension
        weight, bias = maps
        x, rows = with_positions(x, read)
        query = linear(rows, weight[..., :width], bias[..., :width]) * self.scale
        # (members·heads, batch·reads, m) times (members·heads, m, width): the vectors W_Kᵀ q.
        query = query.view(members, batch * reads, heads, inner).transpose(1, 2).reshape(-1, batch * reads, inner)
        to_key = by_heads(weight[..., width : 2 * width], heads)
        asked = torch.bmm(query, to_key.transpose(1, 2)).view(members, heads, batch, reads, width)
        asked = asked.permute(0, 2, 3, 1, 4).reshape(members * batch, reads * heads, width)
        mask = visible(read if self.causal else None, lengths, length, questions)
        if mask is not None:
            mask = mask.expand(-1, heads, reads, length).transpose(1, 2).reshape(-1, reads * heads, length)
        # Under autocast the products before this one have chosen the type.
        flat = x.reshape(members * batch, length, width).to(asked.dtype)
        averaged = AttendToInputs.apply(asked, flat, mask, self.scoring)
        averaged = averaged.view(members, batch * reads, heads, width).transpose(1, 2).reshape(-1, batch * reads, width)
        values = torch.bmm(averaged, by_heads(weight[..., 2 * width :], heads))
        values = values.view(members, heads, batch * reads, inner).transpose(1, 2).reshape(members, batch, reads, width)
        return values + bias[:, None, None, 2 * width :]

    def _heads(self, projected: Tensor) -> Tensor:
        """(members, batch, length, parts·width) to (parts, members·batch, heads, length, m), without a copy."""
        members, batch, length, _ = projected.shape
        split = projected.view(members * batch, length, -1, self.heads, self.dimension)
        return split.permute(2, 0, 3, 1, 4)

    def _joined(self, attended: Tensor, x: Tensor) -> Tensor:
        return attended.transpose(1, 2).reshape(*x.shape[:2], -1, self.width)


def residual_projection(members: int, width: int, layers: int) -> EnsembleLinear:
    """GPT-2's last map of a residual branch, of which there are two in each layer."""
    start = Normal(0.02).for_residual(2 * layers)
    return EnsembleLinear(members, width, width, weight_start=start, bias_start=Constant(0.0))


def visible(
    read: Tensor | None, lengths: Tensor | None, length: int, questions: Questions | None = None
) -> Tensor | None:
    """Return which keys queries see, bool (members·batch, 1, reads or 1, length); None when they see all.

    ``read`` is given where a query sees no position behind its own, ``lengths`` where there is padding. Each of the
    ``questions`` sees the text before it and itself; padding lies behind that.
    """
    given = read if read is not None else lengths
    if given is None:
        return None
    key = torch.arange(length, device=given.device)
    row = None if read is None else read.reshape(-1, 1, read.shape[-1], 1)
    seen = None if row is None else key <= row
    if questions is not None and row is not None and seen is not None:
        at = questions.at.reshape(-1, 1, 1, 1)
        return seen & ((row < length - questions.number) | (key < at) | (key == row))
    if lengths is None:
        return seen
    inside = key < lengths.reshape(-1, 1, 1, 1)
    return inside if seen is None else seen & inside


def rotate(x: Tensor, place: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021): x (…, length, m), place (…, length) int64; pairs (i, i + m/2)."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angle = place.unsqueeze(-1).to(torch.float32) * frequency
    return turn(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype))


def attention_weights(scores: Tensor, scoring: Scoring) -> tuple[Tensor, Tensor]:
    """Return weights over the last axis, and those whose derivative is taken; scores of -∞ get none.

    Hard: equal shares among the largest scores, with the derivative of the softmax (Bengio et al. 2013).
    """
    soft = torch.softmax(scores, dim=-1)
    if scoring == "softmax":
        return soft, soft
    largest = (scores == scores.amax(dim=-1, keepdim=True)).to(soft.dtype)
    return largest / largest.sum(dim=-1, keepdim=True), soft


class AttendToInputs(Function):
    """Averages of x with weights from asked·x: few queries, so that x is by far the largest tensor.

    Written out because x takes part twice: its two gradients are one product here, and never two tensors to be added.
    """

    @staticmethod
    def forward(ctx: Any, asked: Tensor, x: Tensor, mask: Tensor | None, scoring: Scoring) -> Tensor:
        """asked (groups, queries, width), x (groups, length, width), mask (groups, queries, length) or None."""
        scores = torch.bmm(asked, x.transpose(1, 2)).to(at_least_float32(x.dtype))
        if mask is not None:
            scores.masked_fill_(~mask, float("-inf"))
        weights, soft = attention_weights(scores, scoring)
        weights = weights.to(x.dtype)
        ctx.save_for_backward(asked, x, weights, soft)
        return torch.bmm(weights, x)

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Return gradients of asked and x."""
        (outer,) = gradients
        asked, x, weights, soft = ctx.saved_tensors
        change = torch.bmm(outer, x.transpose(1, 2)).to(soft.dtype)
        change = (soft * (change - (soft * change).sum(dim=-1, keepdim=True))).to(x.dtype)
        both = torch.cat([weights, change], dim=1).transpose(1, 2)
        return torch.bmm(change, x), torch.bmm(both, torch.cat([outer, asked], dim=1)), None, None


def every_position(x: Tensor) -> Tensor:
    """Return all positions of x (members, batch, length, width) as reads (members, batch, length)."""
    return torch.arange(x.shape[2], device=x.device).expand(*x.shape[:3])
