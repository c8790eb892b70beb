"""``separatrix compare``: a layer of your own next to known ones, on several tasks, with the same budget for all."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, print_answer, remark
from separatrix.cli.training_options import (
    ANYWHERE,
    USUAL,
    Place,
    Recording,
    parse_list,
    parse_names,
    parse_rates,
    with_option_groups,
)
from separatrix.errors import SeparatrixError
from separatrix.extras import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separatrix.training import Record, RunSpec

NAME = "compare"
ORDER = 84
EXAMPLE = "separatrix compare mine.py:Layer --against TF,LSTM --tasks mqar,dyck --budget 10min"


@with_option_groups
def command(
    context: typer.Context,
    layer: Annotated[
        str, typer.Argument(help="Your layer, FILE.py:Class, with sizes such as mine.py:Layer-(1,32) if you like.")
    ],
    against: Annotated[str, typer.Option("--against", help="Known models, comma-separated.")] = "TF,LSTM,Mamba,GDN",
    tasks: Annotated[
        str, typer.Option("--tasks", help="Tasks, comma-separated; also mqar:zoology and FILE.py:function.")
    ] = "mqar,index-lookup,dyck",
    budget: Annotated[
        str, typer.Option("--budget", help="Time of all runs together, about: 90s, 10min, 2h.")
    ] = "10min",
    steps: Annotated[int | None, typer.Option("--steps", help="Steps of each run, in place of a budget.")] = None,
    length: Annotated[
        int | None, typer.Option("--length", "-n", help="Length N of the inputs; 32, of functions 16, if not given.")
    ] = None,
    layers: Annotated[int, typer.Option("--layers", help="Layers of models without sizes.")] = 2,
    width: Annotated[int, typer.Option("--width", help="Width of models without sizes.")] = 64,
    rates: Annotated[str, typer.Option("--lr", help="Learning rates to choose from.")] = "1e-2,3e-3,1e-3,3e-4",
    seeds: Annotated[str, typer.Option("--seed", help="Seeds, comma-separated; the best is shown.")] = "0",
    batch: Annotated[int, typer.Option("--batch", help="Examples in a step.")] = 64,
    recipe: Annotated[str, typer.Option("--recipe", help="strong or paper, as for train.")] = "strong",
    report: Annotated[Path, typer.Option("--report", help="The report, a page in one file.")] = Path("compare.html"),
    examples: Annotated[int, typer.Option("--examples", help="Fresh examples of the last evaluation.")] = 2000,
    place: Place = ANYWHERE,
    recording: Recording = USUAL,
    as_json: JsonOption = False,
) -> None:
    """Train your layer and known ones on the same tasks with the same budget, and write one report."""
    require("a comparison", "torch")
    from separatrix.answer import to_page
    from separatrix.api import compare
    from separatrix.cli.progress import progress_bar
    from separatrix.cli.training_run import run_groups
    from separatrix.files import check_writable, write_atomically
    from separatrix.progress import listening
    from separatrix.training import groups_of

    if report.suffix != ".html":
        raise SeparatrixError(f"--report {report} is not the name of a page; give one that ends in .html")
    place.check()
    check_writable(report)
    if steps is not None:
        refuse_given(context, ("budget",), f"and --steps {steps} both say how long; keep one")
    waiting = ExitStack()

    def train(specs: "Sequence[RunSpec]") -> "Mapping[str, Record]":
        waiting.close()  # the runs have bars of their own
        return run_groups(groups_of(specs), place, recording, _label, full_grid=True, quiet=as_json)

    chosen, starts = parse_rates(rates), parse_list(seeds, int, "--seed")
    with waiting:
        waiting.enter_context(listening(waiting.enter_context(progress_bar("looking at the models", as_json))))
        found = compare(
            layer, parse_names(against), parse_names(tasks), budget=budget, steps=steps, length=length, layers=layers,
            width=width, rates=chosen, seeds=starts, batch=batch, recipe=recipe, examples=examples,
            store=recording.store, device=place.device, threads=place.threads_of_worker(), trainer=train,
        )  # fmt: skip
    write_atomically(report, to_page(found.sheet()))
    print_answer(context, found, as_json, arithmetic="float32", seed=found.seeds[0], report=str(report))
    if not as_json:
        remark(f"the report with curves is {report}")


def _label(spec: "RunSpec") -> str:
    return f"{spec.architecture} on {spec.task} lr {spec.learning_rate:g} steps {spec.steps}"
