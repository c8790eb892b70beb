"""BHBK24 Lemma 1 and Theorem 5/10: a one-layer Transformer that decides Dyck-(2,2) has mH ≥ (N-1)/(3(p + log N)).

Derivation: the 2^(N-1) strings of the language are a fooling set when Alice holds the odd and Bob the even positions
(Lemma 1; both directions, E14), so N - 1 bits are needed. One layer gives s + H(4p + 2λ + m(p + max(p, λ))) bits with s
= 2 for the query bracket (Theorem 4, repaired). So

    H·m·(p + max(p, λ)) ≥ N - 3 - H(4p + 2λ).

The paper divides N - 1 by its claimed 3m(p + log N)H. E13 shows that the protocol as written costs more than that; the
repaired one stays below 3m(p + log N)H for m ≥ 4 with rounded products (m ≥ 8 with exact ones). Its exact count is used
here, so that no condition on m is needed. It is asymptotically stronger than the claim (1/(2p) against 1/(3(p + log N))
of N) and weaker at small N, where the constant terms count.

For other Dyck-(n,k) see ``dyck_fooling.py``. The bound is deterministic: the matrix is a partial permutation, so that a
randomised protocol needs O(log N) bits.
"""

from separatrix.bounds import dyck_fooling
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import ONE_LAYER_ASSUMPTIONS, announced_token, width_by_claim
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import ONE_LAYER
from separatrix.tasks import Task

WORDS = "N - 1 (for Dyck-(2,2))"
LONGEST_LITERAL = 10
LONGEST_UNIQUE = 16


def _checks(limit: int) -> tuple[Evidence, ...]:
    literal = [length for length in range(2, LONGEST_LITERAL + 1, 2) if length <= limit + 2]
    longer = [length for length in range(2, LONGEST_UNIQUE + 1, 2) if length <= 2 * limit + 2]
    counts = [len(dyck_fooling.dyck_strings(length)) for length in longer]
    crossed = all(bool(dyck_fooling.verify_literally(length)) for length in literal)
    unique = all(bool(dyck_fooling.verify_both_ways(length)) for length in longer)
    return (
        Evidence(
            "verified",
            f"BHBK24 Lemma 1: Dyck-(2,2) has 2^(N-1) strings of even length N, generated to N = {longer[-1]} "
            f"({counts[-1]} "
            "strings); for every N by cutting at depth 0",
            counts == [2 ** (length - 1) for length in longer],
            {"verified_to": longer[-1], "strings": counts[-1]},
        ),
        Evidence(
            "verified",
            f"they are a fooling set for odd against even positions: every crossing decided to N = {literal[-1]}, no "
            "half "
            f"occurs twice in either direction to N = {longer[-1]} (E14); for every N because depth 2 makes each half "
            "determine the other",
            crossed and unique,
            {"problem": "DYCK", "verified_to": literal[-1], "unique_to": longer[-1]},
        ),
    )


def _words(task: Task, length: int) -> str:
    del length
    types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
    if (types, depth) == (2, 2):
        return WORDS
    return f"(N/2)·⌊log2 n⌋{' + N/2 - 1' if depth == 2 else ''} (for Dyck-({types},{depth}))"


def _paper(task: Task, length: int, precision: int, heads: int) -> int | None:
    if (task.parameters()["types"], task.parameters()["depth"]) != (2, 2):
        return None
    return width_by_claim(dyck_fooling.fooling_bits(task, length), precision, length, heads)


BOUND = ProtocolBound(
    name="dyck-transformer-1layer",
    claim="BHBK24 Theorem 5/10 (Lemma 1, Theorem 4)",
    statement="a one-layer Transformer that decides Dyck-(2,2) has mH ≥ (N-1)/(3(p + log N))",
    task_names=("dyck",),
    models=("transformer-1layer",),
    why="One layer of attention sees averages over all positions. If Alice holds the odd and Bob the even positions, "
    "their parts must fit together place by place, which takes about N bits of conversation; a small layer would "
    "do with fewer, if each of them can add up a part of every sum.",
    assumptions=ONE_LAYER_ASSUMPTIONS,
    deviations=("the exact count of the repaired protocol replaces 3m(p + log N)H (E13)",),
    simulation=ONE_LAYER,
    problem="DYCK",
    hidden_bits=dyck_fooling.fooling_bits,
    setting=announced_token,
    in_words=WORDS,
    words=_words,
    checks=_checks,
    paper=_paper,
    paper_in_words="(N-1)/(3H(p + log2 N))",
)
