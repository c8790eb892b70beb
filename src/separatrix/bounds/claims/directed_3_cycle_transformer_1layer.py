"""A one-layer Transformer that reads rows of a graph and solves directed 3-cycle has H·m = Ω̃(N). Not in the papers.

Derivation: DISJ on N - 2 bits hides in the answer of the last vertex (reduction
``disjointness-to-directed-3-cycle-one-vertex``). Its row is too long to be sent as a token, so Theorem 4's protocol is
opened by the queries: H(4p + 2λ + m(2p + max(p, λ))) ≥ N - 2. SHT23's bound for graph Transformers holds for more
layers; this one is for ordinary attention over rows.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always
from separatrix.bounds.claims._settings import ONE_LAYER_ASSUMPTIONS, plain_setting
from separatrix.bounds.problem_facts import disjointness_fact, hidden_by
from separatrix.bounds.simulations import ONE_LAYER_QUERY

BOUND = ProtocolBound(
    name="directed-3-cycle-transformer-1layer",
    claim="DISJ in directed 3-cycle, with the protocol for one layer",
    statement="a one-layer Transformer over the rows of a graph that solves directed 3-cycle has Hm = Ω̃(N)",
    task_names=("directed-3-cycle",),
    models=("transformer-1layer",),
    extension=True,
    assumptions=ONE_LAYER_ASSUMPTIONS,
    simulation=ONE_LAYER_QUERY,
    problem="DISJ",
    reduction="disjointness-to-directed-3-cycle-one-vertex",
    hidden_bits=lambda task, length: length - 2,
    setting=plain_setting,
    in_words="N - 2",
    prefix=always,
    checks=hidden_by(
        "disjointness-to-directed-3-cycle", disjointness_fact, "disjointness-to-directed-3-cycle-one-vertex"
    ),
)
