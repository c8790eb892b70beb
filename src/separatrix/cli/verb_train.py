"""``separatrix train``: train one model on one task, a grid of learning rates and seeds at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.completion import complete_task
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, print_answer
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import (
    ANYWHERE,
    DEFAULT,
    USUAL,
    Method,
    Place,
    Recording,
    parse_list,
    parse_rates,
    with_option_groups,
)
from separatrix.errors import SeparatrixError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.training import RunSpec

NAME = "train"
ORDER = 82
LEAK_MARGIN = 6.0
"""The gap that --certifiable asks a lookup for: other keys then leak at most e^-6 of the weight."""
STATE_RADIUS = 0.04
"""The tube's radius that it asks a recurrent model for."""
STATE_LEVEL = 0.25
"""And Mamba, whose state is rounded: to two bits."""
EXAMPLE = 'separatrix train index-lookup "TF-(1,64)" --length 20 --lr 1e-3,5e-4 --steps 1000'


@with_option_groups
def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task, or FILE.py:function.", autocompletion=complete_task)],
    length: Annotated[int, typer.Option("--length", "-n", help="Length N of the inputs.")],
    architecture: Annotated[
        str | None, typer.Argument(help='A model, such as "TF-(1,64)" or "package.module:Mixer-(2,64)".')
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch",
            help="The model by an option, such as package.module:Mixer; one layer of width 64 if no sizes follow.",
        ),
    ] = None,
    rates: Annotated[str, typer.Option("--lr", help="Learning rates, comma-separated.")] = "1e-3,5e-4,2e-4",
    seeds: Annotated[str, typer.Option("--seed", help="Seeds, comma-separated.")] = "0",
    steps: Annotated[int, typer.Option("--steps", help="Training steps.")] = 5000,
    recipe: Annotated[
        str,
        typer.Option(
            "--recipe", help="paper, or strong: warm-up, clipping, decay, many questions to a text, full length."
        ),
    ] = "paper",
    certifiable: Annotated[
        bool,
        typer.Option(
            "--certifiable",
            help="Lookups with TF; dyck with RNN, GRU, LSTM, Mamba: train all steps for what separatrix certify needs.",
        ),
    ] = False,
    examples: Annotated[int, typer.Option("--examples", help="Fresh examples of the last evaluation.")] = 5000,
    parameters: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the curves to this .png or .svg file.")] = None,
    method: Method = DEFAULT,
    place: Place = ANYWHERE,
    recording: Recording = USUAL,
    as_json: JsonOption = False,
) -> None:
    """Train a grid of learning rates and seeds as one ensemble; interrupted runs resume."""
    require("training", "torch")
    from separatrix.api import run_specs, trained
    from separatrix.cli.training_run import run_groups
    from separatrix.models import parse_spec
    from separatrix.profiles import task_argument
    from separatrix.tasks import automaton_of
    from separatrix.training import Group, check_leaks, check_tubes

    check_picture("--plot", plot)
    chosen = task_argument(task, parameters or [])
    fields = method.given()
    if certifiable:
        refuse_given(context, ("goal",), "is not asked with --certifiable, which trains all steps; leave it out")
        words = automaton_of(chosen) is not None
        radius = STATE_LEVEL if "mamba" in parse_spec(_model(architecture, arch)).layers else STATE_RADIUS
        fields |= {"state_radius": radius} if words else {"leak_margin": LEAK_MARGIN}
        fields["goal"] = 0.0
    specs = run_specs(
        chosen, _model(architecture, arch), length, rates=parse_rates(rates), seeds=parse_list(seeds, int, "--seed"),
        steps=steps, recipe=recipe, examples=examples, **fields,
    )  # fmt: skip
    if certifiable:
        check_leaks(specs[0])
        check_tubes(specs[0])
    groups = [Group(specs, first_goal_ends=False)]
    records = run_groups(groups, place, recording, _label, full_grid=True, quiet=as_json)
    found = trained(chosen, specs, records)
    if plot is not None:
        from separatrix.site import run_curves_figure

        drawn = [(_label(spec), records[spec.name], records[spec.name].curve) for spec in specs]
        write_picture(plot, run_curves_figure(f"{found.model} on {found.task} at length {length}", drawn))
    print_answer(context, found, as_json, arithmetic=method.precision, seed=specs[0].seed)


def _label(spec: "RunSpec") -> str:
    return f"lr {spec.learning_rate:g} seed {spec.seed}"


def _model(architecture: str | None, arch: str | None) -> str:
    """Return the model that was named, as an argument or as an option."""
    if (architecture is None) == (arch is None):
        given = "no model" if arch is None else f"two models, {architecture} and {arch}"
        raise SeparatrixError(f'{given} given; name one, such as "TF-(1,64)", behind the task or with --arch')
    if arch is not None:
        return arch if "(" in arch else f"{arch}-(1,64)"
    assert architecture is not None
    return architecture
