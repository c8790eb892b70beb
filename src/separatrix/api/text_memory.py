"""What a text takes in memory: of several models side by side, next to weights, and against another model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from separatrix.answer import Answer, Sheet
from separatrix.api.models import described
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.capacities import Capacity, ModelDescription, Weights


@dataclass(frozen=True)
class TextMemory:
    """The bytes of a text of one model; ``cheaper_from``: by another model the length from which it takes fewer."""

    model: str
    fixed_bytes: int
    bytes_per_token: float
    complete: bool
    guessed_formats: tuple[str, ...]
    bytes_at: Mapping[int, int]
    cheaper_from: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ComparedMemory(Answer):
    """Several models side by side, at the same lengths."""

    lengths: tuple[int, ...]
    models: tuple[TextMemory, ...]

    def sheet(self) -> Sheet:
        """Show a row for each model, then which takes fewer bytes than which."""
        from separatrix.api.capacity_sheet import memory_sheet

        return memory_sheet(self)


@dataclass(frozen=True)
class Fits:
    """How many texts of each length fit next to the weights; None: any number, or weights of unknown size."""

    memory_bytes: int
    weights_bytes: int | None
    weights_from: str | None
    texts: Mapping[int, int | None]


@dataclass(frozen=True)
class Crossing:
    """Another model's bytes, and the length from which on a text takes fewer of them, or more."""

    model: str
    cheaper_from: int | None
    dearer_from: int | None
    bytes_at: Mapping[int, int]


def compare_memory(models: "Sequence[ModelDescription]", precision: int | None, length: int | None) -> ComparedMemory:
    """Return for each model its bytes, fixed, for each token and at the lengths; and which is cheaper than which, from
    where.

    The bits of every number are ``precision`` where that is given.
    """
    from separatrix.capacities import LENGTHS, bytes_at, cheaper_from, guessed_parts, memory

    lengths = tuple(sorted({*LENGTHS, *(() if length is None else (length,))}))
    rows: list[TextMemory] = []
    for model in models:
        held = memory(model, precision)
        cheaper = {
            other.name: found
            for other in models
            if other is not model and (found := cheaper_from(model, other, precision)) is not None
        }
        rows.append(
            TextMemory(
                model.name,
                held.fixed,
                held.per_token / held.per_tokens,
                held.complete,
                tuple(guessed_parts(model, precision)),
                {each: bytes_at(model, each, precision) for each in lengths},
                cheaper,
                tuple(model.notes),
            )
        )
    return ComparedMemory(lengths, tuple(rows))


def texts_that_fit(found: "Capacity", room: int, weights: int | None, model: Any) -> Fits:
    """Return how many texts fit into a memory at each length, next to weights that are given or those of the model."""
    from separatrix.capacities import Weights, texts_that_fit

    if room <= 0:
        raise SeparatrixError(f"a memory of {room} bytes holds nothing; give a size above 0, such as 80GB")
    taken = _weights(found, model) if weights is None else Weights(weights, "given")
    left = room - (taken.size if taken else 0)
    counts = {each: texts_that_fit(found.model, left, each, found.given) for each in found.bytes_at}
    return Fits(room, taken.size if taken else None, taken.because if taken else None, counts)


def crossing(found: "Capacity", against: str) -> Crossing:
    """Return the length from which on a text takes fewer bytes than one of another model."""
    from separatrix.capacities import bytes_at, cheaper_from

    other, given = described(against, found.given), found.given
    return Crossing(
        other.name,
        cheaper_from(found.model, other, given),
        cheaper_from(other, found.model, given),
        {each: bytes_at(other, each, given) for each in found.bytes_at},
    )


def _weights(found: "Capacity", model: Any) -> "Weights | None":
    """Return the bytes of the weights: from files or a preset, of a module, else counted by transformers where it is
    installed."""
    from separatrix.capacities import Weights, config_file, of_parameters, read_config, weights_of

    if not isinstance(model, str | Path | Mapping):
        return Weights(sum(each.numel() * each.element_size() for each in model.parameters()), "its parameters")
    fields: object = model
    if not isinstance(model, Mapping):
        if (known := weights_of(str(model), found.model, found.given)) is not None:
            return known
        file = config_file(str(model))
        fields = None if file is None else read_config(file)
    if fields is None or find_spec("torch") is None:
        return None
    from separatrix.models import parameter_count

    number = parameter_count(cast("Mapping[str, Any]", fields))
    return None if number is None else of_parameters(number, found.model, found.given)
