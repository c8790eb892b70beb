"""A layer that needs hundreds of MB for each member, in a process that may grow by 600 MB: a real lack of memory."""

import multiprocessing
import resource
from pathlib import Path

import torch
from torch import Tensor, nn

MORE = 600 << 20
COPIES = 1 << 13


def limit_memory() -> None:
    """This process may not grow by more than ``MORE`` from now on."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft = pages * resource.getpagesize() + MORE
    resource.setrlimit(resource.RLIMIT_AS, (soft, resource.getrlimit(resource.RLIMIT_AS)[1]))


class Hungry(nn.Module):
    """The input, by a detour through many copies of it."""

    causal = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        if multiprocessing.parent_process() is not None:  # who only looks at the module is not a worker
            limit_memory()

    def forward(self, x: Tensor) -> Tensor:
        """x (batch, length, width) to the same."""
        copies = (x * self.scale).unsqueeze(-1) * torch.ones(COPIES, dtype=x.dtype)
        return copies.mean(dim=-1)
