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


class LooksLater(nn.Module):
    """Says that it is causal, and is among the first ten positions; behind them it reads the next one."""

    causal = True

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        following = torch.nn.functional.pad(x, (0, 0, 0, 1))[:, 1:]
        late = (torch.arange(x.shape[1], device=x.device) >= 10)[:, None]
        return self.linear(x + following * late)


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


class Doubling(Shift):
    """Gives another dtype than it gets."""

    def forward(self, x):
        return super().forward(x).double()


class Single(Shift):
    """Gives float32 whatever it gets."""

    def forward(self, x):
        return super().forward(x).float()


class Remembering(Shift):
    """Adds what it gave before."""

    def forward(self, x):
        before, self.before = getattr(self, "before", 0.0), super().forward(x)
        return self.before + before


class Boasting(Average):
    """Claims to be causal and to need no state worth mentioning."""

    causal = True

    @staticmethod
    def state_numbers(width, length):
        return width


class Normalising(Shift):
    """Mixes the examples of a batch."""

    def forward(self, x):
        return super().forward(x) - x.mean(dim=0, keepdim=True)


class Window(nn.Module):
    """Sees ``kernel`` positions, and says what that needs."""

    def __init__(self, width, kernel=4):
        super().__init__()
        self.kernel, self.linear = kernel, nn.Linear(width, width)

    def forward(self, x):
        padded = torch.nn.functional.pad(x, (0, 0, self.kernel - 1, 0))
        return self.linear(padded.unfold(1, self.kernel, 1).mean(dim=-1))

    @staticmethod
    def state_numbers(width, length, kernel=2):
        return width * (kernel - 1)


class Forgetful(Window):
    """Says that it carries nothing, and does."""

    @staticmethod
    def state_numbers(width, length):
        return 0


class Pointwise(nn.Linear):
    """Carries nothing, and says so."""

    def __init__(self, width):
        super().__init__(width, width)

    @staticmethod
    def state_numbers(width, length):
        return 0


class Vague(Window):
    """Says no number."""

    @staticmethod
    def state_numbers(width, length):
        return "many"


class Fickle(Shift):
    """Gives other numbers under vmap."""

    def forward(self, x):
        return super().forward(x) * (2.0 if torch._C._functorch.is_batchedtensor(x) else 1.0)


class Lost(Shift):
    """Gives no numbers."""

    def forward(self, x):
        return super().forward(x) * float("nan")


class Smoothed(nn.Module):
    """Keeps running statistics: in place by BatchNorm, and by assigning a buffer anew; a table that is not saved."""

    def __init__(self, width):
        super().__init__()
        self.linear, self.norm = nn.Linear(width, width), nn.BatchNorm1d(width)
        self.register_buffer("level", torch.zeros(width))
        self.register_buffer("start", torch.rand(width))
        self.register_buffer("table", torch.arange(width) / width, persistent=False)

    def forward(self, x):
        if self.training:
            self.level = 0.9 * self.level + 0.1 * x.mean(dim=(0, 1))
        x = self.norm((x - self.level).transpose(1, 2)).transpose(1, 2)
        return self.linear(x) + self.start + self.table


class Rotary(nn.Module):
    """A table of another length than that of the input is made anew, as rotary positions do it."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("table", torch.ones(1, 1), persistent=False)

    def forward(self, x):
        if self.table.shape[0] != x.shape[1]:
            self.table = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)[:, None].cos()
        return self.linear(x) * self.table


class Late(nn.Module):
    """Makes its running statistics when they are first needed."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("level", None)

    def forward(self, x):
        if self.training:
            self.level = x.mean(dim=(0, 1)) if self.level is None else 0.9 * self.level + 0.1 * x.mean(dim=(0, 1))
        return self.linear(x)


class Turning(nn.Module):
    """Has a table of complex numbers."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("turns", torch.polar(torch.ones(width), torch.arange(width) / width))

    def forward(self, x):
        return (self.linear(x) * self.turns).real
