"""Measured times: docs/benchmarks.md, docs/construction-sizes.md and what other pages take from them."""

from collections.abc import Callable, Iterator

from tools import gpu_tables, measure_explorer, measure_pages, size_tables
from tools.pages import RECORDS, Part, Section, Sentence, Table, Whole, markdown_table, recorded

from benchmarks.__main__ import QUICK, text_from_record
from benchmarks.constructions import SYMBOLS


def quick_costs() -> str:
    """What the experiments cost at their quick scale."""
    seconds = recorded("quick-costs")["seconds"]
    return markdown_table(seconds, [[f"{each:.0f}" for each in seconds.values()]], left=len(seconds))


def profile_times() -> list[object]:
    """Bits, seconds and gigabytes of three profiles."""
    record = recorded("profile-times")
    found = record["predicates"].values()
    most = max(each["gigabytes"] for each in found)
    return [record["length"], record["length"], *(round(each["cpu_seconds"]) for each in found), most]


def copied(number: int) -> Callable[[], str]:
    """A measured table that docs/constructions.md shows too."""
    return lambda: size_tables.shared()[number]


def gpu_speeds() -> Iterator[Part]:
    """The table of docs/gpu-notes.md, once rows were kept."""
    if (RECORDS / gpu_tables.RECORD).exists():
        yield Section("docs/gpu-notes.md", gpu_tables.SECTION, gpu_tables.kept)


def sizes() -> Iterator[Part]:
    """The tables of docs/constructions.md."""
    for number, table in enumerate(size_tables.shared()):
        yield Table("docs/constructions.md", copied(number), table.splitlines()[0])


PARTS = (
    Whole("docs/benchmarks.md", lambda: text_from_record(*QUICK)),
    Whole("docs/construction-sizes.md", lambda: text_from_record("constructions")),
    Whole("docs/frontier.md", lambda: text_from_record("frontier")),
    Section("docs/training.md", "benchmark training", lambda: text_from_record("training")),
    Section("docs/training.md", "benchmark peers", lambda: text_from_record("peers")),
    Table("docs/explorer.md", lambda: measure_explorer.table(recorded(measure_explorer.RECORD)), "| slider at N = "),
    Table("docs/training.md", quick_costs, f"| {measure_pages.QUICK[0]} | {measure_pages.QUICK[1]} |"),
    Sentence(
        "docs/profile.md",
        "A predicate on {} bits that takes arrays is profiled at all lengths up to {}, in {} s of processor time for "
        "majority, {} s for equality and {} s for a random function, the slowest case, with {} GB at most",
        profile_times,
    ),
    Sentence("docs/constructions.md", "Looking up by the last token over {} symbols", lambda: [SYMBOLS]),
    Sentence("docs/constructions.md", "Theorem 1 over {} symbols at N = 4096", lambda: [SYMBOLS]),
    *sizes(),
    *gpu_speeds(),
)
