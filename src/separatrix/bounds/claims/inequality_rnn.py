"""BHBK24 Theorem 11, first proof: a recurrent model that computes INEQ has m·p ≥ N/2, by the protocol.

Derivation: EQ on N/2 bits is the complement of INEQ with the halves as the parties' inputs (reduction
``equality-to-inequality``) and needs N/2 bits (Fact 2); the state carries m·p (Theorem 2). The same holds for equality
and for its form with a separator and random negatives; equality against one changed symbol is another problem
(``eq_one_rnn.py``). The second proof, by automata, is ``inequality_dfa.py``.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import other_positions, parted_in_words, parted_pairs
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting, width_by_state
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.problem_facts import equality_fact, reduction_evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import reductions


def checks(limit: int) -> tuple[Evidence, ...]:
    """EQ inside all three tasks, and what EQ needs."""
    reduction = reductions()["equality-to-inequality"]
    return (
        *(reduction_evidence(each, limit) for each in (reduction, *reduction.variants)),
        equality_fact(limit),
    )


BOUND = ProtocolBound(
    name="inequality-rnn",
    claim="BHBK24 Theorem 11 (by protocol)",
    statement="a recurrent model that computes INEQ on {0,1}^N has mp ≥ N/2",
    task_names=("inequality", "equality", "eq-random"),
    models=("rnn",),
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="EQ",
    reduction="equality-to-inequality",
    hidden_bits=parted_pairs,
    setting=plain_setting,
    in_words="N/2",
    outside=other_positions,
    words=parted_in_words,
    checks=checks,
    paper=lambda task, length, precision, heads: (
        width_by_state(length // 2, precision) if task.parameters().get("alice") is None else None
    ),
    paper_in_words="N/(2p)",
)
