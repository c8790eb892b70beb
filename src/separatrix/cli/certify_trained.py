"""How ``certify`` and ``check`` treat trained weights: a run of a store, or a folder with a weight file."""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from separatrix.cli.output import command_line, console, print_json
from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.files import check_writable

if TYPE_CHECKING:
    from separatrix.models.certify_lookup import Certified
    from separatrix.models.sequence_model import SequenceModel
    from separatrix_kernel.trained import TrainedAccepted

RUN_NAME = re.compile(r"[0-9a-f]{4,16}")
COVERED_TASKS = "covered is index-lookup"
ARITHMETIC = "exact over the stored float32 weights, and float32 in any order of summation"


def names_a_run(text: str) -> bool:
    """Whether this is a run's name, or a folder with trained weights that has no construction's name.

    >>> names_a_run("0b5d1c2e"), names_a_run("index-lookup")
    (True, False)
    """
    if RUN_NAME.fullmatch(text) is not None:
        return True
    from separatrix_kernel.trained import WEIGHTS_FILE

    if not (Path(text) / WEIGHTS_FILE).is_file():
        return False
    from separatrix.constructions.catalog import constructions

    return text not in constructions()


def certify_trained(
    context: typer.Context,
    name: str,
    length: int | None,
    store: Path | None,
    nodes: int,
    out: Path | None,
    as_json: bool,
    started: float,
) -> int:
    """Certify a trained model and say what is certified, refuted and open; 0 where every input is certified."""
    require("certifying a trained run", "torch")
    from separatrix.cli.progress import progress_bar
    from separatrix.models.certify_lookup import certify_lookup
    from separatrix.progress import listening
    from separatrix.provenance import provenance
    from separatrix_kernel.trained import TRAINED_FILE

    if not 1 <= nodes <= 1 << 20:
        raise SeparatrixError(f"--nodes {nodes} is out of range; choose 1 to 2^20")
    model, task_length, label = _model(name, store)
    chosen = task_length if length is None else length
    folder = out or Path("certificates") / f"{label}-{chosen}"
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"--out {folder} is a file; give a folder")
    check_writable(folder / TRAINED_FILE)
    with progress_bar(f"certifying {label}", as_json) as show, listening(show):
        found = certify_lookup(model, chosen, folder, nodes)
    result = {
        "run": label,
        "model": str(model.spec),
        **_summary(found),
        "arithmetic": ARITHMETIC,
        "certificate": str(folder),
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        record = provenance(command_line(context), arithmetic=ARITHMETIC, seed=None, started=started)
        print_json({**result, "provenance": record})
    else:
        _print(result)
    return 0 if result["certified"] else 1


def _model(name: str, store: Path | None) -> "tuple[SequenceModel, int, str]":
    """The model, the length that it was trained for, and what to call it."""
    from separatrix_kernel.trained import WEIGHTS_FILE

    if (Path(name) / WEIGHTS_FILE).is_file():
        from separatrix.models.trained_files import model_from

        if store is not None:
            raise SeparatrixError(f"--store {store} is for the name of a run, and {name} is a folder; leave it out")
        model = model_from((Path(name) / WEIGHTS_FILE).read_bytes())
        return model, model.length - 1, Path(name).name
    from separatrix.training.records import Records, store_path
    from separatrix.training.trained import trained_model

    with Records(store_path(store), create=False) as records:
        record = records.get(name)
        if record.spec.task != "index-lookup":
            raise SeparatrixError(f"run {name} is of {record.spec.task}, which cannot be certified; {COVERED_TASKS}")
        from separatrix.models.naming import parse_spec
        from separatrix.models.trained_files import check_described

        check_described(parse_spec(record.spec.architecture), record.spec.precision)
        return trained_model(record, records.files), record.spec.length, record.spec.name


def _summary(found: "Certified") -> dict[str, Any]:
    from separatrix.provers.trained_lookup import Outcome

    counts = {str(outcome): found.count(outcome) for outcome in Outcome}
    return {
        "task": "index-lookup",
        "length": found.length,
        "alphabet": found.alphabet,
        "inputs": found.inputs,
        "pairs": counts,
        "share_certified": str(found.share),
        "certified": found.share == 1,
        "counterexamples": [list(row) for row in found.failing()],
        "open": [list(pair) for pair, each in found.pairs.items() if each.outcome == Outcome.OPEN],
    }


def _print(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    counts, fails = result["pairs"], result["counterexamples"]
    every = sum(counts.values())
    if result["certified"]:
        verdict = f"[green]certified[/green]: right on all {result['inputs']} inputs"
    else:
        verdict = f"[yellow]not certified[/yellow] as a whole: {result['share_certified']} of {result['inputs']} inputs"
    rows = [
        ("model", escape(f"{result['model']}, run {result['run']}, trained")),
        ("verdict", verdict),
        (
            "pairs (place, symbol)",
            f"{counts['certified']} of {every} certified, each for all texts; {counts['counterexample']} with a "
            f"counterexample; {counts['open']} open",
        ),
        ("arithmetic", result["arithmetic"]),
        ("certificate", escape(result["certificate"])),
    ]
    if fails:
        row, alphabet = fails[0], result["alphabet"]
        asked = row[-1] - alphabet
        rows.insert(
            3, ("a counterexample", f"{' '.join(map(str, row[:-1]))}, asked for symbol {asked + 1}: torch errs")
        )
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)


def check_trained_weights(context: typer.Context, folder: Path, replay: bool, as_json: bool, started: float) -> int:
    """Check the certificate of trained weights in a folder; 0 where what it claims is shown."""
    if replay:
        require("--replay of a trained model", "torch")
    from rich.markup import escape

    from separatrix.cli.progress import progress_bar
    from separatrix.provenance import provenance
    from separatrix_kernel.reading import RefusedError
    from separatrix_kernel.trained import WEIGHTS_FILE, check_trained_folder

    accepted: TrainedAccepted | None = None
    reason = "every claimed pair is shown"
    with progress_bar(f"checking {folder}", as_json) as show:
        try:
            accepted = check_trained_folder(folder, lambda done, total: show(f"checking {folder}", done, total))
        except RefusedError as refusal:
            reason = str(refusal)
    result: dict[str, Any] = {
        "task": "index-lookup",
        "valid": accepted is not None,
        "trust": "kernel" if accepted is not None else None,
        "reason": reason,
        "arithmetic": ARITHMETIC,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if accepted is not None:
        result |= {
            "length": accepted.length,
            "alphabet": accepted.alphabet,
            "sha256": accepted.sha256,
            "pairs_certified": len(accepted.certified),
            "share_certified": str(accepted.share),
            "counterexamples": [list(row) for row in accepted.counterexamples],
        }
        if replay:
            from separatrix.models.certify_lookup import fails
            from separatrix.models.trained_files import model_from

            model = model_from((folder / WEIGHTS_FILE).read_bytes())
            result["replayed"] = [fails(model, row) for row in accepted.counterexamples]
    if as_json:
        record = provenance(command_line(context), arithmetic=ARITHMETIC, seed=None, started=started)
        print_json({**result, "provenance": record})
    elif accepted is None:
        console().print(f"[red]not valid[/red]: {escape(reason)}", soft_wrap=True)
    else:
        console().print(accepted.words(), soft_wrap=True, markup=False)
        console().print(f"[green]valid[/green]: right on {accepted.share_in_words()}")
        if replay:
            told = f"{sum(result['replayed'])} of {len(result['replayed'])} counterexamples fail in torch"
            console().print(f"replayed: {told}", soft_wrap=True)
    return 0 if accepted is not None and all(result.get("replayed", [])) else 1
