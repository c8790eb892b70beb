"""Index lookup over a larger alphabet: m·p ≥ N·⌊log2 |Σ|⌋. Not in the papers, which use two symbols of the alphabet.

Derivation: with k = ⌊log2 |Σ|⌋ each of Alice's symbols writes k of her bits; Bob looks up the symbol that holds his
place and reads his bit off it. So INDEX on N·k bits hides in index lookup, and the rest is Theorem 3.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT
from separatrix.tasks import Task


def _hidden_bits(task: Task, length: int) -> int:
    return length * (int(task.parameters()["alphabet"]).bit_length() - 1)


BOUND = ProtocolBound(
    name="index-lookup-alphabet-rnn",
    claim="BHBK24 Theorem 3 with all symbols of the alphabet",
    statement="a recurrent model that solves index lookup over Σ has m ≥ N·⌊log2 |Σ|⌋/p",
    task_names=("index-lookup",),
    models=("rnn",),
    extension=True,
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-index-lookup-packed",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words="N·⌊log2 |Σ|⌋",
    checks=hidden_by("index-to-index-lookup", index_fact, "index-to-index-lookup-packed"),
)
