"""BHBK24 Theorem 8: a recurrent model for nearest neighbour or multi-query recall has m ≥ N/(2p).

Derivation: DISJ on N/2 bits hides in both tasks (reductions ``disjointness-to-nearest-neighbour`` and
``disjointness-to-mqar``) and needs N/2 bits; the state carries m·p (Theorem 2). So m·p ≥ N/2. Bob even learns all of
Alice's bits, so INDEX would do as well; the paper takes DISJ.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import crowded_points, too_few_keys
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, STORED, plain_setting, width_by_state
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.problem_facts import disjointness_fact, reduction_evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import reductions

ROOM = "nearest neighbour: d ≥ log2 (N/2), γ ≤ 2/d"


def _checks(limit: int) -> tuple[Evidence, ...]:
    return (
        reduction_evidence(reductions()["disjointness-to-nearest-neighbour"], limit),
        reduction_evidence(reductions()["disjointness-to-mqar"], limit),
        disjointness_fact(limit),
    )


BOUND = ProtocolBound(
    name="nearest-neighbour-rnn",
    claim="BHBK24 Theorem 8",
    statement="a recurrent model that solves nearest neighbour, or multi-query recall, has m ≥ N/(2p)",
    task_names=("nearest-neighbour", "mqar"),
    models=("rnn",),
    why=STORED,
    assumptions=(
        *RECURRENT_ASSUMPTIONS,
        "nearest neighbour: the dimension d is at least ⌈log2 (N/2)⌉ and the margin at most 2/d, so that N/2 corners "
        "of a "
        "hypercube keep it",
    ),
    simulation=RECURRENT,
    problem="DISJ",
    reduction="disjointness-to-nearest-neighbour",
    hidden_bits=lambda task, length: length // 2,
    setting=plain_setting,
    in_words=f"N/2 ({ROOM})",
    words=lambda task, length: "N/2" if task.name == "mqar" else f"N/2 ({ROOM})",
    outside=lambda task, length: too_few_keys(task, length) or crowded_points(task, length),
    checks=_checks,
    paper=lambda task, length, precision, heads: width_by_state(length // 2, precision),
    paper_in_words="N/(2p)",
)
