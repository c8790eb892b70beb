"""The real-models section: presets against the bounds, each part of a state with the bits that it has."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.capacities import Preset, capacity, plain, presets
from separatrix.site.figure import draw, look
from separatrix.site.html import render
from separatrix.site.interactive import SCRIPT, drawn
from separatrix.site.memory_figure import memory_figure, memory_plot, memory_series
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Results, Section

ALPHABET = 64
TASKS = ("index-lookup", "associative-recall", "mqar", "inequality", "sparse-averaging")
"""Tasks of the table: one for each bound of the papers on recurrent models."""
ONE_LAYER = ("dyck", "match3")
"""Further tasks of the folds, for one attention layer by itself."""
SIDE_BY_SIDE = (
    "llama-3-8b", "mistral-7b-v0.1", "deepseek-v4-flash", "qwen3-next-80b-a3b", "olmo-hybrid-7b", "jamba-v0.1",
    "recurrentgemma-9b", "mamba-2.8b",
)  # fmt: skip
"""Presets whose memory is drawn: caches, windows, hybrids, states."""


@dataclass(frozen=True, kw_only=True)
class CapacitySection(Section):
    """State bits of published models and the first length at which each task is impossible for any weights."""

    name: str = "capacity"
    title: str = "Real models"
    order: int = 40
    page: str = "real-models"
    menu: str = "Must it be big?"
    lead: str = (
        "Published models against the bounds: how many bits each hands from token to token, and the first "
        "length at which a task is impossible for any weights."
    )

    @property
    def units(self) -> int:
        """One for each preset."""
        return len(presets())

    def collect(self, advance: Advance) -> Results:
        """Every preset, in the formats of its config and of the code that runs it."""
        rows: list[dict[str, Any]] = []
        for preset in presets().values():
            rows.append(_row(preset))
            advance(f"capacity of {preset.name}")
        shown = memory_series([presets()[name].describe() for name in SIDE_BY_SIDE])
        return {"alphabet": ALPHABET, "tasks_shown": list(TASKS), "rows": rows, "memory_against_length": shown}

    def figures(self, results: Results) -> list[Figure]:
        """Memory against length, and the first impossible length of index lookup."""
        bounded = [row for row in results["rows"] if row["state_bits"] is not None]
        bounded.sort(key=lambda row: row["first_impossible"]["index-lookup"])

        def paint(axes: Any) -> None:
            kinds = sorted({_kind(row) for row in bounded})
            for number, kind in enumerate(kinds):
                places = [place for place, row in enumerate(bounded) if _kind(row) == kind]
                lengths = [bounded[place]["first_impossible"]["index-lookup"] for place in places]
                axes.plot(lengths, places, **{**look(number), "linestyle": "none"}, label=kind)
            axes.set_yticks(range(len(bounded)), [row["model"] for row in bounded], fontsize=7)
            axes.set_xscale("log")
            axes.set_xlabel("first impossible N")
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, fontsize=8)

        caption = (
            "Models of bounded memory: right of its mark, no weights let a model look up every position of every text "
            f"over {ALPHABET} symbols."
        )
        origin = Origin("proved", "for any weights, by the bounds", bounded[-1]["command"]).plain()
        series = results["memory_against_length"]
        counted = Origin("measured", "bytes of the arrays that the code of each keeps", _command(series)).plain()
        return [
            memory_figure("capacity-memory", series).with_origin(counted),
            draw("capacity-lengths", caption, paint, height=7.0).with_origin(origin),
        ]

    def body(self, results: Results) -> str:
        """A table of all presets, those that a bound binds first, then a fold for each."""
        shown, models = results["tasks_shown"], sorted(results["rows"], key=lambda row: row["state_bits"] is None)
        rows = [(row["model"], _bits(row), *(_first(row, task) for task in shown)) for row in models]
        return render(
            "real-models.html", headings=("model", "state bits", *shown), alphabet=results["alphabet"],
            rows=rows, links=[f"#capacity-{row['model']}" for row in models],
            folds=[(row, _facts(row), _limits(row)) for row in models],
            plot=drawn([memory_plot(results["memory_against_length"])], source=f"assets/{SCRIPT}"),
        )  # fmt: skip

    def table(self, results: Results) -> Table:
        """State bits and two tasks for the terminal."""
        title = f"{len(results['rows'])} models: first impossible length"
        shown = Table(title=title, title_justify="left")
        shown.add_column("model", style="bold", no_wrap=True)
        for heading in ("state bits", f"index-lookup ({results['alphabet']})", "mqar"):
            shown.add_column(heading, justify="right")
        for row in results["rows"]:
            shown.add_row(row["model"], _bits(row), _first(row, "index-lookup"), _first(row, "mqar"))
        return shown


def _row(preset: Preset) -> dict[str, Any]:
    found = capacity(preset.describe(), alphabet=ALPHABET, only=(*TASKS, *ONE_LAYER))
    row = plain(found)
    first: dict[str, int | None] = {}
    for limit in found.limits:
        if limit.scope == "model" and limit.first_impossible is not None:
            held = first.get(limit.task)
            first[limit.task] = limit.first_impossible if held is None else min(held, limit.first_impossible)
    row["first_impossible"] = first
    row["layers_text"] = ", ".join(f"{layer.count} × {layer.name}" for layer in found.model.layers)
    row["command"] = f"separatrix capacity {preset.name} --alphabet {ALPHABET}"
    return row


def _command(series: Results) -> str:
    return f"separatrix capacity {' '.join(series)} --plot memory.svg"


def _kind(row: Results) -> str:
    return " and ".join(layer["name"] for layer in row["layers"])


def _bits(row: Results) -> str:
    return "grows" if row["state_bits"] is None else f"{row['state_bits']:,}"


def _first(row: Results, task: str) -> str:
    found = row["first_impossible"].get(task)
    return "—" if found is None else f"{found:,}"


def _facts(row: Results) -> list[tuple[str, str]]:
    return [
        ("source", row["source"]),
        ("numbers kept", "; ".join(_kept(layer) for layer in row["layers"])),
        ("bits of a number", "; ".join(dict.fromkeys(_formats(row)))),
        ("bounds", row["reason"]),
        ("again", row["command"]),
        ("note", " ".join(row["notes"])),
    ]


def _limits(row: Results) -> list[tuple[str, ...]]:
    return [
        (
            limit["task"], limit["scope"], _number(limit["first_impossible"]), limit["needs"], limit["claim"],
            limit["arithmetic"],
        )
        for limit in row["limits"]
    ]  # fmt: skip


def _kept(layer: Results) -> str:
    if layer["state_numbers"] is None:
        return f"{layer['count']} × {layer['name']} (H = {layer['heads']}, m = {layer['head_width']}): grows"
    formula = " + ".join(part["formula"] for part in layer["state"])
    return f"{layer['count']} × {layer['name']}: {formula} = {layer['state_numbers']:,}"


def _formats(row: Results) -> list[str]:
    """The bits of each part of the state, or of the model's own numbers where nothing is kept."""
    parts = [part for layer in row["layers"] for part in layer["state"]]
    if not parts:
        return [f"{row['precision_bits']} ({row['precision_from']})"]
    return [f"{part['name']} {part['bits_of_a_number']} ({part['because']})" for part in parts]


def _number(value: int | None) -> str:
    return "never" if value is None else f"{value:,}"


SECTION = CapacitySection()
