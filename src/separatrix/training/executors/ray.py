"""Training on a Ray cluster: each group goes to a worker somewhere, only the driver writes records.

Events stream back as they happen, checkpoints included, so a node that dies takes nothing with it but the work since
the last checkpoint; its group is given out again. Ray is the ``ray`` extra and is imported only here.
"""

import os
import socket
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.extras import require
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

PATIENCE_SECONDS = 0.2
CONNECTION_SECONDS = 10.0


@dataclass
class _Assignment:
    actor: Any
    stream: Any
    job: Job
    heard: bool = False


def _ray() -> Any:
    require("--executor ray", "ray")
    import ray

    return ray


class RayExecutor(Executor):
    """Groups on the nodes of a cluster; ``address`` None starts one on this machine."""

    def __init__(
        self,
        address: str | None = None,
        cpus: float = 1.0,
        gpus: float = 0.0,
        save_every_seconds: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.address, self.cpus, self.gpus = address, cpus, gpus
        self.threads = max(1, int(cpus))
        self.save_every_seconds, self.stopped = save_every_seconds, stopped

    def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
        """Keep as many groups in training as the cluster has room for."""
        ray = _ray()
        mine = not ray.is_initialized()
        if mine:
            _connect(ray, self.address)
        trainer = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_restarts=0, max_concurrency=2)(_Trainer)
        active: list[_Assignment] = []
        idle: list[Any] = []
        halted = False
        try:
            while True:
                while len(active) < self._room(ray) and (job := jobs()) is not None:
                    # A new one takes seconds to import torch, so that one that has ended its group takes the next.
                    actor = idle.pop() if idle else trainer.remote()
                    device = "cuda" if self.gpus else "cpu"
                    stream = actor.train.options(num_returns="streaming").remote(
                        job, device, self.threads, self.save_every_seconds
                    )
                    active.append(_Assignment(actor, stream, job))
                while idle:
                    ray.kill(idle.pop())
                if not active:
                    return
                if self.stopped() and not halted:
                    halted = True
                    active = self._halted(ray, active)
                    continue
                ready, _ = ray.wait([each.stream for each in active], timeout=PATIENCE_SECONDS, fetch_local=False)
                for each in [one for one in active if one.stream in ready]:
                    outcome, each.heard = self._next(ray, each), True
                    if outcome is None:
                        active.remove(each)
                        idle.append(each.actor)
                    elif isinstance(outcome, Failure):
                        active.remove(each)
                        ray.kill(each.actor)
                    yield each.job, outcome
        finally:
            for actor in [*idle, *(each.actor for each in active)]:
                ray.kill(actor)
            if mine:
                ray.shutdown()

    def _halted(self, ray: Any, active: list[_Assignment]) -> list[_Assignment]:
        """Ask all to save and end; who has not begun, and may wait for a place on the cluster, is given up at once."""
        for each in active:
            if each.heard:
                each.actor.stop.remote()
            else:
                ray.kill(each.actor)
        return [each for each in active if each.heard]

    def _room(self, ray: Any) -> int:
        """Return how many groups the nodes that are alive can train at once; at least one is always asked for."""
        found = ray.cluster_resources()
        room = int(found.get("CPU", 0) // self.cpus) if self.cpus else 1
        return max(1, min(room, int(found.get("GPU", 0) // self.gpus)) if self.gpus else room)

    def _next(self, ray: Any, assignment: _Assignment) -> Outcome:
        """Return the next outcome of a stream that is ready."""
        try:
            reference = next(assignment.stream)
        except StopIteration:
            return None
        try:
            return ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            if out_of_memory(cause):
                return memory_failure(cause)
            raise cause from None
        except ray.exceptions.RayError as error:
            return Failure(str(error).splitlines()[0] or type(error).__name__, False)


def check_address(address: str) -> None:
    """Raise a one-line error unless something listens at HOST:PORT.

    Ray itself would try for minutes, warn at every attempt and then end the process.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address in ("auto", "local"):
        return
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise SeparatrixError(f"--address {address} is not HOST:PORT; write such as  --address 10.0.0.1:6379")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECTION_SECONDS):
            return
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise SeparatrixError(
            f"no Ray cluster at {address} ({reason}); start one with  ray start --head  and give its --address"
        ) from error


def _connect(ray: Any, address: str | None) -> None:
    if address is not None:
        check_address(address)
    # Without this Ray packs the working folder and sends metrics; neither is wanted.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SeparatrixError(
            f"no Ray cluster at {address or 'this machine'} ({reason}); start one with  ray start --head  and give "
            "its --address"
        ) from error


class _Trainer:
    """What runs on a worker."""

    def __init__(self) -> None:
        self.halted = False

    def stop(self) -> None:
        """Save at the next step and end."""
        self.halted = True

    def train(self, job: Job, device: str, threads: int, save_every_seconds: float) -> Iterator[Any]:
        """Yield the events of a group, one after another."""
        import torch

        from separatrix.training.group import train

        where = torch.device(device)
        prepare_process(where, threads)
        try:
            with repeatable_draws(job, where):
                yield from train(job.group, where, job.checkpoint, save_every_seconds, lambda: self.halted)
        except SeparatrixError as error:
            raise SeparatrixError(str(error)) from None  # subclasses may not survive the journey
        except SystemExit as error:
            raise ended_by_user_code(error) from None
