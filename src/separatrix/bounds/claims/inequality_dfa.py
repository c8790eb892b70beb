"""BHBK24 Lemma 4 and Theorem 11, second proof: m·p ≥ N/2 by counting the states of automata.

Derivation: a recurrent model whose update is the same at every step is an automaton with 2^(mp) states (Lemma 4, whose
proof writes m for mp). An automaton that agrees with INEQ on {0,1}^N has at least 2^(N/2) states;
``inequality_automaton.py`` counts them on minimal automata. So 2^(mp) ≥ 2^(N/2).
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import other_positions, parted_in_words, parted_pairs
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting, width_by_state
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.inequality_automaton import inequality_automaton
from separatrix.bounds.simulations import AUTOMATON

LONGEST = 10


def _checks(limit: int) -> tuple[Evidence, ...]:
    found = [inequality_automaton(length) for length in range(2, max(2, min(LONGEST, 2 * limit)) + 1, 2)]
    last = found[-1]
    return (
        Evidence(
            "verified",
            f"minimal automata of the unequal words of length N reach 2^(N/2) states after N/2 symbols, counted to N = "
            f"{last.length} ({last.states_after_half} of {last.states} states); for every N because two first halves "
            "are "
            "distinguished by copying one of them",
            all(each.holds for each in found),
            {"verified_to": last.length, "states": last.states, "states_after_half": last.states_after_half},
        ),
    )


BOUND = ProtocolBound(
    name="inequality-dfa",
    claim="BHBK24 Lemma 4 and Theorem 11 (by automata)",
    statement="a recurrent model with one update for all steps that computes INEQ on {0,1}^N has mp ≥ N/2",
    task_names=("inequality",),
    models=("rnn",),
    assumptions=(*RECURRENT_ASSUMPTIONS, "the update does not depend on time"),
    deviations=("Lemma 4's m is read as mp",),
    simulation=AUTOMATON,
    problem="automaton",
    hidden_bits=parted_pairs,
    setting=plain_setting,
    in_words="N/2",
    outside=other_positions,
    words=parted_in_words,
    checks=_checks,
    paper=lambda task, length, precision, heads: (
        width_by_state(length // 2, precision) if task.parameters().get("alice") is None else None
    ),
    paper_in_words="N/(2p)",
)
