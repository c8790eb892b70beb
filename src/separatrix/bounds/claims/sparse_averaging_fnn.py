"""SHT23: every feed-forward network that computes sparse averaging has width Ω(N), already for q = 1.

Two derivations. *Real values* (the slides' setting): fewer than N·d units lose a direction of the values, so m ≥ N·d
whatever the precision (``first_layer.py``). *Values on a grid, p-bit weights* (the task here): INDEX hides in sparse
averaging, and Alice can send her part of the m sums of the first layer, each in 2p + ⌈log2 K⌉ bits for K input numbers,
so

    m·(2p + ⌈log2 K⌉) ≥ N - max(1, q - 1).

The number given is the second. Without a limit on the weights width 1 would do on a grid.
"""

import numpy

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._scope import always
from separatrix.bounds.claims.sparse_averaging_rnn import checks, hidden_bits
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.first_layer import collides, collision
from separatrix.bounds.simulations import FIRST_LAYER, Setting
from separatrix.tasks import Task

FIRST_LAYER_ASSUMPTIONS = (
    "the network is g(Wx) with m rows of p-bit weights and any g; the input is K numbers of p bits",
    "the network is deterministic and correct on every input of length N",
)


def first_layer_setting(task: Task, length: int) -> Setting:
    """Return all numbers of an input."""
    cells = task.positions(length)
    return Setting(positions=cells, numbers=cells * max(1, task.features(length)))


def _checks(limit: int) -> tuple[Evidence, ...]:
    draws = numpy.random.default_rng(0)
    cells = range(2, max(2, 2 * limit) + 1)
    tried = [draws.integers(-9, 10, (cell - 1, cell)) for cell in cells]
    return (
        Evidence(
            "verified",
            f"real values: for first layers of width N - 1, N to {cells[-1]}, two inputs with equal sums and answers "
            "2 apart are "
            "computed exactly; for every W by its kernel, so m ≥ N·d at any precision",
            all(collides(weights, collision(weights)) for weights in tried),
            {"verified_to": cells[-1]},
        ),
        *checks(limit),
    )


BOUND = ProtocolBound(
    name="sparse-averaging-fnn",
    claim="SHT23, sparse averaging, lower bound for FNNs",
    statement="a feed-forward network that computes sparse averaging has width Ω(N)",
    task_names=("sparse-averaging",),
    models=("fnn",),
    assumptions=FIRST_LAYER_ASSUMPTIONS,
    deviations=("values lie on a grid and weights have p bits; for real values the width is at least N·d (E22)",),
    simulation=FIRST_LAYER,
    problem="INDEX",
    reduction="index-to-sparse-averaging",
    hidden_bits=hidden_bits,
    setting=first_layer_setting,
    in_words="N - max(1, q - 1)",
    prefix=always,
    checks=_checks,
)
