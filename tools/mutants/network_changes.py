"""One random change to a network, where it is stored: in the structure and the arrays of its file.

So what cannot be read any more counts as well. Every kind of change has one function; it changes its copy in place and
says what it did, or gives None where the network has nothing of the kind.
"""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy
from safetensors.numpy import load, save

from separatrix.networks.weights import SCORINGS

CONSTANTS = ("bias", "initial", "dummy")
MASKS = ("none", "causal", "strict")
DECODINGS = ("bits", "argmax", "exact", "round", "power-sums")


@dataclass
class Files:
    """The two files of a certificate, taken apart: the network's structure and arrays, the certificate's statements."""

    structure: dict[str, Any]
    tensors: dict[str, Any]
    certificate: dict[str, Any]

    @classmethod
    def of(cls, network: bytes, certificate: str) -> "Files":
        """From the content of the files."""
        header = int.from_bytes(network[:8], "little")
        structure = json.loads(json.loads(network[8 : 8 + header])["__metadata__"]["separatrix"])
        return cls(structure, load(network), json.loads(certificate))

    def copy(self) -> "Files":
        """Files of their own."""
        return deepcopy(self)

    def network(self) -> bytes:
        """The network file."""
        tensors = {name: numpy.ascontiguousarray(each) for name, each in self.tensors.items()}
        return save(tensors, metadata={"separatrix": json.dumps(self.structure, sort_keys=True)})


Change = Callable[[Files, random.Random], str | None]


def within(structure: Any, key: str) -> Iterator[dict[str, Any]]:
    """All dictionaries of a structure that have a key."""
    if isinstance(structure, dict):
        if key in structure:
            yield structure
        for value in structure.values():
            yield from within(value, key)
    elif isinstance(structure, list):
        for value in structure:
            yield from within(value, key)


def _matrices(files: Files, constants: bool | None) -> list[dict[str, Any]]:
    """References to matrices: those of constants, those of other weights, or all."""
    found = list(within(files.structure, "numerators"))
    if constants is None:
        return found
    return [each for each in found if any(word in each["numerators"] for word in CONSTANTS) == constants]


def _entry(array: Any, chance: random.Random, only_nonzero: bool = False) -> tuple[int, ...] | None:
    """A place in an array; every second one is a weight that is not 0, of which there are few."""
    if only_nonzero or chance.random() < 0.5:
        places = numpy.argwhere(array)
        if len(places):
            return tuple(places[chance.randrange(len(places))].tolist())
        if only_nonzero:
            return None
    return tuple(chance.randrange(size) for size in array.shape) if array.size else None


def _number(files: Files, chance: random.Random, constants: bool) -> str | None:
    choices = _matrices(files, constants)
    if not choices:
        return None
    reference = chance.choice(choices)
    name, unit = reference["numerators"], int(reference["denominator"])
    array = files.tensors[name]
    place = _entry(array, chance)
    if place is None:
        return None
    old = int(array[place])
    new = chance.choice(
        [
            value
            for value in (
                0,
                -1,
                1,
                2 * old,
                old // 2,
                old - unit,
                old + unit,
                old + 1,
                old - 1,
                old + 2 * unit,
                9 * old,
            )
            if value != old
        ]
    )
    array[place] = max(-(2**62), min(2**62, new))
    return f"{name}{list(place)}: {old} becomes {new} of 1/{unit}"


def weight(files: Files, chance: random.Random) -> str | None:
    """A weight, an entry of an embedding or a score."""
    return _number(files, chance, False)


def bias(files: Files, chance: random.Random) -> str | None:
    """A bias, an initial state or the dummy's score."""
    return _number(files, chance, True)


def sign(files: Files, chance: random.Random) -> str | None:
    """The sign of a weight, or one bit of the generator of a sign code."""
    generators = sorted(name for name in files.tensors if name.endswith("generator"))
    if generators and chance.random() < 0.5:
        name = chance.choice(generators)
        place = _entry(files.tensors[name], chance)
        if place is not None:
            files.tensors[name][place] ^= 1
            return f"{name}{list(place)} is flipped"
    name = chance.choice(_matrices(files, None))["numerators"]
    place = _entry(files.tensors[name], chance, only_nonzero=True)
    if place is None:
        return None
    files.tensors[name][place] *= -1
    return f"{name}{list(place)} is negated"


def scale(files: Files, chance: random.Random) -> str | None:
    """All entries of a matrix, or the gain of dual certificates, by one factor."""
    factor = chance.choice([(1, 2), (2, 1), (2, 3), (10, 9), (8, 1), (1, 8)])
    duals = files.structure.get("duals", [])
    if duals and chance.random() < 0.3:
        gain = chance.choice(duals)["gain"]
        gain[:] = [gain[0] * factor[0], gain[1] * factor[1]]
        return f"the gain of a dual certificate times {factor[0]}/{factor[1]}"
    reference = chance.choice(_matrices(files, None))
    array = files.tensors[reference["numerators"]]
    if not array.any() or int(numpy.abs(array).max()) * factor[0] >= 2**62:
        return None
    files.tensors[reference["numerators"]] = array * factor[0]
    reference["denominator"] = int(reference["denominator"]) * factor[1]
    return f"{reference['numerators']} times {factor[0]}/{factor[1]}"


def _other(files: Files, chance: random.Random, key: str, choices: tuple[Any, ...]) -> str | None:
    """Another one of some choices wherever the structure has a key."""
    found = list(within(files.structure, key))
    if not found:
        return None
    place = chance.choice(found)
    old, place[key] = place[key], chance.choice([each for each in choices if each != place[key]])
    return f"{key} {old} becomes {place[key]}"


def mask(files: Files, chance: random.Random) -> str | None:
    """The mask of a head."""
    return _other(files, chance, "mask", MASKS)


def attention(files: Files, chance: random.Random) -> str | None:
    """The kind of attention of a head."""
    return _other(files, chance, "scoring", SCORINGS)


def residual(files: Files, chance: random.Random) -> str | None:
    """Whether a layer has a residual."""
    return _other(files, chance, "residual", (True, False))


def readout(files: Files, chance: random.Random) -> str | None:
    """Where and how answers are read."""
    sums = files.structure["readout"].get("power_sums")
    if sums is not None and chance.random() < 0.5:
        place = chance.randrange(2)
        sums[place] += chance.choice([-2, -1, 1, 2, 6])
        return f"power sums of {sums}"
    if chance.random() < 0.5:
        return _other(files, chance, "at", ("last", "every"))
    return _other(files, chance, "decoding", DECODINGS)


def embedding(files: Files, chance: random.Random) -> str | None:
    """The tokens or positions of a part of the embedding, one of its indices, or where sets are read."""
    duals, parts = files.structure.get("duals", []), files.structure["embedding"]
    if duals and chance.random() < 0.3:
        part = chance.choice(duals)
        if chance.random() < 0.5:
            part["number"] += chance.choice([-1, 1])
        else:
            part["range"][chance.randrange(2)] += chance.choice([-1, 1])
        return f"sets are {part['range']}, {part['number']}"
    if not isinstance(parts, list) or not parts:
        return None
    part = chance.choice(parts)
    indices = part["indices"]
    if indices is not None and chance.random() < 0.5:
        array = files.tensors[indices]
        place = chance.randrange(len(array))
        array[place] += chance.choice([-1, 1, 2])
        return f"{indices}[{place}] becomes {int(array[place])}"
    key = chance.choice(["tokens", "positions"])
    end, by = chance.randrange(2), chance.choice([-1, 1])
    part[key][end] += by
    return f"slot {part['slot']!r} has {key} {part[key]}"


def shape(files: Files, chance: random.Random) -> str | None:
    """A row or column more or less, another width of a slot, a layer, head or part less, another size of the input."""
    structure = files.structure
    options = ["array", "vocabulary", "positions"] + [
        key for key in ("slots", "layers", "embedding", "cell") if isinstance(structure.get(key), list)
    ]
    what = chance.choice(options)
    if what in ("vocabulary", "positions"):
        structure[what] += chance.choice([-1, 1])
        return f"{what} becomes {structure[what]}"
    if what == "slots":
        slot = chance.choice(structure["slots"])
        slot[1] += chance.choice([-1, 1])
        return f"slot {slot[0]!r} has width {slot[1]}"
    if what != "array":
        entries = structure[what]
        heads = [entry["heads"] for entry in entries if "heads" in entry]
        listed = chance.choice(heads) if heads and chance.random() < 0.3 else entries
        if not listed:
            return None
        if chance.random() < 0.5:
            listed.pop(chance.randrange(len(listed)))
            return f"one of {what} is left out"
        listed.append(deepcopy(chance.choice(listed)))
        return f"one of {what} is there twice"
    name = chance.choice(sorted(files.tensors))
    array = files.tensors[name]
    axis = chance.randrange(array.ndim)
    how = chance.choice(["less", "more", "turned"])
    if how == "less":
        files.tensors[name] = numpy.delete(array, -1, axis=axis) if array.shape[axis] else array
    elif how == "more":
        files.tensors[name] = numpy.concatenate([array, numpy.zeros_like(array.take([0], axis=axis))], axis=axis)
    else:
        files.tensors[name] = array.T
    return f"{name} is {files.tensors[name].shape} instead of {array.shape}"
