"""SHT23: every RNN that computes sparse averaging needs Ω(N) bits of hidden state, already for q = d = 1.

Derivation: INDEX hides in sparse averaging (reduction ``index-to-sparse-averaging``) with n = N - 1 bits for q = 1, as
on the slides, and n = N - (q - 1) for q > 1, where Bob's set is filled up with cells of value 0 (E23). Only the last
output is read.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, STORED, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.problem_facts import index_fact, reduction_evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import blank_cells, reductions
from separatrix.tasks import Task


def hidden_bits(task: Task, length: int) -> int:
    """N less the cells that hold no bit."""
    return max(0, length - blank_cells(int(task.parameters()["sparsity"])))


def checks(limit: int) -> tuple[Evidence, ...]:
    """INDEX inside sparse averaging for q = 1, 2, 3, and what it needs."""
    reduction = reductions()["index-to-sparse-averaging"]
    return (
        *(reduction_evidence(each, limit) for each in (reduction, *reduction.variants) if not each.fails),
        index_fact(limit),
    )


BOUND = ProtocolBound(
    name="sparse-averaging-rnn",
    claim="SHT23, sparse averaging, lower bound for RNNs",
    statement="an RNN that computes the last output of sparse averaging has Ω(N) bits of state",
    task_names=("sparse-averaging",),
    models=("rnn",),
    why=STORED,
    assumptions=RECURRENT_ASSUMPTIONS,
    deviations=(
        "Alice's cells name any fixed set instead of the empty one (E17)",
        "for q > 1 Bob's set is filled with cells of value 0 (E23)",
    ),
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-sparse-averaging",
    hidden_bits=hidden_bits,
    setting=plain_setting,
    in_words="N - max(1, q - 1)",
    checks=checks,
)
