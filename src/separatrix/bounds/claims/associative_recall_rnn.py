"""BHBK24 Proposition 9: a recurrent model that recalls one of N labels has m ≥ N/p.

Derivation: INDEX on N bits hides in associative recall under keys agreed on (reduction
``index-to-associative-recall``); the rest is Theorem 3. The paper's proof ends with "at most N/p"; "at least" is meant.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import too_few_keys
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, STORED, plain_setting, width_by_state
from separatrix.bounds.problem_facts import hidden_by, index_fact
from separatrix.bounds.simulations import RECURRENT

BOUND = ProtocolBound(
    name="associative-recall-rnn",
    claim="BHBK24 Proposition 9",
    statement="a recurrent model that solves associative recall with N pairs has m ≥ N/p",
    task_names=("associative-recall",),
    models=("rnn",),
    why=STORED,
    assumptions=RECURRENT_ASSUMPTIONS,
    deviations=("the proof's 'at most N/p' is read as 'at least'",),
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-associative-recall",
    hidden_bits=lambda task, length: length,
    setting=plain_setting,
    in_words="N",
    outside=too_few_keys,
    checks=hidden_by("index-to-associative-recall", index_fact),
    paper=lambda task, length, precision, heads: width_by_state(length, precision),
    paper_in_words="N/p",
)
