"""``separatrix runs bits NAME``: how many bits of its state a trained recurrent model uses (BHBK24 Theorem 2)."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from separatrix.answer import Grid, Sheet, show
from separatrix.cli.output import console, print_result
from separatrix.cli.training_options import SHOWN_DIGITS, parse_list
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.models import PrecisionReport
    from separatrix.training import Record

EXAMPLES = 1000


def show_state_bits(context: typer.Context, store: Path | None, name: str, bits: str, as_json: bool) -> None:
    """Round the state to p bits at the cut of the task's communication problem and measure what is still right."""
    from separatrix.bounds import bits_needed, protocol_bounds
    from separatrix.models import state_precision
    from separatrix.training import Records, store_path, trained_model

    chosen = parse_list(bits, int, "--bits")
    if list(chosen) != sorted(set(chosen)):
        raise SeparatrixError(f"--bits {bits} must ascend, each once; sort them")
    with Records(store_path(store), create=False) as records:
        record = records.get(name)
        _check_built_in(record)
        model = trained_model(record, records.files)
    spec = record.spec
    report = state_precision(model, spec.the_task(), spec.length, bits=chosen, examples=EXAMPLES, seed=spec.seed)
    # A run has learned one function: what is said of a class of functions does not count here.
    needed, claim, false = bits_needed(protocol_bounds(spec.task, "rnn"), spec.the_task(), spec.length)
    refuted = [each.in_words() for each in false]
    if as_json:
        found = {"run": spec.name, **report.as_data(), "bits_used": report.bits_used()}
        bound = {"bits_needed": needed, "bound_claim": claim, "refuted_bounds": refuted}
        print_result(context, {**found, **bound}, arithmetic="float32")
    else:
        show(_sheet(report, spec.name, needed, claim, refuted), console())


def _check_built_in(record: "Record") -> None:
    """Refuse a user's module without importing it: it has no step form, so that there is no state to round."""
    from separatrix.models import code_named_in

    if named := code_named_in(record.spec.architecture):
        raise SeparatrixError(
            f"run {record.spec.name} is of {named[0]}, a user's module, which has no step form and is not run "
            "because a record names it; choose a run of a recurrent model, or write an architecture with a recurrent "
            "form, see docs/how-to/own-architecture.md"
        )


def _sheet(report: "PrecisionReport", run: str, needed: int | None, claim: str, refuted: list[str]) -> Sheet:
    columns = ("bits of a number", "bits of the message", "%")
    rows = [(str(each.bits), f"{each.message_bits:,}", f"{100 * each.accuracy[0]:.1f}") for each in report.points]
    rows.append(("not rounded", "", f"{100 * report.unrounded[0]:.1f}"))
    title = f"{report.model} on {report.task}, N = {report.length}: the state after {report.cut} positions, rounded"
    used, text = report.bits_used(), "every rounding tried costs more than one point in a hundred"
    if used is not None:
        enough = f"{used * report.state_numbers:,} bits do"
        text = f"from {counted(used, 'bit')} on at most one point in a hundred is lost: {enough}"
    notes = [f"run {run[:SHOWN_DIGITS]}, {report.examples} examples: {text}"]
    if needed is not None:
        notes.append(
            f"a protocol that is correct on every input of this length sends at least {needed:,} bits ({claim})"
        )
    warnings = tuple(f"refuted, not used: {each}" for each in refuted)
    return Sheet(grids=(Grid(title, columns, tuple(rows), numbers=columns),), notes=tuple(notes), warnings=warnings)
