"""Several groups at once in this process, taking turns: on a GPU each has a stream of its own.

A group of small models leaves most of a large GPU idle, however many learning rates it holds. Training is handed out to
a GPU long before it is done, so one thread can keep several groups going: a group whose turn it is hands out the steps
of its next chunk of data; while these run, the others have their turns. A group is passed over as long as its last turn
is not worked off, so that no turn waits for the device, except for the short moment in which an accuracy is read. On a
CPU turns are the time between two ticks; nothing is gained there, and nothing changes in the results either.

Seconds in records are each group's share: an instant in which four groups train counts a quarter for each, so that the
seconds of all groups add up to the time that went by.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.training.devices import out_of_memory, prepare_process
from separatrix.training.events import Event
from separatrix.training.executors.executor import Executor, Job, Jobs, Outcome, memory_failure
from separatrix.training.group import train

AT_ONCE = 6
"""Groups in training, by default."""
MOST_AT_ONCE = 16
"""A stream's place among the 32 of a device is given out in turn; beyond it two groups could share one."""
PATIENCE_SECONDS = 0.0002


class SharedClock:
    """Time that went by, divided by how many shared it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._sharing = 1
        self._total = 0.0

    def __call__(self) -> float:
        """Return the share until now."""
        now = self._now()
        self._total += (now - self._last) / self._sharing
        self._last = now
        return self._total

    def shared_by(self, count: int) -> None:
        """Let this many share the time from now on."""
        self()
        self._sharing = max(1, count)


@dataclass(eq=False)
class _Seat:
    """A place for one group: its stream, the group that has it, and a mark behind the work that it handed out."""

    stream: torch.cuda.Stream | None
    job: Job | None = None
    events: Iterator[Event] = field(default_factory=lambda: iter(()))
    mark: torch.cuda.Event | None = None

    def turn(self) -> AbstractContextManager[Any]:
        """Return a context in which everything goes to the seat's stream."""
        return nullcontext() if self.stream is None else torch.cuda.stream(self.stream)

    def ready(self) -> bool:
        """Return whether all that was handed out is done."""
        return self.mark is None or self.mark.query()


class TurnsExecutor(Executor):
    """Several groups on one device, in one thread."""

    def __init__(
        self,
        device: torch.device,
        at_once: int = 0,
        save_every_seconds: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        if not 0 <= at_once <= MOST_AT_ONCE:
            raise SeparatrixError(
                f"{at_once} groups at once are out of range; choose 1 to {MOST_AT_ONCE}, or 0 for {AT_ONCE}"
            )
        self.device, self.at_once = device, at_once or AT_ONCE
        self.save_every_seconds, self.stopped = save_every_seconds, stopped

    def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
        """Keep every seat taken while there are jobs, and go round."""
        prepare_process(self.device)
        clock = SharedClock()
        streams = [torch.cuda.Stream(self.device) if self.device.type == "cuda" else None for _ in range(self.at_once)]
        seats = [_Seat(stream) for stream in streams]
        while True:
            for seat in [each for each in seats if each.job is None]:
                if (job := jobs()) is None:
                    break
                seat.job = job
                seat.events = train(
                    job.group, self.device, job.checkpoint, self.save_every_seconds, self.stopped, clock
                )
            taken = [seat for seat in seats if seat.job is not None]
            if not taken:
                return
            clock.shared_by(len(taken))
            ready = [seat for seat in taken if seat.ready()]
            if not ready:
                time.sleep(PATIENCE_SECONDS)
            for seat in ready:
                assert seat.job is not None
                job, outcome = seat.job, self._turn(seat)
                if not isinstance(outcome, Event):
                    seat.job, seat.events = None, iter(())  # its tensors go with it
                yield job, outcome

    def _turn(self, seat: _Seat) -> Outcome:
        """Let a group hand out work until it has something to tell."""
        with seat.turn():
            try:
                outcome = next(seat.events, None)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                return memory_failure(error)
            if seat.stream is not None:
                seat.mark = torch.cuda.Event()
                seat.mark.record(seat.stream)
        return outcome
