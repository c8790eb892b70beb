"""The driver: takes groups of runs to their recorded end, whatever happens on the way.

Before a group starts its members are settled in the store: those whose result is not there yet. From then on the group
trains as settled, however often it is interrupted, because who competes decides who is pruned; so an interrupted sweep
ends bit for bit as an undisturbed one. File locks, which the system lets go when a process dies, say who trains a run;
a group of which another process trains a run is waited for at the end. Results of a user's own code are refused where
that code has changed since.

A group that does not fit into memory continues as two halves; they compete separately. A group
whose worker was lost resumes from its last checkpoint. What lies on the disk next to the store: see ``group_files``.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.models import check_fit, code_named_in, parse_spec
from separatrix.sources import check_unchanged
from separatrix.training.batches import DataSource
from separatrix.training.checkpoints import part_of, read_checkpoint
from separatrix.training.events import Event, Finished, Progress, Saved, Snapshot
from separatrix.training.executors.executor import Executor, Failure, Job
from separatrix.training.group_files import SNAPSHOTS, WEIGHTS, GroupFiles
from separatrix.training.grouping import Group
from separatrix.training.observers import Observer
from separatrix.training.record import OPEN_ENDED, Record
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec
from separatrix.training.user_code import check_trainable, user_code

MOST_ATTEMPTS = 5
"""How often a worker may be lost on a group without a new checkpoint in between."""
WAITING_SECONDS = 0.5


@dataclass(eq=False)
class _Claim:
    """A planned group in training here: its locks, and everyone of whom there may be checkpoints."""

    planned: str
    locks: ExitStack
    groups: list[Group]


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

    def __post_init__(self) -> None:
        self._files = GroupFiles(self.records.files, self.observer.said)
        self._code: dict[tuple[str, str], dict[str, str]] = {}

    def run(self, planned: Sequence[Group]) -> bool:
        """Train every group that is not done; False when it was stopped before the end."""
        _check_models(planned)
        self._check_code(planned)
        announced, rounds = False, 0
        while waiting := [group for group in planned if self._pending(group)]:
            busy = self._round(waiting)
            if self.stopped():
                return False
            rounds = 0 if busy else rounds + 1
            if rounds > MOST_ATTEMPTS:
                raise SeparatrixError(f"{self.records.path} does not keep what is recorded; name another store")
            if busy and not announced:
                announced = True
                being = "1 group is" if len(busy) == 1 else f"{len(busy)} groups are"
                self.observer.said(f"{being} being trained by another process; waiting")
            if busy:
                time.sleep(WAITING_SECONDS)
        return True

    def forget(self, planned: Sequence[Group]) -> None:
        """Remove what is recorded of these groups, checkpoints included, so that they train from the start."""
        _check_models(planned)  # nothing is lost for something that cannot be trained
        for group in planned:
            with suppress(SeparatrixError):  # of a group whose members cannot be read there is nothing to find
                settled = self.records.settled(group.name)
                self._files.remove_checkpoints((group if settled is None else _restricted(group, settled)).name)
            self._files.remove_checkpoints(group.name)
            self.records.forget_group(group.name)
        self.records.forget([spec.name for group in planned for spec in group.specs])

    def _check_code(self, planned: Sequence[Group]) -> None:
        """Refuse results of a user's own code that has changed since; and remember the code as it is now."""
        self._code = {}
        for group in planned:
            first = group.specs[0]
            if (first.task, first.architecture) not in self._code:
                self._code[first.task, first.architecture] = user_code(first)
            if code := self._code[first.task, first.architecture]:
                for found in self.records.find(spec.name for spec in group.specs).values():
                    check_unchanged(found.environment.get("code"), code, "this run")

    # -- one round over what is left ---------------------------------------------------------------------

    def _round(self, planned: Sequence[Group]) -> list[Group]:
        """Train what nobody else trains; returns what somebody else does."""
        todo, busy = list(planned), list[Group]()
        claims: dict[str, _Claim] = {}
        again: list[Job] = []

        def next_job() -> Job | None:
            if self.stopped():
                return None
            if again:
                return again.pop(0)
            while todo:
                group = todo.pop(0)
                claim = self._claimed(group)
                if claim is None:
                    busy.append(group)
                elif claim.groups:
                    claims[claim.groups[0].name] = claim
                    return self._job(claim.groups[0])
            return None

        started: set[str] = set()
        try:
            with closing(self.executor.run(next_job)) as outcomes:
                for job, outcome in outcomes:
                    if job.group.name not in started:
                        started.add(job.group.name)
                        self.observer.started(job.group, _step_of(job))
                    if isinstance(outcome, Failure):
                        again += self._after(job, outcome, claims)
                    elif outcome is None:
                        self._ended(job.group, claims)
                    else:
                        self._record(job.group, outcome)
                        self.observer.happened(job.group, outcome)
        finally:
            for claim in claims.values():
                claim.locks.close()
        return busy

    def _pending(self, group: Group) -> bool:
        return bool(self._missing(group)) or self.records.settled(group.name) is not None

    def _missing(self, group: Group) -> list[RunSpec]:
        return missing_runs(group, self.records.find(spec.name for spec in group.specs), self.full_grid)

    def _claimed(self, planned: Group) -> _Claim | None:
        """Return the locks of a group and the members it trains with; no group when nothing is left, None when it is
        busy."""
        names = self.records.settled(planned.name) or [spec.name for spec in self._missing(planned)]
        locks = self._files.locked(names)
        if locks is None:
            return None
        # Now that nobody else can train them: what was settled when the group first started, or who is missing.
        missing = [spec.name for spec in self._missing(planned)]
        settled = self.records.settle(planned.name, missing) if missing else self.records.settled(planned.name)
        if settled is not None and not set(settled) <= set(names):
            locks.close()  # somebody else settled it just now
            return None
        if settled is not None and missing:
            return _Claim(planned.name, locks, [_restricted(planned, settled)])
        if settled is not None:
            # A process died after the last result was recorded and before it had cleaned up.
            self._files.remove_checkpoints(_restricted(planned, settled).name)
            self.records.forget_group(planned.name)
        locks.close()
        return _Claim(planned.name, locks, [])

    # -- what happens to a group -------------------------------------------------------------------------

    def _record(self, group: Group, event: Event) -> None:
        if isinstance(event, Progress):
            self.records.add_points(event.points)
        elif isinstance(event, Finished):
            file = self._files.keep(WEIGHTS, group.name, event.results[0].step, event.weights)
            where = {**self.environment, "group": group.name, "members": len(group.specs)}
            if code := self._code.get((group.specs[0].task, group.specs[0].architecture)):
                where["code"] = code
            self.records.add_results(group.specs, event.results, where, file)
        elif isinstance(event, Snapshot):
            file = self._files.keep(SNAPSHOTS, group.name, event.step, event.weights)
            self.records.add_snapshots(event.runs, event.step, file)
        elif isinstance(event, Saved):
            self._files.save(group.name, event.content)

    def _ended(self, group: Group, claims: dict[str, _Claim]) -> None:
        """Record that a job came to its end: all runs are recorded, or it was stopped and its state is saved."""
        claim = claims.pop(group.name)
        if claim in claims.values():
            return  # another part of the planned group is still in training
        if not self.stopped():
            for each in claim.groups:
                self._files.remove_checkpoints(each.name)
            self.records.forget_group(claim.planned)
        claim.locks.close()

    def _after(self, job: Job, failure: Failure, claims: dict[str, _Claim]) -> list[Job]:
        """Return the jobs that replace one that failed."""
        if failure.out_of_memory:
            return self._halves(job, failure, claims)
        fresh = self._job(job.group)
        attempt = job.attempt + 1 if _step_of(fresh) == _step_of(job) else 0
        if attempt >= MOST_ATTEMPTS:
            raise SeparatrixError(
                f"a worker was lost {MOST_ATTEMPTS} times on the same group ({failure.reason}); see that workers stay "
                "alive, or save more often with --save-every"
            )
        self.observer.said(f"a worker was lost ({failure.reason}); its group resumes from its last checkpoint")
        return [Job(fresh.group, fresh.checkpoint, attempt)]

    def _halves(self, job: Job, failure: Failure, claims: dict[str, _Claim]) -> list[Job]:
        """Return the two halves of a group that was too large for the memory, less what is finished."""
        group, first = job.group, job.group.specs[0]
        if len(group.specs) == 1:
            raise SeparatrixError(
                f"{first.architecture} on {first.task} at length {first.length} does not fit into memory even alone "
                f"({failure.reason}); choose a smaller batch, width or length"
            )
        self.observer.said(f"{len(group.specs)} runs together ran out of memory; they continue as two groups")
        half = len(group.specs) // 2
        # The same halves every time, so that a process that resumes later finds their checkpoints.
        parts = [replace(group, specs=part) for part in (group.specs[:half], group.specs[half:])]
        left = [part for part in parts if self._missing(part)]
        claim = claims.pop(group.name)
        claim.groups += parts
        claims.update(dict.fromkeys([part.name for part in left], claim))
        newest = self._job(group).checkpoint or job.checkpoint
        whole = newest and read_checkpoint(newest, group.name)
        jobs = [self._job(part) for part in left]
        return [
            Job(each.group, part_of(whole, each.group.name, [spec.name for spec in each.group.specs]))
            if whole and each.checkpoint is None
            else each
            for each in jobs
        ]

    def _job(self, group: Group) -> Job:
        """Return the group with its newest checkpoint."""
        self._files.tidy(group.name)
        return Job(group, self._files.checkpoint(group.name, [spec.name for spec in self._missing(group)]))


def missing_runs(group: Group, recorded: Mapping[str, Record], full_grid: bool) -> list[RunSpec]:
    """Return who has no result yet. A result of one that was stopped for others is none where all train to the end.

    >>> from separatrix.training.events import Result
    >>> spec = RunSpec(task="equality", architecture="TF-(1,8)", length=8, learning_rate=0.1, steps=800)
    >>> result = Result(run=spec.name, ending="pruned", step=200, accuracy=0.5, loss=0.7, seconds=2.0, parameters=100)

    >>> record = Record(spec, result, {}, "", None)
    >>> group = Group((spec, spec.with_changes(seed=1)))
    >>> [len(missing_runs(group, {spec.name: record}, full_grid)) for full_grid in (False, True)]
    [1, 2]
    """
    whole = full_grid and not group.rungs and not group.first_goal_ends
    return [
        spec
        for spec in group.specs
        if spec.name not in recorded or (whole and recorded[spec.name].result.ending in OPEN_ENDED)
    ]


def _check_models(planned: Sequence[Group]) -> None:
    """Refuse models that do not fit their tasks, and users' modules that cannot be trained, before anything is
    written; what else is wrong with own modules they say when they are built."""
    seen = dict.fromkeys((spec.architecture, spec.the_task(), spec.length) for group in planned for spec in group.specs)
    for architecture, task, length in seen:
        if task.answers_follow or not code_named_in(architecture):
            check_fit(parse_spec(architecture), task, length)
    for spec in (spec for group in planned for spec in group.specs):
        if spec.shortest or spec.longest or spec.growth:
            limits, growing = (spec.shortest, spec.longest), round(spec.growth * spec.steps)
            data = DataSource(spec.the_task(), spec.length, spec.batch, torch.device("cpu"), 0)
            replace(data, limits=limits, growing=growing).check_limits()
    for architecture in dict.fromkeys(architecture for architecture, _, _ in seen if code_named_in(architecture)):
        check_trainable(parse_spec(architecture))


def _restricted(group: Group, names: Sequence[str]) -> Group:
    """Return the group with only some of its runs."""
    specs = tuple(spec for spec in group.specs if spec.name in names)
    if len(specs) < len(names) or not specs:
        raise SeparatrixError("the store names other runs for a group than it has; train it again with --fresh")
    return replace(group, specs=specs)


def _step_of(job: Job) -> int:
    return 0 if job.checkpoint is None else read_checkpoint(job.checkpoint, job.group.name).step


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C only set a flag, so that a step is finished and saved; a second Ctrl-C ends at once. So does
    the signal to end that clusters and containers send. Only a program's main thread can receive signals; in another
    one nothing changes.
    """
    import signal
    import threading

    pressed = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: pressed
        return

    def remember(number: int, frame: Any) -> None:
        nonlocal pressed
        del number, frame
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    before = {each: signal.signal(each, remember) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: pressed
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
