"""A sequence-mixing layer of your own: an average of the past that forgets at a learned rate, with a gate.

Name it examples/own_mixer.py:ForgettingAverage-(2,64) wherever a model is named.
"""

import torch
from torch import Tensor, nn


class ForgettingAverage(nn.Module):
    """y_t = W (g_t ∘ Σ_{s≤t} λ^{t-s} x_s), one rate λ for each channel: (batch, length, width) to the same."""

    causal = True

    def __init__(self, width: int, slowest: float = 0.99) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.linspace(0.0, 4.0, width))
        self.gate, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.slowest = slowest

    def forward(self, x: Tensor) -> Tensor:
        """All positions at once, as a product with the matrix λ^{t-s}."""
        steps = torch.arange(x.shape[1], device=x.device)
        age = (steps[:, None] - steps).unsqueeze(-1)
        decay = (self.slowest * torch.sigmoid(self.rate)) ** age.clamp(min=0) * (age >= 0)
        return self.output(torch.sigmoid(self.gate(x)) * torch.einsum("tsc,bsc->btc", decay, x))

    @staticmethod
    def state_numbers(width: int, length: int) -> int:
        """One sum for each channel, however long the input."""
        return width
