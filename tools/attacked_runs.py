"""Train runs of the figures' shapes, attack each, certify what withstands: the record behind the table of attacks.

    python -m tools.attacked_runs dist/attacked.sqlite              train what the store lacks, attack all, write
    python -m tools.attacked_runs dist/attacked.sqlite --only dyck  train and attack these commands, write nothing

The record is ``src/separatrix/shipped/trained/attacks.json``. Of every run of a command it keeps those that answered
all sampled inputs, and counts the others. What the store holds is not trained again, and what was attacked is kept next
to it. The whole takes some ten minutes of one core.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from separatrix.files import write_atomically
from separatrix.models.attack import Attack
from separatrix.table.trained_models import ATTACKS, PLACE, AttackedRun, Attacks
from separatrix.tasks import changed_label
from separatrix.training.devices import using_threads
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.trained import trained_model

SAMPLED, SECONDS, MOST, NODES = 5000, 5, 8, 1024
ROUNDS, LONG = 200, 1e9
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


def searched(search: Attack) -> list[tuple[int, ...]]:
    """Failing inputs, found within so much processor time: a busy machine finds the same."""
    started, failing = time.process_time(), dict[tuple[int, ...], None]()
    while len(failing) < MOST and time.process_time() - started < SECONDS:
        failing |= dict.fromkeys(search.run(LONG, MOST, rounds=ROUNDS).failing)
    return list(failing)[:MOST]


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
    return AttackedRun(
        changed_label(task), spec.architecture, spec.length, spec.seed, record.result.step, record.result.accuracy,
        len(failing), one, certified,
    )  # fmt: skip


def main() -> None:
    """Train, attack, certify and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--only", default="", help="commands that contain this text")
    given = parser.parse_args()
    commands = [each for each in COMMANDS if given.only in each]
    rows: list[AttackedRun] = []
    missed, kept = 0, given.store.with_suffix(".attacked.json")
    known: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for command in commands:
        names = trained(command, given.store)
        with Records(given.store, create=False) as records, using_threads(1):
            for record in (records.get(name) for name in names):
                name = record.spec.name
                if record.result.accuracy < 1:
                    missed += 1
                    continue
                if name not in known:
                    known[name] = asdict(attacked(record, given.store, records.files))
                    write_atomically(kept, json.dumps(known, indent=1) + "\n")
                    print(name, known[name], flush=True)
                rows.append(AttackedRun(**known[name]))
        print(f"{len(rows)} attacked, {missed} left out: {command}", flush=True)
    shown = tuple(f"separatrix train {command} --threads 1" for command in commands)
    record = Attacks(SAMPLED, SECONDS, MOST, missed, shown, tuple(rows))
    if not given.only:
        write_atomically(PLACE / ATTACKS, json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
