"""Every part of the documentation that a script writes: whole pages, sections and tables of README and docs.

Results of measurements come from docs/records; everything else is computed when the parts are filled or checked, so
only what takes well under a second belongs here.
"""

import inspect
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tools import (
    bound_campaign,
    code_tables,
    gpu_figure_page,
    gpu_tables,
    real_caches,
    size_tables,
    trusted_code,
)
from tools.mutants import __main__ as mutants
from tools.pages import RECORDS, Part, Section, Table, Whole, markdown_table, recorded

from benchmarks.__main__ import QUICK, section, text_from_record
from benchmarks.model_tables import kept_records, tables
from separatrix.bounds import FIXED, protocol_bounds
from separatrix.capacities import capacity, describe
from separatrix.cli.verb_serve import command as serve
from separatrix.communication.partition import odd_even
from separatrix.communication.protocols import VERSIONS, compare, run_one_layer
from separatrix.communication.reductions import reductions
from separatrix.constructions import Options, constructions
from separatrix.models.architecture import Architecture, architecture_named, architectures
from separatrix.shipped import FOLDER
from separatrix.table import attacked_in_words, attacks, theorem_index
from separatrix.table.attempts import Outcome, attempts
from separatrix.table.errata import errata
from separatrix.tasks import draws_from, tasks
from separatrix_kernel.specification import read_specification

# -- docs/theorems.md ------------------------------------------------------------------------------------


def theorems_table() -> str:
    """Every claim of the papers that runs, with its file and a command."""
    rows = [
        [each.claim, each.as_, f"[{each.name}](../src/{each.file})", f"`{each.command}`"] for each in theorem_index()
    ]
    return markdown_table(["claim", "as", "name and file", "command"], rows, left=4)


# -- docs/dyck.md ----------------------------------------------------------------------------------------

DYCK_SIZES = ((1, 1), (2, 2), (3, 2), (2, 3), (4, 3), (2, 8))
DYCK = {
    ("dyck-dfa", "repaired"): (
        "the minimal automaton, its state in binary", "recurrent, 2 ReLU maps", "⌈log₂(Σ_{i≤k} nⁱ + 1)⌉",
    ),
    ("dyck-dfa", "one-hot"): (
        "the minimal automaton, one coordinate for each state", "recurrent, 2 ReLU maps", "Σ_{i≤k} nⁱ + 1",
    ),
    ("dyck-rnn", "repaired"): (
        "a stack of k levels in h ← ReLU(W h + U x + b)", "recurrent, 1 ReLU map", "2kL + 2",
    ),
    ("dyck-rnn", "two-maps"): ("the same stack, pairs of units added up", "recurrent, 2 ReLU maps", "kL + 1"),
    ("dyck-transformer", "repaired"): (
        "counts, lookup of the matching bracket, collected errors", "2 if k ≤ 2, else 3",
        "4L + 5 if k ≤ 2, else 3L + 9",
    ),
}  # fmt: skip
"""What the constructions for brackets are, in words and formulas."""


def dyck_table() -> str:
    """Sizes of the constructions for brackets; none of them depends on N."""
    rows: list[list[object]] = []
    for (name, variant), words in DYCK.items():
        shown = f"`{name}`" if variant == "repaired" else f"`{name}`, variant `{variant}`"
        widths = [
            constructions()[name]
            .build(16, Options(variant=variant, parameters={"types": types, "depth": depth}))
            .network.width
            for types, depth in DYCK_SIZES
        ]
        rows.append([shown, *words, *widths])
    headings = ["construction", "what it is", "layers", "size of the state, or width"]
    return markdown_table([*headings, *(f"({n},{k})" for n, k in DYCK_SIZES)], rows, left=4 + len(DYCK_SIZES))


# -- docs/capacity.md, docs/bounds.md, docs/errata.md ----------------------------------------------------

SLIDES = {
    "bert-large": ("BERT (large)", 512, 1024),
    "gpt2": ("GPT-2", 1024, 768),
    "gpt3": ("GPT-3", 2048, 128),
}
"""SHT23's table: the model's name, N and m as the slides have them; the rest is in the presets."""
SLIDE_PRECISION = 16


def slide_table() -> str:
    """Where one layer of the slides' models meets the bounds."""
    rows: list[list[object]] = []
    for preset, (name, length, slides) in SLIDES.items():
        layer = describe(preset).layers[0]
        first = {
            limit.task: limit.first_impossible
            for limit in capacity(describe(preset), SLIDE_PRECISION, arithmetic=FIXED).limits
        }
        sizes = [length, layer.count, layer.heads, slides, layer.head_width]
        rows.append([name, *sizes, f"{first['dyck']:,}", f"{first['match3']:,}"])
    headings = ("model", "N", "L", "H", "m in the slides", "m of a head", "Dyck-(2,2) from", "triple matching from")
    return markdown_table(headings, rows)


def protocol_table() -> str:
    """Counted bits of Theorem 4's versions on the network of Theorem 1."""
    rows: list[list[object]] = []
    for length in (16, 64, 256):
        built = constructions()["index-lookup"].build(length)
        row = built.task.sample(draws_from(0), 1, length).inputs[0]
        split = odd_even(built.network.positions)
        runs = [run_one_layer(built.network, row, built.arithmetic, split, version=version) for version in VERSIONS]
        found = [compare(run.plan, run.transcript.total_bits) for run in runs]
        bits = [f"{each.bits}" + ("" if each.holds(rows=True) else r"\*") for each in found]
        rows.append([split.positions, *bits, found[0].claimed(), found[0].claimed(rows=True)])
    shown = [version.replace("-", " ") for version in VERSIONS]
    return markdown_table(["index-lookup, positions", *shown, "claim", "by rows"], rows, left=0)


def errata_index() -> str:
    """Every erratum by its number, with what it is about, as the atlas has them."""
    found = sorted(errata().values(), key=lambda each: each.number)
    return "\n".join(f"- [{each.name}](#{each.name.lower()}) ({each.source}): {each.title}" for each in found)


def attempts_table() -> str:
    """Every bound in every arithmetic: what it requires and what the narrowest network found has."""
    rows: dict[str, list[object]] = {}
    for each in attempts():
        below = each.outcome is Outcome.BELOW
        assert not (below and each.verdict)
        text = f"asked {each.asked:,}, found {each.found:,}"
        text = f"**below**: {text}" if below else text
        named = f" ({each.how})" if each.how == "dyck-float" else ""
        silent = "" if each.verdict else "; no verdict"
        rows.setdefault(each.bound, [f"`{each.bound}`"]).append(f"{text}{named}{silent}")
    headings = ["bound", "fixed point, down", "fixed point, nearest", "float32", "bfloat16", "exact rationals"]
    return markdown_table(headings, rows.values(), left=6)


BOUND_TABLES = {
    "bounds of recurrent models": "rnn",
    "bounds of one attention layer": "transformer-1layer",
    "bounds of feed-forward networks": "fnn",
    "bounds of graph Transformers": "graph-transformer",
}
"""The tables of bounds, each with its class of models."""
BOUND_LENGTH, BOUND_PRECISION, REDUCTION_BITS = 4096, 32, 6


def bound_table(model: str) -> str:
    """What every bound for a class of models requires, and the smallest width it leaves open."""
    lines = [
        f"| bound | claim | tasks | bits needed at N = {BOUND_LENGTH} | width ≥ | by the paper's formula |",
        "|---|---|---|---|---:|---|",
    ]
    for bound in (each for each in protocol_bounds() if model in each.models):
        task, served = tasks()[bound.task_names[0]], bound.task_names
        paper = bound.paper_width(BOUND_LENGTH, BOUND_PRECISION, task=task)
        cells = (
            f"`{bound.name}`",
            bound.claim + (" (not in the papers)" if bound.extension else ""),
            ", ".join(served) if len(served) < 6 else f"{len(served)} tasks",
            f"{bound.required_bits(BOUND_LENGTH, task)} = {bound.in_words}".replace("|", "\\|"),
            str(bound.smallest_width(BOUND_LENGTH, BOUND_PRECISION, task=task)),
            "–" if paper is None else f"{bound.paper_in_words}: {paper}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def reduction_table() -> str:
    """Every reduction with its variants: what was checked, and how it came out."""
    lines = ["| reduction | source | to bits | pairs | answers |", "|---|---|---:|---:|---|"]
    for each in (version for reduction in reductions().values() for version in (reduction, *reduction.variants)):
        found = each.verified_to(max(REDUCTION_BITS, each.bits(each.smallest)))
        pairs, failures = sum(size.pairs for size in found), sum(size.failures for size in found)
        verdict = "agree" if failures == 0 else f"**{failures} disagree**"
        lines.append(f"| `{each.name}` | {each.source} | {found[-1].bits} | {pairs} | {verdict} |")
    return "\n".join(lines)


# -- docs/architectures.md -------------------------------------------------------------------------------

OF_THE_PAPERS = (
    "TF", "LSTM", "LinTF", "RetNet", "DSS", "Mamba", "FNN", "CNN", "RNN", "GRU", "ThirdTF", "HardTF", "GraphTF",
)  # fmt: skip
"""Those of the papers come first, in their order; newer ones follow."""


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


def models_section() -> str:
    """The tables of ``benchmarks.models`` from what was kept."""
    return section("models", "", [report for records in kept_records() for report in tables(records)])


# -- docs/explorer.md ------------------------------------------------------------------------------------

SERVE = {
    "max_length": "N",
    "max_seconds": "one computation",
    "max_memory": "one computation (enforced on Linux)",
    "workers": "processes for proofs; one more answers quick questions",
}
"""What the options of ``separatrix serve`` bound."""


def serve_table() -> str:
    """The limits of the explorer's server."""
    given = inspect.signature(serve).parameters
    rows = [
        [f"`--{name.replace('_', '-')}`", str(given[name].default).removesuffix(".0"), bounds]
        for name, bounds in SERVE.items()
    ]
    return markdown_table(["option", "default", "bounds"], rows, left=3)


# -- docs/constructions.md, docs/gpu-notes.md ------------------------------------------------------------


def construction_table() -> str:
    """All constructions with their theorems and deviations."""
    rows: list[list[str]] = []
    for name, each in constructions().items():
        variants = ", ".join(f"`{variant}`" for variant in each.variants if variant != "repaired")
        rows.append([f"`{name}`", each.theorem, each.statement, "; ".join(each.deviations) or "–", variants or "–"])
    headings = ["construction", "theorem", "statement", "where it deviates", "other variants"]
    return markdown_table(headings, rows, left=5)


def copied(number: int) -> Callable[[], str]:
    """A measured table that docs/constructions.md shows too."""
    return lambda: size_tables.shared()[number]


def gpu_speeds() -> Iterator[Part]:
    """The table of docs/gpu-notes.md, once rows were kept."""
    if (RECORDS / gpu_tables.RECORD).exists():
        yield Section("docs/gpu-notes.md", gpu_tables.SECTION, gpu_tables.kept)


def sizes() -> Iterator[Part]:
    """The tables of docs/constructions.md."""
    for number, table in enumerate(size_tables.shared()):
        yield Table("docs/constructions.md", copied(number), table.splitlines()[0])


# -- docs/kernel.md: trained models in the package, and runs of docs/records/trained.json ---------------


def _shipped(name: str) -> tuple[dict[str, Any], int]:
    """A certificate of the package, and the size of its folder in kB."""
    folder = FOLDER / "trained" / name
    size = sum(file.stat().st_size for file in folder.iterdir())
    return json.loads((folder / "trained.json").read_text(encoding="utf-8")), round(size / 1000)


def _lookup() -> str:
    rows: list[list[str]] = []
    for name, measured in recorded("trained")["lookups"].items():
        claim, size = _shipped(name)
        length, alphabet = claim["length"], claim["alphabet"]
        assert len(claim["certified"]) == length * alphabet
        harder = sum(proof != ["leaf", []] for _, _, proof in claim["certified"])
        rows.append([
            str(length), "rotary" if name.startswith("rotary") else "learned", f"{length}·{alphabet}^{length}",
            f"{length * alphabet:,} of {length * alphabet:,}",
            str(harder), f"{measured['training_seconds']:,} s", f"{measured['certify_processor_seconds']:,} s",
            f"{size} kB",
        ])  # fmt: skip
    headings = [
        "length",
        "positions",
        "correct on all",
        "pairs (position, symbol) certified",
        "with λ or splits",
        "training",
        "`certify`",
        "both files",
    ]
    return "\n".join(
        [
            markdown_table(headings, rows),
            "",
            "Training: wall time of one thread on a busy two-core machine. `certify`: processor time of one process, "
            "for the search",
            "and the kernel's check of every proof.",
        ]
    )


def _counts() -> str:
    claim, size = _shipped("majority-31")
    kinds = [proof[0] for *_, proof in claim["certified"]]
    return (
        f"It is correct on all 2^{claim['length']} inputs: {len(kinds)} slices are certified, {kinds.count('leaf')} of "
        f"them by one box and {kinds.count('split')} with splits. Both files take {size} kB."
    )


def _equality() -> str:
    claim, size = _shipped("equality-8")
    assert not claim["open"] and not claim["counterexamples"]
    return (
        f"It is correct on all 2^{claim['length']} inputs: {len(claim['certified'])} slices are certified, with "
        f"{sum(map(_leaves, (row[3] for row in claim['certified'])))} boxes. Both files take {size} kB."
    )


def _leaves(proof: list[Any]) -> int:
    return 1 if proof[0] == "leaf" else _leaves(proof[3]) + _leaves(proof[4])


def _recall() -> str:
    claim, size = _shipped("recall-8")
    inputs, answer = read_specification(claim["specification"])
    kinds = [proof == ["leaf", []] for *_, proof in claim["certified"]]
    assert not claim["open"] and not claim["counterexamples"]
    return (
        f"It is correct on all {answer.covered(inputs)} = {answer.count(inputs):,} inputs: {len(kinds)} cases are "
        f"certified, {kinds.count(True)} of them by one box and {kinds.count(False)} with λ or splits. Both files take "
        f"{size} kB."
    )


def _words() -> str:
    measured = recorded("trained")["words"]
    names = {
        "LSTM-(1,64)": "dyck-lstm-64",
        "RNN-(1,16)": "dyck-rnn",
        "GRU-(1,16)": "dyck-gru-3-bits",
        "LSTM-(1,16)": "dyck-lstm-3-bits",
        "Mamba-(1,8)": "dyck-mamba-2-bits",
    }
    inside = [(model, *_shipped(name)) for model, name in names.items()]
    held = [
        [
            model,
            claim["task"],
            f"{claim['bits']} bits" if claim["bits"] else "not rounded",
            str(len(claim["boxes"])),
            f"{size} kB",
        ]
        for model, claim, size in inside
    ]
    return "\n".join(
        [
            markdown_table(["in the package", "task", "state", "boxes", "both files"], held, left=2),
            "",
            f"The runs of the command took {measured['training_processor_seconds']} s of processor time together, and "
            "answered all fresh examples of length 10",
            "correctly:",
            "",
            markdown_table(["run", "verdict without rounding"], measured["rows"]),
        ]
    )


def _attacks() -> str:
    measured = attacks()
    rows = [
        [
            row.name, str(row.step), f"{100 * row.accuracy:g} %",
            str(row.failing), "every input" if row.certified else "", f"`{row.text}`" if row.one else "",
            row.cell, row.device,
        ]
        for row in measured.rows
    ]  # fmt: skip
    return "\n".join(
        [
            f"Sampled accuracy is over {measured.sampled:,} fresh inputs; each run was attacked for at most "
            f"{measured.seconds} seconds of processor time, or until {measured.most} failing inputs were found.",
            attacked_in_words(),
            f"{measured.missed} other runs of the commands below the table missed a sampled input and are left "
            f"out, and so are {measured.missed_repeats} of the repeated ones.",
            "",
            markdown_table(
                [
                    "run",
                    "steps",
                    "sampled",
                    "failing inputs found",
                    "certified for",
                    "one of them",
                    "figure",
                    "trained on",
                ],
                rows,
            ),
            "",
            "```sh",
            *measured.commands,
            "```",
        ]
    )


PARTS: tuple[Part, ...] = (
    Section("docs/reliability.md", mutants.MARK, lambda: mutants.page(recorded(mutants.MARK))),
    Section("docs/reliability.md", bound_campaign.MARK, lambda: bound_campaign.page(recorded(bound_campaign.MARK))),
    Whole("docs/benchmarks.md", lambda: text_from_record(*QUICK)),
    Whole("docs/construction-sizes.md", lambda: text_from_record("constructions")),
    Whole("docs/frontier.md", lambda: text_from_record("frontier")),
    Whole(gpu_figure_page.PAGE, gpu_figure_page.text),
    Section("docs/training.md", "benchmark training", lambda: text_from_record("training")),
    Section("docs/training.md", "benchmark peers", lambda: text_from_record("peers")),
    *sizes(),
    *gpu_speeds(),
    *code_tables.PARTS,
    Table("docs/theorems.md", theorems_table, "| claim | as | name and file |"),
    Table("docs/constructions.md", construction_table, "| construction | theorem |"),
    Table("docs/constructions.md", trusted_code.table, "| method | constructions | files |"),
    Table("docs/kernel.md", trusted_code.claims_table, "| claims about | files |"),
    Table("docs/kernel.md", trusted_code.kernel_table, "| file of the kernel | content |"),
    Section("docs/kernel.md", "trained lookup", _lookup),
    Section("docs/kernel.md", "trained recall", _recall),
    Section("docs/kernel.md", "trained counts", _counts),
    Section("docs/kernel.md", "trained equality", _equality),
    Section("docs/kernel.md", "trained words", _words),
    Section("docs/kernel.md", "attacked runs", _attacks),
    Table("docs/dyck.md", dyck_table, "| construction | what it is |"),
    Section("docs/errata.md", "index", errata_index),
    Section("docs/bounds.md", "attempts", attempts_table),
    *(Section("docs/bounds.md", name, partial(bound_table, model)) for name, model in BOUND_TABLES.items()),
    Table("docs/bounds.md", reduction_table, "| reduction | source |"),
    Table("docs/bounds.md", protocol_table, "| index-lookup, positions |"),
    Table("docs/capacity.md", slide_table, "| model | N | L | H |"),
    Section("docs/capacity.md", "model types", real_caches.type_section),
    Section("docs/architectures.md", "architectures", catalog),
    Section("docs/architectures.md", "benchmark models", models_section),
    Table("docs/explorer.md", serve_table, "| option | default |"),
)
