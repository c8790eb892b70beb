"""``separatrix certify``: prove a theorem's network or a trained run for all inputs, write weights and proof."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.certify_trained import certify_trained, names_a_run
from separatrix.cli.completion import complete_construction
from separatrix.cli.construction_options import (
    ROUNDED_ALREADY,
    AttentionOption,
    ExponentOption,
    FamilyOption,
    GainOption,
    MaxInnerOption,
    PrecisionOption,
    RoundingOption,
    SettingsOption,
    VariantOption,
    options_from,
    refuse_idle_options,
)
from separatrix.cli.given_options import refuse_given
from separatrix.cli.limits import MaxMemoryOption, limited_memory, memory_limit
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.errors import SeparatrixError
from separatrix.files import check_writable
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.arithmetic import Arithmetic

NAME = "certify"
ORDER = 50
EXAMPLE = "separatrix certify index-lookup --length 1024"
BALL_BITS = 128
OF_CONSTRUCTIONS = (
    "precision", "exponent", "rounding", "arithmetic", "variant", "gain", "attention", "family", "max_inner",
    "settings", "max_memory",
)  # fmt: skip
"""Options that a trained run does not have."""


def command(
    context: typer.Context,
    construction: Annotated[
        str,
        typer.Argument(
            help="Name of a construction; or a trained run by its name, or a folder with its weights.",
            autocompletion=complete_construction,
        ),
    ],
    length: Annotated[
        int | None, typer.Option("--length", "-n", help="Input length N; a trained run's own if not given.")
    ] = None,
    precision: PrecisionOption = None,
    exponent: ExponentOption = None,
    rounding: RoundingOption = "down",
    arithmetic: Annotated[
        str | None,
        typer.Option(
            "--arithmetic", help="'balls' for the real numbers, or a fixed point such as fixed:N=64,Kc=2,down."
        ),
    ] = None,
    variant: VariantOption = "repaired",
    gain: GainOption = None,
    attention: AttentionOption = None,
    family: FamilyOption = None,
    max_inner: MaxInnerOption = "1/4",
    settings: SettingsOption = None,
    max_memory: MaxMemoryOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the two files; certificates/CONSTRUCTION-N if not given."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="A trained run: its store; SEPARATRIX_STORE or runs.sqlite.")
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", help="A trained lookup: most cases that the proof of one pair may have.")
    ] = 64,
    bits: Annotated[
        int | None,
        typer.Option("--bits", help="A trained recurrent run: certify it with its state rounded to so many bits."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Certify that a network from a theorem, or one that was trained, is right on every input of a length."""
    started = time.perf_counter()
    if names_a_run(construction):
        refuse_given(context, OF_CONSTRUCTIONS, "is for a construction, not for a trained run; leave it out")
        return certify_trained(context, construction, length, store, nodes, bits, out, as_json, started)
    from separatrix.certificates import (
        Claim,
        check,
        check_memory,
        shown_counterexample,
        shown_reason,
        size_of,
        state_of,
        with_proof,
        write_certificate,
        write_refutation,
    )
    from separatrix.cli.interrupts import uninterrupted
    from separatrix.cli.progress import progress_bar
    from separatrix.constructions import claimed_width, constructions
    from separatrix.progress import listening
    from separatrix.provenance import provenance
    from separatrix.sources import is_outside
    from separatrix.tasks import try_user_task

    refuse_given(context, ("store", "nodes", "bits"), "is for a trained run, not for a construction; leave it out")
    chosen = constructions()[construction]
    if length is None:
        raise SeparatrixError("no length given; write such as --length 64")
    limit = memory_limit(max_memory)
    options = options_from(
        chosen, length, precision=precision, exponent=exponent, rounding=rounding, variant=variant, gain=gain,
        attention=attention, family=family, max_inner=max_inner, settings=settings,
        offers_arithmetic=True,
    )  # fmt: skip
    other = _arithmetic(arithmetic, precision, exponent)
    if other is not None:
        refuse_given(context, ("rounding",), ROUNDED_ALREADY)
    folder = out or Path("certificates") / f"{construction}-{length}"
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"--out {folder} is a file; give a folder")
    check_writable(folder / "certificate.json")
    first = f"building {construction} for length {length}"
    with progress_bar(first, as_json) as show, listening(show), limited_memory(limit):
        built = chosen.build(length, options)
        refuse_idle_options(built.network, options)
        claim = Claim(built.task, built.length, other or built.arithmetic)
        check_memory(built.network, limit)
        try_user_task(built.task, length)
        show(f"checking all inputs of length {length}", 0, None)
        verdict, proof = with_proof(built.network, claim, check(built.network, claim))
        path: Path | None = None
        refuted: Path | None = None
        about = {"construction": construction, "theorem": chosen.theorem, "variant": variant}
        if verdict.valid:
            with uninterrupted():
                path = write_certificate(built.network, claim, verdict, folder, about, proof)
        elif verdict.refuted and out is not None:
            with uninterrupted():
                refuted = write_refutation(built.network, claim, verdict, folder, about)
        failing = verdict.counterexample
        shown = None if failing is None else shown_counterexample(built.network, claim, failing)
    claimed = claimed_width(chosen, built) if is_outside(type(chosen)) else None
    result: dict[str, Any] = {
        "claim": f"{chosen.theorem}: {chosen.statement}",
        "construction": construction,
        "task": built.task.name,
        "length": length,
        **size_of(built.network, claim),
        "arithmetic": str(claim.arithmetic),
        "inputs_covered": verdict.inputs_covered,
        "method": verdict.method,
        "trust": verdict.trust if verdict.valid else None,
        "state": state_of(verdict),
        "certified": verdict.valid,
        "reason": verdict.reason,
        "reasons": list(verdict.reasons),
        "counterexample": verdict.counterexample,
        "counterexample_shown": shown,
        "seconds": round(time.perf_counter() - started, 3),
        "claimed_width": claimed,
        "width_as_claimed": None if claimed is None else built.network.width <= claimed,
        "own": is_outside(type(chosen)),
        "own_task": is_outside(type(built.task)),
        "certificate": str(path) if path else None,
        "refutation": str(refuted) if refuted else None,
    }
    if as_json:
        record = provenance(command_line(context), arithmetic=str(claim.arithmetic), seed=None, started=started)
        print_json({**result, "provenance": record})
    else:
        _print({**result, "reason": shown_reason(verdict.reason, claim)})
    return 0 if verdict.valid and result["width_as_claimed"] is not False else 1


def _arithmetic(name: str | None, precision: int | None, exponent: int | None) -> "Arithmetic | None":
    """The arithmetic that was asked for by name, None for the construction's own fixed point."""
    from separatrix.arithmetic import arithmetic_named

    if name is None:
        return None
    for option, value in (("--precision", precision), ("--exponent", exponent)):
        if value is not None:
            raise SeparatrixError(f"give one of --arithmetic {name} and {option} {value}, not both")
    found = arithmetic_named(f"balls:{BALL_BITS}" if name == "balls" else name)
    if not found.rigorous:
        raise SeparatrixError(f"--arithmetic {name} is rounded as machines please; choose balls or a fixed point")
    return found


def _print(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from separatrix.certificates import after_word, shown_count, shown_state, shown_trust

    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    reason = after_word(result["state"], result["reason"])
    rows = [
        ("claim", escape(result["claim"])),
        ("verdict", f"{shown_state(result['state'])}: {escape(reason)}"),
        ("inputs covered", shown_count(result["inputs_covered"])),
        ("method", result["method"]),
        *([("trust", shown_trust(result["trust"]))] if result["trust"] else []),
        (
            "size",
            f"{counted(result['layers'], 'layer')}, {counted(result['heads'], 'head')}, width {result['width']}, "
            f"{result['size_bits']} bits",
        ),
        ("arithmetic", f"{result['arithmetic']} ({result['precision_bits']} bits)"),
        ("certificate", escape(result["certificate"] or "none")),
    ]
    if result["own"] and result["certified"]:
        rows.insert(
            2, ("what is certified", f"these weights on every input of length {result['length']}, no other claim")
        )
    if result["width_as_claimed"] is False:
        wrong = f"[red]claimed_width gives {result['claimed_width']}, the network has {result['width']}[/red]"
        rows.insert(1, ("width", f"{wrong}: what the claim says about its size is false"))
    if result["own_task"] and result["state"] == "undecided":
        rows.insert(2, ("a task of your own", "all inputs are tried, up to 2^20; no other method knows the task"))
    if result["counterexample_shown"] is not None:
        kept = result["refutation"]
        again = f"separatrix check {kept} --replay" if kept else "give --out FOLDER to keep network and input"
        rows += [
            ("counterexample", escape(result["counterexample_shown"]["shortened"])),
            ("it shows", escape(result["counterexample_shown"]["in_words"])),
            ("run it again", escape(again)),
        ]
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)
