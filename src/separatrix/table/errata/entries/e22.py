"""E22: without a limit on the weights one unit computes sparse averaging on a finite grid of values."""

import numpy

from separatrix.bounds import ModelSize, ProtocolBound, bounds, collides, collision, digit_weights
from separatrix.table.errata.erratum import Erratum, Finding
from separatrix.tasks import tasks, to_numpy

LENGTH = 4
PRECISION = 16
LONG = 4096


def show() -> tuple[Finding, ...]:
    """One unit on every input with values -1, 0 and 1; real values; weights of 16 bits."""
    task = tasks()["sparse-averaging"].with_parameters(sparsity=1, dimension=1, resolution=1)
    inputs = numpy.concatenate([to_numpy(chunk.inputs) for chunk in task.enumerate(LENGTH)])
    numbers = inputs[:, :, 1:].reshape(len(inputs), -1)
    weights = digit_weights(numbers.min(axis=0).tolist(), numbers.max(axis=0).tolist())
    different = len(numpy.unique(numbers @ numpy.array(weights)))
    narrow = numpy.random.default_rng(0).integers(-9, 10, (LENGTH - 1, LENGTH))
    bound = bounds()["sparse-averaging-fnn"]
    assert isinstance(bound, ProtocolBound)
    least = bound.smallest_width(LONG, PRECISION, task=task)
    return (
        Finding(
            "original",
            f"q = 1, N = {LENGTH}, values -1, 0, 1: one unit with weights up to {max(weights):,} has {different:,} "
            f"different sums on the {len(inputs):,} inputs, so width 1 is enough",
            different == len(inputs),
        ),
        Finding(
            "repair",
            f"real values, {LENGTH - 1} units with any weights: two inputs with equal sums and answers 2 apart",
            collides(narrow, collision(narrow)),
        ),
        Finding(
            "repair",
            f"values on a grid, weights of p = {PRECISION} bits, N = {LONG}: INDEX needs width ≥ {least}",
            least > 1 and not bound.possible(LONG, ModelSize(least - 1, PRECISION), task),
        ),
    )


ERRATUM = Erratum(
    number=22,
    source="SHT23 slides, sparse averaging, lower bound for FNNs",
    title="The bound needs real values or weights of limited precision",
    claim="Every FNN that computes qSA has width Ω(N), even if q = 1.",
    fault="On a finite grid of values one unit with large weights tells all inputs apart.",
    repair="Width N·d for real values at any precision; on a grid m(2p + log K) ≥ N - max(1, q - 1) for p-bit weights.",
    show=show,
    command="separatrix bound sparse-averaging --model fnn --length 4096 --precision 16",
    arithmetic="integers",
)
