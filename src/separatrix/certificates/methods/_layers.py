"""The first attention layer on all inputs at once.

The method covers heads whose scores do not depend on the keys' tokens: keys read slots that the position alone fills,
values read slots that the token alone fills. Then the weights of a query are the same on every input, one key has the
largest weight (the *focus*), and each coordinate of the head's output is

    weight(focus) · value(token at the focus)  +  Σ over other keys of weight · value(token there),

where the second sum, over all inputs, fills exactly the interval between its smallest and its largest value, because
each key's token can be chosen by itself. Weights are those of the network's own evaluation, bit for bit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Box, Raw, in_range, product_range, whole
from separatrix.certificates.methods._positions import Kind, Stream
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Head, Network, SignRows
from separatrix.networks.evaluate import mask_of, weights_of

QUERY_CHUNK_ENTRIES = 1 << 22
KEY_CHUNK = 1 << 16


@dataclass(frozen=True)
class Queries:
    """Queries whose scores are examined: the position of each, its token or -1 where any token gives the same."""

    positions: Raw
    tokens: Raw


@dataclass(frozen=True)
class Attended:
    """What one head does for each query: its focus, the weight there, and the interval that the other keys add.

    ``values`` has the head's value vectors for every token of the focus (tokens of its kind), as whole numbers.
    """

    focus: Raw
    weight: Raw
    rest: Box


def attend_everywhere(
    head: Head, network: Network, stream: Stream, kinds: tuple[Kind, ...], queries: Queries, what: str
) -> Attended:
    """Examine one head on all inputs, for the given queries."""
    arithmetic, slots = stream.arithmetic, network.slots
    key_source, value_source = stream.source(slots.read_by(head.key)), stream.source(slots.read_by(head.value))
    if key_source.by_token:
        raise UnsupportedError(f"the keys of {what} depend on tokens; the method covers keys that depend on positions")
    if value_source.by_position:
        raise UnsupportedError(
            f"the values of {what} depend on positions; the method covers values that depend on tokens"
        )
    low, high = value_ranges(head, network, stream, kinds, what)
    focus: list[Raw] = []
    weight: list[Raw] = []
    bounds: list[tuple[Raw, Raw]] = []
    kind_of = numpy.zeros(network.positions, dtype=numpy.int64)
    for number, kind in enumerate(kinds):
        kind_of[kind.members] = number
    for chosen, weights in weight_rows(head, network, stream, queries, what):
        best = numpy.argmax(weights, axis=1)
        rows = numpy.arange(len(chosen))
        there = weights[rows, best]
        others = weights.copy()
        others[rows, best] = 0
        if int(others.max(initial=0)) >= int(there.min(initial=1)) and bool((others.max(axis=1) >= there).any()):
            raise UnsupportedError(f"a query of {what} has no single key of largest weight")
        up, down = numpy.maximum(others, 0), numpy.minimum(others, 0)
        # Sum of weights for each kind of key, positive and negative ones apart (linear attention has both).
        member = (kind_of[:, None] == numpy.arange(len(kinds))[None, :]).astype(numpy.int64)
        positive, negative = up @ member, down @ member
        bounds.append((positive @ low + negative @ high, positive @ high + negative @ low))
        focus.append(best)
        weight.append(there)
    rest = Box(numpy.concatenate([b[0] for b in bounds]), numpy.concatenate([b[1] for b in bounds]))
    return Attended(numpy.concatenate(focus), numpy.concatenate(weight), in_range(rest, arithmetic, what))


def value_table(head: Head, network: Network, stream: Stream, kind: Kind, what: str) -> Raw:
    """Value vectors of a kind's tokens as whole numbers: (tokens, v)."""
    one = stream.arithmetic.largest
    position = numpy.full(len(kind.tokens), kind.members[0])
    matrix = whole(head.value, f"the value matrix of {what}")
    total = numpy.zeros((len(kind.tokens), matrix.shape[0]), dtype=numpy.int64)
    for slot in network.slots.read_by(head.value):
        rows = stream.rows(slot, kind.tokens, position)
        total = total + product_range(matrix[:, network.slots.columns(slot)], Box(rows, rows)).low
    if (total % one).any():
        raise UnsupportedError(f"the values of {what} are not whole numbers; the method covers only whole ones")
    return total // one


def value_ranges(head: Head, network: Network, stream: Stream, kinds: tuple[Kind, ...], what: str) -> tuple[Raw, Raw]:
    """Smallest and largest value of each kind, coordinate by coordinate: (kinds, v)."""
    tables = [value_table(head, network, stream, kind, what) for kind in kinds]
    return numpy.stack([table.min(axis=0) for table in tables]), numpy.stack([table.max(axis=0) for table in tables])


def projected(matrix: ExactMatrix, network: Network, stream: Stream, tokens: Raw, positions: Raw) -> Raw:
    """W x for the embedding at pairs of tokens and positions, rounded as the arithmetic does: (n, m)."""
    total = stream.arithmetic.zeros((len(tokens), matrix.shape[0]))
    encoded = matrix.encoded(stream.arithmetic)
    for slot in sorted(network.slots.read_by(matrix)):
        columns = network.slots.columns(slot)
        rows = stream.rows(slot, tokens, positions)
        # Products are rounded one by one and added exactly, so slots may be added one after the other.
        total = stream.arithmetic.add(total, stream.arithmetic.matmul(rows, encoded[:, columns].T))
    if total.size and int(numpy.abs(total).max()) >= stream.arithmetic.largest**2:
        raise UnsupportedError("a query or key reaches the end of the range; a larger Kc keeps it inside")
    return total


def weight_rows(head: Head, network: Network, stream: Stream, queries: Queries, what: str) -> Iterator[tuple[Raw, Raw]]:
    """Attention weights of the queries, a chunk at a time: query numbers and (queries, positions) raw weights."""
    arithmetic = stream.arithmetic
    positions = numpy.arange(network.positions)
    anything = numpy.zeros(network.positions, dtype=numpy.int64)
    several = max(1, QUERY_CHUNK_ENTRIES // network.positions)
    keys: Raw | None = None
    if network.positions * head.key.shape[0] <= 1 << 24:
        keys = projected(head.key, network, stream, anything, positions)
    for start in range(0, len(queries.positions), several):
        chosen = numpy.arange(start, min(start + several, len(queries.positions)))
        tokens = numpy.maximum(queries.tokens[chosen], 0)
        vectors = projected(head.query, network, stream, tokens, queries.positions[chosen])
        pieces: list[Raw] = []
        for first in range(0, network.positions, KEY_CHUNK):
            span = positions[first : first + KEY_CHUNK]
            part = keys[span] if keys is not None else projected(head.key, network, stream, anything[span], span)
            pieces.append(arithmetic.matmul(vectors, part.T))
        scores = numpy.concatenate(pieces, axis=1)
        allowed = mask_of(head, queries.positions[chosen], network.positions)
        yield chosen, weights_of(head, scores[None], allowed, arithmetic)[0]
    del what


def symmetric(head: Head, network: Network, kinds: tuple[Kind, ...]) -> int | None:
    """How many leading positions are interchangeable for this head, or None.

    If the query's slot and the key's slot are filled by the same linear sign rule, by the token and by the position,
    over all 2^b messages, and both matrices are multiples of the identity there, then the score of query p at key j
    depends on p xor j alone. The keys j = 0 … 2^b - 1 then give every query the same scores in another order, with the
    focus at j = p.
    """
    read_query, read_key = network.slots.read_by(head.query), network.slots.read_by(head.key)
    if len(read_query) != 1 or len(read_key) != 1 or head.mask != "none":
        return None
    asked = [part for part in network.embedding if part.slot in read_query]
    known = [part for part in network.embedding if part.slot in read_key]
    if len(asked) != 1 or len(known) != 1:
        return None
    query, key = asked[0], known[0]
    if not isinstance(query.rule, SignRows) or not isinstance(key.rule, SignRows):
        return None
    count = query.rule.count
    same = query.rule.generator.shape == key.rule.generator.shape and bool(
        (query.rule.generator == key.rule.generator).all()
    )
    plain = query.indices is None and key.indices is None and query.source == "token" and key.source == "position"
    whole_group = query.tokens[1] - query.tokens[0] == count and key.positions == (0, count)
    one_kind = any(len(kind.members) == count and int(kind.members[-1]) == count - 1 for kind in kinds)
    diagonal = all(
        _multiple_of_identity(matrix.numerators[:, network.slots.columns(part.slot)])
        for matrix, part in ((head.query, query), (head.key, key))
    )
    return count if same and plain and whole_group and one_kind and diagonal else None


def _multiple_of_identity(block: Raw) -> bool:
    size = block.shape[0]
    return block.shape == (size, size) and bool((block == numpy.eye(size, dtype=numpy.int64) * block[0, 0]).all())


def output_boxes(head: Head, attended: Attended, values: Raw, live: Raw, arithmetic: FixedPoint, what: str) -> Box:
    """The head's contribution to the live coordinates for each query and its given value vector: both (n, …)."""
    held = values * attended.weight[:, None]
    average = in_range(Box(held + attended.rest.low, held + attended.rest.high), arithmetic, what)
    return product_range(whole(head.output, f"the output matrix of {what}")[live, :], average)
