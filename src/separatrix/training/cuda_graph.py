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
LEAST_FREE_SHARE = 0.25
"""Of the device's memory; with less, memory of graphs that are gone is given back before another is captured."""


class CapturedStep:
    """The captured step of one ensemble; made anew when members leave."""

    def __init__(self, ensemble: "Ensemble", chunk: Batch) -> None:
        self.ensemble = ensemble
        self.buffers = chunk.mapped(Tensor.clone)
        self.place = torch.zeros(1, dtype=torch.int64, device=ensemble.device)
        state = ensemble.state_tensors()
        before = [each.clone() for each in state]
        current = torch.cuda.current_stream(ensemble.device)
        # The work space of the matrix products belongs to the stream of the capture. Groups that train at once have
        # streams of their own and must not share one; only the default stream cannot be captured.
        default = torch.cuda.default_stream(ensemble.device)
        side = torch.cuda.Stream(ensemble.device) if current == default else current
        side.wait_stream(current)
        _make_room(ensemble.device)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                self._step()
            # Not torch.cuda.graph, which waits for everything on the device, also for the work of other groups.
            self.graph.capture_begin()
            try:
                self._step()
            finally:
                self.graph.capture_end()
        current.wait_stream(side)
        self._put_back(state, before)

    def load(self, chunk: Batch, place: int) -> None:
        """Fill the buffers with the data of 32 steps and continue with the one at ``place``."""
        for buffer, fresh in zip(self.buffers.tensors(), chunk.tensors(), strict=True):
            if buffer is not None and fresh is not None:
                buffer.copy_(fresh)
        self.place.fill_(place)

    def replay(self) -> None:
        """One step."""
        self.graph.replay()

    def _step(self) -> None:
        picked = self.buffers.mapped(lambda each: each.index_select(0, self.place)[0])
        self.ensemble.train_on(self.ensemble.for_members(picked))
        self.place.add_(1).remainder_(CHUNK_STEPS)

    def _put_back(self, state: list[Tensor], before: list[Tensor]) -> None:
        for tensor, saved in zip(state, before, strict=True):
            tensor.copy_(saved)
        self.place.zero_()


def _make_room(device: torch.device) -> None:
    """Within a capture nothing can be given back. It makes the device wait, so it is done only when memory is short."""
    free, total = torch.cuda.mem_get_info(device)
    if free < LEAST_FREE_SHARE * total:
        torch.cuda.empty_cache()
