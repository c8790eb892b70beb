"""Networks on disk: one safetensors file whose header holds the structure as JSON. No pickle, no code.

Every array of the network becomes a tensor; the structure (slots, layers, where each array belongs) is JSON in the
file's metadata. Reading checks everything it uses: a corrupt, truncated or foreign file ends in one line.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load, save

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.networks.embedding import EmbeddingPart, SignRows, TableRows
from separatrix.networks.exact import ExactMatrix, Slots
from separatrix.networks.network import Attention, FeedForward, Head, Network, Readout

FORMAT = "separatrix-network-1"
MATRICES = ("query", "key", "value", "output")
FEED_FORWARD = ("inner", "inner_bias", "outer", "outer_bias")


class _Writer:
    """Collects arrays under names and gives references to them."""

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}

    def array(self, name: str, values: Any) -> str:
        self.tensors[name] = numpy.ascontiguousarray(values)
        return name

    def matrix(self, name: str, matrix: ExactMatrix) -> dict[str, Any]:
        return {"numerators": self.array(name, matrix.numerators), "denominator": matrix.denominator}


def to_bytes(network: Network) -> bytes:
    """The file's content; the same network gives the same bytes."""
    writer = _Writer()
    parts: list[dict[str, Any]] = []
    for number, part in enumerate(network.embedding):
        where = f"embedding.{number}"
        if isinstance(part.rule, SignRows):
            rule: dict[str, Any] = {
                "kind": "signs",
                "generator": writer.array(f"{where}.generator", part.rule.generator),
            }
        else:
            rule = {"kind": "table", "table": writer.matrix(f"{where}.table", part.rule.table)}
        indices = None if part.indices is None else writer.array(f"{where}.indices", part.indices)
        parts.append(
            {
                "slot": part.slot, "source": part.source, "tokens": part.tokens, "positions": part.positions,
                "rule": rule, "indices": indices,
            }
        )  # fmt: skip
    layers: list[dict[str, Any]] = []
    for number, layer in enumerate(network.layers):
        if isinstance(layer, FeedForward):
            named = {name: writer.matrix(f"layers.{number}.{name}", getattr(layer, name)) for name in FEED_FORWARD}
            layers.append({"kind": "feed-forward", "residual": layer.residual, **named})
            continue
        heads: list[dict[str, Any]] = []
        for place, head in enumerate(layer.heads):
            where = f"layers.{number}.heads.{place}"
            named = {name: writer.matrix(f"{where}.{name}", getattr(head, name)) for name in MATRICES}
            heads.append({"scoring": head.scoring, "mask": head.mask, **named})
        layers.append({"kind": "attention", "residual": layer.residual, "heads": heads})
    readout = network.readout
    structure = {
        "format": FORMAT,
        "slots": network.slots.parts,
        "vocabulary": network.vocabulary,
        "positions": network.positions,
        "embedding": parts,
        "layers": layers,
        "readout": {
            "matrix": writer.matrix("readout.matrix", readout.matrix),
            "bias": writer.matrix("readout.bias", readout.bias),
            "decoding": readout.decoding,
            "at": readout.at,
        },
        "about": network.about,
    }
    return save(writer.tensors, metadata={"separatrix": json.dumps(structure, sort_keys=True)})


def save_network(network: Network, path: Path) -> str:
    """Write the network; returns the file's SHA-256."""
    data = to_bytes(network)
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def load_network(path: Path) -> tuple[Network, str]:
    """Read a network and its file's SHA-256."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SeparatrixError(f"cannot read {path}: {error.strerror or error}; give a network file") from error
    return from_bytes(data, str(path)), hashlib.sha256(data).hexdigest()


def from_bytes(data: bytes, name: str) -> Network:
    """The network in these bytes; ``name`` stands in messages."""
    try:
        header = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + header])["__metadata__"]
        structure = json.loads(metadata["separatrix"])
        if structure["format"] != FORMAT:
            raise SeparatrixError(f"{name} has format {structure['format']!r}; this version reads {FORMAT!r}")
        return _network(structure, load(data))
    except (SafetensorError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(
            f"{name} is not a readable network file ({type(error).__name__}); write it again with separatrix certify"
        ) from error


def _network(structure: dict[str, Any], tensors: dict[str, Any]) -> Network:
    def array(name: str, kind: Any) -> Any:
        values = tensors[name]
        if values.dtype != kind:
            raise ValueError(f"{name} has type {values.dtype}")
        return values

    def matrix(reference: dict[str, Any]) -> ExactMatrix:
        return ExactMatrix(array(reference["numerators"], numpy.int64), int(reference["denominator"]))

    def rule(reference: dict[str, Any]) -> SignRows | TableRows:
        if reference["kind"] == "signs":
            return SignRows(array(reference["generator"], numpy.uint8))
        return TableRows(matrix(reference["table"]))

    def choice(value: str, allowed: tuple[str, ...]) -> Any:
        if value not in allowed:
            raise ValueError(f"{value!r} is not one of {allowed}")
        return value

    embedding = tuple(
        EmbeddingPart(
            part["slot"],
            rule(part["rule"]),
            choice(part["source"], ("token", "position")),
            (int(part["tokens"][0]), int(part["tokens"][1])),
            (int(part["positions"][0]), int(part["positions"][1])),
            None if part["indices"] is None else array(part["indices"], numpy.int64),
        )
        for part in structure["embedding"]
    )
    layers: list[Attention | FeedForward] = []
    for layer in structure["layers"]:
        if layer["kind"] == "feed-forward":
            layers.append(
                FeedForward(*[matrix(layer[name]) for name in FEED_FORWARD], residual=bool(layer["residual"]))
            )
            continue
        heads = tuple(
            Head(
                *[matrix(head[name]) for name in MATRICES],
                scoring=choice(head["scoring"], ("softmax", "hard", "linear")),
                mask=choice(head["mask"], ("none", "causal", "strict")),
            )
            for head in layer["heads"]
        )
        layers.append(Attention(heads, residual=bool(layer["residual"])))
    readout = structure["readout"]
    return Network(
        Slots(tuple((str(name), int(width)) for name, width in structure["slots"])),
        int(structure["vocabulary"]),
        int(structure["positions"]),
        embedding,
        tuple(layers),
        Readout(
            matrix(readout["matrix"]),
            matrix(readout["bias"]),
            choice(readout["decoding"], ("bits", "argmax")),
            choice(readout["at"], ("last", "every")),
        ),
        str(structure["about"]),
    )
