"""BHBK24 Theorem 3: a recurrent model that looks up s_p in every input of length N has m ≥ N/p.

Derivation: INDEX on N bits hides in index lookup (reduction ``index-to-index-lookup``) and needs N bits one way (Fact
3); the state carries m·p (Theorem 2). So m·p ≥ N. The bound is the same for every alphabet of at least two symbols;
what larger ones add is in ``index_lookup_alphabet_rnn.py``.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting, width_by_state
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT

BOUND = ProtocolBound(
    name="index-lookup-rnn",
    claim="BHBK24 Theorem 3",
    statement="a recurrent model that solves index lookup has m ≥ N/p",
    task_names=("index-lookup", "index"),
    models=("rnn",),
    why="A recurrent model has read all symbols before it learns which one is queried: any two different strings "
    "must leave it in different states, so it must carry N·log₂|Σ| bits.",
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-index-lookup",
    hidden_bits=lambda task, length: length,
    setting=plain_setting,
    in_words="N",
    checks=hidden_by("index-to-index-lookup", index_fact),
    paper=lambda task, length, precision, heads: width_by_state(length, precision),
    paper_in_words="N/p",
)
