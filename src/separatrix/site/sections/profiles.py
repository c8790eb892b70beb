"""The your-function section: sample profiles of functions, made as ``separatrix profile`` makes them."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from rich.table import Table

from separatrix.profiles import (
    LengthProfile,
    Profile,
    ProfileOptions,
    as_record,
    load_function,
    parse_alphabet,
    profile,
)
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.pages.text import counted, number
from separatrix.site.section import Advance, Figure, Results, Section
from separatrix.site.user_function_figure import profile_figure
from separatrix.table import certify_sparse_form, verdict_in_words

MODULE = "separatrix.profiles.examples"
SAMPLES: dict[str, tuple[str, str, int]] = {
    "parity": ("Parity", "2", 14),
    "majority": ("Majority", "2", 13),
    "equal_halves": ("Equality of the two halves", "2", 12),
    "balanced": ("Dyck-(2,2)", "()[]", 8),
    "repeats": ("Some symbol occurs twice", "N", 6),
}
"""Function, its title, the alphabet and the length."""
SEED = 0
LAST = 4
"""Lengths whose counts are written out."""


@dataclass(frozen=True, kw_only=True)
class ProfilesSection(Section):
    """What five functions ask of a recurrent model and of one attention layer."""

    name: str = "profiles"
    title: str = "Your function"
    order: int = 35
    page: str = "your-function"
    menu: str = "Must it be big?"
    lead: str = (
        "Bring any Python function on sequences. Its residual classes give the state that every recurrent model needs, "
        "its communication matrices what one attention layer needs; both are computed on all inputs. Five samples."
    )

    @property
    def units(self) -> int:
        """One for each function."""
        return len(SAMPLES)

    def collect(self, advance: Advance) -> Results:
        """Profile every sample."""
        entries: dict[str, Any] = {}
        for name in SAMPLES:
            found = _profiled(name)
            network = None if found.sparse is None else certify_sparse_form(found.sparse.function, found.length)
            title, alphabet, length = SAMPLES[name]
            quoted = f" --alphabet '{alphabet}'" if alphabet != "2" else ""
            command = f"separatrix profile {MODULE}:{name} --length {length}{quoted}"
            record = as_record(found)
            entries[name] = {
                **record,
                "title": title,
                "network": network,
                "origin": Origin("verified", f"all {record['inputs']} inputs", command, seed=SEED).plain(),
            }
            advance(f"profiled {name}")
        return {"seed": SEED, "rows": list(entries.values()), "samples": list(entries)}

    def figures(self, results: Results) -> list[Figure]:
        """Residual classes of each, and what its lengths need."""
        return [profile_figure(drawable(row)) for row in results["rows"]]

    def body(self, results: Results) -> str:
        """How to profile a user's function, then the samples with their figures."""
        return render("your-function.html", shown=[(row, _facts(row)) for row in results["rows"]])

    def table(self, results: Results) -> Table:
        """What each function needs."""
        shown = Table(title="Sample functions: what they ask of any model", title_justify="left")
        shown.add_column("function", style="bold", no_wrap=True)
        for heading in ("N", "state bits", "communication bits"):
            shown.add_column(heading, justify="right")
        for row in results["rows"]:
            bits = "" if row["one_layer"] is None else str(row["one_layer"]["communication_bits"])
            shown.add_row(row["title"], str(row["length"]), str(row["minimum_state_bits"]), bits)
        return shown


def _profiled(name: str) -> Profile:
    _, alphabet, length = SAMPLES[name]
    _, function = load_function(f"{MODULE}:{name}")
    return profile(name, function, length, parse_alphabet(alphabet), ProfileOptions(seed=SEED))


def drawable(row: Results) -> Profile:
    """What the figure of a profile asks for, from the profile's record."""
    residuals = SimpleNamespace(classes=row["residual_classes"], bits=row["state_bits"])
    lengths = tuple(LengthProfile(**each) for each in row["lengths"])
    shown = SimpleNamespace(name=row["function"], length=row["length"], residuals=residuals, lengths=lengths)
    return cast("Profile", shown)


def _last(row: Results, counts: str) -> str:
    """The counts at the last lengths that were run."""
    known = [(each["length"], each[counts]) for each in row["lengths"] if each[counts] is not None][-LAST:]
    lengths, values = (", ".join(number(each[side]) for each in known) for side in (0, 1))
    return f"{counts} at N = {lengths}: {values}"


def _facts(row: Results) -> list[tuple[str, str]]:
    """What a sample needs, and what was found."""
    automaton = row["automaton"]["all_lengths"]
    layer, form, network = row["one_layer"], row["sparse_threshold"], row["network"]
    state = f"at least {counted(row['minimum_state_bits'], 'bit')} of state at N = {row['length']}"
    found = [
        ("inputs", f"all {row['inputs']} over {row['alphabet']['symbols']}"),
        ("any recurrent model", f"{state}; {_last(row, 'classes')}"),
    ]
    if layer is not None:
        bits = f"{counted(layer['communication_bits'], 'bit')} of communication by {layer['partition']}"
        found.append(("one attention layer", f"{bits}; {_last(row, 'rectangles')}"))
    if automaton is not None:
        found.append(("smallest automaton", f"{number(automaton['states'])} states: {automaton['meaning']}"))
    if form is not None:
        found.append(("as a threshold", form["in_words"]))
    if network is not None:
        verdict = verdict_in_words(network)
        found.append(("two layers", f"{network['theorem']}: width {network['width']}, {verdict}"))
    return found


SECTION = ProfilesSection()
