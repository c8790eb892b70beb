"""Claims about nearest points that an adversary might write: small networks, many of them nearly right.

A network of one coordinate of address compares points of one or two coordinates and fetches a label. Its weights, the
grid of points, the promise and the arithmetic are random, some of them extreme. ``python -m tests.kernel.nearest_claims
COUNT SEED`` runs a campaign: what the rules accept is run on every input, by ``independent``.
"""

import sys
from collections import Counter
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any

from separatrix_kernel.reading import RefusedError
from tests.kernel.files import File, claimed, joined
from tests.kernel.independent import inputs_of, wrong_input
from tests.kernel.mutants import EXTREME, rules_accept

PROOF = {"rule": "layers", "statements": [{"kind": "match"}, {"kind": "feed-forward"}, {"kind": "fetch"}]}
NAMES = ("query", "key", "value", "output")


def written(file: File, name: str, rows: list[list[Any]], columns: int | None = None) -> dict[str, Any]:
    """A matrix of fractions as a tensor."""
    numbers = [Fraction(each) for row in rows for each in row]
    bottom = lcm(*(each.denominator for each in numbers))
    columns = len(rows[0]) if columns is None else columns
    file.tensors[name] = ("I64", [len(rows), columns], [int(each * bottom) for each in numbers])
    return {"numerators": name, "denominator": bottom}


def network(
    points: int, feature: list[list[int]], unit: int, query: list[list[Any]], key: list[list[Any]],
    kinds: tuple[Any, Any] = (8, 1), gain: Any = 8, scoring: str = "softmax", mask: str = "strict", at: str = "every",
) -> File:  # fmt: skip
    """The network. ``feature`` / ``unit`` maps coordinates to the slot ``point``; ``query`` and ``key`` compare those.

    ``kinds`` multiply the kind, 1 of points and -1 of labels, in queries and keys; ``gain`` is of the second layer.
    """
    file, d, size = File(joined('{"__metadata__": {"separatrix": "{}"}}', b"")), len(feature[0]), len(feature)
    width, positions = size + 4, 2 * points - 1
    kind, label, address, found = range(size, width)

    def row(**entries: Any) -> list[Any]:
        held = {"kind": kind, "label": label, "address": address, "found": found}
        named = {held[name]: value for name, value in entries.items()}
        return [named.get(place, 0) for place in range(width)]

    def head(number: int, query: list[Any], key: list[Any], value: list[Any], to: int) -> dict[str, Any]:
        output = [[int(place == to)] for place in range(width)]
        matrices = zip(NAMES, (query, key, [value], output), strict=True)
        named = {
            name: written(file, f"{number}.{name}", rows, width if name != "output" else 1) for name, rows in matrices
        }
        return {"scoring": scoring if number == 0 else "softmax", "mask": mask if number == 0 else "strict", **named}

    def at_start(rows: list[list[Any]], more: list[Any]) -> list[list[Any]]:
        return [[*line, 0, 0, 0, 0] for line in rows] + [more]

    first = head(0, at_start(query, row(kind=kinds[0])), at_start(key, row(kind=kinds[1])), row(address=1), found)
    second = head(2, [row(found=gain), row(kind=gain)], [row(address=1), row(kind=-1)], row(label=1), label)
    # found ↦ σ(4 · found): 1 from 1/4 on, -1 from -1/4 on.
    inner = [row(found=4), row(found=4), row(found=1), row(found=-1)]
    outer = [[0] * 4 for _ in range(width)]
    outer[found] = [1, -1, -1, 1]
    feed = {
        "inner": written(file, "inner", inner), "inner_bias": written(file, "inner_bias", [[1], [-1], [0], [0]]),
        "outer": written(file, "outer", outer),
        "outer_bias": written(file, "outer_bias", [[-int(place == found)] for place in range(width)]),
    }  # fmt: skip
    ranges = {"tokens": [0, 1], "positions": [0, positions], "source": "position", "indices": None}
    sign = [[1 if position // 2 % 2 else -1] for position in range(positions)]
    embedding = [
        {"slot": "kind", "rule": {"kind": "table", "table": written(file, "one", [[1]] * positions)}, **ranges},
        {"slot": "address", "rule": {"kind": "table", "table": written(file, "sign", sign)}, **ranges},
    ]
    scaled = [[0, 0, *line] for line in feature]
    file.tensors["points"] = ("I64", [size, d + 2], [each for line in scaled for each in line])
    features = [
        {"slot": "point", "matrix": {"numerators": "points", "denominator": unit}},
        {"slot": "kind", "matrix": written(file, "kinds", [[-2, 0, *[0] * d]])},
        {"slot": "label", "matrix": written(file, "labels", [[0, 1, *[0] * d]])},
    ]
    file.structure = {
        "format": "separatrix-network-1", "vocabulary": 2, "positions": positions, "about": "",
        "slots": [["point", size], ["kind", 1], ["label", 1], ["address", 1], ["found", 1]],
        "embedding": embedding, "features": features,
        "layers": [
            {"kind": "attention", "residual": True, "heads": [first]},
            {"kind": "feed-forward", "residual": True, **feed},
            {"kind": "attention", "residual": False, "heads": [second]},
        ],
        "readout": {
            "matrix": written(file, "readout", [row(label=1)]), "bias": written(file, "bias", [[0]]),
            "decoding": "bits", "at": at,
        },
    }  # fmt: skip
    return file


def stated(
    points: int, dimension: int, values: tuple[int, int, int], norms: tuple[int, int], ahead: int,
    queries: int | None = None, arithmetic: str = "fixed:N=4,Kc=6,down",
) -> dict[str, Any]:  # fmt: skip
    """The claim that it finds the nearest point; ``values`` are first, step and number of the coordinates."""
    first, step, number = values
    answer = {
        "kind": "nearest", "points": points, "dimension": dimension, "queries": queries or points - 1, "first": first,
        "step": step, "norms": list(norms), "ahead": ahead,
    }  # fmt: skip
    inputs = [{"count": points * dimension, "tokens": [0, number]}, {"count": points - 1, "tokens": [0, 2]}]
    return {
        "format": "separatrix-proof-1", "task": "any", "parameters": {}, "length": 1, "arithmetic": arithmetic,
        "specification": {"inputs": inputs, "answer": answer}, "network": "network.safetensors", "proof": PROOF,
    }  # fmt: skip


def claim(random: Random) -> tuple[dict[str, Any], bytes]:
    """A network that may be right, and what it may be right about."""
    points, d = random.choice((2, 3, 3, 3)), random.choice((1, 1, 2))
    number = random.choice((2, 3, 4, 5)) if d == 1 else random.choice((2, 2, 3)) if points == 2 else 2
    first, step = random.choice((-2, -1, -1, 0, 1, -3)), random.choice((1, 1, 2, 3))
    most = d * max(first**2, (first + step * (number - 1)) ** 2)
    high = random.choice((most, random.randint(0, most)))
    norms = (random.choice((0, random.randint(0, high))), high)
    ahead = random.randint(1, max(1, min(high, 6)))
    base, rounding = random.choice((2, 3, 4, 8, 10)), random.choice(("down", "nearest"))
    exponent = random.choice((1, 2, 3, 4, 5)) if base > 3 else random.randint(3, 9)
    # Two maps of the plane that are multiples of a rotation, or the points themselves.
    feature: list[list[int]] = [[int(i == j) for j in range(d)] for i in range(d)]
    if d == 2 and random.random() < 0.4:
        feature = random.choice(([[1, 1], [1, -1]], [[2, 1], [-1, 2]], [[0, 3], [3, 0]]))
    unit = random.choice((1, 1, 1, 2, 3, 4, 7, 16))
    size = len(feature)
    # What the nearest point needs to be ahead by, about, and half to twice of that.
    wanted = Fraction(random.randint(4, 40), 8)
    scale = wanted * unit * unit / ahead / sum(each * each for each in feature[0])
    scale = Fraction(round(16 * scale) or 1, 16)
    query = [[scale if i == j else 0 for j in range(size)] for i in range(size)]
    held = random.choice((1, 1, 1, 2, Fraction(1, 3)))
    key = [[held if i == j else 0 for j in range(size)] for i in range(size)]
    kinds = random.choice(((8, 1), (30, 1), (2, 2), (Fraction(1, 2), 1), (16, 4), (3, 1)))
    changed = network(
        points, feature, unit, query, key, kinds, random.choice((2, 4, 8, 8, 8)),
        random.choice((*("softmax",) * 8, "hard", "hard", "leftmost", "linear", "relu")),
        random.choice((*("strict",) * 12, "causal", "none")),
    )  # fmt: skip
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        numbers = changed.tensors[random.choice(sorted(changed.tensors))][2]
        place = random.randrange(len(numbers))
        near = (numbers[place] + random.choice((-1, 1)), -numbers[place], 2 * numbers[place])
        numbers[place] = max(-(1 << 63), min((1 << 63) - 1, random.choice((*near, *near, *near, *EXTREME))))
    if random.random() < 0.1:
        matrix = random.choice(changed.structure["features"])["matrix"]
        matrix["denominator"] = random.choice((1, 2, 3, (1 << 31) + 1, (1 << 62) - 1))
    data = changed.to_bytes()
    arithmetic = f"fixed:N={base},Kc={exponent},{rounding}"
    content = stated(points, d, (first, step, number), norms, ahead, random.randint(1, points - 1), arithmetic)
    return claimed(content, data), data


def campaign(count: int, seed: int) -> Counter[str]:
    """How many claims were refused, and how many of a few of these are right; accepted and right, wrong or empty."""
    random, found = Random(seed), Counter[str]()
    for number in range(count):
        content, data = claim(random)
        try:
            rules_accept(content, data)
        except RefusedError:
            found["refused"] += 1
            if number % 20 == 0:
                found["refused, looked at"] += 1
                found["refused, right"] += wrong_input(content, data) is None
            continue
        if next(iter(inputs_of(content["specification"])), None) is None:
            found["empty"] += 1
            continue
        found["right" if wrong_input(content, data) is None else "wrong"] += 1
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{dict(campaign(int(sys.argv[1]), int(sys.argv[2])))}\n")
