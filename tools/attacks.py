"""Attack the trained runs of a store that answered every sampled input, and record in the store what was found.

It needs what ``tools.gpu_figures`` needs, so that runs are attacked where they were trained: their weights stay there.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from separatrix.models.attack import Attack
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.trained import trained_model

SECONDS, MOST = 5, 8
ROUNDS, LONG = 200, 1e9


def searched(search: Attack) -> list[tuple[int, ...]]:
    """Return failing inputs, found within so much processor time: a busy machine finds the same."""
    started, failing = time.process_time(), dict[tuple[int, ...], None]()
    while len(failing) < MOST and time.process_time() - started < SECONDS:
        failing |= dict.fromkeys(search.run(LONG, MOST, rounds=ROUNDS).failing)
    return list(failing)[:MOST]


def can_be_attacked(record: Record) -> bool:
    """Return whether a run answered every sampled input, its weights are here, and it was not attacked yet."""
    known = record.weights is not None and record.attack is None
    return known and record.result.accuracy == 1 and record.spec.the_task().classes(record.spec.length) > 0


def attack_runs(
    records: Records,
    names: Iterable[str],
    device: torch.device,
    stopped: Callable[[], bool],
    said: Callable[[str], None],
) -> bool:
    """Attack those of the named runs that can be; False when stopped before the end."""
    for record in filter(can_be_attacked, records.find(names).values()):
        if stopped():
            return False
        spec, task = record.spec, record.spec.the_task()
        model = trained_model(record, records.files).to(device)
        failing = searched(Attack(model, task, spec.length))
        found: dict[str, Any] = {
            "seconds": SECONDS, "most": MOST, "failing": len(failing),
            "one": task.write(list(failing[0]), spec.length) if failing and not task.features(spec.length) else "",
        }  # fmt: skip
        records.add_attack(spec.name, found)
        said(
            f"{spec.architecture} on {spec.task} N={spec.length} seed {spec.seed}: {len(failing)} failing inputs found"
        )
    return True
