"""BHBK24 §4.2: a one-layer Transformer that computes DISJ on {0,1}^N has width Ω(N).

Derivation: as for INEQ (``inequality_transformer_1layer.py``) with Fact 1 in place of Fact 2. Unlike EQ, DISJ needs
Ω(N) bits of randomised communication too, so a bound of this kind holds for randomised models as well; the constant
here is the deterministic one.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always
from separatrix.bounds.claims._settings import CONVERSATION, ONE_LAYER_ASSUMPTIONS, announced_token, width_by_claim
from separatrix.bounds.claims.disjointness_rnn import checks
from separatrix.bounds.simulations import ONE_LAYER

BOUND = ProtocolBound(
    name="disjointness-transformer-1layer",
    claim="BHBK24 §4.2 (Theorem 4, Fact 1)",
    statement="a one-layer Transformer that computes DISJ on {0,1}^N has width Ω(N)",
    task_names=("disjointness",),
    models=("transformer-1layer",),
    why=CONVERSATION,
    assumptions=ONE_LAYER_ASSUMPTIONS,
    deviations=("the exact count of the repaired protocol gives the constant (E13)",),
    simulation=ONE_LAYER,
    problem="DISJ",
    reduction="disjointness-to-disjointness",
    hidden_bits=lambda task, length: length // 2,
    setting=announced_token,
    in_words="N/2",
    prefix=always,
    checks=checks,
    paper=lambda task, length, precision, heads: width_by_claim(length // 2, precision, length, heads),
    paper_in_words="N/(6H(p + log2 N)), with Theorem 4 as claimed",
)
