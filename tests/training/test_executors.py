"""Executors: where a group trains changes nothing, and a worker may die at any moment."""

import multiprocessing
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.training import group as group_module
from separatrix.training.devices import prepare_process
from separatrix.training.driver import Driver
from separatrix.training.events import Event, Finished, Saved, Tick
from separatrix.training.executors import local as local_module
from separatrix.training.executors import turns as turns_module
from separatrix.training.executors.executor import Failure, Job, Jobs, Outcome
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.executors.opening import open_executor
from separatrix.training.executors.processes import ProcessExecutor, _Worker
from separatrix.training.executors.ray import check_address
from separatrix.training.executors.turns import SharedClock, TurnsExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from tests.training.cases import CPU, ENVIRONMENT, Listener, drive, grid, small_sweep, tiny
from tests.training.stores import contents, leftovers


class Murderer(Listener):
    """Kills every worker process right after some checkpoints were recorded."""

    def __init__(self, moments: tuple[int, ...]) -> None:
        super().__init__()
        self.moments = moments
        self.killed: list[int] = []

    def happened(self, group: Group, event: Event) -> None:
        super().happened(group, event)
        if isinstance(event, Saved) and len(self.of(Saved)) in self.moments:
            for child in multiprocessing.active_children():
                assert child.pid is not None
                os.kill(child.pid, signal.SIGKILL)
                self.killed.append(child.pid)


def test_killed_workers_are_replaced_and_nothing_changes(tmp_path: Path) -> None:
    groups = small_sweep(steps=60)
    drive(tmp_path / "undisturbed.sqlite", groups)
    store = tmp_path / "runs.sqlite"
    murderer = Murderer((5,))
    drive(store, groups, ProcessExecutor(CPU, workers=2, save_every_seconds=0.0, threads=1), murderer)
    assert len(murderer.killed) == 2
    lost = [message for message in murderer.messages if "ended with -9" in message]
    assert len(lost) == 2, "two groups were in training"
    assert contents(store) == contents(tmp_path / "undisturbed.sqlite")
    assert leftovers(store) == []
    assert multiprocessing.active_children() == []


def test_a_worker_that_died_while_idle_costs_nothing() -> None:
    """And one process trains several groups, one after another."""
    groups = [Group((tiny(seed=seed, steps=20),)) for seed in range(3)]
    left = [Job(group) for group in groups]
    executor = ProcessExecutor(CPU, workers=1, threads=1)
    done: list[str] = []
    failures: list[Failure] = []
    workers: set[int | None] = set()
    for job, outcome in executor.run(lambda: left.pop(0) if left else None):
        workers |= {child.pid for child in multiprocessing.active_children()}
        if isinstance(outcome, Failure):
            failures.append(outcome)
            left.append(job)
        if outcome is None:
            done.append(job.group.name)
            if len(done) == 2:
                child = multiprocessing.active_children()[0]
                child.kill()
                child.join()
    assert sorted(done) == sorted(group.name for group in groups)
    assert [failure.out_of_memory for failure in failures] == [False]
    assert len(workers) == 2


def test_a_worker_that_dies_in_the_middle_of_a_message_is_lost_like_any_other() -> None:
    @dataclass
    class Dead:
        pid: int = 1
        exitcode: int = -9

        def join(self) -> None:
            """It has ended."""

    ours, theirs = multiprocessing.Pipe()
    os.write(theirs.fileno(), struct.pack("!i", 1000) + b"the beginning of a checkpoint")
    theirs.close()
    worker: Any = _Worker(Dead(), ours, Job(Group((tiny(),))))  # type: ignore[arg-type]
    workers = [worker]
    outcomes = list(ProcessExecutor(CPU, 1)._heard(worker, workers))
    assert [outcome for _, outcome in outcomes] == [Failure("process 1 ended with -9", False)]
    assert workers == []


def test_mistakes_in_a_worker_are_told_by_the_driver(tmp_path: Path) -> None:
    executor = ProcessExecutor(CPU, workers=1, threads=1)
    with pytest.raises(SeparatrixError, match="unknown architecture 'Transfomer'; nearest: transformer"):
        drive(tmp_path / "runs.sqlite", [Group((tiny(architecture="Transfomer-(1,8)"),))], executor)
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory by way of /proc")
def test_a_real_lack_of_memory_in_a_worker_splits_the_group(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    hungry = "tests.training.hungry:Hungry-(1,8)"
    few: dict[str, Any] = {"steps": 2, "evaluate_every": 2, "probe_examples": 4, "evaluation_examples": 4}
    group = Group(grid(4, architecture=hungry, batch=64, **few))
    heard = drive(store, [group], ProcessExecutor(CPU, workers=1, threads=1))
    assert heard.messages
    assert all(message.endswith("ran out of memory; they continue as two groups") for message in heard.messages)
    assert set(contents(store)) == {spec.name for spec in group.specs}
    assert leftovers(store) == []


@pytest.mark.parametrize(
    ("error", "memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate\nmore"), True),
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), True),
        (RuntimeError("CUDA error: out of memory\nCompile with TORCH_USE_CUDA_DSA"), True),
        (RuntimeError("shapes cannot be multiplied"), False),
        (ValueError("anything else"), False),
    ],
)
def test_what_is_a_lack_of_memory_and_what_a_defect(
    monkeypatch: pytest.MonkeyPatch, error: Exception, memory: bool
) -> None:
    def failing(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(local_module, "train", failing)
    left = [Job(Group((tiny(),)))]
    outcomes = LocalExecutor(CPU).run(lambda: left.pop() if left else None)
    if memory:
        found = [outcome for _, outcome in outcomes]
        assert len(found) == 1
        assert isinstance(found[0], Failure)
        assert found[0].out_of_memory
        assert "\n" not in found[0].reason
    else:
        with pytest.raises(type(error), match=str(error)):
            list(outcomes)


def test_executors_are_opened_by_name_and_say_how_many_threads_they_use() -> None:
    assert isinstance(open_executor("local", device="cpu", threads=1)[0], LocalExecutor)
    workers, about = open_executor("processes", device="cpu", workers=64)
    assert isinstance(workers, ProcessExecutor)
    assert about["threads"] == workers.threads == 1
    workers, about = open_executor("processes", device="cpu", workers=2, threads=3)
    assert about["threads"] == 3
    assert about["executor"] == "processes"
    with pytest.raises(UnknownNameError, match="nearest: processes"):
        open_executor("proceses", device="cpu")
    with pytest.raises(SeparatrixError, match="5000 worker processes are out of range"):
        open_executor("processes", device="cpu", workers=5000)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1", "--address 127.0.0.1 is not HOST:PORT"),
        ("host:many", "--address host:many is not HOST:PORT"),
        (":6379", "--address :6379 is not HOST:PORT"),
        ("host:70000", "--address host:70000 is not HOST:PORT"),
    ],
)
def test_an_address_that_is_none_is_refused(address: str, told: str) -> None:
    with pytest.raises(SeparatrixError, match=told):
        check_address(address)


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SeparatrixError, match=f"no Ray cluster at {address} \\(Connection refused\\); start one"):
            check_address(address)
        taken.listen()
        check_address(address)


def test_a_driver_that_fails_closes_its_executor(tmp_path: Path) -> None:
    closed: list[str] = []

    class Watched(LocalExecutor):
        def run(self, jobs: Jobs) -> Generator[tuple[Job, Outcome]]:
            try:
                yield from super().run(jobs)
            finally:
                closed.append("workers are ended here")

    class Failing(Listener):
        def happened(self, group: Group, event: Event) -> None:
            if isinstance(event, Finished):
                raise SeparatrixError("the sink is full")

    with Records(tmp_path / "runs.sqlite") as records:
        driver = Driver(records, Watched(CPU), ENVIRONMENT, Failing())
        with pytest.raises(SeparatrixError, match="the sink is full"):
            driver.run([Group((tiny(steps=20),))])
        assert len(closed) == 1
        assert driver.run([Group((tiny(steps=20),))]), "its locks are free again"


Stopping = Callable[[], bool]


def test_stopping_saves_what_workers_have(tmp_path: Path) -> None:
    groups = [Group(grid(2, steps=4000, evaluate_every=50)), Group(grid(2, steps=4000, length=5))]
    heard = Listener()
    stopped: Stopping = lambda: len(heard.events) >= 6  # noqa: E731
    executor = ProcessExecutor(CPU, 1, 1000.0, stopped, threads=1)
    store = tmp_path / "runs.sqlite"
    with Records(store) as records:
        assert not Driver(records, executor, ENVIRONMENT, heard, stopped=stopped).run(groups)
    saved = heard.of(Saved)
    assert len(saved) == len(heard.starts) == 1, "who had begun saved once, at the end; the other did not begin"
    assert saved[0].step > 0
    assert len(leftovers(store)) == 1


def test_groups_that_take_turns_end_as_those_that_train_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "TICK_SECONDS", 0.0)  # a turn is one step
    groups = small_sweep(steps=60)
    drive(tmp_path / "alone.sqlite", groups)
    heard = drive(tmp_path / "turns.sqlite", groups, TurnsExecutor(CPU, 2))
    assert contents(tmp_path / "turns.sqlite") == contents(tmp_path / "alone.sqlite")
    assert leftovers(tmp_path / "turns.sqlite") == []
    first, second, third = (
        [place for place, (name, _) in enumerate(heard.events) if name == group.name] for group in groups
    )
    assert first[0] < second[-1] and second[0] < first[-1], "two at once"
    assert third[0] > min(first[-1], second[-1]), "and no more"


def test_seconds_of_groups_that_share_a_device_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that goes on by one whenever it is read."""
    readings = count()
    monkeypatch.setattr(group_module, "TICK_SECONDS", 0.0)
    monkeypatch.setattr(turns_module, "SharedClock", lambda: SharedClock(lambda: float(next(readings))))
    heard = drive(tmp_path / "turns.sqlite", [Group((tiny(seed=seed),)) for seed in range(3)], TurnsExecutor(CPU, 3))
    seconds = [finished.results[0].seconds for finished in heard.of(Finished)]
    assert len(seconds) == 3 and all(each > 0 for each in seconds)
    assert sum(seconds) <= next(readings)


def test_groups_that_take_turns_are_saved_when_stopped_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_module, "TICK_SECONDS", 0.0)
    groups = small_sweep(steps=60)
    drive(tmp_path / "alone.sqlite", groups)
    heard = Listener()
    stopped: Stopping = lambda: len(heard.events) >= 20  # noqa: E731
    store = tmp_path / "runs.sqlite"
    with Records(store) as records:
        executor = TurnsExecutor(CPU, 3, 1000.0, stopped)
        assert not Driver(records, executor, ENVIRONMENT, heard, stopped=stopped).run(groups)
    assert {name for name, event in heard.events if isinstance(event, Saved)} == {group.name for group in groups}
    again = drive(store, groups, TurnsExecutor(CPU, 3))
    assert all(step > 0 for _, step in again.starts)
    assert contents(store) == contents(tmp_path / "alone.sqlite")


def test_a_lack_of_memory_in_a_turn_is_told_and_other_groups_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(group: Group, *_: Any) -> Generator[Event]:
        yield Tick(1)
        if group.specs[0].seed == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        yield Tick(2)

    monkeypatch.setattr(turns_module, "train", train)
    left = [Job(Group((tiny(seed=seed),))) for seed in range(3)]
    names = {job.group.name: job.group.specs[0].seed for job in left}
    told = [
        (names[job.group.name], outcome)
        for job, outcome in TurnsExecutor(CPU, 2).run(lambda: left.pop(0) if left else None)
    ]
    assert [outcome for seed, outcome in told if seed == 1] == [Tick(1), Failure("CUDA out of memory", True)]
    for other in (0, 2):
        assert [outcome for seed, outcome in told if seed == other] == [Tick(1), Tick(2), None]


def test_a_defect_in_a_turn_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any) -> Generator[Event]:
        raise RuntimeError("shapes cannot be multiplied")
        yield

    monkeypatch.setattr(turns_module, "train", train)
    left = [Job(Group((tiny(),)))]
    with pytest.raises(RuntimeError, match="shapes cannot"):
        list(TurnsExecutor(CPU).run(lambda: left.pop() if left else None))


def test_how_many_take_turns_is_checked_and_recorded() -> None:
    executor, about = open_executor("turns", device="cpu", workers=3)
    assert isinstance(executor, TurnsExecutor)
    assert about["at_once"] == 3 and about["executor"] == "turns"
    with pytest.raises(SeparatrixError, match="17 groups at once are out of range; choose 1 to 16, or 0 for 6"):
        open_executor("turns", device="cpu", workers=17)


@pytest.fixture
def settings_of_torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As they are in a new process, and put back afterwards; torch's own way, since its settings cannot be removed."""
    from torch._dynamo import config

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    with config.patch(recompile_limit=8):
        yield
    torch.compiler.reset()


@pytest.mark.usefixtures("settings_of_torch")
def test_float32_is_float32_on_a_gpu() -> None:
    """cuDNN rounds the products of its recurrent layers unless it is set not to; the CPU's setting is left alone."""
    prepare_process(torch.device("cpu"))
    assert torch.backends.cudnn.allow_tf32
    prepare_process(torch.device("cuda"))
    assert not torch.backends.cudnn.allow_tf32


@pytest.mark.usefixtures("settings_of_torch")
def test_more_than_eight_shapes_are_compiled_on_a_gpu() -> None:
    """All blocks share their lines of Python, of which the compiler by default takes eight versions and no more."""

    class Times(torch.nn.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.factor

    made: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., object]:
        del inputs
        made.append(graph)
        return graph.forward

    def compiled(shapes: int) -> int:
        made.clear()
        torch.compiler.reset()
        for length in range(1, shapes + 1):
            module = Times(length + 0.5)
            module.compile(backend=backend, dynamic=False)
            assert torch.equal(module(torch.ones(length)), torch.full((length,), length + 0.5))
        return len(made)

    prepare_process(torch.device("cpu"))
    assert compiled(11) == 8
    prepare_process(torch.device("cuda"))
    assert compiled(11) == 11
