"""Thresholds of k-sparse features by two layers and k heads: BHBK24 Theorem 13 (Appendix F.3).

Layer 1: head h of position i attends to the h-th bit that feature i looks at; a first feed-forward rounds the k
averages to bits, a second one evaluates the feature. Layer 2: uniform attention averages the features at the last
position, and a feed-forward compares the average with the threshold.

Repairs: Kc ≥ 2, because at Kc = 1 the weight 1/(N+1) rounds to 0 (E4). One gap is filled: F.3 lets the feed-forward
"compute g_{I_i} at every position", but a feed-forward is the same at every position and cannot know i, so position i's
embedding carries the 2^k values of its feature (E19). Features beyond the function's own are constantly 0.

Deviations: bits are 0 and 1 instead of ±1, [BOS] counts as 0; addresses are linear sign codes (E1).
"""

from dataclasses import dataclass

import numpy

from separatrix.constructions.construction import Addressing, Construction, Options
from separatrix.constructions.pieces import (
    Unit,
    addresses,
    feed_forward,
    more_than,
    step_units,
    sufficient_gain,
    uniform_head,
)
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Integers,
    Network,
    Readout,
    Slots,
    TableRows,
    identity,
    zeros,
)
from separatrix.tasks import SparseFunction, SparseThreshold, Task


@dataclass(frozen=True, kw_only=True)
class SparseThresholdConstruction(Construction):
    """Width 1 + (k+1)r plus k + 1 + 2^k for the retrieved bits, the feature and its table; r is the code's width."""

    theorem: str = "BHBK24 Theorem 13"
    addressing: Addressing | None = "position-and-average"
    frontier_power: int = 10
    how: tuple[str, ...] = (
        "With two layers, each head of position i first fetches one of the k bits that feature i looks at, by nearly "
        "orthogonal codes as in index lookup, and a feed-forward evaluates the feature; the second layer averages "
        "over all features, and a feed-forward compares the average with the threshold.",
    )
    deviations: tuple[str, ...] = (
        "E4: Kc ≥ 2",
        "E19: the embedding carries each feature's table",
        "E1: linear sign codes instead of a random draw",
    )

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, SparseThreshold)
        function = task.function(length)
        features, k = function.indices.shape
        places = addresses(length + 1, options.max_inner, options.family)
        r = places.width
        gain = options.gain if options.gain is not None else sufficient_gain(length + 1, places.max_inner)
        slots = Slots(
            (
                ("bit", 1), ("found", k), ("feature", 1), ("table", 2**k), ("address", r),
                *[(f"asked{head}", r) for head in range(k)],
            )
        )  # fmt: skip
        tokens, everywhere, featured = (0, 3), (0, length + 1), (1, features + 1)
        rows = numpy.array([[0], [1], [0]])
        embedding = (
            EmbeddingPart("bit", TableRows(ExactMatrix(rows)), "token", tokens, everywhere),
            EmbeddingPart("address", places.rule, "position", tokens, everywhere),
            EmbeddingPart("table", TableRows(ExactMatrix(function.tables)), "position", tokens, featured),
            *[
                EmbeddingPart(
                    f"asked{head}", places.rule, "position", tokens, everywhere, indices=_asked(function, head, length)
                )
                for head in range(k)
            ],
        )
        heads = tuple(
            Head(
                query=slots.reading(r, {f"asked{head}": identity(r, gain / places.norm)}),
                key=slots.reading(r, {"address": identity(r)}),
                value=slots.reading(1, {"bit": identity(1)}),
                output=slots.writing(1, {"found": _column(k, head)}),
            )
            for head in range(k)
        )
        return Network(
            slots,
            task.vocabulary(length).size,
            length + 1,
            embedding,
            (
                Attention(heads),
                _rounding(slots, k),
                _evaluation(slots, k),
                Attention((uniform_head(slots, "feature"),), residual=False),
                more_than(slots, "feature", length + 1, function.threshold),
            ),
            Readout(slots.reading(1, {"feature": identity(1)}), zeros(1, 1), "bits"),
            about=f"{self.theorem} for {task.name}, length {length}",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """1 + (k+1)r of the paper, and k + 1 + 2^k for what it leaves out."""
        assert isinstance(task, SparseThreshold)
        k = task.function(length).indices.shape[1]
        return 1 + (k + 1) * code_width + k + 1 + 2**k


def _asked(function: SparseFunction, head: int, length: int) -> Integers:
    """Return the position that this head of each position attends to; [BOS] where there is no feature."""
    asked = numpy.zeros(length + 1, dtype=numpy.int64)
    asked[1 : len(function.indices) + 1] = function.indices[:, head] + 1
    return asked


def _column(rows: int, place: int) -> ExactMatrix:
    column = numpy.zeros((rows, 1), dtype=numpy.int64)
    column[place, 0] = 1
    return ExactMatrix(column)


def _rounding(slots: Slots, k: int) -> FeedForward:
    """found ↦ step(found): the averages, which are at least 0, are replaced by exact bits."""
    units = [unit for head in range(k) for unit in step_units([("found", head, 1)], 0, ("found", head))]
    return feed_forward(slots, units, cleared=("found",))


def _evaluation(slots: Slots, k: int) -> FeedForward:
    """feature = Σ over combinations c of ReLU(number of bits that agree with c - k + table_c): one unit is table_c."""
    units: list[Unit] = []
    for combination in range(2**k):
        bits = [combination >> (k - 1 - head) & 1 for head in range(k)]
        reads = tuple(("found", head, 1 if bit else -1) for head, bit in enumerate(bits))
        agreeing = bits.count(0) - k
        units.append(Unit((*reads, ("table", combination, 1)), agreeing, (("feature", 0, 1),)))
    return feed_forward(slots, units)
