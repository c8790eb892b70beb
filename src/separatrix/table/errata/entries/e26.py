"""E26: Theorems 4, 5 and 10 need sums that are exact before they are rounded; floating point is not covered."""

from separatrix.bounds import ModelSize, ProtocolBound, bounds, covered, floating
from separatrix.constructions import DyckFloat, constructions
from separatrix.provers import prove
from separatrix.table.errata.erratum import Erratum, Finding
from separatrix.tasks import draws_from, tasks

LENGTH, LONG, DRAWN, PRECISION = 8, 8192, 100, 32


def show() -> tuple[Finding, ...]:
    """The float layer on every short string and on drawn long ones, its proof, exact sums, and the bound that is
    left."""
    layer = DyckFloat()
    dyck, halves = bounds()["dyck-transformer-1layer"], bounds()["inequality-transformer-1layer"]
    assert isinstance(dyck, ProtocolBound)
    assert isinstance(halves, ProtocolBound)
    size = ModelSize(layer.width, PRECISION)
    asked = dyck.smallest_width(LONG, PRECISION)
    walls, walks = layer.proof()
    built = constructions()["dyck-float"].build(LONG)
    certified = prove(built.network, built.task, LONG, built.arithmetic)
    drawn = layer.task.sample(draws_from(0), DRAWN, LONG)
    failed = int((layer.answers(drawn.inputs) != drawn.targets[:, -1]).sum())
    wrong, exact = layer.wrong(LENGTH), layer.wrong_with_exact_sums(LENGTH)
    kept = covered(halves, floating(PRECISION), tasks()["equality"])
    return (
        Finding(
            "original",
            f"dyck-float: one head with m = {layer.width} in float32, sums in the order of the positions: {wrong} of "
            f"{4**LENGTH:,} strings of length {LENGTH} wrong, {failed} of {DRAWN} drawn ones of length {LONG:,}, where "
            f"Theorem 5/10 asks for m ≥ {asked}",
            wrong == failed == 0 and asked > layer.width and not dyck.possible(LONG, size),
        ),
        Finding(
            "original",
            f"it is right on every string of every length 2, 4, 8, … to {layer.wall:,}: proved, with "
            f"{walls.cases:,} additions and all {walks.cases} moves of the stack computed; the kernel accepts the "
            f"proof about all {certified.accepted.inputs_covered if certified else 'no'} strings of length {LONG:,}",
            walls.holds and walks.holds and certified is not None,
        ),
        Finding(
            "repair",
            f"with sums that are exact before they are rounded the same values are wrong on {exact:,} of "
            f"{4**LENGTH:,} strings of length {LENGTH}",
            exact > 0,
        ),
        Finding(
            "repair",
            "for a prefix against the rest a running sum is one number: s + H(4a + ma) bits, so equality at N = "
            f"{LONG:,} still needs m ≥ {kept.bound.smallest_width(LONG, PRECISION, task=tasks()['equality'])} in "
            "float32; no verdict on Dyck",
            kept.covered
            and not kept.bound.possible(LONG, size, tasks()["equality"])
            and not covered(dyck, floating(PRECISION)).covered,
        ),
    )


ERRATUM = Erratum(
    number=26,
    source="BHBK24 Theorems 4, 5 and 10",
    title="Rounding is memory: the theorems need sums that are exact before they are rounded",
    claim="Whatever p-bit arithmetic a one-layer Transformer has, Alice and Bob each add up their own positions, so "
    "Dyck-(2,2) needs mH ≥ (N-1)/(3(p + log N)).",
    fault="Floating point rounds after every addition. A running sum at 2^24 forgets +1 and keeps -1, so it remembers "
    "what went wrong, and one head with 5 values decides Dyck-(2,2) at N = 2, 4, 8, … to 2^24.",
    repair="The theorems hold where sums over positions are exact before they are rounded, as in fixed point. With "
    "running sums a bound is left for a prefix against the rest (equality, disjointness, matching), none for Dyck.",
    show=show,
    command="separatrix bound dyck --model transformer-1layer --arithmetic float32 --length 8192",
    arithmetic="float32, sums in the order of the positions, and integers",
)
