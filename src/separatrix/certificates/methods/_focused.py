"""The first attention layer on all inputs at once, where weights do not depend on the keys' tokens.

Keys read slots that the position alone fills. Then the weights of a query are the same on every input, one key has the
largest weight (the *focus*), and each coordinate of the head's output is

    weight(focus) · value(token at the focus)  +  Σ over other keys of weight · value(token there),

where the second sum, over all inputs, fills exactly the interval between its smallest and its largest value, because
each key's token can be chosen by itself. Weights are those of the network's own evaluation, bit for bit. Values read
slots that the token fills, perhaps at some positions only: two positions are of one *kind* when they may hold the same
tokens and lie in the same ranges of every part of the embedding.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Box, in_range, product_range, weighted
from separatrix.certificates.methods._numbers import Raw, whole, whole_part
from separatrix.certificates.methods._streams import by_position, by_token, projected, reads
from separatrix.certificates.verdict import Claim, OtherClaimError, UnsupportedError
from separatrix.networks import Head, Network, code_queries, mask_of, weights_of
from separatrix.progress import tracked
from separatrix.tasks import Task

SCORES_AT_A_TIME = 1 << 22
KEYS_AT_A_TIME = 1 << 16
KEPT_KEYS = 1 << 24
LARGEST_SCORES = 1 << 30


@dataclass(frozen=True)
class Kinds:
    """Kinds of positions: the tokens (ascending) that each may hold and its first member; every position's kind."""

    tokens: tuple[Raw, ...]
    first: Raw
    of: Raw

    @property
    def symbols(self) -> int:
        """All tokens are below this."""
        return 1 + max(int(each[-1]) for each in self.tokens)

    def token(self, positions: Raw, choice: int) -> Raw:
        """The ``choice``-th token of each position, its last one where it has fewer."""
        return numpy.array([each[min(choice, len(each) - 1)] for each in self.tokens])[self.of[positions]]

    def covered(self) -> str:
        """The number of inputs as a product, such as "64^1024*1024"."""
        counts = numpy.bincount(self.of, minlength=len(self.tokens)).tolist()
        sizes: dict[int, int] = {}
        for tokens, count in zip(self.tokens, counts, strict=True):
            sizes[len(tokens)] = sizes.get(len(tokens), 0) + count
        return "*".join(f"{size}^{n}" if n > 1 else str(size) for size, n in sizes.items() if size > 1) or "1"


def kinds_of(claim: Claim, network: Network) -> Kinds:
    """What every position may hold; raises unless that is one token, whatever the others hold."""
    task, kind = claim.task, type(claim.task)
    blocks = task.space(claim.length).blocks
    independent = kind.assemble is Task.assemble and kind.admissible is Task.admissible and not network.features
    if not independent or len(blocks) != network.positions or any(block.shape[1] != 1 for block in blocks):
        raise OtherClaimError(f"the inputs of {task.name} are not independent tokens; the method needs that")
    numbers: dict[int, int] = {}
    choices = numpy.array([numbers.setdefault(id(block), len(numbers)) for block in blocks])
    bounds = sorted({end for part in network.embedding for end in part.positions})
    stretches = numpy.searchsorted(numpy.array(bounds), numpy.arange(network.positions), side="right")
    both = choices * (len(bounds) + 1) + stretches
    _, first, of = numpy.unique(both, return_index=True, return_inverse=True)
    return Kinds(tuple(numpy.sort(blocks[int(place)][:, 0]) for place in first), first, of)


@dataclass(frozen=True)
class Attended:
    """What one head does for each query: its focus, the weight there, and the interval that the other keys add."""

    focus: Raw
    weight: Raw
    rest: Box


class Focused:
    """One head of the first layer."""

    def __init__(self, head: Head, network: Network, kinds: Kinds, arithmetic: FixedPoint, what: str) -> None:
        self.head, self.network, self.kinds, self.arithmetic, self.what = head, network, kinds, arithmetic, what
        if by_token(network, reads(network, head.key), kinds.symbols):
            raise UnsupportedError(f"the keys of {what} depend on tokens; the method covers keys that positions fill")
        if by_position(network, reads(network, head.value)):
            raise UnsupportedError(f"the values of {what} follow positions; the method covers values that tokens fill")
        self.output = whole(head.output, f"the output matrix of {what}")

    def values(self, tokens: Raw, positions: Raw) -> Raw:
        """Value vectors as whole numbers: (n, v)."""
        raw = projected(self.head.value, self.network, tokens, positions, self.arithmetic)
        return whole_part(raw, self.arithmetic, f"the values of {self.what}")

    def value_ranges(self) -> Box:
        """The smallest and the largest value that each position may have, coordinate by coordinate: (positions, v)."""
        tables = [
            self.values(t, numpy.full(len(t), p)) for t, p in zip(self.kinds.tokens, self.kinds.first, strict=True)
        ]
        low, high = (numpy.stack([side(each, axis=0) for each in tables]) for side in (numpy.min, numpy.max))
        return Box(low[self.kinds.of], high[self.kinds.of])

    def attend(self, positions: Raw, tokens: Raw) -> Attended:
        """Examine queries at these positions with these tokens, on all inputs."""
        reach, code = self.value_ranges(), code_queries(self.head, self.network, positions, tokens)
        alike = code is not None and all((side[: code.count] == side[0]).all() for side in (reach.low, reach.high))
        # Then all queries see these weights, in another order at keys whose values are alike.
        shared = code.weights(self.head, len(reach.low), self.arithmetic) if code is not None and alike else None
        found: list[tuple[Raw, ...]] = []
        for weights in self.weights(positions, tokens) if shared is None else [shared[None]]:
            rows, best = numpy.arange(len(weights)), numpy.argmax(weights, axis=1)
            there = weights[rows, best]
            weights[rows, best] = 0
            if (weights.max(axis=1) >= there).any():
                raise UnsupportedError(f"a query of {self.what} has no single key of largest weight")
            for side in (reach.low, reach.high):
                weighted(weights, side, weights.shape[1], self.arithmetic, self.what)
            # Positive and negative weights apart: linear attention has both.
            up, down = numpy.maximum(weights, 0), numpy.minimum(weights, 0)
            found.append((best, there, up @ reach.low + down @ reach.high, up @ reach.high + down @ reach.low))
        focus, weight, least, most = (numpy.concatenate(each) for each in zip(*found, strict=True))
        if code is not None and shared is not None:
            focus = numpy.where(focus < code.count, code.asked ^ focus, focus)
            weight, least, most = (numpy.repeat(each, len(focus), axis=0) for each in (weight, least, most))
        return Attended(focus, weight, in_range(Box(least, most), self.arithmetic, self.what))

    def weights(self, positions: Raw, tokens: Raw) -> Iterator[Raw]:
        """Attention weights of the queries, a chunk of them at a time: (queries, all positions)."""
        network, head, arithmetic = self.network, self.head, self.arithmetic
        place, size = numpy.arange(network.positions), max(1, SCORES_AT_A_TIME // network.positions)
        if len(positions) * network.positions > LARGEST_SCORES:
            raise UnsupportedError(f"{len(positions)} queries of {self.what} are too many to compare with every key")

        def keys(span: Raw) -> Raw:
            return projected(head.key, network, numpy.zeros_like(span), span, arithmetic)

        kept = keys(place) if network.positions * head.key.shape[0] <= KEPT_KEYS else None
        for start in tracked(range(0, len(positions), size), f"queries of {self.what}"):
            chosen = positions[start : start + size]
            queries = projected(head.query, network, tokens[start : start + size], chosen, arithmetic)
            spans = [place[first : first + KEYS_AT_A_TIME] for first in range(0, len(place), KEYS_AT_A_TIME)]
            pieces = [arithmetic.matmul(queries, (keys(span) if kept is None else kept[span]).T) for span in spans]
            allowed = mask_of(head, chosen, network.positions)
            yield weights_of(head, numpy.concatenate(pieces, axis=1)[None], allowed, arithmetic)[0]

    def written(self, attended: Attended, held: Raw, live: Raw) -> Box:
        """The contribution to the live coordinates when these tokens stand at the focuses of the queries."""
        values = self.values(held, attended.focus)
        weighted(attended.weight, values, 1, self.arithmetic, self.what)
        average = attended.rest.plus(values * attended.weight[:, None])
        average = in_range(average, self.arithmetic, self.what)
        return product_range(self.output[live, :], average, self.arithmetic, f"the output of {self.what}")
