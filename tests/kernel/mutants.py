"""Networks that an adversary might write: small constructions with numbers or choices replaced, ordinary or extreme.

``python -m tests.kernel.mutants COUNT SEED [NAME …]`` runs a campaign: whatever the kernel accepts is run on every
input, by ``independent``. With names only these constructions are changed.
"""

import sys
from collections import Counter
from collections.abc import Container
from random import Random
from typing import Any

from separatrix_kernel.network import Reader
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.rules import Claim
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import wrong_input

EXTREME = (0, 1, -1, 2, 3, -5, 7, 1 << 20, 1 << 31, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63))
DENOMINATORS = (1, 2, 3, 1000, (1 << 31) + 1, (1 << 62) - 1)
BASES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("index-lookup", 2, {"alphabet": 3}),
    ("index-lookup", 3, {"alphabet": 2}),
    ("index-lookup", 4, {"alphabet": 2}),
    ("equality", 2, {"alphabet": 3}),
    ("equality", 4, {}),
    ("equality", 6, {}),
    ("equality-partition", 4, {"alice": "1,4"}),
    ("majority", 3, {}),
    ("majority", 4, {}),
    ("dnf", 4, {"sparsity": 2}),
    ("cnf", 4, {"sparsity": 2}),
    ("disjointness", 4, {}),
    ("dyck-rnn", 4, {"types": 1, "depth": 2}),
    ("dyck-rnn", 4, {}),
    ("dyck-dfa", 4, {"types": 1, "depth": 2}),
    ("dyck-transformer", 4, {"types": 1, "depth": 2}),
    ("dyck-transformer", 4, {"types": 2, "depth": 1}),
    ("dyck-transformer", 6, {"types": 1, "depth": 3}),
    ("dyck-transformer", 4, {"types": 2, "depth": 3}),
    ("associative-recall", 2, {"keys": 3}),
    ("associative-recall", 3, {"keys": 3}),
    ("mqar", 4, {"keys": 3}),
    ("mqar", 6, {"keys": 3}),
    ("match2", 2, {"modulus": 5}),
    ("match2", 3, {"modulus": 4}),
    ("match2-code", 3, {"modulus": 4}),
    ("match2-code", 2, {"modulus": 7}),
    ("match3-last", 3, {"modulus": 4}),
    ("match3-last", 4, {"modulus": 3}),
    ("match3", 2, {"modulus": 5}),
    ("match3", 3, {"modulus": 4}),
    ("match3-heads", 2, {"modulus": 5}),
    ("match3-heads", 3, {"modulus": 4}),
    ("match3-local", 3, {"modulus": 2, "window": 1}),
    ("match3-local", 4, {"modulus": 2, "window": 1}),
    ("match3-local", 3, {"modulus": 4, "window": 1}),
    ("directed-3-cycle", 3, {}),
    ("nearest-neighbour", 2, {"points": "hypercube", "dimension": 2}),
    ("nearest-neighbour", 4, {"points": "hypercube", "dimension": 1, "margin": "1"}),
    ("nearest-neighbour", 4, {"points": "hypercube", "dimension": 2, "margin": "1"}),
)
CHOICES = {
    "scoring": ("softmax", "hard", "leftmost", "linear", "relu"),
    "mask": ("none", "causal", "strict"),
    "decoding": ("bits", "argmax", "exact", "power-sums"),
    "source": ("token", "position"),
    "residual": (True, False),
}


def changed_number(file: File, random: Random) -> None:
    """Another value for one entry of one tensor."""
    name = random.choice(sorted(file.tensors))
    kind, _, numbers = file.tensors[name]
    if not numbers:
        return
    place = random.randrange(len(numbers))
    if kind == "U8":
        numbers[place] ^= 1
    elif name.endswith("indices"):
        numbers[place] = random.randrange(max(numbers) + 1)
    else:
        near = numbers[place] + random.choice((-2, -1, 1, 2))
        numbers[place] = random.choice((*EXTREME, near, near, near, -numbers[place], 2 * numbers[place]))
        numbers[place] = max(-(1 << 63), min((1 << 63) - 1, numbers[place]))


def changed_choice(file: File, random: Random) -> None:
    """Another value for one choice of the structure, wherever it is, or another denominator or range."""
    found: list[tuple[dict[str, Any], str]] = []
    left: list[Any] = [file.structure]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            found += [
                (each, name) for name in each if name in CHOICES or name in ("denominator", "tokens", "positions")
            ]
            left += each.values()
        elif isinstance(each, list):
            left += each
    holder, name = random.choice(found)
    if name in CHOICES:
        holder[name] = random.choice(CHOICES[name])
    elif name == "denominator":
        holder[name] = random.choice(DENOMINATORS)
    elif isinstance(holder[name], list):
        first, stop = holder[name]
        holder[name] = sorted((max(0, first + random.randint(-1, 1)), max(0, stop + random.randint(-1, 1))))


def scaled_rows(file: File, random: Random) -> None:
    """All numbers of a tensor times a factor: extreme, but often right."""
    kind, _, numbers = file.tensors[random.choice([name for name in sorted(file.tensors) if "denom" not in name])]
    factor = random.choice((2, 3, 16, 1 << 20, 1 << 50))
    if kind == "I64" and max(map(abs, numbers), default=0) * factor < 1 << 63:
        numbers[:] = [factor * each for each in numbers]


def changed_claim(content: dict[str, Any], random: Random) -> dict[str, Any]:
    """Another rounding, another range, or other places in the proof."""
    content = {**content}
    if random.random() < 0.3:
        base = random.choice((2, 3, 4, 5, 8, 16))
        content["arithmetic"] = f"fixed:N={base},Kc={random.randint(1, 4)},{random.choice(('down', 'nearest'))}"
    if "age" in content["proof"] and random.random() < 0.3:
        content["proof"] = {"rule": "prefixes", "age": random.sample(range(3), random.randint(0, 3))}
    if "ahead" in content["specification"]["answer"] and random.random() < 0.3:
        content["specification"] = other_points(content["specification"], random)
    statements = content["proof"].get("statements")
    if statements and "places" in statements[0] and random.random() < 0.3:
        places = statements[0]["places"]
        positions = sum(run["count"] for run in content["specification"]["inputs"])
        places[random.randrange(len(places))] = random.sample(range(positions), random.randint(0, 2))
    return content


def other_points(specification: dict[str, Any], random: Random) -> dict[str, Any]:
    """Points on another grid, with other norms and another margin."""
    (coordinates, labels), answer = specification["inputs"], specification["answer"]
    number = random.choice((2, 3) if coordinates["count"] < 8 else (2,))
    first, step = random.choice((-2, -1, -1, 0, 1, 5)), random.choice((1, 1, 2, 3))
    most = answer["dimension"] * max(first**2, (first + step * (number - 1)) ** 2)
    low, high = sorted(random.choices(range(most + 1), k=2))
    return {
        "inputs": [{**coordinates, "tokens": [0, number]}, labels],
        "answer": {
            **answer, "first": first, "step": step, "norms": [random.choice((0, low)), random.choice((high, most))],
            "ahead": random.randint(1, max(1, high)), "queries": random.randint(1, answer["points"] - 1),
        },
    }  # fmt: skip


def mutant(base: tuple[dict[str, Any], File], random: Random) -> tuple[dict[str, Any], bytes]:
    """A changed network with a proof that might fit it."""
    content, file = base[0], base[1].copy()
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice((changed_number, changed_number, changed_choice, scaled_rows))(file, random)
    data = file.to_bytes()
    return changed_claim(claimed(content, data), random), data


def rules_accept(content: dict[str, Any], data: bytes) -> None:
    """Apply the rules alone, without the last net, which could hide that a rule is wrong."""
    numbers = Numbers(content["arithmetic"])
    Claim(Reader(data, numbers).network(), *read_specification(content["specification"]), numbers).prove(
        content["proof"]
    )


def campaign(count: int, seed: int, names: Container[str] | None = None) -> Counter[str]:
    """How many mutants were refused, accepted and right, accepted and wrong; of some constructions, or of all."""
    random, found = Random(seed), Counter[str]()
    chosen = [base for base in BASES if names is None or base[0] in names]
    bases = [(content, File(data)) for content, data in (proved(*base) for base in chosen)]
    for _ in range(count):
        content, data = mutant(random.choice(bases), random)
        try:
            rules_accept(content, data)
        except RefusedError:
            found["refused"] += 1
            continue
        found["right" if wrong_input(content, data) is None else "wrong"] += 1
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{dict(campaign(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or None))}\n")
