"""The catalog of bounds: every file of ``separatrix/bounds/claims`` exports one ``BOUND``."""

from collections.abc import Iterable

from separatrix.bounds import claims
from separatrix.bounds.bound import Bound, ProtocolBound
from separatrix.bounds.simulations import MODELS, Model
from separatrix.catalog import Catalog, discover
from separatrix.errors import UnknownNameError
from separatrix.tasks import Task, tasks
from separatrix.user_files import user_modules


def bounds() -> Catalog[Bound]:
    """Return all bounds, barriers and conjectures by name.

    >>> bounds()["index-lookup-rnn"].claim
    'BHBK24 Theorem 3'
    """
    found = discover("bound", claims, "BOUND", Bound)  # type: ignore[type-abstract]
    for module in user_modules():
        own = getattr(module, "BOUND", None)
        if isinstance(own, Bound):
            _check_names(own)
    return found


def _check_names(bound: Bound) -> None:
    """Raise a one-line error where a bound speaks of a task or a class of models that there is not: it would be
    silent."""
    for task in bound.task_names:
        if task not in tasks():
            raise UnknownNameError(f"task in task_names of {bound.name}", task, tasks())
    for model in bound.models:
        if model not in MODELS:
            raise UnknownNameError(f"class of models in models of {bound.name}", model, MODELS)


def bounds_for(task: str, model: str) -> tuple[Bound, ...]:
    """Return everything the catalog says about a task and a class of models, sorted by name; unknown names raise.

    >>> [bound.name for bound in bounds_for("dyck", "transformer-1layer")]
    ['dyck-transformer-1layer']
    """
    tasks()[task]
    kind = model_named(model)
    return tuple(bound for bound in bounds().values() if bound.applies(task, kind))


def model_named(name: str) -> Model:
    """Return the class of models with this name; an unknown one raises.

    >>> model_named("rnn")
    'rnn'
    """
    for model in MODELS:
        if model == name:
            return model
    raise UnknownNameError("class of models", name, MODELS)


def protocol_bounds(task: str | None = None, model: str | None = None) -> tuple[ProtocolBound, ...]:
    """Return the bounds with numbers, of one task or class of models or of all.

    >>> [bound.name for bound in protocol_bounds("dyck")]
    ['dyck-rnn', 'dyck-transformer-1layer', 'first-layer-fnn']
    """
    return tuple(
        bound
        for bound in bounds().values()
        if isinstance(bound, ProtocolBound)
        and (task is None or task in bound.task_names)
        and (model is None or model in bound.models)
    )


def strongest_first(
    found: Iterable[Bound], length: int, precision: int, heads: int = 1, layers: int = 1, task: Task | None = None
) -> list[ProtocolBound]:
    """Return the bounds with numbers among some, the one that asks for the largest width first; of equals the papers'
    first.

    >>> [bound.name for bound in strongest_first(bounds_for("index-lookup", "rnn"), 1024, precision=16)]
    ['index-lookup-alphabet-rnn', 'index-lookup-rnn']
    """
    numbered = [bound for bound in found if isinstance(bound, ProtocolBound)]
    return sorted(
        numbered,
        key=lambda bound: (-bound.smallest_width(length, precision, heads, layers, task), bound.extension),
    )
