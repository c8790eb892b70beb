"""How many bits the numbers of a model have where nobody says it: what its config file states, or the usual.

Config files name the format of the weights (``dtype``, once ``torch_dtype``), in which a model's states come as well
unless an implementation says otherwise. Taking fewer bits than a model has would call impossible what is not, so a
format that is not known here is told of and never guessed at in silence.
"""

from separatrix.bit_counts import PUBLISHED_PRECISION
from separatrix.communication.capacity.layers import ModelDescription

GIVEN = "as given"
FORMATS = {
    "float64": 64, "double": 64, "fp64": 64, "float32": 32, "float": 32, "fp32": 32,
    "bfloat16": 16, "bf16": 16, "float16": 16, "half": 16, "fp16": 16,
}  # fmt: skip
"""Bits of the formats that config files name."""


def precision_of(model: ModelDescription, given: int | None = None) -> tuple[int, str]:
    """The bits of each number of a model, and where they are from.

    >>> from separatrix.communication.capacity import describe
    >>> gru = {"model_type": "gru", "hidden_size": 64}
    >>> precision_of(describe({**gru, "torch_dtype": "float32"}))
    (32, 'float32, from its config')
    >>> precision_of(describe(gru))
    (16, 'usual for published models; its config does not say')
    """
    if given is not None:
        return given, GIVEN
    stated = model.number_format
    if not stated:
        return PUBLISHED_PRECISION, "usual for published models; its config does not say"
    bits = FORMATS.get(stated.lower())
    if bits is None:
        return PUBLISHED_PRECISION, (
            f"usual for published models; {model.number_format_from} says {stated!r}, which is not known here: "
            "if its states have more bits, give them as the precision"
        )
    return bits, f"{stated}, from {model.number_format_from}"
