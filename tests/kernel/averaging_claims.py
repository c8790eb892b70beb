"""Claims about sums over named sets that an adversary might write: small networks, many of them nearly right.

The code, the factors, the way of values, the arithmetic and the choices are random, some of them extreme.
``python -m tests.kernel.averaging_claims COUNT SEED`` runs a campaign: what the rules accept is run on every input, by
``independent``.
"""

import sys
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

from separatrix_kernel.reading import RefusedError
from tests.kernel.files import File, claimed, joined
from tests.kernel.independent import wrong_input
from tests.kernel.mutants import DENOMINATORS, EXTREME, rules_accept
from tests.kernel.nearest_claims import NAMES, written

PROOF = {"rule": "layers", "statements": [{"kind": "average"}]}
SIMPLEX = [[1, 0, 1], [0, 1, 1]]
"""Four sign vectors of width 3 whose products are all -1."""
ORTHOGONAL = [[0, 1, 0, 1], [0, 0, 1, 1]]
CUBE = [[0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]]


def scaled(size: int, factor: Any) -> list[list[Any]]:
    """A multiple of the identity."""
    return [[factor if row == column else 0 for column in range(size)] for row in range(size)]


def network(
    positions: int, named: int, dimension: int, code: list[list[int]], gain: Any, query: Any = 1, key: Any = 1,
    value: Any = 1, output: Any = 1, readout: Any = None, feature: Any = 1, scoring: str = "softmax",
) -> File:  # fmt: skip
    """The network. The factors multiply the identity."""
    file, width = File(joined('{"__metadata__": {"separatrix": "{}"}}', b"")), len(code[0])
    stream = dimension + 2 * width
    starts = {"value": 0, "asked": dimension, "key": dimension + width}

    def reading(name: str, slot: str, factor: Any) -> dict[str, Any]:
        start, size = starts[slot], dimension if slot == "value" else width
        rows = [[0] * start + row + [0] * (stream - start - size) for row in scaled(size, factor)]
        return written(file, name, rows)

    flat = [bit for row in code for bit in row]
    for name in ("asked", "key"):
        file.tensors[f"{name}.generator"] = ("U8", [len(code), width], list(flat))
    head = {
        "scoring": scoring, "mask": "none",
        "query": reading("query", "asked", query), "key": reading("key", "key", key),
        "value": reading("value", "value", value),
        "output": written(file, "output", scaled(dimension, output) + [[0] * dimension] * (2 * width)),
    }  # fmt: skip
    picked = [[0] * (1 + named) + row for row in scaled(dimension, feature)]
    gain = Fraction(gain)
    file.structure = {
        "format": "separatrix-network-1", "vocabulary": 1, "positions": positions, "about": "",
        "slots": [["value", dimension], ["asked", width], ["key", width]],
        "embedding": [
            {
                "slot": "key", "source": "position", "tokens": [0, 1], "positions": [0, positions], "indices": None,
                "rule": {"kind": "signs", "generator": "key.generator"},
            }
        ],
        "features": [{"slot": "value", "matrix": written(file, "feature", picked)}],
        "duals": [
            {
                "slot": "asked", "generator": "asked.generator", "gain": [gain.numerator, gain.denominator],
                "sets": "cell", "range": [1, 1 + named], "number": 1,
            }
        ],
        "layers": [{"kind": "attention", "residual": False, "heads": [head]}],
        "readout": {
            "matrix": reading("readout", "value", named if readout is None else readout),
            "bias": written(file, "bias", [[0]] * dimension), "decoding": "round", "at": "every",
        },
    }  # fmt: skip
    return file


def stated(positions: int, named: int, dimension: int, norm: int, arithmetic: str) -> dict[str, Any]:
    """A claim."""
    return {
        "format": "separatrix-proof-1", "task": "any", "parameters": {}, "length": 1, "arithmetic": arithmetic,
        "specification": {
            "inputs": [
                {"count": positions * named, "tokens": [0, positions]},
                {"count": positions * dimension, "tokens": [0, 2 * norm + 1]},
            ],
            "answer": {
                "kind": "named-sums", "cells": positions, "named": named, "dimension": dimension, "norm": norm,
            },
        },
        "network": "network.safetensors", "proof": PROOF,
    }  # fmt: skip


SIZES = ((2, 1, 1, 1), (2, 1, 1, 2), (2, 1, 2, 1), (2, 2, 1, 3), (2, 2, 2, 1), (3, 1, 1, 1), (3, 2, 1, 1), (3, 3, 1, 2))
"""Cells, named ones, dimension and norm, with few enough inputs to run all."""


def random_code(positions: int, random: Random) -> list[list[int]]:
    """A generator, mostly of good codes."""
    base = random.choice((SIMPLEX, ORTHOGONAL, CUBE, SIMPLEX, ORTHOGONAL))
    if positions == 2 and random.random() < 0.5:
        base = [[1]] if random.random() < 0.7 else [[1, 1, 0]]
    code = [row * random.choice((1, 1, 1, 2)) if row is base[0] else list(row) for row in base]
    width = max(map(len, code))
    code = [(row * 2)[:width] for row in code]
    if random.random() < 0.15:
        code = [[random.randrange(2) for _ in row] for row in code]
    elif random.random() < 0.3:
        # One more coordinate, perhaps one that tells nothing apart.
        code = [[*row, random.randrange(2)] for row in code]
    return code


def damaged(file: File, random: Random) -> None:
    """One thing of a network changed, in any way."""
    structure, head = file.structure, file.structure["layers"][0]["heads"][0]
    dual, part = structure["duals"][0], structure["embedding"][0]
    kind = random.randrange(12)
    if kind < 4:
        name = random.choice([each for each, tensor in sorted(file.tensors.items()) if tensor[2]])
        form, _, numbers = file.tensors[name]
        place = random.randrange(len(numbers))
        near = (numbers[place] + random.choice((-1, 1)), -numbers[place], 2 * numbers[place])
        other = random.choice((*near, *near, *near, *EXTREME))
        numbers[place] = numbers[place] ^ 1 if form == "U8" else max(-(1 << 63), min((1 << 63) - 1, other))
    elif kind == 4:
        place = random.randrange(len(file.tensors["asked.generator"][2]))
        for name in ("asked.generator", "key.generator"):
            file.tensors[name][2][place] ^= 1
    elif kind == 5:
        matrices = [*[head[name] for name in NAMES], structure["readout"]["matrix"]]
        random.choice(matrices)["denominator"] = random.choice(DENOMINATORS)
    elif kind == 6:
        dual["gain"] = [random.choice((0, 1, -1, -dual["gain"][0], 1 << 62, 2 * dual["gain"][0])), dual["gain"][1]]
    elif kind == 7:
        first, stop = dual["range"]
        moved = random.choice(((-1, -1), (0, 1), (-1, 0), (1, 1)))
        dual["range"] = [first + moved[0], stop + moved[1]]
    elif kind == 8:
        dual["number"] = random.choice((0, 0, 2, -1))
    elif kind == 9:
        head["scoring"] = random.choice(("relu", "hard", "linear", "leftmost", "softmax"))
        head["mask"] = random.choice(("none", "none", "causal", "strict"))
    elif kind == 10:
        name = random.choice(("tokens", "positions"))
        part[name] = [max(0, part[name][0] + random.choice((-1, 0, 1))), part[name][1] + random.choice((0, 1))]
    else:
        layer = structure["layers"][0]
        layer["residual"] = not layer["residual"]


def claim(random: Random) -> tuple[dict[str, Any], bytes]:
    """A small network that may compute the sums, in an arithmetic that may be enough."""
    positions, named, dimension, norm = random.choice(SIZES)
    base, rounding = random.choice((2, 3, 4, 8, 10)), random.choice(("down", "nearest"))
    exponent = random.choice((1, 2, 3, 4, 5)) if base > 3 else random.randint(3, 12)
    code = random_code(positions, random)
    factors = [random.choice((1, 1, 1, 1, 2, 3, Fraction(1, 2), Fraction(5, 3))) for _ in range(2)]
    # About what is needed, from a little too small to enough.
    gain = Fraction(random.randint(6, 60), 4) / factors[0] / factors[1]
    gain *= random.choice((1, 1, 1, 2, 4)) if named < 3 else 2
    ways = [random.choice((1, 1, 1, 2, Fraction(1, 2), 3)) for _ in range(3)]
    total = Fraction(named) / ways[0] / ways[1] / ways[2]
    total *= random.choice((1, 1, 1, 1, 1, Fraction(101, 100), Fraction(9, 10), Fraction(21, 20)))
    file = network(
        positions, named, dimension, code, gain, factors[0], factors[1], ways[0], ways[1], total, ways[2],
        random.choice(("softmax",) * 6 + ("relu",)),
    )  # fmt: skip
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        damaged(file, random)
    data = file.to_bytes()
    arithmetic = f"fixed:N={base},Kc={exponent},{rounding}"
    return claimed(stated(positions, named, dimension, norm, arithmetic), data), data


def campaign(count: int, seed: int) -> Counter[str]:
    """How many claims were refused, and how many of a few of these are right; accepted and right, or wrong."""
    random, found = Random(seed), Counter[str]()
    for number in range(count):
        content, data = claim(random)
        try:
            rules_accept(content, data)
        except RefusedError as refusal:
            found["refused"] += 1
            found[str(refusal)] += 1
            if number % 50 == 0:
                found["refused, looked at"] += 1
                try:
                    found["refused, right"] += wrong_input(content, data) is None
                except (ValueError, IndexError, ZeroDivisionError):
                    found["refused, no network"] += 1
            continue
        found["right" if wrong_input(content, data) is None else "wrong"] += 1
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{dict(campaign(int(sys.argv[1]), int(sys.argv[2])))}\n")
