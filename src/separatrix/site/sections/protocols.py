"""Conversations: the protocols of BHBK24 Theorems 2 and 4 run on constructed networks, for the task pages."""

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.communication import ALICE, BOB, Message, Transcript, hold_conversation, read_position
from separatrix.constructions import Built, Construction, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Network
from separatrix.site.figure import PALETTE, draw
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Section
from separatrix.tasks import draws_from, to_numpy

SEED = 0
LENGTH = 16


@dataclass(frozen=True)
class Parts:
    """A partition of the positions."""

    name: str
    alice: tuple[int, ...]
    bob: tuple[int, ...]


@dataclass(frozen=True)
class Said:
    """What was said, counted."""

    total_bits: int
    bits_from_alice: int
    bits_from_bob: int
    one_way: bool
    messages: tuple[Message, ...]

    @classmethod
    def of(cls, transcript: Transcript) -> "Said":
        """Count the bits of a transcript."""
        sides = transcript.bits_from(ALICE), transcript.bits_from(BOB)
        return cls(transcript.total_bits, *sides, transcript.one_way, transcript.messages)


@dataclass(frozen=True)
class ClaimForRows:
    """The claim of Theorem 4 with m the rows of the projections, and what is sufficient for its constant (E13)."""

    heads: int
    smallest_constant: int
    rows: int
    bits: int
    holds: bool
    constant: int
    when: str
    met: bool
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class ClaimedBits:
    """What the theorem claims for the width m at precision p."""

    formula: str
    m: int
    p: int
    bits: int
    holds: bool
    for_rows: ClaimForRows | None = None


@dataclass(frozen=True)
class Run:
    """A protocol run on one input; ``equal``: its result is the network's, bit for bit."""

    length: int
    positions: int
    input: str
    theorem: str
    partition: Parts
    transcript: Said
    claim: ClaimedBits
    answer: str
    equal: bool
    origin: Origin
    version: str = ""
    """Of Theorem 4's protocol."""


@dataclass(frozen=True)
class ProtocolsResults:
    """Conversations by construction, and why there is none for others."""

    seed: int
    length: int
    runs: Mapping[str, Run]
    refused: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ProtocolsSection(Section[ProtocolsResults]):
    """One conversation for each construction that has a protocol."""

    name: str = "protocols"
    title: str = "Conversations"
    order: int = 17
    results_type: type = ProtocolsResults
    catalog: Callable[[], Mapping[str, Any]] = constructions

    def collect(self, advance: Advance) -> ProtocolsResults:
        """Run what can be run, and say why for what cannot."""
        runs: dict[str, Run] = {}
        refused: dict[str, str] = {}
        for construction in self.entries(advance, "let Alice and Bob talk about"):
            try:
                runs[construction.name] = conversation(construction)
            except SeparatrixError as error:
                refused[construction.name] = str(error)
        return ProtocolsResults(SEED, LENGTH, runs, refused)

    def figures(self, results: ProtocolsResults) -> list[Figure]:
        """Draw one message-sequence diagram for each conversation."""
        return [sequence_figure(name, run) for name, run in results.runs.items()]


def conversation(construction: Construction) -> Run:
    """Run the protocol of one construction on one random input; raise where there is none."""
    built = construction.build(max(LENGTH, construction.minimum_length))
    network, arithmetic = built.network, built.arithmetic
    if isinstance(network, Network) and network.reads_graphs:
        raise SeparatrixError("graph attention weighs pairs of vertices, and no sum over pairs splits in two")
    row = to_numpy(built.task.sample(draws_from(SEED), 1, built.length).inputs)[0]
    position = read_position(network, built.task, row, built.length)
    found = hold_conversation(network, row, arithmetic, position=position)
    split, facts = found.partition, found.one_layer
    for_rows = None
    if facts is not None:
        sizes, stated = facts.sizes, facts.sufficient
        for_rows = ClaimForRows(
            sizes.heads, sizes.smallest_constant(), sizes.projection_rows, sizes.claimed(rows=True),
            sizes.holds(rows=True), stated.constant, stated.when, stated.met, tuple(facts.caveats),
        )  # fmt: skip
    of_width = found.claim
    claim = ClaimedBits(of_width.formula, of_width.m, of_width.p, of_width.bits, of_width.holds, for_rows)
    command = f"separatrix protocol {construction.name} --length {built.length} --seed {SEED}"
    return Run(
        built.length, network.positions, built.task.write(row.tolist(), built.length), found.theorem,
        Parts(split.name, split.alice, split.bob), Said.of(found.transcript), claim,
        _written(built, found.answer), found.equal,
        Origin("measured", "one input", command, str(arithmetic), SEED), facts.plan.version.name if facts else "",
    )  # fmt: skip


def _written(built: Built, answer: Any) -> str:
    plain: Any = answer.tolist()
    return built.task.write_answer(plain if isinstance(plain, int) else tuple(plain), built.length)


def sequence_figure(name: str, run: Run) -> Figure:
    """Return two life lines and an arrow for each message, with its bits."""
    messages = run.transcript.messages
    colours = {ALICE: PALETTE[0], BOB: PALETTE[1]}
    lanes = {ALICE: 0.0, BOB: 1.0}

    def paint(axes: Any) -> None:
        bottom = len(messages) + 0.35
        for who, held in ((ALICE, run.partition.alice), (BOB, run.partition.bob)):
            x = lanes[who]
            axes.plot([x, x], [0.15, bottom], color=colours[who], linewidth=2, solid_capstyle="round")
            axes.text(x, -0.12, who, ha="center", va="bottom", fontsize=10, fontweight="bold", color=colours[who])
            axes.text(x, 0.0, f"{len(held)} positions", ha="center", va="center", fontsize=7.5, color="#555555")
        for number, message in enumerate(messages, start=1):
            start, end = lanes[message.sender], lanes[message.receiver]
            step = 0.02 if end > start else -0.02
            arrow = {"arrowstyle": "-|>", "color": colours[message.sender], "linewidth": 1.4}
            axes.annotate("", (end - step, number), (start + step, number), arrowprops=arrow)
            lines = textwrap.wrap(message.what, 44)[:2]
            axes.text(0.5, number - 0.08, "\n".join(lines), ha="center", va="bottom", fontsize=7.5, linespacing=1.1)
            axes.text(0.5, number + 0.07, f"{message.length} bits", ha="center", va="top", fontsize=7.5,
                      fontweight="bold", color=colours[message.sender])  # fmt: skip
        total = f"{run.transcript.total_bits} bits in all; answer {run.answer}"
        axes.text(0.5, bottom + 0.18, total, ha="center", va="top", fontsize=9, fontweight="bold")
        axes.set_xlim(-0.16, 1.16)
        axes.set_ylim(bottom + 0.6, -0.5)
        axes.set_axis_off()

    caption = (
        f"{name}, N = {run.length}: {run.theorem} as a conversation of "
        f"{run.transcript.total_bits} bits, every message decoded by the other side."
    )
    return draw(f"protocol-{name}", caption, paint, 4.8, 0.62 * len(messages) + 1.1)


SECTION = ProtocolsSection()
