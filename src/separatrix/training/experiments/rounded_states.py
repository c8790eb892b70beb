"""The measured bits of trained states, read back: ``state-bits-SCALE.json`` next to the runs that it was measured on.

``tools.gpu_figures`` writes the file after training (``state_bits_data`` measures), because the weights are large and
stay where they were trained. It holds the best run that each cell had then.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file

if TYPE_CHECKING:
    from separatrix.training.experiments.figure_data import FigureCell

LARGEST_FILE = 1 << 26
REMEDY = "write it again with  python -m tools.gpu_figures state-bits"


@dataclass(frozen=True)
class RoundedState:
    """What rounding does to one trained model: ``numbers`` m of its state, the least ``bits`` p for each that suffice
    (None: even the most tried did not), measured on so many ``examples``."""

    model: str
    length: int
    numbers: int
    bits: int | None
    examples: int

    @property
    def bits_for_each_position(self) -> float | None:
        """m·p/N, which BHBK24 Theorem 3 bounds from below by a constant."""
        return None if self.bits is None else self.numbers * self.bits / self.length


def rounded_states(folders: Iterable[Path], scale: str) -> dict[tuple[str, str], RoundedState]:
    """Return by model and length, as a figure names its cells, from every folder that has the file.

    >>> rounded_states([Path("no/such/folder")], "reduced")
    {}
    """
    found: dict[tuple[str, str], RoundedState] = {}
    for folder in dict.fromkeys(folders):
        path = folder / f"state-bits-{scale}.json"
        if path.is_file():
            found.update(((each.model, str(each.length)), each) for each in _read(path))
    return found


def _read(path: Path) -> Sequence[RoundedState]:
    try:
        return [_one(each) for each in parse_json(read_file(path, LARGEST_FILE, REMEDY))]
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(f"{path} is not a whole file of rounded states ({str(error)[:80]}); {REMEDY}") from error


def _one(plain: Any) -> RoundedState:
    report = plain["report"]
    made = RoundedState(report["model"], report["length"], report["state_numbers"], plain["bits"], report["examples"])
    whole = (made.length, made.numbers, made.examples, *(() if made.bits is None else (made.bits,)))
    if not isinstance(made.model, str) or any(type(each) is not int or each < 1 for each in whole):
        raise ValueError(f"the entry of {str(made.model)[:20]!r}")
    return made


def rounding_remarks(cells: "Sequence[FigureCell]", rounded: Mapping[tuple[str, str], RoundedState]) -> Iterable[str]:
    """Return the remarks of a figure on what rounding the states of its models does."""
    measured = [(cell, rounded[cell.row, cell.column]) for cell in cells if (cell.row, cell.column) in rounded]
    if not measured:
        return
    rows: dict[str, list[str]] = {}
    for cell, state in measured:
        rows.setdefault(cell.row, []).append(f"{'more' if state.bits is None else state.bits} at {cell.column}")
    needed = "; ".join(f"{row} {', '.join(bits)}" for row, bits in rows.items())
    examples = min(state.examples for _, state in measured)
    yield f"Bits p of each number of the state with which at most one point of accuracy is lost: {needed}."
    shares = [state.bits_for_each_position for _, state in measured if state.bits_for_each_position is not None]
    if shares:
        yield (
            f"With m numbers in the state, m·p/N is {min(shares):,.1f} to {max(shares):,.1f}; Theorem 3 bounds it from "
            "below by a constant that it does not name."
        )
    yield (
        f"The bits were measured on {examples} examples, where one point is within chance (a standard error is up to "
        f"{100 * sqrt(0.25 / examples):.1f} points), and they say little of a model that has not learned the task."
    )
