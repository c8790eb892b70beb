"""``sx.compare``: a layer of your own next to known ones, on several tasks, with the same budget for all.

For every model and task the learning rate is chosen by short runs, one for each rate, of a fifth of the steps; then the
chosen rate is trained with all of them. Steps, batch, lengths, recipe and seeds are the same for all; how many steps
the budget allows is found by timing one step of every shape, and kept next to the store, so that the same call after an
interruption resumes the same runs. A low accuracy is evidence about this budget, no proof; the bound next to it is
about all weights.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from separatrix.answer import plain
from separatrix.api.arguments import checked
from separatrix.api.comparison import SHORT, Compared, Entry
from separatrix.api.training import listed, run_specs
from separatrix.errors import SeparatrixError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.tasks import Task
    from separatrix.training import Point, Record, RunSpec

AGAINST = ("TF", "LSTM", "Mamba", "GDN")
TASKS = ("mqar", "index-lookup", "dyck")
RATES = (1e-2, 3e-3, 1e-3, 3e-4)
FEWEST, MOST = 100, 50_000
LEAST = 2
"""Seconds of a budget for each model and task; less is refused before anything is timed."""
PROBED = 1000
"""Steps of the runs that are timed."""
LENGTHS = {"mqar:zoology": 64}
LENGTH, OF_FUNCTIONS = 32, 16
EXAMPLES = 2000
UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}

Trainer: TypeAlias = "Callable[[Sequence[RunSpec]], Mapping[str, Record]]"
"""Trains runs that are not recorded; their records with curves, by name."""


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


def sized(model: str, layers: int, width: int) -> str:
    """Return a model with the sizes of this comparison, unless it has its own.

    >>> sized("LSTM", 2, 64), sized("TF-(1,8)", 2, 64)
    ('LSTM-(2,64)', 'TF-(1,8)')
    """
    return model if "(" in model else f"{model}-({layers},{width})"


@checked
def compare(
    layer: str,
    against: Sequence[str] = AGAINST,
    tasks: "Sequence[str | Task | Callable[[Any], Any]]" = TASKS,
    *,
    budget: float | str = "10min",
    steps: int | None = None,
    length: int | None = None,
    layers: int = 2,
    width: int = 64,
    rates: Sequence[float] = RATES,
    seeds: Sequence[int] = (0,),
    batch: int = 64,
    recipe: str = "strong",
    examples: int = EXAMPLES,
    store: str | Path | None = None,
    device: str = "auto",
    trainer: "Trainer | None" = None,
) -> Compared:
    """Train a layer of your own and known models on the same tasks with the same budget.

    ``layer``: FILE.py:Class, a torch module of (batch, length, width) made with the width; sizes may follow, as in
    "mine.py:Layer-(1,32)". ``budget``: the time of all runs together, about; ``steps`` in its place gives the steps of
    each run. ``tasks``: names, FILE.py:function or functions. ``trainer`` trains the runs, here if none is given.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = compare("RNN", ["LSTM"], ["majority"], steps=10, length=4, width=8, rates=[0.01], examples=64,
    ...                     store=f"{folder}/runs.sqlite")
    >>> [(each.model, each.yours) for each in found.entries]
    [('RNN-(2,8)', True), ('LSTM-(2,8)', False)]
    """
    require("a comparison", "torch")
    from separatrix.models import parse_spec, remarks_on
    from separatrix.profiles import FunctionTask, task_argument

    seconds, rates, seeds = seconds_of(budget), listed("rates", rates), listed("seeds", seeds)
    against, tasks = listed("against", against), listed("tasks", tasks)
    if steps is not None and not 1 <= steps <= 1 << 31:
        raise SeparatrixError(f"--steps {steps} is out of range; choose 1 to 2^31")
    if not tasks:
        raise SeparatrixError("no task is named; give such as --tasks mqar,dyck")
    models = tuple(dict.fromkeys(str(parse_spec(sized(each, layers, width))) for each in (layer, *against)))
    for model in models:
        remarks_on(parse_spec(model), members=1)  # a module that cannot run is refused here
    chosen = [task_argument(each) for each in tasks]
    places: list[tuple[str, Task, int]] = []
    for task in chosen:
        at = length or LENGTHS.get(task.name) or (OF_FUNCTIONS if isinstance(task, FunctionTask) else LENGTH)
        at = max(task.minimum_length, at - at % task.length_step)
        task.check_length(at)
        places += [(model, task, at) for model in models]
    if steps is None and seconds < LEAST * len(places):
        raise SeparatrixError(
            f"--budget {budget} is less than {LEAST} s for each of {len(places)} pairs of model and task; give at "
            f"least {LEAST * len(places)}s, or fewer --tasks, --against"
        )
    ordered = tuple(sorted(rates, reverse=True))

    def short(count: int) -> "list[RunSpec]":
        return _specs(places, count // SHORT or 1, ordered, seeds[:1], recipe, batch, examples)

    path = None if store is None else Path(store)
    if steps is None:
        asked = [models, [(task.name, plain(task.parameters()), at) for _, task, at in places], ordered, list(seeds),
                 batch, recipe, examples, seconds]  # fmt: skip
        full = _specs(places, PROBED, ordered[:1], seeds, recipe, batch, examples)
        steps = _steps(asked, short(PROBED), full, seconds, path, device)
    train = trainer or _trainer(path, device)
    tried = train(short(steps))
    best = [_best(tried, one) for one in _by_place(short(steps), len(ordered))]
    final = [
        run_specs(task, model, at, rates=[record.spec.learning_rate], seeds=seeds, steps=steps, recipe=recipe,
                  examples=examples, batch=batch, evaluate_every=_every(steps), goal=0.999)
        for (model, task, at), record in zip(places, best, strict=True)
    ]  # fmt: skip
    found = train([spec for specs in final for spec in specs])
    entries = tuple(
        _entry(task, _best(found, specs), model == models[0])
        for (model, task, _), specs in zip(places, final, strict=True)
    )
    return Compared(models[0], steps, batch, ordered, tuple(seeds), recipe, entries)


def _every(steps: int) -> int:
    return max(1, steps // 20)


def _specs(
    places: "Sequence[tuple[str, Task, int]]", steps: int, rates: Sequence[float], seeds: Sequence[int], recipe: str,
    batch: int, examples: int,
) -> "list[RunSpec]":  # fmt: skip
    found: list[RunSpec] = []
    for model, task, at in places:
        found += run_specs(
            task, model, at, rates=rates, seeds=seeds, steps=steps, recipe=recipe, examples=examples, batch=batch,
            evaluate_every=max(1, steps // 4), goal=0.999,
        )  # fmt: skip
    return found


def _by_place(specs: "list[RunSpec]", each: int) -> "list[list[RunSpec]]":
    return [specs[start : start + each] for start in range(0, len(specs), each)]


def _best(found: "Mapping[str, Record]", specs: "Sequence[RunSpec]") -> "Record":
    from separatrix.training import best_of

    record = best_of(found[spec.name] for spec in specs)
    assert record is not None
    return record


def _trainer(store: Path | None, device: str) -> Trainer:
    from separatrix.training import train_runs

    def train(specs: "Sequence[RunSpec]") -> "Mapping[str, Record]":
        return {each.spec.name: each for each in train_runs(specs, store, device=device)}

    return train


def _steps(
    asked: Any, short: "list[RunSpec]", full: "list[RunSpec]", seconds: float, store: Path | None, device: str
) -> int:
    """Return the steps that a budget allows; found once, and kept next to the store for the same question."""
    from separatrix.files import write_atomically
    from separatrix.progress import report
    from separatrix.training import device_named, environment, groups_of, plan, store_path
    from separatrix.wording import counted

    where = store_path(store)
    key = hashlib.sha256(json.dumps([asked, device], sort_keys=True).encode()).hexdigest()[:12]
    kept = where.with_name(f"{where.stem}.compare-{key}.json")
    if kept.is_file():
        try:
            found = json.loads(kept.read_text(encoding="utf-8"))["steps"]
        except (ValueError, KeyError, TypeError):
            found = None
        if isinstance(found, int) and FEWEST <= found <= MOST:
            return found
    chosen, total = device_named(device), 0.0
    where = environment(chosen, "local")
    pairs = list(zip(groups_of(short), groups_of(full), strict=True))
    for done, pair in enumerate(pairs, start=1):
        report("timing one step of each shape", done - 1, len(pairs))
        found = plan(pair, {}, [], chosen, where)
        total += sum(each.seconds or 0.0 for each in found.groups)
        if total * FEWEST > seconds * PROBED:
            need = total * FEWEST / PROBED * len(pairs) / done
            raise SeparatrixError(
                f"--budget of {seconds:.0f} s is too little for {FEWEST} steps of each run, timed on {done} of "
                f"{counted(len(pairs), 'pair')} of model and task; give about {math.ceil(need)}s, or fewer --tasks, "
                "--against, --width; on a busy machine --threads 1 is faster"
            )
    allowed = int(PROBED * seconds / max(total, 1e-9))
    digits = 10 ** max(0, len(str(allowed)) - 2)
    steps = min(MOST, allowed // digits * digits)
    write_atomically(kept, json.dumps({"steps": steps, "budget": seconds, "models": asked[0]}, indent=1) + "\n")
    return steps


def _entry(task: "Task", record: "Record", yours: bool) -> Entry:
    from separatrix.models import constant_state, parse_spec, states_its_size
    from separatrix.tasks import constant_score, guessed_answer
    from separatrix.training import longest_possible, no_better_than_guessing

    spec, result = record.spec, record.result
    model = parse_spec(spec.architecture)
    longest, claim, _ = longest_possible(model, spec, 32)
    return Entry(
        model=spec.architecture,
        task=task.name,
        length=spec.length,
        yours=yours,
        rate=spec.learning_rate,
        accuracy=result.accuracy,
        majority=constant_score(task, spec.length),
        guess=None if (guess := guessed_answer(task, spec.length)) is None else guess.share,
        learned=not no_better_than_guessing(record) and result.ending != "diverged",
        diverged=result.ending == "diverged",
        steps=result.step,
        seconds=result.seconds,
        parameters=result.parameters,
        state_bits=model.state_bits(task.positions(spec.length), 32) if states_its_size(model) else None,
        grows=not constant_state(model),
        longest=longest,
        claim=claim,
        run=spec.name,
        curve=_curve(record.curve, result.step, result.accuracy),
    )


def _curve(points: "Sequence[Point]", step: int, accuracy: float) -> tuple[tuple[int, float], ...]:
    """Return the probes, and the full evaluation at the end in place of the last."""
    return (*((each.step, each.accuracy) for each in points if each.step < step), (step, accuracy))
