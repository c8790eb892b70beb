"""One group of runs from its start, or from a checkpoint, to the end of its last member.

:func:`train` is a generator of events and has no side effect: whoever drives it writes records and checkpoints. So the
same code runs in this process, in a worker process and on a cluster, and only the driver touches the store.

At every evaluation each member is measured by a probe. A member whose loss is not a number is *diverged*; one whose
probe reaches the goal and whose full evaluation confirms it is done; at the rungs of successive halving (Jamieson and
Talwalkar 2016; Li et al. 2017) the worse half is *pruned*; and once a member of a cell is done, the others are *beaten*
if the group says so. Everything depends on the numbers alone and never on time, so that a group that was interrupted
ends exactly as one that was not.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

from separatrix.errors import SeparatrixError
from separatrix.sources import check_unchanged, line_outside, raised
from separatrix.training.batches import CHUNK_STEPS
from separatrix.training.checkpoints import Checkpoint, read_checkpoint, weights_file, written
from separatrix.training.devices import out_of_memory
from separatrix.training.ensemble import Ensemble
from separatrix.training.events import Ending, Event, Finished, Point, Progress, Result, Saved, Snapshot, Tick
from separatrix.training.grouping import Group

TICK_SECONDS = 0.2
SAVING_SHARE = 0.04
"""How much of the time may go into checkpoints."""


def train(
    group: Group,
    device: torch.device,
    checkpoint: bytes | None = None,
    save_every_seconds: float = 30.0,
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Event]:
    """Train a group and tell what happens; ends when no member is left.

    ``stopped`` is asked after every step and the evaluation that belongs to it: once it says yes, the state is given
    out as :class:`Saved` and training ends. ``clock`` gives the seconds that results say; where groups share a device
    it counts this group's part of the time.

    On a GPU a tick comes whenever the data of a chunk are used up and before anything is read back: until then the
    host has only handed out work, and may hand out that of another group while it is done.

    >>> from separatrix.training.spec import RunSpec
    >>> spec = RunSpec(task="equality", architecture="TF-(1,8)", length=4, learning_rate=0.01, steps=4, goal=0.0,
    ...                evaluate_every=2, probe_examples=8, evaluation_examples=8)
    >>> events = list(train(Group((spec, spec.with_changes(seed=1))), torch.device("cpu")))
    >>> [type(event).__name__ for event in events if not isinstance(event, (Tick, Saved))]
    ['Progress', 'Progress', 'Finished']
    >>> [result.ending for result in events[-1].results]
    ['steps', 'steps']
    """
    started = clock()
    ensemble, earlier = _begun(group, device, checkpoint)
    with _explained(ensemble):
        told_at, pace = time.monotonic(), _Pace(save_every_seconds)
        hands_out = device.type == "cuda"
        every, total, snapshots = group.specs[0].evaluate_every, group.specs[0].steps, group.specs[0].snapshots
        if ensemble.step == 0 and 0 in snapshots:
            yield _snapshot(ensemble)
        while True:
            target = min(total, (ensemble.step // every + 1) * every)
            while ensemble.step < target:
                ensemble.advance(1)
                if ensemble.step in snapshots:
                    # Before any checkpoint of this step, so that a resumed group has it already.
                    yield _snapshot(ensemble)
                now = time.monotonic()
                chunk_ends = hands_out and (ensemble.step % CHUNK_STEPS == 0 or ensemble.step == target)
                if chunk_ends or now - told_at > TICK_SECONDS:
                    yield Tick(ensemble.step)
                    told_at = now
                if ensemble.step == target:
                    # A checkpoint of this step comes after its evaluation, so that no point is left out or doubled.
                    break
                halted = stopped()
                if halted or pace.due(now):
                    yield _saved(group, ensemble, earlier + clock() - started)
                    pace.saved(now)
                if halted:
                    return
            seconds = earlier + clock() - started
            points = _measured(ensemble)
            yield Progress(ensemble.step, points)
            endings, accuracy = _endings(group, ensemble, points)
            if endings:
                yield _finished(ensemble, points, endings, accuracy, seconds)
                rest = [member for member in range(len(points)) if member not in endings]
                if not rest:
                    return
                ensemble.keep(rest)
            halted, now = stopped(), time.monotonic()
            # Saved at once when members left: what was recorded as finished is not in training any more.
            if endings or halted or pace.due(now):
                yield _saved(group, ensemble, earlier + clock() - started)
                pace.saved(now)
            if halted:
                return


@contextmanager
def _explained(ensemble: Ensemble) -> Iterator[None]:
    """Yield an error in a user's own code as one line that says where; it was right on the trial, and fails only
    now."""
    try:
        yield
    except Exception as error:
        if not ensemble.code or isinstance(error, SeparatrixError | OSError) or out_of_memory(error):
            raise
        first, line = ensemble.specs[0], line_outside(error)
        raise SeparatrixError(
            f"{first.architecture} on {first.task} failed after {ensemble.step} steps{line and f' at {line}'}: "
            f"{raised(error)}; mend it and train again with --fresh"
        ) from error


class _Pace:
    """When a checkpoint is due: after the seconds asked for, but saving never takes more than a share of the time.

    Checkpoints of large ensembles are large. 0 seconds asks for one after every step, whatever it takes.
    """

    def __init__(self, every: float) -> None:
        self.every = self.pause = every
        self.last = time.monotonic()

    def due(self, now: float) -> bool:
        """Return whether enough time has passed since the last one."""
        return now - self.last > self.pause

    def saved(self, began: float) -> None:
        """One was made and taken away; it took from ``began`` until now."""
        self.last = time.monotonic()
        self.pause = max(self.every, (self.last - began) / SAVING_SHARE) if self.every else 0.0


def _begun(group: Group, device: torch.device, checkpoint: bytes | None) -> tuple[Ensemble, float]:
    """Return the ensemble at its start or where the checkpoint left it, and the seconds it had trained by then."""
    if checkpoint is None:
        return Ensemble(group.specs, device), 0.0
    found = read_checkpoint(checkpoint, group.name)
    ensemble = Ensemble([spec for spec in group.specs if spec.name in found.runs], device)
    check_unchanged(found.code, ensemble.code, "this run's checkpoint")
    ensemble.load(found.tensors, found.step)
    return ensemble, found.seconds


def _measured(ensemble: Ensemble) -> tuple[Point, ...]:
    loss, training = ensemble.training_metrics()
    every = ensemble.specs[0].evaluate_every
    since = ensemble.step - (ensemble.step - 1) // every * every
    accuracy = ensemble.accuracy(ensemble.specs[0].probe_examples, "probe", ensemble.step)
    return tuple(
        Point(spec.name, ensemble.step, loss[member] / since, training[member], accuracy[member])
        for member, spec in enumerate(ensemble.specs)
    )


def _endings(group: Group, ensemble: Ensemble, points: Sequence[Point]) -> tuple[dict[int, Ending], list[float] | None]:
    """Return who leaves now and why; and the accuracies of the full evaluation where there was one."""
    endings: dict[int, Ending] = {
        member: "diverged" for member, point in enumerate(points) if not math.isfinite(point.loss)
    }
    first = group.specs[0]
    accuracy: list[float] | None = None
    if first.goal > 0 and any(point.accuracy >= first.goal for point in points):
        accuracy = ensemble.accuracy(first.evaluation_examples, "evaluation", 0)
        for member, reached in enumerate(accuracy):
            # Its own probe must have asked for the evaluation: nobody ends sooner for being trained in company.
            if min(reached, points[member].accuracy) >= first.goal and member not in endings:
                endings[member] = "goal"
    others = [member for member in range(len(points)) if member not in endings]
    if group.together and others and ensemble.step < first.steps:
        return {member: why for member, why in endings.items() if why != "goal"}, accuracy
    if group.first_goal_ends and "goal" in endings.values():
        endings.update(dict.fromkeys(others, "beaten"))
    elif ensemble.step >= first.steps:
        endings.update(dict.fromkeys(others, "steps"))
    elif ensemble.step in group.rungs and len(others) > 1:
        # The better half stays; equal accuracies are ordered by loss, then by place.
        ranked = sorted(others, key=lambda member: (-points[member].accuracy, points[member].loss, member))
        endings.update(dict.fromkeys(ranked[-(len(ranked) // 2) :], "pruned"))
    return endings, accuracy


def _finished(
    ensemble: Ensemble,
    points: Sequence[Point],
    endings: dict[int, Ending],
    accuracy: list[float] | None,
    seconds: float,
) -> Finished:
    accuracy = accuracy or ensemble.accuracy(ensemble.specs[0].evaluation_examples, "evaluation", 0)
    parameters = ensemble.numbers_of_one_member()
    results = tuple(
        Result(points[m].run, why, ensemble.step, accuracy[m], points[m].loss, seconds, parameters)
        for m, why in sorted(endings.items())
    )
    return Finished(results, weights_file(ensemble, sorted(endings)))


def _snapshot(ensemble: Ensemble) -> Snapshot:
    names = tuple(spec.name for spec in ensemble.specs)
    return Snapshot(ensemble.step, names, weights_file(ensemble, range(len(names))))


def _saved(group: Group, ensemble: Ensemble, seconds: float) -> Saved:
    runs = tuple(spec.name for spec in ensemble.specs)
    found = Checkpoint(group.name, runs, ensemble.step, seconds, ensemble.tensors(), ensemble.code)
    return Saved(ensemble.step, written(found))
