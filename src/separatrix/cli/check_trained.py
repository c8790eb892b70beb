"""How ``check`` treats trained weights: a folder with a weight file and what ``certify`` claims of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from separatrix.api import WEIGHTS_ARITHMETIC
from separatrix.cli.output import console, print_result, seconds_so_far
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix_kernel.thresholds import CountsAccepted
    from separatrix_kernel.trained import TrainedAccepted
    from separatrix_kernel.two_layers import TwoLayersAccepted
    from separatrix_kernel.words import WordsAccepted


def check_trained_weights(context: typer.Context, folder: Path, replay: bool, as_json: bool) -> int:
    """Check the certificate of trained weights in a folder; 0 where what it claims is shown."""
    if replay:
        require("--replay of a trained model", "torch")
    from rich.markup import escape

    from separatrix.certificates import relied_on, shown_kernel
    from separatrix.cli.progress import progress_bar
    from separatrix_kernel.cells import SELECTIVE
    from separatrix_kernel.reading import RefusedError
    from separatrix_kernel.thresholds import CountsAccepted
    from separatrix_kernel.trained import WEIGHTS_FILE, TrainedAccepted, check_trained_folder
    from separatrix_kernel.two_layers import TwoLayersAccepted
    from separatrix_kernel.words import WordsAccepted

    accepted: TrainedAccepted | CountsAccepted | WordsAccepted | TwoLayersAccepted | None = None
    reason = "what it claims is shown"
    with progress_bar(f"checking {folder}", as_json) as show:
        try:
            accepted = check_trained_folder(folder, lambda done, total: show(f"checking {folder}", done, total))
            if isinstance(accepted, WordsAccepted):
                check_automaton(accepted)
            elif isinstance(accepted, CountsAccepted | TwoLayersAccepted):
                check_specification(accepted)
        except RefusedError as refusal:
            accepted, reason = None, str(refusal)
    result: dict[str, Any] = {
        "task": "index-lookup",
        "valid": accepted is not None,
        "trust": "kernel" if accepted is not None else None,
        "kernel": None if accepted is None else relied_on(rule_of(accepted)),
        "reason": reason,
        "arithmetic": WEIGHTS_ARITHMETIC,
        "seconds": seconds_so_far(context),
    }
    if isinstance(accepted, WordsAccepted):
        result |= {
            "task": accepted.task,
            "words": "every length but 0" if accepted.cell == SELECTIVE else "every length",
            "state_bits": accepted.bits or None,
            "sha256": accepted.sha256,
            "boxes": accepted.boxes,
        }
    elif accepted is not None:
        result |= {
            "length": accepted.length,
            "sha256": accepted.sha256,
            "share_certified": str(accepted.share),
            "counterexamples": [list(row) for row in accepted.counterexamples],
        }
        if isinstance(accepted, CountsAccepted):
            result |= {"task": accepted.task, "slices_certified": len(accepted.certified)}
        elif isinstance(accepted, TwoLayersAccepted):
            result |= {"task": accepted.task, "cases_certified": len(accepted.certified)}
        else:
            result |= {"alphabet": accepted.alphabet, "pairs_certified": len(accepted.certified)}
        if replay:
            result["replayed"] = _replayed((folder / WEIGHTS_FILE).read_bytes(), accepted)
    if as_json:
        print_result(context, {**result}, arithmetic=WEIGHTS_ARITHMETIC)
    elif accepted is None:
        console().print(f"[red]not valid[/red]: {escape(reason)}", soft_wrap=True)
    else:
        console().print(accepted.words(), soft_wrap=True, markup=False)
        console().print(f"relies on   {shown_kernel(result['kernel'])}", soft_wrap=True, markup=False)
        console().print(f"[green]valid[/green]: right on {accepted.share_in_words()}")
        if "replayed" in result:
            again = f"{sum(result['replayed'])} of {len(result['replayed'])} counterexamples fail in torch"
            console().print(f"replayed: {again}", soft_wrap=True)
    return 0 if accepted is not None and all(result.get("replayed", [])) else 1


def rule_of(accepted: "TrainedAccepted | CountsAccepted | WordsAccepted | TwoLayersAccepted") -> str:
    """Return the rule of the kernel that decided, named by its files."""
    from separatrix_kernel.cells import SELECTIVE
    from separatrix_kernel.trained import TrainedAccepted
    from separatrix_kernel.words import WordsAccepted

    if isinstance(accepted, TrainedAccepted):
        return "lookup"
    last = ", selective" if isinstance(accepted, WordsAccepted) and accepted.cell == SELECTIVE else ""
    return type(accepted).__module__.rpartition(".")[2] + last


def check_automaton(accepted: "WordsAccepted") -> None:
    """Refuse a certificate whose automaton is not the one of the task that it names."""
    from separatrix.tasks import automaton_of, labelled_task
    from separatrix_kernel.reading import RefusedError
    from separatrix_kernel.words import read_automaton

    plain = automaton_of(labelled_task(accepted.task))
    if plain is None or read_automaton(plain) != accepted.automaton:
        raise RefusedError(f"the certificate's automaton is not that of {accepted.task}")


def check_specification(accepted: "CountsAccepted | TwoLayersAccepted") -> None:
    """Refuse a certificate whose specification is not the one of the task and length that it names."""
    from separatrix.errors import SeparatrixError
    from separatrix.tasks import labelled_task
    from separatrix_kernel.reading import RefusedError
    from separatrix_kernel.specification import read_specification

    try:
        task = labelled_task(accepted.task)
        task.check_length(accepted.length)
        right = read_specification(task.specification(accepted.length)) == accepted.specification
    except SeparatrixError as error:
        raise RefusedError(f"the certificate's task cannot be read: {error}") from error
    if not right:
        raise RefusedError(f"the certificate's specification is not that of {accepted.task}")


def _replayed(data: bytes, accepted: "TrainedAccepted | CountsAccepted | TwoLayersAccepted") -> list[bool]:
    """Return whether torch answers the stated counterexamples wrongly."""
    from separatrix.models import answers_wrongly, fails, model_from
    from separatrix.tasks import labelled_task
    from separatrix_kernel.trained import TrainedAccepted

    model = model_from(data)
    if isinstance(accepted, TrainedAccepted):
        return [fails(model, row) for row in accepted.counterexamples]
    task = labelled_task(accepted.task)
    return [answers_wrongly(model, task, accepted.length, row) for row in accepted.counterexamples]
