"""Sparse averaging (SHT23)."""

import numpy

from separatrix.bounds import ModelSize, ProtocolBound, bounds, collides, collision, digit_weights
from separatrix.communication import Verification, reductions
from separatrix.constructions import Options, constructions
from separatrix.table.errata.finding import Finding, certified
from separatrix.tasks import tasks, to_numpy


def e9() -> tuple[Finding, ...]:
    """Compare the width with the bound 1/2 outside a set and with a bound below 1."""
    length = 64
    widths = {
        variant: constructions()["sparse-averaging"].build(length, Options(variant=variant)).network.width
        for variant in ("half", "repaired")
    }
    return (
        Finding(
            "original",
            f"at N = {length}, q = 3 least-norm certificates bounded by 1/2 make a network of width {widths['half']}",
            widths["half"] > widths["repaired"],
        ),
        Finding(
            "repair",
            f"bounded by q/(q + 1) they make one of width {widths['repaired']}",
            widths["repaired"] < widths["half"],
        ),
        certified("sparse-averaging", length),
    )


def e17() -> tuple[Finding, ...]:
    """Return the repaired reduction on all small instances."""
    evidence = bounds()["sparse-averaging-rnn"].evidence(5)
    return tuple(Finding("repair", each.text, each.holds) for each in evidence if "reduction" in each.details)


def e22() -> tuple[Finding, ...]:
    """Run one unit on every input with values -1, 0 and 1; real values; weights of 16 bits."""
    length = 4
    precision = 16
    long = 4096
    task = tasks()["sparse-averaging"].with_parameters(sparsity=1, dimension=1, resolution=1)
    inputs = numpy.concatenate([to_numpy(chunk.inputs) for chunk in task.enumerate(length)])
    numbers = inputs[:, :, 1:].reshape(len(inputs), -1)
    weights = digit_weights(numbers.min(axis=0).tolist(), numbers.max(axis=0).tolist())
    different = len(numpy.unique(numbers @ numpy.array(weights)))
    narrow = numpy.random.default_rng(0).integers(-9, 10, (length - 1, length))
    bound = bounds()["sparse-averaging-fnn"]
    assert isinstance(bound, ProtocolBound)
    least = bound.smallest_width(long, precision, task=task)
    return (
        Finding(
            "original",
            f"q = 1, N = {length}, values -1, 0, 1: one unit with weights up to {max(weights):,} has {different:,} "
            f"different sums on the {len(inputs):,} inputs, so width 1 is enough",
            different == len(inputs),
        ),
        Finding(
            "repair",
            f"real values, {length - 1} units with any weights: two inputs with equal sums and answers 2 apart",
            collides(narrow, collision(narrow)),
        ),
        Finding(
            "repair",
            f"values on a grid, weights of p = {precision} bits, N = {long}: INDEX needs width ≥ {least}",
            least > 1 and not bound.possible(long, ModelSize(least - 1, precision), task),
        ),
    )


def e23() -> tuple[Finding, ...]:
    """Compare sets of three with and without cells of value 0 to fill them."""
    size = 6
    reduction = reductions()["index-to-sparse-averaging"]
    unfilled = reduction.variant("index-to-sparse-averaging-3-not-filled").verify(size)
    filled = reduction.variant("index-to-sparse-averaging-3").verify(size)
    assert unfilled.first is not None
    return (
        Finding(
            "original",
            f"q = 3 on N = n + 1 = {unfilled.length} cells: {unfilled.failures} of {unfilled.pairs} pairs are answered "
            f"wrongly, first {unfilled.first.inputs}: {unfilled.first.reason}",
            unfilled.failures == unfilled.pairs // 2,
        ),
        Finding(
            "repair",
            f"q = 3 on N = n + q - 1 = {filled.length} cells: all {filled.pairs} pairs agree",
            filled.holds,
        ),
    )


def e24() -> tuple[Finding, ...]:
    """Return both reductions on every pair of inputs, and what follows at one size."""
    bits = 4
    checked = {
        name: reductions()[name].verified_to(bits)
        for name in ("disjointness-to-sparse-averaging", "disjointness-to-directed-3-cycle")
    }
    attention = bounds()["sparse-averaging-transformer-1layer"]
    graphs = bounds()["directed-3-cycle-graph-transformer"]
    return (
        _agree("qSA, m nearly Ω(q)", checked["disjointness-to-sparse-averaging"]),
        _agree("directed 3-cycle, LHm nearly Ω(N)", checked["disjointness-to-directed-3-cycle"]),
        Finding(
            "repair",
            f"{attention.name}: {attention.statement}; {graphs.name}: {graphs.statement}",
            all(each.holds for bound in (attention, graphs) for each in bound.evidence(bits)),
        ),
    )


def _agree(what: str, found: tuple[Verification, ...]) -> Finding:
    pairs = sum(each.pairs for each in found)
    text = f"{what}: it encodes DISJ, answers agree on all {pairs:,} pairs up to {found[-1].bits} bits"
    return Finding("repair", text, bool(found) and all(each.holds for each in found))
