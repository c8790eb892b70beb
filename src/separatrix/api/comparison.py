"""What ``sx.compare`` answers: how each model did on each task, with tables, warnings and curves."""

from dataclasses import dataclass
from typing import Any

from separatrix.answer import Answer, Grid, Sheet, Tone
from separatrix.extras import EXTRAS
from separatrix.wording import counted, in_words

SHORT = 5
"""Short runs, which choose the rate, have a fifth of the steps."""
FEWEST = 100
"""Steps below which hardly anything is learned."""
NOT_STATED = (
    "State bits not stated: give your class a static method state_numbers(width, length), the numbers that it carries "
    "past a cut of its input, and the bounds apply to it."
)


@dataclass(frozen=True)
class Entry:
    """One model on one task: the rate that was chosen, how it ended, and what is known about any weights.

    ``learned``: better than the majority baseline, and than ``guess``, the commonest of the answers that an input
    offers (None where a task offers none). ``state_bits``: carried past a cut of the input, in numbers of 32 bits, None
    where a user's module does not state them; ``grows`` with the length. ``longest``: the longest N that the bounds
    leave open; None where none bites.
    """

    model: str
    task: str
    length: int
    yours: bool
    rate: float
    accuracy: float
    majority: float
    guess: float | None
    learned: bool
    diverged: bool
    steps: int
    seconds: float
    parameters: int
    state_bits: int | None
    grows: bool
    longest: int | None
    claim: str
    run: str
    curve: tuple[tuple[int, float], ...]


@dataclass(frozen=True, repr=False)
class Compared(Answer):
    """A comparison: an entry for each model and task, your own first.

    ``short``: the steps of the runs that chose each rate; 0 where the rate is the same for all. ``budget``: seconds,
    None where the steps were given.
    """

    layer: str
    steps: int
    short: int
    batch: int
    rates: tuple[float, ...]
    seeds: tuple[int, ...]
    recipe: str
    examples: int
    budget: float | None
    entries: tuple[Entry, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before comparing numbers."""
        found: list[str] = []
        if self.budget is not None and self.steps < FEWEST:
            found.append(
                f"{in_words(self.budget)} allowed {counted(self.steps, 'step')} of each model on this machine, too few "
                "to learn most tasks; raise --budget, or give fewer --tasks, --against"
            )
        for task in dict.fromkeys(each.task for each in self.entries):
            mine = [each for each in self.entries if each.task == task]
            idle = [each.model for each in mine if not each.learned and not each.yours]
            own = [each.model for each in mine if not each.learned and each.yours]
            lost = [each.model for each in mine if each.diverged]
            if lost:
                found.append(f"{task}: {', '.join(lost)} diverged at every learning rate")
            if len(idle) + len(own) == len(mine):
                found.append(f"{task}: no model learned within {self.steps:,} steps ({_baseline(mine[0])})")
                continue
            if idle:
                found.append(
                    f"{task}: {', '.join(idle)} did not learn ({_baseline(mine[0])}); "
                    "beating that shows nothing; raise --budget"
                )
            if own:
                found.append(f"{task}: {', '.join(own)}, your layer, did not learn within {self.steps:,} steps")
            ends = {*self.rates[:1], *self.rates[-1:]}
            edge = [each.model for each in mine if each.learned and each.accuracy < 0.99 and each.rate in ends]
            if edge and len(self.rates) > 1:
                found.append(f"{task}: the rate of {', '.join(edge)} is at the edge of those tried; widen --lr")
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {**super().as_dict(), "warnings": list(self.warnings)}

    def sheet(self) -> Sheet:
        """Show the warnings, a table for each task, the curves."""
        grids = tuple(self._grid(task) for task in dict.fromkeys(each.task for each in self.entries))
        seeds = "" if len(self.seeds) == 1 else f", the best of {len(self.seeds)} seeds"
        took = in_words(sum(each.seconds for each in self.entries))
        budget = (
            ""
            if self.budget is None
            else f", what {in_words(self.budget)} allowed on this machine; the runs took {took}"
        )
        rates = ", ".join(f"{each:g}" for each in self.rates)
        rate = (
            f"Each learning rate is the best of {rates} in runs of {counted(self.short, 'step')}."
            if self.short
            else f"The learning rate of all is {rates}: no other was tried."
        )
        notes = (
            f"Every model had {counted(self.steps, 'step')} of {self.batch} examples (recipe {self.recipe}){budget}"
            f"{seeds}. {rate} %: of {self.examples:,} fresh examples.",
            "The percentages are evidence about this budget, not a verdict on the models.",
            "No weights beyond: at longer inputs the task is impossible for the model, whatever its weights. "
            "Satisfying a bound implies neither ability nor learnability.",
        )
        if any(each.state_bits is None for each in self.entries):
            notes += (NOT_STATED,)
        return Sheet(
            f"{self.layer} compared", grids=grids, warnings=self.warnings, notes=notes, pictures=self._pictures
        )

    def _grid(self, task: str) -> Grid:
        mine = [each for each in self.entries if each.task == task]
        columns = ("model", "%", "above baseline", "rate", "parameters", "state bits", "no weights beyond")
        tones: dict[tuple[int, int], Tone] = {}
        rows: list[tuple[str, ...]] = []
        for number, each in enumerate(mine):
            tones[number, 2] = "good" if each.learned else "bad"
            beyond = "—" if each.longest is None else f"N = {each.longest:,}"
            grows = "not stated" if each.state_bits is None else f"{each.state_bits:,}{', grows' * each.grows}"
            rows.append(
                (
                    f"{each.model}{' (yours)' if each.yours else ''}", f"{100 * each.accuracy:.1f}",
                    "yes" if each.learned else "no", f"{each.rate:g}", f"{each.parameters:,}", grows, beyond,
                )
            )  # fmt: skip
        title = f"{task} at N = {mine[0].length}: {_baseline(mine[0])}"
        return Grid(title, columns, tuple(rows), tones, ("%", "rate", "parameters", "state bits"))

    def _pictures(self) -> tuple[str, ...]:
        from importlib.util import find_spec

        if find_spec("matplotlib") is None:
            extra = EXTRAS["matplotlib"]
            return (f"<p>Curves are drawn where matplotlib is installed: pip install 'separatrix[{extra}]'</p>",)
        from separatrix.site import curve_figure
        from separatrix.training import Point

        found: list[str] = []
        for number, task in enumerate(dict.fromkeys(each.task for each in self.entries)):
            curves = [
                (each.model, [Point(each.run, step, 0.0, 0.0, accuracy) for step, accuracy in each.curve])
                for each in self.entries
                if each.task == task
            ]
            found.append(curve_figure(task, curves, name=f"compare-{number}", small=True).svg)
        return tuple(found)


def _baseline(entry: Entry) -> str:
    guess = "" if entry.guess is None else f"; the commonest answer that an input offers {100 * entry.guess:.1f} %"
    return f"majority baseline {100 * entry.majority:.1f} %{guess}"
