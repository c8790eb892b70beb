"""The cells of the papers' figures under the recipe ``strong``, most wanted first, in calls that end by themselves:

    python -m tools.gpu_figures --recipe strong --store PATH --seconds 560 --out FOLDER

A cell is one model at one length: three seeds at the rate that suits the model, as one program; where no rate was
measured, one seed at another as well. Cells go by what they may gain (the paper's accuracy less the best that is
recorded, here or in ``--known``) for each second that they may cost. What is recorded is not trained again and what was
interrupted goes on, so the same command is called until nothing is left. A group that fails is reported and left out,
and the others go on. ``--out`` gets a compact copy of the store without weights, and the table.

``--scale tiny`` trains every kind of cell for a few steps, with small models and lengths: a rehearsal on any machine.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tools.gpu_figures import copy_store

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.naming import parse_spec
from separatrix.training.devices import device_named, environment, prepare_process
from separatrix.training.driver import Driver
from separatrix.training.executors.executor import Outcome
from separatrix.training.executors.turns import TurnsExecutor
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import paper_table, plain_model
from separatrix.training.exported_records import ExportedRecords
from separatrix.training.grouping import Group
from separatrix.training.observers import Observer
from separatrix.training.recipes import recipe_fields
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec

SEEDS = (0, 1, 2)
SAVE_EVERY = 60.0
COMPILE_FROM = 60.0
"""Seconds that the cells of one model on one task may cost in all, from which on its blocks are compiled."""
NEAR_PERFECT = 99.9


@dataclass(frozen=True)
class Aim:
    """Cells of a figure: a model at some lengths, its rates (the first with all seeds) and steps."""

    figure: str
    model: str
    lengths: tuple[int, ...]
    rates: tuple[float, ...]
    steps: int
    more: dict[str, Any] = field(default_factory=dict)


def _lookup(model: str, *cells: tuple[int, int], rates: tuple[float, ...], figure: str = "figure2-left") -> list[Aim]:
    return [Aim(figure, model, (length,), rates, steps) for length, steps in cells]


LEARNED = "positions=learned"
AIMS: tuple[Aim, ...] = (
    # Figure 2, left. Measured with many questions: LSTM at 20 in 9k steps, at 50 rising after 16k; TF at 400 in 3k;
    # DSS at 20 at full length in 8.5k; Mamba at 50 in 12k, with lengths that grow over half of the steps, 100.0.
    *_lookup("LSTM-(3,256)", (20, 10000), (50, 16000), (100, 12000), (200, 5000), (400, 3000), rates=(1e-3,)),
    *_lookup(f"LinTF-(6,256,{LEARNED})", (20, 3000), (50, 4000), (100, 6000), (200, 5000), (400, 3000), rates=(5e-4,)),
    *_lookup("LinTF-(6,256)", (20, 10000), (50, 8000), (100, 6000), (200, 4000), (400, 3000), rates=(3e-4,)),
    *_lookup("RetNet-(6,256)", (20, 8000), (50, 10000), (100, 8000), (200, 5000), (400, 3000), rates=(5e-4,)),
    *_lookup("DSS-(6,256)", (20, 10000), (50, 10000), (100, 10000), (200, 5000), (400, 3000), rates=(1e-3,)),
    *_lookup("Mamba-(6,256)", (20, 5000), (50, 8000), (100, 12000), (200, 8000), (400, 4000), rates=(7e-4,)),
    *_lookup("TF-(1,64)", (20, 1500), (50, 2000), (100, 3000), (200, 5000), (400, 8000), rates=(1e-3,)),
    # Figure 3. Measured with full length in half of the examples: width 256 at 50 in 10k steps 99.3, width 512 at 50 in
    # 10k 99.3 and at 75 in 12k 84.7, width 1024 at 50 in 10k 76.1 (24 to 76 by seed). With
    # full length alone width 1024 stays at 10 to 15 % at 50 and 75. Train one width a call: each kind compiles first.
    *(
        aim
        for model, rates in (
            ("Mamba-(2,32)", (5e-3,)), ("Mamba-(2,64)", (3e-3,)), ("Mamba-(2,256)", (1e-3,)),
            ("Mamba-(2,512)", (7e-4,)), ("Mamba-(2,1024)", (3e-4, 5e-4)),
        )
        for aim in _lookup(
            model, (20, 6000), (50, 10000), (75, 12000), (100, 12000), (200, 8000), (400, 4000), rates=rates,
            figure="figure3",
        )
    ),
    # Figure 4, right. Measured at full length: TF at 100 to 800 in 2k to 8k steps, DSS at 200 in 11k and at 400 in 20k,
    # RetNet at 100 in 20k and at 200 in 40k, LinTF with positions at 100 in 20k. LSTM and Mamba do
    # not leave chance at full length alone, nor in 20k steps with half of it (LSTM at 200, Mamba at 400); with all
    # lengths the LSTM's loss at 100 begins to fall after 20k steps (6.1 of 6.9), so it gets more of them.
    Aim("figure4-ncp", "TF-(2,64,heads=4)", (100, 200), (1e-3,), 15000),
    Aim("figure4-ncp", "TF-(2,64,heads=4)", (400, 600, 800), (5e-4,), 20000),
    Aim("figure4-ncp", "Mamba-(2,64)", (100, 200), (2e-3,), 40000, {"full_length": 0.5}),
    Aim("figure4-ncp", "Mamba-(2,64)", (400,), (2e-3,), 20000, {"full_length": 0.5}),
    Aim("figure4-ncp", "RetNet-(2,64)", (100,), (2e-3,), 20000),
    Aim("figure4-ncp", "RetNet-(2,64)", (200,), (2e-3,), 40000),
    Aim("figure4-ncp", "DSS-(2,64)", (100, 200, 400), (2e-3,), 20000),
    Aim("figure4-ncp", f"LinTF-(2,64,{LEARNED})", (100,), (1e-3,), 15000),
    Aim("figure4-ncp", f"LinTF-(2,64,{LEARNED})", (200,), (1e-3,), 40000),
    Aim("figure4-ncp", "LinTF-(2,64)", (100, 200), (2e-3,), 20000),
    Aim("figure4-ncp", "LSTM-(2,64)", (100,), (5e-3,), 100000, {"full_length": 0.0}),
    Aim("figure4-ncp", "LSTM-(2,64)", (200,), (5e-3,), 20000, {"full_length": 0.5}),
    # Figure 4, left: all within a point or three, but TF at 400 stays at chance at 3e-4.
    Aim("figure4-random", "LSTM-(2,256)", (20, 50, 100), (1e-3,), 10000),
    Aim("figure4-random", "LinTF-(2,256)", (20, 50, 100), (5e-4,), 10000),
    Aim("figure4-random", "RetNet-(2,256)", (20, 50, 100), (5e-4,), 10000),
    Aim("figure4-random", "DSS-(2,256)", (20, 50, 100, 200, 400), (1e-3,), 8000),
    Aim("figure4-random", "Mamba-(2,256)", (20, 50, 100, 200, 400), (1e-3,), 8000),
    Aim("figure4-random", "TF-(2,256,heads=4)", (20, 50, 100, 200), (3e-4,), 10000),
    Aim("figure4-random", "TF-(2,256,heads=4)", (400,), (1e-4,), 15000),
    # Dyck: one layer of attention is the weak one.
    Aim("figure2-dyck", "TF-(1,256,heads=4)", (20, 50, 100), (2e-4,), 15000),
    Aim("figure2-dyck", "TF-(2,64,heads=4)", (100, 200, 400), (5e-4,), 15000),
    Aim("figure2-dyck", "Mamba-(1,64)", (100, 200, 400), (2e-3,), 8000),
    # Eq-one at 50, at full length: DSS 99.9, all others at chance after 15k steps; TF at 20 with half 58.3. With
    # lengths that grow over 0.6 of 20k to 40k steps: LSTM 99.6 and RetNet 99.3 at 50, 99.7 and 99.9 at 100, DSS 99.6
    # at 100 and 97.3 at 200, Mamba at 50 82.8; on Eq-ncp Mamba 97.6 at 100. TF at 50 stays near chance.
    *(
        Aim("eq-one", model, (20, 50), rates, 15000, {"full_length": share})
        for model, rates, share in (
            ("TF-(2,64,heads=4)", (5e-4,), 0.5), ("Mamba-(2,64)", (2e-3,), 0.5), ("LSTM-(2,64)", (2e-3,), 0.5),
            ("RetNet-(2,64)", (1e-3,), 0.5), ("DSS-(2,64)", (2e-3,), 1.0), (f"LinTF-(2,64,{LEARNED})", (1e-3,), 0.5),
        )
    ),
    Aim("qsa-attention", "TF-(1,64,mask=none)", (20,), (1e-3,), 20000, {"task_parameters": {"sparsity": 3}}),
)  # fmt: skip


@dataclass(frozen=True)
class Goal:
    """One cell to train: its group, the paper's accuracy in percent (None: no number), and about its seconds."""

    figure: str
    group: Group
    paper: float | None
    seconds: float

    @property
    def first(self) -> RunSpec:
        """The run of the first seed."""
        return self.group.specs[0]

    def value(self, best: float) -> float:
        """Points that may be gained for each second; what the paper gives no number for comes last."""
        return max(0.0, (self.paper or 0.0) - best) / self.seconds


def goals(scale: str) -> list[Goal]:
    """All cells, as they are or as a rehearsal."""
    found = [goal for aim in AIMS for goal in _goals_of(aim)]
    return found if scale == "whole" else [_rehearsed(goal) for goal in found]


def _goals_of(aim: Aim) -> Iterator[Goal]:
    experiment = experiments()[aim.figure]
    for length in aim.lengths:
        base = RunSpec(
            task=experiment.task, architecture=str(parse_spec(aim.model)), length=length, learning_rate=aim.rates[0],
            steps=aim.steps, evaluate_every=500,
            **{"precision": "float32" if aim.figure == "qsa-attention" else "bfloat16", **aim.more},
        )  # fmt: skip
        strong = base.with_changes(**{**recipe_fields("strong", base.the_task(), aim.steps), **aim.more})
        specs = [strong.with_changes(seed=seed) for seed in SEEDS]
        specs += [strong.with_changes(learning_rate=rate) for rate in aim.rates[1:]]
        group = Group(tuple(specs), together=True)
        yield Goal(aim.figure, group, _paper(aim.figure, aim.model, length), about_seconds(group))


def _paper(figure: str, model: str, length: int) -> float | None:
    """The paper's number for a cell; its rows do not name heads and positions."""
    experiment, row = experiments()[figure], plain_model(model).replace(f",{LEARNED}", "")
    if experiment.paper is not None:
        return paper_table(experiment.paper).accuracy.get((row, str(length)))
    limits = {plain_model(name): longest for name, longest in experiment.near_perfect.items()}
    return NEAR_PERFECT if length <= limits.get(row, 0) else None


def about_seconds(group: Group) -> float:
    """About what a group costs on one H200 that others share; only for the order."""
    spec, model = group.specs[0], parse_spec(group.specs[0].architecture)
    products = spec.batch * spec.length * model.depth * model.width * (64 + model.width)
    logits = spec.batch * spec.length * 1024 if spec.task == "eq-ncp" else 0
    return spec.steps * (0.0005 + len(group.specs) * (products / 8e12 + logits * 60 / 3e12))


def _rehearsed(goal: Goal) -> Goal:
    model, task = parse_spec(goal.first.architecture), goal.first.the_task()
    length = max(8, task.minimum_length)
    narrow = str(replace(model, layers=model.layers[:2], width=16))
    small = {
        "architecture": narrow, "length": length, "steps": 4, "batch": 4, "evaluate_every": 2, "probe_examples": 4,
        "evaluation_examples": 8, "warmup": 1, "goal": 0.0, "precision": "float32",
    }  # fmt: skip
    specs = tuple(dict.fromkeys(spec.with_changes(**small) for spec in goal.group.specs))
    return replace(goal, group=replace(goal.group, specs=specs))


class GroupFailedError(Exception):
    """A group raised something that training does not know; the cause is chained."""

    def __init__(self, group: Group) -> None:
        super().__init__(group.name)
        self.group = group


class Careful(TurnsExecutor):
    """Says which group failed, so that the others can go on without it; compiles the blocks of ``compiled`` groups."""

    compiled: frozenset[str] = frozenset()

    def _turn(self, seat: Any) -> Outcome:
        os.environ["SEPARATRIX_COMPILE"] = "1" if seat.job.group.name in self.compiled else "0"
        try:
            return super()._turn(seat)
        except SeparatrixError:
            raise
        except Exception as error:
            raise GroupFailedError(seat.job.group) from error


def worth_compiling(wanted: Sequence[Goal], how: str) -> frozenset[str]:
    """Names of groups whose blocks are compiled. That takes 12 to 24 s for each kind of block and is shared by lengths,
    so it pays for kinds that train long; a wide Mamba's step from a state is many passes over memory unless fused."""
    totals: dict[tuple[str, str], float] = {}
    for goal in wanted:
        kind = (goal.first.task, goal.first.architecture)
        totals[kind] = totals.get(kind, 0.0) + goal.seconds

    def pays(goal: Goal) -> bool:
        model = parse_spec(goal.first.architecture)
        wide = "mamba" in model.layers and model.width >= 256 and goal.first.questions > 1
        return wide or totals[goal.first.task, goal.first.architecture] >= COMPILE_FROM

    return frozenset(goal.group.name for goal in wanted if how == "all" or (how == "auto" and pays(goal)))


def best_known(sources: Sequence[Sequence[Record]]) -> Callable[[Goal], float]:
    """The best accuracy in percent that is recorded of a cell, whatever the recipe; 0 where nothing is."""
    best: dict[tuple[str, str, int], float] = {}
    for record in (each for records in sources for each in records):
        key = (record.spec.task, plain_model(record.spec.architecture), record.spec.length)
        best[key] = max(best.get(key, 0.0), 100 * record.result.accuracy)
    return lambda goal: best.get((goal.first.task, plain_model(goal.first.architecture), goal.first.length), 0.0)


def in_order(wanted: Sequence[Goal], best: Callable[[Goal], float]) -> list[Goal]:
    """Most points for a second first; a group that two aims name trains once."""
    ranked = sorted(wanted, key=lambda goal: -goal.value(best(goal)))
    return list({goal.group.name: goal for goal in reversed(ranked)}.values())[::-1]


def known_records(folder: Path) -> list[Record]:
    """What the stores and exports of a folder hold; nothing where there are none."""
    paths = sorted([*folder.glob("*.sqlite"), *folder.glob("*.json")]) if folder.is_dir() else []
    found: list[Record] = []
    for path in paths:
        try:
            found += ExportedRecords([path]).all()
        except SeparatrixError:
            continue  # not one of runs
    return found


def train(
    wanted: Sequence[Goal], call: "Call", observer: Observer, stopped: Callable[[], bool]
) -> tuple[bool, list[str]]:
    """Train in this order until all is done or it is stopped; whether all is done, and what failed, a line each."""
    chosen = device_named(call.device)
    prepare_process(chosen)
    compiled = worth_compiling(wanted, call.compiled)
    left, failed = [goal.group for goal in wanted], list[str]()
    with Records(call.store) as records:
        while left:
            executor = Careful(chosen, call.at_once, SAVE_EVERY, stopped)
            executor.compiled = compiled
            about = {**environment(chosen, "turns"), "at_once": executor.at_once}
            try:
                return Driver(records, executor, about, observer, full_grid=True, stopped=stopped).run(left), failed
            except GroupFailedError as error:
                spec = error.group.specs[0]
                traceback.print_exception(error.__cause__)
                failed.append(f"{spec.architecture} on {spec.task} N={spec.length}: {error.__cause__!r:.300}")
                left = [group for group in left if group.specs[0].shape.name != spec.shape.name]
    return True, failed


def rows_of(wanted: Sequence[Goal], records: Records) -> list[dict[str, Any]]:
    """What is recorded of each cell: the best and the worst seed of the rate with the best mean."""
    found = records.find(spec.name for goal in wanted for spec in goal.group.specs)
    rows: list[dict[str, Any]] = []
    for goal in wanted:
        mine = [found[spec.name] for spec in goal.group.specs if spec.name in found]
        if not mine:
            continue
        rates = {record.spec.learning_rate for record in mine}
        by_rate = {rate: [100 * r.result.accuracy for r in mine if r.spec.learning_rate == rate] for rate in rates}
        rate = max(rates, key=lambda each: (max(by_rate[each]), len(by_rate[each])))
        spec = goal.first
        rows.append(
            {
                "figure": goal.figure, "model": spec.architecture, "length": spec.length, "best": max(by_rate[rate]),
                "worst": min(by_rate[rate]), "paper": goal.paper, "rate": rate, "steps": mine[0].result.step,
                "seeds": len(by_rate[rate]), "questions": spec.questions, "recipe": spec.recipe,
                "seconds": max(record.result.seconds for record in mine),
            }
        )  # fmt: skip
    return rows


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The table: cell, ours, the paper's, steps, seeds, seconds."""
    table = Table(title="Recipe strong: best (worst) seed in %", title_justify="left")
    for name in ("figure", "cell", "ours", "paper", "rate", "steps", "Q", "seeds", "seconds"):
        table.add_column(name, justify="left" if name in ("figure", "cell") else "right", no_wrap=True)
    for row in sorted(rows, key=lambda each: (each["figure"], each["model"], each["length"])):
        paper = "" if row["paper"] is None else f"{row['paper']:.1f}"
        table.add_row(
            row["figure"], f"{row['model']} N={row['length']}", f"{row['best']:.1f} ({row['worst']:.1f})", paper,
            f"{row['rate']:g}", str(row["steps"]), str(row["questions"]), str(row["seeds"]), f"{row['seconds']:.0f}",
        )  # fmt: skip
    Console(width=140).print(table)
    print(f"{len(rows)} cells, {sum(row['seconds'] for row in rows):.0f} seconds of the device in all")


@dataclass(frozen=True)
class Call:
    """What one call is reported."""

    store: Path
    seconds: float
    out: Path | None
    scale: str
    device: str
    at_once: int
    known: Path
    compiled: str = "auto"
    only: Sequence[str] = ()


def run(call: Call, observer: Observer, pressed: Callable[[], bool]) -> int:
    """Train until the time is over, show what is recorded and copy it; returns the exit code."""
    deadline = time.monotonic() + call.seconds
    if call.out is not None and call.out.resolve() == call.store.parent.resolve():
        raise SeparatrixError(f"--out {call.out} is the folder of the store, which a copy would replace; name another")
    wanted = [goal for goal in goals(call.scale) if not call.only or _named(goal, call.only)]
    if not wanted:
        raise SeparatrixError(f"no cell is named by {', '.join(call.only)}; give parts of a figure or a model")
    with Records(call.store) as records:
        best = best_known([known_records(call.known), records.all()])
    ordered = in_order(wanted, best)
    print(f"{len(ordered)} cells; about {sum(goal.seconds for goal in ordered):,.0f} s in all", flush=True)
    done, failed = train(ordered, call, observer, lambda: pressed() or time.monotonic() > deadline)
    with Records(call.store) as records:
        rows = rows_of(ordered, records)
    show(rows)
    if call.out is not None:
        copy_store(call.store, call.out)
        write_atomically(call.out / "strong.json", json.dumps({"cells": rows, "failed": failed}, indent=1) + "\n")
    for line in failed:
        print(f"failed and left out: {line}", file=sys.stderr)
    print("all done" if done and not failed else "not done yet; the same command goes on from here")
    return 1 if failed else 0


def _named(goal: Goal, parts: Sequence[str]) -> bool:
    """Whether a cell's figure, model or N=LENGTH is named; parts of several kinds must all hold."""
    text = f"{goal.figure} {goal.first.architecture} N={goal.first.length} "
    return all(part in text for part in parts)
