"""Sparse averaging by one self-attention unit: SHT23, q-Sparse Averaging, "Self-attention solution".

φ(i, S_i, v_i) = (u_i, α·w_{S_i}, v_i): keys are sign vectors of width k, queries dual certificates, values the values.
Attention is 1/q on S_i and almost nothing elsewhere, so the output is (1/q) Σ_{j∈S_i} v_j up to an error. The task asks
for the sum in whole numbers, for values of norm at most R: the readout multiplies by q and rounds to the nearest whole
number, which is right as long as the average is off by less than 1/(2q) in every coordinate, 1/(2qR) for vectors of
norm 1.

How large things must be (h = 1/(1 - n) as in ``arithmetic.codes.dual``, Δ the step of the fixed point):

* attention outside S: N·e^(-g)/q with e^g ≥ 8RN is at most 1/(8qR); it is missing inside S and added outside, which
  costs at most 2·R/(8qR) = 1/(4q), half of what is allowed.
* rounding: each of the k coordinates of a query is off by less than Δ, so that two scores inside S differ by less than
  2kΔ, and each weight is rounded once. R·(2kΔ + 2qΔ) ≤ 1/(8q) holds from N^Kc ≥ 16qR(k + q) on.

Deviations. E9: see ``_averaging``. E1: linear codes, so that the keys are described by a generator of O(log² N) bits
and all pairs are known from N weights. φ is arbitrary in the slides' model: the dual certificate is computed from the
set in exact rational numbers and rounded once (``networks.dual``). The variant ``half`` keeps the slides' bound 1/2.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._averaging import SetCodes, set_codes, set_gain
from separatrix.networks import (
    Attention,
    CellSets,
    DualPart,
    EmbeddingPart,
    ExactMatrix,
    FeaturePart,
    Head,
    Network,
    Readout,
    Slots,
    identity,
    zeros,
)
from separatrix.tasks import SparseAveraging, Task


@dataclass(frozen=True, kw_only=True)
class SparseAveragingConstruction(Construction):
    """Width d + 2k with k the width of a sign code in which every set of q vectors has a dual certificate."""

    name: str = "sparse-averaging"
    title: str = "Sparse averaging"
    theorem: str = "SHT23 qSA"
    statement: str = "one self-attention unit with m = O(d + q log N) averages any q values at every position"
    task_name: str = "sparse-averaging"
    longest_built: int | None = 1 << 16
    how: tuple[str, ...] = (
        "For every set of q positions there is a query of O(q log N) numbers whose score is the same at all of them "
        "and smaller anywhere else, so that the softmax averages exactly these.",
    )
    deviations: tuple[str, ...] = (
        "E9: least-norm dual certificates bounded by q/(q + 1) outside a set instead of 1/2",
        "E1: linear sign codes instead of a random draw",
        "the input map computes the dual certificate of a set, as SHT23's arbitrary φ may",
    )
    variants: tuple[str, ...] = ("repaired", "half")

    def default_exponent(self, task: Task, length: int) -> int:
        assert isinstance(task, SparseAveraging)
        codes = self.codes(task, length, Options())
        rounding = 16 * task.answer_scale * (codes.width + task.sparsity)
        # A score may be as large as α = (q + 1)·g.
        return least_exponent(length, max(rounding, int(2 * set_gain(codes, 8 * task.resolution * length, Options()))))

    def codes(self, task: SparseAveraging, length: int, options: Options) -> SetCodes:
        """Return the keys."""
        bound = Fraction(1, 2) if options.variant == "half" else None
        return set_codes(length, task.sparsity, options, bound)

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, SparseAveraging)
        q, d = task.sparsity, task.dimension
        codes = self.codes(task, length, options)
        k, gain = codes.width, set_gain(codes, 8 * task.resolution * length, options)
        slots = Slots((("value", d), ("asked", k), ("key", k)))
        picked = numpy.concatenate(
            [numpy.zeros((d, 1 + q), dtype=numpy.int64), numpy.eye(d, dtype=numpy.int64)], axis=1
        )
        vocabulary = task.vocabulary(length).size
        head = Head(
            query=slots.reading(k, {"asked": identity(k)}),
            key=slots.reading(k, {"key": identity(k)}),
            value=slots.reading(d, {"value": identity(d)}),
            output=slots.writing(d, {"value": identity(d)}),
        )
        return Network(
            slots,
            vocabulary,
            length,
            (EmbeddingPart("key", codes.rule, "position", (0, vocabulary), (0, length)),),
            # Without residuals the stream after the unit holds the average alone.
            (Attention((head,), residual=False),),
            Readout(
                slots.reading(d, {"value": identity(d, q)}),
                zeros(d, 1),
                "round",
                "every",
            ),
            about=f"{self.theorem} ({options.variant}), q = {q}, d = {d}, R = {task.resolution}, length {length}",
            feature_parts=(FeaturePart("value", ExactMatrix(picked)),),
            dual_parts=(DualPart("asked", codes.rule, CellSets((1, 1 + q)), gain),),
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """d + 2k."""
        del length
        assert isinstance(task, SparseAveraging)
        return task.dimension + 2 * code_width


CONSTRUCTION = SparseAveragingConstruction()
