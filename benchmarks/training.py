"""Model-steps per second of the ensemble trainer against the loop that BHBK24's authors describe, in the same run.

Run as  python -m benchmarks training --write docs/training.md, or in part as
python -m benchmarks.training [--threads 2] [--names TF,LSTM] [--seconds 4] [--overhead]

The loop: one model at a time (Hugging Face, ``torch.nn`` or an eager module, see ``model_baselines``), batch 64, data
made example by example in Python, ``torch.optim.Adam``, the loss read at every step. Ours: a grid of learning rates as
one ensemble, with data, Adam and metrics of the trainer. Both train index lookup; an architecture that reads graphs
trains on 3-cycles, for which both use our sampler. A model-step is one step of one model.

Both sides are run in turns, a few steps each, and the fastest turn of each counts: what else the machine does falls on
both. With one thread, time is the CPU time of this process; with more it is the time that passed.

The last table is what a run costs next to its steps: evaluation, records, checkpoints and progress, of all the time
that the driver takes for it. Steps and all the rest are separated within one and the same run, by the CPU time of the
thread that trains and that of the whole process, so that nothing depends on how two runs compare.
"""

import argparse
import io
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from rich.console import Console
from torch.nn import functional

from benchmarks import loop_samplers
from benchmarks.model_baselines import baseline
from benchmarks.report import Report, progress
from separatrix.cli.training_progress import LiveBars
from separatrix.models.architecture import ModelSpec, architecture_named, architectures
from separatrix.tasks import draws_from, tasks
from separatrix.training.devices import prepare_process
from separatrix.training.driver import Driver
from separatrix.training.ensemble import Ensemble
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec

RATES = (0.01, 0.005, 0.001, 0.0005, 0.0001, 0.00005, 0.000001)
"""The grid of BHBK24 Appendix H."""
WIDTH, LENGTH, GRAPH, BATCH, ALPHABET = 64, 50, 20, 64, 64
STEPS, EVERY, SAVE_EVERY = 5000, 250, 30.0
"""The defaults of ``separatrix train``."""
RECORDED = {"transformer": RATES, "lstm": RATES[2:3]}
"""Models of the table of costs, and their learning rates."""
ABOUT = """\
The baseline is the training loop that BHBK24's authors describe: one model at a time (Hugging Face GPT-2, Mamba or
Mamba-2, `torch.nn`, or an eager module), batch 64, data generated example by example in Python, `torch.optim.Adam`,
and the loss read at every step. Our side is the trainer, with seven learning rates as one ensemble, or with one
alone. Both sides alternate, a few steps each, and the fastest turn counts."""
CPU = torch.device("cpu")
Steps = Callable[[int], Any]


def in_turns(sides: Sequence[Steps], steps: Sequence[int], seconds: float, clock: Callable[[], float]) -> list[float]:
    """Seconds for one step of each side: the fastest of several turns, the sides one after another."""
    for side in sides:
        side(2)
    fastest, started = [math.inf] * len(sides), time.perf_counter()
    while math.inf in fastest or time.perf_counter() - started < seconds:
        for place, (side, count) in enumerate(zip(sides, steps, strict=True)):
            before = clock()
            side(count)
            fastest[place] = min(fastest[place], (clock() - before) / count)
    return fastest


def clock_for(threads: int) -> Callable[[], float]:
    """CPU time where one thread works, time that passes where several do."""
    return time.process_time if threads == 1 else time.perf_counter


def specification(model: ModelSpec, rate: float, **changes: Any) -> RunSpec:
    """The run that is timed."""
    graphs = model.entries[0].reads_graphs
    fields: dict[str, Any] = {
        "task": "directed-3-cycle" if graphs else "index-lookup",
        "architecture": str(model),
        "length": GRAPH if graphs else LENGTH,
        "learning_rate": rate,
        "steps": 1_000_000,
        "batch": BATCH,
    }
    return RunSpec(**{**fields, **changes})


def the_loop(model: ModelSpec) -> tuple[str, Steps]:
    """The authors' loop with one model, and what its model is."""
    graphs = model.entries[0].reads_graphs
    task = tasks()["directed-3-cycle" if graphs else "index-lookup"]
    length = GRAPH if graphs else LENGTH
    positions, classes = task.positions(length), task.classes(length)
    features = task.features(length)
    name, module, logits = baseline(model, task.vocabulary(length).size, classes, positions, features)
    adam = torch.optim.Adam(module.parameters(), lr=1e-3)
    numbers, draws = random.Random(0), draws_from(0)

    def steps(count: int) -> None:
        for _ in range(count):
            if graphs:
                found = task.sample(draws, BATCH, length, "train")
                inputs, targets = torch.from_numpy(found.inputs), torch.from_numpy(found.targets)[:, -1]
            else:
                made = loop_samplers.index_lookup(numbers.randrange, BATCH, length, ALPHABET)
                inputs, targets = torch.from_numpy(made[0]), torch.from_numpy(made[1])[:, -1]
            loss = functional.cross_entropy(logits(inputs), targets)
            adam.zero_grad()
            loss.backward()
            adam.step()
            loss.item()

    return name, steps


def against_the_loop(names: Sequence[str], threads: int, seconds: float) -> Report:
    """Every architecture: seven learning rates at once, one alone, and the loop."""
    measure = "CPU time of one thread" if threads == 1 else f"{threads} threads, wall time"
    report = Report(
        f"Training against the authors' loop ({measure})",
        f"One layer of width {WIDTH}, index lookup at N = {LENGTH} (graphs of {GRAPH} vertices), batch {BATCH}; "
        "milliseconds for one model-step, and the speed-up over the loop in model-steps per second, for a grid of "
        "seven learning rates and for a single run.",
        ("model", "seven at once", "one", "loop", "ms", "seven against loop", "one against loop"),
    )
    for name in names:
        model = ModelSpec((name,), WIDTH)
        progress(f"{model} against the loop, {measure}")
        seven = Ensemble([specification(model, rate) for rate in RATES], CPU)
        one = Ensemble([specification(model, RATES[2])], CPU)
        what, steps = the_loop(model)
        # Where the time that passes counts, short turns: some of them fall between what else the machine does.
        turns = (4, 8, 4) if threads == 1 else (1, 2, 1)
        times = in_turns((seven.advance, one.advance, steps), turns, seconds, clock_for(threads))
        each, alone, loop = times[0] / len(RATES), times[1], times[2]
        report.add(
            str(model), f"{1e3 * each:.2f}", f"{1e3 * alone:.2f}", what, f"{1e3 * loop:.2f}", f"{loop / each:.1f}×",
            f"{loop / alone:.1f}×",
        )  # fmt: skip
    return report


class Watched:
    """How long the trainer trained and evaluated while it was watched; what it does is unchanged."""

    def __init__(self) -> None:
        self.training = self.evaluation = 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Within it ensembles are watched; evaluations are counted apart from steps."""
        advance, accuracy = Ensemble.advance, Ensemble.accuracy

        def watched_advance(ensemble: Ensemble, steps: int) -> None:
            before = time.thread_time()
            advance(ensemble, steps)
            self.training += time.thread_time() - before

        def watched_accuracy(ensemble: Ensemble, examples: int, purpose: str, number: int) -> list[float]:
            before = time.thread_time()
            found = accuracy(ensemble, examples, purpose, number)
            self.evaluation += time.thread_time() - before
            return found

        with (
            patch.object(Ensemble, "advance", watched_advance),
            patch.object(Ensemble, "accuracy", watched_accuracy),
        ):
            yield


def recorded_run(group: Group, folder: Path) -> None:
    """A group from start to end as the command line drives it, bars included, drawn as for a terminal."""
    with (
        Records(folder / "runs.sqlite") as records,
        LiveBars([[spec.name for spec in group.specs]], quiet=False, label=lambda spec: spec.name) as bars,
    ):
        Driver(records, LocalExecutor(CPU, save_every_seconds=SAVE_EVERY), {}, bars).run([group])


def overhead(grids: Mapping[str, Sequence[float]], steps: int = STEPS) -> Report:
    """What is not training in a recorded run of some learning rates."""
    report = Report(
        "What a recorded run costs on top of its steps",
        f"N = {LENGTH}, {steps} steps, with the defaults of `separatrix train`: a point of the curve every {EVERY} "
        f"steps (512 examples), 5000 examples at the end, a checkpoint every {SAVE_EVERY:g} seconds, a live bar for "
        "each run. CPU time of one run.",
        ("model", "learning rates", "steps alone, s", "whole run, s", "on top of the steps", "of which evaluation"),
    )
    for name, rates in grids.items():
        model = ModelSpec((name,), WIDTH)
        progress(f"{model}: a recorded run of {steps} steps")
        specs = tuple(specification(model, rate, steps=steps, goal=0.0, evaluate_every=EVERY) for rate in rates)
        watched = Watched()
        with tempfile.TemporaryDirectory() as folder, watched(), as_on_a_terminal():
            before = time.process_time()
            recorded_run(Group(specs), Path(folder))
            whole = time.process_time() - before
        report.add(
            str(model), len(rates), f"{watched.training:.2f}", f"{whole:.2f}",
            f"{100 * (whole - watched.training) / whole:.1f} %", f"{100 * watched.evaluation / whole:.1f} %",
        )  # fmt: skip
    return report


@contextmanager
def as_on_a_terminal() -> Iterator[None]:
    """Bars are drawn as for a terminal; where they would be seen, nothing is."""
    shown = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    with patch.dict(os.environ, shown), redirect_stderr(io.StringIO()):
        yield


def reports() -> Iterator[Report]:
    """All tables on one thread; the main one also on all cores."""
    cores = torch.get_num_threads()
    for threads in dict.fromkeys((1, cores)):
        prepare_process(CPU, threads)
        names, seconds = (list(architectures()), 4.0) if threads == 1 else (["transformer"], 20.0)
        yield against_the_loop(names, threads, seconds)
    prepare_process(CPU, 1)
    yield overhead(RECORDED)


def main() -> int:
    """Run the chosen part; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--names", help="architectures, such as TF,LSTM; all if left out")
    parser.add_argument("--seconds", type=float, default=4.0, help="time for each architecture")
    parser.add_argument("--overhead", action="store_true", help="the table of what a run costs on top of its steps")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of the runs of that table")
    given = parser.parse_args()
    prepare_process(CPU, given.threads)
    names = [architecture_named(each).name for each in given.names.split(",")] if given.names else list(architectures())
    report = (
        overhead(dict.fromkeys(names, RATES), int(given.steps))
        if given.overhead
        else against_the_loop(names, given.threads, given.seconds)
    )
    report.show(Console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
