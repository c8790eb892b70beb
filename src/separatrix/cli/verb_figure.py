"""``separatrix figure``: draw a figure of the papers from recorded runs, ours next to theirs."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.completion import complete_figure
from separatrix.cli.output import JsonOption, console, how_made, print_json, remark
from separatrix.cli.training_options import StoreOption
from separatrix.cli.training_source import RecordsOption, opened_source, source_text
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.site import Figure
    from separatrix.training import AttentionMaps, FigureData, RunSource

NAME = "figure"
ORDER = 85
EXAMPLE = "separatrix figure figure2-left --scale quick --out figures"
STATE_LIMIT = "state-limit"
"""A figure of its own: no paper has it."""


def command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="An experiment, a sweep file (.toml) or state-limit.", autocompletion=complete_figure)
    ],
    scale: Annotated[
        str | None, typer.Option("--scale", help="quick, reduced or paper; the one with most records if not given.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the .svg, .png, .html and .json files.")] = Path(
        "figures"
    ),
    store: StoreOption = None,
    records: RecordsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a figure in the paper's layout with the deviation of each cell; missing cells are named."""
    require("a figure", "matplotlib", "plotly", "jinja2")
    if name == STATE_LIMIT:
        _state_limit(context, scale, out, store, records, as_json)
        return
    from separatrix.files import check_writable, write_atomically
    from separatrix.site import experiment_figure, figure_page
    from separatrix.training import best_scale, experiment_of, experiments, gather, how_to_train, read_sweep

    own = read_sweep(Path(name)) if name.endswith(".toml") else None
    if own is not None and scale is not None:
        raise SeparatrixError(f"--scale {scale} is for the papers' experiments; {name} says its own sizes")
    if own is None and name not in experiments():
        raise UnknownNameError("figure", name, (*experiments(), STATE_LIMIT))
    experiment = experiments()[name] if own is None else experiment_of(own, name)
    if out.exists() and not out.is_dir():
        raise SeparatrixError(f"--out {out} is a file; give a folder")
    check_writable(out / "figure.svg")
    with opened_source(store, records) as source:
        chosen = None if own is not None else scale or best_scale(experiment, source)
        data = gather(experiment, chosen, source, own)
        if not data.recorded:
            raise SeparatrixError(
                f"nothing is recorded of {name} in {source_text(store, records)}; name other runs with --records or "
                f"--store, or train it first:  {how_to_train(experiment, chosen)}"
            )
        attention = _attention(data, source) if experiment.attention else None
    figures = [experiment_figure(data)]
    if attention is not None:
        figures.append(attention[1])
    made = how_made(context, arithmetic="float32")
    found = {**data.as_dict(), "provenance": made}
    if attention is not None:
        found["attention"] = _attention_data(attention[0])
    footer = f"Made by: {made['command']} at {made['made_at']}"
    page = figure_page(data, attention, footer)
    written: list[Path] = []
    for figure in figures:
        for suffix, content in ((".svg", figure.svg), (".png", figure.png)):
            written.append(out / f"{figure.name}{suffix}")
            write_atomically(written[-1], content)
    for suffix, content in ((".json", json.dumps(found, ensure_ascii=False, indent=1) + "\n"), (".html", page)):
        written.append(out / f"{data.stem}{suffix}")
        write_atomically(written[-1], content)
    if as_json:
        print_json({**found, "files": [str(path) for path in written]})
        return
    _print(data, written)
    if attention is not None:
        for each in attention[0].maps:
            console().print(f"after {each.step:,} steps: {100 * each.share:.1f} % of the attention on named cells")


def _state_limit(
    context: typer.Context,
    scale: str | None,
    out: Path,
    store: Path | None,
    records: list[Path] | None,
    as_json: bool,
) -> None:
    """Draw what recurrent models learned of what their state can hold, from all recorded runs of index lookup."""
    from separatrix.answer import plain
    from separatrix.files import check_writable, write_atomically
    from separatrix.site import state_limit_figure, state_limit_page
    from separatrix.training import state_limits

    if scale is not None:
        raise SeparatrixError(f"--scale {scale} is for the papers' experiments; {STATE_LIMIT} draws every recorded run")
    if out.exists() and not out.is_dir():
        raise SeparatrixError(f"--out {out} is a file; give a folder")
    check_writable(out / "figure.svg")
    with opened_source(store, records) as source:
        found = state_limits(source)
    if found is None:
        raise SeparatrixError(
            f"no recurrent model has a recorded run of index-lookup in {source_text(store, records)}; name other runs "
            "with --records, or train one:  separatrix train index-lookup 'LSTM-(1,64)' --length 20 --recipe strong"
        )
    figures = [state_limit_figure(found, recipe) for recipe in found.recipes]
    made = how_made(context, arithmetic="float32")
    content: dict[str, str | bytes] = {}
    for each in figures:
        content |= {f"{each.name}.svg": each.svg, f"{each.name}.png": each.png}
    data = {**plain(found), "provenance": made}
    content[f"{STATE_LIMIT}.json"] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    content[f"{STATE_LIMIT}.html"] = state_limit_page(found, f"Made by: {made['command']} at {made['made_at']}")
    written = [out / file for file in content]
    for path, each in zip(written, content.values(), strict=True):
        write_atomically(path, each)
    if as_json:
        print_json({**data, "files": [str(path) for path in written]})
        return
    shown = found.views[0]
    console().print(f"index-lookup, recipe {shown.recipe}, learned to {100 * shown.goal:g} %:", markup=False)
    for model in shown.models:
        console().print(f"• {model.in_words}", soft_wrap=True, markup=False)
    for path in written:
        console().print(f"wrote {path}", soft_wrap=True, markup=False)


def _attention(data: "FigureData", source: "RunSource") -> "tuple[AttentionMaps, Figure] | None":
    """Return the attention matrices of the best run that kept its weights; they are computed from these, by torch."""
    if find_spec("torch") is None:
        remark("without the attention matrices, which need torch; install it with  pip install 'separatrix[train]'")
        return None
    from separatrix.site import attention_figure
    from separatrix.training import attention_maps, best_run

    assert data.scale is not None
    names = [run.name for cell in data.experiment.sweep(data.scale).cells() for run in cell.runs]
    record = best_run(list(source.find(names).values()), source)
    if record is None:
        return None
    maps = attention_maps(record, source)
    title = f"{record.spec.architecture} on {record.spec.task}, length {record.spec.length}: attention over training"
    return maps, attention_figure(maps, f"{data.stem}-matrices", title)


def _attention_data(maps: "AttentionMaps") -> dict[str, Any]:
    return {
        "run": maps.run,
        "named": maps.named.astype(int).tolist(),
        "share_by_chance": maps.chance,
        "maps": [
            {"step": each.step, "share": each.share, "matrix": each.matrix.round(5).tolist()} for each in maps.maps
        ],
    }


def _print(data: "FigureData", written: "list[Path]") -> None:
    from rich.markup import escape
    from rich.table import Table

    from separatrix.site import HEADINGS, cell_row, headings, number_places

    left_out = (
        "device",
        "seconds",
        "runs",
        "allowed",
        "run",
        "undertrained",
        *(() if data.paper else ("paper %", "difference")),
    )
    shown = [number for number, heading in enumerate(HEADINGS) if heading not in left_out]
    scale = "" if data.scale is None else f", scale {data.scale}"
    table = Table(title=escape(f"{data.experiment.title}: {data.experiment.source}{scale}"))
    named, right = headings(data), number_places(data)
    for number in shown:
        table.add_column(named[number], justify="right" if number in right else "left", no_wrap=number == 0)
    for cell in data.cells.values():
        row = cell_row(cell)
        table.add_row(*[escape(row[number]) for number in shown])
    console().print(table)
    for each in data.remarks:
        console().print(f"• {each}", soft_wrap=True, markup=False)
    for path in written:
        console().print(f"wrote {path}", soft_wrap=True, markup=False)
