"""Conversations: the protocols of BHBK24 Theorems 2 and 4 run on constructed networks, for the task pages."""

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy
from rich.table import Table

from separatrix.communication import (
    ALICE,
    BOB,
    caveats,
    compare,
    condition,
    odd_even,
    one_layer_directly,
    parse_partition,
    recurrent_directly,
    run_one_layer,
    run_recurrent,
)
from separatrix.constructions import Built, Construction, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Integers, Network, RecurrentNetwork
from separatrix.site.figure import PALETTE, draw
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Results, Section
from separatrix.tasks import draws_from, to_numpy

SEED = 0
LENGTH = 16
SHOWN_BITS = 24
VERSION = "repaired"


@dataclass(frozen=True, kw_only=True)
class ProtocolsSection(Section):
    """One conversation for each construction that has a protocol."""

    name: str = "protocols"
    title: str = "Conversations"
    order: int = 17

    @property
    def units(self) -> int:
        """One for each construction."""
        return len(constructions())

    def collect(self, advance: Advance) -> Results:
        """Run what can be run, and say why for what cannot."""
        runs: dict[str, Any] = {}
        refused: dict[str, str] = {}
        for construction in constructions().values():
            try:
                runs[construction.name] = conversation(construction)
            except SeparatrixError as error:
                refused[construction.name] = str(error)
            advance(f"let Alice and Bob talk about {construction.name}")
        return {"seed": SEED, "length": LENGTH, "runs": runs, "refused": refused}

    def figures(self, results: Results) -> list[Figure]:
        """One message-sequence diagram for each conversation."""
        return [sequence_figure(name, run) for name, run in results["runs"].items()]

    def table(self, results: Results) -> Table | None:
        """Counted bits next to the claim."""
        shown = Table(title="Conversations: counted bits and the claim", title_justify="left")
        shown.add_column("network", style="bold", no_wrap=True)
        shown.add_column("theorem")
        for heading in ("messages", "bits", "claimed"):
            shown.add_column(heading, justify="right")
        for name, run in results["runs"].items():
            counted = run["transcript"]
            shown.add_row(
                name, run["theorem"], str(len(counted["messages"])), str(counted["total_bits"]),
                f"{run['claim']['formula']} = {run['claim']['bits']}",
            )  # fmt: skip
        return shown


def conversation(construction: Construction) -> dict[str, Any]:
    """The protocol of one construction on one random input; raises where there is none."""
    built = construction.build(max(LENGTH, construction.minimum_length))
    if isinstance(built.network, Network) and built.network.reads_graphs:
        raise SeparatrixError("graph attention weighs pairs of vertices, and no sum over pairs splits in two")
    row = to_numpy(built.task.sample(draws_from(SEED), 1, built.length).inputs)[0]
    run = _recurrent if isinstance(built.network, RecurrentNetwork) else _one_layer
    found = run(built, row)
    command = f"separatrix protocol {construction.name} --length {built.length} --seed {SEED}"
    return {
        "length": built.length,
        "positions": built.network.positions,
        "input": built.task.write(row.tolist(), built.length),
        **found,
        "origin": Origin("measured", "one input", command, str(built.arithmetic), SEED).plain(),
    }


def _recurrent(built: Built, row: Integers) -> dict[str, Any]:
    assert isinstance(built.network, RecurrentNetwork)
    split = parse_partition("halves", built.network.positions)
    run = run_recurrent(built.network, row, built.arithmetic, split)
    assert run.answers is not None
    return {
        "theorem": "BHBK24 Theorem 2",
        "partition": {"name": split.name, "alice": list(split.alice), "bob": list(split.bob)},
        "transcript": run.transcript.as_json(),
        "claim": {
            "formula": "m·p", "m": built.network.width, "p": built.arithmetic.precision_bits, "bits": run.formula_bits,
            "holds": run.transcript.total_bits <= run.formula_bits,
        },
        "answer": _written(built, run.answers[-1]),
        "equal": recurrent_directly(run, built.network, row, built.arithmetic).equal,
    }  # fmt: skip


def _one_layer(built: Built, row: Integers) -> dict[str, Any]:
    assert isinstance(built.network, Network)
    network = built.network
    _, read = built.task.label(row[None], built.length)
    every = network.readout.at == "every"
    position = int(numpy.nonzero(to_numpy(read)[0])[0][-1]) if every else None
    split = odd_even(network.positions)
    run = run_one_layer(network, row, built.arithmetic, split, version=VERSION, position=position)
    plan, total = run.plan, run.transcript.total_bits
    sizes, stated = compare(plan, total), condition(plan)
    return {
        "theorem": "BHBK24 Theorem 4",
        "version": plan.version.name,
        "about_version": plan.version.about,
        "partition": {"name": split.name, "alice": list(split.alice), "bob": list(split.bob)},
        "read_position": plan.position,
        "held_by": plan.holder,
        "transcript": run.transcript.as_json(),
        "claim": {
            "formula": "3m(p + log N)H", "m": sizes.width, "p": sizes.precision_bits, "bits": sizes.claimed(),
            "holds": sizes.holds(), "smallest_constant": sizes.smallest_constant(), "heads": sizes.heads,
            "rows": sizes.projection_rows, "bits_for_rows": sizes.claimed(rows=True),
            "holds_for_rows": sizes.holds(rows=True), "constant": stated.constant, "when": stated.when,
            "met": stated.met, "told": caveats(sizes, stated),
        },
        "answer": _written(built, run.answer),
        "equal": one_layer_directly(run, row).equal,
    }  # fmt: skip


def _written(built: Built, answer: Any) -> str:
    plain: Any = answer.tolist()
    return built.task.write_answer(plain if isinstance(plain, int) else tuple(plain), built.length)


def sequence_figure(name: str, run: Results) -> Figure:
    """Two life lines and an arrow for each message, with its bits."""
    messages: list[Results] = run["transcript"]["messages"]
    colours = {ALICE: PALETTE[0], BOB: PALETTE[1]}
    lanes = {ALICE: 0.0, BOB: 1.0}

    def paint(axes: Any) -> None:
        bottom = len(messages) + 0.35
        for who, held in ((ALICE, run["partition"]["alice"]), (BOB, run["partition"]["bob"])):
            x = lanes[who]
            axes.plot([x, x], [0.15, bottom], color=colours[who], linewidth=2, solid_capstyle="round")
            axes.text(x, -0.12, who, ha="center", va="bottom", fontsize=10, fontweight="bold", color=colours[who])
            axes.text(x, 0.0, f"{len(held)} positions", ha="center", va="center", fontsize=7.5, color="#555555")
        for number, message in enumerate(messages, start=1):
            start, end = lanes[message["sender"]], lanes[message["receiver"]]
            step = 0.02 if end > start else -0.02
            arrow = {"arrowstyle": "-|>", "color": colours[message["sender"]], "linewidth": 1.4}
            axes.annotate("", (end - step, number), (start + step, number), arrowprops=arrow)
            lines = textwrap.wrap(message["what"], 44)[:2]
            axes.text(0.5, number - 0.08, "\n".join(lines), ha="center", va="bottom", fontsize=7.5, linespacing=1.1)
            axes.text(0.5, number + 0.07, f"{message['length']} bits", ha="center", va="top", fontsize=7.5,
                      fontweight="bold", color=colours[message["sender"]])  # fmt: skip
        total = f"{run['transcript']['total_bits']} bits in all; answer {run['answer']}"
        axes.text(0.5, bottom + 0.18, total, ha="center", va="top", fontsize=9, fontweight="bold")
        axes.set_xlim(-0.16, 1.16)
        axes.set_ylim(bottom + 0.6, -0.5)
        axes.set_axis_off()

    caption = (
        f"{name}, N = {run['length']}: {run['theorem']} as a conversation of "
        f"{run['transcript']['total_bits']} bits, every message decoded by the other side."
    )
    return draw(f"protocol-{name}", caption, paint, 4.8, 0.62 * len(messages) + 1.1)


SECTION = ProtocolsSection()
