"""Training in worker processes on this machine, a group in each.

Workers are started with ``spawn``, so that none inherits a lock or a thread pool. Each has one pipe to the driver: jobs
go one way, events the other. A worker that dies closes its pipe; its job is reported as lost and another worker is
started in its place. Anything but events goes through that pipe as well and nothing is shared: a worker may be killed
at any moment, also while it holds a lock that others would wait for.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.sources import ended_by_user_code
from separatrix.training.devices import out_of_memory, prepare_process
from separatrix.training.executors.executor import (
    Executor,
    Failure,
    Job,
    Jobs,
    Outcome,
    memory_failure,
    repeatable_draws,
)
from separatrix.training.group import train

PATIENCE_SECONDS = 0.2


@dataclass
class _Worker:
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    job: Job | None = None


class ProcessExecutor(Executor):
    """Several groups at once, each in a process of its own with its share of the cores."""

    def __init__(
        self,
        device: torch.device,
        workers: int = 0,
        save_every_seconds: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
        threads: int = 0,
    ) -> None:
        cores = os.cpu_count() or 1
        if workers < 0 or workers > 1024:
            raise SeparatrixError(
                f"{workers} worker processes are out of range; choose 1 to 1024, or 0 for one per core"
            )
        self.device, self.workers = device, workers or cores
        self.threads = threads or max(1, cores // self.workers)
        self.save_every_seconds, self.stopped = save_every_seconds, stopped

    def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
        """Keep every worker busy while there are jobs."""
        context = multiprocessing.get_context("spawn")
        workers: list[_Worker] = []
        halted = False
        try:
            while True:
                for worker in [each for each in workers if each.job is None]:
                    if (job := jobs()) is not None:
                        _give(worker, job)
                while len(workers) < self.workers and (job := jobs()) is not None:
                    workers.append(self._started(context, job))
                busy = [worker for worker in workers if worker.job is not None]
                if not busy:
                    return
                if self.stopped() and not halted:
                    halted = True
                    for worker in busy:
                        _send(worker, None)
                ready = wait([worker.pipe for worker in busy], PATIENCE_SECONDS)
                for worker in [each for each in busy if each.pipe in ready]:
                    yield from self._heard(worker, workers)
        finally:
            for worker in workers:
                worker.pipe.close()
                worker.process.terminate()
                worker.process.join()

    def _started(self, context: Any, job: Job) -> _Worker:
        ours, theirs = context.Pipe()
        settings = (theirs, str(self.device), self.threads, self.save_every_seconds)
        process = context.Process(target=_work, args=settings, daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        _give(worker, job)
        return worker

    def _heard(self, worker: _Worker, workers: list[_Worker]) -> Iterator[tuple[Job, Outcome]]:
        job = worker.job
        assert job is not None
        try:
            outcome = worker.pipe.recv()
        except (EOFError, OSError):  # the latter when it was killed in the middle of a message
            worker.process.join()
            worker.pipe.close()
            workers.remove(worker)
            yield job, Failure(f"process {worker.process.pid} ended with {worker.process.exitcode}", False)
            return
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is None or isinstance(outcome, Failure):
            worker.job = None
        yield job, outcome


def _give(worker: _Worker, job: Job) -> None:
    worker.job = job
    _send(worker, job)


def _send(worker: _Worker, message: Job | None) -> None:
    """Give a worker a job, or None to save and end; one that is dead will be found so when it is listened to."""
    with suppress(OSError):
        worker.pipe.send(message)


def _work(pipe: "Connection[Any, Any]", device: str, threads: int, save_every_seconds: float) -> None:
    """Work until the end: take a job, train it, tell everything; ends when the driver says so or closes the pipe."""
    import signal

    # Ctrl-C reaches every process of the terminal; only the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork has its parent's handler, which only remembers
    where = torch.device(device)
    prepare_process(where, threads)
    while True:
        try:
            job: Job | None = pipe.recv()
        except (EOFError, OSError):
            return
        if job is None:
            return
        try:
            # What a user's module prints is not a result of the driver's command.
            with redirect_stdout(sys.stderr), repeatable_draws(job, where):
                # Nothing is sent to a worker in training but to stop; a driver that died reads as a message, too.
                for event in train(job.group, where, job.checkpoint, save_every_seconds, pipe.poll):
                    pipe.send(event)
            pipe.send(None)
        except ConnectionError:
            return
        except SeparatrixError as error:
            pipe.send(SeparatrixError(str(error)))  # subclasses may not survive the journey
        except SystemExit as error:
            pipe.send(ended_by_user_code(error))
        except Exception as error:
            pipe.send(memory_failure(error) if out_of_memory(error) else error)
