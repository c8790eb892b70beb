"""From a construction's exact network to a torch module with the same weights.

Every weight is a rational number and is rounded once, to the nearest float of the chosen type. What a certificate says
holds for the fixed point of BHBK24 B.2, not for floats: the tests compare the answers, and ``separatrix export``
does so on a sample before it writes anything.

The embedding's sign vectors are generated from O(log² N) bits in the papers. Here they are written out as buffers, one
row for each token or position that takes one: rows · width · (4 or 8) bytes, so 2^20 positions of 128 signs would be
a gigabyte in float64. Above ``LARGEST_EMBEDDING_BYTES`` that is refused.
"""

from typing import Any

import numpy
import torch
from torch import Tensor

from separatrix.arithmetic import Floating
from separatrix.errors import SeparatrixError
from separatrix.models.assemble import FORMAT, NetworkModule, assemble, part_name
from separatrix.networks import (
    AnyNetwork,
    Attention,
    DualPart,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    GraphAttention,
    Layer,
    Network,
    RecurrentNetwork,
    SignRows,
    exact,
    head_matrices,
)

LARGEST_EMBEDDING_BYTES = 1 << 30
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def module_from_network(network: AnyNetwork, dtype: torch.dtype = torch.float64) -> NetworkModule:
    """Return a torch module with the network's weights, ready to run and to be trained further."""
    return assemble(describe(network, dtype), _tensors_of(network, dtype))


def dtype_name(dtype: torch.dtype) -> str:
    """``float32`` or ``float64``; other types are refused.

    >>> dtype_name(torch.float32)
    'float32'
    """
    for name, each in DTYPES.items():
        if each == dtype:
            return name
    raise SeparatrixError(f"models are made in {' or '.join(DTYPES)}, not {dtype}")


def describe(network: AnyNetwork, dtype: torch.dtype) -> dict[str, Any]:
    """Return the network without its weights, as data that fits into JSON."""
    common = {
        "format": FORMAT,
        "dtype": dtype_name(dtype),
        "vocabulary": network.vocabulary,
        "positions": network.positions,
        "readout": describe_readout(network),
        "about": network.about,
    }
    if isinstance(network, RecurrentNetwork):
        return {**common, "kind": "recurrent", "maps": len(network.cell)}
    parts = [
        {
            "slot": part.slot, "source": part.source, "tokens": list(part.tokens), "positions": list(part.positions),
            "signs": isinstance(part.rule, SignRows), "indexed": _is_indexed(part),
        }
        for part in network.embedding
    ]  # fmt: skip
    return {
        **common,
        "kind": "transformer",
        "slots": [[name, width] for name, width in network.slots.parts],
        "embedding": parts,
        "features": [{"slot": part.slot} for part in network.feature_parts],
        "sets": [_describe_sets(part) for part in network.dual_parts],
        "layers": [_describe_layer(layer) for layer in network.layers],
    }


def describe_readout(network: AnyNetwork) -> dict[str, Any]:
    """Return what a readout means.

    >>> from separatrix.constructions import constructions
    >>> describe_readout(constructions()["equality"].build(4).network)
    {'decoding': 'bits', 'at': 'last'}
    """
    readout, sums = network.readout, network.readout.power_sums
    meaning: dict[str, Any] = {"decoding": readout.decoding, "at": readout.at}
    return meaning if sums is None else {**meaning, "power_sums": [sums.modulus, sums.prime]}


def _describe_sets(part: DualPart) -> dict[str, Any]:
    return {"slot": part.slot, "columns": list(part.sets.columns), "first": part.sets.first}


def _describe_layer(layer: Layer) -> dict[str, Any]:
    if isinstance(layer, FeedForward):
        return {"kind": "feed-forward", "residual": layer.residual}
    if isinstance(layer, Attention):
        heads = [{"scoring": head.scoring, "mask": head.mask} for head in layer.heads]
        return {"kind": "attention", "residual": layer.residual, "heads": heads}
    kind = "graph-attention" if isinstance(layer, GraphAttention) else "third-order-attention"
    return {"kind": kind, "residual": layer.residual, "heads": [{"scoring": head.scoring} for head in layer.heads]}


def _tensors_of(network: AnyNetwork, dtype: torch.dtype) -> dict[str, Tensor]:
    """Return all weights under the names that they have in the module's ``state_dict``."""
    found: dict[str, Tensor] = {
        "readout.matrix": floats(network.readout.matrix, dtype),
        "readout.bias": floats(network.readout.bias, dtype)[:, 0],
    }
    if isinstance(network, RecurrentNetwork):
        found["embedding"] = floats(network.embedding, dtype)
        found["initial"] = floats(network.initial, dtype)[:, 0]
        for number, each in enumerate(network.cell):
            found[f"cell.{number}.weights"] = floats(each.weights, dtype)
            found[f"cell.{number}.bias"] = floats(each.bias, dtype)[:, 0]
        return found
    check_embedding_size(network, dtype)
    for number, part in enumerate(network.embedding):
        where = f"embedding.{part_name(number, part.slot)}"
        found[f"{where}.rows"] = _rows(part, dtype)
        if part.indices is not None and _is_indexed(part):
            found[f"{where}.indices"] = torch.from_numpy(part.indices.copy())
    for number, part in enumerate(network.feature_parts):
        found[f"features.{part_name(number, part.slot)}.matrix"] = floats(part.matrix, dtype)
    for number, part in enumerate(network.dual_parts):
        where = f"sets.{part_name(number, part.slot)}"
        signs = part.rule.signs(numpy.arange(part.rule.count, dtype=numpy.int64))
        found[f"{where}.rows"] = torch.from_numpy(signs).to(dtype)
        found[f"{where}.gain"] = floats(exact([[part.gain]]), dtype)[0]
    for number, layer in enumerate(network.layers):
        if isinstance(layer, FeedForward):
            found[f"layers.{number}.inner"] = floats(layer.inner, dtype)
            found[f"layers.{number}.inner_bias"] = floats(layer.inner_bias, dtype)[:, 0]
            found[f"layers.{number}.outer"] = floats(layer.outer, dtype)
            found[f"layers.{number}.outer_bias"] = floats(layer.outer_bias, dtype)[:, 0]
            continue
        for place, head in enumerate(layer.heads):
            for name in head_matrices(layer):
                found[f"layers.{number}.heads.{place}.{name}"] = floats(getattr(head, name), dtype)
    return {name: tensor.contiguous() for name, tensor in found.items()}


def floats(matrix: ExactMatrix, dtype: torch.dtype) -> Tensor:
    """Return the entries, each rounded once to the nearest float."""
    return torch.from_numpy(matrix.encoded(Floating(dtype_name(dtype))))


def check_embedding_size(network: Network, dtype: torch.dtype) -> None:
    """Refuse an embedding that would not fit, before anything is made."""
    numbers = sum(_row_count(part) * part.rule.width for part in network.embedding)
    for part in network.dual_parts:
        numbers += part.rule.count * part.rule.width
    needed = numbers * dtype.itemsize
    if needed > LARGEST_EMBEDDING_BYTES:
        raise SeparatrixError(
            f"the embedding written out takes {needed / 2**20:.0f} MiB, more than the limit of "
            f"{LARGEST_EMBEDDING_BYTES >> 20} MiB; choose a smaller length, or safetensors, which keeps the rule"
        )


def _is_indexed(part: EmbeddingPart) -> bool:
    """Return whether rows are shared through a list of numbers; sign rows are written out in the order of that list."""
    return part.indices is not None and not isinstance(part.rule, SignRows)


def _row_count(part: EmbeddingPart) -> int:
    first, last = part.tokens if part.source == "token" else part.positions
    return part.rule.count if _is_indexed(part) else last - first


def _rows(part: EmbeddingPart, dtype: torch.dtype) -> Tensor:
    if not isinstance(part.rule, SignRows):
        table = floats(part.rule.table, dtype)
        return table if _is_indexed(part) else table[: _row_count(part)].clone()
    numbers = numpy.arange(_row_count(part), dtype=numpy.int64)
    return torch.from_numpy(part.rule.signs(numbers if part.indices is None else part.indices[numbers])).to(dtype)
