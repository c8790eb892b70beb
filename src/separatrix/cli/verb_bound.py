"""``separatrix bound``: how large a model must be at least for a task, the formula with its numbers, and the
evidence."""

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.bound_subject import class_named, own_model, refuse_idle, verdict_on
from separatrix.cli.bound_table import print_bound
from separatrix.cli.completion import complete_model, complete_task
from separatrix.cli.given_options import is_given
from separatrix.cli.model_argument import ArithmeticOption, check_task
from separatrix.cli.output import JsonOption, command_line, print_json
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.bounds import Bound, Model, Numbers, ProtocolBound
    from separatrix.tasks import Task

NAME = "bound"
ORDER = 71
EXAMPLE = "separatrix bound dyck --model transformer-1layer --length 400 --precision 32"
LARGEST_LENGTH = 1 << 62
LARGEST_PRECISION = 4096
LARGEST_LIMIT = 8
LONGEST_TRIED = 4096


def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task.", autocompletion=complete_task)],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="rnn, transformer-1layer, transformer-2layer, fnn, third-order, graph-transformer, or one of this "
            "package's models such as 'LSTM-(3,256)'.",
            autocompletion=complete_model,
        ),
    ],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    precision: Annotated[
        int, typer.Option("--precision", "-p", help="Bits of one number; left out, those of --arithmetic, or 32.")
    ] = OWN_PRECISION,
    heads: Annotated[int, typer.Option("--heads", help="Heads of an attention layer.")] = 1,
    layers: Annotated[int, typer.Option("--layers", help="Layers of a graph Transformer.")] = 1,
    limit: Annotated[int, typer.Option("--limit", help="Check reductions on all instances up to so many bits.")] = 6,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    arithmetic: ArithmeticOption = None,
    as_json: JsonOption = False,
) -> int:
    """Give the smallest size that a model may have for a task, and run the evidence for it."""
    from separatrix.bounds import (
        FIXED,
        ProtocolBound,
        agreed_bits,
        bounds_for,
        check_user_bound,
        covered,
        floating,
        is_user_bound,
        judged,
        numbers_named,
        origin,
        strongest_first,
    )
    from separatrix.provenance import provenance
    from separatrix.tasks import tasks, try_user_task, with_text_parameters

    started = time.perf_counter()
    check_task(task)
    asked = None if arithmetic is None else numbers_named(arithmetic)
    if asked is not None:
        precision = agreed_bits(asked, precision if is_given(context, "precision") else None) or precision
    chosen = with_text_parameters(tasks()[task], settings or [])
    _check(chosen, length, precision, heads, layers, limit)
    longest = min(LONGEST_TRIED, chosen.maximum_length)
    # Bounds are asked for at lengths of which nobody draws an input; a shorter one with as many halves is tried.
    shorter = longest - (longest - length) % (2 * chosen.length_step)
    tried = max(chosen.minimum_length, min(length, shorter))
    try_user_task(chosen, tried)
    if "instance" in chosen.parameters():
        _check_member(chosen, length, tried)
    own = own_model(model, length, precision, heads, layers) if "(" in model else None
    kind = class_named(model, task) if own is None else own[0]
    if own is None:
        refuse_idle(context, kind)
    else:
        heads, layers = own[1].heads, own[1].layers
    usual = FIXED if own is None else floating(precision)
    numbers = usual if asked is None else asked
    found = bounds_for(task, kind)
    result: dict[str, Any] = {
        "task": task,
        "parameters": {name: str(value) for name, value in chosen.parameters().items()},
        "settings": _changed(chosen, tasks()[task]),
        "model": model,
        "length": length,
        "precision_bits": precision,
        "heads": heads,
        "layers": layers,
    }
    for bound in found:
        if isinstance(bound, ProtocolBound) and is_user_bound(bound):
            check_user_bound(bound, chosen, length)
    numbered = strongest_first(found, length, precision, heads, layers, chosen)
    judgements = {bound.name: judged(bound, chosen, [length], limit) for bound in numbered if is_user_bound(bound)}
    refuted = [each for each in judgements.values() if each.refuted_by is not None]
    # What is refuted, or is about other parameters, is named and says nothing; then a user's bound is first,
    # then the strongest.
    silent = {bound.name: text for bound in numbered if (text := bound.why_inapplicable(length, chosen))}
    kept = [bound for bound in numbered if bound.name not in silent and bound not in [each.bound for each in refuted]]
    kept.sort(key=lambda bound: not is_user_bound(bound))
    gated = [covered(bound, numbers, chosen) for bound in kept]
    silent |= {each.bound.name: each.reason for each in gated if not each.covered}
    gated = [each for each in gated if each.covered]
    numbered = [each.bound for each in gated]
    listed = [
        {**_described(each.bound, chosen, length, precision, heads, layers), "arithmetic": each.arithmetic}
        for each in gated
    ]
    if numbered and numbered[0].name in judgements:
        evidence = list(judgements[numbered[0].name].evidence)
    elif refuted:
        evidence = list(refuted[0].evidence)
    elif numbered:
        evidence = list(numbered[0].evidence(limit))
    else:
        evidence = [each for bound in found if bound.name not in silent for each in bound.evidence(limit)]
    result |= _headline(listed, found)
    result["arithmetic"] = listed[0]["arithmetic"] if listed else numbers.name
    result["holds"] = not refuted
    if refuted and not (numbered and is_user_bound(numbered[0])):
        result |= _nothing(f"refuted: {refuted[0].bound.claim}")
    result["refuted"] = [
        {"name": each.bound.name, "claim": each.bound.claim, "from_file": origin(each.bound), "text": each.in_words()}
        for each in refuted
    ]
    result["silent"] = [
        {"name": bound.name, "claim": bound.claim, "text": silent[bound.name]}
        for bound in found
        if bound.name in silent
    ]
    result["rests_on"] = [
        text for bound in numbered if bound.name in judgements and (text := judgements[bound.name].rests_on(length))
    ]
    result["evidence"] = [each.described() for each in evidence]
    result["bounds"] = listed
    result["architecture"] = None if own is None else verdict_on(kind, *own[1:], gated, chosen, length)
    result["remarks"] = [
        {"name": bound.name, "kind": bound.kind, "claim": bound.claim, "statement": bound.statement}
        for bound in found
        if bound.kind != "bound"
    ]
    result["known_from_above"] = _above(task, kind, numbers)
    holds = not refuted and all(each.holds for each in evidence)
    record = provenance(command_line(context), arithmetic="integers", seed=None, started=started)
    if as_json:
        print_json({**result, "provenance": record})
    else:
        print_bound(result)
    return 0 if holds else 1


def _check(task: "Task", length: int, precision: int, heads: int, layers: int, limit: int) -> None:
    # Bounds hold beyond the lengths that are sampled; only the grid of lengths is the task's.
    if not task.minimum_length <= length <= LARGEST_LENGTH or length % task.length_step:
        step = f" in steps of {task.length_step}" if task.length_step > 1 else ""
        raise SeparatrixError(
            f"{task.name} has no inputs of length {length}; choose {task.minimum_length} to 2^62{step}"
        )
    if not 1 <= precision <= LARGEST_PRECISION:
        raise SeparatrixError(f"--precision {precision} is out of range; choose 1 to {LARGEST_PRECISION} bits")
    for name, value in (("--heads", heads), ("--layers", layers)):
        if not 1 <= value <= 1 << 20:
            raise SeparatrixError(f"{name} {value} is out of range; choose 1 to 2^20")
    if not 1 <= limit <= LARGEST_LIMIT:
        raise SeparatrixError(f"--limit {limit} is out of range; choose 1 to {LARGEST_LIMIT} bits")


def _check_member(task: "Task", length: int, tried: int) -> None:
    """A member of a class may have fewer lengths than the class; beyond those that are drawn a shorter one is tried."""
    try:
        task.check_length(tried)
    except SeparatrixError as error:
        raise error if tried == length else SeparatrixError(f"no inputs of length {length} either: {error}") from None


def _described(
    bound: "ProtocolBound", task: "Task", length: int, precision: int, heads: int, layers: int
) -> dict[str, Any]:
    """One bound with its numbers."""
    from separatrix.bounds import origin

    width = bound.smallest_width(length, precision, heads, layers, task)
    paper = bound.paper_width(length, precision, heads, task)
    return {
        "name": bound.name,
        "claim": bound.claim,
        "statement": bound.statement,
        "in_the_papers": not bound.extension,
        "from_file": origin(bound) or None,
        "other_parameters": bound.needs_in_words(length, task) not in bound.in_words,
        "quantity": _quantity(bound.models),
        "at_least": width,
        "bounded": bound.quantity,
        "bits_needed": bound.required_bits(length, task),
        "formula": f"{bound.formula(length, precision, heads, layers, task)}, so m ≥ {width}",
        "paper_formula": None if paper is None else bound.paper_in_words,
        "paper_at_least": paper,
        "problem": bound.problem,
        "reduction": bound.reduction,
        "assumptions": list(bound.assumptions),
        "deviations": list(bound.deviations),
    }


def _changed(task: "Task", usual: "Task") -> dict[str, str]:
    """The parameters that are not the task's own."""
    own = usual.parameters()
    return {name: str(value) for name, value in task.parameters().items() if value != own[name]}


def _quantity(models: "Collection[Model]") -> str:
    """What m counts: the numbers of a recurrent model's state, units of a layer, or the width of a head."""
    return "state numbers" if "rnn" in models else "width"


def _headline(listed: list[dict[str, Any]], found: "tuple[Bound, ...]") -> dict[str, Any]:
    """What is said first: the strongest bound, with the papers' own next to it, or that none is known."""
    if listed:
        first = listed[0]
        strongest = max(listed, key=lambda each: each["at_least"])
        papers = next((each for each in listed if each["in_the_papers"]), None)
        return {
            "known": True,
            **{key: first[key] for key in ("claim", "statement", "in_the_papers", "quantity", "at_least", "formula")},
            "assumptions": first["assumptions"],
            "strongest": _short(strongest),
            "strongest_of_the_papers": None if papers is None else _short(papers),
        }
    claim = "no bound known"
    for bound in found:
        if bound.kind == "conjecture":
            claim += f"; conjectured: {bound.statement} ({bound.claim})"
    return _nothing(claim)


def _nothing(claim: str) -> dict[str, Any]:
    """What is said first where no bound is."""
    return {
        "known": False,
        "claim": claim,
        "statement": None,
        "in_the_papers": None,
        "quantity": None,
        "at_least": None,
        "formula": None,
        "assumptions": [],
        "strongest": None,
        "strongest_of_the_papers": None,
    }


def _short(bound: dict[str, Any]) -> dict[str, Any]:
    return {key: bound[key] for key in ("name", "claim", "at_least")}


def _above(task: str, model: "Model", numbers: "Numbers") -> list[dict[str, str]]:
    """What is known from above, each with what it is known in: constructions by name, which ``certify`` proves, and
    simple reasons."""
    from separatrix.table import upper_bounds

    return [
        {
            "growth": side.growth,
            "kind": side.kind,
            "text": side.text,
            "source": side.source,
            "arithmetic": side.arithmetic or numbers.name,
        }
        for side in upper_bounds(task, model, numbers)
    ]
