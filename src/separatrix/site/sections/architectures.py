"""The architectures section: what each trainable architecture computes, how many bits it carries, what binds it.

The limits are those of ``separatrix capacity`` for a model of one layer.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from separatrix.bounds import Coverage, ModelSize, consistent_bounds, covered, floating, protocol_bounds
from separatrix.capacities import LayerDescription, ModelDescription, StatePart, attention, capacity, plain
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Results, Section
from separatrix.tasks import Task, tasks

if TYPE_CHECKING:
    from separatrix.models import Architecture

WIDTH = 64
LAYERS = 1
PRECISION = 16
ALPHABET = 64
LENGTHS = (16, 64, 256, 1024, 4096, 16384)
WIDTHS = (16, 64, 256, 1024)


@dataclass(frozen=True, kw_only=True)
class ArchitecturesSection(Section):
    """Every architecture of the catalog as a model of one layer."""

    name: str = "architectures"
    title: str = "Architectures"
    order: int = 30

    @property
    def units(self) -> int:
        """The catalog is one unit."""
        return 1

    def collect(self, advance: Advance) -> Results:
        """Describe every architecture."""
        common = {
            "width": WIDTH, "layers": LAYERS, "precision": PRECISION, "alphabet": ALPHABET, "lengths": list(LENGTHS),
            "widths": list(WIDTHS),
        }  # fmt: skip
        from separatrix.models import architectures

        rows = [_entry(each) for each in architectures().values()]
        advance(f"{len(rows)} architectures")
        return {**common, "rows": rows}

    def table(self, results: Results) -> Table | None:
        """State bits and the first impossible lookup."""
        shown = Table(
            title=f"Architectures: one layer of width {WIDTH}, {PRECISION} bits a number", title_justify="left"
        )
        shown.add_column("architecture", style="bold", no_wrap=True)
        shown.add_column("model")
        shown.add_column(f"bits at N = {LENGTHS[-1]:,}", justify="right")
        shown.add_column("index lookup impossible from N", justify="right")
        for row in results["rows"]:
            first = next((each["first_impossible"] for each in row["limits"] if each["task"] == "index-lookup"), None)
            bits = row["state_bits"][-1]["bits"]
            shown.add_row(row["name"], row["model"], f"{bits:,}", "–" if first is None else f"{first:,}")
        return shown


def _entry(entry: "Architecture") -> dict[str, Any]:
    from separatrix.models import ModelSpec

    spec = ModelSpec((entry.name,) * LAYERS, WIDTH)
    limits, reason = _limits(entry, spec.state_numbers(LENGTHS[0]))
    asked = f"parse_spec('{spec}').state_bits(1024, {PRECISION})"
    command = f'python -c "from separatrix.models import parse_spec; print({asked})"'
    return {
        "name": entry.name,
        "short": entry.short,
        "title": entry.title,
        "reference": entry.reference,
        "main_equation": entry.main_equation,
        "equations": [line.strip() for line in entry.equations.split(";") if line.strip()],
        "deviations": list(entry.deviations),
        "options": [
            {
                "name": option.name, "default": option.default, "about": option.about, "choices": list(option.choices),
            }
            for option in entry.options
        ],
        "block": entry.block,
        "recurrent": entry.recurrent,
        "linear_time": entry.linear_time,
        "class": class_of(entry),
        "model": str(spec),
        "state_bits": [
            {"length": length, "bits": spec.state_bits(length, PRECISION)} for length in LENGTHS
        ],
        "state_bits_of_widths": [
            {"width": width, "bits": [ModelSpec((entry.name,), width).state_bits(each, PRECISION) for each in LENGTHS]}
            for width in WIDTHS
        ],
        "attention_bits": [
            {"length": length, "bits": spec.attention_bits(length, PRECISION)} for length in LENGTHS
        ],
        "limits": limits,
        "reason": reason,
        "origin": Origin("proved", "for any weights", command).plain(),
    }  # fmt: skip


def class_of(entry: "Architecture") -> str | None:
    """The column of the table that a model of one such layer belongs to."""
    if entry.recurrent:
        return "rnn"
    named = {"fnn": "fnn", "third-order": "third-order", "graph-transformer": "graph-transformer"}
    return named.get(entry.name, "transformer-1layer" if entry.attention(WIDTH, entry.filled({})) else None)


def _limits(entry: "Architecture", numbers: int) -> tuple[list[dict[str, Any]], str]:
    """The first impossible length of every task that a bound speaks about, and why these bounds apply."""
    shape = entry.attention(WIDTH, entry.filled({}))
    layer: LayerDescription | None = None
    if entry.recurrent:
        state = StatePart("state", numbers, f"{numbers}")
        layer = LayerDescription(kind="recurrent", name=entry.short, width=WIDTH, state=(state,))
    elif shape is not None:
        layer = attention(WIDTH, shape.heads, shape.dimension)
    if layer is not None:
        model = ModelDescription(name=entry.short, family=entry.name, layers=(layer,))
        found = plain(capacity(model, PRECISION, alphabet=ALPHABET))
        return found["limits"], found["reason"]
    column = class_of(entry)
    bounds = protocol_bounds(model=column)
    if not bounds:
        return [], "No lower bound is known for this class; what it can do is on the pages of the tasks."
    pairs = [(bound, tasks()[task]) for bound in bounds for task in bound.task_names]
    gated = [
        (covered(bound, floating(PRECISION), task), task)
        for bound, task in pairs
        if consistent_bounds([bound], task, [])[0]
    ]
    limits = [_limit(gate, task) for gate, task in gated if gate.covered]
    return limits, f"The bounds for the class {column} apply to a layer of {WIDTH} units."


def _limit(gate: Coverage, task: Task) -> dict[str, Any]:
    bound = gate.bound
    longest = bound.longest_length(ModelSize(WIDTH, PRECISION), task)
    return {
        "task": task.name,
        "scope": "model",
        "bound": bound.name,
        "claim": bound.claim,
        "in_the_papers": not bound.extension,
        "longest": longest,
        "first_impossible": None if longest is None else max(longest + task.length_step, task.minimum_length),
        "needs": bound.in_words,
        "arithmetic": gate.arithmetic,
    }


SECTION = ArchitecturesSection()
