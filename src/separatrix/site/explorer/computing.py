"""Computations in processes that can be killed.

A certificate may take a minute and cannot be interrupted from inside. Pebble's pools kill a process when its time is
up or its future is cancelled, and start another. Attention and protocols have a pool for themselves, so that they
never wait behind a proof. Processes are forked from a clean one that has imported everything, and bound their memory.
"""

import asyncio
import importlib
import multiprocessing
import pkgutil
import sys
import traceback
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fastapi import Request as HttpRequest
from pebble import ProcessExpired, ProcessPool

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.comparing import compare
from separatrix.site.explorer.conversing import converse
from separatrix.site.explorer.deciding import decide, smallest_gain
from separatrix.site.explorer.limits import ExplorerError, Kind, Limits
from separatrix.site.explorer.look import look, margins
from separatrix.site.explorer.requests import Compare, Converse, Decide, Look, Request, Setting

Computation: TypeAlias = Literal["look", "margins", "protocol", "verdict", "threshold", "comparison"]
QUICK = ("look", "protocol")
LOOK_EVERY = 0.2
"""Seconds between two looks at whether the client still waits; most computations have ended by then."""
KEPT_REPLIES = 512
CATALOGS = (
    "separatrix.arithmetic.codes.families",
    "separatrix.certificates.methods",
    "separatrix.constructions.theorems",
    "separatrix.tasks.problems",
)


def compute(kind: Computation, request: Request, store: Path, limits: Limits) -> bytes | tuple[Kind, str]:
    """Return the reply to one request as JSON, or why there is none; plain data crosses processes safely."""
    try:
        if isinstance(request, Look | Decide | Converse):
            limits.check_length(request.setting.length)
        match request:
            case Look():
                reply = (margins if kind == "margins" else look)(request)
            case Converse():
                reply = converse(request)
            case Compare():
                reply = compare(request, store, limits)
            case Decide():
                reply = (smallest_gain if kind == "threshold" else decide)(request, limits.max_memory)
            case _:
                raise TypeError(kind)
        return reply.model_dump_json().encode()
    except SeparatrixError as error:
        return error.kind if isinstance(error, ExplorerError) else "input", str(error)
    except MemoryError:
        size = f"{limits.max_memory / (1 << 30):.3g} GiB"
        return "limit", f"this needs more than --max-memory {size}; choose a smaller N"
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return "internal", "a defect of this package; the server's terminal shows it"


def start_process(limits: Limits) -> None:
    """Bound the memory of a new process, where the system enforces it, and compute once what is made on first use."""
    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = limits.max_memory if hard == resource.RLIM_INFINITY else min(limits.max_memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    first = Setting(construction="equality", length=16)
    look(Look(setting=first))
    decide(Decide(setting=first), limits.max_memory)


def preloaded() -> list[str]:
    """Return the modules that are imported once for all processes: this one and the entries of its catalogs."""
    folders = [importlib.import_module(name) for name in CATALOGS]
    entries = [f"{each.__name__}.{info.name}" for each in folders for info in pkgutil.iter_modules(each.__path__)]
    return [__name__, *entries]


class Pools:
    """The processes of one server, and the replies that they gave."""

    def __init__(self, store: Path, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._context: Any = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(preloaded())
        self._sizes = {True: 1, False: limits.workers}
        self._free = {quick: asyncio.Semaphore(size) for quick, size in self._sizes.items()}
        self._pools: dict[bool, ProcessPool] = {}
        self._replies: dict[tuple[Computation, str], bytes] = {}
        self.ending = False
        """Whether nothing is computed any more, because the server ends."""
        for quick in self._sizes:  # processes import while the server already answers
            self._pool(quick)

    def close(self) -> None:
        """Kill every process."""
        for pool in self._pools.values():
            pool.stop()
            pool.join()

    async def answer(self, kind: Computation, request: Request, client: HttpRequest) -> bytes:
        """Return the reply; the computation is killed when the client or the server goes away, or its time is up."""
        key = kind, request.model_dump_json()
        if key not in self._replies:
            task = asyncio.create_task(self._compute(kind, request))
            try:
                while not task.done():
                    await asyncio.wait([task], timeout=LOOK_EVERY)
                    if not task.done() and (self.ending or await client.is_disconnected()):
                        raise ExplorerError("cancelled", "refused")
            finally:
                task.cancel()
            self._replies[key] = task.result()
            if len(self._replies) > KEPT_REPLIES:
                del self._replies[next(iter(self._replies))]
        return self._replies[key]

    def _pool(self, quick: bool) -> ProcessPool:
        """Return a running pool; one whose idle process somebody killed counts as broken and is replaced."""
        pool = self._pools.get(quick)
        if pool is None or not pool.active:
            arguments = (self.limits,)
            pool = ProcessPool(self._sizes[quick], initializer=start_process, initargs=arguments, context=self._context)
            self._pools[quick] = pool
            assert pool.active  # starts its processes
        return pool

    async def _compute(self, kind: Computation, request: Request) -> bytes:
        quick, seconds = kind in QUICK, self.limits.max_seconds
        async with self._free[quick]:  # what waits here is dropped without killing a process
            arguments = (kind, request, self.store, self.limits)
            try:
                found = await asyncio.wrap_future(self._pool(quick).schedule(compute, arguments, timeout=seconds))
            except TimeoutError:
                found = "limit", f"stopped after --max-seconds {seconds:g}; choose a smaller N, or raise it"
            except (ProcessExpired, BrokenProcessPool):
                found = "limit", "the process ended, perhaps for lack of memory; choose a smaller N"
        if isinstance(found, bytes):
            return found
        raise ExplorerError(found[1], found[0])
