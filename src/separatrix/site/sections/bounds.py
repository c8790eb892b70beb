"""The lower bounds section: every bound, barrier and conjecture of the catalog, with its evidence run here and now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.bounds import NUMBERS, Bound, Evidence, Model, ProtocolBound, bounds, covered
from separatrix.site.html import render
from separatrix.site.origin import Kind, Origin
from separatrix.site.pages.cells import TITLES
from separatrix.site.section import Advance, Section

LIMIT = 5
"""Reductions are checked on all instances of up to so many bits."""
MOST_TASKS = 3
"""Tasks that the index names for one bound."""

KINDS: Mapping[str, tuple[Kind, str]] = {
    "verified": ("verified", "exactly, to the size in the text"), "proved": ("proved", "for every N"),
}  # fmt: skip
"""The badge of each kind of evidence, and how far it reaches."""


@dataclass(frozen=True)
class EvidenceRow:
    """One piece of evidence, run; ``details`` are its numbers."""

    kind: str
    text: str
    holds: bool
    details: Mapping[str, Any]
    origin: Origin


@dataclass(frozen=True)
class ProtocolRow:
    """What a bound by a protocol counts, the problem that needs it, and the arithmetics that it holds for."""

    bounded: str
    problem: str
    needs: str
    simulation: str
    paper_formula: str
    holds_for: tuple[str, ...]


@dataclass(frozen=True)
class BoundRow:
    """One entry of the catalog; a barrier or a conjecture has no protocol."""

    name: str
    kind: str
    claim: str
    statement: str
    tasks: tuple[str, ...]
    models: tuple[Model, ...]
    in_the_papers: bool
    assumptions: tuple[str, ...]
    deviations: tuple[str, ...]
    evidence: tuple[EvidenceRow, ...]
    command: str
    protocol: ProtocolRow | None
    origin: Origin

    @property
    def scope(self) -> str:
        """What the index says next to a claim: tasks and classes of models, since two claims may share a name."""
        models = ", ".join(TITLES[model] for model in self.models)
        more = ["…"] if len(self.tasks) > MOST_TASKS else []
        return f"{', '.join([*self.tasks[:MOST_TASKS], *more])} ({models})"

    @property
    def tag(self) -> str:
        """What is special about it."""
        if self.kind == "bound":
            return "" if self.in_the_papers else "not in the papers"
        return "barrier" if self.kind == "barrier" else "conjecture, open"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is said of it in a list."""
        one = self.protocol
        return [
            ("tasks", ", ".join(self.tasks)),
            ("models", ", ".join(self.models)),
            ("bounds", one.bounded if one else ""),
            ("problem", f"{one.problem}: {one.needs}" if one else ""),
            ("as in the paper", one.paper_formula if one else ""),
            ("holds for", "; ".join(one.holds_for) if one else ""),
            ("assumes", "; ".join(self.assumptions)),
            ("deviates", "; ".join(self.deviations)),
        ]


@dataclass(frozen=True)
class BoundsResults:
    """Every bound; reductions are checked on instances of up to ``limit`` bits."""

    limit: int
    rows: tuple[BoundRow, ...]


@dataclass(frozen=True, kw_only=True)
class BoundsSection(Section[BoundsResults]):
    """What every model must be at least, and why."""

    name: str = "bounds"
    title: str = "Lower bounds"
    order: int = 18
    results_type: type = BoundsResults
    catalog: Callable[[], Mapping[str, Any]] = bounds
    page: str = "bounds"
    menu: str = "Must it be big?"
    lead: str = (
        "A model that solves a task gives a protocol; the task hides a communication problem; the problem needs bits. "
        "So the model must be large enough. Each step is run: the protocol, the reduction, the fact about the problem."
    )

    def collect(self, advance: Advance) -> BoundsResults:
        """Run the evidence of every entry."""
        return BoundsResults(LIMIT, tuple(map(_entry, self.entries(advance, "evidence of"))))

    def body(self, results: BoundsResults) -> str:
        """Show an index, then one article for each bound."""
        index = [(f"bound-{row.name}", row.claim, row.scope) for row in results.rows]
        return render("bounds.html", index=index, rows=results.rows)


def _entry(bound: Bound) -> BoundRow:
    task, model = bound.task_names[0], bound.models[0]
    command = f"separatrix bound {task} --model {model} --length 64 --precision 32 --limit {LIMIT}"
    protocol = None
    if isinstance(bound, ProtocolBound):
        protocol = ProtocolRow(
            bound.quantity, bound.problem, bound.in_words, bound.simulation.theorem, bound.paper_in_words,
            tuple(_holds_for(bound)),
        )  # fmt: skip
    return BoundRow(
        bound.name, bound.kind, bound.claim, bound.statement, bound.task_names, bound.models, bound.in_the_papers,
        tuple(bound.assumptions), tuple(bound.deviations),
        tuple(_evidence(each, command) for each in bound.evidence(LIMIT)), command, protocol,
        Origin("verified", f"instances of up to {LIMIT} bits", command),
    )  # fmt: skip


def _holds_for(bound: ProtocolBound) -> list[str]:
    """Return what the formula holds for; whether it, a version of it or nothing is left in float32.

    >>> from separatrix.bounds import bounds
    >>> _holds_for(bounds()["dyck-transformer-1layer"])
    ['fixed point of p bits, sums over positions exact before they are rounded', 'not for float32']
    """
    fixed, floats = (covered(bound, NUMBERS[name]) for name in ("fixed", "float32"))
    if floats.arithmetic == fixed.arithmetic and floats.covered:
        return [fixed.arithmetic]
    left = f"with larger constants for {floats.arithmetic}" if floats.covered else "not for float32"
    return [fixed.arithmetic, left]


def _evidence(each: Evidence, command: str) -> EvidenceRow:
    kind, reach = KINDS.get(each.kind, ("printed", "cited, not run"))
    return EvidenceRow(each.kind, each.text, each.holds, each.details, Origin(kind, reach, command))


SECTION = BoundsSection()
