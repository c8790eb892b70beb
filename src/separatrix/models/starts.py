"""How parameters start, as data: an architecture names its starts without loading torch, ``fill`` draws them.

A member's draws come from its own generator on the CPU, in float32; see ``ensemble``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from torch import Generator, Tensor

Generators: TypeAlias = "Sequence[Generator]"
"""One generator for each member, on the CPU."""


class Initialiser(Protocol):
    """How a parameter starts."""

    def fill(self, parameter: "Tensor", generators: Generators) -> None:
        """Set the values of all members; ``parameter`` is (members, …)."""
        ...


@dataclass(frozen=True)
class Normal:
    """Independent normal numbers."""

    deviation: float
    mean: float = 0.0

    def fill(self, parameter: "Tensor", generators: Generators) -> None:
        """Set the values of all members."""
        fill_members(parameter, [self._draw(parameter, each) for each in generators])

    def for_residual(self, branches: int) -> "Normal":
        """GPT-2's start of the last map of a residual branch, of which there are so many: smaller by √branches."""
        return Normal(self.deviation / math.sqrt(branches), self.mean)

    def _draw(self, parameter: "Tensor", generator: "Generator") -> "Tensor":
        import torch

        return torch.randn(parameter.shape[1:], generator=generator) * self.deviation + self.mean


@dataclass(frozen=True)
class Uniform:
    """Independent numbers, uniform from ``low`` to ``high``."""

    low: float
    high: float

    def fill(self, parameter: "Tensor", generators: Generators) -> None:
        """Set the values of all members."""
        fill_members(parameter, [self._draw(parameter, each) for each in generators])

    def _draw(self, parameter: "Tensor", generator: "Generator") -> "Tensor":
        import torch

        return torch.rand(parameter.shape[1:], generator=generator) * (self.high - self.low) + self.low


@dataclass(frozen=True)
class Constant:
    """The same number everywhere; takes nothing from the generators."""

    value: float

    def fill(self, parameter: "Tensor", generators: Generators) -> None:
        """Set the values of all members."""
        del generators
        parameter.detach().fill_(self.value)


def plus_minus(bound: float) -> Uniform:
    """Uniform from -bound to bound."""
    return Uniform(-bound, bound)


def xavier_uniform(inputs: int, outputs: int, gain: float = 1.0) -> Uniform:
    """Glorot and Bengio 2010, as ``torch.nn.init.xavier_uniform_``."""
    return plus_minus(gain * math.sqrt(6.0 / (inputs + outputs)))


def torch_default(inputs: int) -> Uniform:
    """Return how ``torch.nn.Linear`` starts its weights and biases: uniform within 1/√inputs."""
    return plus_minus(1.0 / math.sqrt(inputs))


def fill_members(parameter: "Tensor", values: "Sequence[Tensor]") -> None:
    """Copy one tensor into each member of a parameter (members, …)."""
    for member, value in enumerate(values):
        parameter.detach()[member].copy_(value.view(parameter.shape[1:]))
