"""Certify a trained lookup: every pair (place, symbol) is proved for all texts, refuted by one, or left open."""

from functools import partial
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.certify_parts import Certified, accepted, answers_wrongly, certify_parts, refused
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.trained_files import weights_file
from separatrix.provers import Decided, LookupProver, Outcome
from separatrix.tasks import tasks
from separatrix_kernel.lookup import proved
from separatrix_kernel.trained import TRAINED_FORMAT, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights

Pair = tuple[int, int]


def certify_lookup(model: SequenceModel, length: int, folder: Path, nodes: int = 64) -> Certified[Pair]:
    """Decide all pairs of a model that was trained on index lookup, and write weights and certificate into a folder."""
    data, alphabet = weights_file(model), model.classes
    if not 1 <= length < model.length or model.vocabulary < alphabet + length:
        raise SeparatrixError(f"--length {length} is not a length of this model; choose 1 to {model.length - 1}")
    with refused():
        prover = LookupProver(Weights(data), alphabet, length, nodes)
    # Already before the first pair: a folder of weights can be certified too.
    write_atomically(folder / WEIGHTS_FILE, data)
    pairs = [(p, c) for p in range(length) for c in range(alphabet)]
    claim = {"format": TRAINED_FORMAT, "task": "index-lookup", "alphabet": alphabet, "length": length}
    decide = lambda pair: [(pair, _decided(model, prover, pair))]  # noqa: E731
    return certify_parts(folder, data, claim, nodes, f"{length}*{alphabet}^{length}", pairs, decide, list)


def _decided(model: SequenceModel, prover: LookupProver, pair: Pair) -> Decided:
    """One box for all texts is tried first: where the kernel accepts that, there is nothing to search."""
    task = tasks()["index-lookup"].with_parameters(alphabet=model.classes)
    about = partial(proved, prover.model, *pair), partial(answers_wrongly, model, task, prover.model.length)
    plain = accepted(Decided(Outcome.CERTIFIED, ["leaf", []]), *about)
    return plain if plain.proof is not None else accepted(prover.decide(*pair), *about)
