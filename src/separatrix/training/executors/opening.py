"""From the words of a command line to an executor."""

from collections.abc import Callable
from typing import Any

import torch

from separatrix.errors import UnknownNameError
from separatrix.training.devices import device_named, environment
from separatrix.training.executors.executor import Executor

EXECUTORS = ("local", "processes", "ray")


def open_executor(
    name: str,
    *,
    device: str = "auto",
    workers: int = 0,
    address: str | None = None,
    threads: int = 0,
    save_every_seconds: float = 30.0,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Executor, dict[str, Any]]:
    """The executor of this name and what records say about where it trains; ``threads`` 0 leaves them to torch."""
    chosen = device_named(device)
    if threads:
        torch.set_num_threads(threads)
    about = environment(chosen, name)
    if name == "processes":
        from separatrix.training.executors.processes import ProcessExecutor

        return ProcessExecutor(chosen, workers, save_every_seconds, stopped), about
    if name == "ray":
        from separatrix.training.executors.ray import RayExecutor

        gpus = 1.0 if chosen.type == "cuda" else 0.0
        return RayExecutor(address, gpus=gpus, save_every_seconds=save_every_seconds, stopped=stopped), about
    if name == "local":
        from separatrix.training.executors.local import LocalExecutor

        return LocalExecutor(chosen, save_every_seconds, stopped), about
    raise UnknownNameError("executor", name, EXECUTORS)
