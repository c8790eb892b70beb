"""Sparse averaging: attention by dual certificates, for all sets and all values at once, by a bound on the codes.

Everything is computed from the weight file in integers and exact fractions. Let the keys be f·u_j with sign vectors u_j
of a linear code of width k, the queries α·w_S with each coordinate rounded once, and 1 = N^Kc the raw number of 1.

1. *All sets.* ⟨w_S, u_j⟩ is 1 on S and at most c outside, for every set of q vectors: ``outside_bound`` from the inner
   products of the code, all of which are those of one vector with the others. This is a bound on the codes: it may fail
   for a code whose sets all have certificates, and it never passes for one that has a bad set.
2. *Rounding.* Two raw scores differ from f·1·α·(difference of exact products) by at most f·r, where r = 2D for rounding
   down and D to nearest, D the largest distance of two words: only places where the vectors differ count, with ±2 each,
   and a coordinate is off by less than 1, or by at most 1/2.
3. *Weights.* So powers are between L = exp(-f·r) and 1 on S, and at most exp(-f·(1·α·(1 - c) - r)) outside, where exp
   is the fixed point's own, which is monotone. Each weight on S is then between two integers, the others' sum is below
   one, and readout - 1·Σ_S v is at most R·q·(max |q·weight - 1| + the others' sum) in every coordinate.
   With ReLU attention the scores themselves are what is divided by its sum: those on S are within f·k of f·1·α.
4. *Answer.* If that is below 1/2, rounding to the nearest whole number gives the sum on every input.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

import numpy

from separatrix.arithmetic import FixedPoint, outside_bound
from separatrix.bit_counts import bits_for
from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole
from separatrix.certificates.verdict import Claim, Method, OtherClaimError, SuspicionError, UnsupportedError
from separatrix.networks import Attention, CellSets, DualPart, Head, Network, SignRows
from separatrix.progress import tracked

WORDS_AT_A_TIME = 1 << 14


class SparseAveragingMethod(Method):
    """One attention head whose queries are dual certificates, read as rounded sums."""

    name = "dual-certificates"
    order = 35
    extensions = True

    def prove(self, network: Network, claim: Claim) -> str:
        """Bound the error of every sum on every input."""
        task = claim.task
        if known_name(task) != "sparse-averaging":
            raise OtherClaimError(f"the method covers sparse-averaging, not {task.name}")
        parameters = task.parameters()
        asked = Asked(claim.length, parameters["sparsity"], parameters["dimension"], parameters["resolution"])
        _Examination(network, fixed_point(claim), asked).run()
        return f"(C({asked.length},{asked.sparsity})*{asked.values})^{asked.length}"


@dataclass(frozen=True)
class Asked:
    """What the task asks: cells (i, S_i ascending, v_i), i = 1 … N; output i is the sum of the v_j, j in S_i."""

    length: int
    sparsity: int
    dimension: int
    resolution: int

    @property
    def numbers(self) -> int:
        """Numbers in a cell."""
        return 1 + self.sparsity + self.dimension

    @property
    def values(self) -> int:
        """How many whole-number vectors have a norm of at most R, counted coordinate by coordinate."""
        count = {0: 1}
        for _ in range(self.dimension):
            longer: dict[int, int] = {}
            for squared, number in count.items():
                reach = isqrt(self.resolution**2 - squared)
                for each in range(-reach, reach + 1):
                    longer[squared + each * each] = longer.get(squared + each * each, 0) + number
            count = longer
        return sum(count.values())


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, arithmetic: FixedPoint, asked: Asked) -> None:
        self.network, self.arithmetic, self.asked = network, arithmetic, asked
        layer = network.layers[0] if len(network.layers) == 1 else None
        if not isinstance(layer, Attention) or len(layer.heads) != 1 or layer.residual:
            raise UnsupportedError("the method covers one attention head without residual and nothing after it")
        self.head: Head = layer.heads[0]
        if self.head.mask != "none" or self.head.scoring not in ("softmax", "relu"):
            raise UnsupportedError("the method covers softmax and relu attention without a mask")
        if network.readout.decoding != "round" or network.readout.at != "every":
            raise UnsupportedError("the method covers readouts rounded to whole numbers at every position")

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        dual, rule, factor = self.scores()
        self.values()
        inner = inner_products(rule, self.asked.length)
        width, q = rule.width, self.asked.sparsity
        outside = outside_bound(inner.tolist(), width, q)
        if outside is None or dual.gain <= 0 or factor <= 0:
            reason = f"the code of width {width} does not give every set of {q} vectors a dual certificate"
            raise SuspicionError(reason, inner=inner)
        one = self.arithmetic.largest
        # h ≥ Σ|x_i|/q of the text; a coordinate of α·w_S is at most α·q·h/k, a score at most α·q·h.
        negative = sum(max(-each, 0) for each in sorted(inner.tolist())[: q - 1])
        steepest = dual.gain * q / (1 - Fraction(negative, width))
        if factor * (steepest + width) >= one:
            raise UnsupportedError("scores may reach the end of the range; a larger Kc keeps them inside")
        distance = (width - int(inner.min(initial=0))) // 2
        spread = factor * (2 * distance if self.arithmetic.rounding == "down" else distance)
        score = factor * one * dual.gain
        masses = self.masses(floor(score), floor(score * (1 - outside)), spread, factor * width)
        error = None if masses is None else self.error(*masses)
        if error is None or 2 * error >= one:
            how = "any" if error is None else f"up to {float(Fraction(error, one)):.3g} of 1/2"
            reason = f"a sum may be off by {how}: outside a set products reach {outside}, scores inside differ"
            raise SuspicionError(reason, inner=inner)

    # -- structure ---------------------------------------------------------------------------------------------

    def scores(self) -> tuple[DualPart, SignRows, int]:
        """The dual certificates, the keys' code and the factor f; queries and keys must be multiples of both."""
        slots, duals = self.network.slots, self.network.dual_parts
        keys = [part for part in self.network.embedding if part.slot in slots.read_by(self.head.key)]
        if len(duals) != 1 or len(keys) != 1 or slots.read_by(self.head.query) != {duals[0].slot}:
            raise UnsupportedError("the method covers queries of one dual certificate and keys of one sign code")
        dual, key = duals[0], keys[0]
        others = {part.slot for part in (*self.network.embedding, *self.network.feature_parts) if part is not key}
        if slots.read_by(self.head.key) != {key.slot} or {dual.slot, key.slot} & others or dual.slot == key.slot:
            raise UnsupportedError("the slots of queries and keys hold something else as well")
        if key.source != "position" or key.indices is not None or not isinstance(key.rule, SignRows):
            raise UnsupportedError("the method covers keys whose sign vectors follow the positions")
        if key.positions != (0, self.asked.length) or key.tokens[0] > 0 or key.tokens[1] < 1:
            raise UnsupportedError("the method covers keys that every position has")
        factor = self.multiple(self.head.query.numerators, self.head.query.denominator, dual.slot)
        factor *= self.multiple(self.head.key.numerators, self.head.key.denominator, key.slot)
        q = self.asked.sparsity
        same = dual.rule.generator.shape == key.rule.generator.shape
        if not same or bool((dual.rule.generator != key.rule.generator).any()):
            raise SuspicionError("queries and keys have different sign vectors", inner=None)
        if dual.sets != CellSets((1, 1 + q), 1):
            raise SuspicionError("the sets are not read from the cells as the task writes them", inner=None)
        return dual, key.rule, factor

    def multiple(self, numerators: Raw, denominator: int, slot: str) -> int:
        """The whole number f when a matrix reads a slot as f times its coordinates."""
        block = numerators[:, self.network.slots.columns(slot)]
        value = int(block[0, 0]) if block.size else 0
        size = block.shape[1]
        if block.shape != (size, size) or (block != value * numpy.eye(size, dtype=numpy.int64)).any():
            raise UnsupportedError(f"slot {slot!r} is not read as a multiple of its coordinates")
        if value % denominator:
            raise UnsupportedError(f"slot {slot!r} is read times {value}/{denominator}, which is not a whole number")
        return value // denominator

    def values(self) -> None:
        """The way from cells to sums: whole numbers without loss, and q times the value's coordinates together."""
        slots, asked = self.network.slots, self.asked
        read = slots.read_by(self.head.value)
        parts = [part for part in self.network.feature_parts if part.slot in read]
        filled = {part.slot for part in (*self.network.embedding, *self.network.dual_parts)}
        if len(parts) != 1 or read != {parts[0].slot} or read & filled:
            raise UnsupportedError("the method covers values read from one slot that the cells alone fill")
        steps = [
            whole(parts[0].matrix, "the part that reads values"),
            whole(self.head.value, "the value matrix")[:, slots.columns(parts[0].slot)],
            whole(self.head.output, "the output matrix"),
            whole(self.network.readout.matrix, "the readout"),
        ]
        if numpy.any(steps[0][:, : 1 + asked.sparsity]):
            raise UnsupportedError("the method covers values that do not depend on the index and the set of a cell")
        largest = numpy.full(asked.numbers, asked.resolution, dtype=object)
        # Python's integers: no product here can overflow. A weighted average is at most twice a value.
        together = numpy.eye(asked.numbers, dtype=object)
        for matrix in steps:
            together = matrix.astype(object) @ together
            largest = 2 * (numpy.abs(matrix).astype(object) @ largest)
            heaviest = max([0, *numpy.abs(matrix).reshape(-1).tolist()])
            if max([heaviest, *largest.tolist()]) > self.arithmetic.largest:
                raise UnsupportedError("values may leave the range on their way; a larger Kc keeps them inside")
        wanted = numpy.zeros((asked.dimension, asked.numbers), dtype=object)
        wanted[:, 1 + asked.sparsity :] = asked.sparsity * numpy.eye(asked.dimension, dtype=object)
        right = together.shape == wanted.shape and bool((together == wanted).all())
        if not right or self.network.readout.bias.parameters:
            raise SuspicionError(f"the readout is not {asked.sparsity} times the average", inner=None)

    # -- numbers -----------------------------------------------------------------------------------------------

    def masses(self, score: int, gap: int, spread: int, slack: int) -> tuple[int, int, int] | None:
        """What is divided by its sum: the largest on S, the least on S, the most outside; None if that could be more.

        Scores on S are within ``slack`` of ``score`` and within ``spread`` of each other, all others ``gap`` behind.
        """
        limit, behind = self.arithmetic.largest**2, spread - gap
        if behind >= 0:
            return None
        if self.head.scoring == "relu":
            # Shares on S and outside are furthest apart where the largest score is least and the others' most.
            top, stray = score - slack, max(0, score + slack + 1 + behind)
            outside = self.asked.length - self.asked.sparsity
            if top <= spread or self.asked.sparsity * (score + slack + 1) + outside * stray > limit:
                raise UnsupportedError("the sum of the scores may be cut off, or a score on a set may not be positive")
            return top, top - spread, stray
        powers = numpy.array([-min(spread, limit), max(behind, -limit)], dtype=numpy.int64)
        least, stray = (int(each) for each in self.arithmetic.exp(powers))
        return self.arithmetic.largest, least, stray

    def error(self, top: int, least: int, stray: int) -> int:
        """How far a raw readout may be from the sum."""
        one, q, others = self.arithmetic.largest, self.asked.sparsity, self.asked.length - self.asked.sparsity
        nearest = int(self.arithmetic.rounding == "nearest")
        rest = others * stray
        heaviest = one * top // (top + (q - 1) * least) + nearest
        lightest = one * least // (least + (q - 1) * top + rest)
        each_other = (2 * one * stray // (top + (q - 1) * least) + nearest) // 2
        all_others = one * rest // (top + (q - 1) * least + rest) + nearest * others
        stray_weight = min(others * each_other, all_others)
        inside = max(abs(q * heaviest - one), abs(one - q * lightest))
        return self.asked.resolution * q * (inside + stray_weight)


def inner_products(rule: SignRows, count: int) -> Raw:
    """k · ⟨u_0, u_w⟩ for w = 1 … 2^b - 1, 2^b the power of two from ``count`` on.

    For a linear code ⟨u_i, u_j⟩ = ⟨u_0, u_{i xor j}⟩, so that every vector sees a part of these numbers.
    """
    words = 1 << bits_for(count)
    if words > rule.count:
        raise UnsupportedError(f"the sign code has {rule.count} vectors, {count} are needed")
    pieces = [
        rule.signs(numpy.arange(start, min(start + WORDS_AT_A_TIME, words), dtype=numpy.int64)).sum(axis=1)
        for start in tracked(range(1, words, WORDS_AT_A_TIME), "words of the code")
    ]
    return numpy.concatenate([numpy.zeros(0, dtype=numpy.int64), *pieces])


METHOD = SparseAveragingMethod()
