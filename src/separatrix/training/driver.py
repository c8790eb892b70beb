"""The driver: takes groups of runs to their recorded end, whatever happens on the way.

Before a group starts its members are settled in the store: those whose result is not there yet. From then on the group
trains as settled, however often it is interrupted, because who competes decides who is pruned; so an interrupted sweep
ends bit for bit as an undisturbed one. A file lock, which the system lets go when a process dies, says who trains a
group; a group that another process trains is waited for at the end.

On disk beside the store: ``checkpoints/GROUP.safetensors`` with the one before it as ``….previous``, used when the
newer one is damaged; ``weights/GROUP-STEP.safetensors`` of the runs that ended at that step, ``snapshots/…`` of the
runs that wanted their weights kept there.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.training.checkpoints import DamagedCheckpointError, read_checkpoint
from separatrix.training.events import Event, Finished, Progress, Saved, Snapshot
from separatrix.training.executors.executor import Executor, Failure, Job
from separatrix.training.group import Group
from separatrix.training.records import OPEN_ENDED, Records
from separatrix.training.spec import RunSpec

MOST_ATTEMPTS = 5
WAITING_SECONDS = 0.5


class Observer(Protocol):
    """Whoever wants to see what happens, such as a progress bar."""

    def started(self, group: Group, step: int) -> None:
        """A group starts, or goes on after ``step`` steps."""
        ...

    def happened(self, group: Group, event: Event) -> None:
        """An event, after it was recorded."""
        ...

    def said(self, message: str) -> None:
        """Something a person should know: a damaged checkpoint, a lost worker, a group that was split."""
        ...


@dataclass
class Driver:
    """Drives groups with one executor into one store.

    ``full_grid`` trains again what was pruned or beaten before. ``stopped`` is asked between events; once it says yes,
    the newest state of each group has been written and :meth:`run` returns.
    """

    records: Records
    executor: Executor
    environment: dict[str, Any]
    observer: Observer
    full_grid: bool = False
    stopped: Callable[[], bool] = field(default=lambda: False)

    def run(self, planned: Sequence[Group]) -> bool:
        """Train every group that is not done; False when it was stopped before the end."""
        waiting = [group for group in planned if self._pending(group)]
        while waiting:
            busy = self._round(waiting)
            if self.stopped():
                return False
            waiting = [group for group in busy if self._pending(group)]
            if waiting:
                self.observer.said(f"{len(waiting)} groups are being trained by another process; waiting for them")
                time.sleep(WAITING_SECONDS)
        return True

    def forget(self, planned: Sequence[Group]) -> None:
        """Remove what is recorded of these groups, checkpoints included, so that they train from the start."""
        for group in planned:
            settled = self.records.settled(group.name)
            for each in [group] if settled is None else [group, _restricted(group, settled)]:
                self._remove_checkpoints(each)
            self.records.forget_group(group.name)
        self.records.forget([spec.name for group in planned for spec in group.specs])

    # -- one round over what is left ---------------------------------------------------------------------

    def _round(self, planned: Sequence[Group]) -> list[Group]:
        """Train what nobody else trains; returns what somebody else does."""
        todo, busy = list(planned), list[Group]()
        locks: dict[str, Any] = {}
        settled: dict[str, str] = {}
        again: list[Job] = []

        def next_job() -> Job | None:
            if self.stopped():
                return None
            if again:
                return again.pop()
            while todo:
                group = todo.pop(0)
                lock = _locked(self.records.files / "locks" / f"{group.name}.lock")
                if lock is None:
                    busy.append(group)
                    continue
                actual = self._settled(group)
                if actual is None:
                    lock.close()
                    continue
                locks[actual.name], settled[actual.name] = lock, group.name
                return Job(actual, self._checkpoint(actual))
            return None

        steps: dict[str, int] = {}
        try:
            for job, outcome in self.executor.run(next_job):
                name = job.group.name
                if name not in steps:
                    steps[name] = 0
                    self.observer.started(job.group, _step_of(job))
                if isinstance(outcome, Failure):
                    again += self._after(job, outcome, locks, settled)
                elif outcome is None:
                    whole = settled.pop(name)
                    locks.pop(name).close()
                    if not self.stopped():
                        self._done(job.group, whole, last=whole not in settled.values())
                else:
                    self._record(job.group, outcome)
                    self.observer.happened(job.group, outcome)
        finally:
            for lock in locks.values():
                lock.close()
        return busy

    def _pending(self, group: Group) -> bool:
        return bool(self._missing(group.specs)) or self.records.settled(group.name) is not None

    def _missing(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        found = self.records.find(spec.name for spec in specs)
        return [
            spec
            for spec in specs
            if spec.name not in found or (self.full_grid and found[spec.name].result.ending in OPEN_ENDED)
        ]

    def _settled(self, group: Group) -> Group | None:
        """The group with the members that were settled when it first started; None when nothing is left to do."""
        missing = self._missing(group.specs)
        if not missing:
            before = self.records.settled(group.name)
            if before is not None:
                # The process died after the last result was recorded and before it had cleaned up.
                self._done(_restricted(group, before), group.name)
            return None
        return _restricted(group, self.records.settle(group.name, [spec.name for spec in missing]))

    # -- what happens to a group -------------------------------------------------------------------------

    def _record(self, group: Group, event: Event) -> None:
        if isinstance(event, Progress):
            self.records.add_points(event.points)
        elif isinstance(event, Finished):
            file = self._kept("weights", group, event.results[0].step, event.weights)
            where = {**self.environment, "group": group.name, "members": len(group.specs)}
            self.records.add_results(group.specs, event.results, where, file)
        elif isinstance(event, Snapshot):
            file = self._kept("snapshots", group, event.step, event.weights)
            self.records.add_snapshots(event.runs, event.step, file)
        elif isinstance(event, Saved):
            path = self._checkpoint_path(group)
            if path.exists():
                path.replace(path.with_suffix(".previous"))
            write_atomically(path, event.content)

    def _kept(self, folder: str, group: Group, step: int, weights: bytes) -> str:
        """Write weights beside the store; returns the file's name as records hold it."""
        name = f"{folder}/{group.name}-{step}.safetensors"
        write_atomically(self.records.files / name, weights)
        return name

    def _after(self, job: Job, failure: Failure, locks: dict[str, Any], settled: dict[str, str]) -> list[Job]:
        """The jobs that replace one that failed."""
        group = job.group
        if failure.out_of_memory:
            if len(group.specs) == 1:
                raise SeparatrixError(
                    f"{group.specs[0].architecture} on {group.specs[0].task} at length {group.specs[0].length} does "
                    f"not fit into memory even alone ({failure.reason}); choose a smaller batch, width or length"
                )
            half = len(group.specs) // 2
            self.observer.said(f"{len(group.specs)} runs together ran out of memory; they go on as two groups")
            parts = [
                Group(part, group.rungs, group.first_goal_ends) for part in (group.specs[:half], group.specs[half:])
            ]
            lock, planned = locks.pop(group.name), settled.pop(group.name)
            for part in parts:
                # Both halves hold the one lock of the planned group; it is let go with the last of them.
                locks[part.name], settled[part.name] = os.fdopen(os.dup(lock.fileno()), "rb"), planned
            lock.close()
            return [Job(part, self._checkpoint(part)) for part in parts]
        if job.attempt + 1 >= MOST_ATTEMPTS:
            raise SeparatrixError(f"a worker was lost {MOST_ATTEMPTS} times on the same group ({failure.reason})")
        self.observer.said(f"a worker was lost ({failure.reason}); its group goes on from its last checkpoint")
        return [Job(group, self._checkpoint(group), job.attempt + 1)]

    def _done(self, group: Group, planned: str, last: bool = True) -> None:
        """Every run of a group is recorded; ``last`` unless another half of the planned group is still in training."""
        self._remove_checkpoints(group)
        if last:
            self.records.forget_group(planned)

    # -- checkpoints -------------------------------------------------------------------------------------

    def _remove_checkpoints(self, group: Group) -> None:
        for path in (self._checkpoint_path(group), self._checkpoint_path(group).with_suffix(".previous")):
            path.unlink(missing_ok=True)

    def _checkpoint_path(self, group: Group) -> Path:
        return self.records.files / "checkpoints" / f"{group.name}.safetensors"

    def _checkpoint(self, group: Group) -> bytes | None:
        """The newest checkpoint that is whole."""
        newest = self._checkpoint_path(group)
        for path in (newest, newest.with_suffix(".previous")):
            try:
                content = path.read_bytes()
                read_checkpoint(content, group.name)
            except FileNotFoundError:
                continue
            except DamagedCheckpointError as error:
                self.observer.said(f"{path}: {error}; an earlier state is used")
                continue
            return content
        return None


def _restricted(group: Group, names: Sequence[str]) -> Group:
    """The group with only some of its runs."""
    specs = tuple(spec for spec in group.specs if spec.name in names)
    return Group(specs, group.rungs, group.first_goal_ends)


def _step_of(job: Job) -> int:
    return 0 if job.checkpoint is None else read_checkpoint(job.checkpoint, job.group.name).step


def _locked(path: Path) -> Any:
    """An open file that holds the lock, or None when another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("ab")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Within it Ctrl-C only sets a flag, so that a step is finished and saved; a second Ctrl-C ends at once."""
    import signal

    pressed = False

    def remember(number: int, frame: Any) -> None:
        nonlocal pressed
        del number, frame
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
