"""SHT23: an H-headed self-attention layer that solves triple matching has H·m = Ω̃(N).

Derivation: DISJ on n = ⌊(N - 1)/2⌋ bits hides in triple matching (reduction ``disjointness-to-match3``; the slides'
encoding answers 1 on every pair, E15) and needs n bits. The query is a constant that both know, so one layer gives H(4p
+ 2λ + m(p + max(p, λ))) bits over N + 1 positions (Theorem 4, repaired), and H·m·(p + max(p, λ)) ≥ n - H(4p + 2λ). The
same holds for the variant read at the last position, where the query must match with others (``match3-last``).
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always, one_at_every_query
from separatrix.bounds.claims._settings import ONE_LAYER_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.problem_facts import disjointness_fact, reduction_evidence
from separatrix.bounds.simulations import ONE_LAYER
from separatrix.communication import reductions
from separatrix.tasks import Task

WORDS = "⌊(N - 1)/2⌋ (M ≥ N + 3)"


def hidden_bits(task: Task, length: int) -> int:
    """⌊(N - 1)/2⌋, or as many as fit a smaller modulus than N + 3."""
    modulus = task.parameters()["modulus"]
    bits = (length - 1) // 2
    return bits if modulus is None else min(bits, max(0, (int(modulus) - 4) // 2))


def in_words(task: Task, length: int) -> str:
    """Return the formula of the hidden bits, by the modulus."""
    modulus = task.parameters()["modulus"]
    return WORDS if modulus is None or int(modulus) >= length + 3 else f"⌊(M - 4)/2⌋ from 0 on (M = {modulus})"


def checks(limit: int) -> tuple[Evidence, ...]:
    """DISJ inside triple matching by both repairs, the published encoding refuted, and what DISJ needs."""
    shifted = reductions()["disjointness-to-match3"]
    excluded = shifted.variant("disjointness-to-match3-last")
    published = shifted.variant("disjointness-to-match3-as-published")
    found = published.verified_to(limit)
    return (
        reduction_evidence(shifted, limit),
        reduction_evidence(excluded, limit),
        Evidence(
            "verified",
            f"the published encoding fails on exactly the 3^n disjoint pairs, to n = {found[-1].bits} (E15)",
            all(each.failures == 3**each.bits for each in found),
            {"failures": found[-1].failures, "pairs": found[-1].pairs},
        ),
        disjointness_fact(limit),
    )


BOUND = ProtocolBound(
    name="match3-transformer-1layer",
    claim="SHT23, triple matching, lower bound for self-attention layers",
    statement="an H-headed self-attention layer that solves triple matching has Hm = Ω̃(N)",
    task_names=("match3", "match3-last"),
    models=("transformer-1layer",),
    why="A score of ordinary attention sees two numbers at a time, and whether two others complete a sum is a "
    "question about pairs: it encodes disjointness of about N bits, so one layer must be large.",
    assumptions=(*ONE_LAYER_ASSUMPTIONS, "M ≥ N + 3; for a smaller M only ⌊(M - 4)/2⌋ bits fit"),
    deviations=(
        "the encoding is repaired (E15), and the exact count of the repaired protocol gives the constant (E13)",
    ),
    simulation=ONE_LAYER,
    problem="DISJ",
    reduction="disjointness-to-match3",
    hidden_bits=hidden_bits,
    setting=plain_setting,
    in_words=WORDS,
    outside=one_at_every_query,
    words=in_words,
    prefix=always,
    checks=checks,
)
