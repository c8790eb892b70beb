"""Runs that take a fraction of a second, and what is compared between two stores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from separatrix.training.driver import Driver
from separatrix.training.events import Event
from separatrix.training.executors.executor import Executor
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec

CPU = torch.device("cpu")
ENVIRONMENT = {"device": "cpu"}

TASK_LENGTHS = {"undirected-5-cycle": 6, "nearest-neighbour": 4, "directed-3-cycle": 6, "mqar": 8}
"""Lengths for the tests over the catalog of tasks; 8 where a task is not named."""


def tiny(**changes: Any) -> RunSpec:
    """A run of 60 steps of the smallest Transformer; it learns a little and never reaches a goal."""
    fields: dict[str, Any] = {
        "task": "index-lookup",
        "architecture": "TF-(1,8)",
        "length": 6,
        "learning_rate": 0.01,
        "steps": 60,
        "batch": 8,
        "evaluate_every": 20,
        "probe_examples": 64,
        "evaluation_examples": 100,
        "goal": 0.0,
    }
    return RunSpec(**{**fields, **changes})


def grid(count: int = 4, **changes: Any) -> tuple[RunSpec, ...]:
    """Runs of one shape with other learning rates."""
    return tuple(tiny(learning_rate=0.02 / (1 + place), **changes) for place in range(count))


def small_sweep(steps: int = 300, **changes: Any) -> list[Group]:
    """Three groups in which members leave for every reason: goal, beaten, pruned, steps."""
    base: dict[str, Any] = {"steps": steps, "evaluate_every": steps // 6, "batch": 16, **changes}
    easy: dict[str, Any] = {"task": "majority", "length": 3, "goal": 0.8}
    rungs = (steps // 6, steps // 3)
    return [
        Group(grid(4, **base), rungs=rungs),
        Group(tuple(tiny(learning_rate=rate, **base, **easy) for rate in (0.02, 1e-6)), first_goal_ends=True),
        Group(grid(2, architecture="LSTM-(1,8)", seed=3, **base)),
    ]


@dataclass
class Listener:
    """An observer that remembers."""

    events: list[tuple[str, Event]] = field(default_factory=list[tuple[str, Event]])
    messages: list[str] = field(default_factory=list[str])
    starts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def started(self, group: Group, step: int) -> None:
        self.starts.append((group.name, step))

    def happened(self, group: Group, event: Event) -> None:
        self.events.append((group.name, event))

    def said(self, message: str) -> None:
        self.messages.append(message)

    def of(self, kind: type[Any]) -> list[Any]:
        """All events of a kind."""
        return [event for _, event in self.events if isinstance(event, kind)]


def drive(
    store: Path,
    groups: Sequence[Group],
    executor: Executor | None = None,
    listener: Listener | None = None,
    **more: Any,
) -> Listener:
    """Train groups into a store; returns who listened."""
    heard = listener or Listener()
    with Records(store) as records:
        driver = Driver(records, executor or LocalExecutor(CPU), ENVIRONMENT, heard, **more)
        driver.run(groups)
    return heard
