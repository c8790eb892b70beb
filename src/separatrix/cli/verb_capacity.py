"""``separatrix capacity``: the state of a real model in bits, and the lengths at which each bound bites."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.completion import complete_preset
from separatrix.cli.output import JsonOption, command_line, console, print_json

if TYPE_CHECKING:
    from separatrix.communication.capacity import Capacity, Limit, ModelDescription
    from separatrix.models.architecture import ModelSpec

NAME = "capacity"
ORDER = 73
EXAMPLE = "separatrix capacity mamba-2.8b --precision 16 --length 100000"


def command(
    context: typer.Context,
    config: Annotated[
        str | None,
        typer.Argument(
            help="A preset, the path of a config.json, or one of this package's models such as 'LSTM-(3,256)'; "
            "left out: list what is known.",
            autocompletion=complete_preset,
        ),
    ] = None,
    precision: Annotated[int, typer.Option("--precision", help="Bits of each number that the model hands on.")] = 16,
    length: Annotated[int | None, typer.Option("--length", help="Also say what is impossible at this length.")] = None,
    alphabet: Annotated[int, typer.Option("--alphabet", help="Symbols of index lookup.")] = 64,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be repeated.")] = None,
    as_json: JsonOption = False,
) -> None:
    """What a real model cannot do at any weights: its state in bits against the lower bounds."""
    from separatrix.communication.capacity import capacity, describe, plain
    from separatrix.provenance import provenance

    started = time.perf_counter()
    if config is None:
        _list(as_json)
        return
    own = config.endswith(")") and not Path(config).exists()
    # A precision that is out of range is refused below, with the others.
    model = _own(config, max(1, precision)) if own else describe(config)
    found = capacity(model, precision, length, alphabet, only=task or None)
    if as_json:
        record = provenance(command_line(context), arithmetic="integers", seed=None, started=started)
        print_json({**plain(found), "provenance": record})
        return
    _print(found)


def _own(text: str, precision: int) -> "ModelDescription":
    """One of this package's architectures, such as ``LSTM-(3,256)``: what each of its layers keeps."""
    from separatrix.communication.capacity import LayerDescription, ModelDescription, StatePart
    from separatrix.models.bounded import layer_keeps
    from separatrix.models.naming import parse_spec

    spec = parse_spec(text)
    layers: list[LayerDescription] = []
    # Layers of one kind may keep different amounts, such as convolutions whose reach doubles.
    kept = [(entry, layer_keeps(spec, layer, precision)) for layer, entry in enumerate(spec.entries)]
    for entry, found in dict.fromkeys(kept):
        options = spec.options_of(entry)
        shape = entry.attention(spec.width, options)
        heads, head_width = (0, 0) if shape is None else (shape.heads, shape.dimension)
        if entry.reads_graphs:
            heads, head_width = int(options["heads"]), spec.width // int(options["heads"])
        growing = "graph-attention" if entry.reads_graphs else "attention"
        # Counted in numbers of the given precision, rounded up.
        state = () if found is None else (StatePart("state", -(-found[0] // precision), found[1]),)
        layers.append(
            LayerDescription(
                kind="recurrent" if state else growing,
                name=entry.short,
                width=spec.width,
                heads=heads,
                head_width=head_width,
                state=state,
                count=kept.count((entry, found)),
            )
        )
    return ModelDescription(
        name=str(spec), family="separatrix", layers=tuple(layers), notes=_notes(spec), source="this package"
    )


def _notes(spec: "ModelSpec") -> tuple[str, ...]:
    """What is not plain from the numbers."""
    from separatrix.models.bounded import own_statements

    assumed = tuple(f"assumed: {each}." for each in own_statements(spec))
    if "fnn" not in [entry.name for entry in spec.entries]:
        return assumed
    return (
        *assumed,
        "of a feed-forward network on the whole input, the sums of its first layer over the part before a cut cross "
        "it, and what comes behind waits for them; a sum of products of p-bit numbers has up to 2p + 48 bits.",
    )


def _list(as_json: bool) -> None:
    from rich.table import Table

    from separatrix.communication.capacity import config_families, presets

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


def _print(found: "Capacity") -> None:
    from rich.markup import escape
    from rich.table import Table

    out, model = console(), found.model
    out.print(f"[bold]{escape(model.name)}[/bold] ({escape(model.source)})", soft_wrap=True)
    shown = Table()
    for heading in ("layers", "kind", "d", "H", "m", "kept by each layer", "bits"):
        shown.add_column(heading, justify="left" if heading in ("kind", "kept by each layer") else "right")
    for layer in model.layers:
        kept = " + ".join(part.formula for part in layer.state) or "grows with the input"
        bits = "—" if layer.state_numbers is None else f"{layer.state_numbers * layer.count * found.precision:,}"
        sizes = (str(value) if value else "" for value in (layer.width, layer.heads, layer.head_width))
        shown.add_row(str(layer.count), layer.name, *sizes, kept, bits)
    out.print(shown)
    for note in model.notes:
        out.print(f"Note: {escape(note)}")
    if found.state_bits is not None:
        bits = f"[bold]{found.state_bits:,} bits[/bold] ({_bytes(found.state_bits)})"
        out.print(f"State: {model.state_numbers:,} numbers of {found.precision} bits = {bits}.")
    elif found.bounded_state_bits:
        out.print(f"Layers of bounded memory keep {found.bounded_state_bits:,} bits; the others grow with the input.")
    if model.trained_length is not None:
        out.print(f"Context length in its config: {model.trained_length:,}.")
    out.print(escape(found.reason))
    for scope, title in (
        ("model", "Impossible for any weights"),
        ("one layer alone", "One such layer by itself, not the model"),
    ):
        limits = [limit for limit in found.limits if limit.scope == scope]
        if limits:
            out.print(_limits(title, limits, found))
            if not all(limit.in_the_papers for limit in limits):
                out.print("* derived here, not in the papers")
    if found.applies and not found.limits:
        out.print("None of these bounds speaks about the tasks asked for.")
    if found.limits:
        out.print("[bold]How to read this[/bold]")
        for caveat in found.caveats:
            out.print(f"- {escape(caveat)}")


def _bytes(bits: int) -> str:
    amount, units = bits / 8, ["bytes", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.3g} {units[0]}" if amount < 1000 else f"{amount:,.0f} {units[0]}"


def _limits(title: str, limits: "list[Limit]", found: "Capacity") -> "object":
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
        at = () if found.length is None else (_verdict(limit),)
        # Tasks of one bound with the same numbers share a row.
        rows.setdefault((first, *at, limit.needs, _claim(limit)), []).append(_task(limit))
    for cells, names in rows.items():
        shown.add_row("\n".join(names), *cells)
    return shown


def _claim(limit: "Limit") -> str:
    return limit.claim if limit.in_the_papers else f"{limit.claim} *"


def _task(limit: "Limit") -> str:
    symbols = limit.parameters.get("alphabet")
    return f"{limit.task} ({symbols} symbols)" if limit.task == "index-lookup" and symbols else limit.task


def _verdict(limit: "Limit") -> str:
    word = "[red]impossible[/red]" if limit.impossible_at_length else "open"
    if limit.needed_bits is None or limit.available_bits is None:
        return word
    sign = ">" if limit.impossible_at_length else "≤"
    return f"{word} ({limit.needed_bits:,} {sign} {limit.available_bits:,})"
