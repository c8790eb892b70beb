"""A recurrent model that reads a graph row by row and answers at the last vertex has m·p ≥ ⌊(N-1)/2⌋². Not in the
papers.

Derivation: INDEX on ⌊(N - 1)/2⌋² bits hides in directed 3-cycle, read at the last vertex (reduction
``index-to-directed-3-cycle``). The input has N(N - 1) bits, so this is linear in the size of the input.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT

BOUND = ProtocolBound(
    name="directed-3-cycle-rnn",
    claim="INDEX in directed 3-cycle, with BHBK24 Theorem 2",
    statement="a recurrent model that solves directed 3-cycle at the last vertex has mp ≥ ⌊(N-1)/2⌋²",
    task_names=("directed-3-cycle",),
    models=("rnn",),
    extension=True,
    growth="quadratic",
    assumptions=(*RECURRENT_ASSUMPTIONS, "rows of the adjacency matrix are read in order"),
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-directed-3-cycle",
    hidden_bits=lambda task, length: ((length - 1) // 2) ** 2,
    setting=plain_setting,
    in_words="⌊(N - 1)/2⌋²",
    checks=hidden_by("index-to-directed-3-cycle", index_fact),
)
