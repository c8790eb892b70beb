"""Which runs train together, and when the worse half of them leaves; plain data, so that records need no torch."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from separatrix.errors import SeparatrixError
from separatrix.training.spec import RunSpec, group_name


@dataclass(frozen=True)
class Group:
    """Runs of one shape that train together.

    ``rungs`` are the steps at which the worse half leaves; empty for a full grid. ``first_goal_ends`` stops the others
    as soon as one member has reached the goal: a figure's cell is the best of its grid. ``together`` lets members that
    reach the goal continue until all have: on a GPU a group of another size is compiled and captured anew.
    """

    specs: tuple[RunSpec, ...]
    rungs: tuple[int, ...] = ()
    first_goal_ends: bool = False
    together: bool = False

    def __post_init__(self) -> None:
        if not self.specs:
            raise SeparatrixError("a group of no runs cannot train; give at least one run")
        shapes = {spec.shape.name for spec in self.specs}
        if len(shapes) > 1:
            raise SeparatrixError(f"{len(self.specs)} runs of {len(shapes)} shapes cannot train as one; split them")
        if len({spec.name for spec in self.specs}) < len(self.specs):
            raise SeparatrixError("the same run is twice in a group; remove one")

    @property
    def name(self) -> str:
        """The name of the group's checkpoint: its runs and how they compete."""
        return group_name(self.specs, self.rungs, self.first_goal_ends, self.together)


def groups_of(specs: Iterable[RunSpec]) -> list[Group]:
    """Put runs of one shape into one group, each run once."""
    together: dict[str, dict[str, RunSpec]] = {}
    for spec in specs:
        together.setdefault(spec.shape.name, {})[spec.name] = spec
    return [Group(tuple(members.values())) for members in together.values()]


def halving_rungs(steps: int, members: int, every: int) -> tuple[int, ...]:
    """Return steps at which half of the members leave, doubling up to half of the run, so that one or two are left at
    the end.

    >>> halving_rungs(8000, 7, 500)
    (2000, 4000)
    """
    rounds = max(0, math.ceil(math.log2(members)) - 1) if members > 1 else 0
    rungs = [steps >> shift for shift in range(rounds, 0, -1)]
    return tuple(sorted({max(every, rung // every * every) for rung in rungs}))
