"""Training in this process, one group after another: the default."""

from collections.abc import Callable, Generator

import torch

from separatrix.training.devices import out_of_memory, prepare_process
from separatrix.training.executors.executor import Executor, Job, Jobs, Outcome, memory_failure, repeatable_draws
from separatrix.training.group import train


class LocalExecutor(Executor):
    """One group at a time on one device."""

    def __init__(
        self,
        device: torch.device,
        save_every_seconds: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.device = device
        self.save_every_seconds = save_every_seconds
        self.stopped = stopped

    def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
        """Train each job to its end before taking the next."""
        prepare_process(self.device)
        while (job := jobs()) is not None:
            try:
                with repeatable_draws(job, self.device):
                    for event in train(job.group, self.device, job.checkpoint, self.save_every_seconds, self.stopped):
                        yield job, event
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                yield job, memory_failure(error)
            else:
                yield job, None
