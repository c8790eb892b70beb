"""Changes that no accident makes: numbers at the ends of 64 bits and of the range, products that are cut off before
they cancel, parts that nothing seems to read. Ordinary mutants are near a right network; an adversary makes these.
"""

import random
import re
from typing import Any

import numpy
from tools.mutants.network_changes import Files, within

from separatrix.networks.weights import SCORINGS

WORDS = (
    2**63 - 1,
    -(2**63),
    -(2**63),
    -(2**63),
    -(2**63),
    2**62,
    -(2**62),
    2**62 - 1,
    1 - 2**62,
    2**61,
    2**32,
    2**31 + 1,
    -(2**31),
    2**30 + 1,
)
DENOMINATORS = (2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64, 2**61, 2**31, 3**39, 0, -1)


def _scale(files: Files) -> int:
    """The end N^Kc of the claimed range; 2^30 for the reals, whose methods compute on such a grid."""
    found = re.match(r"fixed:N=(\d+),Kc=(\d+)", str(files.certificate["arithmetic"]))
    return int(found[1]) ** int(found[2]) if found else 2**30


def _numbers(files: Files, chance: random.Random, unit: int) -> int:
    """A number at an end: of 64 bits, or of the range and what its square, half and neighbours are."""
    one = _scale(files)
    ends = [
        sign * unit * (each + by)
        for each in (one, one**2, one // 2, 3 * one // 4)
        for by in (-1, 0, 1)
        for sign in (1, -1)
    ]
    return chance.choice([each for each in (*WORDS, *ends, *ends) if -(2**63) <= each < 2**63])


def _matrix(files: Files, chance: random.Random) -> tuple[dict[str, Any], Any] | None:
    reference = chance.choice(list(within(files.structure, "numerators")))
    array = files.tensors[reference["numerators"]]
    return (reference, array) if array.size else None


def extreme(files: Files, chance: random.Random) -> str | None:
    """One weight, or several, at an end of 64 bits or of the range."""
    found = _matrix(files, chance)
    if found is None:
        return None
    reference, array = found
    changes: list[str] = []
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        place = tuple(chance.randrange(size) for size in array.shape)
        array[place] = _numbers(files, chance, int(reference["denominator"]))
        changes.append(f"{reference['numerators']}{list(place)} becomes {int(array[place])}")
    return "; ".join(changes)


def denominator(files: Files, chance: random.Random) -> str | None:
    """A denominator at its limit; every second time the numerators grow with it."""
    found = _matrix(files, chance)
    if found is None:
        return None
    reference, array = found
    old, new = int(reference["denominator"]), chance.choice(DENOMINATORS)
    if chance.random() < 0.5 and new > 0:
        scaled = [each * new // old for each in array.reshape(-1).tolist()]
        kept = [each if -(2**63) <= each < 2**63 else 0 for each in scaled]
        files.tensors[reference["numerators"]] = numpy.array(kept, dtype=numpy.int64).reshape(array.shape)
    reference["denominator"] = new
    return f"the denominator of {reference['numerators']} becomes {new}"


def cut_off(files: Files, chance: random.Random) -> str | None:
    """Entries of one row, or of one column, that are large and cancel unless they are cut off first."""
    found = _matrix(files, chance)
    if found is None:
        return None
    reference, array = found
    axis = chance.randrange(2)
    line = array[chance.randrange(array.shape[0])] if axis else array[:, chance.randrange(array.shape[1])]
    if len(line) < 2:
        return None
    count, large = chance.choice([2, 2, 3, 4]), _numbers(files, chance, int(reference["denominator"]))
    places = [chance.randrange(len(line)) for _ in range(count)]
    for number, place in enumerate(places):
        by = large if number % 2 == 0 else -large
        line[place] = max(-(2**63), min(2**63 - 1, int(line[place]) + by))
    return f"{reference['numerators']} has ±{large} at {places} of one {'row' if axis else 'column'}"


def weighing(files: Files, chance: random.Random) -> str | None:
    """Linear or ReLU attention, every second time with a large weight as well."""
    heads = list(within(files.structure, "scoring"))
    if not heads:
        return None
    head = chance.choice(heads)
    head["scoring"] = chance.choice(["linear", "relu"] if chance.random() < 0.8 else list(SCORINGS))
    more = (extreme if chance.random() < 0.5 else cut_off)(files, chance) if chance.random() < 0.6 else None
    return f"scoring {head['scoring']}; {more or 'no weight'}"


def unused(files: Files, chance: random.Random) -> str | None:
    """A part that reads cells, a slot that overlaps another, more or fewer outputs than answers have bits."""
    structure = files.structure
    if "slots" not in structure:
        return None
    how = chance.choice(["features", "slots", "outputs", "dummy", "outputs"])
    if how == "features":
        slot, width = chance.choice(structure["slots"])
        numbers = chance.choice([0, 1, structure["positions"], structure["positions"]])
        files.tensors["more"] = numpy.array(
            [[chance.choice([0, 0, 1, -1, 2**62, -(2**63)]) for _ in range(numbers)] for _ in range(width)],
            dtype=numpy.int64,
        ).reshape(width, numbers)
        structure["features"].append({"slot": slot, "matrix": {"numerators": "more", "denominator": 1}})
        return f"slot {slot!r} also reads {numbers} numbers of each cell"
    if how == "slots":
        width = chance.choice([1, 2])
        place = chance.randrange(len(structure["slots"]) + 1)
        structure["slots"][place:place] = [["more", -width]]
        structure["slots"].append(["last", width])
        return f"a slot of width {-width} at {place}"
    if how == "dummy":
        parts = [part for part in structure["embedding"] if part["source"] == "token"]
        if not parts:
            return None
        part = chance.choice(parts)
        part["positions"] = chance.choice(
            [[0, 1], [1, structure["positions"]], [-1, structure["positions"]], [0, 10**30]]
        )
        return f"slot {part['slot']!r} has positions {part['positions']}"
    rows = chance.choice([0, 1, 62, 63, 64, 65, 70])
    for name in ("matrix", "bias"):
        array = files.tensors[structure["readout"][name]["numerators"]]
        more = [chance.choice([array[-1:], numpy.zeros_like(array[:1])]) for _ in range(max(0, rows - len(array)))]
        front = chance.random() < 0.7
        kept = [*more, array] if front else [array, *more]
        files.tensors[structure["readout"][name]["numerators"]] = numpy.concatenate(kept)[:rows]
    if rows == 0 and chance.random() < 0.5:
        structure["readout"]["decoding"] = "round"
    return f"{rows} outputs, {structure['readout']['decoding']}"
