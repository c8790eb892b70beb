"""``attack``: inputs on which a trained run fails; finding none proves nothing."""

import time
from dataclasses import dataclass
from pathlib import Path

from separatrix.answer import Answer, Fact, Sheet
from separatrix.errors import SeparatrixError

LONGEST, MOST = 86400.0, 1 << 16
SHOWN = 3
"""Failing inputs that a person sees; all are in the record."""


@dataclass(frozen=True, repr=False)
class AttackedRun(Answer):
    """What a search found on a run: the failing inputs, also as the task writes them."""

    run: str
    model: str
    task: str
    length: int
    sampled_accuracy: float
    tried: int
    failing: tuple[tuple[int, ...], ...]
    failing_shown: tuple[str, ...]
    least_margin: float
    seconds: float

    def __bool__(self) -> bool:
        """Return whether no failing input was found."""
        return not self.failing

    def sheet(self) -> Sheet:
        """Show the run, the verdict and some of the failing inputs."""
        verdict = Fact("verdict", "no failing input was found, which proves nothing")
        if self.failing:
            verdict = Fact("verdict", f"fails: {len(self.failing)} inputs were found that torch answers wrongly", "bad")
        return Sheet(facts=(
            Fact("model", f"{self.model}, run {self.run}"),
            Fact("task", f"{self.task}, length {self.length}"),
            Fact("sampled accuracy", f"{100 * self.sampled_accuracy:.2f} %"),
            verdict,
            Fact("inputs tried", str(self.tried)),
            Fact("least margin", f"{self.least_margin:.4g}"),
            *(Fact("a failing input", text) for text in self.failing_shown[:SHOWN]),
        ))  # fmt: skip


def attack(run: str, length: int | None, seconds: float, most: int, seed: int, store: Path | None) -> AttackedRun:
    """Search for so many seconds, or until ``most`` failing inputs are found; the run's own length if none is given."""
    from separatrix.models import attack as search
    from separatrix.training import Records, store_path, trained_model

    started = time.perf_counter()
    if not 0 < seconds <= LONGEST:
        raise SeparatrixError(f"--seconds {seconds} is out of range; choose more than 0 and at most {LONGEST:.0f}")
    if not 1 <= most <= MOST:
        raise SeparatrixError(f"--most {most} is out of range; choose 1 to {MOST}")
    if not 0 <= seed < 1 << 63:
        raise SeparatrixError(f"--seed {seed} is out of range; choose 0 to 2^63 - 1")
    with Records(store_path(store), create=False) as records:
        record = records.get(run)
        model = trained_model(record, records.files)
    spec, task = record.spec, record.spec.the_task()
    chosen = spec.length if length is None else length
    task.check_length(chosen)
    if model.positions is not None and task.positions(chosen) > model.length:
        raise SeparatrixError(f"--length {chosen} is longer than the run's own, {spec.length}; choose at most that")
    found = search(model, task, chosen, seconds, most, seed)
    cells = bool(task.features(chosen))  # an input of cells with several numbers has no text of its own
    return AttackedRun(
        spec.name, str(model.spec), task.name, chosen, record.result.accuracy, found.tried, tuple(found.failing),
        tuple(" ".join(map(str, row)) if cells else task.write(list(row), chosen) for row in found.failing),
        found.least_margin, round(time.perf_counter() - started, 3),
    )  # fmt: skip
