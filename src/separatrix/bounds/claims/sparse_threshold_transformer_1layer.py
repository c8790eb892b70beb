"""BHBK24 §4.2, F.3: one-layer Transformers that compute every member of THRES(2, N) have width Ω(N).

Derivation: as for disjointness, which is a member of the class. Two layers of width O(log N) compute every member
(Theorem 13): this is the separation between one layer and two.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always, one_member, whole_class
from separatrix.bounds.claims._settings import ONE_LAYER_ASSUMPTIONS, announced_token
from separatrix.bounds.claims.sparse_threshold_rnn import CLASS_ASSUMPTION, checks
from separatrix.bounds.simulations import ONE_LAYER

BOUND = ProtocolBound(
    name="sparse-threshold-transformer-1layer",
    claim="BHBK24 §4.2 and F.3",
    statement="a one-layer Transformer that computes every member of THRES(2, N) has width Ω(N)",
    task_names=("sparse-threshold",),
    models=("transformer-1layer",),
    assumptions=(*ONE_LAYER_ASSUMPTIONS, CLASS_ASSUMPTION),
    simulation=ONE_LAYER,
    problem="DISJ",
    reduction="disjointness-to-sparse-threshold",
    hidden_bits=lambda task, length: length // 2,
    setting=announced_token,
    in_words="⌊N/2⌋, for the member disjointness",
    outside=one_member,
    stands_for=whole_class,
    prefix=always,
    checks=checks,
)
