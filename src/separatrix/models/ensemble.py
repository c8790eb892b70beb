"""Layers of many models at once: every parameter has a leading axis of members, every product is batched over it.

An ensemble of E models is one program: activations are (members, batch, length, width), weights (members, in, out),
and a linear map is one batched matrix product. No number of one member ever meets a number of another.

Initial weights of a member depend on its own seed alone: each member has its own generator on the CPU, draws are made
in float32 in the order in which the modules were registered, and only then moved to the device and type of the
parameter. So an ensemble starts bit for bit at the weights of its single models, on every device.

A module says how its own parameters start in :meth:`EnsembleModule.initialise`; :func:`initialise` calls children
first, so that a parent may overwrite what its children drew. Parameters are NaN until then, which makes a forgotten
one impossible to overlook.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.input_checks import check_range
from separatrix.models.starts import Constant, Generators, Initialiser, torch_default

LARGEST_SEED = 2**63 - 1


def unset(members: int, *shape: int) -> nn.Parameter:
    """Return a parameter (members, *shape) of NaN, to be set by ``initialise``."""
    return nn.Parameter(torch.full((members, *shape), float("nan")))


class EnsembleModule(nn.Module, ABC):
    """A module whose parameters all have a leading axis of members."""

    members: int

    def __init__(self, members: int) -> None:
        super().__init__()
        self.members = members

    @abstractmethod
    def initialise(self, generators: Generators) -> None:
        """Set this module's own parameters (children have set theirs before); one generator for each member."""


def initialise(module: nn.Module, seeds: Sequence[int]) -> None:
    """Start all parameters of a module, member j from ``seeds[j]`` alone."""
    for seed in seeds:
        if not 0 <= seed <= LARGEST_SEED:
            raise SeparatrixError(f"seed {seed} is out of range; choose 0 to 2^63 - 1")
    _initialise(module, [torch.Generator().manual_seed(seed) for seed in seeds])


def _initialise(module: nn.Module, generators: Generators) -> None:
    for child in module.children():
        _initialise(child, generators)
    if isinstance(module, EnsembleModule):
        module.initialise(generators)


class EnsembleLinear(EnsembleModule):
    """x ↦ x W + b for each member: (members, …, inputs) to (members, …, outputs), one batched product."""

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        weight_start: Initialiser | None = None,
        bias_start: Initialiser | None = None,
    ) -> None:
        super().__init__(members)
        self.inputs, self.outputs = inputs, outputs
        self.weight = unset(members, inputs, outputs)
        self.bias = unset(members, outputs) if bias else None
        self.weight_start = weight_start or torch_default(inputs)
        self.bias_start = bias_start or torch_default(inputs)

    def initialise(self, generators: Generators) -> None:
        """Draw the weights, then the bias."""
        self.weight_start.fill(self.weight, generators)
        if self.bias is not None:
            self.bias_start.fill(self.bias, generators)

    def forward(self, x: Tensor, affine: "Affine | None" = None) -> Tensor:
        """x (members, …, inputs); with the gain and shift of a norm before it, where they are given."""
        weight, bias = absorbed(self.weight, self.bias, affine)
        return linear(x, weight, bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (members, …, inputs), weight (members, inputs, outputs), bias (members, outputs): (members, …, outputs).

    >>> linear(torch.ones(2, 1, 3), torch.tensor([1.0, 10.0]).view(2, 1, 1).expand(2, 3, 1)).flatten()
    tensor([ 3., 30.])
    """
    members, inputs, outputs = weight.shape
    if members == 1:
        flat = x.reshape(-1, inputs)
        result = flat @ weight[0] if bias is None else torch.addmm(bias[0], flat, weight[0])
    else:
        flat = x.reshape(members, -1, inputs)
        result = torch.bmm(flat, weight) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, weight)
    return result.view(*x.shape[:-1], outputs)


class EnsembleEmbedding(EnsembleModule):
    """A table of vectors for each member: tokens (members, …) int64 to (members, …, width)."""

    def __init__(self, members: int, vocabulary: int, width: int, *, start: Initialiser) -> None:
        super().__init__(members)
        self.weight = unset(members, vocabulary, width)
        self.start = start

    def initialise(self, generators: Generators) -> None:
        """Draw the table."""
        self.start.fill(self.weight, generators)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors of the tokens."""
        members, vocabulary, width = self.weight.shape
        # A number outside the table would read another member's; on a GPU looking at it would stop the stream.
        if tokens.device.type == "cpu":
            check_range(tokens, "symbols", vocabulary)
        if members > 1:
            first = torch.arange(members, device=tokens.device) * vocabulary
            tokens = tokens + first.view(members, *[1] * (tokens.dim() - 1))
        return functional.embedding(tokens, self.weight.view(members * vocabulary, width))


class EnsembleNorm(EnsembleModule):
    """Normalisation over the last axis, then a gain (and a shift) for each member and channel."""

    def __init__(self, members: int, width: int, *, epsilon: float = 1e-5) -> None:
        super().__init__(members)
        self.width, self.epsilon = width, epsilon
        self.weight = unset(members, width)

    @abstractmethod
    def normalise(self, x: Tensor) -> Tensor:
        """x (members, …, width) before gain and shift."""

    @abstractmethod
    def affine(self) -> "Affine":
        """Gain and shift, for a linear map that takes them over."""

    def forward(self, x: Tensor) -> Tensor:
        """x (members, …, width)."""
        gain, shift = self.affine()
        shape = (self.members, *[1] * (x.dim() - 2), self.width)
        normal = self.normalise(x)
        return (
            normal * gain.view(shape) if shift is None else torch.addcmul(shift.view(shape), normal, gain.view(shape))
        )


Affine: TypeAlias = tuple[Tensor, Tensor | None]
"""Gain and shift of a norm, (members, width) both."""


def absorbed(weight: Tensor, bias: Tensor | None, affine: Affine | None) -> tuple[Tensor, Tensor | None]:
    """Weight and bias of x ↦ (gain∘x + shift) W + b: (members, width, outputs) and (members, outputs).

    A norm's gain and shift cost a pass over all activations, and three more backwards; in the map behind it they cost
    next to nothing.
    """
    if affine is None:
        return weight, bias
    gain, shift = affine
    if shift is not None:
        moved = torch.bmm(shift.unsqueeze(1), weight).squeeze(1)
        bias = moved if bias is None else bias + moved
    return gain.unsqueeze(-1) * weight, bias


class EnsembleLayerNorm(EnsembleNorm):
    """Layer normalisation (Ba et al. 2016)."""

    def __init__(self, members: int, width: int, *, epsilon: float = 1e-5) -> None:
        super().__init__(members, width, epsilon=epsilon)
        self.bias = unset(members, width)

    def initialise(self, generators: Generators) -> None:
        """Gain 1 and shift 0."""
        Constant(1.0).fill(self.weight, generators)
        Constant(0.0).fill(self.bias, generators)

    def normalise(self, x: Tensor) -> Tensor:
        """Mean 0 and variance 1."""
        return functional.layer_norm(x, (self.width,), None, None, self.epsilon)

    def affine(self) -> Affine:
        """Gain and shift."""
        return self.weight, self.bias


class EnsembleRMSNorm(EnsembleNorm):
    """Root-mean-square normalisation (Zhang and Sennrich 2019)."""

    def initialise(self, generators: Generators) -> None:
        """Gain 1."""
        Constant(1.0).fill(self.weight, generators)

    def normalise(self, x: Tensor) -> Tensor:
        """Mean square 1."""
        return functional.rms_norm(x, (self.width,), None, self.epsilon)

    def affine(self) -> Affine:
        """Gain alone."""
        return self.weight, None
