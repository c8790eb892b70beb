"""Bounds, protocols and real models: what pages say next to the blocks that the tests run."""

import re

from tools.pages import ROOT, Section, Sentence, Table, markdown_table, recorded

from separatrix.bounds import FIXED, protocol_bounds
from separatrix.capacities import Capacity, capacity, describe
from separatrix.communication.facts import LARGEST_BY_RANK, LARGEST_BY_ROWS
from separatrix.communication.partition import odd_even
from separatrix.communication.protocols import VERSIONS, compare, run_one_layer
from separatrix.constructions import constructions
from separatrix.constructions.theorems.dyck_float import DyckFloat
from separatrix.table.attempts import TRIED, Outcome, attempts
from separatrix.table.errata import errata
from separatrix.tasks import draws_from, tasks

SLIDES = {
    "bert-large": ("BERT (large)", 512, 1024),
    "gpt2": ("GPT-2", 1024, 768),
    "gpt3": ("GPT-3", 2048, 128),
}
"""SHT23's table: the model's name, N and m as the slides have them; the rest is in the presets."""
SLIDE_PRECISION = 16
PRECISION = 32


def _fixed(preset: str) -> Capacity:
    """A preset in the arithmetic of the theorems, at the bits of the papers' examples."""
    return capacity(describe(preset), SLIDE_PRECISION, arithmetic=FIXED)


def slide_table() -> str:
    """Where one layer of the slides' models meets the bounds."""
    rows: list[list[object]] = []
    for preset, (name, length, slides) in SLIDES.items():
        layer = describe(preset).layers[0]
        first = {limit.task: limit.first_impossible for limit in _fixed(preset).limits}
        sizes = [length, layer.count, layer.heads, slides, layer.head_width]
        rows.append([name, *sizes, f"{first['dyck']:,}", f"{first['match3']:,}"])
    headings = ("model", "N", "L", "H", "m in the slides", "m of a head", "Dyck-(2,2) from", "triple matching from")
    return markdown_table(headings, rows)


def slide_sizes() -> list[object]:
    """Erratum E25: m and H of the slides, by how much Hm is too large, and m of a head."""
    layers = [describe(preset).layers[0] for preset in SLIDES]
    slides = [m for _, _, m in SLIDES.values()]
    heads = [layer.heads for layer in layers]
    widths = [layer.head_width for layer in layers]
    assert [layer.width for layer in layers][:2] == slides[:2]
    assert widths[2] == slides[2]
    return [*slides, *heads, *heads[:2], *widths]


def protocol_table() -> str:
    """Counted bits of Theorem 4's versions on the network of Theorem 1."""
    rows: list[list[object]] = []
    for length in (16, 64, 256):
        built = constructions()["index-lookup"].build(length)
        row = built.task.sample(draws_from(0), 1, length).inputs[0]
        split = odd_even(built.network.positions)
        runs = [run_one_layer(built.network, row, built.arithmetic, split, version=version) for version in VERSIONS]
        found = [compare(run.plan, run.transcript.total_bits) for run in runs]
        bits = [f"{each.bits}" + ("" if each.holds(rows=True) else r"\*") for each in found]
        rows.append([split.positions, *bits, found[0].claimed(), found[0].claimed(rows=True)])
    shown = [version.replace("-", " ") for version in VERSIONS]
    return markdown_table(["index-lookup, positions", *shown, "claim", "by rows"], rows, left=0)


def sharp_case() -> list[str]:
    """The counted and the claimed bits of the network with m = d = 3, from the table of the page."""
    text = (ROOT / "docs/protocols.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| full, Kc = 2 \| 16 \| 18 \| 1 \| 3 \| 3 \|(.*)\|$", text, re.MULTILINE)
    cells = [cell.strip().rstrip("\\*") for cell in row.split("|")]
    return [cells[1], cells[5]]


def facts_table() -> str:
    """What was found about the facts at their largest n."""
    reports = {(each["fact"], each["n"]): each["found"] for each in recorded("facts")["reports"]}
    n, most = LARGEST_BY_RANK, LARGEST_BY_ROWS
    found = {fact: {method: number for method, number, _ in reports[fact, n]} for fact in (1, 2, 3, 4)}
    bits = {fact: [bits for _, _, bits in reports[fact, n]] for fact in (1, 2, 3, 4)}
    rank, other, disjoint = found[1].values()
    equal, *pairs = found[2].values()
    (rows,), (many,) = found[3].values(), [number for _, number, _ in reports[3, most]]
    assert set(found[4].values()) == {disjoint, *pairs}
    return markdown_table(
        ["fact", "problem", f"found at n = {n}", "bits"],
        [
            [1, "DISJ", f"rank {rank} (1 for disjoint sets) and {other} (1 for sets that meet); the {disjoint} pairs "
             "of a set and its complement are a fooling set", max(bits[1])],
            [2, "EQ", f"rank {equal}; the {pairs[0]} equal pairs are a fooling set, each half unique in both "
             "directions", max(bits[2])],
            [3, "INDEX, one way", f"{rows} different rows (to n = {most}: {many:,})", max(bits[3])],
            [4, "fooling sets", "those of DISJ and EQ", max(bits[4])],
        ],
        left=3,
    )  # fmt: skip


def lookup_numbers(length: int) -> int:
    """How many numbers of 32 bits index lookup over 64 symbols asks of a recurrent model."""
    (bound,) = [each for each in protocol_bounds() if each.name == "index-lookup-alphabet-rnn"]
    width = bound.smallest_width(length, PRECISION)
    assert width is not None
    return width


def symbols() -> int:
    """The symbols of index lookup."""
    return int(tasks()["index-lookup"].parameters()["alphabet"])


def errata_index() -> str:
    """Every erratum by its number, with what it is about, as the atlas has them."""
    found = sorted(errata().values(), key=lambda each: each.number)
    return "\n".join(f"- [{each.name}](#{each.name.lower()}) ({each.source}): {each.title}" for each in found)


def attempts_table() -> str:
    """Every bound in every arithmetic: what it asks for and what the narrowest network found has."""
    rows: dict[str, list[object]] = {}
    for each in attempts():
        below = each.outcome is Outcome.BELOW
        assert not (below and each.verdict)
        told = f"asked {each.asked:,}, found {each.found:,}"
        told = f"**below**: {told}" if below else told
        named = f" ({each.how})" if each.how == "dyck-float" else ""
        silent = "" if each.verdict else "; no verdict"
        rows.setdefault(each.bound, [f"`{each.bound}`"]).append(f"{told}{named}{silent}")
    headings = ["bound", "fixed point, down", "fixed point, nearest", "float32", "bfloat16", "exact rationals"]
    return markdown_table(headings, rows.values(), left=6)


PARTS = (
    Section("docs/errata.md", "index", errata_index),
    Section("docs/bounds.md", "attempts", attempts_table),
    Sentence(
        "docs/bounds.md",
        "N = {} and p = {}; N = {} and p = {} in bfloat16, in which running sums count to {}",
        lambda: [*TRIED["float32"], *TRIED["bfloat16"], DyckFloat(format="bfloat16").wall],
    ),
    Sentence(
        "docs/bounds.md",
        "decide it, with {} bits at any length",
        lambda: [each.required_bits(PRECISION, tasks()["eq-one"]) for each in protocol_bounds("eq-one", "rnn")],
    ),
    Table("docs/bounds.md", protocol_table, "| index-lookup, positions |"),
    Table("docs/bounds.md", facts_table, "| fact | problem |"),
    Sentence("docs/protocols.md", "the repaired protocol takes {} bits where {} are claimed", sharp_case),
    Sentence("docs/profile.md", "(matrices of {} × {})", lambda: [2**LARGEST_BY_RANK] * 2),
    Table("docs/capacity.md", slide_table, "| model | N | L | H |"),
    Sentence(
        "docs/capacity.md",
        "with its window of {} in every layer",
        lambda: [(describe("mistral-7b-v0.1").layers[0].window or 0) + 1],
    ),
    Sentence("docs/capacity.md", "({:,} positions for Mistral)", lambda: [describe("mistral-7b-v0.1").reach]),
    Sentence(
        "docs/capacity.md",
        "one layer with {} numbers of {} bits meets Theorem 3 at lengths over {}k (preset `rnn-1-128`)",
        lambda: [
            describe("rnn-1-128").state_numbers,
            64,
            (describe("rnn-1-128").state_numbers or 0) * 64 // 1024,
        ],
    ),
    Sentence("docs/capacity.md", "in fixed point of {} bits, this is where", lambda: [SLIDE_PRECISION]),
    Sentence(
        "docs/errata.md",
        "m = {}, {} and {} for BERT, GPT-2 and GPT-3, with H = {}, {} and {}. *Found:* the slides' m is the width of "
        "one attention unit; the first two are the width d = Hm of the model, the third is the width of a head, so "
        "that Hm would be {} and {} times too large. *Repair:* m = {}, {} and {}",
        slide_sizes,
    ),
    Sentence(
        "docs/tutorial.md",
        "still close: {} numbers for {} symbols, against a width of {}",
        lambda: [lookup_numbers(256), symbols(), constructions()["index-lookup"].build(256).network.width],
    ),
    Sentence(
        "docs/tutorial.md",
        "any recurrent model needs {:,} numbers of {} bits",
        lambda: [lookup_numbers(1 << 20), PRECISION],
    ),
    Sentence(
        "docs/how-to/own-architecture.md",
        "Its state of {} numbers of {} bits cannot hold 400 symbols of an alphabet of {}",
        lambda: [2 * 32, PRECISION, symbols()],
    ),
    Sentence("docs/how-to/own-architecture.md", "asks for {} such numbers", lambda: [lookup_numbers(400)]),
)
