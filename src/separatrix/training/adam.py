"""Adam (Kingma and Ba 2015) over all parameters of an ensemble at once, with a learning rate for each member.

All parameters lie in one flat buffer, each contiguous with its leading axis of members; so do the gradients and the two
moments. One update is a handful of passes over four arrays, whatever the number of layers and members. The learning
rate of every number is a fifth array. Weight decay is decoupled (Loshchilov and Hutter 2019), as ``torch.optim.AdamW``.
Rates rise linearly over the warm-up and then fall along a cosine (Loshchilov and Hutter 2017) where a member says so.
The step count is a tensor, so that an update can be part of a CUDA graph.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class MemberRates:
    """What differs between members: a number for each of them."""

    learning_rate: tuple[float, ...]
    weight_decay: tuple[float, ...]
    warmup: tuple[int, ...]
    clip: tuple[float, ...]
    final_rate: tuple[float, ...] = ()
    """Shares of the learning rate at the end; none where all keep theirs."""
    steps: int = 0
    """Of the whole run; the same for all members, as what follows."""
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8


class Schedule:
    """The share of its learning rate that each member has at a step."""

    def __init__(self, rates: MemberRates, device: torch.device) -> None:
        final = rates.final_rate or (1.0,) * len(rates.warmup)
        self.constant = not any(rates.warmup) and all(each == 1 for each in final)
        self.warmup = torch.tensor(rates.warmup, dtype=torch.float64, device=device)
        self.final = torch.tensor(final, dtype=torch.float64, device=device)
        self.falling = (rates.steps - self.warmup).clamp(min=1)

    def at(self, step: Tensor) -> Tensor:
        """Return shares (members,) at ``step``, counted from 1: a line up to 1, then half a cosine."""
        done = ((step - 1 - self.warmup) / self.falling).clamp(0.0, 1.0)
        share = self.final + (1 - self.final) * (1 + torch.cos(math.pi * done)) / 2
        return (step / self.warmup.clamp(min=1)).clamp(max=1.0) * share


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
        """Return a number for each member, written out for each of its parameters: (members,) to (numbers,)."""
        return each_member.to(self.values).index_select(0, self.member_of)

    @cached_property
    def member_of(self) -> Tensor:
        """The member of each number, (numbers,)."""
        device = self.values.device
        rows = [torch.arange(shape[0], device=device, dtype=torch.int32) for shape in self.shapes]
        return torch.cat(
            [row.repeat_interleave(_per_member(shape)) for row, shape in zip(rows, self.shapes, strict=True)]
        )

    def by_member(self, flat: Tensor) -> Tensor:
        """Return a flat buffer as (members, numbers of one member)."""
        return torch.cat(list(self.pieces(flat)), dim=1)

    def pieces(self, flat: Tensor) -> list[Tensor]:
        """Return views of a flat buffer, one (members, numbers) for each parameter."""
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
        self.flat, self.betas, self.epsilon = flat, rates.betas, rates.epsilon
        self.first = torch.zeros_like(flat.values)
        self.second = torch.zeros_like(flat.values)
        device = flat.values.device
        self.step = torch.zeros((), dtype=torch.float64, device=device)
        rate = torch.tensor(rates.learning_rate, dtype=torch.float64)
        self.rate = flat.spread(rate)
        decay = torch.tensor(rates.weight_decay, dtype=torch.float64)
        self.decay = flat.spread(rate * decay) if bool((decay > 0).any()) else None
        self.schedule = Schedule(rates, device)
        clip = torch.tensor(rates.clip, dtype=torch.float64)
        infinite = torch.full_like(clip, float("inf"))
        self.clip = torch.where(clip > 0, clip, infinite).to(flat.values) if bool((clip > 0).any()) else None
        pieces = flat.pieces(flat.gradients)
        self.gradients = [[piece[member] for piece in pieces] for member in range(len(rates.clip))]

    @torch.no_grad()
    def update(self) -> None:
        """Step all members once."""
        flat, gradient = self.flat, self.flat.gradients
        if self.clip is not None:
            # Member by member, so that a norm does not depend on how many there are.
            norms = torch.stack([nn.utils.get_total_norm(each) for each in self.gradients])
            shrink = (self.clip / (norms + 1e-6)).clamp(max=1.0)
            gradient.mul_(flat.spread(shrink))
        self.step.add_(1)
        beta1, beta2 = self.betas
        first_scale = 1 - beta1**self.step
        second_scale = (1 - beta2**self.step).sqrt()
        self.first.lerp_(gradient, 1 - beta1)
        self.second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        # (m/s1) / (√v/s2 + ε) = (m · s2/s1) / (√v + ε·s2): one pass less over the numbers.
        denominator = self.second.sqrt().add_((self.epsilon * second_scale).to(gradient.dtype))
        change = torch.div(self.first, denominator, out=denominator).mul_(self.rate)
        scale = second_scale / first_scale
        if self.schedule.constant:
            if self.decay is not None:
                flat.values.addcmul_(flat.values, self.decay, value=-1)
            flat.values.sub_(change.mul_(scale.to(change.dtype)))
        else:
            spread = flat.spread(self.schedule.at(self.step))
            if self.decay is not None:
                flat.values.addcmul_(flat.values, self.decay * spread, value=-1)
            flat.values.sub_(change.mul_(spread * scale.to(change.dtype)))
        gradient.zero_()
