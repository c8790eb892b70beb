"""BHBK24 §4.2: a recurrent model that computes DISJ on {0,1}^N has m·p ≥ N/2.

Derivation: the task is DISJ on N/2 bits with the halves as the parties' inputs; it needs N/2 bits (Fact 1) and the
state carries m·p (Theorem 2). The paper says "width Ω(N)" and gives no constant.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import disjointness_fact, hidden_by
from separatrix.bounds.simulations import RECURRENT

checks = hidden_by("disjointness-to-sparse-threshold", disjointness_fact, "disjointness-to-disjointness")
"""DISJ inside itself, and what it needs; one layer is bounded by the same."""

BOUND = ProtocolBound(
    name="disjointness-rnn",
    claim="BHBK24 §4.2 (Theorem 2, Fact 1)",
    statement="a recurrent model that computes DISJ on {0,1}^N has width Ω(N): mp ≥ N/2",
    task_names=("disjointness",),
    models=("rnn",),
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="DISJ",
    reduction="disjointness-to-disjointness",
    hidden_bits=lambda task, length: length // 2,
    setting=plain_setting,
    in_words="N/2",
    checks=checks,
)
