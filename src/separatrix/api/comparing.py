"""``sx.compare``: a layer of your own next to known ones, on several tasks, with the same budget for all.

For every model and task the learning rate is chosen by short runs, one for each rate; then the chosen rate is trained.
Steps, batch, lengths, recipe and seeds are the same for all; ``budget.py`` finds how many steps fit into a time. A low
accuracy is evidence about this budget, no proof; the bound next to it is about all weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from separatrix.api.arguments import checked
from separatrix.api.budget import BudgetFile, Fit, every, seconds_of, time_pairs
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
LENGTHS = {"mqar:zoology": 64}
LENGTH, OF_FUNCTIONS = 32, 16
EXAMPLES = 2000

Trainer: TypeAlias = "Callable[[Sequence[RunSpec]], Mapping[str, Record]]"
"""Trains runs that are not recorded; their records with curves, by name."""


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
    threads: int = 0,
    trainer: "Trainer | None" = None,
) -> Compared:
    """Train a layer of your own and known models on the same tasks with the same budget.

    ``layer``: FILE.py:Class, a torch module of (batch, length, width) made with the width; sizes may follow, as in
    "mine.py:Layer-(1,32)". ``budget``: the time of all runs together, about; ``steps`` in its place gives the steps of
    each run. ``tasks``: names, FILE.py:function or functions. ``threads``: those of torch; 0 takes one where a step is
    faster with it, as on a busy machine. ``trainer`` trains the runs, here if none is given.

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
    from separatrix.training import using_threads

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
    path, ordered = None if store is None else Path(store), tuple(sorted(rates, reverse=True))
    fields: Any = {"recipe": recipe, "batch": batch, "goal": 0.999}

    def runs(count: int, seen: int, rates: Sequence[Sequence[float]], seeds: Sequence[int]) -> "list[list[RunSpec]]":
        return [
            [*run_specs(task, model, at, rates=mine, seeds=seeds, steps=count, examples=seen,
                        evaluate_every=every(count), **fields)]
            for (model, task, at), mine in zip(places, rates, strict=True)
        ]  # fmt: skip

    probes = [specs[0] for specs in runs(1, examples, [ordered[:1]] * len(places), seeds[:1])]
    asked = [spec.name for spec in probes]
    kept, budgeted = BudgetFile([asked, ordered, list(seeds), seconds, device, threads], path), None
    if steps is None:
        budgeted = kept.kept(len(places)) or kept.keep(time_pairs(probes, seconds, device, threads))
        fit = budgeted.fit(seconds, ordered, len(seeds), examples)
    else:
        fit = Fit(steps, steps // SHORT or 1, ordered, examples)
    train = trainer or _trainer(path, device)
    with using_threads(budgeted.threads if budgeted else threads):
        chosen_rates = [fit.rates[:1]] * len(places)
        if len(fit.rates) > 1:
            short = runs(fit.short, fit.examples, [fit.rates] * len(places), seeds[:1])
            tried = train([spec for specs in short for spec in specs])
            chosen_rates = [[_best(tried, specs).spec.learning_rate] for specs in short]
            if budgeted:
                fit = replace(fit, steps=budgeted.steps or budgeted.fit_left(fit, tried, seconds, len(seeds)))
                kept.keep(replace(budgeted, steps=fit.steps))
        final = runs(fit.steps, fit.examples, chosen_rates, seeds)
        found = train([spec for specs in final for spec in specs])
    entries = tuple(
        _entry(task, _best(found, specs), model == models[0])
        for (model, task, _), specs in zip(places, final, strict=True)
    )
    return Compared(
        models[0], fit.steps, fit.short if len(fit.rates) > 1 else 0, batch, fit.rates, tuple(seeds), recipe,
        fit.examples, seconds if budgeted else None, entries,
    )  # fmt: skip


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
