"""Multi-query associative recall by two layers: the corollary of BHBK24 Theorem 7 (Appendix G).

Keys are symbols, embedded as the corners of a hypercube of dimension d' = ⌈log₂ |Σ|⌉ (Appendix G's "normalized binary
encodings", here with entries ±1): a key agrees with itself in all d' places and with any other in at most d' - 1, so
the inner products differ by at least 2. Labels have content 0, which is d' below a match, so that nothing else has to
exclude them. The rest is ``_content_recall.py``.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy

from separatrix.bit_counts import bits_for
from separatrix.constructions.pieces import binary_rows
from separatrix.constructions.theorems._content_recall import ContentRecallConstruction, Contents
from separatrix.networks import EmbeddingPart, ExactMatrix, SignRows, TableRows
from separatrix.tasks import Recall, Task


@dataclass(frozen=True, kw_only=True)
class RecallConstruction(ContentRecallConstruction):
    """Recall of symbols, read where the task asks."""

    name: str = "mqar"
    title: str = "Multi-query associative recall, two layers"
    theorem: str = "BHBK24 Theorem 7, corollary"
    statement: str = "a 2-layer Transformer of width O(log N) and precision O(log N) recalls the label of every query"
    task_name: str = "mqar"
    how: tuple[str, ...] = (
        "With two layers, the query first compares itself with all earlier keys; attention falls on the one that is "
        "the same and brings back its address, a code of its place. In the second layer that address finds the label "
        "next to the key, and the label's bits are read off.",
    )
    at: Literal["last", "every"] = "every"

    def contents(self, task: Task, length: int, gap: Fraction) -> Contents:
        assert isinstance(task, Recall)
        keys, labels, positions = task.key_symbols(length), task.labels, task.positions(length)
        d, written = max(1, bits_for(keys)), binary_rows(labels)
        everywhere = (0, positions)
        kinds = numpy.repeat(numpy.array([0, 1]), [keys, labels])
        parts = (
            EmbeddingPart("point", SignRows(numpy.eye(d, dtype=numpy.uint8)), "token", (0, keys), everywhere),
            EmbeddingPart("label", TableRows(ExactMatrix(written)), "token", (keys, keys + labels), everywhere),
            EmbeddingPart(
                "kind",
                TableRows(ExactMatrix(numpy.array([[1], [-1]]))),
                "token", (0, keys + labels), everywhere, indices=kinds,
            ),
        )  # fmt: skip
        # A match is ahead by 2 of another key and by d' of a label.
        scale = gap / min(2, d)
        return Contents(d, written.shape[1], scale, Fraction(0), scale * d + 1, parts, self.at)


CONSTRUCTION = RecallConstruction()
