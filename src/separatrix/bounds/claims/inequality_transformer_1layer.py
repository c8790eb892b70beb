"""BHBK24 Theorem 12: a one-layer Transformer that computes INEQ has mpH = Ω(N).

Derivation: EQ on N/2 bits hides in INEQ and needs N/2 bits (Fact 2); one layer gives s + H(4p + 2λ + m(p + max(p, λ)))
bits, s for the last symbol (Theorem 4, repaired: E13). So H·m·(p + max(p, λ)) ≥ N/2 - s - H(4p + 2λ). The paper gives
no constant; with its Theorem 4 as claimed it would be mH ≥ N/(6(p + log N)).
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import first_half_first, other_positions
from separatrix.bounds.claims._settings import CONVERSATION, ONE_LAYER_ASSUMPTIONS, announced_token, width_by_claim
from separatrix.bounds.claims.inequality_rnn import checks
from separatrix.bounds.simulations import ONE_LAYER

BOUND = ProtocolBound(
    name="inequality-transformer-1layer",
    claim="BHBK24 Theorem 12",
    statement="a one-layer Transformer that computes INEQ on {0,1}^N has mpH = Ω(N)",
    task_names=("inequality", "equality", "eq-random"),
    models=("transformer-1layer",),
    why=CONVERSATION,
    assumptions=ONE_LAYER_ASSUMPTIONS,
    deviations=("the exact count of the repaired protocol gives the constant (E13)",),
    simulation=ONE_LAYER,
    problem="EQ",
    reduction="equality-to-inequality",
    hidden_bits=lambda task, length: length // 2,
    setting=announced_token,
    in_words="N/2",
    outside=other_positions,
    prefix=first_half_first,
    checks=checks,
    paper=lambda task, length, precision, heads: width_by_claim(length // 2, precision, length, heads),
    paper_in_words="N/(6H(p + log2 N)), with Theorem 4 as claimed",
)
