"""Training runs that a page starts: one at a time, bounded, stopped on request, told as server-sent events.

Each runs in a process of its own (``training_process``); the server keeps what that process said, so that a page that
is opened later, or lost its connection, sees the whole curve.
"""

import asyncio
import json
import multiprocessing
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, TypeAlias

from separatrix.extras import require
from separatrix.site.explorer.building import parameters_of
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.requests import Train
from separatrix.site.explorer.streams import event
from separatrix.site.explorer.training_process import train
from separatrix.tasks import tasks
from separatrix.training import RunSpec

State: TypeAlias = Literal["starting", "running", "stopping", "ended", "stopped", "failed"]
OVER: tuple[State, ...] = ("ended", "stopped", "failed")
KEPT_PARTS = (0, 16, 8, 4, 2, 1)
"""Weights are kept before the first step and after these parts of all steps, so that attention can be compared."""
LOOK_EVERY = 0.1
MOST_KEPT = 20
LARGEST_EVALUATION = 1000
SECONDS_TO_STOP = 30.0
KEEP_ALIVE_EVERY = 100
"""Looks without anything new after which a comment is sent, so that a dead connection is noticed."""


@dataclass(eq=False)
class Run:
    """A run that was started here, and all that it said."""

    name: str
    spec: RunSpec
    process: BaseProcess
    pipe: Any
    state: State = "starting"
    step: int = 0
    message: str | None = None
    run: str | None = None
    events: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    timer: asyncio.TimerHandle | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data for the page."""
        return {
            "training": self.name,
            "state": self.state,
            "run": self.run,
            "step": self.step,
            "steps": self.spec.steps,
            "task": self.spec.task,
            "architecture": self.spec.architecture,
            "length": self.spec.length,
            "message": self.message,
        }


class Training:
    """All runs that this server started."""

    def __init__(self, store: Path, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._context = multiprocessing.get_context("forkserver")
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self, request: Train) -> Run:
        """Start a run, unless one is on its way."""
        require("training", "torch")
        spec = self.spec_of(request)
        if any(each.state not in OVER for each in self._runs.values()):
            raise ExplorerError("a run is in training already; stop it or wait for its end", "busy")
        self._loop = asyncio.get_running_loop()
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=train, args=(theirs, self.store, spec.as_dict()), daemon=True)
        run = Run(secrets.token_urlsafe(9), spec, process, ours)
        self._runs[run.name] = run
        while len(self._runs) > MOST_KEPT:
            self._runs.popitem(last=False)
        await asyncio.to_thread(process.start)
        theirs.close()
        threading.Thread(target=self._listen, args=(run,), daemon=True).start()
        run.timer = self._loop.call_later(self.limits.max_training_seconds, self._out_of_time, run)
        return run

    def spec_of(self, request: Train) -> RunSpec:
        """The run that a request describes, within the limits."""
        limits = self.limits
        bounds = {
            "length": (request.length, min(limits.max_training_length, limits.max_length)),
            "steps": (request.steps, limits.max_steps),
            "width": (request.width, limits.max_width),
            "layers": (request.layers, limits.max_layers),
            "batch": (request.batch, limits.max_batch),
        }
        beyond = [f"{name} {value} (at most {most})" for name, (value, most) in bounds.items() if value > most]
        if beyond:
            raise ExplorerError(
                f"too large for a run from a page: {', '.join(beyond)}; use  separatrix train  for larger ones", "limit"
            )
        task = parameters_of(tasks()[request.task], request.parameters)
        own = tasks()[request.task].parameters()
        settings = [f"{name}={str(value).lower() if isinstance(value, bool) else value}"
                    for name, value in sorted(request.options.items())]  # fmt: skip
        text = ",".join([str(request.layers), str(request.width), *settings])
        kept = {request.steps // part if part else 0 for part in KEPT_PARTS}
        return RunSpec(
            task=request.task, length=request.length, architecture=f"{request.architecture}-({text})",
            task_parameters=tuple(sorted((k, v) for k, v in task.parameters().items() if v != own[k])),
            learning_rate=request.learning_rate, steps=request.steps, batch=request.batch, seed=request.seed,
            evaluate_every=min(request.evaluate_every, request.steps), evaluation_examples=LARGEST_EVALUATION,
            probe_examples=256, snapshots=tuple(sorted(kept)),
        )  # fmt: skip

    def all(self) -> list[Run]:
        """Every run, the newest first."""
        return list(self._runs.values())[::-1]

    def find(self, name: str) -> Run:
        """The run of a name."""
        if name not in self._runs:
            raise ExplorerError(f"this server started no run {name}; finished ones are in the store", "missing")
        return self._runs[name]

    def stop(self, name: str) -> Run:
        """Ask a run to save its state and end."""
        run = self.find(name)
        if run.state in ("starting", "running"):
            self._ask_to_stop(run)
        return run

    async def close(self) -> None:
        """Stop what is in training and wait until its state is saved."""
        busy = [run for run in self._runs.values() if run.state not in OVER]
        for run in busy:
            if run.state != "stopping":
                self._ask_to_stop(run)
        for run in busy:
            await asyncio.to_thread(run.process.join, SECONDS_TO_STOP / 3)
            run.process.kill()

    async def events(self, name: str, first: int = 0) -> AsyncGenerator[bytes]:
        """Everything that a run said, from an event on, and what it says until its end."""
        run, number, quiet, told = self.find(name), max(0, first), 0, -1
        while True:
            over = run.state in OVER
            for what, data in run.events[number:]:
                yield event(what, data, number)
                number, quiet = number + 1, 0
            if over:
                return
            if run.step != told:
                told, quiet = run.step, 0
                yield event("step", json.dumps(run.as_json(), ensure_ascii=False).encode())
            quiet += 1
            if quiet % KEEP_ALIVE_EVERY == 0:
                yield b": still here\n\n"
            await asyncio.sleep(LOOK_EVERY)

    # -- inside ------------------------------------------------------------------------------------------

    def _listen(self, run: Run) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            while True:
                try:
                    what, content = run.pipe.recv()
                except (EOFError, OSError):
                    run.pipe.close()
                    self._loop.call_soon_threadsafe(self._gone, run)
                    return
                self._loop.call_soon_threadsafe(self._heard, run, what, content)

    def _heard(self, run: Run, what: str, content: dict[str, Any]) -> None:
        if what == "step":
            run.step = content["step"]
            return  # only the newest is of interest; it is told as it stands
        if what in ("started", "described"):
            run.state = "running" if run.state == "starting" else run.state
            run.run = content.get("run", run.run)
        if what in ("point", "ended"):
            run.step = content["step"]
        if what in ("ended", "stopped", "failed"):
            run.message = content.get("message", run.message)
            self._over(run, "ended" if what == "ended" else "failed" if what == "failed" else "stopped")
        run.events.append((what, json.dumps({**content, **run.as_json()}, ensure_ascii=False).encode()))

    def _gone(self, run: Run) -> None:
        """The process ended; if it said nothing of it, it was killed."""
        if run.state not in OVER:
            message = run.message or "the process that trained it was ended; start the run again and it goes on"
            self._heard(run, "failed", {"message": message})

    def _over(self, run: Run, state: State) -> None:
        run.state = state
        if run.timer is not None:
            run.timer.cancel()

    def _out_of_time(self, run: Run) -> None:
        if run.state in ("starting", "running"):
            run.message = (
                f"stopped after {self.limits.max_training_seconds:g} seconds, this server's --max-training-seconds; "
                "its state is saved, and the same run started again goes on"
            )
            self._ask_to_stop(run)

    def _ask_to_stop(self, run: Run) -> None:
        assert self._loop is not None
        run.state = "stopping"
        with suppress(OSError):
            run.pipe.send("stop")
        run.timer = self._loop.call_later(SECONDS_TO_STOP, self._kill, run)

    def _kill(self, run: Run) -> None:
        if run.state not in OVER:
            run.process.kill()
