"""A layer that takes its time while a file says so: whoever interrupts its training is never too late."""

import os
import time
from pathlib import Path

import torch
from torch import Tensor, nn

VARIABLE = "SLOW_WHILE"
"""Names the file; without it, or once the file is gone, the layer is as fast as any other."""
SECONDS = 0.1
SLOW = "tests.training.slow:Slow-(1,8)"


class Slow(nn.Module):
    """A mean over what came before, with weights."""

    causal = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (batch, length, width) to the same."""
        file = os.environ.get(VARIABLE)
        if file and Path(file).exists():
            time.sleep(SECONDS)
        return self.linear(x).cumsum(1) / torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]
