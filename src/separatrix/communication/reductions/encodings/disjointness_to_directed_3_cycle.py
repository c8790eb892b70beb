"""DISJ on n² bits inside directed 3-cycle (SHT23: LHm = Ω̃(N) for graph Transformers; the slides give no reduction).

N = 3n vertices s, n + t, 2n + s. Alice's rows say s → n + t for her bit (s, t), Bob's rows n + t → 2n + s for his bit
(s, t), and 2n + s → s is always an edge. Every edge goes from one third to the next, so a 3-cycle is s → n + t → 2n + s
→ s and vertex s is on one exactly when some t has both bits. Alice reads her n answers: the sets meet iff one of them
is 1.

*One vertex*, for a single layer of ordinary attention that reads one row: vertices t = 1 … n, w and v (the last), N = n
+ 2. Bob's row says v → t for his bit t, Alice's rows t → w for her bit t, and w → v is always an edge: v is on a cycle
exactly when some t has both bits. DISJ on N - 2 bits, with the query row at Bob and all others at Alice.

There are no self-loops in the graphs, so that the reductions hold whether the task allows them or not (E18).
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import tasks


def _alice(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), size, 3 * size), dtype=numpy.int64)
    rows[:, :, size : 2 * size] = bits.reshape(-1, size, size)
    return rows


def _bob(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), 2 * size, 3 * size), dtype=numpy.int64)
    # His bit (s, t) is in row n + t, column 2n + s.
    rows[:, :size, 2 * size :] = bits.reshape(-1, size, size).transpose(0, 2, 1)
    rows[:, size:, :size] = numpy.eye(size, dtype=numpy.int64)
    return rows


def _decode(answers: Integers, own: Integers, size: int) -> Integers:
    del own, size
    return (answers != 0).any(axis=1).astype(numpy.int64)


def _one_vertex_alice(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), size + 1, size + 2), dtype=numpy.int64)
    rows[:, :size, size] = bits
    rows[:, size, size + 1] = 1
    return rows


def _one_vertex_bob(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), 1, size + 2), dtype=numpy.int64)
    rows[:, 0, :size] = bits
    return rows


REDUCTION = Reduction(
    name="disjointness-to-directed-3-cycle",
    source="SHT23, graph Transformers; the reduction is not on the slides",
    statement="s → n+t is Alice's bit (s,t), n+t → 2n+s is Bob's, 2n+s → s is an edge: s is on a cycle iff some t has "
    "both",
    problem="DISJ",
    task=lambda size: tasks()["directed-3-cycle"],
    length=lambda size: 3 * size,
    alice=_alice,
    bob=_bob,
    decode=_decode,
    bits=lambda size: size * size,
    decoder="alice",
    variants=(
        Reduction(
            name="disjointness-to-directed-3-cycle-one-vertex",
            source="not in the papers",
            statement="v → t is Bob's bit, t → w is Alice's, w → v is an edge: the last vertex v is on a cycle iff "
            "they meet",
            problem="DISJ",
            task=lambda size: tasks()["directed-3-cycle"],
            length=lambda size: size + 2,
            alice=_one_vertex_alice,
            bob=_one_vertex_bob,
            decode=only_answer,
            split=lambda size: tuple(range(size + 1)),
        ),
    ),
)
