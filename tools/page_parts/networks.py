"""Sizes of certified networks that pages name, built and checked again."""

import math
from fractions import Fraction
from functools import cache

import numpy
from tools import construction_table, trusted_code
from tools.pages import Sentence, Table, markdown_table, recorded

from separatrix.arithmetic import integers
from separatrix.arithmetic.codes.families.random_draw import paper_width
from separatrix.certificates import Claim, check, replay
from separatrix.communication.partition import odd_even
from separatrix.communication.protocols import compare, run_one_layer
from separatrix.constructions import Built, Options, constructions
from separatrix.constructions.theorems._brackets import brackets_of
from separatrix.constructions.theorems.dyck_float import DyckFloat
from separatrix.networks import Network
from separatrix.provers.proofs import (
    MOST_POSITIONS,
    MOST_RECALLED,
    MOST_ROWS,
    MOST_SUMMED,
    MOST_TOKENS,
    MOST_TRIPLES,
)
from separatrix.tasks import draws_from, tasks
from separatrix_kernel.rules import MOST_INPUTS

DYCK_SIZES = ((1, 1), (2, 2), (3, 2), (2, 3), (4, 3), (2, 8))
DYCK = {
    ("dyck-dfa", "repaired"): (
        "the minimal automaton, its state in binary", "recurrent, 2 ReLU maps", "⌈log₂(Σ_{i≤k} nⁱ + 1)⌉",
    ),
    ("dyck-dfa", "one-hot"): (
        "the minimal automaton, one coordinate for each state", "recurrent, 2 ReLU maps", "Σ_{i≤k} nⁱ + 1",
    ),
    ("dyck-rnn", "repaired"): (
        "a stack of k levels in h ← ReLU(W h + U x + b)", "recurrent, 1 ReLU map", "2kL + 2",
    ),
    ("dyck-rnn", "two-maps"): ("the same stack, pairs of units added up", "recurrent, 2 ReLU maps", "kL + 1"),
    ("dyck-transformer", "repaired"): (
        "counts, lookup of the matching bracket, collected errors", "2 if k ≤ 2, else 3",
        "4L + 5 if k ≤ 2, else 3L + 9",
    ),
}  # fmt: skip
"""What the constructions for brackets are, in words and formulas."""


@cache
def built(name: str, length: int, **parameters: int) -> Built:
    """A construction at a length."""
    return constructions()[name].build(length, Options(parameters=parameters))


def covered(name: str, length: int, **parameters: int) -> str:
    """How many inputs the certificate of a network covers."""
    found = built(name, length, **parameters)
    verdict = check(found.network, Claim(found.task, found.length, found.arithmetic))
    assert verdict.valid
    return verdict.inputs_covered


def inputs(page: str, words: str, name: str, length: int, **parameters: int) -> Sentence:
    """A sentence that tells how many inputs there are, as a power and a product."""
    return Sentence(page, words, lambda: covered(name, length, **parameters).split("*"))


def dyck_table() -> str:
    """Sizes of the constructions for brackets; none of them depends on N."""
    rows: list[list[object]] = []
    for (name, variant), words in DYCK.items():
        shown = f"`{name}`" if variant == "repaired" else f"`{name}`, variant `{variant}`"
        widths = [
            constructions()[name]
            .build(16, Options(variant=variant, parameters={"types": types, "depth": depth}))
            .network.width
            for types, depth in DYCK_SIZES
        ]
        rows.append([shown, *words, *widths])
    headings = ["construction", "what it is", "layers", "size of the state, or width"]
    return markdown_table([*headings, *(f"({n},{k})" for n, k in DYCK_SIZES)], rows, left=4 + len(DYCK_SIZES))


def bracket_codes() -> list[int]:
    """The first widths of a code for types of brackets, and the most types that each has."""
    widths = [brackets_of(tasks()["dyck"].with_parameters(types=types, depth=2)).code_width for types in range(1, 22)]
    shown = sorted(set(widths))[:6]
    return [*shown, *(len(widths) - widths[::-1].index(each) for each in shown)]


def failing_equality(exponent: int) -> int:
    """On how many of the inputs of length 16 the network of Theorem 6 as written is wrong.

    Its answer depends on the number of mismatches alone, so one input for each number is run, and how many inputs have
    that number is counted.
    """
    half = 8
    found = constructions()["equality"].build(2 * half, Options(variant="paper", exponent=exponent))
    claim = Claim(found.task, 2 * half, found.arithmetic)
    return sum(
        math.comb(half, mismatches) << half
        for mismatches in range(half + 1)
        if not replay(found.network, claim, numpy.array([1] * mismatches + [0] * (2 * half - mismatches)))["right"]
    )


def theorem_1_sizes() -> list[int]:
    """The width of the stream and the values of the head of Theorem 1's network at N = 16."""
    found = built("index-lookup", 16)
    assert isinstance(found.network, Network)
    plan = run_one_layer(
        found.network, found.task.sample(draws_from(0), 1, 16).inputs[0], found.arithmetic, odd_even(17)
    ).plan
    counted = compare(plan)
    return [counted.stream_width, counted.projection_rows * counted.heads]


def decimal_places(name: str, length: int) -> int:
    """Ten to this power, rounded down to tens, is less than the number of inputs that are covered."""
    power, factor = covered(name, length).split("*")
    base, exponent = map(int, power.split("^"))
    return (len(str(base**exponent * int(factor))) - 1) // 10 * 10


PARTS = (
    Table("docs/constructions.md", construction_table.table, "| construction | theorem |"),
    Table("docs/constructions.md", trusted_code.table, "| method | constructions | files |"),
    Table("docs/kernel.md", trusted_code.kernel_table, "| file of the kernel | what is in it |"),
    Sentence("docs/kernel.md", "in `certify` up to {} positions", lambda: [f"{MOST_POSITIONS:,}"]),
    Sentence("docs/kernel.md", "recall and MQAR up to length {}", lambda: [MOST_RECALLED - 1]),
    Sentence("docs/kernel.md", "up to {} numbers ({} with cosines)", lambda: [f"{MOST_TOKENS:,}", f"{MOST_ROWS:,}"]),
    Sentence("docs/kernel.md", "third-order attention\nup to {} numbers", lambda: [round(MOST_TRIPLES ** (1 / 3))]),
    Sentence("docs/kernel.md", "`dyck-float` up to {}.", lambda: [f"{MOST_SUMMED:,}"]),
    Sentence(
        "docs/kernel.md",
        "of the {} strings of length {} `dyck-float` answers {} wrongly if it adds backwards and {} if",
        lambda: [f"{4**8:,}", 8, *(f"{DyckFloat().wrong_in_order(8, order):,}" for order in ("backwards", "pairs"))],
    ),
    Sentence("docs/kernel.md", "Each of at most 2^{} inputs is run", lambda: [MOST_INPUTS.bit_length() - 1]),
    Sentence("docs/constructions.md", "below {} lines of code for every one", lambda: [trusted_code.LARGEST]),
    Sentence("docs/explanation/certificates.md", "below {} lines each", lambda: [trusted_code.LARGEST]),
    inputs("docs/explanation/certificates.md", "There are {} · {} inputs of index lookup", "index-lookup", 1024),
    inputs("docs/export.md", "it is right on all {} · {} inputs", "index-lookup", 16, alphabet=4),
    inputs("docs/tutorial.md", "It covers {} · {} inputs", "index-lookup", 256),
    Sentence("docs/tutorial.md", "Width {}, and the claim", lambda: [built("index-lookup", 256).network.width]),
    Sentence("docs/tutorial.md", "inputs, more than 10^{}", lambda: [decimal_places("index-lookup", 256)]),
    Sentence(
        "docs/tutorial.md",
        "the certified network has width {}",
        lambda: [recorded("benchmark-constructions")["reports"][0]["rows"][-1][1]],
    ),
    Sentence(
        "docs/explorer.md",
        "takes numbers of more than {} bits, in which the checker decides nothing",
        lambda: [integers.OPERAND.bit_length() - 1],
    ),
    Table("docs/dyck.md", dyck_table, "| construction | what it is |"),
    Sentence("docs/dyck.md", "L is {}, {}, {}, {}, {}, {} for n up to {}, {}, {}, {}, {}, {}.", bracket_codes),
    Sentence(
        "docs/errata.md",
        "(at N = 16: {} and {} of {})",
        lambda: [failing_equality(2), f"{failing_equality(1):,}", f"{2**16:,}"],
    ),
    Sentence(
        "docs/errata.md",
        "more than {:,} at γ = 0.5 and N = 16",
        lambda: [paper_width(16, Fraction(1, 200)) // 1000 * 1000],
    ),
    Sentence("docs/errata.md", "itself has d = {} > mH = {}", theorem_1_sizes),
)
