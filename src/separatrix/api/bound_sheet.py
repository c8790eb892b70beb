"""What a person sees of a bound: one list of facts, from the same record that ``--json`` prints."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from separatrix.answer import Fact, Sheet, Tone
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.api.bound_record import Bounded, BoundSize, ModelVerdict, Sufficient
    from separatrix.bounds import Evidence


def bound_sheet(result: "Bounded") -> Sheet:
    """Return the size with its formula and claim; as details the assumptions, each piece of evidence, and the rest."""
    facts: list[Fact] = []
    details: list[Fact] = []
    known, own = result.known, result.architecture

    facts += [Fact("REFUTED", each.text, "bad") for each in result.refuted]
    if known:
        facts += _strongest(result.bounds[0], result.precision_bits)
    else:
        facts.append(Fact("claim", result.claim, "doubt"))
    facts.append(Fact("arithmetic", result.arithmetic))
    details += [Fact("assumed", each) for each in result.assumptions]
    if own:
        facts.append(Fact("this model", _verdict_text(own, result), "" if own.possible else "bad"))
        facts += [Fact("assumed", each) for each in own.assumed]
    evidence = [_evidence(each) for each in result.evidence]
    failing = [fact for fact in evidence if fact.tone == "bad"]
    if known and not failing:
        facts += (
            [Fact("evidence", text, "good")] if (text := _in_short([each.kind for each in result.evidence])) else []
        )
        details += evidence
    else:
        facts += evidence
    facts += [Fact("at this N", each) for each in result.rests_on]
    rest = details if known else facts
    if known and (paper := result.bounds[0]).paper_formula:
        details.append(Fact("as in the paper", f"m ≥ {paper.paper_formula}, so m ≥ {paper.paper_at_least}"))
    for bound in result.bounds[1 if known else 0 :]:
        size = f"{bound.quantity}: {bound.at_least}"
        label = "in the papers" if bound.in_the_papers and not result.in_the_papers else "also"
        rest.append(Fact(label, f"{size}; {bound.claim}, {bound.statement}"))
    rest += [Fact("not about this", f"{each.claim}: {each.text}") for each in result.silent]
    rest += [Fact(each.kind, f"{each.claim}: {each.statement}") for each in result.remarks]
    sufficient = _sufficient(result.upper_bounds)
    return Sheet(_title(result), (*facts, *sufficient[:1]), details=(*details, *sufficient[1:]))


def _title(result: "Bounded") -> str:
    named = " ".join([result.task, *(f"{name}={value}" for name, value in result.settings.items())])
    heads = "" if result.quantity == "state numbers" else f", H = {result.heads}"
    depth = f", L = {result.layers}" if result.layers > 1 else ""
    return f"{named}, {result.model}, N = {result.length}, p = {result.precision_bits}{heads}{depth}"


def _strongest(first: "BoundSize", precision: int) -> list[Fact]:
    """Return the size, the formula, and the claim that it follows from."""
    if first.quantity == "state numbers":
        of = f"{counted(first.at_least, 'number')} of {counted(precision, 'bit')}"
        needed = f"for {counted(first.bits_needed, 'bit')}"
        size = Fact("smallest state", f"{of}, {needed} (m counts the numbers of the state)")
    else:
        size = Fact("smallest width", f"{first.at_least} (bounded: {first.bounded})")
    derived = "" if first.in_the_papers else " (derived here, not in the papers)"
    if first.from_file:
        derived = f" (from {first.from_file})"
    if first.other_parameters:
        derived += "; stated for other parameters, the formula is for these"
    claim = Fact("claim", f"{first.claim}: {first.statement}{derived}")
    return [size, Fact("formula", first.formula), claim]


def _evidence(each: "Evidence") -> Fact:
    mark = "holds: " if each.holds else "refuted: "
    tone: Tone = "" if each.kind == "cited" else "good" if each.holds else "bad"
    return Fact(each.kind, f"{mark if tone else ''}{each.text}", tone)


def _in_short(kinds: Sequence[str]) -> str:
    """Return how many pieces of evidence of each kind there are; what is cited was not run.

    >>> _in_short(["proved", "verified", "verified", "cited"])
    'holds: 1 proved, 2 verified; 1 cited'
    """
    counts = Counter(kinds)
    run = ", ".join(f"{many} {kind}" for kind, many in counts.items() if kind != "cited")
    cited = f"{counts['cited']} cited" if counts["cited"] else ""
    return "; ".join(each for each in (f"holds: {run}" if run else "", cited) if each)


def _sufficient(above: "Sequence[Sufficient]") -> list[Fact]:
    """Return the sufficient sizes; what grows faster than the best in the same arithmetic is left to ``--json``."""
    best = {each.arithmetic: each.growth for each in reversed(above)}
    asked = above[0].arithmetic if above else ""
    facts: list[Fact] = []
    for side in above:
        within = "" if side.arithmetic == asked else f", in {side.arithmetic} point of growing precision alone"
        if side.growth == best[side.arithmetic] and (not within or side.growth != best[asked]):
            facts.append(Fact("sufficient", f"{side.growth}: {side.text} ({side.source}{within})"))
    return facts


def _verdict_text(own: "ModelVerdict", result: "Bounded") -> str:
    size = (
        f"m = {own.width}, H = {own.heads}"
        if own.state_bits is None
        else f"{own.state_bits:,} state bits, as in {-(-own.state_bits // result.precision_bits):,} numbers"
    )
    longest = own.longest_possible
    beyond = "" if longest is None else f"; beyond N = {longest:,} no weights will do"
    if longest == 0:
        beyond = "; no weights will do at any length"
    if not result.bounds:
        return f"{result.model} ({own.class_}, {size}): nothing is excluded"
    if own.possible:
        return f"{result.model} ({own.class_}, {size}): not excluded at N = {result.length}{beyond}"
    by = ", ".join(own.excluded_by)
    within = ", ".join(own.arithmetic)
    if own.partial_sums is not None:
        within += f"; or in any fixed order that passes on at most {counted(own.partial_sums, 'partial sum')}"
    verdict = "impossible with any weights"
    if own.functions:
        verdict = f"no choice of weights computes {own.functions}"
    return f"{result.model} ({own.class_}, {size}): {verdict} in {within} ({by}){beyond}"
