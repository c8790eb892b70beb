"""Models as they are named: a published one, a config.json or its content, or one of this package's own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.bit_counts import OWN_PRECISION
from separatrix.errors import SeparatrixError, UnknownNameError

if TYPE_CHECKING:
    from separatrix.bounds import Model
    from separatrix.capacities import ModelDescription


def described(given: "str | Path | Mapping[str, Any]", precision: int | None = None) -> "ModelDescription":
    """Return the model that a text or a config names; of this package's own with states counted in numbers of so many
    bits.

    >>> described("LSTM-(3,256)").state_numbers, described("mamba-130m").family
    (1536, 'mamba')
    """
    from separatrix.capacities import describe

    if isinstance(given, Mapping):
        return describe(dict(given))
    text = str(given)
    if text.endswith(")") and not Path(text).exists():
        from separatrix.models import description, parse_spec

        bits = OWN_PRECISION if precision is None else precision
        # A precision that is out of range is refused by who computes with it.
        return description(parse_spec(text), max(1, bits))
    if ":" in text and not Path(text).exists():
        raise SeparatrixError(f"{text!r} names a module of your own without its sizes; write '{text}-(1,64)'")
    return describe(text)


def class_named(model: str, task: str) -> "Model":
    """Return the class with this name; of anything else that is a model the message says how to ask about it."""
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
