"""The measured table of docs/protocols.md, run again."""

from pathlib import Path

import numpy
import pytest

from separatrix.arithmetic import FixedPoint
from separatrix.communication.partition import odd_even
from separatrix.communication.protocols import compare, run_one_layer
from separatrix.constructions import constructions
from separatrix.tasks import draws_from
from tests.communication.protocol_cases import random_network

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocols.md"
HEADING = (
    "| network | N | p | H | d | m | as-written | repaired | exact | queries | token | claim | by rows |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)
CONSTRUCTIONS = [
    ("index-lookup", 16), ("index-lookup", 64), ("index-lookup", 256), ("index-lookup", 1024), ("match2", 16),
    ("match2-code", 16), ("match2-code", 64), ("match3-heads", 8), ("match3-local", 16), ("sparse-averaging", 16),
]  # fmt: skip
FULL = [
    (16, 2, 3, 1), (16, 2, 4, 1), (16, 2, 8, 1), (16, 2, 8, 4), (16, 1, 8, 1), (16, 3, 8, 1), (256, 2, 8, 1),
    (1024, 2, 16, 2),
]  # fmt: skip
COLUMNS = [("as-written", "rounded"), ("repaired", "rounded"), ("repaired", "exact"), ("queries", "rounded"),
           ("token", "rounded")]  # fmt: skip


def row(name, network, arithmetic, cells, position=None) -> str:
    """One line of the table, from runs."""
    shown = []
    for version, products in COLUMNS:
        if version == "token" and network.features:
            shown.append("–")
            continue
        run = run_one_layer(
            network, cells, arithmetic, odd_even(network.positions), version=version, products=products,
            position=position,
        )  # fmt: skip
        found = compare(run.plan, run.transcript.total_bits)
        mark = "" if found.holds(rows=True) else r"\*" if found.holds() else r"\*\*"
        shown.append(f"{found.bits}{mark}")
    sizes = [found.positions, found.precision_bits, found.heads, found.stream_width, found.projection_rows]
    return f"| {' | '.join(map(str, [name, *sizes, *shown, found.claimed(), found.claimed(rows=True)]))} |"


def construction_row(name, length) -> str:
    built = constructions()[name].build(length)
    batch = built.task.sample(draws_from(0), 1, length)
    position = int(numpy.nonzero(numpy.asarray(batch.read)[0])[0][-1])
    return row(name, built.network, built.arithmetic, numpy.asarray(batch.inputs)[0], position)


def full_row(positions, exponent, m, heads) -> str:
    network = random_network(
        0, positions=positions, width=m * heads, inner=m, value=m, heads=heads, residual=False, after=False
    )
    tokens = numpy.random.default_rng(0).integers(0, 3, positions)
    name = f"full, Kc = {exponent}"
    return row(name, network, FixedPoint(positions, exponent), tokens)


def lines() -> list[str]:
    """The whole table."""
    return [*HEADING, *[full_row(*each) for each in FULL], *[construction_row(*each) for each in CONSTRUCTIONS]]


@pytest.mark.parametrize("sizes", FULL, ids=str)
def test_full_networks(sizes):
    assert full_row(*sizes) in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("name", "length"), CONSTRUCTIONS)
def test_constructions(name, length):
    assert construction_row(name, length) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_table_has_no_other_rows():
    shown = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.count("|") == HEADING[0].count("|")]
    assert len(shown) == len(HEADING) + len(FULL) + len(CONSTRUCTIONS)
    assert tuple(shown[:2]) == HEADING
