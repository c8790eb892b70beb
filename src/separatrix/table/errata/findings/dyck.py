"""Dyck languages (BHBK24 §4.1, Lemma 1, Theorems 4, 5 and 10)."""

from separatrix.bounds import ModelSize, ProtocolBound, bounds, covered, floating
from separatrix.constructions import DyckFloat, constructions
from separatrix.profiles import load_function, parse_alphabet, profile
from separatrix.provers import prove
from separatrix.table.errata.finding import Finding, certified, refuted
from separatrix.tasks import draws_from, tasks


def e8() -> tuple[Finding, ...]:
    """Return the automaton that agrees on all strings up to length 8."""
    length = 8
    _, function = load_function("separatrix.profiles.examples:balanced")
    automaton = profile("balanced", function, length, parse_alphabet("()[]")).automaton
    assert automaton is not None
    return (
        Finding(
            "original",
            f"the smallest automaton that agrees with Dyck-(2,2) on all strings up to length {length} has "
            f"{automaton.states} states; 1 + 2 + 4 and a sink are 8",
            automaton.exact and automaton.states == 8,
        ),
        certified("dyck-dfa", 64),
    )


def e14() -> tuple[Finding, ...]:
    """Return the evidence of the bound on Dyck."""
    evidence = bounds()["dyck-transformer-1layer"].evidence(5)
    return tuple(Finding("repair", each.text, each.holds) for each in evidence if each.kind == "verified")


def e20() -> tuple[Finding, ...]:
    """Return the generator read as a recogniser, and two layers that do recognise."""
    length = 16
    return refuted("dyck-transformer", length, "paper"), certified("dyck-transformer", length)


def e26() -> tuple[Finding, ...]:
    """Return the float layer on every short string and on drawn long ones, its proof, exact sums, and the bound that is
    left."""
    length, long, count, precision = 8, 8192, 100, 32
    layer = DyckFloat()
    dyck, halves = bounds()["dyck-transformer-1layer"], bounds()["inequality-transformer-1layer"]
    assert isinstance(dyck, ProtocolBound)
    assert isinstance(halves, ProtocolBound)
    size = ModelSize(layer.width, precision)
    asked = dyck.smallest_width(long, precision)
    walls, walks = layer.proof()
    built = constructions()["dyck-float"].build(long)
    proof = prove(built.network, built.task, long, built.arithmetic)
    drawn = layer.task.sample(draws_from(0), count, long)
    failed = int((layer.answers(drawn.inputs) != drawn.targets[:, -1]).sum())
    wrong, exact = layer.wrong(length), layer.wrong_with_exact_sums(length)
    kept = covered(halves, floating(precision), tasks()["equality"])
    return (
        Finding(
            "original",
            f"dyck-float: one head with m = {layer.width} in float32, sums in the order of the positions: {wrong} of "
            f"{4**length:,} strings of length {length} wrong, {failed} of {count} drawn ones of length {long:,}, where "
            f"Theorem 5/10 requires m ≥ {asked}",
            wrong == failed == 0 and asked > layer.width and not dyck.possible(long, size),
        ),
        Finding(
            "original",
            f"it is right on every string of every length 2, 4, 8, … to {layer.wall:,}: proved, with "
            f"{walls.cases:,} additions and all {walks.cases} moves of the stack computed; the kernel accepts the "
            f"proof about all {proof.accepted.inputs_covered if proof else 'no'} strings of length {long:,}",
            walls.holds and walks.holds and proof is not None,
        ),
        Finding(
            "repair",
            f"with sums that are exact before they are rounded the same values are wrong on {exact:,} of "
            f"{4**length:,} strings of length {length}",
            exact > 0,
        ),
        Finding(
            "repair",
            "for a prefix against the rest a running sum is one number: s + H(4a + ma) bits, so equality at N = "
            f"{long:,} still needs m ≥ {kept.bound.smallest_width(long, precision, task=tasks()['equality'])} in "
            "float32; no verdict on Dyck",
            kept.covered
            and not kept.bound.possible(long, size, tasks()["equality"])
            and not covered(dyck, floating(precision)).covered,
        ),
    )
