"""What a person sees of what a model keeps: the memory of a text first, then the layers, then what is impossible."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from separatrix.answer import Fact, Grid, Sheet, Tone
from separatrix.capacities import RECENT
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.api.sizing import Kept
    from separatrix.api.text_memory import ComparedMemory, Crossing, Fits
    from separatrix.capacities import CapacityRecord, LayerRecord, LimitRecord

DERIVED = "* derived here, not in the papers"
PARAMETERS = {"index-lookup": "alphabet", "nearest-neighbour": "dimension", "sparse-threshold": "instance"}
"""Parameters that a verdict is about where they are not the task's own."""
UNITS = {"alphabet": "{} symbols", "dimension": "{} dimensions", "instance": "{}"}


def capacity_sheet(found: "Kept") -> Sheet:
    """Show the bytes of a text, what each layer keeps, and the tasks that are impossible for any weights."""
    record = found.record
    facts = (*_memory(found, record), *_state(record), *_coverage(record))
    limits = [_limits(record, scope, title) for scope, title in SCOPES.items()]
    grids = (_bytes(found), _layers(record), *filter(None, limits), *_needs(record))
    source = f" ({record.source})" if record.source else ""
    return Sheet(f"{found.name}{source}", facts, grids, tuple(_notes(found, record)))


# -- memory ---------------------------------------------------------------------------------------------------------


def _memory(found: "Kept", record: "CapacityRecord") -> list[Fact]:
    """Return what people ask first: bytes that are fixed and for each token, how many texts fit, and other models."""
    held = record.memory
    if not (held.complete or held.fixed_bytes or held.bytes_per_token):
        facts = [Fact("one text", "not known: the model does not state what it keeps between two tokens", "doubt")]
    else:
        known = "" if held.complete else ", and what is not known"
        each = f"{held.fixed_bytes:,} bytes that are fixed and {_number(held.bytes_per_token)} bytes a token{known}"
        facts = [Fact("one text", each)]
    if held.guessed:
        facts.append(
            Fact("a guess", f"the number formats of {', '.join(held.guessed)}; --precision gives one", "doubt")
        )
    if found.measured is not None and found.by_config:
        same = "gives the same bytes" if found.agrees else "gives other bytes"
        facts.append(Fact("its config", same, "good" if found.agrees else "bad"))
    facts += [] if found.fits is None else [_fits(found.fits)]
    facts += [] if found.against is None else [_against(found.against)]
    if (states := held.states_cheaper) is not None and states.length is not None:
        compared = f"compared: {states.instead}, in place of each layer with a state"
        text = f"states take fewer bytes than caches from {_tokens(states.length)} on ({compared})"
        facts.append(Fact("break-even", text))
    return facts


def _fits(fits: "Fits") -> Fact:
    taken, room = fits.weights_bytes, f"into {shown_bytes(fits.memory_bytes)}"
    if taken is None:
        return Fact("texts that fit", f"{room}, without the weights, which are not known; give --weights", "doubt")
    more = "; the weights alone take more" if taken > fits.memory_bytes else ""
    return Fact("texts that fit", f"{room}, next to weights of {shown_bytes(taken)} ({fits.weights_from}){more}")


def _against(crossing: "Crossing") -> Fact:
    first, last = crossing.cheaper_from, crossing.dearer_from
    words = f"fewer bytes from {_tokens(first)} on" if first else f"more from {_tokens(last)} on" if last else "as many"
    return Fact("against", f"{crossing.model}: {words}")


def _bytes(found: "Kept") -> Grid:
    """Return the bytes of a text at each length, next to another model's and to how many texts fit."""
    columns = ["tokens", "bytes of a text"]
    columns += [f"of {found.against.model}"] if found.against else []
    columns += ["texts that fit"] if found.fits else []
    rows: list[tuple[str, ...]] = []
    # Of a model at hand what was measured, and next to it what follows for long texts.
    for length, held in sorted({**found.card.bytes_at, **found.bytes_at}.items()):
        row = [f"{length:,}", f"{held:,} ({shown_bytes(held)})"]
        row += (
            [f"{found.against.bytes_at[length]:,}" if length in found.against.bytes_at else ""] if found.against else []
        )
        row += [_count(found.fits, length, found.card.memory.complete)] if found.fits else []
        rows.append(tuple(row))
    return Grid("", tuple(columns), tuple(rows), numbers=tuple(columns))


def _count(fits: "Fits", length: int, complete: bool) -> str:
    if length not in fits.texts:
        return ""
    count = fits.texts[length]
    if count is None:
        return "any number" if complete else "not known"
    return f"{count:,}" if complete else f"at most {count:,}"


def memory_sheet(found: "ComparedMemory") -> Sheet:
    """Show several models side by side, a row for each, the fewest bytes at each length marked."""
    columns = ("model", "fixed", "a token", *(f"at {each:,}" for each in found.lengths))
    tones: dict[tuple[int, int], Tone] = {}
    rows: list[tuple[str, ...]] = []
    for number, row in enumerate(found.models):
        held = [f"{row.bytes_at[length]:,}" for length in found.lengths]
        name = row.model + ("" if row.complete else " ?")
        rows.append((name, f"{row.fixed_bytes:,}", _number(row.bytes_per_token), *held))
        for place, length in enumerate(found.lengths):
            if row.bytes_at[length] == min(other.bytes_at[length] for other in found.models):
                tones[number, place + 3] = "good"
    notes = [
        f"{row.model} takes fewer bytes than "
        f"{', '.join(f'{name} from {_tokens(first)}' for name, first in row.cheaper_from.items())} on."
        for row in found.models
        if row.cheaper_from
    ]
    if not all(row.complete for row in found.models):
        notes.append("? keeps something of unknown size as well, which is not counted.")
    if guesses := [row.model for row in found.models if row.guessed_formats]:
        names = ", ".join(guesses)
        notes.append(f"A guess in part, because the config names no number format: {names} (--precision gives one).")
    notes += [f"Note on {row.model}: {note}" for row in found.models for note in row.notes]
    return Sheet("", (), (Grid("Bytes that one text takes", columns, tuple(rows), tones, columns[1:]),), tuple(notes))


# -- layers ---------------------------------------------------------------------------------------------------------


def _layers(record: "CapacityRecord") -> Grid:
    """Return what each layer keeps; sizes as BHBK24 §2 names them: d numbers at each position, H heads of width m."""
    columns = ("layers", "kind", "d", "H", "of keys", "m", "window", "kept by each layer", "bits")
    rows = tuple(
        (
            str(layer.count), layer.name,
            *(
                f"{size:,}" if size else ""
                for size in (layer.width, layer.heads, layer.key_value_heads, layer.head_width, layer.window)
            ),
            _kept(layer),
            "—" if layer.state_bits is None else f"{layer.state_bits * layer.count:,}",
        )
        for layer in record.layers
    )  # fmt: skip
    return Grid("", columns, rows, numbers=(*columns[2:7], "bits", "layers"))


def _kept(layer: "LayerRecord") -> str:
    if layer.shared or layer.uncached:
        return "nothing: reads the cache of an earlier layer" if layer.shared else "nothing"
    parts = [part.formula for part in layer.state]
    parts += [f"{p.formula} {f'every {p.of} tokens' if p.per == 'every' else 'a token'}" for p in layer.cache]
    return " + ".join(parts) or ("not stated" if layer.kind == "unstated" else "grows with the input")


def _state(record: "CapacityRecord") -> list[Fact]:
    """Return the notes on the model, the bits of its state, and the formats of its numbers with who says so."""
    facts = [Fact("note", note) for note in record.notes]
    if record.evidence == "published":
        checked = "what it keeps, by published formulas; docs/capacity.md says which types were also run"
        facts.append(Fact("checked", checked))
    if record.state_bits is not None:
        bits = f"{_counted(record.state_bits, 'bit')} ({shown_bytes(record.state_bits / 8)})"
        facts.append(Fact("state", f"{_counted(record.state_numbers or 0, 'number')}, {bits}"))
    elif record.bounded_state_bits:
        unstated = any(layer.kind == "unstated" for layer in record.layers)
        others = "do not state theirs" if unstated else "grow with the input"
        bits = f"{record.bounded_state_bits:,} bits in layers of bounded memory; the others {others}"
        facts.append(Fact("state", bits))
    facts += [Fact("numbers", line) for line in _formats(record)]
    if record.trained_length is not None:
        facts.append(Fact("context length", f"{record.trained_length:,} in its config"))
    return facts


def _formats(record: "CapacityRecord") -> list[str]:
    """Return for each format in which numbers are kept what is kept in it, and who says so."""
    own = f"{counted(record.precision_bits, 'bit')} ({record.precision_from})"
    kept: dict[str, dict[str, int]] = {}
    growing: dict[str, dict[str, None]] = {}
    for layer in record.layers:
        for part in (*layer.state, *layer.cache):
            bits = f"{counted(part.bits_of_a_number, 'bit')} ({part.because})"
            if part in layer.cache:
                growing.setdefault(bits, {})[part.name] = None
            elif layer.state_bits is not None:
                names = kept.setdefault(bits, {})
                names[part.name] = names.get(part.name, 0) + part.numbers * layer.count
    if record.precision_source == "given" or not (kept or growing):
        return [f"every number has {own}"]
    fixed = [f"{_counted(sum(names.values()), 'number')} of {bits}: {', '.join(names)}" for bits, names in kept.items()]
    return fixed + [f"of each token, numbers of {bits}: {', '.join(names)}" for bits, names in growing.items()]


# -- verdicts -------------------------------------------------------------------------------------------------------

SCOPES = {"model": "Impossible for any weights", "one layer alone": "One such layer alone, not the model"}


def _coverage(record: "CapacityRecord") -> list[Fact]:
    """Return which bounds cover the model, which are cited, and what its caches and states are together."""
    facts = [Fact("bounds", record.reason)]
    for each in record.cited:
        where = f"{each.paper}, of which the {each.read} was read; {each.conditions}"
        facts.append(Fact("cited", f"not executed: {each.statement} ({where})"))
    if record.cache_needs:
        first, budget = record.cache_needs[0], record.budget
        under = f" with {budget.in_words}" if budget.in_words else ""
        if first.bits_of_a_recent_token > first.bits_per_token:
            recent = f"{first.bits_of_a_recent_token:,} of each of the last {RECENT}, which are not quantised yet"
            under += f", {recent}"
        text = f"{first.state_bits:,} bits of states and at most {first.bits_per_token:,} bits a token of caches{under}"
        facts.append(Fact("continues from", f"{text} (Theorem 2 with the caches as the state)"))
    elif record.budget.in_words:
        why = record.budget_not_judged or "none of its caches grows"
        facts.append(Fact("budget", f"no verdict for {record.budget.in_words}: {why}"))
    return facts + [Fact("REFUTED", f"not used: {each.text}", "bad") for each in record.refuted]


def _limits(record: "CapacityRecord", scope: str, title: str) -> Grid | None:
    """Return the limits of a scope; tasks of one bound with the same numbers share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for limit in record.limits:
        if limit.scope == scope:
            at = () if record.length is None else (_verdict(limit, record.length),)
            claim = f"{limit.claim}{_mark(limit)}"
            rows.setdefault((_first(limit.first_impossible), *at, limit.needs, claim), []).append(_task(limit))
    if not rows:
        return None
    at = () if record.length is None else (f"at N = {record.length:,}",)
    columns = ("task", "from N =", *at, "bits needed", "claim")
    shown = tuple(("\n".join(names), *cells) for cells, names in rows.items())
    return Grid(title, columns, shown, _red(shown) if at else None, ("from N =",))


def _needs(record: "CapacityRecord") -> tuple[Grid, ...]:
    """Return what the tasks need of the caches, or under a budget the lengths from which they are impossible."""
    needs, bounded = record.cache_needs, record.budget.bounded
    if not needs:
        return ()
    rows: list[tuple[str, ...]] = []
    for need in needs:
        head, bits = f"{need.tokens:,}", f"{need.needed_bits:,} bits"
        if bounded:
            head = _first(need.first_impossible)
            bits = _compared(need.impossible, need.needed_bits, need.available_bits)
        rows.append((need.task, head, bits, f"{need.claim}{'' if need.in_the_papers else ' *'}"))
    title = f"Impossible for any weights, {record.budget.in_words}" if bounded else "What each cache must keep at least"
    first = "from N =" if bounded else "tokens"
    columns = ("task", first, f"at N = {max(need.at_length for need in needs):,}", "claim")
    return (Grid(title, columns, tuple(rows), _red(rows), (first,)),)


def _notes(found: "Kept", record: "CapacityRecord") -> list[str]:
    """Return what the verdicts hold for, the tasks without one, and how to read them."""
    held = dict.fromkeys(limit.arithmetic for limit in record.limits if limit.arithmetic != "any")
    notes = [f"Holds for: {each}." for each in held]
    derived = (*(_mark(limit) == " *" for limit in record.limits), *(not e.in_the_papers for e in record.cache_needs))
    notes += [DERIVED] if any(derived) else []
    for name in dict.fromkeys(limit.from_file for limit in record.limits if limit.from_file):
        notes.append(f"† from {name}; its number at a length rests on its formula, see  separatrix bound")
    if record.cache_needs:
        notes.append(
            "Tokens that are kept next to a window, such as the first ones, are not in it: give --cache-tokens for all "
            "together. With each token that is kept, 128 bits for each head are counted for its position and its "
            "score, with quantised numbers a scale and an offset."
            if record.budget.in_words
            else "With fewer tokens, from any positions, the task is impossible at that length. Give --cache-tokens, "
            "--cache-bits or --cache-window for the lengths at which a budget fails."
        )
        notes.append(
            "This holds at the cut between text and query, for a text that is read once and a query that comes last. "
            "Not covered: a query before the text, a second pass over the text, a cache that is evicted after the "
            "query. Impossible means: for every choice of weights, some input is answered wrongly."
        )
    silent: dict[str, list[str]] = {}
    for each in record.not_covered:
        silent.setdefault(each.reason, []).append(each.task)
    notes += [f"No verdict on {', '.join(names)}: {reason}." for reason, names in silent.items()]
    spoken = {limit.task for limit in record.limits if limit.scope == "model"}
    spoken |= {each.task for each in (*record.cache_needs, *record.not_covered)}
    notes += [f"{name}: no bound is known for this task and model." for name in found.asked if name not in spoken]
    return notes + (["How to read this:", *(f"- {each}" for each in record.caveats)] if record.limits else [])


def _verdict(limit: "LimitRecord", length: int) -> str:
    # A task without inputs of the length that was asked for answers for the nearest one that has.
    where = "" if limit.at_length == length else f"at {limit.at_length:,}: "
    return where + _compared(limit.impossible_at_length, limit.needed_bits, limit.available_bits)


def _compared(impossible: bool | None, needed: int | None, available: int | None) -> str:
    word = "impossible" if impossible else "open"
    if needed is None or available is None:
        return word
    return f"{word} ({needed:,} {'>' if impossible else '≤'} {available:,})"


def _red(rows: Sequence[Sequence[str]]) -> Mapping[tuple[int, int], Tone]:
    """Return the tones of verdicts, which are the third cell of a row."""
    return {(number, 2): "bad" for number, row in enumerate(rows) if "impossible" in row[2]}


def _first(length: int | None) -> str:
    return "never" if length is None else f"{length:,}"


def _mark(limit: "LimitRecord") -> str:
    return " †" if limit.from_file else "" if limit.in_the_papers else " *"


def _task(limit: "LimitRecord") -> str:
    """Return the task, with the parameter that the verdict is about where it is not the task's own."""
    given = limit.parameters.get(name := PARAMETERS.get(limit.task, ""))
    return limit.task if given is None else f"{limit.task} ({UNITS[name].format(given)})"


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _tokens(first: int | None) -> str:
    return "the first token" if first == 1 else f"{first:,} tokens"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def shown_bytes(amount: float) -> str:
    """Return an amount of bytes with a unit.

    >>> shown_bytes(6144), shown_bytes(80 * 2**30)
    ('6 KiB', '80 GiB')
    """
    units = ["bytes", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.3g} {units[0]}" if amount < 1000 else f"{amount:,.0f} {units[0]}"
