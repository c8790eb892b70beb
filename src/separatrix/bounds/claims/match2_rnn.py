"""A recurrent model that answers pair matching at the last number has m·p ≥ N - 1. Not stated in the papers.

Derivation: INDEX on N - 1 bits hides in pair matching (reduction ``index-to-match2``): Alice's numbers are a set, Bob
asks whether a number is in it. So pair matching, the slides' canonical easy problem for attention, is hard for
recurrent models.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT
from separatrix.tasks import Task

WORDS = "N - 1 (M ≥ 2N - 1)"


def _hidden_bits(task: Task, length: int) -> int:
    modulus = task.parameters()["modulus"]
    return length - 1 if modulus is None else min(length - 1, max(0, (int(modulus) - 1) // 2))


def _words(task: Task, length: int) -> str:
    modulus = task.parameters()["modulus"]
    return WORDS if modulus is None or int(modulus) >= 2 * length - 1 else f"⌊(M - 1)/2⌋ (M = {modulus})"


BOUND = ProtocolBound(
    name="match2-rnn",
    claim="INDEX in pair matching, with BHBK24 Theorem 2",
    statement="a recurrent model that solves pair matching at the last number has mp ≥ N - 1",
    task_names=("match2",),
    models=("rnn",),
    extension=True,
    assumptions=(*RECURRENT_ASSUMPTIONS, "M ≥ 2N - 1; for a smaller M only ⌊(M - 1)/2⌋ bits fit"),
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-match2",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words=WORDS,
    words=_words,
    checks=hidden_by("index-to-match2", index_fact),
)
