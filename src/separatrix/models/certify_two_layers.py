"""Certify a trained Transformer of two layers on a lookup: every case is proved, refuted by an input, or left open.

A case is an asked group with its tokens, such as a place with its symbol or a pair of key and label. Proofs have been
accepted by the kernel (``separatrix_kernel.two_layers``) before they are written next to the weights, and each
counterexample was run in torch and failed. Work that was stopped resumes (``certify_progress``).
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.attack import Attack
from separatrix.models.certify_progress import Progress, from_plain, to_plain
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.trained_files import weights_file
from separatrix.progress import tracked
from separatrix.provers import ChosenProver, Decided, Outcome
from separatrix.tasks import Task, changed_label, task_label
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, TWO_LAYERS_FORMAT, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import Case, Groups, Second, TwoLayers, groups_of, read_lookup

STARTS, ROUNDS, MOST_CHANGES = 64, 12, 1024


@dataclass(frozen=True)
class CertifiedCases:
    """What is known about a trained model of two layers and a lookup, at one length."""

    length: int
    cases: dict[Case, Decided]
    inputs: str
    """How many inputs there are, as a product."""
    resumed: int = 0
    """How many cases earlier work had decided."""

    @property
    def share(self) -> Fraction:
        """The share of all inputs that are certified; each case has the same number of inputs."""
        return Fraction(self.count(Outcome.CERTIFIED), len(self.cases))

    def count(self, outcome: Outcome) -> int:
        """How many cases ended so."""
        return sum(each.outcome == outcome for each in self.cases.values())

    def left(self) -> list[Case]:
        """The cases that are open."""
        return [case for case, each in self.cases.items() if each.outcome == Outcome.OPEN]

    def failing(self) -> list[tuple[int, ...]]:
        """The inputs that torch answers wrongly, one of each case that has any that were found."""
        return [each.failing for each in self.cases.values() if each.failing is not None]


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


def certify_cases(model: SequenceModel, task: Task, length: int, folder: Path, nodes: int = 64) -> CertifiedCases:
    """Decide all cases of a model that was trained on a lookup, and write weights and certificate into a folder."""
    task.check_length(length)
    if task.positions(length) > model.length:
        raise SeparatrixError(f"--length {length} is longer than this model's inputs of {model.length} tokens")
    data, plain = weights_file(model), task.specification(length)
    try:
        inputs, answer = read_lookup(plain)
        groups = groups_of((inputs, answer))
        kernel = TwoLayers(Weights(data, layers=2), groups)
    except RefusedError as refusal:
        raise SeparatrixError(f"these weights cannot be certified: {refusal}") from refusal
    prover = None
    # Where boxes between the layers are too large for a norm, nothing can be shown.
    with suppress(RefusedError):
        _ = kernel.second.rows
        prover = ChosenProver[Second](kernel.second, nodes)
    search = CaseAttack(model, task, length, groups)
    covered = answer.covered(inputs)
    found: dict[Case, Decided] = {}
    # In the order of questions, so that the scores of each are computed once.
    cases, digest = sorted(groups.every(), key=groups.question), hashlib.sha256(data).hexdigest()
    about = {"sha256": digest, "task": task_label(task), "length": length, "nodes": nodes}
    with Progress(folder, from_plain, to_plain, **about) as progress:
        for case in tracked(cases, f"certifying cases of {covered} inputs"):
            found[case] = progress.decided(case, partial(_decided, kernel, prover, search, case))
    result = CertifiedCases(length, found, covered, progress.resumed)
    claim = {
        "format": TWO_LAYERS_FORMAT,
        "task": changed_label(task),
        "length": length,
        "specification": plain,
        "sha256": digest,
        "certified": [[*_stated(case), each.proof] for case, each in found.items() if each.proof is not None],
        "counterexamples": [list(row) for row in result.failing()],
        "open": [_stated(case) for case in result.left()],
    }
    write_atomically(folder / WEIGHTS_FILE, data)
    write_atomically(folder / TRAINED_FILE, json.dumps(claim, separators=(",", ":")) + "\n")
    progress.done()
    return result


def _stated(case: Case) -> list[Any]:
    """A case as the certificate has it."""
    return [case[0], list(case[1])]


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
    try:
        if proof is not None:
            kernel.prove(case, proof)
            return Decided(Outcome.CERTIFIED, proof)
    except RefusedError:
        pass
    return Decided(Outcome.OPEN)


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
