"""BHBK24 Theorem 3: a recurrent model that looks up s_p in every input of length N has m ≥ N/p.

Derivation: INDEX on N bits hides in index lookup (reduction ``index-to-index-lookup``) and needs N bits one way (Fact
3); the state carries m·p (Theorem 2). So m·p ≥ N. The bound is the same for every alphabet of at least two symbols;
what larger ones add is in ``index_lookup_alphabet_rnn.py``.
"""

from separatrix.communication.bounds.bound import ProtocolBound
from separatrix.communication.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting, width_by_state
from separatrix.communication.bounds.evidence import Evidence
from separatrix.communication.bounds.problem_facts import index_fact, reduction_evidence
from separatrix.communication.bounds.simulations import RECURRENT
from separatrix.communication.reductions import reductions


def _checks(limit: int) -> tuple[Evidence, ...]:
    return reduction_evidence(reductions()["index-to-index-lookup"], limit), index_fact(limit)


BOUND = ProtocolBound(
    name="index-lookup-rnn",
    claim="BHBK24 Theorem 3",
    statement="a recurrent model that solves index lookup has m ≥ N/p",
    task_names=("index-lookup", "index"),
    models=("rnn",),
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="INDEX",
    reduction="index-to-index-lookup",
    hidden_bits=lambda task, length: length,
    setting=plain_setting,
    in_words="N",
    checks=_checks,
    paper=lambda task, length, precision, heads: width_by_state(length, precision),
    paper_in_words="N/p",
)
