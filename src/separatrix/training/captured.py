"""One training step as a CUDA graph: the host launches a single thing a step and waits for nothing.

The data of 32 steps lie in fixed buffers, and the step takes its batch by a counter on the device; so a step is the
same sequence of kernels on the same addresses every time, which is what a graph can hold. Only when a chunk is used up
does the host fill the buffers again, on the same stream. Warm-up steps, which a capture needs, run on copies of the
state that are put back afterwards: a captured run computes what an eager one does.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from separatrix.training.batches import CHUNK_STEPS, Batch

if TYPE_CHECKING:
    from separatrix.training.ensemble import Ensemble

WARM_UP_STEPS = 3


class CapturedStep:
    """The captured step of one ensemble; made anew when members leave."""

    def __init__(self, ensemble: "Ensemble", chunk: Batch) -> None:
        self.ensemble = ensemble
        self.buffers = Batch(*(None if each is None else each.clone() for each in chunk.tensors()))  # type: ignore[arg-type]
        self.place = torch.zeros(1, dtype=torch.int64, device=ensemble.device)
        state = ensemble.state_tensors()
        before = [each.clone() for each in state]
        side = torch.cuda.Stream(ensemble.device)
        side.wait_stream(torch.cuda.current_stream(ensemble.device))
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                self._step()
        torch.cuda.current_stream(ensemble.device).wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._step()
        self._put_back(state, before)

    def load(self, chunk: Batch, place: int) -> None:
        """Fill the buffers with the data of 32 steps and go on with the one at ``place``."""
        for buffer, fresh in zip(self.buffers.tensors(), chunk.tensors(), strict=True):
            if buffer is not None and fresh is not None:
                buffer.copy_(fresh)
        self.place.fill_(place)

    def replay(self) -> None:
        """One step."""
        self.graph.replay()

    def _step(self) -> None:
        picked = [None if each is None else each.index_select(0, self.place)[0] for each in self.buffers.tensors()]
        self.ensemble.train_on(self.ensemble.for_members(Batch(*picked)))  # type: ignore[arg-type]
        self.place.add_(1).remainder_(CHUNK_STEPS)

    def _put_back(self, state: list[Tensor], before: list[Tensor]) -> None:
        for tensor, saved in zip(state, before, strict=True):
            tensor.copy_(saved)
        self.place.zero_()
