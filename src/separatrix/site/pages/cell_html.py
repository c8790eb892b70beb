"""The inside of a cell of the table, as the front page and the pages of tasks show it: verdict, sizes, training."""

from html import escape

from separatrix.site.pages.cells import ARGUMENT, CERTIFIED, FORMULA, NOTHING, CellNumbers, Upper
from separatrix.site.section import Results
from separatrix.site.sections.separation import SIGNS

MARK_OF = {CERTIFIED: "✓", FORMULA: "ƒ", ARGUMENT: "∴", NOTHING: ""}
WORD_OF = {CERTIFIED: "certified", FORMULA: "formula", ARGUMENT: "by a simple argument", NOTHING: ""}

UNKNOWN = "–"
"""Shown where a class has a size at other lengths and none is known at this one."""


def verdict_chip(verdict: str) -> str:
    """A verdict: its sign and its word in its colour."""
    name = verdict.replace(" ", "-")
    return f'<span class="verdict v-{name}"><span aria-hidden="true">{SIGNS[verdict]}</span> {escape(verdict)}</span>'


def training_mark(mark: Results | None) -> str:
    """The small mark for training evidence."""
    if mark is None:
        return _mark("none", "○", "no run recorded")
    if mark["undertrained"]:
        return _mark("little", f"◌ {mark['tried']}", f"undertrained up to N = {mark['tried']} ({mark['runs']} runs)")
    if mark["learned"] is None:
        return _mark("no", f"◇ {mark['tried']}", f"trained, not learned at N = {mark['tried']} ({mark['runs']} runs)")
    return _mark("yes", f"◆ {mark['learned']}", f"learned up to N = {mark['learned']} ({mark['runs']} runs)")


def _mark(kind: str, text: str, said: str) -> str:
    hidden = f'<span class="unseen"> {escape(said)}</span>'
    return f'<span class="trained {kind}" title="{escape(said)}">{text}{hidden}</span>'


def cell_inside(cell: CellNumbers, length: int, precision: int) -> str:
    """What is in a cell: verdict, best size from above with its p, a narrower one, bound from below, training."""
    upper, lower, _ = cell.at(length, precision)
    counted = any(each.text for each in cell.upper) or cell.lower
    unit = f"<span class='unit'>{cell.unit}</span>" if counted else ""
    return (
        f"{verdict_chip(cell.verdict)}<span class='numbers'>{unit}{_upper(upper, bool(counted))}{_narrower(upper)}"
        f"<span class='lower' data-lower>{f'≥ {lower}' if lower else ''}</span></span>{training_mark(cell.training)}"
    )


def own_precision(upper: Upper) -> str:
    """The p of the network that a cell shows; lower bounds have the slider's."""
    return f"p = {upper.precision}" if upper.text and upper.precision is not None else ""


def _upper(upper: Upper, counted: bool) -> str:
    shown = f"≤ {upper.text}" if upper.text else UNKNOWN if counted else ""
    return (
        f'<span class="upper" data-upper data-kind="{upper.kind}" title="{escape(upper.note, quote=True)}">{shown}'
        f'<span class="kind">{MARK_OF[upper.kind] if upper.text else ""}</span>'
        f'<span class="own">{own_precision(upper)}</span></span>'
    )


def _narrower(upper: Upper) -> str:
    """A second line: networks that save width and not size."""
    other = upper.narrower
    note = "" if other is None else escape(other.note, quote=True)
    shown = "" if other is None else f"or {other.text} with a large lookup table"
    return f'<span class="narrower" data-narrower title="{note}">{shown}</span>'


def reading_line(address: str) -> str:
    """The signs in one line, with a link to what they mean."""
    return (
        f'<p class="quiet signs"><a href="{address}">How to read it</a>: ≤ a network can, ≥ every model must '
        "(attention and FNNs: in fixed point); "
        '<span class="kind">✓</span> certified, <span class="kind">ƒ</span> the theorem’s formula, '
        '<span class="kind">∴</span> a simple argument; ◆ learned, ◇ not learned, ◌ undertrained, ○ not trained.</p>'
    )
