"""What a person sees of a profile: the needs of models first, then the counts behind them."""

from typing import TYPE_CHECKING

from separatrix.answer import Fact, Grid, Sheet
from separatrix.wording import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from separatrix.profiles import Exclusion, PartitionProfile, Profile
    from separatrix.table import ProvedNetwork

MOST_RANKS = 4
"""Ranks of so many values are written out; of more their sum."""


def profile_sheet(found: "Profile", network: "ProvedNetwork | None", model: "Exclusion | None") -> Sheet:
    """Show what models need for a function, then its cuts, its partitions and every length that was run."""
    kind = found.table.kind if found.table.causal else "labelling that looks ahead"
    inputs = f"all {found.table.symbols}^{found.length} inputs over {found.alphabet.in_words()}"
    cuts = zip(found.residuals.classes, found.residuals.bits, strict=True)
    grids = [
        Grid(
            "Cuts after t symbols (exact)",
            ("t", "classes", "state bits"),
            tuple((str(t), str(count), str(bits)) for t, (count, bits) in enumerate(cuts)),
            numbers=("t", "classes", "state bits"),
        )
    ]
    if found.partitions:
        grids.append(
            Grid(
                "Partitions, and the bits that every deterministic protocol sends",
                ("partition", "distinct rows × columns", "ranks", "largest fooling set", "bits"),
                tuple(map(_partition, found.partitions)),
                numbers=("distinct rows × columns", "ranks", "largest fooling set", "bits"),
            )
        )
    grids.append(_lengths(found))
    return Sheet(f"{found.name}: {kind}, {inputs}", _facts(found, network, model), tuple(grids), _notes(found))


def _facts(found: "Profile", network: "ProvedNetwork | None", model: "Exclusion | None") -> tuple[Fact, ...]:
    bits = found.residuals.minimum_state_bits
    facts = [
        Fact("any recurrent model", f"at least {counted(bits, 'bit')} of state at N = {found.length}"),
        Fact("smallest automaton", _automaton(found)),
    ]
    if found.need is not None and found.best is not None:
        limit = "no width is excluded" if found.need.width == 1 else f"one head needs width ≥ {found.need.width}"
        product = f"mH(p + log2 N) ≥ {found.need.bits}/3 for m ≥ 4, by {found.best.partition.name}"
        facts.append(Fact("one attention layer, fixed point", f"{product}; at p = {found.need.precision} {limit}"))
    facts.append(Fact("threshold of sparse features", _sparse(found)))
    if network is not None:
        size = f"width {network.width}, heads {network.heads}, p = {network.precision_bits}"
        facts.append(Fact("two layers, Theorem 13", f"{size}: {network.verdict}"))
    if model is not None:
        facts.append(Fact(model.model, model.in_words(), "" if model.first is None else "bad"))
    return tuple(facts)


def _partition(each: "PartitionProfile") -> tuple[str, ...]:
    name = f"{each.partition.name}{' (searched)' if each.searched else ''}"
    found = [value.rank_at_least for value in each.bound.values]
    ranks = " + ".join(map(str, found)) if len(found) <= MOST_RANKS else f"{sum(found)} over {len(found)} values"
    return name, f"{each.rows} × {each.columns}", ranks, str(each.bound.best_fooling.size), str(each.bits)


def _lengths(found: "Profile") -> Grid:
    """Return every length that was run; a ratio is that of a count to the most at any shorter length."""
    classes, rectangles = found.ratios(lambda each: each.classes), found.ratios(lambda each: each.rectangles)
    rows = tuple(
        (
            str(each.length), str(each.classes), _ratio(classes.get(each.length)), str(each.state_bits),
            "" if each.rectangles is None else f"{each.rectangles}{' †' if each.limited else ''}",
            _ratio(rectangles.get(each.length)),
            "" if each.communication_bits is None else str(each.communication_bits), each.partition or "",
        )
        for each in found.lengths
    )  # fmt: skip
    title = "Every length up to N (classes exact, communication at least)"
    columns = ("N", "classes", "ratio", "state bits", "rectangles", "ratio", "bits sent", "partition")
    return Grid(title, columns, rows, numbers=columns[:-1])


def _ratio(value: "Fraction | None") -> str:
    return "" if value is None else f"{float(value):.3g}"


def _notes(found: "Profile") -> tuple[str, ...]:
    notes = ["ratio: to the most at any shorter length. About lengths beyond N nothing is said."]
    if any(each.limited for each in found.lengths):
        notes.append(
            "† counted on a part of the matrix or on groups of values: a limit of this count, not of the function"
        )
    if found.skipped:
        lengths = ", ".join(str(length) for length, _ in found.skipped)
        notes.append(f"not defined at N = {lengths}: {found.skipped[0][1]}")
    return tuple(notes)


def _sparse(found: "Profile") -> str:
    if found.sparse is not None:
        return found.sparse.in_words()
    if not found.yes_no or found.table.symbols != 2:
        return "sought only for yes-no functions of bits"
    if found.lengths[-1].values == 1:
        return "the function is constant at this N and needs none"
    return "none found with at most N features of up to 3 bits" if found.length > 1 else "sought from N = 2 on"


def _automaton(found: "Profile") -> str:
    exactly = found.residuals.automaton_states if found.yes_no else found.residuals.states
    here = f"{counted(exactly, 'state')} for exactly N"
    if found.automaton is None:
        return here
    least = "" if found.automaton.exact else "at least "
    return f"{least}{counted(found.automaton.states, 'state')} for all lengths up to N; {here}"
