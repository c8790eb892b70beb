"""Train the papers' figures, and what goes beyond them, in pieces of at most eight minutes:

    python -m tools.gpu_figures [NAME …] [--scale reduced] [--limit 420] [--steps 4000] [--only AXIS=VALUE]
    python -m tools.gpu_figures --plan tools/one_hour_on_a_gpu.toml --at-once 6
    python -m tools.gpu_figures --plan tools/strong_cells.toml --at-once 8 --most-needed

Without names all pieces are trained. Records go into one store for each scale, such as ``results/reduced.sqlite``, with
checkpoints and weights next to it. After ``--limit`` seconds the state is saved and the command ends with 0 and says
that something is left; the same command resumes, until nothing is. A cell that is cheap is trained before one that is
expensive, so that a short time gives many cells.

Before it ends, it attacks the runs that answered every sampled input, for ``--attack`` seconds in all, five a run, and
records what was found with each run. So weights need not leave the machine; ``tools.attacked_runs --figures`` makes the
table from the records.

``--steps`` cuts all runs short, and a plan says it part by part; figures show such runs and say that they had fewer
steps. Cells of a plan may follow the recipe ``strong`` instead. ``--at-once`` trains several groups at once on one GPU,
which small models leave mostly idle. ``--most-needed`` compares the cells with the shipped records and the store,
leaves out those that are within reach of the paper's number, and starts with those that lack most points for their
work; ``--list`` shows this order. ``--copies FOLDER`` leaves a compact copy of the store there, and the table of
``state-bits``.

It needs torch, numpy, safetensors and rich next to this package, and neither pydantic nor python-flint nor Ray.
"""

import argparse
import json
import sqlite3
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.naming import parse_spec
from separatrix.shipped import FOLDER
from separatrix.training.driver import Driver, interruptible
from separatrix.training.events import Event, Finished
from separatrix.training.executors.opening import open_executor
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import FigureCell, gather, paper_table, plain_model
from separatrix.training.grouping import Group
from separatrix.training.recipes import recipe_fields
from separatrix.training.record import Record, best_of
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec
from separatrix.training.sweep import Cell, Sweep

PIECES = (
    "figure2-left", "figure2-curves", "figure2-dyck", "figure3", "figure4-random", "figure4-ncp", "eq-one",
    "qsa-attention", "beyond-lengths", "beyond-widths", "other-attention", "newer-models", "match3-order",
    "state-bits",
)  # fmt: skip
"""The papers' figures first, then what goes beyond them."""
LONGEST, ATTACK = 420.0, 60.0
"""Seconds of one call: of training, and then of attacks."""
SEEDS = (0, 1, 2)
"""Of the recipe strong."""

SAVE_EVERY = 120.0
"""Seconds between checkpoints: on a GPU everything else waits for them."""


@dataclass(frozen=True)
class Settings:
    """What the command line says for all pieces."""

    scale: str
    folder: Path
    copies: Path | None = None
    device: str = "auto"
    at_once: int = 0
    attack: float = 0.0

    @property
    def store(self) -> Path:
        """The store of a scale."""
        return self.folder / f"{self.scale}.sqlite"


@dataclass(frozen=True)
class Part:
    """A piece, or some of its cells; ``steps`` 0 leaves the steps of the scale, ``longer`` allows more than it has."""

    piece: str
    steps: int = 0
    only: tuple[str, ...] = ()
    longer: bool = False

    def sweep(self, scale: str) -> Sweep:
        """The sweep of these cells, cut short, or made longer, if it says so."""
        sweep = experiments()[self.piece].sweep(scale).restricted(self.only)
        if not self.steps:
            return sweep
        steps = self.steps if self.longer else min(self.steps, sweep.base["steps"])
        base: dict[str, Any] = {**sweep.base, "steps": steps}
        if base.get("snapshots"):
            base["snapshots"] = sorted({min(each, steps) for each in base["snapshots"]})
        return replace(sweep, base=base)

    def groups(self, scale: str) -> list[Group]:
        """The groups of these cells, the cheap ones first."""
        sweep = self.sweep(scale)
        return sorted(sweep.groups(sweep.cells()), key=cost)


@dataclass(frozen=True)
class Strong:
    """Cells of a piece under the recipe strong: a model, its steps by length, and rates, the first with all seeds."""

    piece: str
    model: str
    steps: tuple[tuple[int, int], ...]
    rates: tuple[float, ...]
    more: tuple[tuple[str, Any], ...] = ()

    def groups(self, scale: str) -> list[Group]:
        """A group for each length, the same at every scale."""
        del scale
        return sorted((self._group(length, steps) for length, steps in self.steps), key=cost)

    def _group(self, length: int, steps: int) -> Group:
        more = dict(self.more)
        base = RunSpec(
            task=experiments()[self.piece].task, architecture=str(parse_spec(self.model)), length=length,
            learning_rate=self.rates[0], steps=steps,
            **{"evaluate_every": 500, "precision": "bfloat16", **more},
        )  # fmt: skip
        strong = base.with_changes(**{**recipe_fields("strong", base.the_task(), steps), **more})
        specs = [strong.with_changes(seed=seed) for seed in SEEDS]
        specs += [strong.with_changes(learning_rate=rate) for rate in self.rates[1:]]
        return Group(tuple(specs), together=True)


def planned(path: Path) -> list[Part | Strong]:
    """The parts of a plan, most wanted first: a TOML file with ``part`` or ``strong``, tables of the fields of
    ``Part`` and ``Strong``; other fields of the latter are those of a run."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
        if not found:
            raise ValueError("empty")
        parts: list[Part | Strong] = [
            Part(
                str(each["piece"]),
                int(each.get("steps", 0)),
                tuple(f"{axis}={value}" for axis, values in each.get("only", {}).items() for value in values),
                bool(each.get("longer", False)),
            )
            for each in found.get("part", ())
        ]
        for each in found.get("strong", ()):
            more = {name: value for name, value in each.items() if name not in ("piece", "model", "steps", "rates")}
            steps = tuple((int(length), int(steps)) for length, steps in each["steps"].items())
            parts.append(Strong(each["piece"], each["model"], steps, tuple(each["rates"]), tuple(more.items())))
        return parts
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = (str(error).splitlines() or ["empty"])[0]
        raise SeparatrixError(f"{path} is not a plan ({reason}); write it like tools/one_hour_on_a_gpu.toml") from error


class Teller:
    """Says in one line what happened, with the seconds since the start."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def started(self, group: Group, step: int) -> None:
        """A group starts, or resumes after ``step`` steps."""
        spec = group.specs[0]
        after = f", after {step} steps" if step else ""
        self.said(f"{spec.architecture} on {spec.task} N={spec.length}: {len(group.specs)} runs{after}")

    def happened(self, group: Group, event: Event) -> None:
        """Only ends are reported."""
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


def cost(group: Group) -> float:
    """What orders cells from cheap to expensive: about the work of a step."""
    spec = group.specs[0]
    model = parse_spec(spec.architecture)
    return spec.length * model.depth * model.width * (64 + model.width) * len(group.specs) * spec.steps


def groups_of(parts: Sequence[Part | Strong], scale: str) -> list[Group]:
    """The groups of all parts in their order, the cheap ones of a part first; what two parts name trains once."""
    found: dict[str, Group] = {}
    for group in (each for part in parts for each in part.groups(scale)):
        found.setdefault(group.name, group)
    return list(found.values())


def allowed(wanted: float) -> float:
    """How many points below a number count as reaching it."""
    return 3.0 if wanted >= 97 else 10.0


def missing_points(group: Group, piece: str, records: Sequence[Record]) -> float:
    """How far the best record of a group's cell is below the paper's number, in points, less what is allowed: 3 points
    where the paper has 97 or more, else 10. A cell that is reached by fewer than three seeds lacks one point."""
    spec = group.specs[0]
    row = plain_model(spec.architecture).replace(",positions=learned", "")
    key = experiments()[piece].paper
    paper = None if key is None else paper_table(key).accuracy.get((row, str(spec.length)))
    wanted = 100 * spec.goal if paper is None else paper
    mine = [each for each in records if cell_of(each.spec) == cell_of(spec)]
    best = best_of(mine)
    if best is None:
        return wanted
    short = wanted - allowed(wanted) - 100 * best.result.accuracy
    seeds = {each.spec.seed for each in mine if replace(each.spec, seed=best.spec.seed) == best.spec}
    return max(short, 0.0 if len(seeds) >= len(SEEDS) else 1.0)


def cell_of(spec: RunSpec) -> tuple[Any, ...]:
    """What is the same for all runs of a cell."""
    return spec.task, spec.task_parameters, spec.length, plain_model(spec.architecture)


def most_needed(parts: Sequence[Part | Strong], settings: Settings) -> list[Group]:
    """The groups of cells that lack anything and were not trained so before, most points for their work first."""
    records = [each for path in (*FOLDER.glob("*.sqlite"), settings.store) for each in recorded_in(path)]
    known = {each.spec.name for each in records}
    piece_of = {group.name: part.piece for part in reversed(parts) for group in part.groups(settings.scale)}
    left = [each for each in groups_of(parts, settings.scale) if not known.issuperset(run.name for run in each.specs)]
    need = {each.name: missing_points(each, piece_of[each.name], records) for each in left}
    return sorted((each for each in left if need[each.name]), key=lambda each: -need[each.name] / cost(each))


def recorded_in(path: Path) -> list[Record]:
    """The runs of a store; none where there is none."""
    if not path.exists():
        return []
    with Records(path, create=False) as records:
        return records.all()


def train_groups(groups: Sequence[Group], settings: Settings, teller: Teller, stopped: Callable[[], bool]) -> bool:
    """Train what is left, several groups at once; whether nothing is left."""
    # Whoever trains together trains to the end.
    full_grid = all(group.together for group in groups)
    with Records(settings.store) as records:
        executor, environment = open_executor(
            "turns" if settings.at_once else "local", device=settings.device, workers=settings.at_once,
            save_every_seconds=SAVE_EVERY, stopped=stopped,
        )  # fmt: skip
        return Driver(records, executor, environment, teller, full_grid, stopped).run(groups)


def attack_groups(groups: Sequence[Group], settings: Settings, teller: Teller) -> bool:
    """Attack the runs of these groups that were not attacked yet; whether none is left."""
    from tools.attacks import attack_runs

    from separatrix.training.devices import device_named

    deadline = time.monotonic() + settings.attack
    names = [spec.name for group in groups for spec in group.specs]
    with Records(settings.store) as records, interruptible() as pressed:
        late = lambda: pressed() or time.monotonic() > deadline  # noqa: E731
        return attack_runs(records, names, device_named(settings.device), late, teller.said)


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


def print_state_bits(settings: Settings, cells: Sequence[Cell], found: dict[str, Record], files: Path) -> None:
    """Round the states of the trained models and show how many bits they need."""
    from separatrix.training.devices import device_named
    from separatrix.training.experiments.state_bits_data import state_bits

    measured = state_bits(cells, found, files, device_named(settings.device))
    if not measured:
        return
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
    target = (settings.copies or settings.folder) / f"state-bits-{settings.scale}.json"
    write_atomically(target, json.dumps([each.as_dict() for each in measured], indent=1) + "\n")


def show(name: str, settings: Settings, records: Records) -> None:
    """The piece's table as ``separatrix figure`` has it: the best accuracy of each cell in percent, the paper's next to
    it, a dot where nothing is recorded."""
    figure = gather(experiments()[name], settings.scale, records)
    table = Table(title=f"{figure.experiment.title} ({settings.scale})", title_justify="left")
    table.add_column(figure.experiment.rows, no_wrap=True)
    for column in figure.columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in figure.rows:
        table.add_row(row, *(_shown(figure.cells[row, column]) for column in figure.columns))
    Console(width=120).print(table)
    print(f"{name}: {figure.recorded} of {len(figure.cells)} cells recorded")


def _shown(cell: FigureCell) -> str:
    if cell.accuracy is None:
        return "·"
    return f"{cell.accuracy:.1f}" if cell.paper is None else f"{cell.accuracy:.1f} ({cell.paper:.1f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the pieces that are named until the limit; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pieces: {', '.join(PIECES)}; all if left out")
    parser.add_argument("--plan", type=Path, help="train the parts of this file instead of whole pieces")
    parser.add_argument("--scale", default="reduced", help="quick, reduced (default) or paper")
    parser.add_argument("--limit", type=float, default=LONGEST, help="seconds after which the state is saved")
    parser.add_argument("--steps", type=int, default=0, help="no more steps than these for each run")
    parser.add_argument("--only", action="append", default=[], metavar="AXIS=VALUE", help="only these cells")
    parser.add_argument("--attack", type=float, default=ATTACK, help="seconds of attacks after training; 0: none")
    parser.add_argument("--at-once", type=int, default=0, help="groups that train at once on a GPU; 0: one by one")
    parser.add_argument("--folder", type=Path, default=Path("results"), help="where the store is")
    parser.add_argument("--copies", type=Path, help="leave a compact copy of the store here")
    parser.add_argument("--most-needed", action="store_true", help="first the cells that lack most, see above")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--list", action="store_true", help="show what is recorded, and stop")
    chosen = parser.parse_args(arguments)
    settings = Settings(chosen.scale, chosen.folder, chosen.copies, chosen.device, chosen.at_once, chosen.attack)
    try:
        if chosen.plan is not None:
            if chosen.names or chosen.steps or chosen.only:
                raise SeparatrixError("--plan says what is trained; leave names, --steps and --only out")
            parts = planned(chosen.plan)
        else:
            parts = [Part(name, max(0, chosen.steps), tuple(chosen.only)) for name in chosen.names or PIECES]
        # Mistakes are reported before anything is trained.
        groups = most_needed(parts, settings) if chosen.most_needed else groups_of(parts, settings.scale)
        return _run(parts, groups, settings, chosen.limit, chosen.list)
    except SeparatrixError as error:
        print(error, file=sys.stderr)
        return 2


def _run(
    parts: Sequence[Part | Strong], groups: Sequence[Group], settings: Settings, limit: float, only_list: bool
) -> int:
    names = list(dict.fromkeys(part.piece for part in parts))
    done = True
    if only_list:
        for group in groups:
            spec = group.specs[0]
            print(f"{spec.architecture} on {spec.task} N={spec.length}: {len(group.specs)} runs of {spec.steps} steps")
    if only_list and not settings.store.exists():
        raise SeparatrixError(f"there is no store {settings.store}; train first, without --list")
    if not only_list:
        deadline = time.monotonic() + limit
        with interruptible() as pressed:
            teller = Teller()
            done = train_groups(groups, settings, teller, lambda: pressed() or time.monotonic() > deadline)
            if settings.attack and not pressed():
                done &= attack_groups(groups, settings, teller)
    with Records(settings.store) as records:
        for name in names:
            show(name, settings, records)
        if "state-bits" in names and not only_list:
            sweeps = [
                each.sweep(settings.scale) for each in parts if isinstance(each, Part) and each.piece == "state-bits"
            ]
            mine = [cell for sweep in sweeps for cell in sweep.cells()]
            print_state_bits(
                settings, mine, records.find(run.name for cell in mine for run in cell.runs), records.files
            )
    if settings.copies is not None:
        copy_store(settings.store, settings.copies)
    if not only_list:
        print("all done" if done else "not done yet; the same command resumes it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
