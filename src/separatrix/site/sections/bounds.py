"""The lower bounds section: every bound, barrier and conjecture of the catalog, with its evidence run here and now."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.bounds import NUMBERS, Bound, ProtocolBound, bounds, covered
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.pages.cells import TITLES
from separatrix.site.section import Advance, Results, Section

LIMIT = 5
"""Reductions are checked on all instances of up to so many bits."""
MOST_TASKS = 3
"""Tasks that the index names for one bound."""


@dataclass(frozen=True, kw_only=True)
class BoundsSection(Section):
    """What every model must be at least, and why."""

    name: str = "bounds"
    title: str = "Lower bounds"
    order: int = 18
    page: str = "bounds"
    menu: str = "Must it be big?"
    lead: str = (
        "A model that solves a task gives a protocol; the task hides a communication problem; the problem needs bits. "
        "So the model must be large enough. Each step is run: the protocol, the reduction, the fact about the problem."
    )

    @property
    def units(self) -> int:
        """One for each bound."""
        return len(bounds())

    def collect(self, advance: Advance) -> Results:
        """Run the evidence of every entry."""
        entries: list[dict[str, Any]] = []
        for bound in bounds().values():
            entries.append(_entry(bound))
            advance(f"evidence of {bound.name}")
        return {"limit": LIMIT, "rows": entries}

    def body(self, results: Results) -> str:
        """An index, then one article for each bound."""
        index = [(f"bound-{row['name']}", row["claim"], _scope(row)) for row in results["rows"]]
        shown = [(row, _kind(row), _facts(row), _origin(row)) for row in results["rows"]]
        return render("bounds.html", index=index, shown=shown)

    def table(self, results: Results) -> Table:
        """Name, claim and how far it was verified."""
        shown = Table(title=f"{len(results['rows'])} lower bounds, barriers and conjectures", title_justify="left")
        shown.add_column("bound", style="bold", no_wrap=True)
        shown.add_column("claim")
        shown.add_column("evidence")
        for entry in results["rows"]:
            kinds = [each["kind"] for each in entry["evidence"]]
            counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
            shown.add_row(entry["name"], entry["claim"], counts)
        return shown


def _scope(row: Results) -> str:
    """What the index says next to a claim: tasks and classes of models, since claims of two classes may share a name.

    >>> _scope({"tasks": ["dnf"], "models": ["rnn", "fnn"]})
    'dnf (any RNN, FNN)'
    """
    models = ", ".join(TITLES[model] for model in row["models"])
    tasks = [*row["tasks"][:MOST_TASKS], *(["…"] if len(row["tasks"]) > MOST_TASKS else [])]
    return f"{', '.join(tasks)} ({models})"


def _entry(bound: Bound) -> dict[str, Any]:
    task, model = bound.task_names[0], bound.models[0]
    command = f"separatrix bound {task} --model {model} --length 64 --precision 32 --limit {LIMIT}"
    found: dict[str, Any] = {
        "name": bound.name,
        "kind": bound.kind,
        "claim": bound.claim,
        "statement": bound.statement,
        "tasks": list(bound.task_names),
        "models": list(bound.models),
        "in_the_papers": not bound.extension,
        "assumptions": list(bound.assumptions),
        "deviations": list(bound.deviations),
        "evidence": [_evidence(each.described(), command) for each in bound.evidence(LIMIT)],
        "command": command,
    }
    if isinstance(bound, ProtocolBound):
        found |= {
            "bounded": bound.quantity,
            "problem": bound.problem,
            "needs": bound.in_words,
            "simulation": bound.simulation.theorem,
            "paper_formula": bound.paper_in_words or None,
            "holds_for": _holds_for(bound),
        }
    return found


def _holds_for(bound: ProtocolBound) -> list[str]:
    """What the formula holds for; whether it, a version of it or nothing is left in float32.

    >>> from separatrix.bounds import bounds
    >>> _holds_for(bounds()["dyck-transformer-1layer"])
    ['fixed point of p bits, sums over positions exact before they are rounded', 'not for float32']
    """
    fixed, floats = (covered(bound, NUMBERS[name]) for name in ("fixed", "float32"))
    if floats.arithmetic == fixed.arithmetic and floats.covered:
        return [fixed.arithmetic]
    left = f"with larger constants for {floats.arithmetic}" if floats.covered else "not for float32"
    return [fixed.arithmetic, left]


def _evidence(described: dict[str, Any], command: str) -> dict[str, Any]:
    kind = "verified" if described["kind"] == "verified" else "proved" if described["kind"] == "proved" else "printed"
    reach = {"verified": "exactly, to the size in the text", "proved": "for every N", "printed": "cited, not run"}[kind]
    return {**described, "origin": Origin(kind, reach, command).plain()}


def _kind(entry: Results) -> str:
    if entry["kind"] == "bound":
        return "" if entry["in_the_papers"] else "not in the papers"
    return "barrier" if entry["kind"] == "barrier" else "conjecture, open"


def _facts(entry: Results) -> list[tuple[str, str]]:
    return [
        ("tasks", ", ".join(entry["tasks"])),
        ("models", ", ".join(entry["models"])),
        ("bounds", entry.get("bounded", "")),
        ("problem", f"{entry['problem']}: {entry['needs']}" if "problem" in entry else ""),
        ("as in the paper", entry.get("paper_formula") or ""),
        ("holds for", "; ".join(entry.get("holds_for", ()))),
        ("assumes", "; ".join(entry["assumptions"])),
        ("deviates", "; ".join(entry["deviations"])),
    ]


def _origin(entry: Results) -> Origin:
    return Origin("verified", f"instances of up to {LIMIT} bits", entry["command"])


SECTION = BoundsSection()
