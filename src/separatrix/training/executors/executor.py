"""How groups are trained somewhere: the one interface of local, process and cluster execution.

An executor takes jobs and hands back events; it never touches the store. A worker that dies loses nothing but the work
since its last checkpoint: its job is given out again with the newest checkpoint that reached the driver.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import torch

from separatrix.training.events import Event
from separatrix.training.grouping import Group


@dataclass(frozen=True)
class Job:
    """A group to be trained, from a checkpoint where there is one; ``attempt`` counts how often it was given out."""

    group: Group
    checkpoint: bytes | None = None
    attempt: int = 0


@dataclass(frozen=True)
class Failure:
    """A job that did not end: out of memory (then it is split), or lost with its worker."""

    reason: str
    out_of_memory: bool


def memory_failure(error: BaseException) -> Failure:
    """Return the failure of a job whose memory did not suffice.

    >>> memory_failure(MemoryError("no room for 8 GiB"))
    Failure(reason='no room for 8 GiB', out_of_memory=True)
    """
    return Failure((str(error).splitlines() or ["out of memory"])[0], True)


@contextmanager
def repeatable_draws(job: Job, device: torch.device) -> Generator[None]:
    """Let what a user's module draws on a CPU (dropout, noise) be the same whenever the job begins so again.

    Nothing of this package draws from torch's global generator, whose seed is another one in every process. What the
    generator was before, it is afterwards.

    >>> from separatrix.training.spec import RunSpec
    >>> spec = RunSpec(task="majority", architecture="TF-(1,8)", length=4, learning_rate=0.01, steps=20)
    >>> def drawn():
    ...     with repeatable_draws(Job(Group((spec,))), torch.device("cpu")):
    ...         return torch.rand(3)
    >>> torch.equal(drawn(), drawn())
    True
    """
    if device.type != "cpu":
        yield
        return
    before = torch.random.get_rng_state()
    torch.default_generator.manual_seed(zlib.crc32(job.group.name.encode() + (job.checkpoint or b"")))
    try:
        yield
    finally:
        torch.random.set_rng_state(before)


Outcome: TypeAlias = Event | Failure | None
"""An event, a failure, or None when the job is done."""

Jobs: TypeAlias = Callable[[], Job | None]
"""Gives the next job, or None when there is none at the moment."""


class Executor(ABC):
    """Trains jobs one after another or several at once."""

    @abstractmethod
    def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
        """Take jobs until there is none and no worker is busy; yield what happens, in the order it happens.

        While the caller holds an outcome, that job's worker may go on. Closing the generator ends all workers.
        """
