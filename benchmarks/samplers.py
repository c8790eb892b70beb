"""Samples per second of the vectorised samplers against the obvious loop over examples and symbols, in the same run.

Two baselines, because what a plain loop costs depends on where its numbers come from: ``random.Random`` (the fastest
in pure Python) and a numpy generator called once for each number (what most data-set code does). All sides are timed by
``timing.best_of``, with the allocator in the same state.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from benchmarks import loop_samplers
from benchmarks.report import Report
from benchmarks.timing import best_of
from separatrix.tasks import draws_from, tasks

BATCH, LENGTH = 1024, 400
LOOPS: dict[str, Callable[..., Any]] = {
    "index-lookup": loop_samplers.index_lookup,
    "dyck": loop_samplers.dyck,
    "eq-ncp": loop_samplers.eq_ncp,
}
ADMISSIBLE = {
    "sparse-averaging": 64,
    "match3": 64,
    "match3-last": 200,
    "undirected-5-cycle": 24,
    "directed-3-cycle": 64,
}
"""Lengths for tasks whose inputs or labels grow with the square of the length or faster."""


def against_loops() -> Report:
    """The three tasks with a loop baseline."""
    report = Report(
        "Samplers against plain loops",
        f"Batch {BATCH}, length {LENGTH}, exact-length split; inputs, targets and mask as arrays.",
        ("task", "examples/s", "loop, random.Random", "ratio", "loop, numpy generator", "ratio "),
    )
    python = random.Random(0)
    generator = numpy.random.default_rng(0)
    for name, loop in LOOPS.items():
        task, draws = tasks()[name], draws_from(0)
        ours = best_of(lambda task=task, draws=draws: task.sample(draws, BATCH, LENGTH))[0]
        plain = best_of(lambda loop=loop: loop(python.randrange, BATCH // 4, LENGTH))[0] * 4
        scalar = best_of(lambda loop=loop: loop(lambda n: int(generator.integers(n)), BATCH // 16, LENGTH))[0] * 16
        report.add(
            name, f"{BATCH / ours:,.0f}", f"{BATCH / plain:,.0f}", f"{plain / ours:.0f}×",
            f"{BATCH / scalar:,.0f}", f"{scalar / ours:.0f}×",
        )  # fmt: skip
    return report


def every_task() -> Report:
    """Throughput of every task in the catalog, both splits."""
    report = Report(
        "Every sampler",
        "Batch 256; one core; numpy.",
        ("task", "length", "training examples/s", "exact-length examples/s"),
    )
    for name, task in tasks().items():
        length = ADMISSIBLE.get(name, 100)
        draws = draws_from(0)
        rates = [
            256 / best_of(lambda s=s, t=task, d=draws, n=length: t.sample(d, 256, n, s), 0.2)[0]
            for s in ("train", "eval")
        ]
        report.add(name, length, *[f"{rate:,.0f}" for rate in rates])
    return report


def reports() -> Iterator[Report]:
    """All tables of this module."""
    yield against_loops()
    yield every_task()
