"""Train the papers' figures, and what goes beyond them, in pieces of at most eight minutes:

    python -m tools.gpu_figures [NAME …] [--scale reduced] [--limit 480] [--steps 4000] [--only AXIS=VALUE]

Without names all pieces are trained, one after the other. Records go into one store for each piece, such as
``results/figure3-reduced.sqlite``, with checkpoints and weights beside it. After ``--limit`` seconds the state is saved
and the command ends with 0 and says what is left; the same command goes on from there, until nothing is left. A cell
that is cheap is trained before one that is expensive, so that a short time gives many cells.

``--steps`` cuts all runs short; figures show such runs and say that they had fewer steps. ``--copies FOLDER`` leaves a
compact copy of each store there as soon as its piece ends, and ``state-bits`` also writes its table there.

It needs torch, numpy, safetensors and rich beside this package, and neither pydantic nor python-flint nor Ray.
"""

import argparse
import json
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.naming import parse_spec
from separatrix.training.driver import Driver, interruptible
from separatrix.training.events import Event, Finished
from separatrix.training.executors.opening import open_executor
from separatrix.training.experiments.catalog import experiments
from separatrix.training.group import Group
from separatrix.training.heatmap import heat_maps
from separatrix.training.records import Record, Records
from separatrix.training.sweep import Cell, Sweep

PIECES = (
    "figure2-left", "figure2-curves", "figure2-dyck", "figure3", "figure4-random", "figure4-ncp", "eq-one",
    "qsa-attention", "beyond-lengths", "beyond-widths", "newer-models", "match3-order", "state-bits",
)  # fmt: skip
"""The papers' figures first, then what goes beyond them."""
LONGEST = 480.0
"""Seconds of one piece."""


@dataclass(frozen=True)
class Settings:
    """What the command line says for all pieces."""

    scale: str
    folder: Path
    copies: Path | None
    device: str
    steps: int
    only: tuple[str, ...]


class Teller:
    """Says in one line what happened, with the seconds since the start."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def started(self, group: Group, step: int) -> None:
        """A group starts, or goes on after ``step`` steps."""
        spec = group.specs[0]
        after = f", after {step} steps" if step else ""
        self.said(f"{spec.architecture} on {spec.task} N={spec.length}: {len(group.specs)} runs{after}")

    def happened(self, group: Group, event: Event) -> None:
        """Only ends are told."""
        if isinstance(event, Finished):
            best = max(event.results, key=lambda each: each.accuracy)
            spec = group.specs[0]
            self.said(
                f"{spec.architecture} on {spec.task} N={spec.length}: {len(event.results)} ended after {best.step} "
                f"steps ({best.ending}), best {100 * best.accuracy:.1f} %, {best.seconds:.0f} s"
            )

    def said(self, message: str) -> None:
        """Anything a person should know."""
        print(f"[{time.monotonic() - self.began:6.1f} s] {message}", flush=True)


def sweep_of(name: str, settings: Settings) -> Sweep:
    """The sweep of a piece, cut short and restricted as the command line says."""
    sweep = experiments()[name].sweep(settings.scale).restricted(settings.only)
    if not settings.steps:
        return sweep
    base: dict[str, Any] = {**sweep.base, "steps": min(settings.steps, sweep.base["steps"])}
    if base.get("snapshots"):
        base["snapshots"] = sorted({min(each, base["steps"]) for each in base["snapshots"]})
    return replace(sweep, base=base)


def cost(group: Group) -> float:
    """What orders cells from cheap to expensive: about the work of a step."""
    spec = group.specs[0]
    model = parse_spec(spec.architecture)
    return spec.length * model.depth * model.width * (64 + model.width) * len(group.specs) * spec.steps


def train_piece(
    name: str, settings: Settings, teller: Teller, stopped: Callable[[], bool]
) -> tuple[list[Cell], dict[str, Record], bool]:
    """Train what is left of a piece; its cells, what is recorded of them, and whether nothing is left."""
    sweep = sweep_of(name, settings)
    cells = sweep.cells()
    groups = sorted(sweep.groups(cells), key=cost)
    names = [spec.name for group in groups for spec in group.specs]
    with Records(store_of(name, settings)) as records:
        executor, environment = open_executor("local", device=settings.device, stopped=stopped)
        done = Driver(records, executor, environment, teller, stopped=stopped).run(groups)
        found = records.find(names)
        files = records.files
    if name == "state-bits":
        tell_state_bits(name, settings, cells, found, files)
    if settings.copies is not None:
        copy_store(store_of(name, settings), settings.copies)
    return cells, found, done


def store_of(name: str, settings: Settings) -> Path:
    """The store of a piece at a scale."""
    return settings.folder / f"{name}-{settings.scale}.sqlite"


def copy_store(store: Path, folder: Path) -> None:
    """A compact copy without the side files of a store that is written to; the weights stay where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / store.name
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(store)
    try:
        connection.execute("VACUUM INTO ?", (str(target),))
    finally:
        connection.close()


def tell_state_bits(
    name: str, settings: Settings, cells: Sequence[Cell], found: dict[str, Record], files: Path
) -> None:
    """Round the states of the trained models and show how many bits they need."""
    from separatrix.training.devices import device_named
    from separatrix.training.experiments.state_bits_data import state_bits

    measured = state_bits(cells, found, files, device_named(settings.device))
    table = Table(title="Bits of a trained state, against Theorem 3's m ≥ c·N/p", title_justify="left")
    for number, heading in enumerate(("model", "N", "accuracy", "numbers m", "bits p", "m·p/N")):
        table.add_column(heading, justify="left" if number == 0 else "right")
    for each in measured:
        share = each.bits_for_each_position
        table.add_row(
            each.report.model, str(each.report.length), f"{100 * each.record.result.accuracy:.1f} %",
            str(each.report.state_numbers), "more" if each.bits is None else str(each.bits),
            "" if share is None else f"{share:.1f}",
        )  # fmt: skip
    Console(width=120).print(table)
    target = (settings.copies or settings.folder) / f"{name}-{settings.scale}.json"
    write_atomically(target, json.dumps([each.as_dict() for each in measured], indent=1) + "\n")


def show(name: str, settings: Settings, cells: Sequence[Cell], found: dict[str, Record]) -> None:
    """The piece's table: the best accuracy of each cell in percent, a dot where nothing is recorded."""
    experiment = experiments()[name]
    for shown in heat_maps(cells, found, experiment.rows, experiment.columns):
        table = Table(title=f"{experiment.title} ({settings.scale}) {shown.title}".strip(), title_justify="left")
        table.add_column(shown.row_axis, no_wrap=True)
        for column in shown.columns:
            table.add_column(column, justify="right")
        for row in shown.rows:
            values = [shown.accuracy(row, column) for column in shown.columns]
            table.add_row(row, *["·" if value is None else f"{100 * value:.1f}" for value in values])
        Console(width=120).print(table)
    runs = [run for cell in cells for run in cell.runs]
    seconds = sum({record.environment.get("group"): record.result.seconds for record in found.values()}.values())
    print(f"{name}: {sum(run.name in found for run in runs)} of {len(runs)} runs recorded, {seconds:.0f} s of training")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the pieces that are named until the limit; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pieces: {', '.join(PIECES)}; all if left out")
    parser.add_argument("--scale", default="reduced", help="quick, reduced (default) or paper")
    parser.add_argument("--limit", type=float, default=LONGEST, help="seconds after which the state is saved")
    parser.add_argument("--steps", type=int, default=0, help="no more steps than these for each run")
    parser.add_argument("--only", action="append", default=[], metavar="AXIS=VALUE", help="only these cells")
    parser.add_argument("--folder", type=Path, default=Path("results"), help="where the stores are")
    parser.add_argument("--copies", type=Path, help="leave compact copies of the stores here")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--list", action="store_true", help="say what is recorded of each piece, and stop")
    chosen = parser.parse_args(arguments)
    settings = Settings(
        chosen.scale, chosen.folder, chosen.copies, chosen.device, max(0, chosen.steps), tuple(chosen.only)
    )
    try:
        return _run(chosen.names or list(PIECES), settings, chosen.limit, chosen.list)
    except SeparatrixError as error:
        print(error, file=sys.stderr)
        return 2


def _run(names: Sequence[str], settings: Settings, limit: float, only_list: bool) -> int:
    sweeps = {name: sweep_of(name, settings) for name in names}  # a wrong name is told before anything is trained
    if only_list:
        for name, sweep in sweeps.items():
            path, cells = store_of(name, settings), sweep.cells()
            found: dict[str, Record] = {}
            if path.exists():
                with Records(path) as records:
                    found = records.find(run.name for cell in cells for run in cell.runs)
            show(name, settings, cells, found)
        return 0
    deadline = time.monotonic() + limit
    left: list[str] = []
    teller = Teller()
    with interruptible() as pressed:
        for name in names:
            if pressed() or time.monotonic() > deadline:
                left.append(name)
                continue
            cells, found, done = train_piece(name, settings, teller, lambda: pressed() or time.monotonic() > deadline)
            show(name, settings, cells, found)
            if not done:
                left.append(name)
    if left:
        print(f"not done yet: {', '.join(left)}; the same command goes on from here")
    else:
        print("all done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
