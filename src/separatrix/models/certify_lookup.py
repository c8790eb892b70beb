"""Certify a trained lookup: every pair (place, symbol) is proved for all texts, refuted by one, or left open.

What is found is kept pair by pair (``certify_progress``), so that work that was stopped resumes; at the end
``trained.json`` holds the proofs, next to the weights. Each proof has then been accepted by the kernel, and each
counterexample was run in torch and failed.
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
from separatrix.provers import Decided, LookupProver, Outcome
from separatrix_kernel.lookup import proved
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, TRAINED_FORMAT, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights

Pair = tuple[int, int]


@dataclass(frozen=True)
class Certified:
    """What is known about a trained lookup at one length."""

    alphabet: int
    length: int
    pairs: dict[Pair, Decided]
    resumed: int = 0
    """How many pairs earlier work had decided."""

    def count(self, outcome: Outcome) -> int:
        """How many pairs ended so."""
        return sum(each.outcome == outcome for each in self.pairs.values())

    @property
    def share(self) -> Fraction:
        """The share of all inputs that are certified; each pair has the same number of texts."""
        return Fraction(self.count(Outcome.CERTIFIED), len(self.pairs))

    @property
    def inputs(self) -> str:
        """How many inputs there are.

        >>> Certified(64, 10, {}).inputs
        '10*64^10'
        """
        return f"{self.length}*{self.alphabet}^{self.length}"

    def failing(self) -> list[tuple[int, ...]]:
        """The inputs that torch answers wrongly, one of each pair that has any that were found."""
        return [each.failing for each in self.pairs.values() if each.failing is not None]


def certify_lookup(model: SequenceModel, length: int, folder: Path, nodes: int = 64) -> Certified:
    """Decide all pairs of a model that was trained on index lookup, and write weights and certificate into a folder."""
    data = weights_file(model)
    alphabet = model.classes
    if not 1 <= length < model.length or model.vocabulary < alphabet + length:
        raise SeparatrixError(f"--length {length} is not a length of this model; choose 1 to {model.length - 1}")
    try:
        prover = LookupProver(Weights(data), alphabet, length, nodes)
    except RefusedError as refusal:
        raise SeparatrixError(f"these weights cannot be certified: {refusal}") from refusal
    about = {"sha256": hashlib.sha256(data).hexdigest(), "alphabet": alphabet, "length": length, "nodes": nodes}
    write_atomically(folder / WEIGHTS_FILE, data)
    found: dict[Pair, Decided] = {}
    pairs = [(p, c) for p in range(length) for c in range(alphabet)]
    with Progress(folder, from_plain, to_plain, **about) as progress:
        for pair in tracked(pairs, f"certifying {length}*{alphabet} pairs"):
            found[pair] = progress.decided(pair, partial(_decided, model, prover, pair))
    result = Certified(alphabet, length, found, progress.resumed)
    write_atomically(folder / TRAINED_FILE, json.dumps(_claim(result, about["sha256"]), separators=(",", ":")) + "\n")
    progress.done()
    return result


def _decided(model: SequenceModel, prover: LookupProver, pair: Pair) -> Decided:
    """One box for all texts is tried first: where the kernel accepts that, there is nothing to search."""
    plain = _checked(prover, pair, Decided(Outcome.CERTIFIED, ["leaf", []]))
    return plain if plain.proof is not None else _checked(prover, pair, _confirmed(model, prover.decide(*pair)))


def _checked(prover: LookupProver, pair: Pair, decided: Decided) -> Decided:
    """What the kernel accepts: a proof that it refuses leaves its pair open."""
    if decided.proof is None:
        return decided
    try:
        proved(prover.model, *pair, decided.proof)
    except RefusedError:
        return Decided(Outcome.OPEN)
    return decided


def _confirmed(model: SequenceModel, decided: Decided) -> Decided:
    """A counterexample that torch agrees with; where torch is right, the pair is open."""
    if decided.failing is None or fails(model, decided.failing):
        return decided
    return Decided(Outcome.OPEN)


@torch.no_grad()
def fails(model: SequenceModel, row: tuple[int, ...]) -> bool:
    """Whether the model's float32 answer to an input of a lookup is wrong.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.tasks import tasks
    >>> model = model_for_task(parse_spec("TF-(1,8)"), tasks()["index-lookup"].with_parameters(alphabet=3), 2, [0])
    >>> sum(fails(model, (a, b, 3)) for a in range(3) for b in range(3)) > 0
    True
    """
    alphabet, length = model.classes, len(row) - 1
    logits = model(torch.tensor([[row]]), read=torch.tensor([[[length]]]))[0, 0, 0]
    return int(logits.argmax()) != row[row[-1] - alphabet]


def _claim(found: Certified, digest: str) -> dict[str, Any]:
    return {
        "format": TRAINED_FORMAT,
        "task": "index-lookup",
        "alphabet": found.alphabet,
        "length": found.length,
        "sha256": digest,
        "certified": [[*pair, each.proof] for pair, each in found.pairs.items() if each.proof is not None],
        "counterexamples": [list(row) for row in found.failing()],
        "open": [list(pair) for pair, each in found.pairs.items() if each.outcome == Outcome.OPEN],
    }
