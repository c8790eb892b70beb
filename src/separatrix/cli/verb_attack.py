"""``separatrix attack``: search for inputs on which a trained run fails."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.output import JsonOption, console, print_result, seconds_so_far
from separatrix.errors import SeparatrixError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.models import SequenceModel
    from separatrix.tasks import Task

NAME = "attack"
ORDER = 84
EXAMPLE = "separatrix attack 0b5d1c2e --seconds 60"
LONGEST = 86400.0
MOST = 1 << 16


def command(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="A run of a store by its name; its weights must be there.")],
    length: Annotated[int | None, typer.Option("--length", "-n", help="Length N; the run's own if not given.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="How long to search.")] = 10.0,
    most: Annotated[int, typer.Option("--most", help="Stop when so many failing inputs are found.")] = 8,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the search.")] = 0,
    store: Annotated[
        Path | None, typer.Option("--store", help="The run's store; SEPARATRIX_STORE or runs.sqlite.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Search for inputs that a trained model answers wrongly (exit 1 if one is found); finding none proves nothing."""
    require("attacking a trained run", "torch")
    from separatrix.cli.progress import progress_bar
    from separatrix.models import attack
    from separatrix.progress import listening

    if not 0 < seconds <= LONGEST:
        raise SeparatrixError(f"--seconds {seconds} is out of range; choose more than 0 and at most {LONGEST:.0f}")
    if not 1 <= most <= MOST:
        raise SeparatrixError(f"--most {most} is out of range; choose 1 to {MOST}")
    if not 0 <= seed < 1 << 63:
        raise SeparatrixError(f"--seed {seed} is out of range; choose 0 to 2^63 - 1")
    model, task, own_length, accuracy, label = _run(run, store)
    chosen = own_length if length is None else length
    task.check_length(chosen)
    if model.positions is not None and task.positions(chosen) > model.length:
        raise SeparatrixError(f"--length {chosen} is longer than the run's own, {own_length}; choose at most that")
    with progress_bar(f"attacking {label}", as_json) as show, listening(show):
        found = attack(model, task, chosen, seconds, most, seed)
    result: dict[str, Any] = {
        "run": label,
        "model": str(model.spec),
        "task": task.name,
        "length": chosen,
        "sampled_accuracy": accuracy,
        "tried": found.tried,
        "failing": [list(row) for row in found.failing],
        "failing_shown": [_shown(task, chosen, row) for row in found.failing],
        "least_margin": found.least_margin,
        "seconds": seconds_so_far(context),
    }
    if as_json:
        print_result(context, {**result}, arithmetic="float32", seed=seed)
    else:
        _print(result)
    return 1 if found.failing else 0


def _run(name: str, store: Path | None) -> "tuple[SequenceModel, Task, int, float, str]":
    from separatrix.training import Records, store_path, trained_model

    with Records(store_path(store), create=False) as records:
        record = records.get(name)
        model = trained_model(record, records.files)
        return model, record.spec.the_task(), record.spec.length, record.result.accuracy, record.spec.name


def _shown(task: "Task", length: int, row: tuple[int, ...]) -> str:
    """Return an input for people; of cells with several numbers the numbers."""
    return task.write(list(row), length) if not task.features(length) else " ".join(map(str, row))


def _print(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    shown = result["failing_shown"]
    verdict = (
        f"[red]fails[/red]: {len(shown)} inputs were found that torch answers wrongly"
        if shown
        else "no failing input was found, which proves nothing"
    )
    rows = [
        ("model", escape(f"{result['model']}, run {result['run']}")),
        ("task", f"{result['task']}, length {result['length']}"),
        ("sampled accuracy", f"{100 * result['sampled_accuracy']:.2f} %"),
        ("verdict", verdict),
        ("inputs tried", str(result["tried"])),
        ("least margin", f"{result['least_margin']:.4g}"),
        *[("a failing input", escape(text)) for text in shown[:3]],
    ]
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)
