"""Pair matching: attention that compares tokens with tokens and chooses between matches and a dummy, on all inputs.

The score of a query token z and a key token z' is one number F(z, z'), computed as the network's own evaluation does,
rounding included (``_token_scores``). On an input where z has no match, every number in its row has a score of at most
max F(z, z') over all z' that do not match z; where it has one, the row's largest score is at least F(z, match). Both
cases, each with the dummy's score F(z, ⊥), go through ``_bounded_softmax`` and the feed-forwards, for every z. If all
boxes end in the right bit, no input of that length is answered wrongly: the M^N inputs are all made of such rows.

``match3-last``: the same for the first layer, whose bit must be exact at the positions 1 … N-1 and constant at the
others; then uniform attention counts ones, and the rest of the network is run on every count.
"""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs, matching_inputs
from separatrix.certificates.methods._bounded_softmax import Group, alike, answers, written
from separatrix.certificates.methods._boxes import Box, feed_forwards, in_range, product_range
from separatrix.certificates.methods._counting import answers_by_count, counting_head, handed_on
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole, whole_part
from separatrix.certificates.methods._streams import (
    by_token,
    columns,
    filled,
    live_slots,
    only_by_token,
    projected,
    reads,
)  # fmt: skip
from separatrix.certificates.methods._token_scores import match_and_other, part_of, token_scores
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, ExactMatrix, Network
from separatrix.progress import tracked

WHAT = "the first layer"


class PairMatching(Method):
    """One attention layer that compares tokens, and what follows it."""

    name = "pair-matching"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine every query token with and without a match."""
        inputs = matching_inputs(claim, ("match2", "match3-last"))
        if claim.task.parameters().get("exclude_query") is False:
            raise UnsupportedError("the method covers match3-last with the query excluded")
        examination = _Examination(network, inputs, fixed_point(claim))
        if claim.task.name == "match2":
            examination.check_every_position()
            return f"{inputs.modulus}^{inputs.length}"
        examination.check_last_position()
        return f"{inputs.modulus}^{inputs.length - 1}"


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.inputs, self.arithmetic = network, inputs, arithmetic
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, Attention) or len(layer.heads) != 1 or layer.heads[0].mask != "none":
            raise UnsupportedError("the method covers networks that begin with one unmasked attention head")
        self.layer, self.head = layer, layer.heads[0]
        only_by_token(network, reads(network, self.head.query, self.head.key, self.head.value))
        self.slots = live_slots(network)
        self.live = columns(network, self.slots)

    def projected(self, matrix: ExactMatrix, tokens: Raw) -> Raw:
        """W x for these tokens."""
        return projected(matrix, self.network, tokens, numpy.zeros_like(tokens), self.arithmetic)

    def values(self, tokens: Raw) -> Raw:
        """Value vectors as whole numbers."""
        return whole_part(self.projected(self.head.value, tokens), self.arithmetic, "the values of the first layer")

    def rows(self) -> tuple[list[Group], list[Group]]:
        """The row of every number, without a match and with one."""
        head, numbers, nothing = self.head, self.inputs.numbers, numpy.zeros(1, dtype=numpy.int64)
        scores = token_scores(head, self.network, numbers, self.arithmetic)
        match, other = match_and_other(scores, self.inputs.partners())
        # Where the dummy's key is 0, so is its product with any query.
        dummy_key = self.projected(head.key, nothing)
        met = numpy.nonzero(dummy_key[0])[0]
        dummy = self.arithmetic.matmul(self.projected(part_of(head.query, met), numbers), dummy_key[:, met].T)[:, 0]
        constant, values = Group(1, dummy, dummy, self.values(nothing)), self.values(numbers)
        unknown = numpy.full(len(match), -(self.arithmetic.largest**2), dtype=numpy.int64)

        high = numpy.maximum(match, other)
        return [Group(self.inputs.length, unknown, other, values), constant], [
            Group(self.inputs.length, match, high, values), constant,
        ]  # fmt: skip

    def check_every_position(self) -> None:
        """Every number's own answer."""
        if self.network.readout.at != "every" or self.layer.residual:
            raise UnsupportedError("match2 is covered when read at every position after a layer without residual")
        for right, row in enumerate(self.rows()):
            bad = numpy.nonzero(answers(row, self.head, self.network, self.arithmetic, WHAT) != right)[0]
            if len(bad):
                how = "with a match" if right else "without a match"
                raise SuspicionError(f"{int(bad[0]) + 1} {how} is not always answered {right}", queries=bad)

    def check_last_position(self) -> None:
        """Exact bits before the second attention layer, and the right answer for every number of ones."""
        layers, last, one = self.network.layers, self.network.positions - 1, self.arithmetic.largest
        second = next((number for number, layer in enumerate(layers) if number and isinstance(layer, Attention)), None)
        if second is None or self.network.readout.at != "last":
            raise UnsupportedError("match3-last is covered with two attention layers, read at the last position")
        counting, nothing = counting_head(self.network, second), numpy.zeros(0, dtype=numpy.int64)
        kept = self.kept()

        def bits(box: Box, place: int) -> Raw:
            after = in_range(box.plus(kept[place]), self.arithmetic, WHAT)
            after = feed_forwards(self.network, after, 1, second, self.live, self.arithmetic)
            return handed_on(counting, self.live, after, self.arithmetic)

        cases = [alike(row) for row in self.rows()]
        rows = [written(row, self.head, self.live, self.arithmetic, WHAT) for row, _ in cases]
        # Each different row of what is kept once, at the first position that has it.
        for place in tracked((1 + numpy.unique(kept[1:last], axis=0, return_index=True)[1]).tolist(), "positions"):
            for right, box in enumerate(rows):
                bad = numpy.nonzero((bits(box, place) != right)[cases[right][1]])[0]
                if len(bad):
                    reason = f"{int(bad[0]) + 1} at position {place + 1} does not always pass on an exact {right}"
                    raise SuspicionError(reason, queries=bad, position=place)
        # The last position holds token M, which matches itself; of the dummy's own row nothing is known.
        values = self.values(numpy.arange(self.inputs.modulus + 1, dtype=numpy.int64))
        ends = numpy.stack([values.min(axis=0), values.max(axis=0), numpy.zeros_like(values[0])]) * (one + last + 1)
        output = whole(self.head.output, WHAT)[self.live, :]
        anything = product_range(
            output, Box(ends.min(axis=0)[None, :], ends.max(axis=0)[None, :]), self.arithmetic, WHAT
        )
        start, end = int(bits(anything, 0)[0]), int(bits(rows[1], last)[cases[1][1][-1]])
        if start < 0 or end < 0:
            raise SuspicionError("the first or last position passes on no exact 0 or 1", queries=nothing)
        by_count = answers_by_count(self.network, second, last - 1 + start + end, self.arithmetic)
        for count in range(last):
            if int(by_count[count + start + end]) != int(count > 0):
                reason = f"inputs in which {count} of z_1 … z_{last - 1} match are answered wrongly"
                raise SuspicionError(reason, queries=nothing)

    def kept(self) -> Raw:
        """What a residual keeps of the embedding in the live coordinates, by position: (positions, live)."""
        if self.layer.residual and by_token(self.network, self.slots, self.network.vocabulary):
            raise UnsupportedError("something keeps a token beyond the first layer; the method does not cover that")
        positions = numpy.arange(self.network.positions, dtype=numpy.int64)
        rows = filled(self.network, self.slots, numpy.zeros_like(positions), positions, self.arithmetic)
        return rows * int(self.layer.residual)


METHOD = PairMatching()
