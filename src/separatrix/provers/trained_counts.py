"""Proofs that a trained one-layer Transformer answers rightly by a count, and inputs on which it does not.

Inputs are divided by their last token and by counts with one answer. A slice that the kernel
(``separatrix_kernel.thresholds``) accepts as one box is done; else its counts are halved. Where a single count is left,
inputs that fail are looked for: those that gradients of the margin like best, then by changes that keep the count. If
none is found, places are split. The search is float64 and untrusted.

Where conditions look at several places, as those of equality do, slices are not halved: proofs split places anyway, the
ones that such conditions look at first. Inputs that fail are looked for among all inputs, or random ones where there
are too many.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy

from separatrix.provers.trained_transformer import Decided, Floats, Integers, Outcome, TransformerProver
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import Count, Inputs
from separatrix_kernel.thresholds import Part, Thresholds
from separatrix_kernel.transformer import Weights

STARTS, DRAWN, ROUNDS = 6, 256, 60
MOST_CHANGES = 4096
MOST_INPUTS, AT_ONCE = 1 << 16, 1 << 12
Slice = tuple[int, int, int]
"""The number of the last token, and the least and greatest count."""


class CountsProver(TransformerProver[Thresholds]):
    """Decides slices of one model; ``nodes`` is how many leaves and splits a proof may have.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.models.trained_files import weights_file
    >>> from separatrix.tasks import tasks
    >>> from separatrix_kernel.thresholds import read_counting
    >>> model = model_for_task(parse_spec("TF-(1,8)"), tasks()["majority"], 4, seeds=[0])
    >>> specification = read_counting(tasks()["majority"].specification(4))
    >>> prover = CountsProver(Weights(weights_file(model)), *specification)
    >>> sorted({str(each.outcome) for _, each in prover.all()})
    ['certified', 'counterexample']
    """

    def __init__(self, weights: Weights, inputs: Inputs, count: Count, nodes: int = 64) -> None:
        super().__init__(Thresholds(weights, inputs, count))
        self.nodes = nodes
        self.generator = numpy.random.default_rng(0)

    def starts(self) -> list[Slice]:
        """All last tokens with all counts, as far as these have one answer."""
        model = self.model
        firsts = [least for least, _ in model.count.answers if least <= model.greatest]
        ends = [*(least - 1 for least in firsts[1:]), model.greatest]
        return [(p, low, high) for p in range(len(model.asking)) for low, high in zip(firsts, ends, strict=True)]

    def all(self) -> Iterator[tuple[Slice, Decided]]:
        """Decide everything, slice after slice."""
        for start in self.starts():
            yield from self.decide(start)

    def decide(self, given: Slice) -> Iterator[tuple[Slice, Decided]]:
        """Parts of a slice, each certified, with an input that fails, or open."""
        p, low, high = given
        answer, sets = self.model.count.of_count(low), [list(each) for each in self.model.held]
        if self._shown(p, sets, low, high, answer):
            yield given, Decided(Outcome.CERTIFIED, ["leaf"])
        elif low < high and not self.model.joint:
            middle = (low + high) // 2
            yield from self.decide((p, low, middle))
            yield from self.decide((p, middle + 1, high))
        else:
            failing = self.run(p, low, high, answer) if self.model.joint else self.attack(p, low, answer)
            if failing is not None:
                yield given, Decided(Outcome.COUNTEREXAMPLE, failing=failing)
                return
            self._left = self.nodes
            proof = self._tree(p, sets, low, high, answer)
            yield given, Decided(Outcome.OPEN) if proof is None else Decided(Outcome.CERTIFIED, proof)

    def _shown(self, p: int, sets: list[list[int]], low: int, high: int, answer: int) -> bool:
        part = self.model.part(p, sets, low, high)
        if part is not None and self._undecided(p, sets):
            return False
        try:
            if part is not None:
                self.model.show_part(p, part, answer)
        except RefusedError:
            return False
        return True

    def _undecided(self, p: int, sets: list[list[int]]) -> bool:
        """Whether inputs with these symbols have several answers for all that is known of joint conditions."""
        low, high = self.model.holding(p, sets)
        return low < high and len(self.model.count.of_counts(low, high)) > 1

    def _tree(self, p: int, sets: list[list[int]], low: int, high: int, answer: int) -> list[Any] | None:
        self._left -= 1
        if self._shown(p, sets, low, high, answer):
            return ["leaf"]
        place = self._split(p, sets, answer) if self._left > 0 else None
        if place is None:
            return None
        some, rest = sets[place][:1], sets[place][1:]
        first = self._tree(p, [*sets[:place], some, *sets[place + 1 :]], low, high, answer)
        second = None if first is None else self._tree(p, [*sets[:place], rest, *sets[place + 1 :]], low, high, answer)
        return None if second is None else ["split", place, some, first, second]

    def _split(self, p: int, sets: list[list[int]], answer: int) -> int | None:
        """The place that is least like the others in what its symbols change, or one that a joint condition needs."""
        free = [place for place, some in enumerate(sets) if len(some) > 1]
        if not free:
            return None
        if self._undecided(p, sets):
            # Conditions of which least is open come first, so that each is determined by few splits.
            wanted = [[place for place in places if place in free] for places, _ in self.model.joint]
            return min((each for each in wanted if each), key=len)[0]
        effects = self._effects(p, self._drawn(p, sets, None, 16), answer)
        spread = numpy.array([numpy.ptp(effects[:, place, sets[place]], axis=1).max() for place in free])
        return free[int(abs(spread - numpy.median(spread)).argmax())]

    # -- inputs that fail ------------------------------------------------------------------------------------

    def _effects(self, p: int, rows: Integers, answer: int) -> Floats:
        """Of other classes, places and symbols: what a symbol does to the answer's margin, to the first order."""
        centre, step = self.attended(p, rows).mean(axis=0), 1e-4
        apart = step * numpy.eye(len(centre))
        logits = self.logits(numpy.concatenate([centre + apart, centre - apart]))
        gradient = (logits[: len(centre)] - logits[len(centre) :]) / (2 * step)
        forms = numpy.delete(gradient[:, [answer]] - gradient, answer, axis=1)
        found = numpy.zeros((forms.shape[1], self.length, self.alphabet))
        for head, (low, high) in enumerate(self.tables(p)):
            power, values = (low + high)[:-1] / 2, self.adds[head] @ forms
            mean = numpy.average(values.reshape(-1, values.shape[2]), axis=0, weights=power.flatten())
            found += numpy.moveaxis(power[..., None] * (values - mean) / power.sum(), 2, 0)
        return found

    def _drawn(self, p: int, sets: list[list[int]], count: int | None, number: int) -> Integers:
        """Random texts with these symbols; near a count, where one is given."""
        rows = [self._text(p, self.generator.random(self.length), sets, count) for _ in range(number)]
        return numpy.array(rows, dtype=numpy.int64)

    def _text(self, p: int, liked: Floats, sets: list[list[int]], count: int | None) -> list[int]:
        """A text with symbols that count more where ``liked`` is least; without a count wherever it is below a half."""
        part = self.model.part(p, sets, 0, self.model.greatest)
        assert part is not None
        row = [int(self.generator.choice(less)) for less, _, _ in part.groups]
        left = None if count is None else count - self.model.worth[-1][p] - self._counted(part)
        for place in numpy.argsort(liked, kind="stable").tolist():
            _, more, apart = part.groups[place]
            if apart and (liked[place] < 0.5 if left is None else apart <= left):
                row[place] = int(self.generator.choice(more))
                left = None if left is None else left - apart
        return row

    def _counted(self, part: Part) -> int:
        return sum(self.model.worth_of(place, less[0]) for place, (less, _, _) in enumerate(part.groups))

    def attack(self, p: int, count: int, answer: int) -> tuple[int, ...] | None:
        """An input of a slice that fails in float64, or None where none was found."""
        sets = [list(each) for each in self.model.held]
        rows = self._drawn(p, sets, count, DRAWN)
        effects = self._effects(p, rows, answer)
        for effect in effects:
            change = [effect[place, some[-1]] - effect[place, some[0]] for place, some in enumerate(sets)]
            rows = numpy.concatenate([rows, [self._text(p, numpy.array(change), sets, count)]])
        rows = rows[[self.model.counted([*row, self.model.asking[p]]) == count for row in rows.tolist()]]
        if not len(rows):
            return None
        margins = self.margins(p, answer, rows)
        for start in rows[numpy.argsort(margins, kind="stable")[:STARTS]]:
            row, margin = start, float(self.margins(p, answer, start[None])[0])
            for _ in range(ROUNDS):
                if margin <= 0:
                    return (*map(int, row), self.model.asking[p])
                changed = self._neighbours(row)
                found = self.margins(p, answer, changed)
                best = int(found.argmin())
                if found[best] >= margin:
                    break
                row, margin = changed[best], float(found[best])
        return None

    def run(self, p: int, low: int, high: int, answer: int) -> tuple[int, ...] | None:
        """The input of a slice that is answered worst in float64, if it fails."""
        held, asking = self.model.held, self.model.asking[p]
        if self.model.inputs.at_most(MOST_INPUTS):
            every = numpy.array([*itertools.product(*held)], dtype=numpy.int64)
        else:
            every = numpy.array([self.generator.choice(each, MOST_INPUTS) for each in held], dtype=numpy.int64).T
        rows = every[[low <= self.model.counted([*row, asking]) <= high for row in every.tolist()]]
        margins = [self.margins(p, answer, rows[start : start + AT_ONCE]) for start in range(0, len(rows), AT_ONCE)]
        worst = int(numpy.concatenate(margins).argmin()) if margins else 0
        if not margins or numpy.concatenate(margins)[worst] > 0:
            return None
        return (*map(int, rows[worst]), asking)

    def _neighbours(self, row: Integers) -> Integers:
        """Texts with the same count: two places exchange what they count, or one symbol becomes another."""
        held = self.model.held
        pairs = [(i, j) for i in range(self.length) for j in range(i) if row[i] != row[j]]
        changes = [(i, int(row[j]), j, int(row[i])) for i, j in pairs if row[j] in held[i] and row[i] in held[j]]
        changes += [(i, s, i, s) for i, some in enumerate(held) for s in some]
        same = [
            change
            for change in changes
            if sum(self.model.worth_of(at, to) - self.model.worth_of(at, int(row[at])) for at, to in _once(change)) == 0
        ]
        if len(same) > MOST_CHANGES:
            same = [same[i] for i in self.generator.choice(len(same), MOST_CHANGES, replace=False)]
        changed = numpy.repeat(row[None], len(same) + 1, axis=0)
        for number, change in enumerate(same):
            for at, to in _once(change):
                changed[number, at] = to
        return changed


def _once(change: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """The places of a change and what they become."""
    return list({change[0]: change[1], change[2]: change[3]}.items())
