"""One-layer attention: index lookup, equality and DNF (BHBK24 Theorems 6 and 13, Lemma 2)."""

import math
from fractions import Fraction

from separatrix.arithmetic import FixedPoint, code_table
from separatrix.constructions import Options, constructions, papers_gain
from separatrix.networks import Network, evaluate
from separatrix.table.errata.finding import Finding, certified, refuted


def e1() -> tuple[Finding, ...]:
    """Compare widths for the same number of vectors and the same bound on their inner products."""
    count = 256
    row = code_table([count], Fraction(1, 4))[0]
    drawn = row.drawn
    assert drawn is not None
    return (
        Finding(
            "original",
            f"{count} vectors with inner products up to 1/4: the paper's formula takes width {row.paper_width}, the "
            f"best random draw found {drawn}",
            row.paper_width > drawn > row.best.width,
        ),
        Finding(
            "repair",
            f"an explicit code ({row.best.family}) has width {row.best.width}, every inner product checked; no code is "
            f"narrower than {row.limit.width} (Delsarte)",
            row.best.width >= row.limit.width,
        ),
        certified("index-lookup", 64),
    )


def e2() -> tuple[Finding, ...]:
    """Return the rounding itself, then all inputs of length 8."""
    length = 8
    arithmetic = FixedPoint(length=16, exponent=2, rounding="down")
    value = arithmetic.decode(arithmetic.encode(1 - Fraction(1, 10**30))).item()
    built = constructions()["equality"].build(length, Options(variant="paper"))
    wrong = only_one = 0
    for examples in built.task.enumerate(length):
        bad = evaluate(built.network, examples.inputs, built.arithmetic).answers[:, 0] != examples.targets[:, -1]
        half = length // 2
        mismatches = (examples.inputs[:, :half] != examples.inputs[:, half:]).sum(axis=1)
        wrong += int(bad.sum())
        only_one += int((mismatches == 1).sum())
    return (
        Finding("original", f"1 − 10⁻³⁰ is rounded to {value}, one step below 1", value == 1 - arithmetic.step),
        Finding(
            "original",
            f"of all 2^{length} inputs the network as written answers {wrong} wrongly, exactly the {only_one} with one "
            "mismatch",
            wrong == only_one > 0,
        ),
        refuted("equality", length, "paper"),
        certified("equality", 256),
    )


def e3() -> tuple[Finding, ...]:
    """Return both values of η, and the other repair."""
    length, exponent = 16, 2
    closing = papers_gain(length, exponent)
    asked = 2 * math.log((length - 1) * (2 * length**exponent - 1))
    return (
        Finding(
            "original",
            f"at N = {length}, Kc = {exponent} the proof closes with η = {float(closing):.2f}, its derivation requires "
            f"{asked:.2f}",
            closing < asked,
        ),
        certified("equality", 8, "paper-appendix-d"),
    )


def e4() -> tuple[Finding, ...]:
    """Return the rounding, then the network."""
    length = 16
    rounded = {exponent: FixedPoint(length, exponent).encode(Fraction(1, length + 1)).item() for exponent in (1, 2)}
    return (
        Finding("original", f"1/{length + 1} is {rounded[1]} steps at Kc = 1", rounded[1] == 0),
        refuted("dnf", length, exponent=1),
        Finding("repair", f"1/{length + 1} is {rounded[2]} steps at Kc = 2", rounded[2] > 0),
        certified("dnf", length, exponent=2),
    )


def e19() -> tuple[Finding, ...]:
    """Return the paper's width next to the built one."""
    length, sparsity = 64, 3
    built = constructions()["dnf"].build(length)
    assert isinstance(built.network, Network)
    slots = built.network.slots
    paper = 1 + (sparsity + 1) * slots.size("address")
    table = slots.size("table")
    return (
        Finding(
            "original",
            f"at N = {length}, k = {sparsity} the paper counts width 1 + (k + 1)r = {paper}",
            paper < built.network.width,
        ),
        Finding(
            "repair",
            f"the network has width {built.network.width}; {table} = 2^k of it are each position's feature",
            table == 2**sparsity and built.network.width > paper,
        ),
        certified("dnf", length),
    )
