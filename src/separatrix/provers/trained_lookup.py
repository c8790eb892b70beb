"""Proofs that a trained one-layer Transformer looks up rightly, and texts on which it does not.

For each pair (place p, symbol c) the search runs the kernel's own bounds (``separatrix_kernel.lookup``) and finds what
they need to be stated: the ends of boxes and the λ of linear forms by Dinkelbach's iteration (Dinkelbach 1967), here a
Newton iteration for F(λ) = Σ_j min_s e_j(s)(v_j(s) - λ) = 0, and splits of the symbols at a place where one bound for
all texts is too coarse. Texts that fail are looked for among those that the linear forms name, then by changing one
symbol at a time. The search is float64 and untrusted: its proofs are checked by the kernel, its texts are run.
"""

import math
from typing import Any, TypeVar

import numpy

from separatrix.provers.trained_transformer import Decided, Floats, Integers, Outcome, TransformerProver
from separatrix_kernel.balls import BITS, ONE
from separatrix_kernel.lookup import STATED_BITS, Chosen, Lookup, everything
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.transformer import Weights

ITERATIONS = 60
ROUNDS = 40
STARTS = 6
UNIT = 2.0**-STATED_BITS
Kernel = TypeVar("Kernel", bound=Chosen)


class ChosenProver(TransformerProver[Kernel]):
    """Proofs for texts whose symbols are chosen one by one; ``nodes`` is how many leaves and splits one may have."""

    def __init__(self, model: Kernel, nodes: int = 64) -> None:
        super().__init__(model)
        self.nodes = nodes

    def tree(self, p: int, right: int, sets: list[list[int]]) -> list[Any] | None:
        """A proof with splits that the question p has the answer ``right`` on texts with these symbols."""
        self._left = self.nodes
        return self._tree(p, right, sets)

    def _tree(self, p: int, c: int, sets: list[list[int]]) -> list[Any] | None:
        self._left -= 1
        proof, doubt = self.leaf(p, c, sets)
        if proof is not None:
            return proof
        split = self._split(p, sets, doubt) if self._left > 0 else None
        if split is None:
            return None
        place, some = split
        rest = [s for s in sets[place] if s not in some]
        first = self._tree(p, c, [*sets[:place], some, *sets[place + 1 :]])
        second = None if first is None else self._tree(p, c, [*sets[:place], rest, *sets[place + 1 :]])
        return None if second is None else ["split", place, some, first, second]

    def leaf(self, p: int, c: int, sets: list[list[int]]) -> tuple[list[Any] | None, list[int] | None]:
        """A proof for these texts by one box, or a linear form that it falls short on."""
        try:
            passed = self.model.answers.passed(self.model.leak(p, sets))
        except RefusedError:
            return None, None
        margins = self.model.answers.margins(passed, c)
        classes: list[list[int]] = []
        # The most doubtful first: where it fails, the others need not be looked at.
        for margin, k in sorted((margin, k) for k, margin in enumerate(margins) if k != c and margin <= 0):
            del margin
            form, rest = self.model.answers.form(self.model.question(p).base, passed, c, k)
            bounds = [self._least(p, head, sets, form) for head in range(self.model.heads)]
            if rest + (sum(bounds) << (BITS - STATED_BITS)) <= 0:
                return None, form
            classes.append([k, *bounds])
        return ["leaf", classes], None

    # -- bounds ----------------------------------------------------------------------------------------------

    def _lowest(self, p: int, head: int, sets: list[list[int]], values: Floats, own: Floats) -> Floats:
        """The least averages of values (places, symbols, forms), with the question's own (forms,)."""
        low, high = self.tables(p)[head]
        allowed = numpy.zeros((self.length + 1, self.alphabet), dtype=bool)
        for place, some in enumerate(sets):
            allowed[place, some] = True
        allowed[-1, 0] = True
        table = numpy.concatenate([values, numpy.broadcast_to(own, (1, self.alphabet, len(own)))])
        bound = numpy.where(allowed[..., None], table, -math.inf).max(axis=(0, 1))
        for _ in range(ITERATIONS):
            apart = table - bound
            power = numpy.where(apart >= 0, low[..., None], high[..., None])
            terms = numpy.where(allowed[..., None], power * apart, math.inf)
            best = terms.argmin(axis=1)[:, None, :]
            total = numpy.take_along_axis(terms, best, axis=1).sum(axis=(0, 1))
            weight = numpy.take_along_axis(power, best, axis=1).sum(axis=(0, 1))
            bound = bound + numpy.minimum(0.0, total / numpy.maximum(weight, 1e-300))
            if (total > -1e-12).all():
                break
        return bound

    def _least(self, p: int, head: int, sets: list[list[int]], form: list[int]) -> int:
        weights = numpy.array(form, dtype=numpy.float64) / ONE
        values = (self.adds[head] @ weights)[..., None]
        own = numpy.array([self.model.own_value(p, head, form) / ONE])
        return math.floor(float(self._lowest(p, head, sets, values, own)[0]) / UNIT) - 1

    def _split(self, p: int, sets: list[list[int]], form: list[int] | None) -> tuple[int, list[int]] | None:
        """The place that leaks most, and that of its symbols that does, or those that matter to the form in doubt."""
        best: tuple[float, int, list[int]] | None = None
        weights = None if form is None else numpy.array(form, dtype=numpy.float64) / ONE
        for place, some in enumerate(sets):
            if len(some) < 2:
                continue
            effect = numpy.zeros(len(some))
            for head, (_, high) in enumerate(self.tables(p)):
                values = self.adds[head][place, some]
                away = 1.0 if weights is None else numpy.abs(values @ weights - (values @ weights).mean()) + 1e-3
                effect += high[place, some] * away
            if best is None or effect.max() > best[0]:
                ranked = [some[i] for i in numpy.argsort(-effect, kind="stable")]
                heavy = int((effect > effect.max() / 2).sum())
                best = float(effect.max()), place, ranked[: min(heavy, len(some) // 2)]
        return None if best is None else (best[1], sorted(best[2]))


class LookupProver(ChosenProver[Lookup]):
    """Decides pairs of one model at one length; ``nodes`` is how many leaves and splits a proof may have.

    >>> from separatrix_kernel.lookup import proved
    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.models.trained_files import weights_file
    >>> from separatrix.tasks import tasks
    >>> task = tasks()["index-lookup"].with_parameters(alphabet=3)
    >>> model = model_for_task(parse_spec("TF-(1,8)"), task, 2, seeds=[0])
    >>> prover = LookupProver(Weights(weights_file(model)), alphabet=3, length=2)
    >>> sorted({str(prover.decide(p, c).outcome) for p in range(2) for c in range(3)})
    ['certified', 'counterexample']
    """

    def __init__(self, weights: Weights, alphabet: int, length: int, nodes: int = 64) -> None:
        super().__init__(Lookup(weights, alphabet, length), nodes)

    # -- deciding ------------------------------------------------------------------------------------------

    def decide(self, p: int, c: int) -> Decided:
        """Certify a pair, or find an input of it that fails, or leave it open.

        An input that fails does so in float64; whether torch agrees is for the caller to see.
        """
        sets = everything(self.alphabet, self.length, p, c)
        proof = self.leaf(p, c, sets)[0]
        if proof is None:
            failing = self.attack(p, c)
            if failing is not None:
                return Decided(Outcome.COUNTEREXAMPLE, failing=failing)
            proof = self.tree(p, c, sets)
        return Decided(Outcome.OPEN) if proof is None else Decided(Outcome.CERTIFIED, proof=proof)

    # -- inputs that fail --------------------------------------------------------------------------------------

    def attack(self, p: int, c: int) -> tuple[int, ...] | None:
        """An input of this pair that fails in float64, or None where none was found."""
        rows = self._candidates(p, c)
        margins = self.margins(p, c, rows)
        for start in rows[numpy.argsort(margins, kind="stable")[:STARTS]]:
            row, margin = start, float(self.margins(p, c, start[None])[0])
            for _ in range(ROUNDS):
                if margin <= 0:
                    return (*map(int, row), self.alphabet + p)
                changed = self._neighbours(row, p)
                found = self.margins(p, c, changed)
                best = int(found.argmin())
                if found[best] >= margin:
                    break
                row, margin = changed[best], float(found[best])
        return None

    def _neighbours(self, row: Integers, p: int) -> Integers:
        """All texts that differ from this one at a single place other than p."""
        places = numpy.array([j for j in range(self.length) if j != p], dtype=numpy.int64)
        changed = numpy.repeat(row[None], len(places) * self.alphabet + 1, axis=0)
        at = numpy.arange(len(places) * self.alphabet)
        changed[at, numpy.repeat(places, self.alphabet)] = numpy.tile(numpy.arange(self.alphabet), len(places))
        return changed

    def _candidates(self, p: int, c: int) -> Integers:
        """Texts of one symbol, and for each class the one that its margin's gradient likes best."""
        powers = [numpy.sqrt(low * high) for low, high in self.tables(p)]
        rows = numpy.repeat(numpy.arange(self.alphabet)[:, None], self.length, axis=1)
        centre = self.attended(p, self._with(rows, p, c)).mean(axis=0)
        step = 1e-4
        moved = numpy.concatenate([centre + step * numpy.eye(len(centre)), centre - step * numpy.eye(len(centre))])
        logits = self.logits(moved)
        gradient = (logits[: len(centre)] - logits[len(centre) :]) / (2 * step)
        forms = gradient[:, [c]] - gradient
        liked = numpy.zeros((self.length, self.alphabet, self.alphabet))
        for head, power in enumerate(powers):
            values = self.adds[head] @ forms
            liked += power[:-1, :, None] * (values - values.mean(axis=(0, 1)))
        return self._with(numpy.concatenate([rows, liked.argmin(axis=1).T]), p, c)

    @staticmethod
    def _with(rows: Integers, p: int, c: int) -> Integers:
        rows = rows.copy()
        rows[:, p] = c
        return rows
