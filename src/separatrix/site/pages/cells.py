"""A cell of the separation table in numbers: the best size from above and the largest bound at every N and p.

From the results of four sections (``separation``, ``numbers``, ``constructions``, ``frontier``) and of ``training``.
The texts that the sliders of the front page show are made here, for the whole grid, so that the page only looks them
up and a page without scripts shows the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from separatrix.site.pages.text import number
from separatrix.site.section import Results
from separatrix.table import CLASSES, circles_named

TITLES: Mapping[str, str] = dict(CLASSES.items())
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
class Narrower:
    """A certified network that is narrower than the one a cell shows, with a larger description."""

    text: str
    note: str
    command: str
    size_bits: int


@dataclass(frozen=True)
class Upper:
    """The best size from above at one length: its text, what kind of evidence, and more words.

    ``precision`` is the network's own p, ``size_bits`` its whole description, where they are known.
    """

    text: str
    kind: str
    note: str
    command: str = ""
    precision: int | None = None
    size_bits: int | None = None
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
    def of(cls, mark: Results | None) -> "Trained":
        """Return the sign of the marks that ``sections.training`` made; without any, that there are none."""
        if mark is None:
            return cls()
        tried, learned, runs = mark["tried"], mark["learned"], f"({mark['runs']} runs)"
        if mark["undertrained"]:
            return cls("little", f"◌ {tried}", f"undertrained up to N = {tried} {runs}")
        if learned is None:
            return cls("no", f"◇ {tried}", f"trained, not learned at N = {tried} {runs}")
        return cls("yes", f"◆ {learned}", f"learned up to N = {learned} {runs}")


@dataclass(frozen=True)
class CellNumbers:
    """One cell over the grid; ``lower[p][n]`` is the largest width that a bound asks for, "" where there is none."""

    task: str
    model: str
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
        """The numbers at one place of the grid, given by its indices."""
        return (
            self.upper[length],
            self.lower[precision][length] if self.lower else "",
            self.bits[length] if self.bits else None,
        )


class Grid:
    """All cells of the table."""

    def __init__(self, sections: Results) -> None:
        self._numbers = sections["numbers"]
        self._marks = sections["training"]["marks"]
        self.lengths: list[int] = self._numbers["lengths"]
        self.precisions: list[int] = self._numbers["precisions"]
        shown = self._numbers["shown"]
        self.length, self.precision = self.lengths.index(shown["length"]), self.precisions.index(shown["precision"])
        self.start = len(self.lengths) - 1
        """Where the front page's slider begins: at the largest length every separation is plain."""
        self._certified = _certified(sections)
        self._cells = {
            (row["task"], model): self._made(row["task"], model, cell["verdict"])
            for row in sections["separation"]["rows"]
            for model, cell in row["cells"].items()
        }

    def cell(self, task: str, model: str) -> CellNumbers:
        """One cell."""
        return self._cells[task, model]

    def points(self, construction: str) -> list[dict[str, Any]]:
        """The certified sizes of one construction."""
        return self._certified.get(construction, [])

    def _made(self, task: str, model: str, verdict: str) -> CellNumbers:
        found = self._numbers["cells"][task].get(model)
        mark = Trained.of(self._marks.get(task, {}).get(model))
        if found is None:
            nothing = Upper("", NOTHING, "")
            return CellNumbers(task, model, verdict, (nothing,) * len(self.lengths), (), (), mark)
        upper = tuple(self._upper(found, model, verdict, length) for length in self.lengths)
        lower, bits = _lower(found["bounds"], len(self.precisions), len(self.lengths))
        unit = WIDTH
        if model == "rnn" and not found["constructions"]:
            # A state that stores the input is counted in bits, so the bound is as well.
            unit, lower = BITS, tuple(tuple(map(number, bits)) for _ in lower)
        return CellNumbers(task, model, verdict, upper, lower, bits, mark, unit)

    def _upper(self, found: Results, model: str, verdict: str, length: int) -> Upper:
        names = [each["name"] for each in found["constructions"]]
        certified = [(each, name) for name in names for each in self.points(name) if each["length"] == length]
        built = [
            (each, name)
            for name in names
            for each in self._numbers["constructions"][name]["sizes"]
            if each["length"] == length
        ]
        if certified or built:
            return _headline(certified, built)
        facts = found["facts"]
        if names and verdict != "open":
            # Something is known that grows less than most arguments; its size at this length is not.
            facts = [fact for fact in facts if fact["growth"] == verdict]
            if not facts:
                return Upper("", NOTHING, f"{names[0]} was not built at this length")
        return _argument(facts, model, length)


Named: TypeAlias = tuple[Results, str]
"""A network's size and the name of its construction."""


def _headline(certified: Sequence[Named], built: Sequence[Named]) -> Upper:
    """What a cell shows where there are networks: the one rule for pages, dialogs, cards and the terminal.

    First the narrowest certified network whose description is no larger than that of the theorem's own; where none is
    certified at this length, the theorem's own as it was built. Networks that are narrower at the price of a larger
    description (points on circles, whose table of addresses is written out) come second, the narrowest of them.
    """
    own = {name: each for each, name in [*built, *((e, n) for e, n in certified if e["theorem"])]}
    small = [(each, name) for each, name in certified if each["theorem"] or not _larger(each, own.get(name))]
    best, name = min(small or built or certified, key=_narrowness)
    others = [pair for pair in certified if _product(pair[0]) < _product(best) and pair not in small]
    narrower = None
    if others:
        other, whose = min(others, key=_narrowness)
        narrower = Narrower(
            _size(other), f"{whose}, {other['how']}{_cost(other)}", other["command"], other["size_bits"]
        )
    if "how" in best:
        differs = not best["theorem"] and name in own
        theorem = f"; the theorem's network: {_size(own[name])}" if differs else ""
        note, kind, command = f"{name}, {best['how']}{_cost(best)}{theorem}", CERTIFIED, best["command"]
    else:
        note, kind, command = f"{name}, the theorem's size, not certified here{_cost(best)}", FORMULA, ""
    return Upper(_size(best), kind, note, command, best["precision"], best["size_bits"], narrower, _product(best))


def _narrowness(named: Named) -> tuple[int, bool, int]:
    """The order of networks: by width × heads; of equal ones the theorem's own, then the smallest description."""
    size = named[0]
    return _product(size), not size.get("theorem", False), size["size_bits"] or 0


def _larger(each: Results, own: Results | None) -> bool:
    """Whether a network's description is larger than that of the theorem's own, where both are known."""
    return own is None or own["size_bits"] is None or each["size_bits"] > own["size_bits"]


def _cost(size: Results) -> str:
    """The bits of a number and of the whole description, as far as they are known."""
    bits = f", p = {size['precision']} bits" if size["precision"] is not None else ""
    return f"{bits}, {number(size['size_bits'])} bits in all" if size["size_bits"] is not None else bits


def _certified(sections: Results) -> dict[str, list[dict[str, Any]]]:
    """Certified sizes by construction: the theorems' own, the narrowest decided here, the recorded ones."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in sections["constructions"]["constructions"]:
        for row in entry["sizes"]:
            if row["certified"]:
                found.setdefault(entry["name"], []).append({
                    "length": row["length"], "width": row["width"], "heads": row["heads"],
                    "precision": row["precision_bits"], "how": THEOREM, "theorem": True, "command": row["command"],
                    "size_bits": row["size_bits"],
                })  # fmt: skip
    frontier = sections["frontier"]
    for entry, how in _surveys(frontier):
        heads = next((each["heads"] for each in found.get(entry["construction"], [])), 1)
        found.setdefault(entry["construction"], []).extend(
            {
                "length": point["length"], "width": point["width"], "heads": heads, "precision": point["precision"],
                "how": how.format(code=point["code"]), "theorem": False,
                "command": _command(entry["construction"], point), "size_bits": point["size_bits"],
            }
            for point in entry["points"]
        )  # fmt: skip
    return found


def _command(construction: str, point: Results) -> str:
    """How to get this very network again: with points on circles by name, else by the search that found it."""
    circles = circles_named(point["code"])
    if circles is None:
        power = point["length"].bit_length() - 1
        return f"separatrix frontier {construction} --from {power} --to {power}"
    family = "circle" if circles == 1 else f"circles:{circles}"
    asked = f"--length {point['length']} --family {family} --precision {point['precision']}"
    return f"separatrix certify {construction} {asked}"


def _surveys(frontier: Results) -> Iterator[tuple[Results, str]]:
    for entry in frontier["rows"]:
        yield entry, "certified with {code} addresses"
    for entry in frontier["recorded"]:
        yield entry, "certified with {code} addresses, recorded elsewhere"


def _product(size: Results) -> int:
    return size["width"] * max(1, size["heads"] or 1)


def _size(size: Results) -> str:
    heads = size["heads"] or 1
    return f"{number(size['width'])} × {number(heads)}" if heads > 1 else number(size["width"])


def _argument(facts: list[Results], model: str, length: int) -> Upper:
    """A simple reason with its size, where that was computed."""
    if not facts:
        return Upper("", NOTHING, "")
    fact = facts[0]
    size = next((each for each in fact["sizes"] if each["length"] == length), None)
    if size is None:
        return Upper("", ARGUMENT, fact["short"])
    if model == "rnn" and size["state_bits"] is not None:
        return Upper(number(size["state_bits"]), ARGUMENT, fact["short"])
    return Upper(_size(size), ARGUMENT, f"{fact['short']}, p = {size['precision']}", precision=size["precision"])


def _lower(bounds: list[Results], precisions: int, lengths: int) -> tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]:
    if not bounds:
        return (), ()
    widths = tuple(
        tuple(number(max(bound["widths"][p][n] for bound in bounds)) for n in range(lengths)) for p in range(precisions)
    )
    return widths, tuple(max(bound["bits"][n] for bound in bounds) for n in range(lengths))
