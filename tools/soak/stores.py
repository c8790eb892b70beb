"""What a store holds and what must be true of it after anything: nothing lost, nothing twice, nothing left behind."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.training.checkpoints import weights_of
from separatrix.training.records import Records


def watched(store: Path) -> None:
    """Let the store itself count how often a result is written."""
    with Records(store):
        pass
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE written (name TEXT)")
    connection.execute("CREATE TRIGGER watch AFTER INSERT ON runs BEGIN INSERT INTO written VALUES (new.name); END")
    connection.commit()
    connection.close()


def times_written(store: Path) -> dict[str, int]:
    """How often the result of each run was written to a store that is :func:`watched`."""
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT name, count(*) FROM written GROUP BY name").fetchall()
    connection.close()
    return dict(rows)


def results(store: Path) -> dict[str, Any]:
    """Results by name, as far as they must never change once they are recorded."""
    if not store.exists():
        return {}
    with Records(store) as records:
        return {
            each.spec.name: (each.result.ending, each.result.step, each.result.accuracy, repr(each.result.loss))
            for each in records.all()
        }


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


@dataclass(frozen=True)
class Damage:
    """What is wrong with a store next to an undisturbed one; all numbers are 0 when nothing is.

    ``twice`` counts runs that were written more than once, where the store was :func:`watched`.
    """

    runs: int = 0
    lost: int = 0
    twice: int = 0
    different: int = 0
    left_behind: int = 0

    @property
    def none(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.twice or self.different or self.left_behind)

    def __add__(self, other: "Damage") -> "Damage":
        return Damage(*(a + b for a, b in zip(self.numbers(), other.numbers(), strict=True)))

    def numbers(self) -> tuple[int, ...]:
        """Runs, lost, twice, different, left behind."""
        return (self.runs, self.lost, self.twice, self.different, self.left_behind)


def damage(store: Path, undisturbed: dict[str, Any], counted: bool = True) -> Damage:
    """Compare a store with the contents of an undisturbed one, bit for bit, weights and curves included."""
    found = contents(store)
    different = sum(found[name] != undisturbed.get(name) for name in found)
    twice = sum(count != 1 for count in times_written(store).values()) if counted else 0
    return Damage(len(undisturbed), len(undisturbed.keys() - found.keys()), twice, different, len(leftovers(store)))
