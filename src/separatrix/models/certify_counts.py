"""Certify a trained Transformer on a task that counts: every slice is proved, refuted by an input, or left open.

A slice is a last token and some counts. Proofs have been accepted by the kernel (``separatrix_kernel.thresholds``)
before they are written next to the weights, and each counterexample was run in torch and failed. Work that was stopped
resumes (``certify_progress``).
"""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.certify_progress import Progress, from_plain, to_plain
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.trained_files import weights_file
from separatrix.progress import tracked
from separatrix.provers import CountsProver, Decided, Outcome, Slice
from separatrix.tasks import Task, changed_label, task_label
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.thresholds import proved, read_counting
from separatrix_kernel.trained import COUNTS_FORMAT, TRAINED_FILE, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights


@dataclass(frozen=True)
class CertifiedCounts:
    """What is known about a trained model and a task that counts, at one length."""

    length: int
    slices: dict[Slice, Decided]
    inputs: str
    """How many inputs there are, as a power."""
    share: Fraction
    """The share of all inputs that are certified."""
    resumed: int = 0
    """How many groups of slices earlier work had decided."""

    def count(self, outcome: Outcome) -> int:
        """How many slices ended so."""
        return sum(each.outcome == outcome for each in self.slices.values())

    def left(self) -> list[Slice]:
        """The slices that are open."""
        return [part for part, each in self.slices.items() if each.outcome == Outcome.OPEN]

    def failing(self) -> list[tuple[int, ...]]:
        """The inputs that torch answers wrongly, one of each slice that has any that were found."""
        return [each.failing for each in self.slices.values() if each.failing is not None]


def counts(task: Task, length: int) -> bool:
    """Whether a task's answer is a function of how many conditions hold.

    >>> from separatrix.tasks import tasks
    >>> [counts(tasks()[name], 4) for name in ("majority", "equality", "index-lookup")]
    [True, True, False]
    """
    return (task.specification(length) or {"answer": {}})["answer"].get("kind") == "count"


def certify_counts(model: SequenceModel, task: Task, length: int, folder: Path, nodes: int = 64) -> CertifiedCounts:
    """Decide all slices of a model that was trained to count, and write weights and certificate into a folder."""
    task.check_length(length)
    if task.positions(length) > model.length:
        raise SeparatrixError(f"--length {length} is longer than this model's inputs of {model.length} tokens")
    data, plain = weights_file(model), task.specification(length)
    try:
        inputs, count = read_counting(plain)
        prover = CountsProver(Weights(data), inputs, count, nodes)
    except RefusedError as refusal:
        raise SeparatrixError(f"these weights cannot be certified: {refusal}") from refusal
    kernel, found = prover.model, dict[Slice, Decided]()

    def decided(start: Slice) -> list[tuple[Slice, Decided]]:
        parts = prover.decide(start)
        return [(part, _confirmed(model, task, length, _checked(prover, part, each))) for part, each in parts]

    digest = hashlib.sha256(data).hexdigest()
    about = {"sha256": digest, "task": task_label(task), "length": length, "nodes": nodes}
    with Progress(folder, _read, _write, **about) as progress:
        for start in tracked(prover.starts(), f"certifying slices of {inputs.covered} inputs"):
            found |= dict(progress.decided(start, partial(decided, start)))
    shown = {part: each for part, each in found.items() if each.proof is not None}
    covered = sum(sum(kernel.numbers[p][low : high + 1]) for p, low, high in shown)
    result = CertifiedCounts(length, found, inputs.covered, Fraction(covered, count.count(inputs)), progress.resumed)
    claim = {
        "format": COUNTS_FORMAT,
        "task": changed_label(task),
        "length": length,
        "specification": plain,
        "sha256": digest,
        "certified": [[*_stated(prover, part), each.proof] for part, each in shown.items()],
        "counterexamples": [list(row) for row in result.failing()],
        "open": [_stated(prover, part) for part in result.left()],
    }
    write_atomically(folder / WEIGHTS_FILE, data)
    write_atomically(folder / TRAINED_FILE, json.dumps(claim, separators=(",", ":")) + "\n")
    progress.done()
    return result


def _write(found: list[tuple[Slice, Decided]]) -> list[Any]:
    return [[part, to_plain(decided)] for part, decided in found]


def _read(found: Any) -> list[tuple[Slice, Decided]]:
    return [((int(p), int(low), int(high)), from_plain(each)) for (p, low, high), each in found]


def _stated(prover: CountsProver, part: Slice) -> list[int]:
    """A slice as the certificate has it."""
    p, low, high = part
    return [prover.model.asking[p], low, high]


def _checked(prover: CountsProver, part: Slice, decided: Decided) -> Decided:
    """What the kernel accepts: a proof that it refuses leaves its slice open. One box was the kernel's own word."""
    if decided.proof is None or decided.proof == ["leaf"]:
        return decided
    try:
        proved(prover.model, *part, decided.proof)
    except RefusedError:
        return Decided(Outcome.OPEN)
    return decided


def _confirmed(model: SequenceModel, task: Task, length: int, decided: Decided) -> Decided:
    """A counterexample that torch agrees with; where torch is right, the slice is open."""
    if decided.failing is None or answers_wrongly(model, task, length, decided.failing):
        return decided
    return Decided(Outcome.OPEN)


@torch.no_grad()
def answers_wrongly(model: SequenceModel, task: Task, length: int, row: tuple[int, ...]) -> bool:
    """Whether the model's float32 answer at the last place of an input is wrong."""
    logits: Any = model(torch.tensor([[row]]), read=torch.tensor([[[len(row) - 1]]]))[0, 0, 0]
    return int(logits.argmax()) != task.solve(list(row), length)[-1]
