"""The driver: every run is recorded once, whatever is found in the store and whatever fails on the way."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.training import driver as driver_module
from separatrix.training import group as group_module
from separatrix.training.driver import Driver, interruptible
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Event, Finished, Progress, Saved, Snapshot
from separatrix.training.executors.executor import Executor, Failure, Job, Jobs, Outcome
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.group_files import GroupFiles
from separatrix.training.grouping import Group
from separatrix.training.records import VERSION, Records
from separatrix.training.spec import RunSpec
from tests.training.cases import CPU, ENVIRONMENT, Listener, drive, grid, small_sweep, tiny
from tests.training.stores import contents, leftovers

COMPETING = Group(grid(5, steps=48, evaluate_every=8), rungs=(8, 16))


class StopAfter(Listener):
    """Asks to stop once some number of events of a kind were recorded."""

    def __init__(self, kind: type[Any], count: int = 1) -> None:
        super().__init__()
        self.kind, self.count = kind, count

    def stopped(self) -> bool:
        return len(self.of(self.kind)) >= self.count


def interrupted(store: Path, groups: Sequence[Group], kind: type[Any], count: int = 1, **more: Any) -> Listener:
    """Train until some number of events of a kind, then stop as Ctrl-C does."""
    heard = StopAfter(kind, count)
    executor = LocalExecutor(CPU, save_every_seconds=0.0, stopped=heard.stopped)
    return drive(store, groups, executor, heard, stopped=heard.stopped, **more)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    store = tmp_path_factory.mktemp("undisturbed") / "runs.sqlite"
    drive(store, [COMPETING])
    return contents(store)


# -- once and only once ----------------------------------------------------------------------------------


def test_a_sweep_is_recorded_and_not_trained_again(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    groups = small_sweep(steps=60)
    first = drive(store, groups)
    found = contents(store)
    assert set(found) == {spec.name for group in groups for spec in group.specs}
    assert {each["ending"] for each in found.values()} == {"pruned", "goal", "beaten", "steps"}
    assert sum(len(event.results) for event in first.of(Finished)) == len(found)
    assert leftovers(store) == []
    second = drive(store, groups)
    assert second.events == []
    assert contents(store) == found


@pytest.mark.parametrize(
    ("kind", "count"), [(Saved, 1), (Saved, 9), (Progress, 1), (Progress, 3), (Finished, 1), (Finished, 2)]
)
def test_a_stopped_group_goes_on_to_the_same_end(
    tmp_path: Path, undisturbed: dict[str, Any], kind: type[Any], count: int
) -> None:
    store = tmp_path / "runs.sqlite"
    interrupted(store, [COMPETING], kind, count)
    assert leftovers(store), "a checkpoint is left"
    drive(store, [COMPETING])
    assert contents(store) == undisturbed
    assert leftovers(store) == []


def test_a_process_that_dies_before_cleaning_up_is_cleaned_up_after(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    store = tmp_path / "runs.sqlite"
    interrupted(store, [COMPETING], Finished, 3)
    assert contents(store) == undisturbed
    assert leftovers(store)
    assert drive(store, [COMPETING]).events == []
    assert leftovers(store) == []


def test_only_what_is_missing_is_trained(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    specs = grid(4)
    drive(store, [Group(specs[:2])])
    before = contents(store)
    heard = drive(store, [Group(specs)])
    assert [sorted(r.run for r in event.results) for event in heard.of(Finished)] == [sorted(s.name for s in specs[2:])]
    after = contents(store)
    assert {name: after[name] for name in before} == before


def test_overlapping_groups_of_one_sweep_train_each_run_once(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    specs = grid(3)
    heard = drive(store, [Group(specs[:2]), Group(specs[1:]), Group(specs[:2])])
    ended = [result.run for event in heard.of(Finished) for result in event.results]
    assert sorted(ended) == sorted(spec.name for spec in specs)


def test_a_full_grid_trains_those_who_were_stopped_for_others(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    drive(store, [COMPETING])
    pruned = {name for name, each in contents(store).items() if each["ending"] == "pruned"}
    assert len(pruned) == 3
    assert drive(store, [COMPETING], full_grid=True).events == [], "a group that prunes is as done as it can be"
    heard = drive(store, [Group(COMPETING.specs)], full_grid=True)
    assert {r.run for event in heard.of(Finished) for r in event.results} == pruned
    found = contents(store)
    assert {each["ending"] for each in found.values()} == {"steps"}
    assert {len(each["curve"]) for each in found.values()} == {6}
    assert drive(store, [COMPETING]).events == []


def test_who_was_settled_is_trained_though_others_finish_meanwhile(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """A member that another sweep records while the group is interrupted still competes, or others would be pruned."""
    store = tmp_path / "runs.sqlite"
    interrupted(store, [COMPETING], Saved, 2)
    drive(store, [Group(COMPETING.specs[:2])])
    drive(store, [COMPETING])
    found = contents(store)
    for spec in COMPETING.specs[2:]:
        assert found[spec.name] == undisturbed[spec.name]
    assert {found[spec.name]["ending"] for spec in COMPETING.specs[:2]} == {"steps"}


def test_fresh_forgets_results_and_checkpoints(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """Also of a group that was interrupted after some of its runs had ended."""
    store = tmp_path / "runs.sqlite"
    interrupted(store, [COMPETING], Finished, 1)
    with Records(store) as records:
        heard = Listener()
        driver = Driver(records, LocalExecutor(CPU), ENVIRONMENT, heard)
        driver.forget([COMPETING])
        assert records.all() == []
        assert driver.run([COMPETING])
    assert heard.starts == [(COMPETING.name, 0)]
    assert contents(store) == undisturbed


def test_a_model_that_does_not_fit_its_task_is_refused_before_anything_is_forgotten_or_trained(tmp_path: Path) -> None:
    fits, unfit = Group((tiny(),)), Group((tiny(architecture="GraphTF-(1,8)"),))
    drive(tmp_path / "runs.sqlite", [fits])
    with Records(tmp_path / "runs.sqlite") as records:
        before = records.all()
        driver = Driver(records, LocalExecutor(CPU), ENVIRONMENT, Listener())
        for work in (driver.forget, driver.run):
            with pytest.raises(SeparatrixError, match="GraphTF reads rows of adjacency matrices, which index-lookup"):
                work([fits, unfit])
        assert records.all() == before and len(before) == 1


def test_a_run_that_was_forgotten_alone_is_trained_again(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    specs = grid(3)
    drive(store, [Group(specs[:1])])
    interrupted(store, [Group(specs)], Saved, 3)
    with Records(store) as records:
        records.forget([specs[0].name])
    drive(store, [Group(specs)])
    assert set(contents(store)) == {spec.name for spec in specs}


def test_snapshots_are_kept_and_found(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    spec = tiny(snapshots=(0, 20, 33))
    heard = interrupted(store, [Group((spec,))], Saved, 25)
    assert [event.step for event in heard.of(Snapshot)] == [0, 20]
    drive(store, [Group((spec,))])
    with Records(store) as records:
        kept = records.snapshots(spec.name)
    assert sorted(kept) == [0, 20, 33]
    assert all(path.exists() for path in kept.values())


# -- damage ----------------------------------------------------------------------------------------------


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "truncated":
        del content[len(content) // 2 :]
    elif how == "empty":
        content.clear()
    else:
        content[-100] ^= 4
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("how", ["truncated", "a flipped bit", "empty"])
@pytest.mark.parametrize("both", [False, True])
def test_damaged_checkpoints_are_noticed_and_nothing_is_lost(
    tmp_path: Path, undisturbed: dict[str, Any], how: str, both: bool
) -> None:
    store = tmp_path / "runs.sqlite"
    interrupted(store, [COMPETING], Saved, 20)
    newest, previous = sorted((tmp_path / "runs.files" / "checkpoints").iterdir(), reverse=True)
    assert (newest.suffix, previous.suffix) == (".safetensors", ".previous")
    damage(newest, how)
    if both:
        damage(previous, how)
    heard = drive(store, [COMPETING])
    assert len(heard.messages) == 1 + both
    assert all("checkpoint" in message and "an earlier state is used" in message for message in heard.messages)
    # The one before the newest is a step behind it; without any the group starts anew, though some have ended.
    assert (heard.starts[0][1] > 10) is not both
    assert contents(store) == undisturbed
    assert leftovers(store) == []


# -- memory ----------------------------------------------------------------------------------------------


def limited(monkeypatch: pytest.MonkeyPatch, most: int, at_step: int = 0) -> list[int]:
    """A device on which ensembles of more than ``most`` members run out of memory at some step."""
    sizes: list[int] = []
    advance = Ensemble.advance

    def checked(self: Ensemble, steps: int) -> None:
        if len(self.specs) > most and self.step >= at_step:
            raise torch.OutOfMemoryError(f"CUDA out of memory: {len(self.specs)} members\nand much more text")
        sizes.append(len(self.specs))
        advance(self, steps)

    monkeypatch.setattr(Ensemble, "advance", checked)
    return sizes


@pytest.mark.parametrize("at_step", [0, 13])
def test_an_ensemble_that_does_not_fit_is_split_and_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_step: int
) -> None:
    whole = tmp_path / "whole.sqlite"
    groups = [Group(grid(7))]
    drive(whole, groups)
    sizes = limited(monkeypatch, 2, at_step)
    store = tmp_path / "runs.sqlite"
    heard = drive(store, groups, LocalExecutor(CPU, save_every_seconds=0.0))
    assert [message.split(" ")[0] for message in heard.messages] == ["7", "3", "4"]
    assert set(sizes[-60:]) <= {1, 2}
    found, expected = contents(store), contents(whole)
    assert set(found) == set(expected)
    for name, each in found.items():
        # Single and batched products round differently; see test_ensemble.
        assert (each["ending"], each["step"]) == (expected[name]["ending"], expected[name]["step"])
        assert float(each["loss"]) == pytest.approx(float(expected[name]["loss"]), rel=1e-4)
        assert [point[0] for point in each["curve"]] == [20, 40, 60]
    assert leftovers(store) == []
    if at_step:
        steps = [step for _, step in heard.starts]
        assert steps[0] == 0
        assert set(steps[1:]) == {13}, "the parts go on where the whole stood"


def test_a_split_group_that_is_stopped_goes_on_with_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tmp_path / "whole.sqlite"
    groups = [Group(grid(4))]
    limited(monkeypatch, 2)
    drive(whole, groups)
    store = tmp_path / "runs.sqlite"
    interrupted(store, groups, Finished, 1)
    interrupted(store, groups, Saved, 30)
    heard = drive(store, groups)
    assert [len(event.results) for event in heard.of(Finished)] == [2], "the half that had ended is not trained again"
    assert contents(store) == contents(whole)
    assert leftovers(store) == []


def test_a_run_that_does_not_fit_alone_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, 0)
    with pytest.raises(
        SeparatrixError, match=r"does not fit into memory even alone .*choose a smaller batch"
    ) as caught:
        drive(tmp_path / "runs.sqlite", [Group(grid(2))])
    assert "\n" not in str(caught.value)


# -- workers that are lost -------------------------------------------------------------------------------


class Losing(Executor):
    """Trains here, but says that the worker was lost after each of some numbers of events."""

    name = "losing"

    def __init__(self, losses: list[int], save_every_seconds: float) -> None:
        self.losses, self.save_every_seconds = losses, save_every_seconds

    def run(self, jobs: Jobs) -> Any:
        while (job := jobs()) is not None:
            yield from self._until_lost(job)

    def _until_lost(self, job: Job) -> Any:
        left = self.losses.pop(0) if self.losses else 10**6
        outcome: Outcome = None
        for event in group_module.train(job.group, CPU, job.checkpoint, self.save_every_seconds):
            if left == 0:
                outcome = Failure("the node is gone", out_of_memory=False)
                break
            left -= 1
            yield job, event
        yield job, outcome


def test_lost_workers_cost_nothing_but_time(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    store = tmp_path / "runs.sqlite"
    heard = drive(store, [COMPETING], Losing([3, 0, 5, 9, 1, 12, 2, 20, 4], 0.0))
    assert len(heard.messages) == 9, "losses with progress in between are not counted against the group"
    assert contents(store) == undisturbed
    assert leftovers(store) == []


def test_a_group_that_gets_nowhere_ends_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SeparatrixError, match="a worker was lost 5 times on the same group"):
        drive(tmp_path / "runs.sqlite", [COMPETING], Losing([0] * 20, 0.0))


# -- another process -------------------------------------------------------------------------------------


def test_what_somebody_else_trains_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one dies after a while; its locks are let go and its group is trained here, after all others."""
    store = tmp_path / "runs.sqlite"
    groups = [Group(grid(2)), Group(grid(2, length=5))]
    other = GroupFiles(tmp_path / "runs.files", print).locked([groups[0].specs[1].name])
    assert other is not None
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            other.close()

    monkeypatch.setattr(driver_module.time, "sleep", sleep)
    heard = drive(store, groups)
    assert len(slept) == 3
    assert heard.messages == ["1 group is being trained by another process; waiting"], "said once"
    assert [name for name, event in heard.events if isinstance(event, Finished)] == [groups[1].name, groups[0].name]


# -- stores ----------------------------------------------------------------------------------------------


def newer(path: Path) -> None:
    with Records(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.execute("CREATE TABLE more (a)")
    connection.commit()
    connection.close()


def not_a_database(path: Path) -> None:
    path.write_bytes(b"dear diary, " * 1000)


def another_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE addresses (a)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (newer, r"was written by a newer version \(format 2, this one knows 1\); upgrade separatrix"),
        (not_a_database, "it is not a database; name another"),
        (another_database, "is a database of something else"),
        (lambda path: path.mkdir(), "it is a folder, not a file; name a store"),
        (lambda path: path.symlink_to(path), "unable to open database file; check"),
    ],
    ids=["newer", "no database", "another", "folder", "loop"],
)
def test_a_store_that_is_none_is_refused_and_not_touched(
    tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    path = tmp_path / "runs.sqlite"
    make(path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()}
    with pytest.raises(SeparatrixError, match=reason) as caught:
        Records(path)
    assert "\n" not in str(caught.value)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()} == before


def test_a_newer_store_in_use_is_not_touched_either(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    newer(path)
    owner = sqlite3.connect(path)
    owner.execute("INSERT INTO more VALUES (1)")
    owner.commit()
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert len(before) == 3
    with pytest.raises(SeparatrixError, match="newer version"):
        Records(path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    owner.close()


def test_a_store_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(SeparatrixError, match="check that it is a store of separatrix, writable"):
        Records(tmp_path / "file" / "runs.sqlite")
    with pytest.raises(SeparatrixError, match="there is no store"):
        Records(tmp_path / "none.sqlite", create=False)


def test_points_and_results_are_written_once(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    heard = drive(store, [Group(grid(2))])
    before = contents(store)
    with Records(store) as records:
        for event in heard.of(Progress):
            records.add_points([type(point)(point.run, point.step, 9.0, 0.0, 0.0) for point in event.points])
        finished = heard.of(Finished)[0]
        changed = [type(result)(**{**vars(result), "accuracy": 0.0}) for result in finished.results]
        records.add_results(grid(2), changed, {}, None)
    assert contents(store) == before


def test_the_same_number_written_otherwise_is_the_same_run() -> None:
    assert tiny(goal=1, clip=1, weight_decay=0).name == tiny(goal=1.0, clip=1.0, weight_decay=0.0).name
    assert isinstance(RunSpec(**{**tiny().as_dict(), "learning_rate": 1}).learning_rate, float)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ctrl_c_sets_a_flag_and_the_second_one_interrupts(name: str) -> None:
    """So does the signal that clusters and containers end a process with."""
    import signal

    sent = signal.Signals[name]
    before = signal.getsignal(sent)
    with interruptible() as stopped:
        assert not stopped()
        signal.raise_signal(sent)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(sent)
    assert signal.getsignal(sent) == before


def test_events_reach_the_observer_after_they_were_recorded(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    group = Group(grid(2))

    class Reading(Listener):
        def happened(self, group: Group, event: Event) -> None:
            super().happened(group, event)
            with Records(store) as records:
                if isinstance(event, Progress):
                    assert all(records.curve(point.run)[-1] == point for point in event.points)
                if isinstance(event, Finished):
                    assert set(records.find(result.run for result in event.results)) == {r.run for r in event.results}

    assert len(drive(store, [group], listener=Reading()).of(Progress)) == 3
