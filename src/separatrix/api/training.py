"""``sx.train``: train a model on a task, a grid of learning rates and seeds as one ensemble."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from separatrix.answer import Answer, Grid, Sheet, Tone
from separatrix.api.arguments import checked
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.tasks import Task
    from separatrix.training import Observer, Record, RunSpec

Each = TypeVar("Each")
NUMBERS = ("lr", "seed", "%", "mean loss", "steps", "seconds")
SHOWN_DIGITS = 8
"""So much of a run's name is in tables; ``runs show`` takes it."""


class RunFields(TypedDict, total=False):
    """What may be chosen of a grid of runs: ``rates`` and ``seeds`` span it, the others hold for every run.

    ``recipe``: "paper", or "strong" with warm-up, clipping and decay. ``examples``: fresh ones of the last evaluation.
    The rest are fields of :class:`separatrix.training.spec.RunSpec`.
    """

    rates: Sequence[float]
    seeds: Sequence[int]
    steps: int
    recipe: str
    examples: int
    batch: int
    goal: float
    evaluate_every: int
    precision: str
    weight_decay: float
    warmup: int
    clip: float
    final_rate: float
    questions: int
    full_length: float
    shortest: int
    longest: int
    growth: float
    beta1: float
    beta2: float
    epsilon: float
    leak_margin: float
    state_radius: float
    snapshots: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Trained(Answer):
    """The records of a grid of runs, in the order of the grid, and what the majority baseline scores; ``guess`` is what
    the commonest of the answers that an input offers scores, None where a task offers none."""

    task: str
    model: str
    length: int
    majority: float
    guess: float | None
    runs: "tuple[Record, ...]"

    @property
    def best(self) -> "Record":
        """The most accurate run."""
        from separatrix.training import best_of

        found = best_of(self.runs)
        assert found is not None
        return found

    @property
    def accuracy(self) -> float:
        """That of the best run, on fresh examples."""
        return self.best.result.accuracy

    @property
    def learned(self) -> bool:
        """Whether the best run is shown to be better than the majority baseline and than a guess."""
        from separatrix.training import no_better_than_guessing

        return not no_better_than_guessing(self.best)

    def as_dict(self) -> dict[str, Any]:
        """Return the records as plain data."""
        return {"runs": [each.as_dict() for each in self.runs], "constant_answer": self.majority, "guess": self.guess}

    def sheet(self) -> Sheet:
        """Show a row for each run."""
        columns = ("run", "lr", "seed", "%", "mean loss", "steps", "ended", "seconds")
        best, tones = self.best.result, dict[tuple[int, int], Tone]()
        rows: list[tuple[str, ...]] = []
        for number, record in enumerate(self.runs):
            spec, result = record.spec, record.result
            if (result.accuracy, result.ending == "diverged") == (best.accuracy, best.ending == "diverged"):
                tones[number, columns.index("%")] = "good" if self.learned else "doubt"
            rows.append(
                (
                    spec.name[:SHOWN_DIGITS], f"{spec.learning_rate:g}", str(spec.seed), f"{100 * result.accuracy:.2f}",
                    f"{result.loss:.4f}", str(result.step), result.ending, f"{result.seconds:.1f}",
                )
            )  # fmt: skip
        guess = "" if self.guess is None else f", the commonest answer that an input offers {100 * self.guess:.1f} %"
        notes = [
            f"%: of fresh examples; the majority baseline is about {100 * self.majority:.1f} %{guess}",
            "mean loss: over the training batches since the previous evaluation",
        ]
        if any(each.result.ending == "diverged" for each in self.runs):
            notes.append("diverged: the loss is no longer a number, so that the accuracy means nothing")
        if not self.learned:
            better = "the majority baseline" if self.guess is None else "these two"
            notes.append(f"no run is shown to be better than {better}: nothing was learned yet")
        title = f"{self.model} on {self.task}, length {self.length}"
        return Sheet(grids=(Grid(title, columns, tuple(rows), tones, NUMBERS),), notes=tuple(notes))


def run_specs(
    task: "Task",
    model: str,
    length: int,
    **fields: Unpack[RunFields],
) -> "tuple[RunSpec, ...]":
    """Show the runs of a grid: one for each learning rate and seed."""
    from separatrix.models import parse_spec
    from separatrix.profiles import changed_parameters
    from separatrix.training import RunSpec, recipe_fields

    for name in fields:
        if name not in RunFields.__annotations__:
            raise UnknownNameError("argument", name, RunFields.__annotations__)
    rates = listed("rates", fields.pop("rates", (1e-3, 5e-4, 2e-4)))
    seeds = listed("seeds", fields.pop("seeds", (0,)))
    steps, recipe, examples = fields.pop("steps", 5000), fields.pop("recipe", "paper"), fields.pop("examples", 5000)
    spec = parse_spec(model)
    return tuple(
        RunSpec(
            task=task.name, task_parameters=tuple(sorted(changed_parameters(task).items())), architecture=str(spec),
            length=length, learning_rate=rate, seed=seed, steps=steps, evaluation_examples=examples,
            probe_examples=min(512, examples), **{**recipe_fields(recipe, task, steps), **fields},
        )
        for rate in rates
        for seed in seeds
    )  # fmt: skip


def listed(name: str, values: Iterable[Each]) -> list[Each]:
    """Return the values of an argument as a list; a single value, or a text in place of a list, is refused."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SeparatrixError(f"{name}={values!r} is not a list; write {name}=[{values!r}]")
    return list(values)


def trained(task: "Task", specs: "Sequence[RunSpec]", found: "Mapping[str, Record]") -> Trained:
    """Return the answer of a grid whose records are ``found``."""
    from separatrix.tasks import constant_score, guessed_answer

    first = specs[0]
    guess, runs = guessed_answer(task, first.length), tuple(found[each.name] for each in specs)
    return Trained(
        task.name, first.architecture, first.length, constant_score(task, first.length),
        None if guess is None else guess.share, runs,
    )  # fmt: skip


@checked
def train(
    task: "str | Task | Callable[[Any], Any]",
    model: str,
    length: int,
    *,
    store: str | Path | None = None,
    device: str = "auto",
    observers: "Sequence[Observer]" = (),
    fresh: bool = False,
    **fields: Unpack[RunFields],
) -> Trained:
    """Train a model on a task; what the store holds already is not trained again, and what was interrupted resumes.

    ``task``: a name, one with parameters such as "dyck:depth=3", FILE.py:function, or a function. ``model``: such as
    "TF-(1,64)" or "mine.py:Layer-(2,64)". ``store``: SEPARATRIX_STORE or runs.sqlite if not given. ``fresh`` trains
    recorded runs again. ``fields``: those of :class:`RunFields`, such as ``rates``, ``seeds``, ``steps`` and ``batch``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = train("majority", "TF-(1,8)", 4, rates=[0.01], steps=20, store=f"{folder}/runs.sqlite", examples=64)
    >>> len(found.runs), found.runs[0].result.step <= 20
    (1, True)
    """
    require("training", "torch")
    from separatrix.profiles import task_argument
    from separatrix.training import train_runs

    chosen = task_argument(task)
    specs = run_specs(chosen, model, length, **fields)
    place = None if store is None else Path(store)
    found = train_runs(specs, place, device=device, observers=observers, fresh=fresh)
    return trained(chosen, specs, {each.spec.name: each for each in found})
