"""Trained models on the kernel's page: those in the package with their attacks, and docs/records/trained.json."""

import json
from typing import Any

from tools.pages import Section, markdown_table, recorded

from separatrix.shipped import FOLDER
from separatrix.table.trained_models import attacked_in_words, attacks

PAGE = "docs/kernel.md"


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
            str(length), f"{length}·{alphabet}^{length}", f"{length * alphabet:,} of {length * alphabet:,}",
            str(harder), f"{measured['training_seconds']:,} s", f"{measured['certify_processor_seconds']:,} s",
            f"{size} kB",
        ])  # fmt: skip
    headings = [
        "length",
        "right on all",
        "pairs (place, symbol) certified",
        "with λ or splits",
        "training",
        "`certify`",
        "both files",
    ]
    return "\n".join(
        [
            markdown_table(headings, rows),
            "",
            "Training is wall time of one thread on a busy two-core machine, `certify` processor time of one process, "
            "for the search",
            "and the kernel's check of every proof.",
        ]
    )


def _counts() -> str:
    claim, size = _shipped("majority-31")
    kinds = [proof[0] for *_, proof in claim["certified"]]
    return (
        f"It is right on all 2^{claim['length']} inputs: {len(kinds)} slices are certified, {kinds.count('leaf')} of "
        f"them by one box and {kinds.count('split')} with splits. Both files take {size} kB."
    )


def _words() -> str:
    measured = recorded("trained")["words"]
    names = {"RNN-(1,16)": "dyck-rnn", "GRU-(1,16)": "dyck-gru-3-bits", "LSTM-(1,16)": "dyck-lstm-3-bits"}
    inside = [(model, *_shipped(name)) for model, name in names.items()]
    held = [
        [model, f"{claim['bits']} bits" if claim["bits"] else "as it is", str(len(claim["boxes"])), f"{size} kB"]
        for model, claim, size in inside
    ]
    return "\n".join(
        [
            markdown_table(["in the package", "state", "boxes", "both files"], held),
            "",
            f"All runs of these commands answer all of {measured['sampled']:,} sampled inputs of length "
            f"{measured['length']} rightly, and without rounding all words of up to seven brackets:",
            "",
            markdown_table(["run", "as it is", "3 bits", "4 bits"], measured["rows"]),
        ]
    )


def _attacks() -> str:
    measured = attacks()
    rows = [
        [
            f"{row['task']}, {row['model']}, N = {row['length']}, seed {row['seed']}", f"{100 * row['accuracy']:g} %",
            str(row["failing"]), "every input" if row["certified"] else "", f"`{row['one']}`" if row["one"] else "",
        ]
        for row in measured["rows"]
    ]  # fmt: skip
    return "\n".join(
        [
            f"Sampled accuracy is over {measured['sampled']:,} fresh inputs; each run was attacked for at most "
            f"{measured['seconds']} seconds, or until {measured['most']} failing inputs were found. All stopped",
            f"training at step {measured['stopped_at']}, at the first evaluation without an error.",
            attacked_in_words(),
            "",
            markdown_table(["run", "sampled", "failing inputs found", "certified for", "one of them"], rows),
        ]
    )


PARTS = (
    Section(PAGE, "trained lookup", _lookup),
    Section(PAGE, "trained counts", _counts),
    Section(PAGE, "trained words", _words),
    Section(PAGE, "attacked runs", _attacks),
)
