"""One random change to a certificate, and all kinds of changes by name.

Kinds of ``BOUND`` touch the network or the claim, and are judged as if someone had made hash, size and counts of the
certificate fit again; those of ``LOOSE`` leave the other statements as they were.
"""

import random

from tools.mutants.extremes import cut_off, denominator, extreme, unused, weighing
from tools.mutants.network_changes import (
    Change,
    Files,
    attention,
    bias,
    embedding,
    mask,
    readout,
    residual,
    scale,
    shape,
    sign,
    weight,
)

from separatrix.certificates import methods
from separatrix.certificates.certificate import FIELDS
from separatrix.tasks import tasks

NEIGHBOURS = {
    "equality": ("inequality",),
    "dnf": ("cnf",),
    "cnf": ("dnf",),
    "match2": ("match3",),
    "match3": ("match2",),
}


def length(files: Files, chance: random.Random) -> str | None:
    """The claimed length; every second time the network says that it reads so many positions."""
    old = files.certificate["length"]
    by = chance.choice([-2, -1, 1, 2])
    files.certificate["length"] = old + by
    if chance.random() < 0.5:
        files.structure["positions"] += by
    return f"length {old} becomes {old + by}"


def alphabet(files: Files, chance: random.Random) -> str | None:
    """A parameter of the task: its alphabet, modulus, window, margin and so on."""
    parameters = files.certificate["parameters"]
    names = [name for name, value in parameters.items() if value is None or isinstance(value, int | str)]
    if not names:
        return None
    name = chance.choice(names)
    old = parameters[name]
    words = {"equal": "unequal", "unequal": "equal", "sphere": "hypercube", "hypercube": "sphere"}
    if chance.random() < 0.2:
        parameters[name] = chance.choice([None, 1.5, "x", [], {}, -1, 0, 10**30, True, float("nan")])
    elif isinstance(old, bool):
        parameters[name] = not old
    elif isinstance(old, int):
        parameters[name] = old + chance.choice([-1, 1, 2])
    elif old is None:
        parameters[name] = chance.choice([1, 2, 3, 5])
    else:
        parameters[name] = words.get(old, f"{old}1")
    return f"{name} {old} becomes {parameters[name]}"


def arithmetic(files: Files, chance: random.Random) -> str | None:
    """The arithmetic of the claim: other steps, another rounding, floats, the real numbers."""
    old = files.certificate["arithmetic"]
    names = [
        f"fixed:N={size},Kc={exponent},{rounding}{once}"
        for size in (2, 3, 5, 8, 16)
        for exponent in (1, 2, 3)
        for rounding in ("down", "nearest")
        for once in ("", ",once")
    ]
    names += ["float64", "float32", "balls:96"]
    new = chance.choice([name for name in names if name != old])
    files.certificate["arithmetic"] = new
    return f"{old} becomes {new}"


def task(files: Files, chance: random.Random) -> str | None:
    """Another task, with those of the parameters that it has as well."""
    old = files.certificate["task"]
    near = NEIGHBOURS.get(old, ())
    new = (
        chance.choice(near)
        if near and chance.random() < 0.7
        else chance.choice([name for name in tasks() if name != old])
    )
    own, given = tasks()[new].parameters(), files.certificate["parameters"]
    files.certificate |= {"task": new, "parameters": {name: given.get(name, value) for name, value in own.items()}}
    return f"{old} becomes {new}"


def digest(files: Files, chance: random.Random) -> str | None:
    """One digit of the hash."""
    old = files.certificate["sha256"]
    place = chance.randrange(len(old))
    digit = chance.choice([each for each in "0123456789abcdef" if each != old[place]])
    files.certificate["sha256"] = old[:place] + digit + old[place + 1 :]
    return f"digit {place} of the hash"


def field(files: Files, chance: random.Random) -> str | None:
    """A statement of the certificate: left out, of another type, or another number or name."""
    name, how = chance.choice(FIELDS), chance.choice(["left out", "of another type", "another"])
    if how == "left out":
        del files.certificate[name]
        return f"{name} is left out"
    if how == "of another type":
        files.certificate[name] = chance.choice([None, 3, "x", [], {}, True, -1, 1.5, "\x00", 10**30])
        return f"{name} becomes {files.certificate[name]!r}"
    old = files.certificate[name]
    if name == "size":
        part = chance.choice(sorted(old))
        old[part] += chance.choice([-1, 1])
    elif name == "method":
        files.certificate[name] = chance.choice([each for each in methods() if each != old])
    elif isinstance(old, str):
        place = chance.randrange(len(old))
        files.certificate[name] = old[:place] + chance.choice("09xz") + old[place + 1 :]
    elif isinstance(old, int):
        files.certificate[name] = old + chance.choice([-1, 1])
    else:
        files.certificate[name] = {**old, "more": 1}
    return None if name != "size" and files.certificate[name] == old else f"{name} becomes {files.certificate[name]!r}"


BOUND: dict[str, Change] = {
    "weight": weight, "bias": bias, "sign": sign, "scale": scale, "mask": mask, "attention": attention,
    "residual": residual, "embedding": embedding, "readout": readout, "shape": shape, "length": length,
    "alphabet": alphabet, "arithmetic": arithmetic, "task": task, "extreme weight": extreme,
    "extreme denominator": denominator, "cut off": cut_off, "linear or ReLU": weighing, "unused part": unused,
}  # fmt: skip
EXTREMES = ("extreme weight", "extreme denominator", "cut off", "linear or ReLU", "unused part")
LOOSE: dict[str, Change] = {"hash": digest, "field": field}
