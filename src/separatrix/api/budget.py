"""The time that a user gives ``sx.compare``, fitted to this machine.

One step of every pair of model and task is timed, and the short runs that choose the rates get a fifth of the steps
that fit. Their records show how fast the machine is, so the steps of the final runs are fitted to what they leave.
Where fewer than :data:`FEWEST` steps would fit, evaluations become smaller and fewer rates are tried, at last one
without short runs. Only a budget below one step of each pair is refused. What was timed and fitted is kept next to the
store, so that the same call after an interruption trains the same runs.
"""

import hashlib
import json
import math
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.api.comparison import FEWEST, SHORT
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.training import Record, RunSpec

MOST = 50_000
SPARED = 0.9
"""Of a budget, so much is planned: a machine may become busier."""
FEW = 250
"""Examples of an evaluation where few steps fit."""
UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def seconds_of(budget: float | str) -> float:
    """Return a time: seconds, or a text such as "10min".

    >>> seconds_of("10min"), seconds_of("1.5h"), seconds_of(90)
    (600.0, 5400.0, 90.0)
    """
    if isinstance(budget, int | float) and not isinstance(budget, bool):
        found = float(budget)
    else:
        read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(budget).lower())
        if read is None or (read[2] or "s") not in UNITS:
            raise SeparatrixError(f"--budget {budget} is not a time; write such as 90s, 10min or 2h")
        found = float(read[1]) * UNITS[read[2] or "s"]
    if not 1 <= found <= 30 * 86400:
        raise SeparatrixError(f"--budget {budget} is out of range; choose 1 s to 30 days")
    return found


def every(steps: int) -> int:
    """Return the steps between two evaluations: few of them in a short run."""
    return min(steps, max(10, steps // 20))


@dataclass(frozen=True)
class Fit:
    """What a budget allows; runs of ``short`` steps choose among ``rates``."""

    steps: int
    short: int
    rates: tuple[float, ...]
    examples: int


@dataclass(frozen=True)
class Timed:
    """Seconds of a step and of an evaluated example of each pair, and of timing them all; ``steps``, once fitted."""

    pairs: tuple[tuple[float, float], ...]
    seconds: float
    threads: int
    steps: int | None = None

    def cost(self, members: int, steps: int, examples: int) -> float:
        """Return the seconds of so many runs of every pair, at most: together they may be faster."""
        seen = examples + steps // max(1, every(steps)) * min(512, examples)
        return members * sum(step * steps + example * seen for step, example in self.pairs)

    def fit(self, seconds: float, rates: tuple[float, ...], seeds: int, examples: int) -> Fit:
        """Return the fullest of four plans that allows enough steps, else the leanest."""
        few, middle = min(FEW, examples), len(rates) // 2
        fewer = (rates, rates[max(0, middle - 1) : middle + 1], rates[middle : middle + 1])
        plans = [
            self._largest(seconds, rates, seeds, examples),
            *(self._largest(seconds, each, seeds, few) for each in fewer),
        ]
        return next((each for each in plans if each.steps >= FEWEST), plans[-1])

    def _largest(self, seconds: float, rates: tuple[float, ...], seeds: int, examples: int) -> Fit:
        short = len(rates) if len(rates) > 1 else 0

        def total(steps: int) -> float:
            return self.cost(short, steps // SHORT or 1, examples) + self.cost(seeds, steps, examples)

        steps = _most(total, SPARED * seconds - self.seconds)
        return Fit(steps, steps // SHORT or 1, rates, examples)

    def fit_left(self, fit: Fit, tried: "Mapping[str, Record]", seconds: float, seeds: int) -> int:
        """Return the steps that fit into what the short runs left, at the machine's speed during them if lower."""
        groups = {each.environment.get("group", name): each.result.seconds for name, each in tried.items()}
        spent = sum(groups.values())
        slower = max(1.0, spent / max(1e-9, self.cost(len(fit.rates), fit.short, fit.examples)))
        left = (SPARED * seconds - self.seconds - spent) / slower
        return max(fit.short, _most(lambda steps: self.cost(seeds, steps, fit.examples), left))


def _most(cost: Callable[[int], float], seconds: float) -> int:
    """Return the most steps whose cost is within a time, with two digits; one at least."""
    found = bisect_right(range(MOST + 1), seconds, key=cost) - 1
    digits = 10 ** max(0, len(str(found)) - 2)
    return max(1, found // digits * digits)


def time_pairs(runs: "Sequence[RunSpec]", seconds: float, device: str, threads: int) -> Timed:
    """Time a step and an evaluation of each pair; end as soon as not one step of each fits into the budget."""
    from separatrix.progress import report
    from separatrix.training import device_named, faster_threads, prepare_process, timing_of, using_threads

    started, chosen = time.perf_counter(), device_named(device)
    prepare_process(chosen)
    threads = threads or faster_threads(chosen)
    timed = Timed((), 0.0, threads)
    with using_threads(threads):
        for done, spec in enumerate(runs, start=1):
            report("timing one step of each shape", done - 1, len(runs))
            found = timing_of([spec], chosen)
            pair = (0.0, 0.0) if found is None else (found.step, found.example)
            timed = Timed((*timed.pairs, pair), time.perf_counter() - started, threads)
            least = timed.seconds + timed.cost(1, 1, FEW)
            if least > seconds:
                raise SeparatrixError(
                    f"--budget of {seconds:g} s is too little for one step of each model, timed on {done} of "
                    f"{counted(len(runs), 'pair')} of model and task; give at least "
                    f"{math.ceil(1.2 * least * len(runs) / done)}s, or fewer --tasks, --against"
                )
    return timed


class BudgetFile:
    """What was timed and fitted for one question, kept next to the store."""

    def __init__(self, question: Any, store: Path | None) -> None:
        from separatrix.training import store_path

        where = store_path(store)
        key = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
        self.path = where.with_name(f"{where.stem}.compare-{key}.json")

    def kept(self, pairs: int) -> Timed | None:
        """Return what was timed for so many pairs; None where nothing is kept, or what is there is damaged."""
        from pydantic import TypeAdapter, ValidationError

        found = None
        with suppress(OSError, ValidationError):
            found = TypeAdapter(Timed).validate_json(self.path.read_bytes())
        if found is None or len(found.pairs) != pairs or not 1 <= (found.steps or 1) <= MOST or found.threads < 1:
            return None
        numbers = (found.seconds, *(number for pair in found.pairs for number in pair))
        return found if all(math.isfinite(each) and each >= 0 for each in numbers) and sum(numbers) > 0 else None

    def keep(self, timed: Timed) -> Timed:
        """Write what was timed, and return it."""
        from separatrix.files import write_atomically

        write_atomically(self.path, json.dumps(asdict(timed), indent=1) + "\n")
        return timed
