"""Memory against length, several models side by side, for the command line and the page."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from separatrix.capacities import ModelDescription, bytes_at
from separatrix.site.figure import draw, look
from separatrix.site.section import Figure

POWERS = range(4, 23)
"""From 16 to 4M tokens."""
TICKS = {
    power: f"{1 << power % 10} {unit}"
    for power in range(4, 60, 4)
    for place, unit in enumerate(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))
    if place == power // 10
}


LENGTHS = [1 << power for power in POWERS]
Series: TypeAlias = Mapping[str, Sequence[int]]
"""By name of a model its bytes at ``LENGTHS``."""


def memory_series(models: Sequence[ModelDescription], given: int | None = None) -> dict[str, list[int]]:
    """The bytes that a text takes at each length; ``given`` is the bits of every number, where they are given."""
    return {model.name: [bytes_at(model, length, given) for length in LENGTHS] for model in models}


def memory_figure(name: str, series: Series) -> Figure:
    """A line for each model."""

    def paint(axes: Any) -> None:
        for number, (model, sizes) in enumerate(series.items()):
            axes.plot(LENGTHS, sizes, **look(number), markersize=3.5, label=model)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks([1 << power for power in range(4, 23, 3)], ["16", "128", "1k", "8k", "64k", "512k", "4M"])
        bottom, top = axes.get_ylim()
        ticks = {1 << power: words for power, words in TICKS.items() if bottom < 1 << power < top}
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.minorticks_off()
        axes.set_xlabel("tokens of a text")
        axes.set_ylabel("bytes kept of it")
        axes.grid(alpha=0.3)
        handles = axes.get_legend_handles_labels()
        axes.figure.legend(*handles, loc="outside lower center", frameon=False, fontsize=8, ncols=3)

    names = ", ".join(list(series)[:3]) + (", …" if len(series) > 3 else "")
    return draw(name, f"What a text takes in memory against its length: {names}.", paint)
