"""What recorded runs show of the table: how long inputs each class of models, and each architecture, has learned.

Next to each is the longest length that a lower bound leaves open to any weights. A run that failed says little where it
is undertrained, which is judged by comparison with all runs of its task.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.bounds import Model

if TYPE_CHECKING:
    from separatrix.models import ModelSpec
    from separatrix.training import Record, RunSource

LEARNED = 0.99
"""Accuracy on fresh examples from which a task counts as learned at a length."""
ATTENTION = ("transformer", "hard-attention")
DEEP: Mapping[int, Model] = {1: "transformer-1layer", 2: "transformer-2layer"}
"""The columns of attention by its number of layers."""
SINGLE: Mapping[str, Model] = {"fnn": "fnn", "third-order": "third-order", "graph-transformer": "graph-transformer"}
"""The columns of other layers by themselves."""


@dataclass(frozen=True)
class Best:
    """The best run at one length; ``undertrained``: the reasons why a low accuracy says little."""

    accuracy: float
    model: str
    run: str
    undertrained: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """What the runs of one task and class of models show: the longest length learned, the longest tried."""

    runs: int
    lengths: Mapping[int, Best]
    learned: int | None
    tried: int
    undertrained: bool


@dataclass(frozen=True)
class Climb:
    """How far one model learned one task, and the longest length that a bound leaves open to any weights."""

    task: str
    model: str
    lengths: Mapping[int, Best]
    learned: int | None
    not_learned: int | None
    bound: int | None
    bound_claim: str
    arithmetic: str
    bits: int


def column_of(spec: "ModelSpec") -> Model | None:
    """Return the column of the table that a trained model belongs to; None for mixtures and deeper Transformers."""
    names = set(spec.layers)
    if spec.recurrent:
        return "rnn"
    if names <= set(ATTENTION):
        return DEEP.get(spec.depth)
    return SINGLE.get(names.pop()) if len(names) == 1 and spec.depth == 1 else None


def marks(records: "Iterable[Record]", runs: "RunSource") -> dict[str, dict[Model, Mark]]:
    """Return, for each task and column, the best accuracy at every length, the longest length that was learned, and
    whether every length that was not is undertrained."""
    from separatrix.models import parse_spec

    held: dict[str, dict[Model, list[Record]]] = {}
    for record in records:
        column = column_of(parse_spec(record.spec.architecture))
        if column is not None:
            held.setdefault(record.spec.task, {}).setdefault(column, []).append(record)
    return {
        task: {column: _mark(mine, columns, runs) for column, mine in columns.items()} for task, columns in held.items()
    }


def _mark(mine: "list[Record]", columns: "dict[Model, list[Record]]", runs: "RunSource") -> Mark:
    best = _best(mine, [record for each in columns.values() for record in each], runs)
    good = [length for length, one in best.items() if one.accuracy >= LEARNED]
    undertrained = not good and all(one.undertrained for one in best.values())
    return Mark(len(mine), best, max(good, default=None), max(best), undertrained)


def learned_by_architecture(
    records: "Iterable[Record]", runs: "RunSource"
) -> "dict[str, tuple[tuple[Climb, ...], list[Record]]]":
    """Return the learned frontier of each architecture, and the runs behind it: for every task and model the best
    accuracy at each length, the longest length that was learned, the shortest that was not, and the longest that a
    lower bound leaves open.
    """
    from separatrix.models import parse_spec

    held: dict[str, dict[tuple[str, str], list[Record]]] = {}
    of_task: dict[str, list[Record]] = {}
    for record in records:
        key = (record.spec.task, record.spec.architecture)
        of_task.setdefault(record.spec.task, []).append(record)
        for name in dict.fromkeys(parse_spec(record.spec.architecture).layers):
            held.setdefault(name, {}).setdefault(key, []).append(record)
    return {
        name: (
            tuple(_climb(task, model, mine, of_task[task], runs) for (task, model), mine in sorted(rows.items())),
            [record for mine in rows.values() for record in mine],
        )
        for name, rows in sorted(held.items())
    }


def _climb(task: str, model: str, records: "list[Record]", others: "list[Record]", runs: "RunSource") -> Climb:
    from separatrix.models import parse_spec
    from separatrix.training import PRECISION_BITS, longest_possible

    lengths = _best(records, others, runs)
    good = {length: best.accuracy >= LEARNED for length, best in lengths.items()}
    run = records[0].spec
    bits = PRECISION_BITS[run.precision]
    return Climb(
        task, model, lengths, max((length for length, reached in good.items() if reached), default=None),
        min((length for length, reached in good.items() if not reached), default=None),
        *longest_possible(parse_spec(model), run, bits), bits,
    )  # fmt: skip


def _best(mine: "list[Record]", compared: "list[Record]", runs: "RunSource") -> dict[int, Best]:
    """Return the best run at each length; undertrained is said by comparison with all runs of the task."""
    from separatrix.training import best_by_length

    names = {record.spec.name: record.spec.architecture for record in mine}
    most = max(record.spec.steps for record in compared)
    return {
        each.length: Best(each.accuracy, names[each.run], each.run, each.undertrained)
        for each in best_by_length(mine, runs, LEARNED, most)
    }
