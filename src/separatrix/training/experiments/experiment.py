"""The papers' experiments by name: what to train at which scale, and which table of the paper it answers.

``quick`` takes minutes on two cores with smaller lengths and models, ``reduced`` an hour of one GPU, ``paper`` is the
experiment of the paper. The table ``experiments.toml`` holds them, ``catalog`` reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from separatrix.errors import UnknownNameError
from separatrix.training.sweep import Sweep

Scale: TypeAlias = Literal["quick", "reduced", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "reduced", "paper")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure of a paper.

    ``scales`` gives the fields of the runs; a tuple is an axis, anything else is the same for all. ``replicates`` says
    that the paper trained the same, within its number of steps. ``rows`` and ``columns`` are the axes of its heat map,
    ``paper`` its table's key in ``paper_figures.json`` (None where the paper gives no numbers), ``curves`` whether it
    shows curves over steps, at the last column or at that of ``curves_at``; ``attention`` whether it shows what the
    trained models attend to. ``rounded`` says that the states of the trained models were rounded afterwards, and
    ``near_perfect`` up to which length each model learns the task in the paper where that is said in words, without
    numbers.
    """

    name: str
    title: str
    source: str
    task: str
    scales: Mapping[str, Mapping[str, Any]]
    replicates: bool = False
    rows: str = "architecture"
    columns: str = "length"
    paper: str | None = None
    curves: bool = False
    curves_at: Mapping[str, int] = field(default_factory=dict)
    attention: bool = False
    rounded: bool = False
    near_perfect: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def at(self) -> str:
        """The words before the value of a column: ``at length 50``, ``on dyck``, ``at batch 8``."""
        return "on" if self.columns == "task" else f"at {self.columns.replace('_', ' ')}"

    def sweep(self, scale: str) -> Sweep:
        """Return the sweep at a scale."""
        if scale not in self.scales:
            raise UnknownNameError(f"scale of {self.name}", scale, self.scales)
        chosen = {**self.scales[scale], "task": self.task}
        axes = {name: value for name, value in chosen.items() if isinstance(value, tuple)}
        base = {name: value for name, value in chosen.items() if name not in axes}
        return Sweep(f"{self.name}-{scale}", f"{self.title} ({scale})", base, axes)
