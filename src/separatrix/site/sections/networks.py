"""What constructed networks do on one input: the input, the answers and the attention weights, for the task pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.constructions import Built, Construction, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Integers, evaluate
from separatrix.site.figure import draw
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Section
from separatrix.table import attention_maps, position_labels
from separatrix.tasks import Task, draws_from, to_numpy

SEED = 0
LENGTHS = (12, 16)
"""The first of these that a construction takes is shown."""
TRIED = 32
"""Among so many random inputs the first with an answer other than 0 is shown."""
LEAST = 0.005
"""Smaller weights are not said when a reader points at them."""
MAPS = 4
"""A network of many heads shows the first of them."""


@dataclass(frozen=True)
class ShownMap:
    """The weights of one head (see :class:`separatrix.table.AttentionMap`), rounded to five digits."""

    kind: str
    title: str
    query: int | None
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ShownNetwork:
    """One construction on one input; ``right``: its answers at the positions ``asked`` are the task's."""

    construction: str
    task: str
    length: int
    layers: int
    heads: int
    width: int
    input: str
    labels: tuple[str, ...]
    asked: tuple[int, ...]
    answers: tuple[str, ...]
    right: bool
    maps: tuple[ShownMap, ...]
    maps_left_out: int
    origin: Origin


@dataclass(frozen=True)
class NetworksResults:
    """Every construction on one input, by name."""

    seed: int
    networks: Mapping[str, ShownNetwork]


@dataclass(frozen=True, kw_only=True)
class NetworksSection(Section[NetworksResults]):
    """Every construction at a short length, run on one input."""

    name: str = "networks"
    title: str = "Constructed networks at work"
    order: int = 16
    results_type: type = NetworksResults
    catalog: Callable[[], Mapping[str, Any]] = constructions

    def collect(self, advance: Advance) -> NetworksResults:
        """Run every construction on one input and keep its attention."""
        return NetworksResults(SEED, {each.name: shown_network(each) for each in self.entries(advance, "ran")})

    def figures(self, results: NetworksResults) -> list[Figure]:
        """Draw one for each network."""
        return [attention_figure(name, entry) for name, entry in results.networks.items()]


def shown_network(construction: Construction) -> ShownNetwork:
    """Run one construction on one input: text, labels of positions, answers, maps."""
    built = _built(construction)
    task, length, network = built.task, built.length, built.network
    row, asked, answers = _example(task, length)
    query = next((place for place, answer in zip(asked, answers, strict=True) if answer), asked[-1])
    maps = attention_maps(network, row, built.arithmetic, query)
    found = evaluate(network, row[None], built.arithmetic).answers[0]
    given = [found[place if network.readout.at == "every" else 0] for place in asked]
    matrix = [[int(each) for each in numpy.ravel(answer)] for answer in given]
    expected = [[answer] if isinstance(answer, int) else list(answer) for answer in answers]
    command = f"separatrix certify {construction.name} --length {length}"
    return ShownNetwork(
        construction.name, task.name, length, network.depth, network.heads, network.width,
        input=task.write(row.tolist(), length),
        labels=tuple(position_labels(task, row.tolist(), length)),
        asked=tuple(asked),
        answers=tuple(task.write_answer(answer, length) for answer in answers),
        right=matrix == expected,
        maps=tuple(
            ShownMap(each.kind, each.title, each.query, tuple(map(tuple, each.weights.round(5).tolist())))
            for each in maps[:MAPS]
        ),
        maps_left_out=len(maps[MAPS:]),
        origin=Origin("measured", "one input", command, str(built.arithmetic), SEED),
    )  # fmt: skip


def _built(construction: Construction) -> Built:
    for length in LENGTHS:
        try:
            return construction.build(length)
        except SeparatrixError:
            continue
    return construction.build(construction.minimum_length)


def _example(task: Task, length: int) -> tuple[Integers, list[int], list[Any]]:
    """Return an input, the positions at which it is read, and the right answers there."""
    examples = task.sample(draws_from(SEED), TRIED, length)
    rows = [number for number in range(TRIED) if bool(to_numpy(examples.targets[number])[examples.read[number]].any())]
    number = rows[0] if rows else 0
    row = numpy.array(task.trim(examples.inputs[number], length), dtype=numpy.int64)
    answers = task.answers(examples, number, length)
    asked = [place for place, answer in enumerate(answers) if answer is not None]
    return row, asked, [answer for answer in answers if answer is not None]


def attention_figure(name: str, entry: ShownNetwork) -> Figure:
    """Return the maps of one network side by side; no colour is weight 0, full colour weight 1 (a state's largest)."""
    maps = entry.maps
    across = min(2, len(maps))
    down = -(-len(maps) // across)
    states = maps[0].kind == "states"

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        places = figure.subplots(down, across, squeeze=False).flatten()
        for place, one in zip(places, maps, strict=False):
            _paint_map(place, one, entry.labels)
        for place in places[len(maps) :]:
            place.set_visible(False)

    what = "the state after each symbol" if states else "attention weights"
    caption = f"{name} at N = {entry.length} on one input: {what}."
    width, height = (5.6, 2.6) if states else (5.6, 2.9 * down) if across == 2 else (4.4, 3.9)
    return draw(f"attention-{name}", caption, paint, width, height)


def _paint_map(axes: Any, one: ShownMap, labels: Sequence[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap  # type: ignore[import-untyped]

    # From nothing to full colour, so that weight 0 is the page's own ground in light and dark.
    colours: Any = LinearSegmentedColormap.from_list("weight", [(0.0, 0.447, 0.698, 0.0), (0.0, 0.447, 0.698, 1.0)])
    weights = numpy.array(one.weights)
    largest = float(numpy.abs(weights).max())
    full = max(1.0, largest) if one.kind == "states" else 1.0
    # The square root of a weight, so that the small weights of an average over all positions can be seen.
    shown = numpy.sqrt(numpy.abs(weights) / full)
    axes.imshow(shown, cmap=colours, vmin=0.0, vmax=1.0, interpolation="nearest", aspect="auto")
    size = 7 if len(labels) <= 14 else 5
    axes.set_xticks(range(weights.shape[1]), labels if weights.shape[1] == len(labels) else None, fontsize=size)
    axes.tick_params(axis="x", labelrotation=90 if max(map(len, labels)) > 2 else 0)
    if one.kind == "states":
        axes.set_yticks(range(weights.shape[0]), [str(number + 1) for number in range(weights.shape[0])], fontsize=size)
        axes.set_ylabel("number of the state", fontsize=8)
        axes.set_xlabel("after this symbol", fontsize=8)
    else:
        axes.set_yticks(range(weights.shape[0]), labels, fontsize=size)
        first, second = ("query", "key") if one.kind == "keys" else ("first of the pair", "second")
        axes.set_ylabel(first, fontsize=8)
        axes.set_xlabel(second, fontsize=8)
    names = [
        list(labels) if size == len(labels) else [str(place + 1) for place in range(size)] for size in weights.shape
    ]
    sentence = f"{axes.get_ylabel()} {{}} ({{}}), {axes.get_xlabel()} {{}} ({{}}): {{}}"
    axes.said = [
        (sentence, column, row,
         (f"{row + 1}", names[0][row], f"{column + 1}", names[1][column], f"{weights[row, column]:.3g}"))
        for row, column in zip(*numpy.nonzero(numpy.abs(weights) > LEAST), strict=True)
    ]  # fmt: skip
    asking = "" if one.query is None else f"query at position {one.query + 1}"
    title = ", ".join(part for part in (one.title, asking) if part)
    axes.set_title(f"{title}{': ' if title else ''}largest {largest:.2f}", fontsize=8)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_color("#b0b0b0")
    axes.set_facecolor("none")


SECTION = NetworksSection()
