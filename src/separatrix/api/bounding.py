"""``sx.bound``: how large a model must be at least for a task, the formula with its numbers, and the evidence."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from separatrix.api.arguments import checked
from separatrix.api.bound_record import (
    Bounded,
    BoundSize,
    ModelVerdict,
    RefutedBound,
    Remark,
    SilentBound,
    Sufficient,
    bounded,
)
from separatrix.api.models import class_named
from separatrix.bit_counts import OWN_PRECISION
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.bounds import Bound, Coverage, Model, ModelSize, Numbers
    from separatrix.tasks import Task

LARGEST_LENGTH = 1 << 62
LARGEST_PRECISION = 4096
LARGEST_LIMIT = 8
LONGEST_TRIED = 4096


@checked
def bound(
    task: "str | Task | Callable[[Any], Any]",
    model: str,
    length: int,
    *,
    precision: int | None = None,
    heads: int | None = None,
    layers: int | None = None,
    arithmetic: str | None = None,
    limit: int = 6,
) -> Bounded:
    """Return the smallest size that a model may have for a task, and the evidence for it, which is run.

    ``task``: a name, one with parameters such as "dyck:depth=3", FILE.py:function, or a function; of functions all
    inputs of the length are evaluated. ``model``: a class such as "rnn" or "transformer-1layer", or a model such as
    "LSTM-(3,256)". ``precision``: bits of a number, 32 if not given. ``limit``: reductions are checked on all instances
    up to so many bits.

    >>> found = bound("index-lookup", "rnn", 1024, limit=3)
    >>> found.at_least, found.quantity, bool(found)
    (192, 'state numbers', True)
    """
    from separatrix.bounds import agreed_bits, numbers_named
    from separatrix.profiles import FunctionTask, task_argument
    from separatrix.tasks import try_user_task

    asked = None if arithmetic is None else numbers_named(arithmetic)
    bits = (None if asked is None else agreed_bits(asked, precision)) or precision or OWN_PRECISION
    if precision is not None and not 1 <= precision <= LARGEST_PRECISION:
        raise SeparatrixError(f"--precision {precision} is out of range; choose 1 to {LARGEST_PRECISION} bits")
    chosen = task_argument(task)
    _check(chosen, length, bits, 1 if heads is None else heads, 1 if layers is None else layers, limit)
    size = (length, bits, 1 if heads is None else heads, 1 if layers is None else layers)
    if isinstance(chosen, FunctionTask):
        from separatrix.api.function_bound import function_bound

        return function_bound(chosen, model, *size, asked)
    longest = min(LONGEST_TRIED, chosen.maximum_length)
    # Bounds hold at lengths at which nobody draws an input; a shorter one with as many halves is tried.
    shorter = longest - (longest - length) % (2 * chosen.length_step)
    tried = max(chosen.minimum_length, min(length, shorter))
    try_user_task(chosen, tried)
    if "instance" in chosen.parameters():
        _check_member(chosen, length, tried)
    own = own_model(model, *size) if "(" in model else None
    kind = class_named(model, chosen.name) if own is None else own[0]
    if own is None:
        _refuse_idle(kind, heads, layers)
    return _answered(model, chosen, kind, own, size, asked, limit)


def _answered(
    model: str,
    chosen: "Task",
    kind: "Model",
    own: "tuple[Model, ModelSize, tuple[str, ...]] | None",
    size: tuple[int, int, int, int],
    asked: "Numbers | None",
    limit: int,
) -> Bounded:
    """Return the bounds on a class of models, each gated by what it covers."""
    from separatrix.bounds import (
        FIXED,
        ProtocolBound,
        bounds_for,
        check_user_bound,
        covered,
        floating,
        is_user_bound,
        judged,
        origin,
        strongest_first,
    )
    from separatrix.profiles import changed_parameters

    length, precision, heads, layers = size
    if own is not None:
        heads, layers = own[1].heads, own[1].layers
    usual = FIXED if own is None else floating(precision)
    numbers = usual if asked is None else asked
    found = bounds_for(chosen.name, kind)
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
    listed = [_described(each, kind, chosen, length, precision, heads, layers) for each in gated]
    if numbered and numbered[0].name in judgements:
        evidence = judgements[numbered[0].name].evidence
    elif refuted:
        evidence = refuted[0].evidence
    elif numbered:
        evidence = numbered[0].evidence(limit)
    else:
        evidence = [each for bound in found if bound.name not in silent for each in bound.evidence(limit)]
    nothing = None if listed else _no_bound(found)
    if refuted and not (numbered and is_user_bound(numbered[0])):
        nothing = f"refuted: {refuted[0].bound.claim}"
    rests_on = [judgements[bound.name].rests_on(length) for bound in numbered if bound.name in judgements]
    return bounded(
        listed,
        nothing,
        task=chosen.name,
        parameters=dict(chosen.parameters()),
        settings=dict(changed_parameters(chosen)),
        model=model,
        length=length,
        precision_bits=precision,
        heads=heads,
        layers=layers,
        arithmetic=listed[0].arithmetic if listed else numbers.name,
        holds=not refuted,
        refuted=tuple(
            RefutedBound(each.bound.name, each.bound.claim, origin(each.bound), each.in_words()) for each in refuted
        ),
        silent=tuple(
            SilentBound(bound.name, bound.claim, silent[bound.name]) for bound in found if bound.name in silent
        ),
        rests_on=tuple(text for text in rests_on if text),
        evidence=tuple(evidence),
        architecture=None if own is None else verdict_on(kind, *own[1:], gated, chosen, length),
        remarks=tuple(
            Remark(bound.name, bound.kind, bound.claim, bound.statement) for bound in found if bound.kind != "bound"
        ),
        upper_bounds=_above(chosen.name, kind, numbers),
    )


def _refuse_idle(kind: "Model", heads: int | None, layers: int | None) -> None:
    """Refuse heads and layers for a model without them: they would change nothing."""
    given = {"--heads": heads, "--layers": layers}
    idle = ("--heads", "--layers") if kind in ("rnn", "fnn") else ("--layers",) if kind != "graph-transformer" else ()
    for name in idle:
        if given[name] is not None:
            whose = "" if kind in ("rnn", "fnn") else "is for graph-transformer and "
            raise SeparatrixError(f"{name} {given[name]} {whose}changes nothing for {kind}; leave it out")


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
    """Refuse a member of a class without inputs of this length, nor of the shorter one that is tried."""
    try:
        task.check_length(tried)
    except SeparatrixError as error:
        raise error if tried == length else SeparatrixError(f"no inputs of length {length} either: {error}") from None


def _described(
    covered: "Coverage", kind: "Model", task: "Task", length: int, precision: int, heads: int, layers: int
) -> BoundSize:
    """Return one bound with its numbers."""
    from separatrix.bounds import origin

    bound = covered.bound
    width = bound.smallest_width(length, precision, heads, layers, task)
    paper = bound.paper_width(length, precision, heads, task)
    return BoundSize(
        name=bound.name,
        kind=kind,
        claim=bound.claim,
        statement=bound.statement,
        in_the_papers=bound.in_the_papers,
        from_file=origin(bound) or None,
        other_parameters=bound.needs_in_words(length, task) not in bound.in_words,
        # What m counts: the numbers of a recurrent model's state, units of a layer, or the width of a head.
        quantity="state numbers" if "rnn" in bound.models else "width",
        at_least=width,
        bounded=bound.quantity,
        bits_needed=bound.required_bits(length, task),
        formula=f"{bound.formula(length, precision, heads, layers, task)}, so m ≥ {width}",
        paper_formula=None if paper is None else bound.paper_in_words,
        paper_at_least=paper,
        problem=bound.problem,
        reduction=bound.reduction,
        assumptions=tuple(bound.assumptions),
        deviations=tuple(bound.deviations),
        arithmetic=covered.arithmetic,
    )


def _no_bound(found: "tuple[Bound, ...]") -> str:
    """Return the claim where no bound is known: what is conjectured."""
    conjectured = [f"; conjectured: {each.statement} ({each.claim})" for each in found if each.kind == "conjecture"]
    return "no bound known" + "".join(conjectured)


def _above(task: str, model: "Model", numbers: "Numbers") -> tuple[Sufficient, ...]:
    """List sufficient sizes, each with the arithmetic that it is proved in: constructions that ``certify`` proves, and
    simple reasons."""
    from separatrix.table import upper_bounds

    return tuple(
        Sufficient(side.growth, side.kind, side.text, side.source, side.arithmetic or numbers.name)
        for side in upper_bounds(task, model, numbers)
    )


def own_model(
    text: str, length: int, precision: int, heads: int, layers: int
) -> "tuple[Model, ModelSize, tuple[str, ...]]":
    """Return the class and size of one of this package's architectures, such as ``LSTM-(3,256)``, and what is
    assumed."""
    from separatrix.capacities import which_bounds
    from separatrix.models import ahead_in, bounded_as, description, own_statements, parse_spec

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


def verdict_on(
    kind: "Model",
    size: "ModelSize",
    assumed: tuple[str, ...],
    gated: "list[Coverage]",
    task: "Task",
    length: int,
) -> ModelVerdict:
    """Return what the bounds say about a model of this size, in its arithmetic."""
    from separatrix.bounds import most_partial_sums

    bounds = [each.bound for each in gated]
    excluding = [each for each in gated if not each.bound.possible(length, size, task)]
    sums = [most_partial_sums(each.bound, length, size, task) for each in excluding]
    passed_on = [many for many in sums if many is not None]
    limits = [longest for bound in bounds if (longest := bound.longest_length(size, task)) is not None]
    return ModelVerdict(
        class_=kind,
        width=size.width,
        heads=size.heads,
        layers=size.layers,
        state_bits=size.memory_bits if kind == "rnn" else None,
        possible=not excluding,
        excluded_by=tuple(each.bound.claim for each in excluding),
        functions=next((words for each in excluding if (words := each.bound.of_a_class(task))), ""),
        partial_sums=min(passed_on, default=None),
        arithmetic=tuple(dict.fromkeys(each.arithmetic for each in excluding or gated)),
        longest_possible=min(limits, default=None),
        assumed=assumed,
    )
