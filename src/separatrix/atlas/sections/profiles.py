"""The your-function section: sample profiles of functions, made as ``separatrix profile`` makes them."""

from dataclasses import dataclass
from html import escape
from types import SimpleNamespace
from typing import Any, cast

from rich.table import Table

from separatrix.atlas.origin import Origin
from separatrix.atlas.own_function import certify_sparse_form, verdict_in_words
from separatrix.atlas.own_function_figure import profile_figure
from separatrix.atlas.section import Advance, Figure, Results, Section
from separatrix.atlas.site.components import command_block, counted, definitions, figure_slot, number, origin_line
from separatrix.communication.profile import Profile, ProfileOptions, as_record, load_function, parse_alphabet, profile
from separatrix.communication.profile.growth import Fit, Growth, fitted_in_words, law_in_words

MODULE = "separatrix.communication.profile.examples"
SAMPLES: dict[str, tuple[str, str, int]] = {
    "parity": ("Parity", "2", 14),
    "majority": ("Majority", "2", 13),
    "equal_halves": ("Equality of the two halves", "2", 12),
    "balanced": ("Dyck-(2,2)", "()[]", 8),
    "repeats": ("Some symbol occurs twice", "N", 6),
}
"""Function, its title, the alphabet and the length."""
SEED = 0


@dataclass(frozen=True, kw_only=True)
class ProfilesSection(Section):
    """What five functions ask of a recurrent model and of one attention layer."""

    name: str = "profiles"
    title: str = "Your function"
    order: int = 35
    page: str = "your-function"
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
        """Residual classes and growth of each."""
        return [profile_figure(drawable(row)) for row in results["rows"]]

    def body(self, results: Results) -> str:
        """How to profile a function of one's own, then the samples with their figures."""
        example = "def parity(x):\n    return sum(x) % 2 == 1\n"
        return (
            f"<p>Write a function into a file,</p><pre><code>{example}</code></pre><p>and ask for its profile:</p>"
            f"{command_block('separatrix profile my_functions.py:parity --length 14')}"
            + "".join(_article(row) for row in results["rows"])
        )

    def table(self, results: Results) -> Table:
        """What each function needs."""
        shown = Table(title="Sample functions: what they ask of any model", title_justify="left")
        shown.add_column("function", style="bold", no_wrap=True)
        for heading in ("N", "state bits", "communication bits"):
            shown.add_column(heading, justify="right")
        shown.add_column("state grows")
        shown.add_column("one layer grows")
        for row in results["rows"]:
            bits = "" if row["one_layer"] is None else str(row["one_layer"]["communication_bits"])
            growth = row["growth"]
            shown.add_row(
                row["title"], str(row["length"]), str(row["minimum_state_bits"]), bits,
                law_in_words(growth["state_bits"]["law"]), law_in_words(growth["communication_bits"]["law"]),
            )  # fmt: skip
        return shown


def _profiled(name: str) -> Profile:
    _, alphabet, length = SAMPLES[name]
    _, function = load_function(f"{MODULE}:{name}")
    return profile(name, function, length, parse_alphabet(alphabet), ProfileOptions(seed=SEED))


def drawable(row: Results) -> Profile:
    """What the figure of a profile asks for, from the profile's record."""

    def grown(record: Results) -> Growth:
        fits = [Fit(fit["form"], fit["a"], fit["b"], fit["error"]) for fit in record["fits"]]
        lengths, values, fitted = (tuple(record[name]) for name in ("lengths", "values", "fitted_lengths"))
        return Growth(lengths, values, tuple(fits), fitted)

    residuals = SimpleNamespace(classes=row["residual_classes"], bits=row["state_bits"])
    shown = SimpleNamespace(
        name=row["function"], length=row["length"], residuals=residuals,
        state_growth=grown(row["growth"]["state_bits"]),
        communication_growth=grown(row["growth"]["communication_bits"]),
    )  # fmt: skip
    return cast("Profile", shown)


def _grows(growth: Results, counts: str) -> str:
    """The law that fits the lengths that were run, and another that fits nearly as well."""
    if growth["formula"] is None:
        return "how it grows cannot be told from these lengths"
    near = "" if growth["nearly_as_good"] is None else f"; {growth['nearly_as_good']} fits nearly as well"
    fitted = growth["fitted_lengths"]
    through = f", {fitted_in_words(fitted, growth['exact_count'], counts)}" if fitted else ""
    return f"grows: {law_in_words(growth['law'])}, about {growth['formula']}{through}{near}"


def _article(row: Results) -> str:
    """One sample: what it needs, what was found, its figure."""
    state, talk = row["growth"]["state_bits"], row["growth"]["communication_bits"]
    automaton = row["automaton"]["all_lengths"]
    facts = {
        "inputs": f"all {row['inputs']} over {row['alphabet']['symbols']}",
        "any recurrent model": (
            f"at least {counted(row['minimum_state_bits'], 'bit')} of state at N = {row['length']}; "
            f"{_grows(state, 'classes')}"
        ),
        "one attention layer": ""
        if row["one_layer"] is None
        else f"{counted(row['one_layer']['communication_bits'], 'bit')} of communication by "
        f"{row['one_layer']['partition']}; {_grows(talk, 'rectangles')}",
        "smallest automaton": ""
        if automaton is None
        else f"{number(automaton['states'])} states: {automaton['meaning']}",
        "as a threshold": "" if row["sparse_threshold"] is None else row["sparse_threshold"]["in_words"],
        "two layers": ""
        if row["network"] is None
        else f"{row['network']['theorem']}: width {row['network']['width']}, {verdict_in_words(row['network'])}",
    }
    return (
        f'<article class="sample" id="function-{escape(row["function"])}"><h2>{escape(row["title"])}</h2>'
        f"{definitions(facts)}{figure_slot('profile-' + row['function'])}{origin_line(row['origin'])}</article>"
    )


SECTION = ProfilesSection()
