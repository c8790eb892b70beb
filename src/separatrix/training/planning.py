"""What a sweep will cost, said before it starts: runs, steps, and time on this device.

The time of a step is taken from records of the same shapes that were trained on the same device with as many members;
where there are none it is measured: a few steps and one evaluation of the real ensemble. Of shapes that differ only in
their length the shortest and the longest are measured, and the others lie on the line between. A shape whose step would
take longer than :data:`LONGEST_STEP` seconds is never tried whole (a laptop may plan the paper's sweep): there fewer
members and examples are measured, as many as take about that long, and multiplied, which says the order of magnitude.
A shape that does not fit into memory has no time.

All numbers are "at most": a cell that reaches its goal ends early. Members that successive halving removes are counted
until the rung at which they leave; the time of a smaller ensemble lies on the line between one member and all.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, TypeAlias

import torch

from separatrix.errors import SeparatrixError
from separatrix.models import parse_spec
from separatrix.sources import line_outside, raised
from separatrix.training.devices import out_of_memory, using_threads
from separatrix.training.driver import missing_runs
from separatrix.training.ensemble import Ensemble
from separatrix.training.grouping import Group
from separatrix.training.record import Record
from separatrix.training.spec import RunSpec
from separatrix.training.user_code import check_trainable, user_code

Basis: TypeAlias = Literal["records", "measured", "interpolated", "extrapolated", "unknown"]
LONGEST_STEP = 2.0
"""Seconds; slower steps are extrapolated from a small one."""
MEASURED_SECONDS = 0.1
"""How long one shape is measured at most, after the first step; two steps at least."""
MOST_SAMPLES = 25
SMALL_BATCH = 4
GROWTH = 4
SMALL_EVALUATION = 256


@dataclass(frozen=True)
class Timing:
    """Seconds of one step and of one evaluated example, with all members and with one."""

    step: float
    step_alone: float
    example: float
    basis: Basis

    def seconds(self, group: Group) -> float:
        """Return the whole group, if no member ends early."""
        first, members = group.specs[0], len(group.specs)
        total = 0.0
        for start, end, left in phases(group):
            share = 1.0 if members == 1 else (left - 1) / (members - 1)
            total += (end - start) * (self.step_alone + share * (self.step - self.step_alone))
        examples = first.steps // first.evaluate_every * first.probe_examples
        # Everyone has one full evaluation: those who leave at a rung have it there.
        return total + self.example * (examples + first.evaluation_examples * (1 + len(group.rungs)))


@dataclass(frozen=True)
class GroupPlan:
    """A group with what is already recorded of it and what is left to do."""

    group: Group
    recorded: int
    model_steps: int
    seconds: float | None
    basis: Basis

    @property
    def done(self) -> bool:
        """Whether nothing is left to train."""
        return self.recorded == len(self.group.specs)


@dataclass(frozen=True)
class Plan:
    """What is to be trained; ``workers`` groups at a time."""

    groups: tuple[GroupPlan, ...]
    workers: int = 1

    @property
    def runs(self) -> int:
        """All runs, recorded or not."""
        return sum(len(each.group.specs) for each in self.groups)

    @property
    def recorded(self) -> int:
        """Runs whose result is in the store."""
        return sum(each.recorded for each in self.groups)

    @property
    def steps(self) -> int:
        """Steps of ensembles that are left, at most."""
        return sum(each.group.specs[0].steps for each in self.groups if not each.done)

    @property
    def model_steps(self) -> int:
        """Steps of single models that are left, at most."""
        return sum(each.model_steps for each in self.groups)

    @property
    def seconds(self) -> float | None:
        """How long what is left will take at most; None where it was not estimated."""
        left = [each for each in self.groups if not each.done]
        if any(each.seconds is None for each in left):
            return None
        times = [each.seconds or 0.0 for each in left]
        return max(max(times, default=0.0), sum(times) / max(1, self.workers))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        seconds = self.seconds
        bases = [each.basis for each in self.groups if not each.done]
        return {
            "cells": len(self.groups),
            "runs": self.runs,
            "recorded": self.recorded,
            "steps": self.steps,
            "model_steps": self.model_steps,
            "seconds_at_most": None if seconds is None else round(seconds, 1),
            "workers": self.workers,
            "estimated_from": {basis: bases.count(basis) for basis in sorted(set(bases))},
        }


def phases(group: Group) -> list[tuple[int, int, int]]:
    """Return (first step, last step, members) between the rungs, if members leave only there."""
    steps, left, found, start = group.specs[0].steps, len(group.specs), list[tuple[int, int, int]](), 0
    for rung in (*group.rungs, steps):
        if rung > start:
            found.append((start, min(rung, steps), left))
            start = rung
        left -= left // 2 if left > 1 else 0
    return found


def plan(
    groups: Sequence[Group],
    recorded: Mapping[str, Record],
    earlier: Sequence[Record],
    device: torch.device,
    environment: Mapping[str, Any],
    *,
    full_grid: bool = False,
    workers: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Plan:
    """Return what is left of ``groups``, with a time for each.

    ``recorded`` are the records of these runs by name, ``earlier`` all records whose times may be used. ``report`` is
    called with how many of how many shapes have been timed.
    """
    known = known_timings(earlier, environment)
    missing = [_left(group, recorded, full_grid) for group in groups]
    shapes = {_key(left): left.specs for left in missing if left is not None and _key(left) not in known}
    for done, (key, specs) in enumerate(_ends_first(shapes)):
        report(done, len(shapes))
        if key not in known and (timing := _between(key, known) or timing_of(specs, device)) is not None:
            known[key] = timing
            known.setdefault(cost_key(specs[0], 1), replace(timing, step=timing.step_alone))
    report(len(shapes), len(shapes))
    found: list[GroupPlan] = []
    for group, left in zip(groups, missing, strict=True):
        timing = None if left is None else known.get(_key(left))
        timed = {} if left is None or timing is None else {"seconds": timing.seconds(left), "basis": timing.basis}
        found.append(replace(_counted(group, left), **timed))
    return Plan(tuple(found), workers)


def _key(group: Group) -> tuple[Any, ...]:
    return cost_key(group.specs[0], len(group.specs))


def _ends_first(shapes: Mapping[Any, Sequence[RunSpec]]) -> list[tuple[Any, Sequence[RunSpec]]]:
    """Order shapes so that of those alike but for their length the shortest and the longest come first."""
    alike: dict[Any, list[Any]] = {}
    for key in sorted(shapes, key=lambda key: key[-1]):
        alike.setdefault(key[:-1], []).append(key)
    ends = [key for keys in alike.values() for key in dict.fromkeys((keys[0], keys[-1]))]
    return [(key, shapes[key]) for key in dict.fromkeys((*ends, *shapes))]


def _between(key: tuple[Any, ...], known: Mapping[Any, Timing]) -> Timing | None:
    """Interpolate the time at a length between a shorter and a longer one; None where one of them is missing."""
    length = key[-1]
    near = [each[-1] for each in known if each[:-1] == key[:-1]]
    below, above = [each for each in near if each < length], [each for each in near if each > length]
    if not below or not above:
        return None
    first, last = max(below), min(above)
    one, other = known[(*key[:-1], first)], known[(*key[:-1], last)]
    share = (length - first) / (last - first)
    basis: Basis = "extrapolated" if "extrapolated" in (one.basis, other.basis) else "interpolated"
    return Timing(
        one.step + share * (other.step - one.step),
        one.step_alone + share * (other.step_alone - one.step_alone),
        one.example + share * (other.example - one.example),
        basis,
    )


def timing_of(specs: Sequence[RunSpec], device: torch.device) -> Timing | None:
    """Return the time of a step; None where the memory did not suffice, which is for the training to split or to
    refuse."""
    first = specs[0]
    check_trainable(parse_spec(first.architecture))
    try:
        return measure(specs, device)
    except Exception as error:
        if out_of_memory(error):
            return None
        if isinstance(error, SeparatrixError | OSError) or not user_code(first):
            raise
        line = line_outside(error)
        raise SeparatrixError(
            f"{first.architecture} on {first.task} at length {first.length} failed{line and f' at {line}'}: "
            f"{raised(error)}; mend it"
        ) from error


def faster_threads(device: torch.device) -> int:
    """Return 1 if a step of a small built-in model is faster with one thread than with torch's number, else that."""
    usual = torch.get_num_threads()
    if device.type != "cpu" or usual == 1:
        return usual
    small = RunSpec(task="majority", architecture="TF-(1,16)", length=32, learning_rate=1e-3, seed=0, steps=9)
    ensemble, times = Ensemble([small], device), dict[int, float]()
    for count in (1, usual):
        with using_threads(count):
            ensemble.advance(1)
            times[count] = min(_seconds(ensemble, 1, device) for _ in range(3))
    return min(times, key=lambda count: times[count])


def counted(groups: Sequence[Group], recorded: Mapping[str, Record], *, full_grid: bool = False) -> Plan:
    """Return what is left of ``groups``, without an estimate of the time."""
    return Plan(tuple(_counted(group, _left(group, recorded, full_grid)) for group in groups))


def _left(group: Group, recorded: Mapping[str, Record], full_grid: bool) -> Group | None:
    """Return the runs that the driver will train; None where all are recorded."""
    missing = missing_runs(group, recorded, full_grid)
    return replace(group, specs=tuple(missing)) if missing else None


def _counted(group: Group, left: Group | None) -> GroupPlan:
    if left is None:
        return GroupPlan(group, len(group.specs), 0, 0.0, "records")
    work = sum((end - start) * members for start, end, members in phases(left))
    return GroupPlan(group, len(group.specs) - len(left.specs), work, None, "unknown")


def cost_key(spec: RunSpec, members: int) -> tuple[Any, ...]:
    """Return what decides how long a step takes, the length last."""
    parameters = tuple(sorted((name, repr(value)) for name, value in spec.task_parameters))
    return (spec.task, parameters, spec.architecture, spec.batch, spec.precision, members, spec.length)


def known_timings(records: Sequence[Record], environment: Mapping[str, Any]) -> dict[Any, Timing]:
    """Return timings from records made on this device with as many threads, by :func:`cost_key`; evaluation is within
    them.

    Only runs that ended with their group's first ones say how long a step with all members takes.
    """
    found: dict[Any, Timing] = {}
    same = ("device", "device_name", "threads", "executor")
    shortest: dict[str, int] = {}
    for record in records:
        group = str(record.environment.get("group"))
        shortest[group] = min(shortest.get(group, record.result.step), record.result.step)
    for record in records:
        where, result = record.environment, record.result
        if "members" not in where or any(where.get(key) != environment.get(key) for key in same):
            continue
        if result.step != shortest[str(where.get("group"))] or result.step < 1:
            continue
        step = result.seconds / result.step
        # A smaller ensemble is taken to be proportionally faster; records do not tell more.
        timing = Timing(step, step / where["members"], 0.0, "records")
        found[cost_key(record.spec, where["members"])] = timing
    return found


def measure(specs: Sequence[RunSpec], device: torch.device) -> Timing:
    """Time a few steps of these runs; nothing is kept."""
    first, members, batch = specs[0], 1, min(SMALL_BATCH, specs[0].batch)
    while True:
        factor = len(specs) * first.batch / (members * batch)
        seconds = _tried(specs[:members], batch, device, LONGEST_STEP / factor)
        if seconds * factor <= LONGEST_STEP or factor == 1:
            break
        if seconds * GROWTH > LONGEST_STEP:
            # An example is evaluated in about a third of the time that it is trained in.
            step = seconds * factor
            return Timing(step, step / len(specs), step / first.batch / 3, "extrapolated")
        # Much of a small step is overhead, so a larger one tells more: first all examples, then all members.
        if batch < first.batch:
            batch = min(batch * GROWTH, first.batch)
        else:
            members = min(members * GROWTH, len(specs))
    whole = Ensemble(specs, device)
    step = _step_seconds(whole, device)
    single = step if len(specs) == 1 else _step_seconds(Ensemble([first], device), device)
    examples = min(SMALL_EVALUATION, first.probe_examples)
    started = time.perf_counter()
    whole.accuracy(examples, "planning", 0)
    return Timing(step, min(single, step), (time.perf_counter() - started) / examples, "measured")


def _tried(specs: Sequence[RunSpec], batch: int, device: torch.device, enough: float) -> float:
    """Time a step on fewer examples: the first if it is short enough, or the best of three on a busy machine."""
    ensemble = Ensemble([replace(spec, batch=batch) for spec in specs], device)
    first = _seconds(ensemble, 1, device)
    return first if first <= enough else min(_seconds(ensemble, 1, device) for _ in range(3))


def _step_seconds(ensemble: Ensemble, device: torch.device) -> float:
    """Return the median over a short while, after one step that is not counted; on a GPU steps are timed by eights."""
    ensemble.advance(1)
    together = 8 if device.type == "cuda" else 1
    times = [_seconds(ensemble, together, device) for _ in range(2)]
    while sum(times) * together < MEASURED_SECONDS and len(times) < MOST_SAMPLES:
        times.append(_seconds(ensemble, together, device))
    return median(times)


def _seconds(ensemble: Ensemble, steps: int, device: torch.device) -> float:
    started = time.perf_counter()
    ensemble.advance(steps)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (time.perf_counter() - started) / steps
