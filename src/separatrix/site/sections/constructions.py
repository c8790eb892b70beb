"""The constructions section: every theorem's network at quick sizes, certified here and now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.certificates import shown_count
from separatrix.constructions import Construction, constructions
from separatrix.site.figure import draw, plot_named
from separatrix.site.html import table as html_table
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, Section
from separatrix.table import Checked, checked

POWERS = tuple(range(4, 11))
SLOW = 10.0
"""Seconds of processor time after which a construction is not built larger: for those of the user's."""


@dataclass(frozen=True)
class CheckedSize:
    """One network of a construction, built and checked at one length."""

    length: int
    layers: int
    heads: int
    width: int
    precision_bits: int
    size_bits: int
    certified: bool
    inputs_covered: str
    method: str
    reason: str
    command: str
    seconds: float


@dataclass(frozen=True)
class ConstructionEntry:
    """What a theorem says, where its network deviates, and the sizes that were checked."""

    name: str
    title: str
    theorem: str
    statement: str
    deviations: tuple[str, ...]
    task: str
    arithmetic: str
    sizes: tuple[CheckedSize, ...]


@dataclass(frozen=True)
class ConstructionsResults:
    """Every construction."""

    constructions: tuple[ConstructionEntry, ...]


@dataclass(frozen=True, kw_only=True)
class ConstructionsSection(Section[ConstructionsResults]):
    """Certified width against N for every theorem."""

    name: str = "constructions"
    title: str = "Constructions"
    order: int = 15
    results_type: type = ConstructionsResults
    catalog: Callable[[], Mapping[str, Any]] = constructions
    page: str = "constructions"
    menu: str = "Can it?"
    lead: str = (
        "Each theorem as a network with explicit weights, built at several lengths and certified on every "
        "input of that length by a checker that shares no code with the builder."
    )

    def collect(self, advance: Advance) -> ConstructionsResults:
        """Build and certify every construction, as large as quick scale allows."""
        return ConstructionsResults(tuple(map(_entry, self.entries(advance, "certified"))))

    def figures(self, results: ConstructionsResults) -> list[Figure]:
        """Draw the certified width against N."""

        def paint(axes: Any) -> None:
            plot_named(
                axes,
                (
                    (entry.name, [(row.length, row.width) for row in entry.sizes if row.certified])
                    for entry in results.constructions
                ),
                fontsize=7.5,
            )
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_xlabel("length N")
            axes.set_ylabel("certified width")
            axes.grid(alpha=0.3)

        caption = "Width of networks that are proved right on every input of length N."
        command = results.constructions[0].sizes[-1].command
        arithmetics = "; ".join(dict.fromkeys(entry.arithmetic for entry in results.constructions))
        origin = Origin("proved", "all inputs of each length", command, arithmetics)
        return [draw("construction-widths", caption, paint, 6.6, 5.2).with_origin(origin)]

    def body(self, results: ConstructionsResults) -> str:
        """Return what each theorem says and the sizes certified."""
        headings = ("construction", "theorem", "statement", "deviations")
        about = [(e.name, e.theorem, e.statement, "; ".join(e.deviations)) for e in results.constructions]
        sizes = [
            (
                e.name, r.length, r.layers, r.heads, r.width, r.precision_bits, r.size_bits,
                shown_count(r.inputs_covered), r.method, r.seconds, r.command,
            )
            for e in results.constructions
            for r in e.sizes
        ]  # fmt: skip
        columns = (
            "construction", "N", "layers", "heads", "width", "p", "bits", "inputs covered", "method", "seconds",
            "command",
        )  # fmt: skip
        from markupsafe import Markup

        checked = html_table(columns, sizes, numbers=(1, 2, 3, 4, 5, 6, 9), commands=(10,))
        fold = "<details><summary>The {} networks that were built and checked for this page</summary>{}</details>"
        return html_table(headings, about) + Markup(fold).format(len(sizes), Markup(checked))


def _entry(construction: Construction) -> ConstructionEntry:
    sizes: list[CheckedSize] = []
    for power in POWERS:
        if 2**power > (construction.longest_certified or 2**power):
            break
        one = checked(construction.name, 2**power)
        if one is None:
            continue
        if not (one.verdict.valid or one.verdict.refuted or one.verdict.suspected):
            break  # beyond what the checker decides, such as sums of more than 62 bits
        sizes.append(_row(construction.name, 2**power, one))
        if one.seconds > SLOW or not one.verdict.valid:
            break
    return ConstructionEntry(
        construction.name, construction.title, construction.theorem, construction.statement,
        tuple(construction.deviations), construction.task_name, construction.arithmetic_in_words, tuple(sizes),
    )  # fmt: skip


def _row(name: str, length: int, one: Checked) -> CheckedSize:
    return CheckedSize(
        length,
        **one.counted,
        certified=one.verdict.valid,
        inputs_covered=one.verdict.inputs_covered,
        method=one.verdict.method,
        reason=one.verdict.reason,
        command=f"separatrix certify {name} --length {length}",
        seconds=round(one.seconds, 2),
    )


SECTION = ConstructionsSection()
