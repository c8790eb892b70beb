"""How benchmarks take times: the shortest of several runs, after the allocator was brought into its steady state.

glibc gives large blocks back to the system after every use until the process has once freed a large one; from then on
it keeps blocks of that size. A process that works for long is in the second state, a fresh one in the first, where the
same call costs two to four times as much for page faults. Every measurement therefore begins with
:func:`warm_allocator`, on both sides of a comparison alike.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy

Result = TypeVar("Result")
LARGEST_KEPT = 31 << 20
"""Just below the size from which on glibc gives blocks back in any case (32 MiB)."""


def warm_allocator() -> None:
    """Free one large array, so that the allocator keeps blocks of up to its size from now on."""
    block = numpy.ones(LARGEST_KEPT, dtype=numpy.uint8)
    del block


def best_of(work: Callable[[], Result], budget: float = 0.6, repeats: int | None = None) -> tuple[float, Result]:
    """The shortest of repeated runs, the one with the least disturbance, and the last result.

    Runs are repeated until ``budget`` seconds are spent, or ``repeats`` times where that is given.
    """
    warm_allocator()
    fastest, spent, runs = float("inf"), 0.0, 0
    while True:
        start = time.perf_counter()
        result = work()
        took = time.perf_counter() - start
        fastest, spent, runs = min(fastest, took), spent + took, runs + 1
        if (runs >= repeats) if repeats is not None else (spent >= budget):
            return fastest, result
