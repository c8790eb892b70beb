"""The bytes of a published model's weights: from the files next to its config, or from a preset.

A preset has the number of its ``parameters``, as ``transformers`` counts those of its decoder (a test counts again), or
the bytes of the files that were published, where those are in fewer bits (``weights``). What a drafting head of several
tokens, or what reads images, adds is not counted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from separatrix.capacities.layers import ModelDescription
from separatrix.capacities.number_formats import number_bits
from separatrix.capacities.reading import config_file, preset_named
from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file

INDEX_FILE = "model.safetensors.index.json"
LARGEST_INDEX = 64 << 20


@dataclass(frozen=True)
class Weights:
    """The bytes that weights take, and who says so."""

    size: int
    because: str


def weights_of(config: str, model: ModelDescription, given: int | None = None) -> Weights | None:
    """Return the bytes of the weights of a model that was named so; None where nothing at hand says them.

    ``given``: the bits of every number, where they are given.

    >>> from separatrix.capacities import describe
    >>> weights_of("llama-3-8b", describe("llama-3-8b"))
    Weights(size=16060522496, because='8,030,261,248 parameters of 16 bits, bfloat16, from its config')
    """
    if (preset := preset_named(config)) is not None:
        if preset.weights is not None:
            return Weights(preset.weights, "the published files")
        return None if preset.parameters is None else of_parameters(preset.parameters, model, given)
    file = config_file(config)
    return None if file is None else _in_folder(file.parent)


def of_parameters(number: int, model: ModelDescription, given: int | None = None) -> Weights:
    """Return the bytes of so many parameters in the format of a model's numbers."""
    bits = number_bits(model, given)
    return Weights(-(-number * bits.bits // 8), f"{number:,} parameters of {bits.bits} bits, {bits.because}")


def _in_folder(folder: Path) -> Weights | None:
    """Return what the safetensors files of a folder take, or what their index says of files that are elsewhere."""
    files = [each.stat().st_size for each in folder.glob("*.safetensors")]
    index = folder / INDEX_FILE
    if index.is_file():
        return Weights(_indexed(index), f"by {INDEX_FILE}")
    return Weights(sum(files), "the safetensors files of its folder") if sum(files) else None


def _indexed(path: Path) -> int:
    """Return the bytes that the index of weights in several files names."""
    try:
        found = parse_json(read_file(path, LARGEST_INDEX, "give --weights"))
    except ValueError as error:
        raise SeparatrixError(f"{path} is not JSON: {str(error)[:120]}; give --weights") from None
    inner: Any = cast("dict[str, Any]", found).get("metadata") if isinstance(found, dict) else None
    size: Any = cast("dict[str, Any]", inner).get("total_size") if isinstance(inner, dict) else None
    if isinstance(size, float) and size.is_integer():
        size = int(size)
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
        raise SeparatrixError(f"{path} has no metadata.total_size above 0; give --weights")
    return size
