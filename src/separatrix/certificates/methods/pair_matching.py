"""Pair matching: attention that compares tokens with tokens and chooses between matches and a dummy, on all inputs.

The score of a query token z and a key token z' is one number F(z, z'), computed as the network's own evaluation does,
rounding included (``_token_scores``). On an input where z has no match, every number in its row has a score of at most
max F(z, z') over all z' that do not match z; where it has one, the row's largest score is at least F(z, match). Both
cases, each with the dummy's score F(z, ⊥), go through ``_bounded_softmax`` and the feed-forwards, for every z. If all
boxes end in the right bit, no input of that length is answered wrongly: the M^N inputs are all made of such rows.

``match3-last``: the same for the first layer, whose bit must be exact at the positions 1 … N-1 and constant at the
others; then uniform attention counts ones, and the rest of the network is run on every count.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._bounded_softmax import Group, averages, written
from separatrix.certificates.methods._boxes import Box, Raw
from separatrix.certificates.methods._counting import answers_by_count, live_columns
from separatrix.certificates.methods._layers import projected
from separatrix.certificates.methods._matching_tasks import (
    MatchingInputs,
    candidates,
    matching_inputs,
    require_token_slots,
)
from separatrix.certificates.methods._positions import Stream
from separatrix.certificates.methods._tail import decided, run_feed_forwards
from separatrix.certificates.methods._token_scores import match_and_other
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, ExactMatrix, Network


class PairMatching(Method):
    """One attention layer that compares tokens, and what follows it."""

    name = "pair-matching"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine every query token with and without a match."""
        inputs, arithmetic = matching_inputs(network, claim, ("match2", "match3-last"))
        if claim.task.parameters().get("exclude_query") is False:
            raise UnsupportedError("the method covers match3-last with the query excluded")
        _Examination(network, claim, inputs, arithmetic).run()
        return f"{inputs.modulus}^{inputs.length - (claim.task.name == 'match3-last')}"


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, claim: Claim, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.claim, self.inputs, self.arithmetic = network, claim, inputs, arithmetic
        self.stream = Stream(network, arithmetic)
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, Attention) or len(layer.heads) != 1 or layer.heads[0].mask != "none":
            raise UnsupportedError("the method covers networks that begin with one unmasked attention head")
        self.layer, self.head = layer, layer.heads[0]
        require_token_slots(network, self.stream, [self.head.query, self.head.key, self.head.value], "the first layer")
        self.live = live_columns(network)
        self.queries, self.keys = (self.project(each, inputs.numbers) for each in (self.head.query, self.head.key))

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        nothing, partners = numpy.zeros(1, dtype=numpy.int64), self.inputs.partners()
        match, other = match_and_other(self.head, self.network, self.queries, self.keys, partners, self.arithmetic)
        dummy = self.arithmetic.matmul(self.queries, self.project(self.head.key, nothing).T)[:, 0]
        values, dummy_value = self.values(self.inputs.numbers), self.values(nothing)[0]
        constant = Group(1, dummy, dummy, dummy_value, dummy_value)
        unknown = numpy.full(len(match), -(self.arithmetic.largest**2), dtype=numpy.int64)

        def outputs(best: Raw, high: Raw) -> Box:
            group = Group(self.inputs.length, best, high, values.min(axis=0), values.max(axis=0))
            average = averages([group, constant], self.arithmetic, self.head.scoring, "the first layer")
            return written(self.head.output, self.live, average, self.arithmetic, "the output matrix")

        without, matched = outputs(unknown, other), outputs(match, numpy.maximum(match, other))
        if self.claim.task.name == "match2":
            self.check_every_position(without, matched)
        else:
            self.check_last_position(without, matched)

    def project(self, matrix: ExactMatrix, tokens: Raw) -> Raw:
        """W x for these tokens, rounded as the arithmetic does."""
        return projected(matrix, self.network, self.stream, tokens, numpy.zeros(len(tokens), dtype=numpy.int64))

    def values(self, tokens: Raw) -> Raw:
        """Value vectors as whole numbers."""
        raw = self.project(self.head.value, tokens)
        if (raw % self.arithmetic.largest).any():
            raise UnsupportedError("the values of the first layer are not whole numbers; the method needs that")
        return raw // self.arithmetic.largest

    def check_every_position(self, without: Box, matched: Box) -> None:
        """Every number's own answer."""
        if self.network.readout.at != "every" or self.layer.residual:
            raise UnsupportedError("match2 is covered when read at every position after a layer without residual")
        for box, right in ((without, 0), (matched, 1)):
            stop = len(self.network.layers)
            after = run_feed_forwards(self.network, box, 1, stop, self.live, self.arithmetic)
            bad = numpy.nonzero(decided(self.network, after, self.live, self.arithmetic) != right)[0]
            if len(bad):
                how = "with a match" if right else "without a match"
                raise SuspicionError(f"{int(bad[0]) + 1} {how} is not always answered {right}", self.inputs_for(bad))

    def check_last_position(self, without: Box, matched: Box) -> None:
        """Exact bits before the second attention layer, and the right answer for every number of ones."""
        layers, last = self.network.layers, self.network.positions - 1
        second = next((number for number, layer in enumerate(layers) if number and isinstance(layer, Attention)), None)
        if second is None or self.network.readout.at != "last":
            raise UnsupportedError("match3-last is covered with two attention layers, read at the last position")
        kept = self.kept()
        for box, right in ((without, 0), (matched, 1)):
            # Each different row of what is kept once, at the first position that has it.
            for place in numpy.unique(kept[1:last], axis=0, return_index=True)[1].tolist():
                row = kept[1 + place]
                bad = numpy.nonzero(self.bits(Box(box.low + row, box.high + row), second) != right)[0]
                if len(bad):
                    reason = f"{int(bad[0]) + 1} at position {2 + place} does not always hand on an exact {right}"
                    raise SuspicionError(reason, self.inputs_for(bad, 1 + place))
        # The last position holds token M, which matches itself; of the dummy's own row nothing is known.
        end = self.bits(Box(matched.low[-1:] + kept[last], matched.high[-1:] + kept[last]), second)
        anything = self.anything()
        start = self.bits(Box(anything.low + kept[0], anything.high + kept[0]), second)
        nothing = numpy.zeros(0, dtype=numpy.int64)
        if int(start[0]) < 0 or int(end[0]) < 0:
            raise SuspicionError("the first or last position hands on no exact 0 or 1", self.inputs_for(nothing))
        offset = int(start[0]) + int(end[0])
        answers = answers_by_count(self.network, second, last - 1 + offset, self.arithmetic)
        for count in range(last):
            given = int(answers[count + offset])
            if given != int(count > 0):
                reason = f"inputs in which {count} of z_1 … z_{last - 1} match are answered {given}"
                raise SuspicionError(reason, self.inputs_for(nothing))

    def kept(self) -> Raw:
        """What a residual keeps of the embedding in the live coordinates, by position: (positions, live)."""
        positions = numpy.arange(self.network.positions, dtype=numpy.int64)
        full = numpy.zeros((len(positions), self.network.slots.width), dtype=numpy.int64)
        if self.layer.residual:
            for name, _ in self.network.slots.parts:
                columns = self.network.slots.columns(name)
                if columns.start in self.live:
                    parts = [part for part in self.network.embedding if part.slot == name]
                    whole_range = (0, self.network.vocabulary)
                    if any(part.source == "token" or part.tokens != whole_range for part in parts):
                        raise UnsupportedError(f"slot {name!r} keeps a token beyond the first layer; not covered")
                    full[:, columns] = self.stream.rows(name, numpy.zeros_like(positions), positions)
        return full[:, self.live]

    def anything(self) -> Box:
        """What any weights can make of any values: one case."""
        tokens = numpy.arange(self.inputs.modulus + 1, dtype=numpy.int64)
        values = self.values(tokens)
        most = self.arithmetic.largest + self.network.positions
        low = most * numpy.minimum(values.min(axis=0), 0)[None, :]
        high = most * numpy.maximum(values.max(axis=0), 0)[None, :]
        return written(self.head.output, self.live, Box(low, high), self.arithmetic, "the output matrix")

    def bits(self, box: Box, second: int) -> Raw:
        """What each case hands to the second attention layer: 0, 1, or -1 where it is neither exactly."""
        layer = self.network.layers[second]
        assert isinstance(layer, Attention)
        after = run_feed_forwards(self.network, box, 1, second, self.live, self.arithmetic)
        full = [numpy.zeros((len(after.low), self.network.slots.width), dtype=numpy.int64) for _ in range(2)]
        full[0][:, self.live], full[1][:, self.live] = after.low, after.high
        first = numpy.zeros(1, dtype=numpy.int64)
        handed = written(layer.heads[0].value, first, Box(*full), self.arithmetic, "the second value matrix")
        low, high, one = handed.low[:, 0], handed.high[:, 0], self.arithmetic.largest
        return numpy.where((low == high) & ((low == 0) | (low == one)), low // one, -1)

    def inputs_for(self, suspects: Raw, position: int | None = None) -> Iterator[Raw]:
        """Inputs worth trying: around the suspect queries that are themselves nearest to a match, then random ones."""
        partners = self.inputs.partners()
        # A query's own number is in its row on every input, and so is the last one of match3-last.
        own = self.arithmetic.multiply(self.queries[suspects], self.keys[suspects])
        if self.claim.task.name == "match3-last":
            own = self.arithmetic.add(own, self.arithmetic.multiply(self.queries[suspects], self.keys[-1:]))
        always = self.arithmetic.sum(own, axis=1)
        always[partners[suspects] == suspects] = always.min(initial=0)
        listed: list[tuple[int, list[int]]] = []
        for query in suspects[numpy.argsort(-always, kind="stable")[:3]].tolist():
            scores = self.arithmetic.matmul(self.queries[query : query + 1], self.keys.T)[0]
            scores[int(partners[query])] = scores.min()
            near = numpy.argsort(-scores, kind="stable")[:2] + 1
            listed.append((query + 1, near.tolist()))
        return candidates(self.inputs, self.claim, listed, position)


METHOD = PairMatching()
