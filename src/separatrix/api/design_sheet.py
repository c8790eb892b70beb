"""What a person sees of a design: the designs, the argument behind each number, and the published models."""

from typing import TYPE_CHECKING

from separatrix.answer import Grid, Sheet, Tone
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.table import Design, Enough, Judged, Row

NAMED = {
    "recurrent": "recurrent",
    "windows": "windows alone",
    "one-layer": "one attention layer",
    "two-layer": "two attention layers",
    "hybrid": "hybrid",
}
"""The designs as the table calls them."""


def design_sheet(found: "Design") -> Sheet:
    """Show what each design needs and what is enough, why, and which presets pass."""
    positions = found.task.positions(found.length)
    title = f"{found.task.name} at N = {found.length:,}: {positions:,} positions, correct on every input"
    designs = Grid("", ("design", "needs at least", "enough", "evidence"), tuple(map(_design, found.rows)))
    grids = (designs, _arguments(found), _presets(found))
    notes = [
        "Not excluded means that every bound that covers a preset is satisfied: no promise that some weights of it do "
        "the task, and none that training finds them. Lengths count symbols of the task, not tokens of a tokeniser."
    ]
    short = dict.fromkeys(
        each.name for row in found.rows for each in row.enough if each.evidence == "certified at a shorter length"
    )
    if short:
        notes.append(
            f"{', '.join(short)}: the sizes are those of the network of N = {found.length:,}; its certificate takes "
            "long at this length, --certify makes it."
        )
    if any(not need.in_the_papers for row in found.rows for need in row.needs):
        notes.append("* derived here, not in the papers")
    return Sheet(title, grids=grids, notes=tuple(notes))


def _design(row: "Row") -> tuple[str, ...]:
    needs = "\n".join(f"{need.at_least:,} {need.quantity}" for need in row.needs) or "no bound is known"
    needs += f" ({row.remark})" if row.design == "two-layer" and row.remark and row.needs else ""
    # A hybrid has both: the smallest certified network and the smallest state.
    best = row.enough[:2] if row.design == "hybrid" else row.enough[:1]
    enough = "\nor ".join(_size(each, row) for each in best) or "nothing is known"
    return NAMED[row.design], needs, enough, "\n".join(map(_evidence, best))


def _arguments(found: "Design") -> Grid:
    """Return a row for each argument, not for each design that it holds for."""
    rows = [
        (
            f"at least {need.at_least:,} {need.quantity}",
            f"{need.arithmetic} ({need.claim}){'' if need.in_the_papers else ' *'}", need.holds_for,
        )
        for need in dict.fromkeys(need for row in found.rows for need in row.needs)
    ]  # fmt: skip
    every = {each.name: each for row in reversed(found.rows) for each in row.enough}
    rows += [(f"enough, {each.name}", f"{each.how} ({each.source})", "") for each in every.values()]
    return Grid("Why", ("", "argument", "holds for"), tuple(rows))


def _presets(found: "Design") -> Grid:
    """Return the presets by outcome, the smallest memory first; of those that are excluded, why."""
    from separatrix.table import Outcome

    positions = found.task.positions(found.length)

    def name(one: "Judged") -> str:
        return one.preset + (f" (context {one.context:,})" if (one.context or positions) < positions else "")

    rows: list[tuple[str, str]] = []
    for judged in found.judged(Outcome.EXCLUDED):
        bits = "" if judged.needed_bits is None else f" ({judged.needed_bits:,} > {judged.available_bits:,} bits)"
        rows.append(("excluded", f"{judged.preset}{bits}: {judged.reason}"))
    tones: dict[tuple[int, int], Tone] = {(place, 0): "bad" for place in range(len(rows))}
    for outcome, word in ((Outcome.PASSES, "not excluded"), (Outcome.UNKNOWN, "nothing is known")):
        each = sorted(found.judged(outcome), key=lambda one: (one.available_bits or 0, one.preset))
        rows += [(f"{len(each)} {word}", ", ".join(map(name, each)))] if each else []
    return Grid(f"{len(found.presets)} published models", ("verdict", "models"), tuple(rows), tones)


def _size(each: "Enough", row: "Row") -> str:
    """Write a size in the words of its design."""
    memory = "" if each.memory_bits is None else f"; keeps {each.memory_bits:,} bits"
    if row.design == "recurrent" or (row.design == "hybrid" and each.evidence == "fact"):
        return f"{each.bits:,} state bits"
    return (
        f"{counted(each.layers, 'layer')}, {counted(each.heads, 'head')} of m = {each.width:,}"
        f"{'' if each.model_width is None else f', width {each.model_width:,}'}, {each.precision_bits} bits a number"
        f"{memory}"
    )


def _evidence(each: "Enough") -> str:
    match each.evidence:
        case "fact":
            return f"{each.name} (a fact, no theorem)"
        case "certified":
            return f"{each.name}, certified now"
        case "certificate recorded":
            return f"{each.name}, certified (recorded)"
        case "certified at a shorter length":
            return (
                f"{each.name}, built at this length, certified at {each.certified_length:,}; --certify proves it here"
            )
