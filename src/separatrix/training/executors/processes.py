"""Training in worker processes on this machine, a group in each.

Workers are started with ``spawn``, so that none inherits a lock or a thread pool. Each has one pipe to the driver: jobs
go one way, events the other. A worker that dies closes its pipe; its job is reported as lost and another worker is
started in its place.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event as Flag
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.training.devices import out_of_memory
from separatrix.training.executors.executor import Executor, Failure, Job, Jobs, Outcome
from separatrix.training.group import train

PATIENCE_SECONDS = 0.2


@dataclass
class _Worker:
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    job: Job | None = None


class ProcessExecutor(Executor):
    """Several groups at once, each in a process of its own with its share of the cores."""

    name = "processes"

    def __init__(
        self,
        device: torch.device,
        workers: int = 0,
        save_every_seconds: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        cores = os.cpu_count() or 1
        if workers < 0 or workers > 1024:
            raise SeparatrixError(
                f"{workers} worker processes are out of range; choose 1 to 1024, or 0 for one per core"
            )
        self.device, self.workers = device, workers or cores
        self.threads = max(1, cores // self.workers)
        self.save_every_seconds, self.stopped = save_every_seconds, stopped

    def run(self, jobs: Jobs) -> Iterator[tuple[Job, Outcome]]:
        """Keep every worker busy while there are jobs."""
        context = multiprocessing.get_context("spawn")
        halt = context.Event()
        crew: list[_Worker] = []
        try:
            while True:
                for worker in [each for each in crew if each.job is None]:
                    self._give(worker, jobs)
                while len(crew) < self.workers and (job := jobs()) is not None:
                    crew.append(self._started(context, halt, job))
                busy = [worker for worker in crew if worker.job is not None]
                if not busy:
                    return
                if self.stopped():
                    halt.set()
                ready = wait([worker.pipe for worker in busy], PATIENCE_SECONDS)
                for worker in [each for each in busy if each.pipe in ready]:
                    yield from self._heard(worker, crew)
        finally:
            for worker in crew:
                worker.pipe.close()
                worker.process.terminate()
                worker.process.join()

    def _give(self, worker: _Worker, jobs: Jobs) -> None:
        worker.job = jobs()
        if worker.job is not None:
            worker.pipe.send(worker.job)

    def _started(self, context: Any, halt: Flag, job: Job) -> _Worker:
        ours, theirs = context.Pipe()
        settings = (theirs, str(self.device), self.threads, self.save_every_seconds, halt)
        process = context.Process(target=_work, args=settings, daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours, job)
        ours.send(job)
        return worker

    def _heard(self, worker: _Worker, crew: list[_Worker]) -> Iterator[tuple[Job, Outcome]]:
        job = worker.job
        assert job is not None
        try:
            outcome = worker.pipe.recv()
        except (EOFError, ConnectionError):
            worker.process.join()
            crew.remove(worker)
            yield job, Failure(f"process {worker.process.pid} ended with {worker.process.exitcode}", False)
            return
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is None or isinstance(outcome, Failure):
            worker.job = None
        yield job, outcome


def _work(pipe: "Connection[Any, Any]", device: str, threads: int, save_every_seconds: float, halt: Flag) -> None:
    """A worker's life: take a job, train it, tell everything; ends when the driver closes the pipe."""
    import signal

    # Ctrl-C reaches every process of the terminal; only the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    while True:
        try:
            job: Job = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            for event in train(job.group, torch.device(device), job.checkpoint, save_every_seconds, halt.is_set):
                pipe.send(event)
            pipe.send(None)
        except (BrokenPipeError, ConnectionError):
            return
        except Exception as error:
            memory = out_of_memory(error)
            pipe.send(Failure(str(error).splitlines()[0] if str(error) else "out of memory", True) if memory else error)
