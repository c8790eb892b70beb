"""The strongest search for inputs on which a trained model fails: any architecture, any task with a list of inputs.

An input is a choice in each block of the task's input space (``Task.space``). The search lowers the margin, which is
what the right answer's logit has more than the best other one, the least over all positions that are asked. It starts
at texts that repeat one symbol with a few others among them, at the task's own samples and at uniform inputs, and
changes one block, or many at once to the same choice, keeping what lowers the margin; all starts change side by side in
one batch, and new ones follow until the time is over. What it reports was run again, alone, and failed. That it finds
nothing proves nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy
import torch
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError
from separatrix.models.sequence_model import SequenceModel
from separatrix.progress import report
from separatrix.tasks import Task, draws_from

Choices: TypeAlias = NDArray[numpy.int64]
Floats: TypeAlias = NDArray[numpy.float64]
STARTS, CHANGES = 12, 32
LEAST_PATIENCE, MOST_PATIENCE = 8, 64
"""Rounds without a better change after which a start is given up: about as many as try every single change once."""
MOST_SWEPT = 1 << 17
MOST_CELLS = 1 << 17
"""Positions of a batch: longer inputs come in smaller batches."""


@dataclass(frozen=True)
class Attacked:
    """What a search came to."""

    tried: int
    failing: tuple[tuple[int, ...], ...]
    """Inputs, flat, that the model answers wrongly in torch; the first found first."""
    least_margin: float
    """The least margin seen, of an input that fails or not."""


class Attack:
    """A search on one model; rows are choices of the blocks."""

    def __init__(self, model: SequenceModel, task: Task, length: int, seed: int = 0) -> None:
        if not task.classes(length):
            raise SeparatrixError(f"answers of {task.name} are vectors, not classes; attack covers tasks with classes")
        task.check_length(length)
        self.model, self.task, self.length = model.eval(), task, length
        self.device = next(model.parameters()).device
        self.blocks = task.space(length).blocks
        self.sizes = numpy.array([len(block) for block in self.blocks])
        self.generator = numpy.random.default_rng(seed)
        self.tried = 0
        self.patience = min(max(int(self.sizes.sum()) // CHANGES, LEAST_PATIENCE), MOST_PATIENCE)
        self.free = numpy.flatnonzero(self.sizes > 1)
        if not len(self.free):
            raise SeparatrixError(f"{task.name} has a single input of length {length}; choose a larger length")

    # -- running the model -----------------------------------------------------------------------------------

    def inputs(self, rows: Choices) -> NDArray[numpy.int64]:
        """The inputs of choices."""
        parts = [block[rows[:, number]] for number, block in enumerate(self.blocks)]
        return self.task.assemble(numpy.concatenate(parts, axis=1), self.length)

    @torch.no_grad()
    def margins(self, inputs: NDArray[numpy.int64]) -> Floats:
        """Of each input its margin; infinite where the input is not one of the task's."""
        self.tried += len(inputs)
        targets, read = (
            torch.from_numpy(numpy.ascontiguousarray(each)).to(self.device)
            for each in self.task.label(inputs, self.length)
        )
        cells = torch.from_numpy(numpy.ascontiguousarray(inputs)).to(self.device).unsqueeze(0)
        if bool((read.sum(dim=1) == 1).all()):
            place = read.to(torch.int64).argmax(dim=1, keepdim=True)
            logits = self.model(cells, read=place.unsqueeze(0))[0].double()
            targets, read = targets.gather(1, place), read.gather(1, place)
        else:
            logits = self.model(cells)[0].double()
        own = logits.gather(2, targets.clamp(min=0).unsqueeze(2)).squeeze(2)
        other = logits.scatter(2, targets.clamp(min=0).unsqueeze(2), -torch.inf).amax(dim=2)
        found = torch.where(read, (own - other).nan_to_num(-torch.inf), torch.inf).amin(dim=1).cpu().numpy()
        return numpy.where(self.task.admissible(inputs, self.length), found, numpy.inf)

    def fails(self, row: NDArray[numpy.int64]) -> bool:
        """Whether the model, given this input alone, answers wrongly anywhere."""
        return bool(self.margins(row[None])[0] < 0)

    # -- where to begin, and what to change --------------------------------------------------------------------

    def starts(self, count: int = STARTS) -> Choices:
        """Repeated symbols with a few others, samples of the task, uniform choices."""
        uniform = self.generator.integers(0, self.sizes, (count, len(self.sizes)))
        repeated = self.generator.integers(0, 1 << 30, (count, 1)) % self.sizes
        others = self.generator.random(repeated.shape) < self.generator.integers(0, 3, (count, 1)) / len(self.sizes)
        # The last block is often a question, which is not part of the text that repeats.
        others[:, -1] = True
        mixed = numpy.where(others, uniform, repeated)
        sampled = self._sampled(count)
        third = count // 3
        return numpy.concatenate([mixed[: count - third], (uniform if sampled is None else sampled)[:third]])

    def swept(self, count: int) -> Iterator[Choices]:
        """Texts that repeat one symbol but for one block, all of them or as many as are allowed, in random order."""
        last, others = len(self.sizes) - 1, [int(block) for block in self.free if block < len(self.sizes) - 1]
        changes = numpy.array([(block, choice) for block in others for choice in range(self.sizes[block])])
        if not len(changes):
            return
        every = int(self.sizes[others].max()) * len(changes)
        few = every <= 4 * MOST_SWEPT
        order = self.generator.permutation(every) if few else self.generator.integers(0, every, MOST_SWEPT)
        for start in range(0, min(every, MOST_SWEPT), count):
            repeated, number = numpy.divmod(order[start : start + count], len(changes))
            block, choice = changes[number].T
            rows = repeated[:, None] % self.sizes
            # A last block with a choice for each other one is a question about that.
            named = self.sizes[last] == last
            rows[:, last] = block if named else self.generator.integers(0, self.sizes[last], len(rows))
            rows[numpy.arange(len(rows)), block] = choice
            yield rows

    def _sampled(self, count: int) -> Choices | None:
        """Samples of the task as choices, where each cell is a block of its own."""
        if any(block.shape[1] != 1 for block in self.blocks):
            return None
        seed = int(self.generator.integers(1 << 31))
        drawn = numpy.asarray(self.task.sample(draws_from(seed), count, self.length, "eval").inputs)
        cells = drawn.reshape(len(drawn), -1)
        if cells.shape[1] != len(self.blocks):
            return None
        found = numpy.stack(
            [numpy.argmax(block[:, 0][None] == cells[:, [at]], axis=1) for at, block in enumerate(self.blocks)], axis=1
        )
        return found if numpy.array_equal(self.inputs(found), drawn) else None

    def changed(self, rows: Choices, count: int) -> Choices:
        """``count`` changes of each row: one block to another choice, or about half of all blocks to one choice."""
        many = numpy.repeat(rows[:, None], count, axis=1)
        spots = self.generator.choice(self.free, many.shape[:2])
        values = self.generator.integers(0, 1 << 30, many.shape[:2])
        one, two = numpy.indices(many.shape[:2])
        many[one, two, spots] = values % self.sizes[spots]
        groups = range(0, count, 4)
        chosen = self.generator.random((len(rows), len(groups), len(self.sizes))) < self.generator.random(
            (1, len(groups), 1)
        )
        chosen[..., -1] = False
        common = values[:, : len(groups), None] % self.sizes
        many[:, ::4] = numpy.where(chosen, common, many[:, ::4])
        return many

    # -- the search --------------------------------------------------------------------------------------------

    def run(self, seconds: float, most: int = 8, rounds: int | None = None) -> Attacked:
        """Search for so long or so many rounds, or until so many failing inputs were found."""
        started, failing = time.monotonic(), dict[tuple[int, ...], None]()
        least = numpy.inf
        positions = self.task.positions(self.length)
        batch = max(STARTS, min(STARTS * CHANGES, MOST_CELLS // positions))
        for rows, margins in islice(self._descents(batch // STARTS), rounds):
            report("searching", min(round(time.monotonic() - started), round(seconds)), round(seconds))
            least = min(least, float(margins.min()))
            for row in rows[margins < 0]:
                cells = self.inputs(row[None])[0]
                if self.fails(cells):
                    failing.setdefault(tuple(map(int, cells.flatten())))
            if len(failing) >= most or time.monotonic() - started >= seconds:
                break
        return Attacked(self.tried, tuple(failing)[:most], least)

    def _descents(self, changes: int) -> Iterator[tuple[Choices, Floats]]:
        """Rows and their margins after each round, start after start."""
        rows, margins = numpy.empty((0, len(self.sizes)), dtype=numpy.int64), numpy.empty(0)
        for some in self.swept(STARTS * changes):
            found = self.margins(self.inputs(some))
            yield some, found
            rows, margins = numpy.concatenate([rows, some]), numpy.concatenate([margins, found])
            best = margins.argsort(kind="stable")[:STARTS]
            rows, margins = rows[best], margins[best]
        if len(rows) == STARTS:
            yield from self._descent(rows, margins, changes)
        while True:
            # As many as one round of changes tries; those with the least margins continue.
            rows = self.starts(STARTS * changes)
            margins = self.margins(self.inputs(rows))
            yield rows, margins
            best = margins.argsort(kind="stable")[:STARTS]
            yield from self._descent(rows[best], margins[best], changes)

    def _descent(self, rows: Choices, margins: Floats, changes: int) -> Iterator[tuple[Choices, Floats]]:
        """The same from these rows, until changes do not lower margins any more."""
        idle = 0
        while idle < self.patience and not (margins < 0).any():
            many = self.changed(rows, changes)
            found = self.margins(self.inputs(many.reshape(-1, many.shape[2]))).reshape(many.shape[:2])
            best = found.argmin(axis=1)
            lower = numpy.take_along_axis(found, best[:, None], axis=1)[:, 0]
            better = lower < margins
            rows = numpy.where(better[:, None], many[numpy.arange(len(rows)), best], rows)
            margins = numpy.where(better, lower, margins)
            idle = 0 if better.any() else idle + 1
            yield rows, margins


def attack(model: SequenceModel, task: Task, length: int, seconds: float, most: int = 8, seed: int = 0) -> Attacked:
    """Look for inputs that a model of one member fails on."""
    return Attack(model, task, length, seed).run(seconds, most)
