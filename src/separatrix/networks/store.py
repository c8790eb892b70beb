"""Networks on disk: one safetensors file whose header holds the structure as JSON. No pickle, no code.

Every array of the network becomes a tensor; the structure (slots, layers, where each array belongs) is JSON in the
file's metadata. Reading checks everything it uses: a corrupt, truncated or foreign file ends in one line.
"""

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load, save

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.networks.decoding import PowerSums
from separatrix.networks.dual import CellSets, DualPart
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

Plain = TypeVar("Plain", int, str, bool)

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
    """Return the file's content; the same network gives the same bytes."""
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
    return {
        "slot": part.slot,
        "generator": writer.array(f"duals.{number}.generator", part.rule.generator),
        "gain": [part.gain.numerator, part.gain.denominator],
        "sets": "cell",
        "range": part.sets.columns,
        "number": part.sets.first,
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
    """Write the network; returns the file's SHA-256."""
    data = to_bytes(network)
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def load_network(path: Path) -> tuple[AnyNetwork, str]:
    """Read a network and its file's SHA-256."""
    data = read_tensors(path, LARGEST_FILE, "give a network file that separatrix certify wrote")
    return from_bytes(data, str(path)), hashlib.sha256(data).hexdigest()


def from_bytes(data: bytes, name: str) -> AnyNetwork:
    """Return the network in these bytes; ``name`` is in messages."""
    try:
        header = int.from_bytes(data[:8], "little")
        metadata = _fields(parse_json(data[8 : 8 + header])["__metadata__"], "the metadata", ("separatrix",))
        structure = parse_json(metadata["separatrix"])
        if structure["format"] not in (FORMAT, RECURRENT_FORMAT):
            raise SeparatrixError(f"{name} has format {structure['format']!r}; this version reads {FORMAT!r}")
        reader = _Reader(load(data))
        network = (_network if structure["format"] == FORMAT else _recurrent)(structure, reader)
        unread = sorted(reader.tensors.keys() - reader.read)
        if unread:
            raise _MisfitError(f"nothing reads the array {unread[0]!r}")
        return network
    except _MisfitError as error:
        reason = f"{name} is not a readable network file: {error}"
        raise SeparatrixError(f"{reason}; write it again with separatrix certify") from error
    except (SafetensorError, ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(
            f"{name} is not a readable network file ({type(error).__name__}); write it again with separatrix certify"
        ) from error


class _MisfitError(ValueError):
    """What is in a file and is not of the format: named, so that a person finds it."""


def _fields(value: Any, what: str, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an object with exactly these fields: one that is not known would be a claim that nobody checks."""
    if not isinstance(value, dict):
        raise _MisfitError(f"{what} is not an object")
    entries = cast("dict[str, Any]", value)
    unknown = [name for name in entries if name not in (*names, *optional)]
    missing = [name for name in names if name not in entries]
    if unknown or missing:
        reason = f"the unknown field {unknown[0][:40]!r}" if unknown else f"no field {missing[0]!r}"
        raise _MisfitError(f"{what} has {reason}")
    return entries


def _kind(value: Any, kind: type[Plain], what: str) -> Plain:
    """Return a value of the kind itself: in JSON true is not a number, nor 8.0 an integer, nor "false" false."""
    if type(value) is not kind:
        raise _MisfitError(f"{what} is {str(value)[:40]!r}; it must be of type {kind.__name__}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    return cast("list[Any]", _kind(value, list, what))  # type: ignore[type-var]


def _pair(value: Any, what: str) -> tuple[int, int]:
    """Return two whole numbers."""
    numbers = _list(value, what)
    if len(numbers) != 2:
        raise _MisfitError(f"{what} has {len(numbers)} numbers, not two")
    return _kind(numbers[0], int, what), _kind(numbers[1], int, what)


class _Reader:
    """Gives arrays by name and checks what it hands out; ``read`` are the names so far."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors, self.read = tensors, set[str]()

    def array(self, name: Any, kind: Any) -> Any:
        if _kind(name, str, "the name of an array") not in self.tensors:
            raise _MisfitError(f"there is no array {name[:40]!r}")
        values = self.tensors[name]
        if values.dtype != kind:
            raise _MisfitError(f"the array {name!r} is of type {values.dtype}")
        self.read.add(name)
        return values

    def matrix(self, reference: Any) -> ExactMatrix:
        fields = _fields(reference, "a matrix", ("numerators", "denominator"))
        denominator = _kind(fields["denominator"], int, "a denominator")
        return ExactMatrix(self.array(fields["numerators"], numpy.int64), denominator)

    def rule(self, reference: Any) -> SignRows | TableRows:
        if _choice(dict(reference).get("kind"), ("signs", "table")) == "signs":
            fields = _fields(reference, "a rule of signs", ("kind", "generator"))
            return SignRows(self.array(fields["generator"], numpy.uint8))
        return TableRows(self.matrix(_fields(reference, "a rule of a table", ("kind", "table"))["table"]))

    def readout(self, reference: Any) -> Readout:
        fields = _fields(reference, "the readout", ("matrix", "bias", "decoding", "at"), ("power_sums",))
        return Readout(
            self.matrix(fields["matrix"]),
            self.matrix(fields["bias"]),
            _choice(fields["decoding"], get_args(Decoding)),
            _choice(fields["at"], ("last", "every")),
            PowerSums(*_pair(fields["power_sums"], "power_sums")) if "power_sums" in fields else None,
        )

    def dual(self, reference: Any) -> DualPart:
        fields = _fields(reference, "a dual part", ("slot", "generator", "gain", "sets", "range", "number"))
        low, high = _pair(fields["range"], "the range of a dual part")
        number = _kind(fields["number"], int, "the number of a dual part")
        _choice(fields["sets"], ("cell",))
        rule = SignRows(self.array(fields["generator"], numpy.uint8))
        gain = Fraction(*_pair(fields["gain"], "the gain of a dual part"))
        return DualPart(_kind(fields["slot"], str, "a slot"), rule, CellSets((low, high), number), gain)

    def part(self, reference: Any) -> EmbeddingPart:
        names = ("slot", "source", "tokens", "positions", "rule", "indices")
        fields = _fields(reference, "a part of the embedding", names)
        return EmbeddingPart(
            _kind(fields["slot"], str, "a slot"),
            self.rule(fields["rule"]),
            _choice(fields["source"], ("token", "position")),
            _pair(fields["tokens"], "the tokens of a part"),
            _pair(fields["positions"], "the positions of a part"),
            None if fields["indices"] is None else self.array(fields["indices"], numpy.int64),
        )

    def feature(self, reference: Any) -> FeaturePart:
        fields = _fields(reference, "a part that reads cells", ("slot", "matrix"))
        return FeaturePart(_kind(fields["slot"], str, "a slot"), self.matrix(fields["matrix"]))


def _choice(value: Any, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise _MisfitError(f"{str(value)[:40]!r} is given where one of {', '.join(allowed)} is expected")
    return value


def _recurrent(structure: dict[str, Any], reader: _Reader) -> RecurrentNetwork:
    names = ("format", "vocabulary", "positions", "embedding", "initial", "cell", "readout", "about")
    structure = _fields(structure, "the network", names)
    cell = [_fields(each, "a map of the cell", ("weights", "bias")) for each in _list(structure["cell"], "the cell")]
    return RecurrentNetwork(
        _kind(structure["vocabulary"], int, "the vocabulary"),
        _kind(structure["positions"], int, "the number of positions"),
        reader.matrix(structure["embedding"]),
        reader.matrix(structure["initial"]),
        tuple(ReluMap(reader.matrix(each["weights"]), reader.matrix(each["bias"])) for each in cell),
        reader.readout(structure["readout"]),
        _kind(structure["about"], str, "what the network is about"),
    )


def _network(structure: dict[str, Any], reader: _Reader) -> Network:
    names = ("format", "slots", "vocabulary", "positions", "embedding", "layers", "readout", "about")
    # Features are absent in files of networks that read tokens, written before there were others.
    structure = _fields(structure, "the network", names, ("features", "duals"))
    embedding = tuple(reader.part(part) for part in _list(structure["embedding"], "the embedding"))

    def head_of(made: Any, names: tuple[str, ...], head: Any) -> Any:
        head = _fields(head, "a head", ("scoring", *(("mask",) if made is Head else ()), *names))
        matrices = [reader.matrix(head[name]) for name in names]
        mask = {"mask": _choice(head["mask"], ("none", "causal", "strict"))} if made is Head else {}
        return made(*matrices, scoring=_choice(head["scoring"], SCORINGS), **mask)

    layers: list[Layer] = []
    for given in _list(structure["layers"], "the layers"):
        forward = dict(given).get("kind") == "feed-forward"
        layer = _fields(given, "a layer", ("kind", "residual", *(FEED_FORWARD_MATRICES if forward else ("heads",))))
        residual = _kind(layer["residual"], bool, "the residual of a layer")
        if forward:
            layers.append(
                FeedForward(*[reader.matrix(layer[name]) for name in FEED_FORWARD_MATRICES], residual=residual)
            )
            continue
        made, unit, names = HEADS[_choice(layer["kind"], tuple(HEADS))]
        heads: Any = tuple(head_of(unit, names, head) for head in _list(layer["heads"], "the heads of a layer"))
        layers.append(made(heads, residual))
    return Network(
        Slots(tuple(_slot(each) for each in _list(structure["slots"], "the slots"))),
        _kind(structure["vocabulary"], int, "the vocabulary"),
        _kind(structure["positions"], int, "the number of positions"),
        embedding,
        tuple(layers),
        reader.readout(structure["readout"]),
        _kind(structure["about"], str, "what the network is about"),
        tuple(reader.feature(part) for part in _list(structure.get("features", []), "the features")),
        tuple(reader.dual(part) for part in _list(structure.get("duals", []), "the dual parts")),
    )


def _slot(value: Any) -> tuple[str, int]:
    parts = _list(value, "a slot")
    if len(parts) != 2:
        raise _MisfitError("a slot is not a name and a width")
    return _kind(parts[0], str, "the name of a slot"), _kind(parts[1], int, "the width of a slot")
