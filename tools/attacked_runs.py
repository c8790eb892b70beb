"""Train runs of the figures' shapes, attack each, certify what withstands: the record behind the table of attacks.

    python -m tools.attacked_runs dist/attacked.sqlite              train what the store lacks, attack all, write
    python -m tools.attacked_runs dist/attacked.sqlite --only dyck  train and attack these commands, write nothing
    python -m tools.attacked_runs dist/attacked.sqlite --figures    only the recorded runs of the figures, write

The record is ``src/separatrix/shipped/trained/attacks.json``. Of every run it keeps those that answered all sampled
inputs, and counts the others. What the store holds is not trained again, and what was attacked is kept next to it. The
whole takes some thirty minutes of one core.

``REPEATED`` are recorded runs of the figures that a CPU can train too: the same task, model, length, recipe and seed.
Their floats are not those of the GPU, so they are other weights of the same description. What ``tools.gpu_figures``
attacked where it was trained is in the shipped records, and comes into the table from there.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tools.attacks import MOST, SECONDS, searched

from separatrix.files import write_atomically
from separatrix.models.attack import Attack
from separatrix.models.naming import parse_spec
from separatrix.shipped import FOLDER
from separatrix.table.trained_models import ATTACKS, PLACE, AttackedRun, Attacks, attacks
from separatrix.tasks import changed_label
from separatrix.training.devices import using_threads
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.experiment import SCALES
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.spec import START
from separatrix.training.train_runs import train_runs
from separatrix.training.trained import trained_model

SAMPLED, NODES = 5000, 1024
COMMANDS = (
    'index-lookup "TF-(1,64)" --length 20 --lr 1e-3 --steps 400 --seed 0,1 --recipe strong --goal 1',
    'majority "TF-(1,32)" --length 31 --lr 2e-3 --steps 1500 --seed 0,1 --goal 1',
    'dyck "GRU-(1,32)" --length 10 --lr 5e-3 --steps 3000 --seed 0,1 --goal 1',
    'equality "TF-(1,32)" --length 6 --lr 1e-3 --seed 1,3 --steps 4000 --recipe strong --goal 1',
    'equality "TF-(1,32)" --length 8 --lr 1e-3 --seed 2 --steps 4000 --recipe strong --goal 1',
    'dyck "LSTM-(1,64)" --length 20 --lr 5e-3 --steps 1000 --seed 0,1 --recipe strong --goal 1',
    'index-lookup "TF-(1,64)" --length 50 --lr 1e-3 --steps 1000 --recipe strong --goal 1',
    'majority "LSTM-(1,32)" --length 31 --lr 5e-3 --steps 500 --recipe strong --goal 1',
    'associative-recall "TF-(2,32)" --length 4 --lr 3e-3 --steps 1000 --recipe strong --goal 1',
    'index-lookup "LSTM-(1,64)" --length 3 --lr 5e-3 --steps 2000 --recipe strong --goal 1',
    'dyck "Mamba-(1,32)" --length 20 --lr 5e-3 --steps 500 --recipe strong --goal 1',
    'dyck "RNN-(1,32)" --length 10 --lr 5e-3 --steps 1500 --recipe strong --goal 1',
    'dyck "Mamba-(1,32)" --length 10 --lr 1e-2 --steps 1000 --recipe strong --goal 1',
    'dyck "TF-(2,32,heads=4)" --length 20 --lr 5e-4 --steps 2000 --recipe strong --goal 1',
)
REPEATED = (
    "57cbd8c8", "ef82c1db", "ef08ea36", "93ce0600", "783865db", "20013fbf", "f4217e85", "cdfd2e41", "dcf932b0",
    "0ba2ed4d", "2cc391e0",
)  # fmt: skip
"""Recorded runs of the figures, by the beginning of their names."""
QUICK = ("majority", "associative-recall", "equality")
"""Tasks whose verdict takes a minute at most; that of a lookup of 20 symbols takes several."""


def separatrix(*words: str) -> dict[str, Any]:
    """Run a command with ``--json`` and return what it prints; exit code 1 is a verdict too."""
    ended = subprocess.run([sys.executable, "-m", "separatrix", *words, "--json"], stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"separatrix {shlex.join(words)} ended with {ended.returncode}")
    return json.loads(ended.stdout)


def trained(command: str, store: Path) -> list[str]:
    """The names of a command's runs, which are then in the store."""
    words = [*shlex.split(command), "--threads", "1", "--examples", str(SAMPLED), "--store", str(store)]
    return [run["name"] for run in separatrix("train", *words)["runs"]]


def can_be_certified(record: Record) -> bool:
    """Whether ``certify`` covers a run, and is done in minutes."""
    spec = record.spec
    return spec.task in QUICK and spec.architecture.startswith("TF-")


def attacked(record: Record, store: Path, files: Path) -> AttackedRun:
    """What a search finds on a run, and what a certificate says where it finds nothing."""
    spec, task = record.spec, record.spec.the_task()
    failing = searched(Attack(trained_model(record, files), task, spec.length))
    certified = False
    if not failing and can_be_certified(record):
        with tempfile.TemporaryDirectory() as folder:
            verdict = separatrix("certify", spec.name, "--store", str(store), "--out", folder, "--nodes", str(NODES))
        certified = bool(verdict["certified"])
        failing = [tuple(row) for row in verdict.get("counterexamples", [])][:MOST]
    one = task.write(list(failing[0]), spec.length) if failing else ""
    return row_of(record, len(failing), one, certified)


def row_of(record: Record, failing: int, one: str, certified: bool = False) -> AttackedRun:
    """The row of an attacked run."""
    spec = record.spec
    return AttackedRun(
        changed_label(spec.the_task()), spec.architecture, spec.length, spec.seed, record.result.step,
        record.result.accuracy, failing, one, certified,
    )  # fmt: skip


def figure_of(record: Record) -> str:
    """The first figure with a cell of this run's task, model and length; those with numbers in the paper come first."""
    spec = record.spec
    wanted = spec.task, parse_spec(spec.architecture), spec.length
    for name, experiment in sorted(experiments().items(), key=lambda each: each[1].paper is None):
        for run in (run for scale in SCALES for cell in experiment.sweep(scale).cells() for run in cell.runs):
            if (run.task, parse_spec(run.architecture), run.length) == wanted:
                return name
    return "strong"


class Attacker:
    """Attacks the runs of a store; what was attacked is kept next to it, and ``missed`` counts what is left out."""

    def __init__(self, store: Path) -> None:
        self.store, self.kept, self.missed = store, store.with_suffix(".attacked.json"), 0
        self.known: dict[str, dict[str, Any]] = json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def rows(self, names: Iterable[str]) -> Iterator[AttackedRun]:
        """The rows of the named runs that answered every sampled input."""
        with Records(self.store, create=False) as records, using_threads(1):
            for record in map(records.get, names):
                name = record.spec.name
                if record.result.accuracy < 1:
                    self.missed += 1
                    continue
                if name not in self.known:
                    self.known[name] = asdict(attacked(record, self.store, records.files))
                    write_atomically(self.kept, json.dumps(self.known, indent=1) + "\n")
                    print(name, self.known[name], flush=True)
                yield AttackedRun(**self.known[name])


def recorded_runs() -> list[Record]:
    """The runs of the shipped records."""
    found: list[Record] = []
    for path in sorted(FOLDER.glob("*.sqlite")):
        with Records(path, create=False) as records:
            found += records.all()
    return found


def repeated(recorded: Sequence[Record], attacker: Attacker) -> Iterator[AttackedRun]:
    """Rows of the runs that repeat recorded ones on this machine."""
    for begin in REPEATED:
        (shipped,) = (each for each in recorded if each.spec.name.startswith(begin))
        spec = shipped.spec.with_changes(start=START)
        with using_threads(1):
            train_runs([spec], attacker.store)
        for row in attacker.rows([spec.name]):
            same = spec == shipped.spec
            yield replace(row, figure=figure_of(shipped), recorded=shipped.spec.name, same_start=same)


def attacked_there(recorded: Sequence[Record]) -> Iterator[AttackedRun]:
    """Rows of the recorded runs that were attacked where they were trained."""
    for record in recorded:
        if record.attack is not None:
            row = row_of(record, record.attack["failing"], record.attack["one"])
            where = record.environment.get("device_name", "GPU")
            yield replace(row, device=where, figure=figure_of(record), recorded=record.spec.name)


def main() -> None:
    """Train, attack, certify and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--only", default="", help="commands that contain this text")
    parser.add_argument(
        "--figures", action="store_true", help="the recorded runs of the figures alone; the other rows stay"
    )
    given = parser.parse_args()
    attacker = Attacker(given.store)
    before = attacks()
    commands = [] if given.figures else [each for each in COMMANDS if given.only in each]
    rows = [row for row in before.rows if not row.figure] if given.figures else []
    for command in commands:
        rows += attacker.rows(trained(command, given.store))
        print(f"{len(rows)} attacked, {attacker.missed} left out: {command}", flush=True)
    if given.only:
        return
    missed, attacker.missed = before.missed if given.figures else attacker.missed, 0
    recorded = recorded_runs()
    rows += [*repeated(recorded, attacker), *attacked_there(recorded)]
    shown = tuple(f"separatrix train {command} --threads 1" for command in COMMANDS)
    record = Attacks(SAMPLED, SECONDS, MOST, missed, shown, tuple(rows), attacker.missed)
    write_atomically(PLACE / ATTACKS, json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
