"""Modules that a user might bring, good and bad ones."""

import torch
from torch import nn


class Shift(nn.Module):
    """Causal, with an option; says nothing about itself."""

    def __init__(self, width, gain=1.0, deep=False):
        super().__init__()
        self.linear = nn.Sequential(nn.Linear(width, width), nn.Tanh()) if deep else nn.Linear(width, width)
        self.gain = gain

    def forward(self, x):
        return self.gain * self.linear(torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1])


class Average(nn.Module):
    """Sees all positions alike."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x.mean(dim=1, keepdim=True)).expand_as(x)


class MaskedAverage(nn.Module):
    """Sees all positions and knows about padding."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, lengths):
        inside = (torch.arange(x.shape[1], device=x.device) < lengths[:, None]).unsqueeze(-1)
        return self.linear((x * inside).sum(dim=1, keepdim=True) / lengths[:, None, None]).expand_as(x)


class Stubborn(nn.Module):
    """Looks at values in Python, which vmap cannot follow."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x) if float(x.detach().sum()) > 1e9 else self.linear(x) + 1.0


class Counting(nn.Module):
    """Has a buffer, and dropout."""

    def __init__(self, width):
        super().__init__()
        self.linear, self.dropout = nn.Linear(width, width), nn.Dropout(0.5)
        self.register_buffer("offset", torch.rand(width))

    def forward(self, x):
        return self.dropout(self.linear(x)) + self.offset


class Narrow(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 3)

    def forward(self, x):
        return self.linear(x)


class Tuple(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x), None


class Broken(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width + 1, width)

    def forward(self, x):
        return self.linear(x)


class Demanding(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        self.linear = nn.Linear(width, width * kernel)

    def forward(self, x):
        return self.linear(x)[..., : x.shape[-1]]


def not_a_class(width):
    return nn.Linear(width, width)
