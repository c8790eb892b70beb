"""What a store holds and what must be true of it after anything: nothing lost, nothing twice, nothing left behind."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from separatrix.training.checkpoints import weights_of
from separatrix.training.records import Records

SWEEP = """
title = "Small enough to be killed often"
[base]
task = "index-lookup"
steps = {steps}
batch = 16
evaluate_every = {every}
probe_examples = 64
evaluation_examples = 100
goal = 0.5
[axes]
architecture = [{models}]
length = [2, 6]
learning_rate = [2e-2, 1e-2, 5e-3, 1e-6]
"""
"""Two cells of four runs for each model; members leave for every reason: goal, beaten, pruned, steps."""


def sweep_file(path: Path, steps: int, models: Sequence[str] = ("TF-(1,8)", "LSTM-(1,8)")) -> Path:
    """Write the sweep of these models with so many steps."""
    listed = ", ".join(f'"{each}"' for each in models)
    path.write_text(SWEEP.format(steps=steps, every=max(1, steps // 8), models=listed), encoding="utf-8")
    return path


def watched(store: Path) -> None:
    """Let the store itself count how often a result is written."""
    with Records(store):
        pass
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("CREATE TABLE written (name TEXT)")
        connection.execute("CREATE TRIGGER watch AFTER INSERT ON runs BEGIN INSERT INTO written VALUES (new.name); END")


def times_written(store: Path) -> dict[str, int]:
    """How often the result of each run was written to a store that is :func:`watched`."""
    with closing(sqlite3.connect(store)) as connection:
        return dict(connection.execute("SELECT name, count(*) FROM written GROUP BY name").fetchall())


def contents(store: Path) -> dict[str, Any]:
    """Everything in a store that must not depend on what happened on the way: all but times and file names."""
    found: dict[str, Any] = {}
    with Records(store, create=False) as records:
        for record in records.all():
            name, result = record.spec.name, record.result
            assert record.weights is not None
            weights = weights_of((records.files / record.weights).read_bytes(), name)
            found[name] = {
                "ending": result.ending,
                "step": result.step,
                "accuracy": result.accuracy,
                "loss": repr(result.loss),
                "parameters": result.parameters,
                "curve": [(p.step, repr(p.loss), p.training_accuracy, p.accuracy) for p in records.curve(name)],
                "weights": {key: each.numpy().tobytes() for key, each in weights.items()},
            }
    return found


def leftovers(store: Path) -> list[str]:
    """Checkpoints and half-written files that were not cleaned up."""
    files = store.with_name(f"{store.stem}.files")
    return sorted(
        str(each) for each in files.rglob("*") if "checkpoints/" in str(each) or each.name.endswith(".partial")
    )
