"""``separatrix bound``: how large a model must be at least for a task, the formula with its numbers, and the
evidence."""

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_model, complete_task
from separatrix.cli.model_argument import check_task
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.communication.bounds import Bound, Model, ModelSize, ProtocolBound
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
    precision: Annotated[int, typer.Option("--precision", "-p", help="Bits of one number.")] = OWN_PRECISION,
    heads: Annotated[int, typer.Option("--heads", help="Heads of an attention layer.")] = 1,
    layers: Annotated[int, typer.Option("--layers", help="Layers of a graph Transformer.")] = 1,
    limit: Annotated[int, typer.Option("--limit", help="Check reductions on all instances up to so many bits.")] = 6,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Give the smallest size that a model may have for a task, and run the evidence for it."""
    from separatrix.communication.bounds import ProtocolBound, bounds_for, strongest_first
    from separatrix.communication.bounds.own_bound import check_own_bound, is_own, judged, origin
    from separatrix.provenance import provenance
    from separatrix.tasks import tasks
    from separatrix.tasks.own_task import try_own_task
    from separatrix.tasks.parameters import with_text_parameters

    started = time.perf_counter()
    check_task(task)
    chosen = with_text_parameters(tasks()[task], settings or [])
    _check(chosen, length, precision, heads, layers, limit)
    longest = min(LONGEST_TRIED, chosen.maximum_length)
    # Bounds are asked for at lengths of which nobody draws an input.
    try_own_task(chosen, max(chosen.minimum_length, min(length, longest - longest % chosen.length_step)))
    own = _own(model, length, precision, heads, layers) if "(" in model else None
    kind = _named(model, task) if own is None else own[0]
    if own is not None:
        heads, layers = own[1].heads, own[1].layers
    found = bounds_for(task, kind)
    result: dict[str, Any] = {
        "task": task,
        "parameters": {name: str(value) for name, value in chosen.parameters().items()},
        "model": model,
        "length": length,
        "precision_bits": precision,
        "heads": heads,
        "layers": layers,
    }
    for bound in found:
        if isinstance(bound, ProtocolBound) and is_own(bound):
            check_own_bound(bound, chosen, length)
    numbered = strongest_first(found, length, precision, heads, layers, chosen)
    judgements = {bound.name: judged(bound, chosen, [length], limit) for bound in numbered if is_own(bound)}
    refuted = [each for each in judgements.values() if each.refuted_by is not None]
    # What is refuted is named and says nothing; then anyone's own bound stands first, then the strongest.
    numbered = [bound for bound in numbered if bound not in [each.bound for each in refuted]]
    numbered.sort(key=lambda bound: not is_own(bound))
    listed = [_described(bound, chosen, length, precision, heads, layers) for bound in numbered]
    if numbered and numbered[0].name in judgements:
        evidence = list(judgements[numbered[0].name].evidence)
    elif refuted:
        evidence = list(refuted[0].evidence)
    elif numbered:
        evidence = list(numbered[0].evidence(limit))
    else:
        evidence = [each for bound in found for each in bound.evidence(limit)]
    result |= _headline(listed, found)
    result["holds"] = not refuted
    if refuted and not (numbered and is_own(numbered[0])):
        result |= _nothing(f"refuted: {refuted[0].bound.claim}")
    result["refuted"] = [
        {"name": each.bound.name, "claim": each.bound.claim, "from_file": origin(each.bound), "text": each.in_words()}
        for each in refuted
    ]
    result["rests_on"] = [
        text for bound in numbered if bound.name in judgements and (text := judgements[bound.name].rests_on(length))
    ]
    result["evidence"] = [each.described() for each in evidence]
    result["bounds"] = listed
    result["architecture"] = None if own is None else _verdict(kind, *own[1:], numbered, chosen, length)
    result["remarks"] = [
        {"name": bound.name, "kind": bound.kind, "claim": bound.claim, "statement": bound.statement}
        for bound in found
        if bound.kind != "bound"
    ]
    result["known_from_above"] = _above(task, kind)
    holds = not refuted and all(each.holds for each in evidence)
    record = provenance(command_line(context), arithmetic="integers", seed=None, started=started)
    if as_json:
        print_json({**result, "provenance": record})
    else:
        _print(result)
    return 0 if holds else 1


def _named(model: str, task: str) -> "Model":
    """The class with this name; of anything else that is a model the message says how to ask about it."""
    from separatrix.communication.bounds import model_named
    from separatrix.communication.capacity import presets

    if model in presets() or model.endswith(".json"):
        raise SeparatrixError(
            f"{model!r} is a published model, not a class of models; ask  separatrix capacity {model} --task {task}"
        )
    try:
        return model_named(model)
    except UnknownNameError as error:
        raise SeparatrixError(
            f"{error}; or write a model with its layers and width, such as 'Mamba-(2,64)'; published models are asked "
            f"about by  separatrix capacity NAME --task {task}"
        ) from None


def _own(text: str, length: int, precision: int, heads: int, layers: int) -> "tuple[Model, ModelSize, tuple[str, ...]]":
    """The class and size of one of this package's architectures, such as ``LSTM-(3,256)``, and what is assumed."""
    from separatrix.communication.capacity import which_bounds
    from separatrix.models.bounded import ahead_in, bounded_as, own_statements
    from separatrix.models.described import description
    from separatrix.models.naming import parse_spec

    spec = parse_spec(text)
    for name, value in (("--heads", heads), ("--layers", layers)):
        if value != 1:
            raise SeparatrixError(f"{name} {value} is for a class of models; {spec} says its own, leave it out")
    found = bounded_as(spec, length, precision)
    if found is None:
        ahead = "".join(
            f" {name} looks ahead in a trial, so that its state_numbers are not used." for name in ahead_in(spec)
        )
        why = which_bounds(description(spec, precision))[1]
        raise SeparatrixError(
            f"{spec} is in no class of models that the bounds speak about. {why}{ahead} See  separatrix capacity "
            f"'{spec}'"
        )
    return *found, own_statements(spec)


def _verdict(
    kind: "Model",
    size: "ModelSize",
    assumed: tuple[str, ...],
    bounds: "list[ProtocolBound]",
    task: "Task",
    length: int,
) -> dict[str, Any]:
    """What the bounds say about a model of this size: whether it is possible here, and up to which length."""
    limits = [longest for bound in bounds if (longest := bound.longest_length(size, task)) is not None]
    return {
        "class": kind,
        "width": size.width,
        "heads": size.heads,
        "layers": size.layers,
        "state_bits": size.memory_bits if kind == "rnn" else None,
        "possible": all(bound.possible(length, size, task) for bound in bounds),
        "excluded_by": [bound.claim for bound in bounds if not bound.possible(length, size, task)],
        "longest_possible": min(limits, default=None),
        "assumed": list(assumed),
    }


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


def _described(
    bound: "ProtocolBound", task: "Task", length: int, precision: int, heads: int, layers: int
) -> dict[str, Any]:
    """One bound with its numbers."""
    from separatrix.communication.bounds.own_bound import origin

    width = bound.smallest_width(length, precision, heads, layers, task)
    return {
        "name": bound.name,
        "claim": bound.claim,
        "statement": bound.statement,
        "in_the_papers": not bound.extension,
        "from_file": origin(bound) or None,
        "quantity": _quantity(bound.models),
        "at_least": width,
        "bounded": bound.quantity,
        "bits_needed": bound.required_bits(length, task),
        "formula": f"{bound.formula(length, precision, heads, layers, task)}, so m ≥ {width}",
        "paper_formula": bound.paper_in_words or None,
        "paper_at_least": bound.paper_width(length, precision, heads, task),
        "problem": bound.problem,
        "reduction": bound.reduction,
        "assumptions": list(bound.assumptions),
        "deviations": list(bound.deviations),
    }


def _quantity(models: "Collection[Model]") -> str:
    """What m counts: the numbers of a recurrent model's state, units of a layer, or the width of a head."""
    return "state numbers" if "rnn" in models else "width"


def _headline(listed: list[dict[str, Any]], found: "tuple[Bound, ...]") -> dict[str, Any]:
    """What is said first: the strongest bound, with the papers' own beside it, or that none is known."""
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


def _above(task: str, model: "Model") -> list[dict[str, str]]:
    """What is known from above: constructions by name, which ``certify`` proves, and simple reasons."""
    from separatrix.atlas.separation import known_from_above

    return [
        {"growth": side.growth, "kind": side.kind, "text": side.text, "source": side.source}
        for side in known_from_above(task, model)
    ]


def _verdict_text(result: dict[str, Any]) -> str:
    own = result["architecture"]
    size = (
        f"m = {own['width']}, H = {own['heads']}"
        if own["state_bits"] is None
        else f"{own['state_bits']:,} state bits, as in {-(-own['state_bits'] // result['precision_bits']):,} numbers"
    )
    longest = own["longest_possible"]
    beyond = "" if longest is None else f"; beyond N = {longest:,} no weights will do"
    if longest == 0:
        beyond = "; no weights will do at any length"
    if not result["bounds"]:
        return f"{result['model']} ({own['class']}, {size}): nothing is excluded"
    if own["possible"]:
        return f"{result['model']} ({own['class']}, {size}): not excluded at N = {result['length']}{beyond}"
    by = ", ".join(own["excluded_by"])
    return f"[red]{result['model']} ({own['class']}, {size}): impossible with any weights[/red] ({by}){beyond}"


def _print(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    title = f"{result['task']}, {result['model']}, N = {result['length']}, p = {result['precision_bits']}"
    for each in result["refuted"]:
        table.add_row("[red]REFUTED[/red]", f"[red]{escape(each['text'])}[/red]")
    table.add_row("asked", f"{title}, H = {result['heads']}")
    if result["known"]:
        first = result["bounds"][0]
        derived = "" if first["in_the_papers"] else " (derived here, not in the papers)"
        if first["from_file"]:
            derived = f" (from {escape(first['from_file'])})"
        table.add_row("claim", f"{result['claim']}: {result['statement']}{derived}")
        if result["quantity"] == "state numbers":
            of = f"{counted(result['at_least'], 'number')} of {counted(result['precision_bits'], 'bit')}"
            needed = f"for {counted(first['bits_needed'], 'bit')}"
            table.add_row("smallest state", f"[bold]{of}[/bold], {needed} (m counts the numbers of the state)")
        else:
            table.add_row("smallest width", f"[bold]{result['at_least']}[/bold] (bounded: {first['bounded']})")
        table.add_row("formula", result["formula"])
        if first["paper_formula"]:
            table.add_row("as in the paper", f"m ≥ {first['paper_formula']}, so m ≥ {first['paper_at_least']}")
        for assumption in result["assumptions"]:
            table.add_row("assumed", assumption)
    else:
        table.add_row("claim", f"[yellow]{escape(result['claim'])}[/yellow]")
    if result["architecture"]:
        table.add_row("this model", _verdict_text(result))
        for assumption in result["architecture"]["assumed"]:
            table.add_row("assumed", assumption)
    for each in result["evidence"]:
        mark = "[green]holds[/green]: " if each["holds"] else "[red]refuted[/red]: "
        table.add_row(each["kind"], f"{'' if each['kind'] == 'cited' else mark}{escape(each['text'])}")
    for each in result["rests_on"]:
        table.add_row("at this N", escape(each))
    for bound in result["bounds"][1 if result["known"] else 0 :]:
        size = f"{bound['quantity']}: {bound['at_least']}"
        label = "in the papers" if bound["in_the_papers"] and not result["in_the_papers"] else "also"
        table.add_row(label, f"{size}; {bound['claim']}, {bound['statement']}")
    for remark in result["remarks"]:
        table.add_row(remark["kind"], f"{remark['claim']}: {remark['statement']}")
    above = result["known_from_above"]
    # What grows faster than the best from above says nothing more; --json has it all.
    for side in (each for each in above if each["growth"] == above[0]["growth"]):
        table.add_row("from above", f"{side['growth']}: {side['text']} ({side['source']})")
    console().print(table)
