"""From a name and settings to an executor, for the command line, the explorer and Python."""

from collections.abc import Callable
from typing import Any

from separatrix.errors import UnknownNameError
from separatrix.training.devices import device_named, environment, prepare_process
from separatrix.training.executors import EXECUTORS
from separatrix.training.executors.executor import Executor


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
    """Return the executor of this name and what records say about where it trains; ``threads`` 0 leaves them to torch,
    or gives each worker its share.
    """
    chosen = device_named(device)
    prepare_process(chosen, threads)
    about = environment(chosen, name)
    if name == "processes":
        from separatrix.training.executors.processes import ProcessExecutor

        executor = ProcessExecutor(chosen, workers, save_every_seconds, stopped, threads)
        return executor, {**about, "threads": executor.threads}
    if name == "turns":
        from separatrix.training.executors.turns import TurnsExecutor

        shared = TurnsExecutor(chosen, workers, save_every_seconds, stopped)
        return shared, {**about, "at_once": shared.at_once}
    if name == "ray":
        from separatrix.training.executors.ray import RayExecutor

        gpus, cpus = 1.0 if chosen.type == "cuda" else 0.0, float(threads or 1)
        cluster = RayExecutor(address, cpus, gpus, save_every_seconds, stopped)
        return cluster, {**about, "threads": cluster.threads}
    if name == "local":
        from separatrix.training.executors.local import LocalExecutor

        return LocalExecutor(chosen, save_every_seconds, stopped), about
    raise UnknownNameError("executor", name, EXECUTORS)
