"""Architectures and training: the catalog in words, defaults of the recipe, and a measured state."""

from collections.abc import Iterator

from tools import gpu_figure_page
from tools.measure_pages import TRAINED
from tools.page_parts.program import default_of
from tools.pages import Section, Sentence, Whole, recorded

from benchmarks.model_tables import kept_records
from separatrix.cli.verb_sweep import command as sweep
from separatrix.models.architecture import Architecture, architecture_named, architectures
from separatrix.tasks import tasks
from separatrix.training.batches import CHUNK_STEPS
from separatrix.training.experiments.catalog import experiments
from separatrix.training.spec import RunSpec

PAGE = "docs/architectures.md"
OF_THE_PAPERS = (
    "TF", "LSTM", "LinTF", "RetNet", "DSS", "Mamba", "FNN", "CNN", "RNN", "GRU", "ThirdTF", "HardTF", "GraphTF",
)  # fmt: skip
"""The papers' own come first, as they tell of them; what people build today follows."""


def catalog() -> str:
    """Every architecture: where it is from, its equations, options and deviations."""
    first = [architecture_named(short) for short in OF_THE_PAPERS]
    more = [each for each in architectures().values() if each.short not in OF_THE_PAPERS]
    return "\n\n".join(line for each in [*first, *sorted(more, key=_year)] for line in described(each))


def _year(entry: Architecture) -> str:
    """When an architecture came out: by the number of its paper."""
    return entry.reference.rpartition("arXiv:")[2]


def described(entry: Architecture) -> Iterator[str]:
    """The paragraphs about one of them."""
    options = [
        f"`{each.name}={each.default}` ({each.about}"
        + (f": {', '.join(map(str, each.choices))})" if each.choices else ")")
        for each in entry.options
    ]
    yield f"### {entry.short}: {entry.title}"
    yield f"{entry.reference}. Block: {entry.block}."
    yield f"```text\n{entry.equations}\n```"
    yield f"- Options: {'; '.join(options) or 'none'}\n- Deviations: {'; '.join(entry.deviations) or 'none'}"


def rounded_state() -> list[object]:
    """What ``separatrix runs bits`` found about the LSTM that learned brackets."""
    record = recorded("state-bits")
    points = {each["bits"]: each for each in record["points"]}
    whole = next(bits for bits, each in points.items() if each["accuracy"] == record["unrounded"])
    numbers = record["state_numbers"]
    shown = [whole, numbers, whole * numbers, 32 * numbers]
    less = [text for bits in range(whole - 1, 0, -1) for text in (bits, f"{100 * points[bits]['accuracy'][0]:.1f}")]
    return [16, record["length"], *shown, *less]


def models_section() -> str:
    """The tables of ``benchmarks.models`` from what was kept."""
    from benchmarks.__main__ import section
    from benchmarks.model_tables import tables

    return section("models", "", [report for records in kept_records() for report in tables(records)])


def learnable_length() -> list[int]:
    """The state of a model of width 16 in bits, and the longest lookup that it can hold."""
    width, precision, alphabet = 16, 32, int(tasks()["index-lookup"].parameters()["alphabet"])
    bits = width * precision
    return [width, precision, bits, alphabet, bits // (alphabet.bit_length() - 1)]


PARTS = (
    Section(PAGE, "architectures", catalog),
    *([Section(PAGE, "benchmark models", models_section)] if any(True for _ in kept_records()) else []),
    Sentence(
        PAGE,
        'An LSTM of width {} that has learned Dyck-(2,2) at N = {} (`separatrix train dyck "LSTM-(1,16)" --length 12 '
        "--lr 1e-2`) keeps every answer with {} bits for each of its {} numbers, {} bits instead of {}; with {} bits "
        "it is right on {} %, with {} on {} %",
        rounded_state,
    ),
    Sentence(
        "docs/training.md",
        "a state of {} numbers of {} bits has {} bits, and {} symbols at each position need six each, so beyond N = {} "
        "every choice of weights fails",
        learnable_length,
    ),
    Sentence("docs/training.md", "batches of {} fresh examples at every step", lambda: [default_of(RunSpec, "batch")]),
    Sentence(
        "docs/training.md",
        "{} fresh examples for the final accuracy",
        lambda: [default_of(RunSpec, "evaluation_examples")],
    ),
    Sentence(
        "docs/training.md",
        "fewer steps than the paper's {:,}",
        lambda: [experiments()["figure2-left"].sweep("paper").cells()[0].runs[0].steps],
    ),
    Sentence(
        "docs/how-to/cluster.md", "the time between checkpoints, {} if", lambda: [default_of(sweep, "save_every")]
    ),
    Sentence("docs/architecture.md", "data of {} steps at a time", lambda: [CHUNK_STEPS]),
    Whole(gpu_figure_page.PAGE, gpu_figure_page.text),
)
assert TRAINED[:2] == ("dyck", "LSTM-(1,16)")
