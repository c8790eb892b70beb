"""A recurrent model that decides majority counts: mp ≥ ⌈log2(⌈N/2⌉ + 1)⌉. Elementary.

Derivation: cut after t = ⌈N/2⌉ bits, and let c of them be 1; b = ⌊N/2⌋ ones are not enough. The N - t = b bits that
follow bring 0 … b more. With c = 0 the answer is 0 whatever follows; for c = 1 … b it changes at b - c + 1 further
ones, a different number for each c; with c = b + 1, which odd N have, it is 1 whatever follows. So the ⌈N/2⌉ + 1 counts
need different states (Theorem 2), and this is exact: no cut has more residual classes.
"""

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import count_distinct_rows, cut, from_task
from separatrix.tasks import tasks


def classes(length: int) -> int:
    """⌈N/2⌉ + 1: the counts that matter in the middle.

    >>> classes(4), classes(5)
    (3, 4)
    """
    return -(-length // 2) + 1


def _checks(limit: int) -> tuple[Evidence, ...]:
    task, longest = tasks()["majority"], 2 * limit
    holds = True
    for length in range(task.minimum_length, longest + 1):
        # Position 0 is [BOS], which Alice holds.
        counted = [count_distinct_rows(from_task(task, length, cut(length + 1, 1 + at))) for at in range(1, length + 1)]
        holds = holds and counted[-(-length // 2) - 1] == max(counted) == classes(length)
    return (
        Evidence(
            "verified",
            f"the residual classes of the cut in the middle, counted on all inputs to N = {longest}, are ⌈N/2⌉ + 1, "
            "and no other cut has more",
            holds,
            {"verified_to": longest},
        ),
    )


BOUND = ProtocolBound(
    name="majority-rnn",
    claim="residual classes of majority, with BHBK24 Theorem 2",
    statement="a recurrent model that decides majority tells ⌈N/2⌉ + 1 counts apart",
    task_names=("majority",),
    models=("rnn",),
    extension=True,
    growth="logarithmic",
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="residual classes",
    hidden_bits=lambda task, length: bits_for(classes(length)),
    setting=plain_setting,
    in_words="⌈log2(⌈N/2⌉ + 1)⌉",
    checks=_checks,
)
