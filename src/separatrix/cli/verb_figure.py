"""``separatrix figure``: draw a figure of the papers from recorded runs, ours next to theirs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.answer import Grid, Sheet, show
from separatrix.cli.completion import complete_figure
from separatrix.cli.output import JsonOption, console, how_made, print_json, remark
from separatrix.cli.training_options import StoreOption
from separatrix.cli.training_source import RecordsOption, opened_source, source_text
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.site import Figure
    from separatrix.training import AttentionMaps, Experiment, FigureData, RunSource, Sweep

NAME = "figure"
ORDER = 85
EXAMPLE = "separatrix figure figure2-left --scale quick --out figures"
STATE_LIMIT = "state-limit"
"""A figure of its own: no paper has it."""


@dataclass(frozen=True)
class Drawn:
    """A figure: its files by name, but for the page and the data, their common name, and what else is made from it."""

    pictures: "list[Figure]"
    stem: str
    data: dict[str, Any]
    page: Callable[[str], str]
    sheet: Sheet


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
    from separatrix.files import check_writable, write_atomically
    from separatrix.training import experiment_of, experiments, read_sweep

    own = read_sweep(Path(name)) if name.endswith(".toml") else None
    if own is None and name not in (*experiments(), STATE_LIMIT):
        raise UnknownNameError("figure", name, (*experiments(), STATE_LIMIT))
    if scale is not None and (own is not None or name == STATE_LIMIT):
        sizes = "draws every recorded run" if own is None else "says its own sizes"
        raise SeparatrixError(f"--scale {scale} is for the papers' experiments; {name} {sizes}")
    if out.exists() and not out.is_dir():
        raise SeparatrixError(f"--out {out} is a file; give a folder")
    check_writable(out / "figure.svg")
    with opened_source(store, records) as source:
        where = source_text(store, records)
        if name == STATE_LIMIT:
            drawn = _state_limit(source, where)
        else:
            experiment = experiments()[name] if own is None else experiment_of(own, name)
            drawn = _experiment(experiment, scale, own, source, where)
    made = how_made(context, arithmetic="float32")
    data = {**drawn.data, "provenance": made}
    content: dict[str, str | bytes] = {}
    for each in drawn.pictures:
        content |= {f"{each.name}.svg": each.svg, f"{each.name}.png": each.png}
    content[f"{drawn.stem}.json"] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    content[f"{drawn.stem}.html"] = drawn.page(f"Made by: {made['command']} at {made['made_at']}")
    for file, each in content.items():
        write_atomically(out / file, each)
    if as_json:
        print_json({**data, "files": [str(out / file) for file in content]})
        return
    show(drawn.sheet, console())
    for file in content:
        console().print(f"wrote {out / file}", soft_wrap=True, markup=False)


def _experiment(
    experiment: "Experiment", scale: str | None, own: "Sweep | None", source: "RunSource", where: str
) -> Drawn:
    """Draw an experiment, or a user's sweep, next to the paper's numbers."""
    from separatrix.site import experiment_figure, figure_page
    from separatrix.training import best_scale, gather, how_to_train

    chosen = None if own is not None else scale or best_scale(experiment, source)
    data = gather(experiment, chosen, source, own)
    if not data.recorded:
        raise SeparatrixError(
            f"nothing is recorded of {experiment.name if own is None else experiment.source} in {where}; name other "
            f"runs with --records or --store, or train it first:  {how_to_train(experiment, chosen)}"
        )
    attention = _attention(data, source) if experiment.attention else None
    pictures, found, notes = [experiment_figure(data)], data.as_dict(), [f"• {each}" for each in data.remarks]
    if attention is not None:
        maps, picture = attention
        pictures.append(picture)
        found["attention"] = _attention_data(maps)
        notes += [
            f"after {each.step:,} steps: {100 * each.share:.1f} % of the attention on named cells" for each in maps.maps
        ]
    sheet = Sheet(grids=(_cells(data),), notes=tuple(notes))
    return Drawn(pictures, data.stem, found, lambda footer: figure_page(data, attention, footer), sheet)


def _state_limit(source: "RunSource", where: str) -> Drawn:
    """Draw what recurrent models learned of what their state can hold, from all recorded runs of index lookup."""
    from separatrix.answer import plain
    from separatrix.site import state_limit_figure, state_limit_page
    from separatrix.training import state_limits

    found = state_limits(source)
    if found is None:
        raise SeparatrixError(
            f"no recurrent model has a recorded run of index-lookup in {where}; name other runs with --records, or "
            "train one:  separatrix train index-lookup 'LSTM-(1,64)' --length 20 --recipe strong"
        )
    shown = found.views[0]
    first = f"index-lookup, recipe {shown.recipe}, learned to {100 * shown.goal:g} %:"
    sheet = Sheet(notes=(first, *(f"• {model.in_words}" for model in shown.models)))
    pictures = [state_limit_figure(found, recipe) for recipe in found.recipes]
    return Drawn(pictures, STATE_LIMIT, plain(found), lambda footer: state_limit_page(found, footer), sheet)


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


def _cells(data: "FigureData") -> Grid:
    """Return the cells as a table, without what only the page shows."""
    from separatrix.site import HEADINGS, cell_row, headings, number_places

    left_out = {"device", "seconds", "runs", "allowed", "run", "undertrained"}
    left_out |= set() if data.paper else {"paper %", "difference"}
    shown = [number for number, heading in enumerate(HEADINGS) if heading not in left_out]
    named, right = headings(data), number_places(data)
    rows = tuple(tuple(cell_row(cell)[number] for number in shown) for cell in data.cells.values())
    title = f"{data.experiment.title}: {data.experiment.source}{'' if data.scale is None else f', scale {data.scale}'}"
    return Grid(title, tuple(named[number] for number in shown), rows, numbers=tuple(named[each] for each in right))
