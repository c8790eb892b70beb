"""What ``separatrix bound`` asks about: a class of models, or one of this package's models with its own size."""

from typing import TYPE_CHECKING, Any

import typer

from separatrix.cli.given_options import refuse_given
from separatrix.errors import SeparatrixError, UnknownNameError

if TYPE_CHECKING:
    from separatrix.bounds import Coverage, Model, ModelSize
    from separatrix.tasks import Task


def class_named(model: str, task: str) -> "Model":
    """The class with this name; of anything else that is a model the message says how to ask about it."""
    from separatrix.bounds import model_named
    from separatrix.capacities import presets

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


def refuse_idle(context: typer.Context, kind: "Model") -> None:
    """Heads and layers enter the bounds of models that have them; for any other the option would be passed over."""
    if kind in ("rnn", "fnn"):
        refuse_given(context, ("heads", "layers"), f"changes nothing for {kind}; leave it out")
    if kind != "graph-transformer":
        refuse_given(context, ("layers",), f"is for graph-transformer and changes nothing for {kind}; leave it out")


def own_model(
    text: str, length: int, precision: int, heads: int, layers: int
) -> "tuple[Model, ModelSize, tuple[str, ...]]":
    """The class and size of one of this package's architectures, such as ``LSTM-(3,256)``, and what is assumed."""
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
) -> dict[str, Any]:
    """What the bounds say about a model of this size, in its arithmetic: whether it is possible here, and how long.

    ``functions``: the class all of which is impossible, where a bound is about a class and not about one function.
    """
    from separatrix.bounds import most_partial_sums

    bounds = [each.bound for each in gated]
    excluding = [each for each in gated if not each.bound.possible(length, size, task)]
    sums = [most_partial_sums(each.bound, length, size, task) for each in excluding]
    handed_on = [many for many in sums if many is not None]
    limits = [longest for bound in bounds if (longest := bound.longest_length(size, task)) is not None]
    return {
        "class": kind,
        "width": size.width,
        "heads": size.heads,
        "layers": size.layers,
        "state_bits": size.memory_bits if kind == "rnn" else None,
        "possible": not excluding,
        "excluded_by": [each.bound.claim for each in excluding],
        "functions": next((words for each in excluding if (words := each.bound.of_a_class(task))), ""),
        "partial_sums": min(handed_on, default=None),
        "arithmetic": list(dict.fromkeys(each.arithmetic for each in excluding or gated)),
        "longest_possible": min(limits, default=None),
        "assumed": list(assumed),
    }
