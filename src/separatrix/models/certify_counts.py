"""Certify a trained Transformer on a task that counts: every slice is proved, refuted by an input, or left open.

A slice is a last token and some counts.
"""

from collections.abc import Collection
from fractions import Fraction
from functools import partial
from pathlib import Path

from separatrix.models.certify_parts import (
    Certified,
    accepted,
    answers_wrongly,
    certify_parts,
    check_positions,
    refused,
)
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.trained_files import weights_file
from separatrix.provers import CountsProver, Decided, Slice
from separatrix.tasks import Task, changed_label
from separatrix_kernel.thresholds import proved, read_counting
from separatrix_kernel.trained import COUNTS_FORMAT
from separatrix_kernel.transformer import Weights


def counts(task: Task, length: int) -> bool:
    """Whether a task's answer is a function of how many conditions hold.

    >>> from separatrix.tasks import tasks
    >>> [counts(tasks()[name], 4) for name in ("majority", "equality", "index-lookup")]
    [True, True, False]
    """
    return (task.specification(length) or {"answer": {}})["answer"].get("kind") == "count"


def certify_counts(model: SequenceModel, task: Task, length: int, folder: Path, nodes: int = 64) -> Certified[Slice]:
    """Decide all slices of a model that was trained to count, and write weights and certificate into a folder."""
    check_positions(model, task, length)
    data, plain = weights_file(model), task.specification(length)
    with refused():
        inputs, count = read_counting(plain)
        prover = CountsProver(Weights(data), inputs, count, nodes)
    kernel, wrongly = prover.model, partial(answers_wrongly, model, task, length)

    def checked(part: Slice, decided: Decided) -> Decided:
        # That one box is enough was the kernel's own word.
        known = decided.proof == ["leaf"]
        return decided if known else accepted(decided, partial(proved, kernel, *part), wrongly)

    def decide(start: Slice) -> list[tuple[Slice, Decided]]:
        return [(part, checked(part, each)) for part, each in prover.decide(start)]

    def share(shown: Collection[Slice], _: int) -> Fraction:
        covered = sum(sum(kernel.numbers[p][low : high + 1]) for p, low, high in shown)
        return Fraction(covered, count.count(inputs))

    stated = lambda part: [kernel.asking[part[0]], *part[1:]]  # noqa: E731
    claim = {"format": COUNTS_FORMAT, "task": changed_label(task), "length": length, "specification": plain}
    return certify_parts(folder, data, claim, nodes, inputs.covered, prover.starts(), decide, stated, share)
