"""Networks on disk: one safetensors file whose header holds the structure as JSON. No pickle, no code.

Every array of the network becomes a tensor; the structure (slots, layers, where each array belongs) is JSON in the
file's metadata. Reading checks everything it uses: a corrupt, truncated or foreign file ends in one line.
"""

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load, save

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.networks.decoding import PowerSums
from separatrix.networks.dual import CellSets, DualPart, Sets, WindowSets
from separatrix.networks.embedding import EmbeddingPart, FeaturePart, SignRows, TableRows
from separatrix.networks.exact import ExactMatrix, Slots
from separatrix.networks.graph import GRAPH_MATRICES, GraphAttention, GraphHead
from separatrix.networks.network import (
    FEED_FORWARD_MATRICES,
    HEAD_MATRICES,
    Attention,
    Decoding,
    FeedForward,
    Head,
    Layer,
    Network,
    Readout,
    head_matrices,
)
from separatrix.networks.recurrent import AnyNetwork, RecurrentNetwork, ReluMap
from separatrix.networks.third_order import THIRD_ORDER_MATRICES, ThirdOrderAttention, ThirdOrderHead
from separatrix.networks.weights import SCORINGS
from separatrix.reading import parse_json, read_tensors

NETWORK_FILE = "network.safetensors"
"""What the file is called in a folder of its own."""
FORMAT = "separatrix-network-1"
RECURRENT_FORMAT = "separatrix-recurrent-1"
LARGEST_FILE = 8 << 30
"""Bytes; more than any network that can be checked in the memory of one machine."""
HEADS = {
    "attention": (Attention, Head, HEAD_MATRICES),
    "third-order-attention": (ThirdOrderAttention, ThirdOrderHead, THIRD_ORDER_MATRICES),
    "graph-attention": (GraphAttention, GraphHead, GRAPH_MATRICES),
}
"""Layers by the name of their kind: what they are, what their heads are, and the heads' matrices in order."""
KINDS = {made: kind for kind, (made, _, _) in HEADS.items()}


class _Writer:
    """Collects arrays under names and gives references to them."""

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}

    def array(self, name: str, values: Any) -> str:
        self.tensors[name] = numpy.ascontiguousarray(values)
        return name

    def matrix(self, name: str, matrix: ExactMatrix) -> dict[str, Any]:
        return {"numerators": self.array(name, matrix.numerators), "denominator": matrix.denominator}


def to_bytes(network: AnyNetwork) -> bytes:
    """The file's content; the same network gives the same bytes.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> to_bytes(built.network) == to_bytes(constructions()["index-lookup"].build(4).network)
    True
    """
    writer = _Writer()
    if isinstance(network, RecurrentNetwork):
        return _bytes(writer, _recurrent_structure(network, writer))
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
            named = {
                name: writer.matrix(f"layers.{number}.{name}", getattr(layer, name)) for name in FEED_FORWARD_MATRICES
            }
            layers.append({"kind": "feed-forward", "residual": layer.residual, **named})
            continue
        heads: list[dict[str, Any]] = []
        for place, head in enumerate(layer.heads):
            where = f"layers.{number}.heads.{place}"
            named = {name: writer.matrix(f"{where}.{name}", getattr(head, name)) for name in head_matrices(layer)}
            mask = {"mask": head.mask} if isinstance(head, Head) else {}
            heads.append({"scoring": head.scoring, **mask, **named})
        layers.append({"kind": KINDS[type(layer)], "residual": layer.residual, "heads": heads})
    structure = {
        "format": FORMAT,
        "slots": network.slots.parts,
        "vocabulary": network.vocabulary,
        "positions": network.positions,
        "embedding": parts,
        "features": [
            {"slot": part.slot, "matrix": writer.matrix(f"features.{number}", part.matrix)}
            for number, part in enumerate(network.feature_parts)
        ],
        "layers": layers,
        "readout": _readout_structure(network.readout, writer),
        "about": network.about,
    }
    if network.dual_parts:
        # Left out where there are none, so that files of other networks stay as they were.
        structure["duals"] = [_dual(part, number, writer) for number, part in enumerate(network.dual_parts)]
    return _bytes(writer, structure)


def _bytes(writer: _Writer, structure: dict[str, Any]) -> bytes:
    return save(writer.tensors, metadata={"separatrix": json.dumps(structure, sort_keys=True)})


def _dual(part: DualPart, number: int, writer: _Writer) -> dict[str, Any]:
    sets = part.sets
    cells = isinstance(sets, CellSets)
    return {
        "slot": part.slot,
        "generator": writer.array(f"duals.{number}.generator", part.rule.generator),
        "gain": [part.gain.numerator, part.gain.denominator],
        "sets": "cell" if cells else "window",
        "range": sets.columns if cells else sets.positions,
        "number": sets.first if cells else sets.reach,
    }


def _readout_structure(readout: Readout, writer: _Writer) -> dict[str, Any]:
    sums = readout.power_sums
    extra = {} if sums is None else {"power_sums": [sums.modulus, sums.prime]}
    return {
        "matrix": writer.matrix("readout.matrix", readout.matrix),
        "bias": writer.matrix("readout.bias", readout.bias),
        "decoding": readout.decoding,
        "at": readout.at,
        **extra,
    }


def _recurrent_structure(network: RecurrentNetwork, writer: _Writer) -> dict[str, Any]:
    cell = [
        {
            "weights": writer.matrix(f"cell.{number}.weights", each.weights),
            "bias": writer.matrix(f"cell.{number}.bias", each.bias),
        }
        for number, each in enumerate(network.cell)
    ]
    return {
        "format": RECURRENT_FORMAT,
        "vocabulary": network.vocabulary,
        "positions": network.positions,
        "embedding": writer.matrix("embedding", network.embedding),
        "initial": writer.matrix("initial", network.initial),
        "cell": cell,
        "readout": _readout_structure(network.readout, writer),
        "about": network.about,
    }


def save_network(network: AnyNetwork, path: Path) -> str:
    """Write the network; returns the file's SHA-256.

    >>> import tempfile
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(save_network(built.network, Path(folder) / "network.safetensors"))
    64
    """
    data = to_bytes(network)
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def load_network(path: Path) -> tuple[AnyNetwork, str]:
    """Read a network and its file's SHA-256.

    >>> import tempfile
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = save_network(built.network, Path(folder) / "network.safetensors")
    ...     load_network(Path(folder) / "network.safetensors")[1] == written
    True
    """
    data = read_tensors(path, LARGEST_FILE, "give a network file that separatrix certify wrote")
    return from_bytes(data, str(path)), hashlib.sha256(data).hexdigest()


def from_bytes(data: bytes, name: str) -> AnyNetwork:
    """The network in these bytes; ``name`` stands in messages.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> from_bytes(to_bytes(built.network), "a file") == built.network
    False
    """
    try:
        header = int.from_bytes(data[:8], "little")
        metadata = parse_json(data[8 : 8 + header])["__metadata__"]
        structure = parse_json(metadata["separatrix"])
        if structure["format"] not in (FORMAT, RECURRENT_FORMAT):
            raise SeparatrixError(f"{name} has format {structure['format']!r}; this version reads {FORMAT!r}")
        return (_network if structure["format"] == FORMAT else _recurrent)(structure, load(data))
    except (SafetensorError, ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(
            f"{name} is not a readable network file ({type(error).__name__}); write it again with separatrix certify"
        ) from error


class _Reader:
    """Gives arrays by name and checks what it hands out."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors

    def array(self, name: str, kind: Any) -> Any:
        values = self.tensors[name]
        if values.dtype != kind:
            raise ValueError(f"{name} has type {values.dtype}")
        return values

    def matrix(self, reference: dict[str, Any]) -> ExactMatrix:
        return ExactMatrix(self.array(reference["numerators"], numpy.int64), int(reference["denominator"]))

    def rule(self, reference: dict[str, Any]) -> SignRows | TableRows:
        if reference["kind"] == "signs":
            return SignRows(self.array(reference["generator"], numpy.uint8))
        return TableRows(self.matrix(reference["table"]))

    def readout(self, reference: dict[str, Any]) -> Readout:
        return Readout(
            self.matrix(reference["matrix"]),
            self.matrix(reference["bias"]),
            _choice(reference["decoding"], get_args(Decoding)),
            _choice(reference["at"], ("last", "every")),
            PowerSums(*map(int, reference["power_sums"])) if "power_sums" in reference else None,
        )

    def dual(self, reference: dict[str, Any]) -> DualPart:
        low, high = map(int, reference["range"])
        kind, number = _choice(reference["sets"], ("cell", "window")), int(reference["number"])
        sets: Sets = CellSets((low, high), number) if kind == "cell" else WindowSets(number, (low, high))
        rule = SignRows(self.array(reference["generator"], numpy.uint8))
        return DualPart(str(reference["slot"]), rule, sets, Fraction(*map(int, reference["gain"])))


def _choice(value: str, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise ValueError(f"{value!r} is not one of {allowed}")
    return value


def _recurrent(structure: dict[str, Any], tensors: dict[str, Any]) -> RecurrentNetwork:
    reader = _Reader(tensors)
    return RecurrentNetwork(
        int(structure["vocabulary"]),
        int(structure["positions"]),
        reader.matrix(structure["embedding"]),
        reader.matrix(structure["initial"]),
        tuple(ReluMap(reader.matrix(each["weights"]), reader.matrix(each["bias"])) for each in structure["cell"]),
        reader.readout(structure["readout"]),
        str(structure["about"]),
    )


def _network(structure: dict[str, Any], tensors: dict[str, Any]) -> Network:
    reader = _Reader(tensors)
    embedding = tuple(
        EmbeddingPart(
            part["slot"],
            reader.rule(part["rule"]),
            _choice(part["source"], ("token", "position")),
            (int(part["tokens"][0]), int(part["tokens"][1])),
            (int(part["positions"][0]), int(part["positions"][1])),
            None if part["indices"] is None else reader.array(part["indices"], numpy.int64),
        )
        for part in structure["embedding"]
    )

    def head_of(made: Any, names: tuple[str, ...], head: dict[str, Any]) -> Any:
        matrices = [reader.matrix(head[name]) for name in names]
        mask = {"mask": _choice(head["mask"], ("none", "causal", "strict"))} if made is Head else {}
        return made(*matrices, scoring=_choice(head["scoring"], SCORINGS), **mask)

    layers: list[Layer] = []
    for layer in structure["layers"]:
        residual = bool(layer["residual"])
        if layer["kind"] == "feed-forward":
            layers.append(
                FeedForward(*[reader.matrix(layer[name]) for name in FEED_FORWARD_MATRICES], residual=residual)
            )
            continue
        made, unit, names = HEADS[layer["kind"]]
        heads: Any = tuple(head_of(unit, names, head) for head in layer["heads"])
        layers.append(made(heads, residual))
    return Network(
        Slots(tuple((str(name), int(width)) for name, width in structure["slots"])),
        int(structure["vocabulary"]),
        int(structure["positions"]),
        embedding,
        tuple(layers),
        reader.readout(structure["readout"]),
        str(structure["about"]),
        # Absent in files of networks that read tokens, written before there were others.
        tuple(FeaturePart(part["slot"], reader.matrix(part["matrix"])) for part in structure.get("features", [])),
        tuple(reader.dual(part) for part in structure.get("duals", [])),
    )
