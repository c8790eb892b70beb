"""Processes that compute for the server, each of which can be ended at any moment.

A certificate may take a minute and cannot be interrupted from inside, so every computation runs in a process of its
own that is killed when its time is up, when whoever asked for it cancels, or when nobody asks for it any more; another
process takes its place. New ones are forked from a clean one that has imported everything (``forkserver``), which takes
milliseconds. Quick computations always find a process: the others never take the last one.

Equal requests are one piece of work, while it runs and for a while afterwards. All methods run on the server's event
loop; the only other threads listen to the pipes.
"""

import asyncio
import importlib
import multiprocessing
import pkgutil
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, TypeAlias

from separatrix.site.explorer.computations import QUICK, WITH_TORCH, Computation, Pipe, serve
from separatrix.site.explorer.limits import ExplorerError, Kind, Limits

State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]
MOST_WAITING = 100
KEPT_REPLIES = 64
COMPUTATIONS = "separatrix.site.explorer.computations"
CATALOGS = (
    "separatrix.arithmetic.codes.families",
    "separatrix.certificates.methods",
    "separatrix.constructions.theorems",
    "separatrix.tasks.problems",
)


def preloaded() -> list[str]:
    """What is imported once for all processes: the computations and every entry of the catalogs that they use."""
    folders = [importlib.import_module(name) for name in CATALOGS]
    entries = [f"{each.__name__}.{info.name}" for each in folders for info in pkgutil.iter_modules(each.__path__)]
    return [COMPUTATIONS, *entries]


@dataclass(eq=False)
class Work:
    """One computation and what is known about it; ``followers`` counts those who still want it."""

    kind: Computation
    text: str
    state: State = "waiting"
    progress: tuple[str, int, int | None] | None = None
    reply: bytes | None = None
    problem: tuple[Kind, str] | None = None
    followers: int = 0
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seconds(self) -> float:
        """How long it took, or has taken until now."""
        return (self.ended or time.monotonic()) - self.began


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Pipe
    work: Work | None = None
    kinds: set[Computation] = field(default_factory=set[Computation])
    timer: asyncio.TimerHandle | None = None


class Crew:
    """All processes of one server; open and close it with :meth:`start` and :meth:`close`."""

    def __init__(self, store: Path, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._context = multiprocessing.get_context("forkserver")
        self._workers: list[_Worker] = []
        self._waiting: deque[Work] = deque()
        self._known: OrderedDict[tuple[Computation, str], Work] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the processes; they import what they need while the server already answers."""
        self._loop = asyncio.get_running_loop()
        self._context.set_forkserver_preload(preloaded())
        await asyncio.to_thread(self._hire, self.limits.workers)

    def close(self) -> None:
        """End every process."""
        self._closed = True
        for worker in list(self._workers):
            self._dismiss(worker)

    # -- asking ------------------------------------------------------------------------------------------

    def submit(self, kind: Computation, text: str) -> Work:
        """The work of a request: a new one, or one for the same request that runs or has ended well."""
        known = self._known.get((kind, text))
        if known is not None and known.state not in ("failed", "cancelled"):
            self._known.move_to_end((kind, text))
            return known
        if len(self._waiting) >= MOST_WAITING:
            raise ExplorerError(f"{MOST_WAITING} computations are waiting already; try again in a moment", "busy")
        work = Work(kind, text)
        self._known[kind, text] = work
        self._waiting.append(work)
        self._forget_old()
        self._assign()
        return work

    def cancel(self, work: Work) -> None:
        """End a computation that nobody wants any more; one that has ended stays as it is."""
        if work.state == "waiting":
            self._waiting.remove(work)
            self._end(work, "cancelled", problem=("refused", "cancelled"))
        elif work.state == "running":
            worker = next(each for each in self._workers if each.work is work)
            self._end(work, "cancelled", problem=("refused", "cancelled"))
            self._replace(worker)

    # -- inside ------------------------------------------------------------------------------------------

    def _hire(self, count: int) -> None:
        """Start so many processes; may run outside the event loop."""
        for _ in range(count):
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=serve, args=(theirs, self.store, self.limits), daemon=True)
            process.start()
            theirs.close()
            worker = _Worker(process, ours)
            if self._closed:
                process.kill()
                return
            self._workers.append(worker)
            threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        self._call(self._assign)

    def _listen(self, worker: _Worker) -> None:
        """Hand everything that a process says to the event loop, until it is gone."""
        while True:
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                worker.pipe.close()
                self._call(self._lost, worker)
                return
            self._call(self._heard, worker, message)

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(function, *arguments)

    def _assign(self) -> None:
        """Give waiting work to processes that have none."""
        for work in list(self._waiting):
            idle = [worker for worker in self._workers if worker.work is None]
            if not idle or self._closed:
                return
            slow = work.kind not in QUICK
            if slow and len(idle) == 1 and self.limits.workers > 1:
                continue  # the last one is kept for quick work
            # One that has done the same before has its networks, and torch, at hand.
            alike = set(WITH_TORCH if work.kind in WITH_TORCH else [work.kind])
            worker = max(idle, key=lambda each: bool(alike & each.kinds))
            self._waiting.remove(work)
            self._give(worker, work)

    def _give(self, worker: _Worker, work: Work) -> None:
        assert self._loop is not None
        worker.work, work.state = work, "running"
        worker.kinds.add(work.kind)
        worker.timer = self._loop.call_later(self.limits.max_seconds, self._out_of_time, worker, work)
        with suppress(OSError):  # one that is dead will be found so by who listens
            worker.pipe.send((work.kind, work.text))

    def _heard(self, worker: _Worker, message: tuple[str, Any]) -> None:
        what, content = message
        work = worker.work
        if work is None or what == "ready":
            return
        if what == "progress":
            work.progress = content
            return
        self._free(worker)
        if what == "done":
            self._end(work, "done", reply=content)
        else:
            self._end(work, "failed", problem=content)
        self._assign()

    def _out_of_time(self, worker: _Worker, work: Work) -> None:
        if worker.work is work:
            error = self.limits.out_of_time()
            self._end(work, "failed", problem=(error.kind, str(error)))
            self._replace(worker)

    def _lost(self, worker: _Worker) -> None:
        """A process ended by itself: the system refused it memory, or somebody killed it."""
        if worker not in self._workers:
            return
        if worker.work is not None:
            message = "the process that computed this was ended, perhaps for lack of memory; choose a smaller N"
            self._end(worker.work, "failed", problem=("limit", message))
        self._replace(worker)

    def _replace(self, worker: _Worker) -> None:
        self._dismiss(worker)
        if not self._closed:
            threading.Thread(target=self._hire, args=(1,), daemon=True).start()

    def _dismiss(self, worker: _Worker) -> None:
        self._free(worker)
        if worker in self._workers:
            self._workers.remove(worker)
        worker.process.kill()  # its end of the pipe goes with it, which ends the thread that listens
        worker.process.join(1)

    def _free(self, worker: _Worker) -> None:
        worker.work = None
        if worker.timer is not None:
            worker.timer.cancel()
            worker.timer = None

    def _end(
        self, work: Work, state: State, reply: bytes | None = None, problem: tuple[Kind, str] | None = None
    ) -> None:
        work.state, work.reply, work.problem, work.ended = state, reply, problem, time.monotonic()
        work.finished.set()

    def _forget_old(self) -> None:
        for key in [key for key, work in self._known.items() if work.finished.is_set()]:
            if len(self._known) <= KEPT_REPLIES:
                return
            del self._known[key]
