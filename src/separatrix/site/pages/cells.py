"""A cell of the separation table in numbers: the best size from above and the largest bound at every N and p.

From the results of four sections (``separation``, ``numbers``, ``constructions``, ``frontier``) and of ``training``.
The texts that the sliders of the front page show are made here, for the whole grid, so that the page only looks them
up and a page without scripts shows the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.bounds import Model
from separatrix.site.pages.text import number
from separatrix.table import CLASSES, circles_named

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found
    from separatrix.site.sections.frontier import FrontierPoint
    from separatrix.site.sections.numbers import BoundSizes, CellSizes, FactSizes
    from separatrix.table import Mark

TITLES: Mapping[Model, str] = CLASSES
"""The columns of the table: class of models and its title."""
WIDTH, BITS = "width", "bits of state"
"""What both numbers of a cell count: one unit, so that they can be compared."""
THEOREM = "certified as its theorem builds it"
CERTIFIED, FORMULA, ARGUMENT, NOTHING = "certified", "formula", "argument", "nothing"
MARK_OF = {CERTIFIED: "✓", FORMULA: "ƒ", ARGUMENT: "∴", NOTHING: ""}
WORD_OF = {CERTIFIED: "certified", FORMULA: "formula", ARGUMENT: "by a simple argument", NOTHING: ""}
UNKNOWN = "–"
"""Shown where a class has a size at other lengths and none is known at this one."""


@dataclass(frozen=True)
class SizedNetwork:
    """A network with a size at one length: certified, and then ``how`` and the ``command``, or built and no more.

    ``theorem`` says that a certified one is built as its theorem builds it.
    """

    construction: str
    width: int
    heads: int | None
    precision: int | None
    size_bits: int | None
    how: str = ""
    theorem: bool = False
    command: str = ""

    @property
    def product(self) -> int:
        """Width × heads."""
        return self.width * max(1, self.heads or 1)

    @property
    def text(self) -> str:
        """The width, times the heads where there are several."""
        heads = self.heads or 1
        return f"{number(self.width)} × {number(heads)}" if heads > 1 else number(self.width)

    @property
    def cost(self) -> str:
        """The bits of a number and of the whole description, as far as they are known."""
        bits = f", p = {self.precision} bits" if self.precision is not None else ""
        return f"{bits}, {number(self.size_bits)} bits in all" if self.size_bits is not None else bits

    @property
    def narrowness(self) -> tuple[int, bool, int]:
        """The order of networks: by width × heads; of equal ones the theorem's own, then the smallest description."""
        return self.product, not self.theorem, self.size_bits or 0

    def larger(self, own: "SizedNetwork | None") -> bool:
        """Return whether its description is larger than that of the theorem's own, where both are known."""
        return own is None or own.size_bits is None or self.size_bits is None or self.size_bits > own.size_bits


@dataclass(frozen=True)
class Narrower:
    """A certified network that is narrower than the one a cell shows, with a larger description."""

    text: str
    note: str
    command: str


@dataclass(frozen=True)
class Upper:
    """The best size from above at one length: its text, what kind of evidence, and more words.

    ``precision`` is the network's own p, where it is known.
    """

    text: str
    kind: str
    note: str
    command: str = ""
    precision: int | None = None
    narrower: Narrower | None = None
    size: int | None = None
    """Width × heads as a number, for plots."""

    @property
    def own_precision(self) -> str:
        """The p of the network; lower bounds have the slider's."""
        return f"p = {self.precision}" if self.text and self.precision is not None else ""


@dataclass(frozen=True)
class Trained:
    """What the recorded runs of one cell show: a kind for the style, a sign, and the same in words."""

    kind: str = "none"
    sign: str = "○"
    text: str = "no run recorded"

    @classmethod
    def of(cls, mark: "Mark | None") -> "Trained":
        """Return the sign of the marks that ``table.learned`` found; without any, that there are none."""
        if mark is None:
            return cls()
        tried, learned, runs = mark.tried, mark.learned, f"({mark.runs} runs)"
        if mark.undertrained:
            return cls("little", f"◌ {tried}", f"undertrained up to N = {tried} {runs}")
        if learned is None:
            return cls("no", f"◇ {tried}", f"trained, not learned at N = {tried} {runs}")
        return cls("yes", f"◆ {learned}", f"learned up to N = {learned} {runs}")


@dataclass(frozen=True)
class CellNumbers:
    """One cell over the grid; ``lower[p][n]`` is the largest width that a bound requires, "" where there is none."""

    task: str
    model: Model
    verdict: str
    upper: tuple[Upper, ...]
    lower: tuple[tuple[str, ...], ...]
    bits: tuple[int, ...]
    training: Trained
    unit: str = WIDTH

    @property
    def counted(self) -> bool:
        """Whether any length has a size."""
        return any(each.text for each in self.upper) or bool(self.lower)

    def at(self, length: int, precision: int) -> tuple[Upper, str, int | None]:
        """Return the numbers at one place of the grid, given by its indices."""
        return (
            self.upper[length],
            self.lower[precision][length] if self.lower else "",
            self.bits[length] if self.bits else None,
        )


class Grid:
    """All cells of the table."""

    def __init__(self, found: "Found") -> None:
        self._numbers = found.numbers
        self._marks = found.training.marks
        self.lengths, self.precisions = found.numbers.lengths, found.numbers.precisions
        shown = found.numbers.shown
        self.length, self.precision = self.lengths.index(shown.length), self.precisions.index(shown.precision)
        self.start = len(self.lengths) - 1
        """Where the front page's slider begins: at the largest length every separation is plain."""
        self._certified = _certified(found)
        self._cells = {
            (row.task, model): self._made(row.task, model, cell.verdict)
            for row in found.separation.rows
            for model, cell in row.cells.items()
        }

    def cell(self, task: str, model: Model) -> CellNumbers:
        """Return one cell."""
        return self._cells[task, model]

    def points(self, construction: str) -> "list[tuple[int, SizedNetwork]]":
        """Return the certified sizes of one construction, each with its length."""
        return self._certified.get(construction, [])

    def _made(self, task: str, model: Model, verdict: str) -> CellNumbers:
        found = self._numbers.cells[task].get(model)
        mark = Trained.of(self._marks.get(task, {}).get(model))
        if found is None:
            nothing = Upper("", NOTHING, "")
            return CellNumbers(task, model, verdict, (nothing,) * len(self.lengths), (), (), mark)
        upper = tuple(self._upper(found, model, verdict, length) for length in self.lengths)
        lower, bits = _lower(found.bounds, len(self.precisions), len(self.lengths))
        unit = WIDTH
        if model == "rnn" and not found.constructions:
            # A state that stores the input is counted in bits, so the bound is as well.
            unit, lower = BITS, tuple(tuple(map(number, bits)) for _ in lower)
        return CellNumbers(task, model, verdict, upper, lower, bits, mark, unit)

    def _upper(self, found: "CellSizes", model: Model, verdict: str, length: int) -> Upper:
        names = [each.name for each in found.constructions]
        certified = [network for name in names for at, network in self.points(name) if at == length]
        built = [
            SizedNetwork(name, each.width, each.heads, each.precision, each.size_bits)
            for name in names
            for each in self._numbers.constructions[name].sizes
            if each.length == length
        ]
        if certified or built:
            return _headline(certified, built)
        facts = found.facts
        if names and verdict != "open":
            # Something is known that grows less than most arguments; its size at this length is not.
            facts = tuple(fact for fact in facts if fact.growth == verdict)
            if not facts:
                return Upper("", NOTHING, f"{names[0]} was not built at this length")
        return _argument(facts, model, length)


def _headline(certified: Sequence[SizedNetwork], built: Sequence[SizedNetwork]) -> Upper:
    """Choose what a cell shows where there are networks: the one rule for pages, dialogs, cards and the terminal.

    First the narrowest certified network whose description is no larger than that of the theorem's own; where none is
    certified at this length, the theorem's own as it was built. Networks that are narrower at the price of a larger
    description (points on circles, whose table of addresses is written out) come second, the narrowest of them.
    """
    own = {each.construction: each for each in [*built, *(each for each in certified if each.theorem)]}
    small = [each for each in certified if each.theorem or not each.larger(own.get(each.construction))]
    best = min(small or built or certified, key=lambda each: each.narrowness)
    others = [each for each in certified if each.product < best.product and each not in small]
    narrower = None
    if others:
        other = min(others, key=lambda each: each.narrowness)
        narrower = Narrower(other.text, f"{other.construction}, {other.how}{other.cost}", other.command)
    name = best.construction
    if best.how:
        differs = not best.theorem and name in own
        theorem = f"; the theorem's network: {own[name].text}" if differs else ""
        note, kind = f"{name}, {best.how}{best.cost}{theorem}", CERTIFIED
    else:
        note, kind = f"{name}, the theorem's size, not certified here{best.cost}", FORMULA
    return Upper(best.text, kind, note, best.command, best.precision, narrower, best.product)


def _certified(found: "Found") -> dict[str, list[tuple[int, SizedNetwork]]]:
    """Return certified sizes by construction: the theorems' own, the narrowest decided here, the recorded ones."""
    sizes: dict[str, list[tuple[int, SizedNetwork]]] = {}
    for entry in found.constructions.constructions:
        for row in entry.sizes:
            if row.certified:
                network = SizedNetwork(
                    entry.name, row.width, row.heads, row.precision_bits, row.size_bits, THEOREM, True, row.command
                )
                sizes.setdefault(entry.name, []).append((row.length, network))
    decided, recorded = "certified with {} addresses", "certified with {} addresses, recorded elsewhere"
    surveys = [*((each, decided) for each in found.frontier.rows), *((e, recorded) for e in found.frontier.recorded)]
    for survey, how in surveys:
        known = sizes.setdefault(survey.construction, [])
        heads = known[0][1].heads if known else 1
        for point in survey.points:
            command = _command(survey.construction, point)
            network = SizedNetwork(
                survey.construction, point.width, heads, point.precision, point.size_bits, how.format(point.code),
                command=command,
            )  # fmt: skip
            known.append((point.length, network))
    return sizes


def _command(construction: str, point: "FrontierPoint") -> str:
    """Return how to get this very network again: with points on circles by name, else by the search that found it."""
    circles = circles_named(point.code)
    if circles is None:
        power = point.length.bit_length() - 1
        return f"separatrix frontier {construction} --from {power} --to {power}"
    family = "circle" if circles == 1 else f"circles:{circles}"
    return f"separatrix certify {construction} --length {point.length} --family {family} --precision {point.precision}"


def _argument(facts: "Sequence[FactSizes]", model: Model, length: int) -> Upper:
    """Return a simple reason with its size, where that was computed."""
    if not facts:
        return Upper("", NOTHING, "")
    fact = facts[0]
    size = next((each for each in fact.sizes if each.length == length), None)
    if size is None:
        return Upper("", ARGUMENT, fact.short)
    if model == "rnn" and size.state_bits is not None:
        return Upper(number(size.state_bits), ARGUMENT, fact.short)
    text = SizedNetwork("", size.width, size.heads, size.precision, None).text
    return Upper(text, ARGUMENT, f"{fact.short}, p = {size.precision}", precision=size.precision)


def _lower(
    bounds: "Sequence[BoundSizes]", precisions: int, lengths: int
) -> tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]:
    if not bounds:
        return (), ()
    widths = tuple(
        tuple(number(max(bound.widths[p][n] for bound in bounds)) for n in range(lengths)) for p in range(precisions)
    )
    return widths, tuple(max(bound.bits[n] for bound in bounds) for n in range(lengths))
