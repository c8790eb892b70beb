"""A recurrent model that repeats the first half symbol by symbol has m·p ≥ (N/2)·⌊log2 |Σ'|⌋. Not in the papers.

BHBK24 H.2 uses the task in experiments only. Derivation: let Alice run the model on the first half and [SEP] and send
the state. Bob reads the next symbol off the answer, feeds it back, and so on: he learns the first half, of which there
are |Σ'|^(N/2), Σ' being the symbols without [SEP]. Two first halves with the same state would be repeated alike.
"""

from itertools import product

import numpy

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import Integers
from separatrix.tasks import Task, tasks


def _hidden_bits(task: Task, length: int) -> int:
    symbols = int(task.parameters()["vocabulary_size"]) - 1
    return length // 2 * (symbols.bit_length() - 1)


def repeated(task: Task, length: int) -> Integers:
    """Return the words that repeat a first half, over as many symbols as a power of two of them is."""
    half, bits = length // 2, (int(task.parameters()["vocabulary_size"]) - 1).bit_length() - 1
    halves = numpy.array(list(product(range(1 << bits), repeat=half)), dtype=numpy.int64)
    separator = numpy.full((len(halves), 1), int(task.parameters()["vocabulary_size"]) - 1)
    return numpy.concatenate([halves, separator, halves], axis=1)


def _checks(limit: int) -> tuple[Evidence, ...]:
    task = tasks()["eq-ncp"].with_parameters(vocabulary_size=3)
    holds = True
    for half in range(1, limit + 1):
        answers = numpy.concatenate([part.targets[:, half : 2 * half] for part in task.enumerate(2 * half)])
        firsts = numpy.concatenate([part.inputs[:, :half] for part in task.enumerate(2 * half)])
        holds = holds and bool((answers == firsts).all()) and len(numpy.unique(firsts, axis=0)) == 2**half
    return (
        Evidence(
            "verified",
            f"the answers from [SEP] on are the first half, for all 2^n first halves over two symbols to n = {limit}; "
            "so the "
            "state after [SEP] tells all first halves apart",
            holds,
            {"verified_to": limit},
        ),
    )


BOUND = ProtocolBound(
    name="eq-ncp-rnn",
    claim="copying, with BHBK24 Theorem 2",
    statement="a recurrent model that repeats the first half has mp ≥ (N/2)·⌊log2 |Σ'|⌋",
    task_names=("eq-ncp",),
    models=("rnn",),
    extension=True,
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="copying",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words="(N/2)·⌊log2 |Σ'|⌋",
    instances=repeated,
    checks=_checks,
)
