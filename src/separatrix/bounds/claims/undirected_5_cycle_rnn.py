"""A recurrent model that reads a graph row by row and answers at the last vertex needs n(n-1)/2 bits, n = ⌊(N-1)/2⌋.

Not in the papers, which state no bound for undirected 5-cycle. Derivation: INDEX on n(n - 1)/2 bits hides in it, read
at the last vertex (reduction ``index-to-undirected-5-cycle``).
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT
from separatrix.tasks import Task


def _hidden_bits(task: Task, length: int) -> int:
    del task
    half = (length - 1) // 2
    return half * (half - 1) // 2


BOUND = ProtocolBound(
    name="undirected-5-cycle-rnn",
    claim="INDEX in undirected 5-cycle, with BHBK24 Theorem 2",
    statement="a recurrent model that solves undirected 5-cycle at the last vertex has mp ≥ n(n-1)/2 with n = "
    "⌊(N-1)/2⌋",
    task_names=("undirected-5-cycle",),
    models=("rnn",),
    extension=True,
    growth="quadratic",
    assumptions=(*RECURRENT_ASSUMPTIONS, "rows of the adjacency matrix are read in order"),
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-undirected-5-cycle",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words="n(n - 1)/2, n = ⌊(N - 1)/2⌋",
    checks=hidden_by("index-to-undirected-5-cycle", index_fact),
)
