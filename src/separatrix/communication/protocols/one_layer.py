"""BHBK24 Theorem 4 (Appendix D) executed: Alice and Bob compute a one-layer Transformer by exchanging counted bits.

Each party is an object with the tokens of its own positions and the public plan. It embeds its own positions, and what
it knows about the other's comes out of messages alone:

1. *query*: the holder of the position that is read sends x_N (or the queries, or the token);
2. *maxima*: each sends the largest score among its keys; M is the larger one;
3. *totals*: each sends its exact sum of the rounded exponentials exp(A - M); Z = Z_A + Z_B;
4. *values*: the weights exp(A - M)/Z are rounded, and sums of weighted values U are sent, exactly: what is rounded
   before the sum in a direct evaluation is rounded here, what is saturated after it is saturated after U_A + U_B;
5. *answer*: in the versions that send U one way, the holder finishes the network and sends the answer.

So the readouts equal those of ``evaluate`` bit for bit, in either rounding, with saturation and with either reading of
products. A party without a visible key sends the smallest number as its maximum, which changes nothing.

Work and memory of a party grow with its positions times the width, as for one query of a direct evaluation.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy

from separatrix.arithmetic import Arithmetic, Products, RawArray
from separatrix.catalog import ExecutedClaim
from separatrix.communication.partition import Partition, of_positions
from separatrix.communication.protocols.bits import BitReader, BitWriter, Code, number_code
from separatrix.communication.protocols.head_part import HeadPart
from separatrix.communication.protocols.plan import Plan, make_plan
from separatrix.communication.protocols.transcript import (
    ALICE,
    BOB,
    Outgoing,
    Speech,
    Transcript,
    Wire,
    converse,
    faithful,
)
from separatrix.networks import AnyNetwork, Integers, affine, check_tokens, decode, embedded, run_layer
from separatrix.wording import counted

ONE_LAYER_PROTOCOL = ExecutedClaim(
    "BHBK24 Theorem 4", "protocol", "one-layer-protocol", "separatrix protocol index-lookup --length 16", __file__
)


@dataclass(frozen=True)
class Found:
    """What a party knows at the end: the answer, and the raw readouts (outputs,) if it computed them."""

    answer: Integers
    raw: RawArray | None


@dataclass(frozen=True)
class OneLayerRun:
    """A run of the protocol: the plan, all messages, and what either side found."""

    plan: Plan
    transcript: Transcript
    alice: Found
    bob: Found

    @property
    def holder(self) -> Found:
        """What the holder of the position that is read found."""
        return self.alice if self.plan.holder == ALICE else self.bob

    @property
    def raw(self) -> RawArray:
        """The raw readouts (outputs,) at the position that is read."""
        raw = self.holder.raw
        assert raw is not None
        return raw

    @property
    def answer(self) -> Integers:
        """The decoded answer, which both sides know."""
        return self.holder.answer


def run_one_layer(
    network: AnyNetwork,
    cells: Integers,
    arithmetic: Arithmetic,
    partition: Partition,
    *,
    version: str = "repaired",
    products: Products = "rounded",
    position: int | None = None,
    wire: Wire = faithful,
) -> OneLayerRun:
    """Run the protocol on one input: tokens (positions,), or cells (positions, features)."""
    plan = make_plan(network, arithmetic, partition, version, products, position)
    # The whole input is known here and nowhere below: each party is given its own cells.
    check_tokens(network, cells[None])
    alice = OneLayerParty(ALICE, plan, cells[list(partition.alice)])
    bob = OneLayerParty(BOB, plan, cells[list(partition.bob)])
    talk = converse(alice, bob, wire)
    return OneLayerRun(plan, talk.transcript, talk.alice, talk.bob)


class OneLayerParty:
    """Alice or Bob: the public plan, and the cells (own positions, …) of this party's positions."""

    def __init__(self, name: str, plan: Plan, cells: Integers) -> None:
        self.name = name
        self.plan = plan
        self.cells = cells
        self.positions = plan.partition.alice if name == ALICE else plan.partition.bob

    @property
    def holds_query(self) -> bool:
        """Whether the position that is read is this party's."""
        return self.plan.holder == self.name

    def speech(self) -> Speech[Found]:
        """Return the five steps."""
        plan = self.plan
        opening = yield self._opening() if self.holds_query else None
        query, queries = self._queries(opening)
        heads = [
            HeadPart(plan, head, queries[number], self._stream, numpy.array(self.positions, dtype=numpy.int64))
            for number, head in enumerate(plan.attention.heads)
        ]
        comparing = [part for part in heads if part.head.scoring != "linear"]
        if comparing:
            code = number_code(plan.arithmetic)
            heard = yield self._say("maxima", "largest scores", [part.largest for part in comparing], code)
            for part, largest in zip(comparing, self._hear(heard, len(comparing), code), strict=True):
                part.learn_largest(largest)
            code = plan.total_code
            heard = yield self._say("totals", "sums of exponentials", [part.total for part in comparing], code)
            for part, total in zip(comparing, self._hear(heard, len(comparing), code), strict=True):
                part.learn_total(total)
        both_ways = plan.version.both_ways
        heard = yield self._values(heads) if both_ways or not self.holds_query else None
        if not both_ways and not self.holds_query:
            # U has been sent; what comes next is the answer.
            return (yield from self._wait_for_answer())
        sums = self._hear_values(heard, heads)
        assert query is not None
        found = self._finish(query, [part.averaged(other) for part, other in zip(heads, sums, strict=True)])
        if not both_ways:
            yield self._answer(found)
        return found

    # Step 1.

    @cached_property
    def _stream(self) -> RawArray:
        """x of this party's own positions, (own, d), after the feed-forwards that are before the attention."""
        plan = self.plan
        if not self.positions:
            return plan.numbers.zeros((0, plan.network.slots.width))
        # The embedding is made for all positions at once; the other's are filled with a cell of our own and dropped.
        filled = numpy.broadcast_to(self.cells[:1], (plan.network.positions, *self.cells.shape[1:])).copy()
        filled[list(self.positions)] = self.cells
        own = embedded(plan.network, filled[None], plan.numbers)[:, list(self.positions)]
        for layer in plan.before:
            own = run_layer(layer, own, plan.numbers)
        return own[0]

    @property
    def _own_query(self) -> RawArray:
        return self._stream[self.positions.index(self.plan.position)][None]

    def _opening(self) -> Outgoing:
        plan, writer = self.plan, BitWriter()
        d, p = plan.network.slots.width, plan.arithmetic.precision_bits
        if plan.version.opening == "vector":
            writer.write_numbers(self._own_query, plan.arithmetic)
            what = f"x at position {plan.position + 1}: {counted(d, 'number')} of {p} bits"
        elif plan.version.opening == "queries":
            for each in self._projected_queries(self._own_query):
                writer.write_numbers(each, plan.arithmetic)
            count = sum(head.query.shape[0] for head in plan.attention.heads)
            what = f"queries of position {plan.position + 1}: {counted(count, 'number')} of {p} bits"
        else:
            token = int(self.cells[self.positions.index(plan.position)])
            writer.write(token, plan.vocabulary_code)
            what = f"the token at position {plan.position + 1}, one of {plan.network.vocabulary}"
        return Outgoing("query", what, writer.bits)

    def _queries(self, opening: str | None) -> tuple[RawArray | None, list[RawArray]]:
        """x at the position that is read (1, d), where it is known, and W_Q x (1, m) for each head."""
        plan = self.plan
        if opening is None:
            return self._own_query, self._projected_queries(self._own_query)
        reader = BitReader(opening)
        if plan.version.opening == "vector":
            query = reader.read_numbers(plan.network.slots.width, plan.arithmetic)[None]
            reader.finish()
            return query, self._projected_queries(query)
        if plan.version.opening == "queries":
            heads = plan.attention.heads
            queries = [reader.read_numbers(head.query.shape[0], plan.arithmetic)[None] for head in heads]
            reader.finish()
            return None, queries
        token = reader.read(plan.vocabulary_code)
        reader.finish()
        # A party that holds just this position knows its embedding from the token.
        only = replace(plan, partition=of_positions(plan.network.positions, [plan.position]))
        query = OneLayerParty(ALICE, only, numpy.array([token], dtype=numpy.int64))._own_query
        return query, self._projected_queries(query)

    def _projected_queries(self, query: RawArray) -> list[RawArray]:
        numbers = self.plan.numbers
        return [numbers.matmul(query, head.query.encoded(numbers).T) for head in self.plan.attention.heads]

    # Steps 2 and 3.

    def _say(self, step: str, what: str, values: list[int], code: Code) -> Outgoing:
        writer = BitWriter()
        writer.write_all(values, code)
        return Outgoing(step, f"{what} of {counted(len(values), 'head')}: {code.width} bits each", writer.bits)

    def _hear(self, bits: str | None, count: int, code: Code) -> list[int]:
        reader = BitReader(_present(bits))
        values = reader.read_all(count, code)
        reader.finish()
        return values

    # Step 4.

    def _values(self, heads: list[HeadPart]) -> Outgoing:
        writer = BitWriter()
        for part, code in zip(heads, self.plan.value_codes, strict=True):
            writer.write_all(part.values, code)
        count = sum(len(part.values) for part in heads)
        widths = " or ".join(sorted({str(code.width) for code in self.plan.value_codes}))
        return Outgoing("values", f"sums of weighted values: {counted(count, 'number')} of {widths} bits", writer.bits)

    def _hear_values(self, bits: str | None, heads: list[HeadPart]) -> list[list[int]]:
        reader = BitReader(_present(bits))
        sums = [
            reader.read_all(part.head.value.shape[0], code)
            for part, code in zip(heads, self.plan.value_codes, strict=True)
        ]
        reader.finish()
        return sums

    # Step 5.

    def _finish(self, query: RawArray, averaged: list[RawArray]) -> Found:
        """Return the rest of the network at the position that is read, in the order of a direct evaluation."""
        plan, numbers = self.plan, self.plan.numbers
        total = query if plan.attention.residual else numbers.zeros(query.shape)
        for head, average in zip(plan.attention.heads, averaged, strict=True):
            total = numbers.add(total, numbers.matmul(average[None], head.output.encoded(numbers).T))
        stream = total[None]
        for layer in plan.after:
            stream = run_layer(layer, stream, numbers)
        raw = affine(plan.network.readout.matrix, plan.network.readout.bias, stream, numbers)
        return Found(decode(plan.network, raw, numbers)[0, 0], raw[0, 0])

    def _answer(self, found: Found) -> Outgoing:
        count, code = self.plan.answer_code
        writer = BitWriter()
        writer.write_all((int(each) for each in numpy.ravel(found.answer)), code)
        return Outgoing("answer", f"the answer: {counted(count * code.width, 'bit')}", writer.bits)

    def _wait_for_answer(self) -> Speech[Found]:
        count, code = self.plan.answer_code
        values = self._hear((yield None), count, code)
        vector = self.plan.network.readout.decoding == "round"
        return Found(numpy.array(values if vector else values[0], dtype=numpy.int64), None)


def _present(bits: str | None) -> str:
    assert bits is not None, "a message was expected and none came"
    return bits
