"""``separatrix runs bits NAME``: how many bits of its state a trained recurrent model uses (BHBK24 Theorem 2)."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

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
    from rich.markup import escape

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
        _print(report, record, needed, claim)
        for each in refuted:
            console().print(f"[red]refuted[/red], not used: {escape(each)}", soft_wrap=True)


def _check_built_in(record: "Record") -> None:
    """Refuse a user's module without importing it: it has no step form, so that there is no state to round."""
    from separatrix.models import code_named_in

    if named := code_named_in(record.spec.architecture):
        raise SeparatrixError(
            f"run {record.spec.name} is of {named[0]}, a user's module, which has no step form and is not run "
            "because a record names it; choose a run of a recurrent model, or write an architecture with a recurrent "
            "form, see docs/how-to/own-architecture.md"
        )


def _print(report: "PrecisionReport", record: "Record", needed: int | None, claim: str) -> None:
    from rich.table import Table

    title = f"{report.model} on {report.task}, N = {report.length}: the state after {report.cut} positions, rounded"
    table = Table(title=title, title_justify="left")
    for column in ("bits of a number", "bits of the message", "%"):
        table.add_column(column, justify="right")
    for point in report.points:
        table.add_row(str(point.bits), f"{point.message_bits:,}", f"{100 * point.accuracy[0]:.1f}")
    table.add_row("not rounded", "", f"{100 * report.unrounded[0]:.1f}", style="bold")
    console().print(table)
    used = report.bits_used()
    if used is None:
        text = "every rounding tried costs more than one point in a hundred"
    else:
        enough = f"{used * report.state_numbers:,} bits do"
        text = f"from {counted(used, 'bit')} on at most one point in a hundred is lost: {enough}"
    console().print(f"run {record.spec.name[:SHOWN_DIGITS]}, {report.examples} examples: {text}", soft_wrap=True)
    if needed is not None:
        text = f"a protocol that is correct on every input of this length sends at least {needed:,} bits ({claim})"
        console().print(text, soft_wrap=True, markup=False)
