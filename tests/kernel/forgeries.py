"""Claims that an adversary might write from nothing: small random networks, and what they compute or almost compute.

The true function of each network comes from ``independent``. Half of the claims state that function, the others change
it where some input notices. The kernel may refuse what it likes, but what it accepts must be right.
``python -m tests.kernel.forgeries COUNT SEED`` runs a campaign of these claims.
"""

import json
import sys
from collections import Counter
from itertools import pairwise, product
from random import Random
from typing import Any

from separatrix_kernel import attention
from separatrix_kernel.reading import RefusedError
from tests.kernel.files import File, claimed, joined
from tests.kernel.independent import Slow, inputs_of, right_answer, wrong_input
from tests.kernel.mutants import rules_accept

ORDINARY = (0, 0, 0, 1, 1, 1, -1, -1, 2, -2, 3, 4, -5)
EXTREME = (1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 1 << 62, 97)
MOST_INPUTS = 48


class Writer:
    """Writes a network file from nothing."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.file = File(joined('{"__metadata__": {"separatrix": "{}"}}', b""))
        self.extreme = 0.1 * random.random() ** 2

    def tensor(self, kind: str, shape: list[int], numbers: list[int]) -> str:
        """The name of a new tensor."""
        name = f"tensor{len(self.file.tensors)}"
        self.file.tensors[name] = (kind, shape, numbers)
        return name

    def number(self) -> int:
        """A weight's numerator."""
        return self.random.choice(EXTREME if self.random.random() < self.extreme else ORDINARY)

    def matrix(self, rows: int, columns: int, within: list[int] | None = None) -> dict[str, Any]:
        """A matrix of random weights, perhaps only in some columns."""
        numbers = [
            self.number() if within is None or column in within else 0 for _ in range(rows) for column in range(columns)
        ]
        denominator = self.random.choice((1, 1, 1, 2, 3, 4, 16, 1 << 62) if self.extreme else (1, 1, 2))
        return {"numerators": self.tensor("I64", [rows, columns], numbers), "denominator": denominator}

    def chosen(self, rows: int, columns: int, start: int) -> dict[str, Any]:
        """Coordinates from ``start`` on, times one factor."""
        factor, kept = self.number() or 1, [row + start for row in range(rows)]
        numbers = [factor * (column == place) for place in kept for column in range(columns)]
        return {"numerators": self.tensor("I64", [rows, columns], numbers), "denominator": 1}

    def part(self, slot: str, width: int, by: str, tokens: int, positions: int) -> dict[str, Any]:
        """A part of the embedding, mostly of all tokens and positions."""
        random = self.random
        reach = {"token": tokens, "position": positions}
        ends = {
            name: sorted(random.choices(range(size + 2), k=2)) if random.random() < 0.15 else [0, size]
            for name, size in reach.items()
        }
        needed = ends[by][1] - ends[by][0]
        indices = None
        if random.random() < 0.5:
            rows = max(1, needed)
            rule: dict[str, Any] = {"kind": "table", "table": self.matrix(rows, width)}
        else:
            bits = max(0, needed - 1).bit_length()
            rows = 1 << bits
            signs = [random.randrange(2) for _ in range(bits * width)]
            rule = {"kind": "signs", "generator": self.tensor("U8", [bits, width], signs)}
        if random.random() < 0.3:
            indices = self.tensor("I64", [needed], [random.randrange(rows) for _ in range(needed)])
        return {
            "slot": slot, "source": by, "tokens": ends["token"], "positions": ends["position"], "rule": rule,
            "indices": indices,
        }  # fmt: skip

    def attention(self, width: int, fixed: list[int], uniform: bool = False) -> dict[str, Any]:
        """A layer of heads whose keys read mostly the ``fixed`` coordinates."""
        random = self.random
        heads: list[dict[str, Any]] = []
        for _ in range(random.choice((0, 1, 1, 1, 2))):
            size, values = 0 if uniform else random.randint(0, 3), random.randint(0, 2)
            if size and random.random() < 0.4:
                # Keys that are the signs of their positions, and queries that are signs of either.
                size = len(fixed)
                key, query = self.chosen(size, width, 0), self.chosen(size, width, random.choice((0, size)))
            else:
                key = self.matrix(size, width, None if random.random() < 0.1 else fixed)
                query = self.matrix(size, width)
            heads.append(
                {
                    "scoring": random.choice(("softmax", "softmax", "hard", "leftmost", "linear", "relu")),
                    "mask": random.choice(("none", "none", "none", "causal", "strict")),
                    "query": query,
                    "key": key,
                    "value": self.matrix(values, width),
                    "output": self.matrix(width, values),
                }
            )
        return {"kind": "attention", "residual": random.random() < (0.3 if uniform else 0.7), "heads": heads}

    def feed_forward(self, width: int) -> dict[str, Any]:
        """A feed-forward."""
        units = self.random.randint(0, 3)
        return {
            "kind": "feed-forward", "residual": self.random.random() < 0.7, "inner": self.matrix(units, width),
            "inner_bias": self.matrix(units, 1), "outer": self.matrix(width, units),
            "outer_bias": self.matrix(width, 1),
        }  # fmt: skip

    def readout(self, width: int) -> dict[str, Any]:
        """A readout of a few coordinates."""
        rows = self.random.randint(1, 3)
        return {
            "matrix": self.matrix(rows, width), "bias": self.matrix(rows, 1), "at": "last",
            "decoding": self.random.choice(("bits", "argmax", "argmax", "exact")),
        }  # fmt: skip


def chosen_inputs(random: Random, alike: bool) -> list[dict[str, Any]]:
    """Runs of a few positions with a few tokens each, or of bits at all of them."""
    if alike and random.random() < 0.7:
        first = random.randrange(2)
        return [{"count": random.randint(2, 5), "tokens": [first, first + 2]}]
    if random.random() < 0.02:
        # Many positions and few inputs: enough keys for the shortcuts of linear codes.
        kept = random.randrange(2)
        return [{"count": random.choice((33, 36)), "tokens": [kept, kept + 1]}, {"count": 2, "tokens": [0, 2]}]
    while True:
        runs = []
        for _ in range(random.choice((1, 1, 2, 3))):
            first = random.choice((0, 0, 0, 1, 2))
            runs.append({"count": random.randint(1, 3), "tokens": [first, first + random.choice((1, 2, 2, 3))]})
        if len(list(inputs_of({"inputs": runs}))) <= MOST_INPUTS:
            return runs


def transformer(writer: Writer, runs: list[dict[str, Any]], counting: bool) -> bytes:
    """A Transformer with a few coordinates that come from positions, and others from tokens."""
    random = writer.random
    positions = sum(run["count"] for run in runs)
    tokens = max(run["tokens"][1] for run in runs) + random.choice((0, 0, 1))
    sizes = {"at": random.choice((0, 1, 2, 3, 6)), "of": random.choice((1, 2, 6)), "more": random.randint(0, 2)}
    width, fixed = sum(sizes.values()), list(range(sizes["at"]))
    parts = [writer.part("at", sizes["at"], "position", tokens, positions)]
    parts.append(writer.part("of", sizes["of"], "token", tokens, positions))
    for _ in range(random.randint(0, 2)):
        slot = random.choice(("of", "more"))
        parts.append(writer.part(slot, sizes[slot], random.choice(("token", "position")), tokens, positions))
    random.shuffle(parts)
    plain: dict[str, Any] = {"kind": "attention", "residual": True, "heads": []}
    layers = [plain if counting and random.random() < 0.5 else writer.attention(width, fixed)]
    layers += [writer.feed_forward(width) for _ in range(random.choice((0, 0, 1, 1, 2)))]
    if counting:
        layers.append(writer.attention(width, fixed, random.random() < 0.7))
        layers += [writer.feed_forward(width) for _ in range(random.choice((0, 0, 1, 2)))]
    writer.file.structure = {
        "format": "separatrix-network-1", "slots": [[name, size] for name, size in sizes.items()],
        "vocabulary": tokens, "positions": positions, "embedding": parts, "features": [], "layers": layers,
        "readout": writer.readout(width), "about": "",
    }  # fmt: skip
    return writer.file.to_bytes()


def recurrent(writer: Writer, runs: list[dict[str, Any]]) -> bytes:
    """A recurrent network of one or two maps."""
    random = writer.random
    tokens, state, entering = max(run["tokens"][1] for run in runs), random.randint(1, 2), random.randint(0, 2)
    sizes = [state + entering, *([random.randint(1, 3)] if random.random() < 0.4 else []), state]
    cell = [
        {"weights": writer.matrix(after, before), "bias": writer.matrix(after, 1)} for before, after in pairwise(sizes)
    ]
    writer.file.structure = {
        "format": "separatrix-recurrent-1", "vocabulary": tokens, "positions": sum(run["count"] for run in runs),
        "embedding": writer.matrix(tokens, entering), "initial": writer.matrix(state, 1), "cell": cell,
        "readout": writer.readout(state), "about": "",
    }  # fmt: skip
    return writer.file.to_bytes()


def counted(runs: list[dict[str, Any]], truth: dict[tuple[int, ...], int], random: Random) -> dict[str, Any]:
    """A count of random conditions of one or two places, with the answers that the truth has for one input of each."""
    ranges = [run["tokens"] for run in runs for _ in range(run["count"])]
    groups = []
    sizes = {stop - first for first, stop in ranges}
    shared = {size: [0, 1, *random.choices((0, 1), k=size)][:size] for size in sizes}
    alike = random.random() < 0.7
    for place in range(len(ranges)):
        if alike:
            table = shared[ranges[place][1] - ranges[place][0]]
            groups.append({"places": [[place]], "table": table})
            continue
        places = random.sample(range(len(ranges)), min(len(ranges), random.choice((1, 1, 1, 2))))
        places = [place] if random.random() < 0.6 else places
        size = 1
        for each in places:
            size *= ranges[each][1] - ranges[each][0]
        groups.append({"places": [places], "table": [random.randrange(2) for _ in range(size)]})
    answer = {"kind": "count", "conditions": groups, "answers": [[n, n] for n in range(len(groups) + 1)]}
    specification = {"inputs": runs, "answer": answer}
    known = {right_answer(specification, each): found for each, found in truth.items()}
    answer["answers"] = [[n, known.get(n, random.randrange(2))] for n in range(len(groups) + 1)]
    return answer


def automaton(runs: list[dict[str, Any]], slow: Slow, random: Random) -> dict[str, Any]:
    """The automaton of all tokens read so far, with the network's answers, and states without use."""
    ranges = [range(*run["tokens"]) for run in runs for _ in range(run["count"])]
    symbols = max(each.stop for each in ranges)
    names: dict[tuple[int, ...], int] = {(): 0}
    for length in range(1, len(ranges) + 1):
        for held in product(*ranges[:length]):
            names[held] = len(names)
    answer = slow.network()
    steps = [[names.get((*held, token), 0) for token in range(symbols)] for held in names]
    answers = [answer(held) or 0 if len(held) == len(ranges) else random.randrange(3) for held in names]
    return {"kind": "automaton", "start": 0, "steps": steps, "answers": answers}


def claim(random: Random) -> tuple[dict[str, Any], bytes]:
    """A network, a specification that is near to what it computes, and a proof that might fit."""
    kind = random.choice(("table", "table", "count", "automaton"))
    # Most random networks give one answer to all inputs; few such claims are enough.
    tries = random.choice((1, 12, 12))
    while True:
        tries -= 1
        writer, runs = Writer(random), chosen_inputs(random, kind == "count")
        data = recurrent(writer, runs) if kind == "automaton" else transformer(writer, runs, kind == "count")
        rounding = random.choice(("down", "nearest"))
        arithmetic = f"fixed:N={random.choice((2, 2, 3, 4, 10))},Kc={random.randint(1, 3)},{rounding}"
        slow = Slow(data, arithmetic)
        answer = slow.network()
        truth = {each: answer(each) or 0 for each in inputs_of({"inputs": runs})}
        by_count = {tuple(sorted(tokens)): found for tokens, found in truth.items()}
        counts = kind != "count" or all(by_count[tuple(sorted(each))] == truth[each] for each in truth)
        if not tries or (counts and len(set(truth.values())) > 1):
            break
    stated: dict[str, Any] = {"kind": "table", "answers": list(truth.values())}
    if kind == "count":
        stated = counted(runs, truth, random)
    elif kind == "automaton":
        stated = automaton(runs, slow, random)
    if random.random() < 0.5:
        answers: list[Any] = stated["answers"]
        place = random.randrange(len(answers))
        shift = random.choice((1, 1, 2, 4))
        answers[place] = [answers[place][0], answers[place][1] ^ shift] if kind == "count" else answers[place] ^ shift
    proof: dict[str, Any] = {"rule": kind}
    if kind != "automaton":
        proof = {"rule": "layers", "statements": statements(writer.file.structure, runs, kind, random)}
    content = {
        "format": "separatrix-proof-1", "task": "any", "parameters": {}, "length": 1, "arithmetic": arithmetic,
        "specification": {"inputs": runs, "answer": stated}, "network": "network.safetensors", "proof": proof,
    }  # fmt: skip
    return json.loads(json.dumps(claimed(content, data))), data


def statements(structure: dict[str, Any], runs: list[dict[str, Any]], kind: str, random: Random) -> list[Any]:
    """Statements of the right kinds, with random places."""
    positions = sum(run["count"] for run in runs)
    first, stop = runs[-1]["tokens"]
    by, number = ("position", positions) if kind == "count" else ("token", stop - first)
    everywhere = list(range(positions))
    places = [
        everywhere if random.random() < 0.9 else random.sample(everywhere, random.randint(0, positions))
        for _ in range(number)
    ]
    if kind == "count":
        places = [random.sample(everywhere, random.choice((0, 0, 1, positions))) for _ in range(number)]
    found: list[Any] = []
    for layer in structure["layers"]:
        attends = {"kind": "count"} if found and kind == "count" else {"kind": "attend", "by": by, "places": places}
        found.append({"kind": "feed-forward"} if layer["kind"] == "feed-forward" else attends)
        if random.random() < 0.02:
            found[-1] = {"kind": "idle"}
    return found


def campaign(count: int, seed: int) -> Counter[str]:
    """How many claims of each rule were refused, accepted and right, accepted and wrong."""
    random, found, few = Random(seed), Counter[str](), attention.FEW
    for _ in range(count):
        content, data = claim(random)
        kind = content["specification"]["answer"]["kind"]
        try:
            # How many keys make a shortcut worth its while must not matter to what is accepted.
            attention.FEW = random.choice((0, 1, few))
            rules_accept(content, data)
        except RefusedError:
            found[f"{kind} refused"] += 1
            continue
        finally:
            attention.FEW = few
        specification = content["specification"]
        varied = len({right_answer(specification, each) for each in inputs_of(specification)}) > 1
        right = "right" if varied else "right and constant"
        found[f"{kind} {right if wrong_input(content, data) is None else 'wrong'}"] += 1
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{dict(campaign(int(sys.argv[1]), int(sys.argv[2])))}\n")
