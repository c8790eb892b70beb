"""SHT23: sparse averaging with sets of q indices needs m nearly Ω(q) in one layer of attention.

Derivation: DISJ on q bits hides in sparse averaging with N ≥ 2q + 1 cells (reduction
``disjointness-to-sparse-averaging``, which the slides leave out); one cell holds Bob's set, which is too long to be
sent as a token, so Theorem 4's protocol is opened by the queries: H(4p + 2λ + m(2p + max(p, λ))) bits, and DISJ needs
q. So H·m·(2p + max(p, λ)) ≥ q - H(4p + 2λ). For N ≤ 2q the reduction does not fit and nothing is claimed.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always
from separatrix.bounds.claims._settings import ONE_LAYER_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import disjointness_fact, hidden_by
from separatrix.bounds.simulations import ONE_LAYER_QUERY
from separatrix.tasks import Task


def _hidden_bits(task: Task, length: int) -> int:
    sparsity = int(task.parameters()["sparsity"])
    # Below 2q + 1 cells the reduction does not fit; nothing is claimed there.
    return sparsity if length >= 2 * sparsity + 1 else 0


BOUND = ProtocolBound(
    name="sparse-averaging-transformer-1layer",
    claim="SHT23, sparse averaging, (almost) matching lower bound for attention",
    statement="a self-attention unit that computes sparse averaging has m nearly Ω(q)",
    task_names=("sparse-averaging",),
    models=("transformer-1layer",),
    growth="constant",
    assumptions=(*ONE_LAYER_ASSUMPTIONS, "N ≥ 2q + 1; the bound grows with q, not with N"),
    deviations=("the slides state the bound without reduction and constants; both are given here",),
    simulation=ONE_LAYER_QUERY,
    problem="DISJ",
    reduction="disjointness-to-sparse-averaging",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words="q (for N ≥ 2q + 1)",
    prefix=always,
    checks=hidden_by("disjointness-to-sparse-averaging", disjointness_fact),
)
