"""``separatrix capacity``: the state of a real model in bits, and the lengths at which each bound bites."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.completion import complete_preset
from separatrix.cli.given_options import refuse_given
from separatrix.cli.model_argument import PRECISION_HELP, ArithmeticOption
from separatrix.cli.output import JsonOption, command_line, console, print_answer, print_json
from separatrix.cli.pictures import check_picture, write_picture

if TYPE_CHECKING:
    from separatrix.capacities import ModelDescription

NAME = "capacity"
ORDER = 73
EXAMPLE = "separatrix capacity mamba-2.8b --precision 16 --length 100000"
OF_ONE_MODEL = (
    "alphabet", "task", "arithmetic", "memory", "weights", "cache_tokens", "cache_bits", "cache_window", "against",
)  # fmt: skip
"""Options that need exactly one model."""


def command(
    context: typer.Context,
    config: Annotated[
        list[str] | None,
        typer.Argument(
            help="A preset, the path of a config.json or its folder, or one of this package's models such as "
            "'LSTM-(3,256)'; several: their memory side by side; left out: list what is known.",
            autocompletion=complete_preset,
        ),
    ] = None,
    precision: Annotated[int | None, typer.Option("--precision", help=PRECISION_HELP)] = None,
    length: Annotated[int | None, typer.Option("--length", help="Also show what is impossible at this length.")] = None,
    alphabet: Annotated[int, typer.Option("--alphabet", help="Symbols of index lookup.")] = 64,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be repeated.")] = None,
    arithmetic: ArithmeticOption = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Also show how many texts fit into a memory such as 80GB, next to the weights."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", help="Bytes of the weights, such as 16GB; of a folder its safetensors files."),
    ] = None,
    cache_tokens: Annotated[
        int | None, typer.Option("--cache-tokens", help="Each cache keeps so many tokens and evicts the others.")
    ] = None,
    cache_bits: Annotated[
        int | None, typer.Option("--cache-bits", help="Numbers of the caches are quantised to so many bits.")
    ] = None,
    cache_window: Annotated[
        int | None, typer.Option("--cache-window", help="Each cache keeps the last tokens of such a window.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="Another model: from which length on a text of this one takes fewer bytes."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Also draw memory against length, to this .svg, .png or interactive .html file."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Show what a real model keeps in memory and cannot do at any weights: its bits against the lower bounds."""
    check_picture("--plot", plot, interactive=True)
    from separatrix.api import capacity
    from separatrix.capacities import Budget
    from separatrix.cli.limits import parse_bytes
    from separatrix.profiles import refuse_function

    if not config:
        refuse_given(
            context, ("precision", "length", "plot", *OF_ONE_MODEL), "asks about a model; name one, such as gpt2"
        )
        _list(as_json)
        return 0
    if len(config) > 1:
        refuse_given(context, OF_ONE_MODEL, f"asks about one model, and {len(config)} are named; name one")
        return _compare(context, config, precision, length, plot, as_json)
    for name in task or ():
        refuse_function(name)
    found = capacity(
        config[0], length=length, precision=precision, tasks=task or None, alphabet=alphabet, arithmetic=arithmetic,
        budget=Budget(cache_tokens, cache_bits, cache_window), memory=None if memory is None else parse_bytes(memory),
        weights=None if weights is None else parse_bytes(weights), against=against,
    )  # fmt: skip
    if plot is not None:
        _draw(context, plot, [found.card.model], found.card.given)
    print_answer(context, found, as_json, arithmetic="integers")
    # A refuted bound is an error for a task that was named; without a task it is one of many.
    return int(any(each.task in found.asked for each in found.record.refuted))


def _compare(
    context: typer.Context, configs: list[str], precision: int | None, length: int | None, plot: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Print several models side by side."""
    from separatrix.api import compare_memory, described
    from separatrix.capacities import check_sizes

    check_sizes(precision, length)
    models = [described(each, precision) for each in dict.fromkeys(configs)]
    if plot is not None:
        _draw(context, plot, models, precision)
    print_answer(context, compare_memory(models, precision, length), as_json, arithmetic="integers")
    return 0


def _draw(context: typer.Context, path: Path, models: "list[ModelDescription]", given: int | None) -> None:
    from separatrix.files import write_atomically
    from separatrix.site import memory_figure, memory_page, memory_series

    series = memory_series(models, given)
    if path.suffix == ".html":
        write_atomically(path, memory_page(series, f"Made by: {command_line(context)}"))
    else:
        write_picture(path, memory_figure("memory", series))


def _list(as_json: bool) -> None:
    from rich.table import Table

    from separatrix.capacities import config_families, presets

    families = [
        {"name": f.name, "model_types": list(f.model_types), "state": f.state, "source": f.source}
        for f in config_families().values()
    ]
    if as_json:
        known = [{"name": p.name, "source": p.source, "config": dict(p.config)} for p in presets().values()]
        print_json({"families": families, "presets": known})
        return
    shown = Table(title=f"{len(families)} families of config files", title_justify="left")
    for heading in ("family", "model_type", "numbers kept"):
        shown.add_column(heading, style="bold" if heading == "family" else "", no_wrap=heading == "family")
    for family in families:
        shown.add_row(str(family["name"]), ", ".join(family["model_types"]), str(family["state"]))
    console().print(shown)
    console().print(f"[bold]{len(presets())} presets:[/bold] {', '.join(presets())}")
