"""BHBK24 §4.2, F.3: no recurrent model with fewer than N/2 state bits computes every member of THRES(2, N).

Derivation: the member Σ x_i x_{N/2+i} > 0 is DISJ on N/2 bits (reduction ``disjointness-to-sparse-threshold``). This is
a bound for the class: other members, such as majority, need much less. The paper draws from it that narrow recurrent
models miss functions of uniform AC⁰.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import one_member, whole_class
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.problem_facts import disjointness_fact, equality_fact, reduction_evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import reductions

CLASS_ASSUMPTION = "for the class THRES(k, N), k ≥ 2: its member disjointness needs this; other members may need less"


def checks(limit: int) -> tuple[Evidence, ...]:
    """DISJ and EQ inside the class, and what they need."""
    reduction = reductions()["disjointness-to-sparse-threshold"]
    inequality = reduction.variant("equality-to-sparse-threshold")
    return (
        reduction_evidence(reduction, limit),
        reduction_evidence(inequality, limit),
        disjointness_fact(limit),
        equality_fact(limit),
    )


BOUND = ProtocolBound(
    name="sparse-threshold-rnn",
    claim="BHBK24 §4.2 and F.3",
    statement="a recurrent model that computes every member of THRES(2, N) has mp ≥ N/2",
    task_names=("sparse-threshold",),
    models=("rnn",),
    assumptions=(*RECURRENT_ASSUMPTIONS, CLASS_ASSUMPTION),
    simulation=RECURRENT,
    problem="DISJ",
    reduction="disjointness-to-sparse-threshold",
    hidden_bits=lambda task, length: length // 2,
    setting=plain_setting,
    in_words="⌊N/2⌋, for the member disjointness",
    outside=one_member,
    stands_for=whole_class,
    checks=checks,
)
