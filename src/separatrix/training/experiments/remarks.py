"""What a figure must say about itself: missing cells, fewer steps than the paper's, large differences, models that have
diverged or learned nothing, the cost."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from separatrix.training.experiments.experiment import Experiment
from separatrix.training.experiments.rounded_states import RoundedState, rounding_remarks
from separatrix.training.record import OPEN_ENDED, Record
from separatrix.training.undertrained import ERRORS, RULE, at_chance

if TYPE_CHECKING:
    from separatrix.training.experiments.figure_data import FigureCell

NOTABLE = 10.0
"""Cells that differ from the paper by more points than this are named one by one."""
UNEQUAL = 2
"""Models side by side whose steps differ by this factor are reported."""


def remarks(
    experiment: Experiment,
    scale: str | None,
    cells: "Sequence[FigureCell]",
    beside_paper: bool,
    most: int,
    rounded: Mapping[tuple[str, str], RoundedState],
) -> Iterable[str]:
    """Write sentences for people; ``beside_paper`` says whether the paper has a table, ``most`` how many steps it
    allows, ``rounded`` what is known of the states of the runs."""
    recorded = [cell for cell in cells if cell.record is not None]
    yield f"{'' if scale is None else f'Scale {scale}: '}{len(recorded)} of {len(cells)} cells have a record."
    if missing := missing_note(experiment, scale, cells):
        yield missing
    if beside_paper:
        shared = sum(cell.paper is not None for cell in cells)
        if shared < len(cells):
            yield f"{shared} of {len(cells)} cells have a model and a length that are in the paper's table."
    short = [cell for cell in recorded if cell.record and cell.record.spec.steps < most and not _perfect(cell)]
    if short and experiment.replicates:
        budgets = sorted({cell.record.spec.steps for cell in short if cell.record})
        spans = f"{budgets[0]:,}" if len(budgets) == 1 else f"{budgets[0]:,} to {budgets[-1]:,}"
        yield f"{len(short)} cells did not reach the goal with {spans} steps; the paper allows {most:,}."
    yield from _unequal(recorded)
    if pale := [cell for cell in recorded if cell.undertrained]:
        yield f"{len(pale)} of {len(recorded)} recorded cells are undertrained (*): {RULE}."
    far = [cell for cell in recorded if cell.deviation is not None and abs(cell.deviation) > NOTABLE]
    if far:
        names = ", ".join(f"{cell.row} at {cell.column} ({cell.deviation:+.1f})" for cell in far)
        yield f"More than {NOTABLE:g} points from the paper: {names}."
        yield from _reasons(far, most)
    elif worse := [cell for cell in recorded if _below_words(cell, experiment)]:
        names = ", ".join(f"{cell.row} at {cell.column} ({cell.accuracy:.1f})" for cell in worse)
        yield f"The paper calls these near-perfect; ours are more than {NOTABLE:g} points lower: {names}."
        yield from _reasons(worse, most)
    elif any(cell.deviation is not None for cell in recorded):
        yield f"No cell differs from the paper by more than {NOTABLE:g} points."
    if lost := diverged(cells):
        yield f"Diverged at every learning rate tried, so the accuracy means nothing: {_named(lost)}."
    idle = [cell for cell in recorded if cell.record and at_chance(cell.record)]
    if idle:
        yield (
            f"Not shown to be better than the majority baseline (within {ERRORS:g} standard errors): "
            f"{_listed(idle, cells, experiment)}."
        )
    yield from rounding_remarks(recorded, rounded)
    if recorded:
        yield _cost([cell.record for cell in recorded if cell.record])
    if experiment.note:
        yield experiment.note


def missing_note(experiment: Experiment, scale: str | None, cells: "Sequence[FigureCell]") -> str:
    """Name the cells without a record and how to train them; empty where every cell has one."""
    missing = [cell for cell in cells if cell.record is None]
    if not missing:
        return ""
    return f"No record: {_listed(missing, cells, experiment)}. Train with: {how_to_train(experiment, scale)}"


def diverged(cells: "Iterable[FigureCell]") -> "list[FigureCell]":
    """Return cells whose best run diverged, as it does only where all did
    (:func:`~separatrix.training.record.best_of`)."""
    return [cell for cell in cells if cell.record is not None and cell.record.result.ending == "diverged"]


def diverged_note(cells: "Iterable[FigureCell]") -> str:
    """Return the cells that diverged, for those who see a picture alone; empty where none did."""
    lost = diverged(cells)
    return f"Diverged, so the accuracy means nothing: {_named(lost)}." if lost else ""


def _reasons(far: "Sequence[FigureCell]", most: int) -> Iterable[str]:
    """Return why cells lie far from the paper's, as far as their runs tell."""
    short = [cell for cell in far if cell.record and cell.record.result.ending == "steps" and _steps(cell) < most]
    longer = [cell for cell in short if cell.longer]
    plain = [cell for cell in short if not cell.longer]
    given_up = [cell for cell in far if cell.record and cell.record.result.ending in OPEN_ENDED]
    rising, flat, unclear = ([cell for cell in plain if cell.rising is each] for each in (True, False, None))
    if rising:
        yield f"Of these, still rising at the end of training: {_named(rising)}. More steps may help."
    if longer:
        yield f"Of these, no better in a run with more steps: {_named(longer)}."
    if flat:
        yield (
            f"Of these, level at the end of training: {_named(flat)}. Runs that learn late and unsuitable learning "
            "rates both look like this; with these steps the two cannot be distinguished."
        )
    if unclear:
        yield f"Of these, with curves too short to tell whether they were rising: {_named(unclear)}."
    if given_up:
        yield f"Of these, stopped in favour of another learning rate, which ended lower: {_named(given_up)}."
    other = [cell for cell in far if cell not in short and cell not in given_up]
    if other:
        yield f"Of these, not because of too few steps: {_named(other)}."


def _unequal(recorded: "Sequence[FigureCell]") -> Iterable[str]:
    """Return where models side by side had different budgets: the column with the largest difference."""
    columns: dict[str, list[FigureCell]] = {}
    for cell in recorded:
        columns.setdefault(cell.column, []).append(cell)
    pairs = [(max(cells, key=_allowed), min(cells, key=_allowed)) for cells in columns.values()]
    most, least = max(pairs, key=lambda pair: pair[0].most_steps / pair[1].most_steps, default=(None, None))
    if most is not None and least is not None and most.most_steps >= UNEQUAL * least.most_steps:
        yield (
            f"Models had different budgets: at {most.column}, {most.row} had up to {most.most_steps:,} steps "
            f"and {_counted(most)}, {least.row} {least.most_steps:,} and {_counted(least)}."
        )


def _allowed(cell: "FigureCell") -> int:
    return cell.most_steps


def _counted(cell: "FigureCell") -> str:
    return f"{cell.runs} {'run' if cell.runs == 1 else 'runs'}"


def _below_words(cell: "FigureCell", experiment: Experiment) -> bool:
    """Return whether a cell lies far below what the paper says in words."""
    upto = experiment.near_perfect.get(cell.row)
    return upto is not None and int(cell.column) <= upto and cell.accuracy is not None and cell.accuracy < 100 - NOTABLE


def _steps(cell: "FigureCell") -> int:
    return cell.record.spec.steps if cell.record else 0


def _named(cells: "Sequence[FigureCell]") -> str:
    """Return cells row by row: the row and its columns."""
    rows = dict.fromkeys(cell.row for cell in cells)
    return "; ".join(f"{row} at {', '.join(cell.column for cell in cells if cell.row == row)}" for row in rows)


def how_to_train(experiment: Experiment, scale: str | None) -> str:
    """Return the command that trains what is missing."""
    if scale is None:
        return f"separatrix sweep {experiment.source}"
    return f"separatrix sweep {experiment.name} --scale {scale}"


def _perfect(cell: "FigureCell") -> bool:
    return cell.record is not None and cell.record.result.ending == "goal"


def _listed(missing: "Sequence[FigureCell]", cells: "Sequence[FigureCell]", experiment: Experiment) -> str:
    """Return the missing cells row by row; whole rows in one word. Numbers alone are lengths."""
    at = "at" if experiment.columns == "length" else experiment.at
    parts: list[str] = []
    for row in dict.fromkeys(cell.row for cell in missing):
        mine = [cell for cell in missing if cell.row == row]
        whole = len(mine) == sum(cell.row == row for cell in cells) > 1
        begun = any(cell.unfinished_step is not None for cell in mine)
        columns = ", ".join(f"{cell.column}{_progress(cell)}" for cell in mine)
        parts.append(f"{row} everywhere" if whole and not begun else f"{row} {at} {columns}")
    return "; ".join(parts)


def _progress(cell: "FigureCell") -> str:
    return "" if cell.unfinished_step is None else f" (in training, step {cell.unfinished_step:,})"


def _cost(records: Sequence[Record]) -> str:
    """Return seconds of the groups in which the shown runs trained, by device; runs of one group share its seconds."""
    groups: dict[tuple[str, str], float] = {}
    for record in records:
        device = str(record.environment.get("device_name", "?"))
        group = str(record.environment.get("group", record.spec.name))
        groups[device, group] = max(groups.get((device, group), 0.0), record.result.seconds)
    devices = dict.fromkeys(device for device, _ in groups)
    parts = [
        f"{sum(seconds for (each, _), seconds in groups.items() if each == device):,.0f} s on {device}"
        for device in devices
    ]
    return f"Training time of the cells shown: {', '.join(parts)}."
