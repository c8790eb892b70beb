"""How ``certify`` treats trained weights: a run of a store, or a folder with a weight file."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import typer

from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import console, print_result, seconds_so_far
from separatrix.errors import SeparatrixError, StoppedError
from separatrix.extras import require
from separatrix.files import check_writable

if TYPE_CHECKING:
    from separatrix.models import Certified, CertifiedCases, CertifiedCounts, SequenceModel, WordsVerdict
    from separatrix.tasks import Task

RUN_NAME = re.compile(r"[0-9a-f]{4,16}")
COVERED_TASKS = (
    "covered are TF of one layer on index-lookup, majority, equality and other tasks that count conditions, TF of two "
    "layers on index-lookup and associative-recall, and RNN, GRU, LSTM and Mamba of one layer on dyck"
)
LARGEST_CLAIM = 1 << 26
ARITHMETIC = "exact over the stored float32 weights, and float32 in any order of summation"


def names_a_run(text: str) -> bool:
    """Return whether this is a run's name, or a folder that has no construction's name.

    >>> names_a_run("0b5d1c2e"), names_a_run("index-lookup")
    (True, False)
    """
    if RUN_NAME.fullmatch(text) is not None:
        return True
    if not Path(text).is_dir():
        return False
    from separatrix.constructions import constructions

    return text not in constructions()


def certify_trained(
    context: typer.Context,
    name: str,
    length: int | None,
    store: Path | None,
    nodes: int,
    bits: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Certify a trained model and say what is certified, refuted and open; 0 where every input is certified."""
    require("certifying a trained run", "torch")
    from separatrix.cli.progress import progress_bar
    from separatrix.models import certify_cases, certify_counts, certify_lookup, certify_words
    from separatrix.progress import listening
    from separatrix_kernel.trained import TRAINED_FILE

    if not 1 <= nodes <= 1 << 20:
        raise SeparatrixError(f"--nodes {nodes} is out of range; choose 1 to 2^20")
    if bits == 0:
        raise SeparatrixError("--bits 0 leaves no state; choose 1 to 16, or leave it out")
    given = _given(name, store)
    words = given.kind == "words"
    if words:
        every = "is for texts of a length; words are certified at every length; leave it out"
        refuse_given(context, ("length", "nodes"), every)
    else:
        refuse_given(context, ("bits",), "is for a recurrent model on dyck, not for a Transformer; leave it out")
    chosen = given.length if length is None else length
    folder = out or Path("certificates") / (f"{given.label}-words" if words else f"{given.label}-{chosen}")
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"--out {folder} is a file; give a folder")
    check_writable(folder / TRAINED_FILE)
    with progress_bar(f"certifying {given.label}", as_json) as show, listening(show), _resumable(folder):
        if words:
            summary = _words_summary(certify_words(given.model, given.task, folder, bits or 0), given.task)
        elif given.kind == "counts":
            summary = _counts_summary(certify_counts(given.model, given.task, chosen, folder, nodes), given.task)
        elif given.kind == "cases":
            summary = _cases_summary(certify_cases(given.model, given.task, chosen, folder, nodes), given.task)
        else:
            summary = _summary(certify_lookup(given.model, chosen, folder, nodes))
    result = {
        "run": given.label,
        "model": str(given.model.spec),
        **summary,
        "arithmetic": ARITHMETIC,
        "certificate": str(folder) if summary["certified"] or not words else None,
        "seconds": seconds_so_far(context),
    }
    if as_json:
        print_result(context, {**result}, arithmetic=ARITHMETIC)
    else:
        (_print_words if words else _print)(result)
    return 0 if result["certified"] else 1


@contextmanager
def _resumable(folder: Path) -> Generator[None]:
    """Say after Ctrl-C what is kept of a long certification."""
    from separatrix.models import PROGRESS_FILE

    try:
        yield
    except KeyboardInterrupt as error:
        if not (folder / PROGRESS_FILE).is_file():
            raise
        raise StoppedError(f"interrupted; {folder} keeps what was decided, and the same command resumes") from error


class _Given(NamedTuple):
    model: "SequenceModel"
    length: int
    """That it was trained for."""
    label: str
    """What to call it."""
    task: "Task"
    kind: Literal["lookup", "counts", "words", "cases"]


def _given(name: str, store: Path | None) -> _Given:
    """Return the model that is meant; what is not covered is refused."""
    from separatrix_kernel.trained import WEIGHTS_FILE

    if Path(name).is_dir() and (RUN_NAME.fullmatch(name) is None or (Path(name) / WEIGHTS_FILE).is_file()):
        if store is not None:
            raise SeparatrixError(f"--store {store} is for the name of a run, and {name} is a folder; leave it out")
        return _in_folder(Path(name))
    from separatrix.models import CELLS, check_described, check_recurrent, counts, lookup_groups, parse_spec
    from separatrix.tasks import automaton_of
    from separatrix.training import Records, store_path, trained_model

    with Records(store_path(store), create=False) as records:
        record = records.get(name)
        spec, model, task = record.spec, parse_spec(record.spec.architecture), record.spec.the_task()
        kind = "lookup"
        if automaton_of(task) is not None:
            kind = "words"
            check_recurrent(model, spec.precision)
        else:
            counting, groups = counts(task, spec.length), lookup_groups(task, spec.length)
            if not counting and groups is None:
                raise SeparatrixError(f"run {name} is of {spec.task}, which cannot be certified; {COVERED_TASKS}")
            one_layer = counting or spec.task == "index-lookup"
            if model.entries[0].name in CELLS or (not one_layer if model.depth == 1 else groups is None):
                raise SeparatrixError(f"{model} on {spec.task} cannot be certified; {COVERED_TASKS}")
            kind = "cases" if model.depth > 1 else "counts" if counting else "lookup"
            check_described(model, spec.precision)
        return _Given(trained_model(record, records.files), spec.length, spec.name, task, kind)


def _in_folder(folder: Path) -> _Given:
    """Return the model of a folder; but for lookups the task is in the certificate there."""
    from separatrix.models import model_from, recurrent_from
    from separatrix.reading import parse_json, read_file
    from separatrix.tasks import labelled_task, tasks
    from separatrix_kernel.trained import COUNTS_FORMAT, TRAINED_FILE, TWO_LAYERS_FORMAT, WEIGHTS_FILE, WORDS_FORMAT

    if not (folder / WEIGHTS_FILE).is_file():
        raise SeparatrixError(f"{folder} has no {WEIGHTS_FILE}; name a run, or a folder that certify wrote")
    data = (folder / WEIGHTS_FILE).read_bytes()
    claim: dict[str, Any] = {}
    if (folder / TRAINED_FILE).is_file():
        found = parse_json(read_file(folder / TRAINED_FILE, LARGEST_CLAIM, "give a folder that certify wrote"))
        claim = cast("dict[str, Any]", found) if isinstance(found, dict) else claim
    if claim.get("format") == WORDS_FORMAT:
        return _Given(recurrent_from(data), 1, folder.name, labelled_task(str(claim.get("task"))), "words")
    try:
        model, length = model_from(data), claim.get("length")
    except SeparatrixError as error:
        if claim:
            raise
        raise SeparatrixError(
            f"{folder} has no {TRAINED_FILE}, which names the task, so that its weights are read as a lookup's: {error}"
        ) from error
    if claim.get("format") in (COUNTS_FORMAT, TWO_LAYERS_FORMAT):
        task = labelled_task(str(claim.get("task")))
        kind = "counts" if claim.get("format") == COUNTS_FORMAT else "cases"
        return _Given(model, length if isinstance(length, int) else 0, folder.name, task, kind)
    if model.spec.depth > 1 or model.vocabulary < model.classes + model.length - 1:
        raise SeparatrixError(
            f"{folder} has no {TRAINED_FILE}, which names the task, and its weights are not of a lookup; name a run"
        )
    lookup = tasks()["index-lookup"].with_parameters(alphabet=model.classes)
    return _Given(model, model.length - 1, folder.name, lookup, "lookup")


def _words_summary(found: "WordsVerdict", task: "Task") -> dict[str, Any]:
    from separatrix.provers import Outcome
    from separatrix.tasks import task_label

    return {
        "task": task_label(task),
        "words": "every length" if found.empty else "every length but 0",
        "state_bits": found.bits or None,
        "outcome": str(found.outcome),
        "certified": found.outcome == Outcome.CERTIFIED,
        "automaton_states": found.states,
        "boxes": found.boxes,
        "counterexample": None if found.failing is None else list(found.failing),
        "counterexample_shown": None if found.failing is None else shown_word(task, found.failing),
    }


def shown_word(task: "Task", word: "tuple[int, ...]") -> str:
    """Return a word for people."""
    texts = task.vocabulary(max(len(word), 1)).texts(list(word))
    return task.joiner.join(texts) or "the empty word"


def _print_words(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    bits = result["state_bits"]
    verdict = {
        "certified": "[green]certified[/green]: right after every word, of " + result["words"],
        "counterexample": "[red]counterexample[/red]: a word after which torch errs",
        "open": "[yellow]open[/yellow]: no boxes were found that no token leaves, and no word that fails",
    }[result["outcome"]]
    rows = [
        ("model", escape(f"{result['model']}, run {result['run']}, trained")),
        ("network", f"with its state rounded to {bits} bits after every token" if bits else "as it is"),
        ("task", result["task"]),
        ("verdict", verdict),
        ("arithmetic", result["arithmetic"]),
    ]
    if result["counterexample"] is not None:
        rows.append(("the word", escape(result["counterexample_shown"])))
    if result["certified"]:
        rows.append(("boxes", f"{result['boxes']} for {result['automaton_states']} states of the automaton"))
        rows.append(("certificate", escape(result["certificate"])))
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)


def _summary(found: "Certified") -> dict[str, Any]:
    from separatrix.provers import Outcome

    counts = {str(outcome): found.count(outcome) for outcome in Outcome}
    return {
        "task": "index-lookup",
        "length": found.length,
        "alphabet": found.alphabet,
        "inputs": found.inputs,
        "pairs": counts,
        "share_certified": str(found.share),
        "certified": found.share == 1,
        "resumed": found.resumed,
        "counterexamples": [list(row) for row in found.failing()],
        "open": [list(pair) for pair, each in found.pairs.items() if each.outcome == Outcome.OPEN],
    }


def _counts_summary(found: "CertifiedCounts", task: "Task") -> dict[str, Any]:
    return {**_parts_summary(found, task, "slices"), "open": [list(part) for part in found.left()]}


def _cases_summary(found: "CertifiedCases", task: "Task") -> dict[str, Any]:
    return {**_parts_summary(found, task, "cases"), "open": [[p, list(held)] for p, held in found.left()]}


def _parts_summary(found: "CertifiedCounts | CertifiedCases", task: "Task", parts: str) -> dict[str, Any]:
    from separatrix.provers import Outcome
    from separatrix.tasks import changed_label

    return {
        "task": changed_label(task),
        "length": found.length,
        "inputs": found.inputs,
        parts: {str(outcome): found.count(outcome) for outcome in Outcome},
        "share_certified": str(found.share),
        "certified": found.share == 1,
        "resumed": found.resumed,
        "counterexamples": [list(row) for row in found.failing()],
        "counterexamples_shown": [task.write(list(row), found.length) for row in found.failing()],
    }


def _print(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    names = {
        "pairs": "pairs (place, symbol)",
        "slices": "slices (last token, counts)",
        "cases": "cases (what is asked for)",
    }
    parts = next(name for name in names if name in result)
    counts, fails = result[parts], result["counterexamples"]
    every = sum(counts.values())
    if result["certified"]:
        verdict = f"[green]certified[/green]: right on all {result['inputs']} inputs"
    else:
        verdict = f"[yellow]not certified[/yellow] as a whole: {result['share_certified']} of {result['inputs']} inputs"
    rows = [
        ("model", escape(f"{result['model']}, run {result['run']}, trained")),
        ("verdict", verdict),
        (
            names[parts],
            f"{counts['certified']} of {every} certified, each for all of its inputs; {counts['counterexample']} with "
            f"a counterexample; {counts['open']} open",
        ),
        ("arithmetic", result["arithmetic"]),
        ("certificate", escape(result["certificate"])),
    ]
    if result["resumed"]:
        rows.insert(3, ("of these", f"{result['resumed']} were decided before an interruption, and were not repeated"))
    if fails and parts != "pairs":
        rows.insert(3, ("a counterexample", f"{escape(result['counterexamples_shown'][0])}: torch errs"))
    elif fails:
        row, alphabet = fails[0], result["alphabet"]
        asked = row[-1] - alphabet
        rows.insert(
            3, ("a counterexample", f"{' '.join(map(str, row[:-1]))}, asked for symbol {asked + 1}: torch errs")
        )
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)
