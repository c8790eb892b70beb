"""The real-models section: presets against the bounds, each part of a state with the bits that it has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.capacities import CapacityRecord, LayerRecord, Preset, capacity, capacity_record, presets
from separatrix.site.figure import draw, look
from separatrix.site.html import render
from separatrix.site.interactive import SCRIPT, drawn
from separatrix.site.memory_figure import memory_figure, memory_plot, memory_series
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Section

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
class PresetRow(CapacityRecord):
    """A published model: its capacity, and by task the first length that is impossible for the whole model."""

    first_impossible: Mapping[str, int]
    layers_text: str
    command: str

    @property
    def kinds(self) -> str:
        """The kinds of its layers."""
        return " and ".join(layer.name for layer in self.layers)

    @property
    def bits(self) -> str:
        """The bits of its state."""
        return "grows" if self.state_bits is None else f"{self.state_bits:,}"

    def first(self, task: str) -> str:
        """Write the first impossible length of a task."""
        found = self.first_impossible.get(task)
        return "—" if found is None else f"{found:,}"


@dataclass(frozen=True)
class CapacityResults:
    """All presets; some of them with the bytes of a text at each length."""

    alphabet: int
    tasks_shown: tuple[str, ...]
    rows: tuple[PresetRow, ...]
    memory_against_length: Mapping[str, Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class CapacitySection(Section[CapacityResults]):
    """State bits of published models and the first length at which each task is impossible for any weights."""

    name: str = "capacity"
    title: str = "Real models"
    order: int = 40
    results_type: type = CapacityResults
    catalog: Callable[[], Mapping[str, Any]] = presets
    page: str = "real-models"
    menu: str = "Must it be big?"
    lead: str = (
        "Published models against the bounds: how many bits each passes from token to token, and the first "
        "length at which a task is impossible for any weights."
    )

    def collect(self, advance: Advance) -> CapacityResults:
        """Describe every preset, in the formats of its config and of the code that runs it."""
        rows = tuple(map(_row, self.entries(advance, "capacity of")))
        shown = memory_series([presets()[name].describe() for name in SIDE_BY_SIDE])
        return CapacityResults(ALPHABET, TASKS, rows, shown)

    def figures(self, results: CapacityResults) -> list[Figure]:
        """Draw memory against length, and the first impossible length of index lookup."""
        bounded = [row for row in results.rows if row.state_bits is not None]
        bounded.sort(key=lambda row: row.first_impossible["index-lookup"])

        def paint(axes: Any) -> None:
            kinds = sorted({row.kinds for row in bounded}, key=str.lower)
            for number, kind in enumerate(kinds):
                places = [place for place, row in enumerate(bounded) if row.kinds == kind]
                lengths = [bounded[place].first_impossible["index-lookup"] for place in places]
                axes.plot(lengths, places, **{**look(number), "linestyle": "none"}, label=kind)
            axes.set_yticks(range(len(bounded)), [row.model for row in bounded], fontsize=7)
            axes.set_xscale("log")
            axes.set_xlabel("first impossible N")
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, fontsize=8)

        caption = (
            "Models of bounded memory: right of its mark, no weights let a model look up every position of every text "
            f"over {ALPHABET} symbols."
        )
        origin = Origin("proved", "for any weights, by the bounds", bounded[-1].command)
        series = results.memory_against_length
        command = f"separatrix capacity {' '.join(series)} --plot memory.svg"
        counted = Origin("measured", "bytes of the arrays that the code of each keeps", command)
        return [
            memory_figure("capacity-memory", series).with_origin(counted),
            draw("capacity-lengths", caption, paint, height=7.0).with_origin(origin),
        ]

    def body(self, results: CapacityResults) -> str:
        """Show a table of all presets, those that a bound binds first, then a fold for each."""
        (first, *others), models = results.tasks_shown, sorted(results.rows, key=lambda row: row.state_bits is None)
        bounded = [row for row in models if row.state_bits is not None]
        # The first impossible lengths of one task next to the names, where a phone shows them.
        return render(
            "real-models.html", headings=("model", first, "state bits", *others), alphabet=results.alphabet,
            rows=[(row.model, row.first(first), row.bits, *map(row.first, others)) for row in bounded],
            links=[f"#capacity-{row.model}" for row in bounded],
            growing=[(row.model, f"#capacity-{row.model}") for row in models if row.state_bits is None],
            folds=[(row, _facts(row), _limits(row)) for row in models],
            plot=drawn([memory_plot(results.memory_against_length)], source=f"assets/{SCRIPT}"),
        )  # fmt: skip


def _row(preset: Preset) -> PresetRow:
    found = capacity(preset.describe(), alphabet=ALPHABET, only=(*TASKS, *ONE_LAYER))
    first: dict[str, int] = {}
    for limit in found.limits:
        if limit.scope == "model" and limit.first_impossible is not None:
            first[limit.task] = min(limit.first_impossible, first.get(limit.task, limit.first_impossible))
    return PresetRow(
        **vars(capacity_record(found)),
        first_impossible=first,
        layers_text=", ".join(f"{layer.count} × {layer.name}" for layer in found.model.layers),
        command=f"separatrix capacity {preset.name} --alphabet {ALPHABET}",
    )


def _facts(row: PresetRow) -> list[tuple[str, str]]:
    return [
        ("source", row.source),
        ("numbers kept", "; ".join(map(_kept, row.layers))),
        ("bits of a number", "; ".join(dict.fromkeys(_formats(row)))),
        ("bounds", row.reason),
        ("again", row.command),
        ("note", " ".join(row.notes)),
    ]


def _limits(row: PresetRow) -> list[tuple[str, ...]]:
    return [
        (
            limit.task, limit.scope, "never" if limit.first_impossible is None else f"{limit.first_impossible:,}",
            limit.needs, limit.claim, limit.arithmetic,
        )
        for limit in row.limits
    ]  # fmt: skip


def _kept(layer: LayerRecord) -> str:
    if layer.shared or layer.uncached:
        return f"{layer.count} × {layer.name}: {'the cache of an earlier layer' if layer.shared else 'nothing'}"
    if layer.state_numbers is None:
        return f"{layer.count} × {layer.name} (H = {layer.heads}, m = {layer.head_width}): grows"
    formula = " + ".join(part.formula for part in layer.state)
    return f"{layer.count} × {layer.name}: {formula} = {layer.state_numbers:,}"


def _formats(row: PresetRow) -> list[str]:
    """Return the bits of each part of the state, or of the model's own numbers where nothing is kept."""
    parts = [part for layer in row.layers for part in layer.state]
    if not parts:
        return [f"{row.precision_bits} ({row.precision_from})"]
    return [f"{part.name} {part.bits_of_a_number} ({part.because})" for part in parts]


SECTION = CapacitySection()
