"""A recurrent model that decides Dyck-(n,k) tells all stacks apart: mp ≥ ⌈log2(n^D + n^(D-2) + … + 1)⌉. Elementary.

Derivation: cut a string of length N after D = min(k, N/2) brackets. The prefix leaves a stack of d brackets with d ≤ D
and d ≡ D modulo 2, any of the n^d, or it cannot be repaired any more. Closing a stack and adding pairs "()" gives a
suffix that is right for this stack and wrong for every other one, and for what cannot be repaired. So the state takes
at least 1 + Σ n^d values (Theorem 2). This is exact: the residual classes of that cut are these, and no other cut has
more. Stacks of the other parity do not occur there, so it is less than the automaton's Σ_{d≤k} n^d + 1 states (E8),
which serve all cuts at once.
"""

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import count_distinct_rows, cut, from_task
from separatrix.tasks import Task, tasks

WORDS = "⌈log2(1 + n^D + n^(D-2) + …)⌉, D = min(k, N/2)"
DEEPEST = 256
"""Deeper stacks are counted by n^D alone, with its logarithm rounded down."""
TRIED = ((2, 2), (1, 3), (3, 1), (2, 3))
LARGEST = 1 << 14


def classes(types: int, depth: int, length: int) -> int:
    """Return the residual classes after D brackets: stacks of D's parity, and what cannot be repaired.

    >>> classes(2, 2, 2), classes(2, 2, 8), classes(3, 1, 8)
    (3, 6, 4)
    """
    deepest = min(depth, length // 2)
    return 1 + sum(types**each for each in range(deepest, -1, -2))


def _hidden_bits(task: Task, length: int) -> int:
    types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
    deepest = min(depth, length // 2)
    if types == 1:
        return bits_for(2 + deepest // 2)
    if deepest <= DEEPEST:
        return bits_for(classes(types, depth, length))
    return deepest * (types.bit_length() - 1)


def _checks(limit: int) -> tuple[Evidence, ...]:
    holds, compared = True, 0
    for types, depth in TRIED:
        task = tasks()["dyck"].with_parameters(types=types, depth=depth)
        length = 2
        while (2 * types) ** length <= min(LARGEST, 4**limit):
            counted = [count_distinct_rows(from_task(task, length, cut(length, at))) for at in range(1, length)]
            expected = classes(types, depth, length)
            holds = holds and counted[min(depth, length // 2) - 1] == max(counted) == expected
            compared, length = compared + 1, length + 2
    named = ", ".join(f"({types},{depth})" for types, depth in TRIED)
    return (
        Evidence(
            "verified",
            f"the residual classes of the cut after D brackets, counted on all inputs of Dyck-(n,k) for {named} at "
            f"{compared} lengths, are as many, and no other cut has more",
            holds,
            {"compared": compared},
        ),
    )


BOUND = ProtocolBound(
    name="dyck-rnn",
    claim="residual classes of Dyck-(n,k), with BHBK24 Theorem 2",
    statement="a recurrent model that decides Dyck-(n,k) tells the stacks of up to D = min(k, N/2) brackets apart",
    task_names=("dyck",),
    models=("rnn",),
    extension=True,
    growth="constant",
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="residual classes",
    hidden_bits=_hidden_bits,
    setting=plain_setting,
    in_words=WORDS,
    checks=_checks,
)
