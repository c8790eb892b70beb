"""Certify a trained Transformer of two layers on a lookup: every case is proved, refuted by an input, or left open.

A case is an asked group with its tokens, such as a place with its symbol or a pair of key and label.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path

import numpy
from numpy.typing import NDArray

from separatrix.models.attack import Attack
from separatrix.models.certify_parts import Certified, accepted, certify_parts, check_positions, refused
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.trained_files import weights_file
from separatrix.provers import ChosenProver, Decided, Outcome
from separatrix.tasks import Task, changed_label
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TWO_LAYERS_FORMAT
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import Case, Groups, Second, TwoLayers, groups_of, read_lookup

STARTS, ROUNDS, MOST_CHANGES = 64, 12, 1024


def lookup_groups(task: Task, length: int) -> Groups | None:
    """The groups of places of a task's inputs; None where it is not a lookup that two layers are certified for.

    >>> from separatrix.tasks import tasks
    >>> lookup_groups(tasks()["associative-recall"], 3).tokens
    (range(0, 6), range(6, 8))
    >>> [lookup_groups(tasks()[name], 4) for name in ("mqar", "majority")]
    [None, None]
    """
    plain = task.specification(length)
    try:
        return None if plain is None else groups_of(read_lookup(plain))
    except RefusedError:
        return None


def certify_cases(model: SequenceModel, task: Task, length: int, folder: Path, nodes: int = 64) -> Certified[Case]:
    """Decide all cases of a model that was trained on a lookup, and write weights and certificate into a folder."""
    check_positions(model, task, length)
    data, plain = weights_file(model), task.specification(length)
    with refused():
        inputs, answer = read_lookup(plain)
        groups = groups_of((inputs, answer))
        kernel = TwoLayers(Weights(data, layers=2), groups)
    prover = None
    # Where boxes between the layers are too large for a norm, nothing can be shown.
    with suppress(RefusedError):
        _ = kernel.second.rows
        prover = ChosenProver[Second](kernel.second, nodes)
    search = CaseAttack(model, task, length, groups)
    decide = lambda case: [(case, _decided(kernel, prover, search, case))]  # noqa: E731
    stated = lambda case: [case[0], list(case[1])]  # noqa: E731
    claim = {"format": TWO_LAYERS_FORMAT, "task": changed_label(task), "length": length, "specification": plain}
    # In the order of questions, so that the scores of each are computed once.
    cases = sorted(groups.every(), key=groups.question)
    return certify_parts(folder, data, claim, nodes, answer.covered(inputs), cases, decide, stated)


def _decided(kernel: TwoLayers, prover: ChosenProver[Second] | None, search: "CaseAttack", case: Case) -> Decided:
    """One box is tried first, then inputs that fail are looked for, then splits; the kernel has the last word."""
    groups = kernel.groups
    about = groups.question(case), groups.answer(case), groups.sets(case)
    proof = None if prover is None else prover.leaf(*about)[0]
    if proof is None:
        failing = search.failing(case)
        if failing is not None:
            return Decided(Outcome.COUNTEREXAMPLE, failing=failing)
        proof = None if prover is None else prover.tree(*about)
    found = Decided(Outcome.OPEN) if proof is None else Decided(Outcome.CERTIFIED, proof)
    return accepted(found, partial(kernel.prove, case), lambda _: True)


class CaseAttack:
    """Looks for inputs of one case that fail in torch: random ones, then those that differ in one other group."""

    def __init__(self, model: SequenceModel, task: Task, length: int, groups: Groups) -> None:
        self.search, self.groups = Attack(model, task, length), groups
        self.choices = numpy.array([*product(*groups.tokens)], dtype=numpy.int64)
        self.generator = numpy.random.default_rng(0)

    def failing(self, case: Case) -> tuple[int, ...] | None:
        """An input of a case that torch answers wrongly, or None where none was found."""
        rows = numpy.concatenate([self._drawn(case), *self._repeated(case)])
        margins = self.search.margins(rows)
        for _ in range(ROUNDS):
            best = int(margins.argmin())
            if margins[best] < 0 and self.search.fails(rows[best]):
                return tuple(map(int, rows[best]))
            least, row = margins[best], rows[best]
            changed = [*self._neighbours(row, case)]
            if not changed:
                return None
            rows = numpy.concatenate(changed)
            margins = self.search.margins(rows)
            if margins.min() >= least:
                return None
        return None

    def _others(self, case: Case) -> NDArray[numpy.int64]:
        """What other groups may hold."""
        return self.choices if self.groups.named else self.choices[self.choices[:, 0] != case[1][0]]

    def _row(self, held: NDArray[numpy.int64], case: Case) -> NDArray[numpy.int64]:
        """The input of a case with these tokens in all groups."""
        p, own = case
        held = held.copy()
        held[p] = own
        return numpy.append(held.flatten(), self.groups.question(case) + self.groups.asking.start)

    def _drawn(self, case: Case) -> NDArray[numpy.int64]:
        """Random inputs; where keys name groups, no two groups have the same."""
        rows, others = list[NDArray[numpy.int64]](), self._others(case)
        elsewhere = numpy.arange(self.groups.number) != case[0]
        for _ in range(STARTS):
            held = self.generator.choice(self.choices, self.groups.number)
            if not self.groups.named:
                keys = self.generator.permutation(numpy.unique(others[:, 0]))
                held[elsewhere, 0] = keys[: self.groups.number - 1]
            rows.append(self._row(held, case))
        return numpy.array(rows)

    def _repeated(self, case: Case) -> Iterator[NDArray[numpy.int64]]:
        """Inputs whose other groups all hold the same, where that is allowed."""
        if self.groups.named:
            for each in self._others(case)[:MOST_CHANGES]:
                yield self._row(numpy.repeat(each[None], self.groups.number, axis=0), case)[None]

    def _neighbours(self, row: NDArray[numpy.int64], case: Case) -> Iterator[NDArray[numpy.int64]]:
        """Inputs that differ in one other group; keys that are elsewhere already change places."""
        held = row[:-1].reshape(self.groups.number, -1)
        others = self._others(case)
        for at in range(self.groups.number):
            if at == case[0]:
                continue
            some = others if len(others) <= MOST_CHANGES else self.generator.choice(others, MOST_CHANGES)
            for each in some:
                changed = held.copy()
                if not self.groups.named:
                    changed[(held[:, 0] == each[0]), 0] = held[at, 0]
                changed[at] = each
                yield self._row(changed, case)[None]
