"""E8: the minimal automaton of Dyck-(2,2) has 8 states."""

from separatrix.profiles import load_function, parse_alphabet, profile
from separatrix.table.errata.erratum import Erratum, Finding, certified

LENGTH = 8


def show() -> tuple[Finding, ...]:
    """The automaton that agrees on all strings up to length 8."""
    _, function = load_function("separatrix.profiles.examples:balanced")
    automaton = profile("balanced", function, LENGTH, parse_alphabet("()[]")).automaton
    assert automaton is not None
    return (
        Finding(
            "original",
            f"the smallest automaton that agrees with Dyck-(2,2) on all strings up to length {LENGTH} has "
            f"{automaton.states} states; 1 + 2 + 4 and a sink are 8",
            automaton.exact and automaton.states == 8,
        ),
        certified("dyck-dfa", 64),
    )


ERRATUM = Erratum(
    number=8,
    source="BHBK24 §4.1, Appendix E",
    title="Dyck-(n,k) has Σ nⁱ + 1 states",
    claim="The automaton of Dyck-(n,k) has O(2^k) states.",
    fault="It has Σ_{i ≤ k} nⁱ + 1 states, the sink included, which is O(2^k) for n = 2 only.",
    repair="The count with n; for every fixed n and k it is constant, so that the separation stands.",
    show=show,
    command="separatrix profile separatrix.profiles.examples:balanced --alphabet '()[]' --length 8",
)
