"""What a text takes in memory, as ``separatrix capacity`` shows it: of one model, and of several side by side."""

from typing import TYPE_CHECKING

from separatrix.cli.output import console
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.api import ComparedMemory, Crossing, Fits
    from separatrix.capacities import Capacity


def print_compared(found: "ComparedMemory") -> None:
    """Print one table: a row for each model, the fewest bytes at each length in bold."""
    from rich.markup import escape
    from rich.table import Table

    out, rows = console(), found.models
    shown = Table(title="Bytes that one text takes", title_justify="left")
    shown.add_column("model", style="bold", no_wrap=True)
    for heading in ("fixed", "a token", *(f"at {each:,}" for each in found.lengths)):
        shown.add_column(heading, justify="right")
    for row in rows:
        cells = [f"{row.fixed_bytes:,}", _number(row.bytes_per_token)]
        for length in found.lengths:
            least = row.bytes_at[length] == min(other.bytes_at[length] for other in rows)
            text = f"{row.bytes_at[length]:,}"
            cells.append(f"[bold green]{text}[/bold green]" if least else text)
        shown.add_row(escape(row.model) + ("" if row.complete else " ?"), *cells)
    out.print(shown)
    for row in rows:
        if row.cheaper_from:
            others = ", ".join(f"{name} from {_tokens(first)}" for name, first in row.cheaper_from.items())
            out.print(f"{escape(row.model)} takes fewer bytes than {escape(others)} on.")
    if not all(row.complete for row in rows):
        out.print("? keeps something of unknown size as well, which is not counted.")
    guesses = [row.model for row in rows if row.guessed_formats]
    if guesses:
        shown_names = escape(", ".join(guesses))
        out.print(f"A guess in part, because the config names no number format: {shown_names} (--precision gives one).")
    for row in rows:
        for note in row.notes:
            out.print(f"Note on {escape(row.model)}: {escape(note)}")


def _tokens(first: int) -> str:
    return "the first token" if first == 1 else f"{first:,} tokens"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def fits_of(found: "Capacity", memory: str | None, weights: str | None, config: str) -> "Fits | None":
    """Return how many texts fit next to the weights at each length, where a memory is given."""
    from separatrix.api import texts_that_fit
    from separatrix.cli.limits import parse_bytes

    if memory is None:
        if weights is not None:
            raise SeparatrixError(f"--weights {weights} says what is next to the texts; give --memory as well")
        return None
    room = parse_bytes(memory)
    taken = None if weights is None else parse_bytes(weights)
    if room == 0:
        raise SeparatrixError(f"--memory {memory} holds nothing; give a size above 0, such as 80GB")
    return texts_that_fit(found, room, taken, config)


def print_memory(found: "Capacity", fits: "Fits | None", crossing: "Crossing | None") -> None:
    """Print what people ask first: bytes of a text, fixed and for each token, and how many texts fit."""
    from rich.table import Table

    from separatrix.capacities import guessed_parts

    out, size = console(), found.memory
    if not (size.complete or size.fixed or size.per_token):
        out.print(
            "What a text takes in memory is not known: the model does not state what it keeps between two tokens."
        )
        return
    each = "0 bytes" if not size.per_token else f"{_number(size.per_token / size.per_tokens)} bytes"
    known = "" if size.complete else ", and what is not known"
    out.print(
        f"One text takes [bold]{size.fixed:,} bytes[/bold] that are fixed and [bold]{each}[/bold] a token{known}."
    )
    if guesses := guessed_parts(found.model, found.given):
        out.print(f"The number formats of these are guessed; --precision gives one: {', '.join(guesses)}.")
    shown = Table()
    shown.add_column("tokens", justify="right")
    shown.add_column("bytes of a text", justify="right")
    if crossing:
        shown.add_column(f"of {crossing.model}", justify="right")
    if fits:
        shown.add_column("texts that fit", justify="right")
    for length, held in found.bytes_at.items():
        cells = [f"{length:,}", f"{held:,} ({shown_bytes(8 * held)})"]
        cells += [f"{crossing.bytes_at[length]:,}"] if crossing else []
        cells += ["any number" if (count := fits.texts[length]) is None else f"{count:,}"] if fits else []
        shown.add_row(*cells)
    out.print(shown)
    if fits:
        taken = fits.weights_bytes
        weights = (
            "[red]without the weights[/red], which are not known; give --weights"
            if taken is None
            else f"next to weights of {shown_bytes(8 * taken)} ({fits.weights_from})"
        )
        more = " The weights alone take more." if taken is not None and taken > fits.memory_bytes else ""
        out.print(f"Texts that fit into {shown_bytes(8 * fits.memory_bytes)}, {weights}.{more}")
    if crossing:
        first, last = crossing.cheaper_from, crossing.dearer_from
        words = f"fewer from {_tokens(first)} on" if first else f"more from {_tokens(last)} on" if last else "as many"
        out.print(f"Against {crossing.model}, a text takes {words}.")
    states = found.crossover
    if states is not None and states.length is not None:
        out.print(
            f"Its states take fewer bytes than caches from {_tokens(states.length)} on (compared: "
            f"{states.instead}, in place of each layer with a state)."
        )
    for layer in found.model.layers:
        heads = counted(layer.heads, "head") if layer.heads else ""
        groups = f"{layer.key_value_heads} of keys and values" if layer.key_value_heads else ""
        window = f"{layer.window:,} earlier positions" if layer.window is not None else ""
        facts = ", ".join(fact for fact in (heads, groups, window) if fact)
        if facts:
            out.print(f"- {layer.count} × {layer.name}: {facts}")


def shown_bytes(bits: int) -> str:
    """Return an amount of bits in bytes, with a unit."""
    amount, units = bits / 8, ["bytes", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.3g} {units[0]}" if amount < 1000 else f"{amount:,.0f} {units[0]}"
