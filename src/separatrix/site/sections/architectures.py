"""The architectures section: what each trainable architecture computes, how many bits it carries, what binds it.

The limits are those of ``separatrix capacity`` for a model of one layer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.bounds import Coverage, Model, ModelSize, consistent_bounds, covered, floating, protocol_bounds
from separatrix.capacities import (
    LayerDescription,
    LimitRecord,
    ModelDescription,
    StatePart,
    attention,
    capacity,
    capacity_record,
)
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Section
from separatrix.tasks import Task, tasks

if TYPE_CHECKING:
    from separatrix.models import Architecture

WIDTH = 64
LAYERS = 1
PRECISION = 16
ALPHABET = 64
LENGTHS = (16, 64, 256, 1024, 4096, 16384)
WIDTHS = (16, 64, 256, 1024)
COLUMNS: Mapping[str, Model] = {"fnn": "fnn", "third-order": "third-order", "graph-transformer": "graph-transformer"}
"""The columns of architectures that have one of their own."""


@dataclass(frozen=True)
class OptionRow:
    """An option of an architecture."""

    name: str
    default: str | int | float
    about: str
    choices: tuple[str | int | float, ...]


@dataclass(frozen=True)
class BitsAt:
    """Bits at one length; None where there are none to count."""

    length: int
    bits: int | None


@dataclass(frozen=True)
class BitsOfWidth:
    """Bits of a layer of one width at each length."""

    width: int
    bits: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ArchitectureRow:
    """One architecture as a model of one layer; ``column`` is its class in the table."""

    name: str
    short: str
    title: str
    reference: str
    main_equation: int
    equations: tuple[str, ...]
    deviations: tuple[str, ...]
    options: tuple[OptionRow, ...]
    block: str
    recurrent: bool
    linear_time: bool
    column: Model | None
    model: str
    state_bits: tuple[BitsAt, ...]
    state_bits_of_widths: tuple[BitsOfWidth, ...]
    attention_bits: tuple[BitsAt, ...]
    limits: tuple[LimitRecord, ...]
    reason: str
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class ArchitecturesResults:
    """Every architecture at the same sizes."""

    width: int = WIDTH
    layers: int = LAYERS
    precision: int = PRECISION
    alphabet: int = ALPHABET
    lengths: tuple[int, ...] = LENGTHS
    widths: tuple[int, ...] = WIDTHS
    rows: tuple[ArchitectureRow, ...]


@dataclass(frozen=True, kw_only=True)
class ArchitecturesSection(Section[ArchitecturesResults]):
    """Every architecture of the catalog as a model of one layer."""

    name: str = "architectures"
    title: str = "Architectures"
    order: int = 30
    results_type: type = ArchitecturesResults

    def collect(self, advance: Advance) -> ArchitecturesResults:
        """Describe every architecture."""
        from separatrix.models import architectures

        rows = tuple(_entry(each) for each in architectures().values())
        advance(f"{len(rows)} architectures")
        return ArchitecturesResults(rows=rows)


def _entry(entry: "Architecture") -> ArchitectureRow:
    from separatrix.models import ModelSpec

    spec = ModelSpec((entry.name,) * LAYERS, WIDTH)
    limits, reason = _limits(entry, spec.state_numbers(LENGTHS[0]))
    asked = f"parse_spec('{spec}').state_bits(1024, {PRECISION})"
    command = f'python -c "from separatrix.models import parse_spec; print({asked})"'
    return ArchitectureRow(
        name=entry.name, short=entry.short, title=entry.title, reference=entry.reference,
        main_equation=entry.main_equation,
        equations=tuple(line.strip() for line in entry.equations.split(";") if line.strip()),
        deviations=tuple(entry.deviations),
        options=tuple(
            OptionRow(option.name, option.default, option.about, tuple(option.choices)) for option in entry.options
        ),
        block=entry.block, recurrent=entry.recurrent, linear_time=entry.linear_time, column=column_of(entry),
        model=str(spec),
        state_bits=tuple(BitsAt(length, spec.state_bits(length, PRECISION)) for length in LENGTHS),
        state_bits_of_widths=tuple(
            BitsOfWidth(
                width, tuple(ModelSpec((entry.name,), width).state_bits(each, PRECISION) for each in LENGTHS)
            )
            for width in WIDTHS
        ),
        attention_bits=tuple(BitsAt(length, spec.attention_bits(length, PRECISION)) for length in LENGTHS),
        limits=limits, reason=reason, origin=Origin("proved", "for any weights", command),
    )  # fmt: skip


def column_of(entry: "Architecture") -> Model | None:
    """Return the column of the table that a model of one such layer belongs to."""
    if entry.recurrent:
        return "rnn"
    attends = entry.attention(WIDTH, entry.filled({}))
    return COLUMNS.get(entry.name) or ("transformer-1layer" if attends else None)


def _limits(entry: "Architecture", numbers: int) -> tuple[tuple[LimitRecord, ...], str]:
    """Return the first impossible length of every task that a bound speaks about, and why these bounds apply."""
    shape = entry.attention(WIDTH, entry.filled({}))
    layer: LayerDescription | None = None
    if entry.recurrent:
        state = StatePart("state", numbers, f"{numbers}")
        layer = LayerDescription(kind="recurrent", name=entry.short, width=WIDTH, state=(state,))
    elif shape is not None:
        layer = attention(WIDTH, shape.heads, shape.dimension)
    if layer is not None:
        model = ModelDescription(name=entry.short, family=entry.name, layers=(layer,))
        found = capacity_record(capacity(model, PRECISION, alphabet=ALPHABET))
        return found.limits, found.reason
    column = column_of(entry)
    bounds = protocol_bounds(model=column)
    if column is None or not bounds:
        return (), "No lower bound is known for this class; what it can do is on the pages of the tasks."
    pairs = [(bound, tasks()[task]) for bound in bounds for task in bound.task_names]
    gated = [
        (covered(bound, floating(PRECISION), task), task)
        for bound, task in pairs
        if consistent_bounds([bound], task, [])[0]
    ]
    limits = tuple(_limit(column, gate, task) for gate, task in gated if gate.covered)
    return limits, f"The bounds for the class {column} apply to a layer of {WIDTH} units."


def _limit(column: str, gate: Coverage, task: Task) -> LimitRecord:
    bound = gate.bound
    longest = bound.longest_length(ModelSize(WIDTH, PRECISION), task)
    first = None if longest is None else max(longest + task.length_step, task.minimum_length)
    return LimitRecord(
        task.name, task.parameters(), "model", None, column, bound.name, bound.claim, bound.in_the_papers, None,
        bound.in_words, gate.arithmetic, longest, first, None, None, None, None,
    )  # fmt: skip


SECTION = ArchitecturesSection()
