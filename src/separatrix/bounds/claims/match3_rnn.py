"""A recurrent model that answers triple matching at the last number has m·p ≥ ⌊(N-1)/2⌋. Not stated in the papers.

Derivation: the reduction of SHT23 (repaired, E15) gives Alice a prefix and Bob the rest with the query at the end, so
Theorem 2 applies to it as well: the state after Alice's numbers decides DISJ on ⌊(N - 1)/2⌋ bits. Only the last answer
is used.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import one_at_every_query
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.claims.match3_transformer_1layer import WORDS, checks, hidden_bits, in_words
from separatrix.bounds.simulations import RECURRENT

BOUND = ProtocolBound(
    name="match3-rnn",
    claim="SHT23's reduction with BHBK24 Theorem 2",
    statement="a recurrent model that solves triple matching at the last number has mp ≥ ⌊(N-1)/2⌋",
    task_names=("match3", "match3-last"),
    models=("rnn",),
    extension=True,
    assumptions=(*RECURRENT_ASSUMPTIONS, "M ≥ N + 3; for a smaller M only ⌊(M - 4)/2⌋ bits fit"),
    simulation=RECURRENT,
    problem="DISJ",
    reduction="disjointness-to-match3",
    hidden_bits=hidden_bits,
    setting=plain_setting,
    in_words=WORDS,
    outside=one_at_every_query,
    words=in_words,
    checks=checks,
)
