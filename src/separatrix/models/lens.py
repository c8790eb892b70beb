"""A network as a model of TransformerLens, whose every activation can be looked at and changed.

TransformerLens 4 builds models of its own form with ``TransformerBridge.boot_native`` (its ``HookedTransformer`` is
gone): token embedding plus position embedding, then blocks of softmax attention and a ReLU layer, both with residual
connections, then one linear readout. A network is brought into that form as follows.

* Layers without a residual connection write fresh slots (``networks.residuals``), so that every layer has one.
* The embedding must be a sum of a function of the token and one of the position, for every pair that may occur.
* A block is one attention and one feed-forward; where two of a kind follow each other, the missing one is all zeros.
* Its attention divides scores by a number that may not be 1; here that is 1/2, and queries are halved: both are exact.
* Masks differ from layer to layer and may be strict, so each block gets its own in the place of the causal one.

What does not fit is refused in one line: hard, linear, third-order and graph attention, recurrent networks, inputs of
several numbers in a cell, heads of one layer with different masks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.from_network import check_embedding_size, describe_readout, dtype_name, floats
from separatrix.networks import (
    AnyNetwork,
    Attention,
    EmbeddingPart,
    FeedForward,
    Network,
    RecurrentNetwork,
    SignRows,
    with_residuals,
)
from separatrix.tasks import Task

FORMAT = "separatrix-transformer-lens-1"
ATTENTION_SCALE = 0.5
"""What the library divides scores by; it refuses 1, and a power of two loses nothing."""

Pairs: TypeAlias = NDArray[numpy.bool_]
"""Which tokens may be at which positions: (vocabulary, positions)."""
Block: TypeAlias = tuple[Attention | None, FeedForward | None]


@dataclass(frozen=True)
class LensForm:
    """A network in the library's form: its configuration, the mask of each block, and its state dict."""

    config: dict[str, Any]
    tensors: dict[str, Tensor]


def occurring_pairs(task: Task, length: int) -> Pairs:
    """Return which tokens may be at which positions of a task's inputs; all of them where the task does not say."""
    everything = numpy.ones((task.vocabulary(length).size, task.positions(length)), dtype=bool)
    # A task that assembles its inputs says nothing about single cells.
    if type(task).assemble is not Task.assemble or task.features(length):
        return everything
    pairs = numpy.zeros_like(everything)
    position = 0
    for block in task.space(length).blocks:
        for column in block.T:
            pairs[column, position] = True
            position += 1
    return pairs


def lens_form(
    network: AnyNetwork, dtype: torch.dtype = torch.float64, occurring: Callable[[], Pairs] | None = None
) -> LensForm:
    """Return the network in the library's form; ``occurring`` is asked only where the embedding is not a sum
    everywhere."""
    widened = _fitting(network)
    blocks, masks = _blocks(widened)
    check_embedding_size(widened, dtype)
    additive = _additive(widened, None) or (occurring is not None and _additive(widened, occurring()))
    if not additive:
        raise SeparatrixError(
            "the embedding is not a sum over token and position, as transformer-lens needs; export to torch or onnx"
        )
    heads = [head for attention, _ in blocks if attention for head in attention.heads]
    shape = {
        "d_model": widened.slots.width,
        "d_head": max([1, *[size for head in heads for size in (head.query.shape[0], head.value.shape[0])]]),
        "n_heads": max([1, *[len(attention.heads) for attention, _ in blocks if attention]]),
        "d_mlp": max([1, *[layer.inner.shape[0] for _, layer in blocks if layer]]),
    }
    config = {
        **shape,
        "format": FORMAT,
        "dtype": dtype_name(dtype),
        "n_layers": len(blocks),
        "n_ctx": widened.positions,
        "d_vocab": widened.vocabulary,
        "d_vocab_out": widened.readout.matrix.shape[0],
        "masks": masks,
        "readout": describe_readout(widened),
        "slots": [[name, width] for name, width in widened.slots.parts],
        "about": network.about,
    }
    tensors = {
        "embed.weight": _table(widened, "token", dtype),
        "pos_embed.weight": _table(widened, "position", dtype),
        "unembed.weight": floats(widened.readout.matrix, dtype),
        "unembed.bias": floats(widened.readout.bias, dtype)[:, 0].clone(),
    }
    for number, (attention, layer) in enumerate(blocks):
        tensors.update(_attention_tensors(f"blocks.{number}.attn", attention, shape, dtype))
        tensors.update(_feed_forward_tensors(f"blocks.{number}.mlp", layer, shape, dtype))
    return LensForm(config, tensors)


def _fitting(network: AnyNetwork) -> Network:
    """Return the network with residuals, unless it is of a kind that the library has not."""
    if isinstance(network, RecurrentNetwork):
        raise SeparatrixError("a recurrent network does not fit the form of transformer-lens; export to torch or onnx")
    if network.features:
        raise SeparatrixError("transformer-lens reads tokens, this network cells of numbers; export to torch or onnx")
    for layer in network.layers:
        if isinstance(layer, FeedForward):
            continue
        if not isinstance(layer, Attention):
            raise SeparatrixError(f"{type(layer).__name__} does not fit transformer-lens; export to torch or onnx")
        if any(head.scoring != "softmax" for head in layer.heads):
            raise SeparatrixError("transformer-lens has softmax attention only; export to torch or onnx")
        if len({head.mask for head in layer.heads}) > 1:
            raise SeparatrixError("heads with different masks in a layer do not fit transformer-lens; export to torch")
    return with_residuals(network)


def _blocks(network: Network) -> tuple[list[Block], list[str]]:
    """Layers paired into blocks, and the mask of each block."""
    blocks: list[Block] = []
    for layer in network.layers:
        if isinstance(layer, Attention):
            blocks.append((layer, None))
        elif isinstance(layer, FeedForward):
            if blocks and blocks[-1][1] is None:
                blocks[-1] = (blocks[-1][0], layer)
            else:
                blocks.append((None, layer))
    masks = [attention.heads[0].mask if attention and attention.heads else "none" for attention, _ in blocks]
    return blocks, [str(mask) for mask in masks]


def _additive(network: Network, pairs: Pairs | None) -> bool:
    """Return whether a sum over token and position gives the embedding at every pair.

    A part with rows by token must apply at every position where one of its tokens may be, unless the row is zero;
    a part with rows by position must apply to every token that may be there.
    """
    occurring = numpy.ones((network.vocabulary, network.positions), dtype=bool) if pairs is None else pairs
    if occurring.shape != (network.vocabulary, network.positions):
        return False
    for part in network.embedding:
        token_inside = _inside(part.tokens, network.vocabulary)
        position_inside = _inside(part.positions, network.positions)
        if part.source == "token":
            wrong = occurring[:, ~position_inside].any(axis=1) & token_inside
        else:
            wrong = occurring[~token_inside].any(axis=0) & position_inside
        if wrong.any() and _exact_rows(part)[wrong[slice(*_range(part))]].any():
            return False
    return True


def _inside(bounds: tuple[int, int], size: int) -> NDArray[numpy.bool_]:
    numbers = numpy.arange(size)
    return (numbers >= bounds[0]) & (numbers < bounds[1])


def _range(part: EmbeddingPart) -> tuple[int, int]:
    return part.tokens if part.source == "token" else part.positions


def _exact_rows(part: EmbeddingPart) -> NDArray[numpy.int64]:
    """Return the rows of a part's range, in order, as numerators."""
    first, last = _range(part)
    numbers = numpy.arange(last - first, dtype=numpy.int64)
    numbers = numbers if part.indices is None else part.indices[numbers]
    return part.rule.signs(numbers) if isinstance(part.rule, SignRows) else part.rule.table.numerators[numbers]


def _table(network: Network, source: str, dtype: torch.dtype) -> Tensor:
    """Return the embedding by token or by position: (tokens or positions, d)."""
    size = network.vocabulary if source == "token" else network.positions
    table = torch.zeros((size, network.slots.width), dtype=dtype)
    for part in network.embedding:
        if part.source != source:
            continue
        first, last = _range(part)
        if isinstance(part.rule, SignRows):
            rows = torch.from_numpy(_exact_rows(part)).to(dtype)
        else:
            numbers = numpy.arange(last - first) if part.indices is None else part.indices[: last - first]
            rows = floats(part.rule.table, dtype)[torch.from_numpy(numbers)]
        kept = min(last, size) - first
        table[first : first + kept, network.slots.columns(part.slot)] += rows[:kept]
    return table


def _attention_tensors(
    where: str, attention: Attention | None, shape: Mapping[str, int], dtype: torch.dtype
) -> dict[str, Tensor]:
    width, inner, count = shape["d_model"], shape["d_head"], shape["n_heads"]
    tensors = {name: torch.zeros((count, inner, width), dtype=dtype) for name in "qkv"}
    output = torch.zeros((width, count, inner), dtype=dtype)
    for place, head in enumerate(attention.heads if attention else ()):
        for name, matrix in (("q", head.query), ("k", head.key), ("v", head.value)):
            tensors[name][place, : matrix.shape[0]] = floats(matrix, dtype)
        tensors["q"][place] *= ATTENTION_SCALE
        output[:, place, : head.output.shape[1]] = floats(head.output, dtype)
    named = {f"{where}.{name}.weight": tensor.flatten(0, 1) for name, tensor in tensors.items()}
    biases = {f"{where}.{name}.bias": torch.zeros(count * inner, dtype=dtype) for name in "qkv"}
    biases[f"{where}.o.bias"] = torch.zeros(width, dtype=dtype)
    return {**named, f"{where}.o.weight": output.flatten(1, 2), **biases}


def _feed_forward_tensors(
    where: str, layer: FeedForward | None, shape: Mapping[str, int], dtype: torch.dtype
) -> dict[str, Tensor]:
    width, inner = shape["d_model"], shape["d_mlp"]
    tensors = {
        f"{where}.in.weight": torch.zeros((inner, width), dtype=dtype),
        f"{where}.in.bias": torch.zeros(inner, dtype=dtype),
        f"{where}.out.weight": torch.zeros((width, inner), dtype=dtype),
        f"{where}.out.bias": torch.zeros(width, dtype=dtype),
    }
    if layer is not None:
        units = layer.inner.shape[0]
        tensors[f"{where}.in.weight"][:units] = floats(layer.inner, dtype)
        tensors[f"{where}.in.bias"][:units] = floats(layer.inner_bias, dtype)[:, 0]
        tensors[f"{where}.out.weight"][:, :units] = floats(layer.outer, dtype)
        tensors[f"{where}.out.bias"][:] = floats(layer.outer_bias, dtype)[:, 0]
    return tensors
