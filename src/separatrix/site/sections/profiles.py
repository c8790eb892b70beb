"""The your-function section: sample profiles of functions, made as ``separatrix profile`` makes them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.profiles import ProfileOptions, ProfileRecord, load_function, parse_alphabet, profile, profile_record
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.pages.text import counted, number
from separatrix.site.section import Advance, Figure, Section
from separatrix.site.user_function_figure import profile_figure
from separatrix.table import ProvedNetwork, certify_sparse_form

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
class SampleRow(ProfileRecord):
    """A sample function: its profile, and the network that was certified for it where it has a sparse form."""

    title: str
    network: ProvedNetwork | None
    origin: Origin


@dataclass(frozen=True)
class ProfilesResults:
    """All samples."""

    seed: int
    rows: tuple[SampleRow, ...]
    samples: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ProfilesSection(Section[ProfilesResults]):
    """What five functions ask of a recurrent model and of one attention layer."""

    name: str = "profiles"
    title: str = "Your function"
    order: int = 35
    results_type: type = ProfilesResults
    catalog: Callable[[], Mapping[str, Any]] = lambda: {name: (name, *sample) for name, sample in SAMPLES.items()}
    page: str = "your-function"
    menu: str = "Must it be big?"
    lead: str = (
        "Bring any Python function on sequences. Its residual classes give the state that every recurrent model needs, "
        "its communication matrices what one attention layer needs; both are computed on all inputs. Five samples."
    )

    def collect(self, advance: Advance) -> ProfilesResults:
        """Profile every sample."""
        rows: list[SampleRow] = []
        for name, title, alphabet, length in self.entries(advance, "profiled"):
            _, function = load_function(f"{MODULE}:{name}")
            found = profile(name, function, length, parse_alphabet(alphabet), ProfileOptions(seed=SEED))
            quoted = f" --alphabet '{alphabet}'" if alphabet != "2" else ""
            command = f"separatrix profile {MODULE}:{name} --length {length}{quoted}"
            described = profile_record(found)
            origin = Origin("verified", f"all {described.inputs} inputs", command, seed=SEED)
            network = None if found.sparse is None else certify_sparse_form(found.sparse.function, found.length)
            rows.append(SampleRow(**vars(described), title=title, network=network, origin=origin))
        return ProfilesResults(SEED, tuple(rows), tuple(SAMPLES))

    def figures(self, results: ProfilesResults) -> list[Figure]:
        """Draw the residual classes of each, and what its lengths need."""
        return [profile_figure(row) for row in results.rows]

    def body(self, results: ProfilesResults) -> str:
        """Say how to profile a user's function, then show the samples with their figures."""
        return render("your-function.html", shown=[(row, _facts(row)) for row in results.rows])


def _last(name: str, counts: Iterable[tuple[int, int | None]]) -> str:
    """Write the counts at the last lengths that were run."""
    known = [pair for pair in counts if pair[1] is not None][-LAST:]
    lengths, values = (", ".join(number(pair[side]) for pair in known) for side in (0, 1))
    return f"{name} at N = {lengths}: {values}"


def _facts(row: SampleRow) -> list[tuple[str, str]]:
    """Say what a sample needs, and what was found."""
    layer, automaton = row.one_layer, row.automaton.all_lengths
    classes = _last("classes", ((each.length, each.classes) for each in row.lengths))
    state = f"at least {counted(row.minimum_state_bits, 'bit')} of state at N = {row.length}; {classes}"
    found = [("inputs", f"all {row.inputs} over {row.alphabet.symbols}"), ("any recurrent model", state)]
    if layer is not None:
        bits = f"{counted(layer.communication_bits, 'bit')} of communication by {layer.partition}"
        rectangles = _last("rectangles", ((each.length, each.rectangles) for each in row.lengths))
        found.append(("one attention layer", f"{bits}; {rectangles}"))
    if automaton is not None:
        found.append(("smallest automaton", f"{number(automaton.states)} states: {automaton.meaning}"))
    if row.sparse_threshold is not None:
        found.append(("as a threshold", row.sparse_threshold.in_words))
    if row.network is not None:
        size = f"{row.network.theorem}: width {row.network.width}"
        found.append(("two layers", f"{size}, {row.network.verdict}"))
    return found


SECTION = ProfilesSection()
