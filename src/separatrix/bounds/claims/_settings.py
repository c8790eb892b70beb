"""What several bounds share: settings of the simulations, the papers' formulas, common assumptions, reasons."""

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import smallest_number
from separatrix.bounds.simulations import Setting
from separatrix.communication import claimed_bits
from separatrix.tasks import Task

RECURRENT_ASSUMPTIONS = (
    "the state has m numbers of p bits and is all that is passed on; the update may be any function and may depend on "
    "time",
    "the model is deterministic and correct on every input of length N",
)
ONE_LAYER_ASSUMPTIONS = (
    "one attention layer with H heads of m values; embeddings, feed-forwards and readout may be any functions",
    "logits, weights and values have p bits; the softmax subtracts the maximum and rounds each exponential (BHBK24 "
    "Appendix D)",
    "the model is deterministic and correct on every input of length N",
)
STORED = (
    "A recurrent model has read everything before it learns what is asked: inputs with different answers to some "
    "question must leave it in different states, so its state must hold about as many bits as the input."
)
CONVERSATION = (
    "A small layer of attention, or a small recurrent state, would let Alice and Bob, who each hold a part of the "
    "input, find the answer with few bits of conversation, and this problem takes about N."
)
"""Why several tasks are hard."""


def plain_setting(task: Task, length: int) -> Setting:
    """Return the positions of a task; no party has to send a token."""
    return Setting(positions=task.positions(length))


def announced_token(task: Task, length: int) -> Setting:
    """Return the positions of a task whose query token one party must send."""
    return Setting(positions=task.positions(length), query_bits=bits_for(task.vocabulary(length).size))


def width_by_state(bits: int, precision: int) -> int:
    """⌈bits / p⌉: the width by the papers' m ≥ bits/p."""
    return -(-bits // precision)


def width_by_claim(bits: int, precision: int, length: int, heads: int) -> int:
    """Return the smallest m with 3m(p + log2 N)H ≥ bits, exactly: BHBK24 Theorem 4 as claimed."""
    return smallest_number(lambda width: claimed_bits(width, precision, length, heads) >= bits)
