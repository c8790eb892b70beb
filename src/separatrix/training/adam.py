"""Adam (Kingma and Ba 2015) over all parameters of an ensemble at once, with a learning rate for each member.

All parameters lie in one flat buffer, each contiguous with its leading axis of members; so do the gradients and the two
moments. One update is a handful of passes over four arrays, whatever the number of layers and members. The learning
rate of every number is a fifth array. Weight decay is decoupled (Loshchilov and Hutter 2019), as ``torch.optim.AdamW``.
The step count is a tensor, so that an update can be part of a CUDA graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPSILON = 1e-8


@dataclass(frozen=True)
class MemberRates:
    """What differs between members: a number for each of them."""

    learning_rate: tuple[float, ...]
    weight_decay: tuple[float, ...]
    warmup: tuple[int, ...]
    clip: tuple[float, ...]


class FlatParameters:
    """The parameters of a model moved into one buffer, with gradients in another; both (numbers,)."""

    def __init__(self, model: nn.Module) -> None:
        parameters = [each for each in model.parameters() if each.requires_grad]
        first = parameters[0]
        total = sum(each.numel() for each in parameters)
        self.shapes = [tuple(each.shape) for each in parameters]
        self.values = torch.empty(total, dtype=first.dtype, device=first.device)
        self.gradients = torch.zeros_like(self.values)
        self.parameters = parameters
        start = 0
        for parameter in parameters:
            end = start + parameter.numel()
            self.values[start:end].copy_(parameter.detach().reshape(-1))
            parameter.data = self.values[start:end].view(parameter.shape)
            parameter.grad = self.gradients[start:end].view(parameter.shape)
            start = end

    def spread(self, each_member: Tensor) -> Tensor:
        """A number for each member, written out for each of its parameters: (members,) to (numbers,)."""
        rows = [each_member.to(self.values)[:, None].expand(shape[0], _per_member(shape)) for shape in self.shapes]
        return torch.cat([row.reshape(-1) for row in rows])

    def by_member(self, flat: Tensor) -> Tensor:
        """A flat buffer as (members, numbers of one member)."""
        return torch.cat(list(self.pieces(flat)), dim=1)

    def pieces(self, flat: Tensor) -> list[Tensor]:
        """Views of a flat buffer, one (members, numbers) for each parameter."""
        sizes = [shape[0] * _per_member(shape) for shape in self.shapes]
        return [piece.view(shape[0], -1) for piece, shape in zip(torch.split(flat, sizes), self.shapes, strict=True)]

    def write(self, flat: Tensor, rows: Tensor) -> None:
        """Set a flat buffer from (members, numbers of one member)."""
        widths = [_per_member(shape) for shape in self.shapes]
        for piece, row in zip(self.pieces(flat), torch.split(rows, widths, dim=1), strict=True):
            piece.copy_(row)


def _per_member(shape: Sequence[int]) -> int:
    count = 1
    for each in shape[1:]:
        count *= each
    return count


class Adam:
    """The optimiser of one ensemble; :meth:`update` uses the gradients in ``flat.gradients`` and clears them."""

    def __init__(self, flat: FlatParameters, rates: MemberRates) -> None:
        self.flat = flat
        self.first = torch.zeros_like(flat.values)
        self.second = torch.zeros_like(flat.values)
        device = flat.values.device
        self.step = torch.zeros((), dtype=torch.float64, device=device)
        rate = torch.tensor(rates.learning_rate, dtype=torch.float64)
        self.rate = flat.spread(rate)
        decay = torch.tensor(rates.weight_decay, dtype=torch.float64)
        self.decay = flat.spread(rate * decay) if bool((decay > 0).any()) else None
        warmup = torch.tensor(rates.warmup, dtype=torch.float64, device=device)
        self.warmup = warmup if bool((warmup > 0).any()) else None
        clip = torch.tensor(rates.clip, dtype=torch.float64)
        infinite = torch.full_like(clip, float("inf"))
        self.clip = torch.where(clip > 0, clip, infinite).to(flat.values) if bool((clip > 0).any()) else None

    @torch.no_grad()
    def update(self) -> None:
        """One step for all members."""
        flat, gradient = self.flat, self.flat.gradients
        if self.clip is not None:
            # Along rows: sums down columns are added in an order that depends on how many members there are.
            squares = torch.stack([piece.square().sum(dim=1) for piece in flat.pieces(gradient)], dim=1).sum(dim=1)
            shrink = (self.clip / (squares.sqrt() + 1e-6)).clamp(max=1.0)
            gradient.mul_(flat.spread(shrink))
        self.step.add_(1)
        first_scale = 1 - BETAS[0] ** self.step
        second_scale = (1 - BETAS[1] ** self.step).sqrt()
        self.first.lerp_(gradient, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        # (m/s1) / (√v/s2 + ε) = (m · s2/s1) / (√v + ε·s2): one pass less over the numbers.
        denominator = self.second.sqrt().add_((EPSILON * second_scale).to(gradient.dtype))
        change = torch.div(self.first, denominator, out=denominator).mul_(self.rate)
        scale = second_scale / first_scale
        if self.warmup is None:
            if self.decay is not None:
                flat.values.addcmul_(flat.values, self.decay, value=-1)
            flat.values.sub_(change.mul_(scale.to(change.dtype)))
        else:
            ramp = flat.spread((self.step / self.warmup.clamp(min=1)).clamp(max=1.0))
            if self.decay is not None:
                flat.values.addcmul_(flat.values, self.decay * ramp, value=-1)
            flat.values.sub_(change.mul_(ramp * scale.to(change.dtype)))
        gradient.zero_()
