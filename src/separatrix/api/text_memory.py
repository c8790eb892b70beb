"""What a text takes in memory: of several models side by side, next to weights, and against another model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from separatrix.api.models import described

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


@dataclass(frozen=True)
class ComparedMemory:
    """Several models side by side, at the same lengths."""

    lengths: tuple[int, ...]
    models: tuple[TextMemory, ...]


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


def texts_that_fit(found: "Capacity", room: int, weights: int | None, config: str) -> Fits:
    """Return how many texts fit into a memory at each length, next to weights that are given or those of a config."""
    from separatrix.capacities import Weights, texts_that_fit

    taken = _weights(found, config) if weights is None else Weights(weights, "given")
    left = room - (taken.size if taken else 0)
    counts = {each: texts_that_fit(found.model, left, each, found.given) for each in found.bytes_at}
    return Fits(room, taken.size if taken else None, taken.because if taken else None, counts)


def crossing(found: "Capacity", against: str, precision: int | None) -> Crossing:
    """Return the length from which on a text takes fewer bytes than one of another model."""
    from separatrix.capacities import bytes_at, cheaper_from

    other = described(against, precision)
    return Crossing(
        other.name,
        cheaper_from(found.model, other),
        cheaper_from(other, found.model),
        {each: bytes_at(other, each) for each in found.bytes_at},
    )


def _weights(found: "Capacity", config: str) -> "Weights | None":
    """Return the bytes of the weights: from files or a preset, else counted by transformers where it is installed."""
    from separatrix.capacities import config_file, of_parameters, read_config, weights_of

    if (known := weights_of(config, found.model, found.given)) is not None:
        return known
    file = config_file(config)
    if file is None or find_spec("torch") is None:
        return None
    from separatrix.models import parameter_count

    number = parameter_count(read_config(file))
    return None if number is None else of_parameters(number, found.model, found.given)
