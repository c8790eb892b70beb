"""Trained models on the kernel's page: those in the package, and what docs/records/trained.json has of runs."""

import json
from typing import Any

from tools.pages import Section, markdown_table, recorded

from separatrix.shipped import FOLDER

PAGE = "docs/kernel.md"


def _shipped(name: str) -> tuple[dict[str, Any], int]:
    """A certificate of the package, and the size of its folder in kB."""
    folder = FOLDER / "trained" / name
    size = sum(file.stat().st_size for file in folder.iterdir())
    return json.loads((folder / "trained.json").read_text(encoding="utf-8")), round(size / 1000)


def _lookup() -> str:
    claim, size = _shipped("index-lookup-100")
    measured, pairs = recorded("trained")["lookup"], len(claim["certified"])
    plain = all(proof == ["leaf", []] for _, _, proof in claim["certified"])
    return (
        f"It is right on all {claim['length']}·{claim['alphabet']}^{claim['length']} inputs: {pairs:,} of "
        f"{claim['length'] * claim['alphabet']:,} pairs (place, symbol) are certified"
        f"{', and no proof needed a λ or a split' if plain else ''}. Both files take {size} kB. On one thread of a\n"
        f"busy two-core machine training took {measured['training_seconds']} seconds, and `certify` "
        f"{measured['certify_processor_seconds']} seconds of processor time in one process, for the search and the\n"
        "kernel's check of every proof."
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
    measured = recorded("trained")["attacks"]
    return "\n".join(
        [
            f"Sampled accuracy is over {measured['sampled']:,} fresh inputs; each run was attacked for at most "
            f"{measured['seconds']} seconds, or until {measured['most']} failing inputs were found. All stopped",
            f"training at step {measured['stopped_at']}, at the first evaluation without an error:",
            "",
            markdown_table(["run", "sampled", "failing inputs found", "one of them"], measured["rows"]),
        ]
    )


PARTS = (
    Section(PAGE, "trained lookup", _lookup),
    Section(PAGE, "trained words", _words),
    Section(PAGE, "attacked runs", _attacks),
)
