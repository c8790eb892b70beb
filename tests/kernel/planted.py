"""Errors planted in trained weights: a tensor is moved until a few of all inputs fail, and the verdict is compared.

    python -m tests.kernel.planted --cases 4000

Each case takes a model that answers every input correctly and is certified. It chooses a tensor of it and a direction:
one number, or for attention the score of one token at one position. Then it moves the tensor along the direction, by
bisection, until the first inputs fail; which these are is found by running all inputs (words: all short ones). What
fails must be found or left open; the command ends with exit code 1 if the kernel calls any such input certified.
"""

import argparse
import copy
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from separatrix.models.block import Block
from separatrix.models.mixers.attention import SelfAttention
from separatrix.models.sequence_model import SequenceModel
from separatrix.tasks.automata import labelled_task
from tests.kernel.test_trained_adversary import MODELS, Rule, every_input, judged, logits_of, made, wrong_inputs
from tests.kernel.test_words import CERTIFIED, trained

PLACES = (
    Rule("index-lookup:alphabet=2", 4, "TF-(1,8)", 300),
    Rule("index-lookup:alphabet=3", 3, "TF-(1,8,heads=2)", 300),
    Rule("index-lookup:alphabet=2", 4, "TF-(1,8,positions=rotary)", 300),
    Rule("majority", 6, "TF-(1,8)", 200),
    Rule("majority", 8, "TF-(1,8,positions=rotary)", 200),
    Rule("equality:alphabet=3", 2, "TF-(1,8,heads=2)", 200),
    Rule("index-lookup:alphabet=2", 2, "TF-(2,8)", 200),
)
WORDS = tuple(Rule("dyck:depth=1,types=1", 8, architecture, 0, bits) for architecture, bits in CERTIFIED)
RULES = PLACES + WORDS
"""Every rule about trained weights, with models that are certified for all inputs."""
NEAREST, FARTHEST, HALVINGS = -8, 7, 40
FEW = 0.1
"""Cases in which a larger share of the inputs fails are left out."""
SCORE, SCORES = "attention score", 0.3
"""What is moved in this share of the cases with attention."""


class Planted(NamedTuple):
    """A case: where the error is, how many of the inputs fail, and how many of these the verdict names or covers."""

    rule: Rule
    place: str
    inputs: int
    failing: int
    found: bool
    certified: int
    """Failing inputs that are called certified: none, or the kernel is wrong."""
    others: int
    """Correct inputs that are still certified."""


def base(rule: Rule) -> SequenceModel:
    """A copy of the model that is correct everywhere."""
    if rule.words:
        MODELS.setdefault(rule, trained(rule.architecture))
    return made(rule)


@torch.no_grad()
def fails(rule: Rule, model: SequenceModel) -> bool:
    """Whether any input fails, in float64."""
    task, double = labelled_task(rule.task), copy.deepcopy(model).double()
    for length, group in groupby(every_input(rule), len):
        rows = list(group)
        if not length and rule.architecture.startswith("Mamba"):
            continue
        right = [1 if not row else task.solve(row, length if rule.words else rule.length)[-1] for row in rows]
        logits, answers = logits_of(rule, double, rows), torch.tensor(right)[:, None]
        rest = logits.scatter(1, answers, -torch.inf).amax(dim=1, keepdim=True)
        if not bool((logits.gather(1, answers) > rest).all()):
            return True
    return False


def scored(model: SequenceModel, generator: torch.Generator) -> tuple[str, Tensor]:
    """A direction of the projections that moves the scores of one token at one position most."""
    layer = int(torch.randint(len(model.blocks), (1,), generator=generator))
    block = model.blocks[layer]
    assert isinstance(block, Block) and isinstance(block.mixer, SelfAttention)
    weight = block.mixer.project.weight
    width = weight.shape[1]
    token = int(torch.randint(model.vocabulary, (1,), generator=generator))
    key = model.embedding.weight.detach()[0, token].clone()
    if model.positions is not None:
        key += model.positions.table.detach()[0, int(torch.randint(model.length, (1,), generator=generator))]
    key = (key - key.mean()) / key.std()
    direction = torch.zeros_like(weight)
    # Keys are the second third of the columns.
    direction[0, :, width : 2 * width] = torch.outer(key, torch.randn(width, generator=generator))
    return f"blocks.{layer}.mixer.project.weight", direction / direction.abs().max()


def direction_of(rule: Rule, model: SequenceModel, generator: torch.Generator) -> tuple[str, str, Tensor]:
    """What is moved: words for it, the tensor's name, and the direction."""
    parameters = dict(model.named_parameters())
    name = place = list(parameters)[int(torch.randint(len(parameters), (1,), generator=generator))]
    if rule.architecture.startswith("TF") and float(torch.rand(1, generator=generator)) < SCORES:
        place, (name, direction) = SCORE, scored(model, generator)
    else:
        direction = torch.zeros_like(parameters[name])
        direction.view(-1)[int(torch.randint(direction.numel(), (1,), generator=generator))] = 1.0
    sign = 1.0 if float(torch.rand(1, generator=generator)) < 0.5 else -1.0
    return place, name, sign * direction


def moved(start: SequenceModel, name: str, direction: Tensor, distance: float) -> SequenceModel:
    """A copy with one tensor moved."""
    model = copy.deepcopy(start)
    with torch.no_grad():
        dict(model.named_parameters())[name].add_(direction, alpha=distance)
    return model


def nearest_failing(rule: Rule, start: SequenceModel, name: str, direction: Tensor) -> float | None:
    """The least distance, up to rounding, at which an input fails; None if none does within reach."""
    low = 0.0
    for power in range(NEAREST, FARTHEST + 1):
        high = 2.0**power
        if fails(rule, moved(start, name, direction, high)):
            break
        low = high
    else:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high) or high - low < 1e-7 * high:
            break
        low, high = (low, middle) if fails(rule, moved(start, name, direction, middle)) else (middle, high)
    return high


def planted(rule: Rule, seed: int) -> Iterator[Planted]:
    """Plant one error, at the edge and a little behind it; nothing where no or too many inputs fail."""
    start, generator = base(rule), torch.Generator().manual_seed(seed)
    place, name, direction = direction_of(rule, start, generator)
    distance = nearest_failing(rule, start, name, direction)
    if distance is None:
        return
    total = len(every_input(rule))
    for further in (1.0, 1.0 + 2.0**-20, 1.0 + 2.0**-10, 1.01):
        model = moved(start, name, direction, distance * further)
        wrong = wrong_inputs(rule, model)
        if not 0 < len(wrong) <= max(2, FEW * total):
            continue
        with tempfile.TemporaryDirectory() as folder:
            verdict = judged(rule, model, Path(folder))
        covered = set(verdict.certified)
        yield Planted(
            rule, place, total, len(wrong), bool(verdict.failing & wrong), len(covered & wrong), len(covered - wrong)
        )


def kind_of(planted: Planted) -> str:
    """What was changed, for a table."""
    place = planted.place
    if place == SCORE:
        return SCORE
    for part, kind in (
        ("embedding", "embedding"), ("positions", "embedding"), ("readout", "readout"), ("norm", "norm"),
        ("feed_forward", "feed-forward"), ("project", "queries, keys, values"), ("output", "attention's output"),
    ):  # fmt: skip
        if part in place and not (part == "project" and planted.rule.words):
            return kind
    return "recurrent layer"


def table(cases: Sequence[Planted]) -> str:
    """Cases by what was changed."""
    rows = [("changed", "cases", "one input fails", "found", "open", "certified")]
    kinds = Counter(map(kind_of, cases))
    for kind in [*sorted(kinds), "all"]:
        those = [each for each in cases if kind in (kind_of(each), "all")]
        found = sum(each.found for each in those)
        certified = sum(each.certified > 0 for each in those)
        single = sum(each.failing == 1 for each in those)
        rows.append((kind, *map(str, (len(those), single, found, len(those) - found - certified, certified))))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> int:
    """Plant errors in every rule in turn until so many cases are judged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    cases: list[Planted] = []
    seed, began = chosen.seed * 1_000_000, time.process_time()
    while len(cases) < chosen.cases:
        for rule in RULES:
            cases += planted(rule, seed)
        seed += 1
        if seed % 10 == 0:
            sys.stderr.write(f"{table(cases)}\n{time.process_time() - began:.0f} s\n")
    sys.stdout.write(f"{table(cases)}\n")
    return 1 if any(each.certified for each in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
