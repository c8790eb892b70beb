"""Models as they are named: a published one, a config.json or its content, or one of this package's own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.bit_counts import OWN_PRECISION
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.capacities import ModelDescription


def described(given: "str | Path | Mapping[str, Any]", precision: int | None = None) -> "ModelDescription":
    """The model that a text or a config names; of this package's own with states counted in numbers of so many bits.

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
