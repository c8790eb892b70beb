"""``separatrix check``: verify a certificate from its weight file with the independent checker."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.certify_trained import check_trained_weights
from separatrix.cli.given_options import refuse_given
from separatrix.cli.limits import MaxMemoryOption, limited_memory, memory_limit
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.errors import SeparatrixError, UnknownNameError

NAME = "check"
ORDER = 60
EXAMPLE = "separatrix check certificates/index-lookup-1024"


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A certificate or refutation, or the folder it lies in.")],
    replay: Annotated[bool, typer.Option("--replay", help="Run the counterexample and show it.")] = False,
    max_memory: MaxMemoryOption = None,
    as_json: JsonOption = False,
) -> int:
    """Recompute a certificate from the weights: valid, refuted by an input that is shown, or not valid (exit 1)."""
    started = time.perf_counter()
    from separatrix_kernel.trained import TRAINED_FILE

    folder = file.parent if file.name == TRAINED_FILE else file
    if (folder / TRAINED_FILE).is_file():
        refuse_given(context, ("max_memory",), "is for networks of constructions, not trained weights; leave it out")
        return check_trained_weights(context, folder, replay, as_json, started)
    import numpy
    from rich.markup import escape

    from separatrix.certificates import (
        check_certificate,
        claimed_inputs,
        shown_claim,
        shown_count,
        shown_counterexample,
        shown_reason,
        shown_state,
        state_of,
    )
    from separatrix.certificates import replay as run_again
    from separatrix.cli.progress import progress_bar
    from separatrix.progress import listening
    from separatrix.provenance import provenance
    from separatrix.tasks import try_user_task

    limit = memory_limit(max_memory)
    with progress_bar(f"checking {file}", as_json) as show, limited_memory(limit), listening(show):
        try:
            checked = check_certificate(file, limit)
        except UnknownNameError as error:
            if error.kind != "task":
                raise
            own = f"if it is of your own, give its file: separatrix --with FILE.py check {file}"
            raise SeparatrixError(f"{error}; {own}") from error
        try_user_task(checked.claim.task, checked.claim.length)
    verdict, network, claim = checked.verdict, checked.network, checked.claim
    failing = verdict.counterexample
    result: dict[str, Any] = {
        "task": claim.task.name,
        "parameters": claim.task.parameters(),
        "length": claim.length,
        "arithmetic": str(claim.arithmetic),
        "inputs": claimed_inputs(claim, verdict.inputs_covered),
        "claim": shown_claim(claim, verdict.inputs_covered),
        "state": state_of(verdict),
        "valid": verdict.valid,
        "reason": verdict.reason,
        "reasons": list(verdict.reasons),
        "method": verdict.method,
        "trust": verdict.trust if verdict.valid else None,
        "inputs_covered": verdict.inputs_covered,
        "counterexample": verdict.counterexample,
        "counterexample_shown": None if failing is None else shown_counterexample(network, claim, failing),
        "seconds": round(time.perf_counter() - started, 3),
    }
    if replay and failing is not None:
        result["replay"] = run_again(network, claim, numpy.array(failing, dtype=numpy.int64))
    if as_json:
        arithmetic = str(claim.arithmetic)
        record = provenance(command_line(context), arithmetic=arithmetic, seed=None, started=started)
        print_json({**result, "provenance": record})
    else:
        other = shown_state("refuted") if verdict.refuted else "[red]not valid[/red]"
        word = "[green]valid[/green]" if verdict.valid else other
        reason = escape(shown_reason(verdict.reason, claim))
        # What was checked comes first: valid for an easier claim must not look the same.
        console().print(f"claim: {escape(result['claim'])}", soft_wrap=True)
        wide = ", wide trust" if verdict.valid and verdict.trust == "wide" else ""
        console().print(f"{word}: {reason} ({shown_count(verdict.inputs_covered)} inputs, {verdict.method}{wide})")
        shown = result["counterexample_shown"]
        if shown is not None:
            console().print(f"counterexample: {escape(shown['shortened'])}", soft_wrap=True)
            console().print(f"{'replayed: ' if replay else ''}{escape(shown['in_words'])}", soft_wrap=True)
    return 0 if verdict.valid else 1
