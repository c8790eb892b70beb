"""``separatrix capacity``: the state of a real model in bits, and the lengths at which each bound bites."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.capacity_memory import fits_of, print_memory, shown_bytes
from separatrix.cli.completion import complete_preset
from separatrix.cli.given_options import refuse_given
from separatrix.cli.model_argument import PRECISION_HELP, ArithmeticOption
from separatrix.cli.output import JsonOption, command_line, console, print_json, print_result
from separatrix.cli.pictures import check_picture, write_picture

if TYPE_CHECKING:
    from separatrix.api import Crossing, Fits
    from separatrix.capacities import Bits, Capacity, Limit, ModelDescription

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
    from separatrix.answer import plain
    from separatrix.api import capacity, crossing
    from separatrix.capacities import Budget, capacity_record
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
        budget=Budget(cache_tokens, cache_bits, cache_window),
    ).card  # fmt: skip
    fits = fits_of(found, memory, weights, config[0])
    crossed = None if against is None else crossing(found, against, precision)
    if plot is not None:
        _draw(context, plot, [found.model], found.given)
    if as_json:
        more = {name: plain(each) for name, each in (("fits", fits), ("against", crossed)) if each}
        print_result(context, {**plain(capacity_record(found)), **more}, arithmetic="integers")
    else:
        _print(found, tuple(dict.fromkeys(task or ())), fits, crossed)
    # A refuted bound is an error for a task that was named; without a task it is one of many.
    return int(any(name in (task or ()) for name, _ in found.refuted))


def _compare(
    context: typer.Context, configs: list[str], precision: int | None, length: int | None, plot: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Print several models side by side."""
    from separatrix.answer import plain
    from separatrix.api import compare_memory, described
    from separatrix.capacities import check_sizes
    from separatrix.cli.capacity_memory import print_compared

    check_sizes(precision, length)
    models = [described(each, precision) for each in dict.fromkeys(configs)]
    found = compare_memory(models, precision, length)
    if plot is not None:
        _draw(context, plot, models, precision)
    if as_json:
        print_result(context, plain(found), arithmetic="integers")
    else:
        print_compared(found)
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


def _print_needs(found: "Capacity") -> None:
    """Print what the tasks need of the caches, and under a budget from which length they are impossible."""
    from rich.markup import escape
    from rich.table import Table

    from separatrix.capacities import RECENT, not_judged

    out, budget = console(), found.budget
    if not found.needs:
        if budget.in_words:
            why = not_judged(found.model) or "none of its caches grows"
            out.print(f"No verdict for {budget.in_words}: {why}.")
        return
    first = found.needs[0]
    under = f" with {budget.in_words}" if budget.in_words else ""
    if first.bits_of_a_recent_token > first.bits_per_token:
        under += f", {first.bits_of_a_recent_token:,} of each of the last {RECENT}, which are not quantised yet"
    out.print(
        f"Whatever its layers, it continues from what it kept: {first.state_bits:,} bits of states and at most "
        f"{first.bits_per_token:,} bits a token of its caches{under} (Theorem 2 with the caches as the state)."
    )
    title = f"Impossible for any weights, {budget.in_words}" if budget.bounded else "What each cache must keep at least"
    shown = Table(title=title, title_justify="left")
    shown.add_column("task", style="bold", no_wrap=True)
    shown.add_column("from N =" if budget.bounded else "tokens", justify="right")
    shown.add_column(f"at N = {max(need.at_length for need in found.needs):,}")
    shown.add_column("claim")
    for need in found.needs:
        if budget.bounded:
            head = "never" if need.first_impossible is None else f"{need.first_impossible:,}"
            word, sign = ("[red]impossible[/red]", ">") if need.impossible else ("open", "≤")
            verdict = f"{word} ({need.needed_bits:,} {sign} {need.available_bits:,})"
        else:
            head, verdict = f"{need.tokens:,}", f"{need.needed_bits:,} bits"
        shown.add_row(need.task, head, verdict, escape(f"{need.claim}{'' if need.in_the_papers else ' *'}"))
    out.print(shown)
    out.print(
        "Tokens that are kept next to a window, such as the first ones, are not in it: give --cache-tokens for all "
        "together. With each token that is kept, 128 bits for each head are counted for its position and its score, "
        "with quantised numbers a scale and an offset."
        if budget.in_words
        else "With fewer tokens, from any positions, the task is impossible at that length. Give --cache-tokens, "
        "--cache-bits or --cache-window for the lengths at which a budget fails."
    )
    out.print(
        "This holds at the cut between text and query, for a text that is read once and a query that comes last. Not "
        "covered: a query before the text, a second pass over the text, a cache that is evicted after the query. "
        "Impossible means: for every choice of weights, some input is answered wrongly."
    )


def _print(found: "Capacity", asked: tuple[str, ...], fits: "Fits | None", crossed: "Crossing | None") -> None:
    from rich.markup import escape
    from rich.table import Table

    from separatrix.capacities import cited, layer_bits

    out, model = console(), found.model
    out.print(f"[bold]{escape(model.name)}[/bold] ({escape(model.source)})")
    print_memory(found, fits, crossed)
    shown = Table()
    # The sizes as BHBK24 §2 names them: d numbers at each position, H heads of width m.
    for heading in ("layers", "kind", "d", "H", "head m", "kept by each layer", "bits"):
        shown.add_column(heading, justify="left" if heading in ("kind", "kept by each layer") else "right")
    for layer in model.layers:
        growing = "not stated" if layer.kind == "unstated" else "grows with the input"
        growing = "nothing: reads the cache of an earlier layer" if layer.shared else growing
        kept = " + ".join(part.formula for part in layer.state) or growing
        kept_bits = layer_bits(model, layer.state, found.given) * layer.count
        bits = "—" if layer.state_numbers is None else f"{kept_bits:,}"
        sizes = (str(value) if value else "" for value in (layer.width, layer.heads, layer.head_width))
        shown.add_row(str(layer.count), layer.name, *sizes, kept, bits)
    out.print(shown)
    for note in model.notes:
        out.print(f"Note: {escape(note)}")
    if model.evidence == "published":
        out.print("What it keeps was checked by published formulas; docs/capacity.md says which types were also run.")
    if found.state_bits is not None:
        bits = f"[bold]{_counted(found.state_bits, 'bit')}[/bold] ({shown_bytes(found.state_bits)})"
        out.print(f"State: {_counted(model.state_numbers or 0, 'number')}, {bits}.")
    elif found.bounded_state_bits:
        unstated = any(layer.kind == "unstated" for layer in model.layers)
        others = "do not state theirs" if unstated else "grow with the input"
        out.print(f"Layers of bounded memory keep {found.bounded_state_bits:,} bits; the others {others}.")
    for line in _formats(found):
        out.print(f"- {escape(line)}")
    if model.trained_length is not None:
        out.print(f"Context length in its config: {model.trained_length:,}.")
    out.print(escape(found.reason))
    for each in cited(model):
        where = f"{each.paper}, of which the {each.read} was read; {each.conditions}"
        out.print(f"Cited, not executed: {escape(each.statement)} ({escape(where)}).")
    for scope, title in (
        ("model", "Impossible for any weights"),
        ("one layer alone", "One such layer alone, not the model"),
    ):
        limits = [limit for limit in found.limits if limit.scope == scope]
        if limits:
            out.print(_limits(title, limits, found))
            for arithmetic in dict.fromkeys(limit.arithmetic for limit in limits if limit.arithmetic != "any"):
                out.print(f"Holds for: {escape(arithmetic)}.")
            if any(_mark(limit) == " *" for limit in limits):
                out.print("* derived here, not in the papers")
            for name in dict.fromkeys(limit.from_file for limit in limits if limit.from_file):
                out.print(f"† from {escape(name)}; its number at a length rests on its formula, see  separatrix bound")
    _print_needs(found)
    for _, text in found.refuted:
        out.print(f"[red]refuted[/red], not used: {escape(text)}", soft_wrap=True)
    for reason, names in _silent(found).items():
        out.print(f"No verdict on {', '.join(names)}: {escape(reason)}.")
    for name in asked:
        spoken = {limit.task for limit in found.limits if limit.scope == "model"} | {need.task for need in found.needs}
        if name not in spoken | {n for n, _ in found.silent}:
            out.print(f"{name}: no bound is known for this task and model.")
    if found.limits:
        out.print("[bold]How to read this[/bold]")
        for caveat in found.caveats:
            out.print(f"- {escape(caveat)}")


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _formats(found: "Capacity") -> list[str]:
    """Return for each format in which numbers are kept what is kept in it, and who says so."""
    from separatrix.capacities import part_bits

    kept: dict[Bits, dict[str, int]] = {}
    for part, numbers, bits in found.parts:
        names = kept.setdefault(bits, {})
        names[part.name] = names.get(part.name, 0) + numbers
    growing: dict[Bits, dict[str, None]] = {}
    for part in (part for layer in found.model.layers for part in layer.cache):
        growing.setdefault(part_bits(found.model, part, found.given), {})[part.name] = None
    if found.given is not None or not (kept or growing):
        return [f"every number has {found.numbers.in_words}"]
    fixed = [
        f"{_counted(sum(names.values()), 'number')} of {bits.in_words}: {', '.join(names)}"
        for bits, names in kept.items()
    ]
    return fixed + [f"of each token numbers of {bits.in_words}: {', '.join(names)}" for bits, names in growing.items()]


def _limits(title: str, limits: "list[Limit]", found: "Capacity") -> "object":
    from rich.markup import escape
    from rich.table import Table

    shown = Table(title=title, title_justify="left")
    shown.add_column("task", style="bold", no_wrap=True)
    shown.add_column("from N =", justify="right")
    if found.length is not None:
        shown.add_column(f"at N = {found.length:,}", justify="left")
    shown.add_column("bits needed")
    shown.add_column("claim")
    rows: dict[tuple[str, ...], list[str]] = {}
    for limit in limits:
        first = "never" if limit.first_impossible is None else f"{limit.first_impossible:,}"
        at = () if found.length is None else (_verdict(limit, found.length),)
        # Tasks of one bound with the same numbers share a row.
        rows.setdefault((first, *at, escape(limit.needs), escape(_claim(limit))), []).append(escape(_task(limit)))
    for cells, names in rows.items():
        shown.add_row("\n".join(names), *cells)
    return shown


def _silent(found: "Capacity") -> dict[str, list[str]]:
    """Return the tasks whose bounds do not cover the model's arithmetic, by reason."""
    names: dict[str, list[str]] = {}
    for task, reason in found.silent:
        names.setdefault(reason, []).append(task)
    return names


def _claim(limit: "Limit") -> str:
    return f"{limit.claim}{_mark(limit)}"


def _mark(limit: "Limit") -> str:
    if limit.from_file:
        return " †"
    return "" if limit.in_the_papers else " *"


def _task(limit: "Limit") -> str:
    """Return the task, with the parameter that the verdict is about where it is not the task's own."""
    what = {
        "index-lookup": ("alphabet", "{} symbols"),
        "nearest-neighbour": ("dimension", "{} dimensions"),
        "sparse-threshold": ("instance", "{}"),
    }.get(limit.task)
    given = None if what is None else limit.parameters.get(what[0])
    return limit.task if what is None or given is None else f"{limit.task} ({what[1].format(given)})"


def _verdict(limit: "Limit", length: int) -> str:
    # A task without inputs of the length that was asked for answers for the nearest one that has.
    where = "" if limit.at_length == length else f"at {limit.at_length:,}: "
    word = "[red]impossible[/red]" if limit.impossible_at_length else "open"
    if limit.needed_bits is None or limit.available_bits is None:
        return f"{where}{word}"
    sign = ">" if limit.impossible_at_length else "≤"
    return f"{where}{word} ({limit.needed_bits:,} {sign} {limit.available_bits:,})"
