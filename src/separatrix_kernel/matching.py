"""Matching and recall: what a first layer that compares tokens leaves to be shown.

RULE (sums). A token z of the window either matches or does not. If not, no position of the window (or pair of them, for
three terms) holds what adds up with z to 0; that is so for the position of z as well, so a z that matches with itself
always matches. If z matches, some position or pair holds that. The rule of ``content`` bounds the vector in each case.
Where each token is asked, its box must decode to the right bit. Where only one answer is asked, let B_p say whether the
token at p matches. The boxes of a position, over all its tokens, are then one box for B_p = 0 and one for B_p = 1, and
the second layer must count (``counting``) on inputs that are these bits: each of them may be anything, which covers all
that occur. The answer is whether one of them is 1.

RULE (cycles). A vertex i is on a cycle of three edges exactly if some pair (j, k) has all of i → j, j → k and k → i,
which is score number 7. If not, every pair has another number; which one is left open. So this is the rule above with
the number of its score in the place of what a pair holds.

RULE (recall). Let a query hold x, which is the i-th key, at place 2i. No other key and no other query holds x. So
``content`` bounds the query's vector after the first layer, and the box that holds it for every x is a function of i.
From there on ``fetching`` shows that the label is fetched, which is the token at place 2i + 1.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from separatrix_kernel.boxes import Box
from separatrix_kernel.content import Case, ContentLayer
from separatrix_kernel.counting import CountLayer, Local
from separatrix_kernel.fetching import Fetching
from separatrix_kernel.network import Attention
from separatrix_kernel.reading import require
from separatrix_kernel.specification import Count, Cycles, Inputs, Recall, Sums

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers

ALL_EDGES = frozenset([7])


def hull(boxes: Iterable[Box]) -> Box:
    """The least box that holds some."""
    columns = zip(*boxes, strict=True)
    return tuple((min(low for low, _ in each), max(high for _, high in each)) for each in columns)


class Matching:
    """The rule for sums."""

    def __init__(self, layers: "Layers", spec: Sums | Cycles) -> None:
        self.layers, self.spec, self.tokens = layers, spec, layers.inputs.tokens
        layers.state(0, "match")
        roles = [spec.window, *[range(p, p + 1) for p in range(len(self.tokens)) if p not in spec.window]]
        self.content = ContentLayer(layers.network, layers.live[1], layers.inputs, roles, layers.numbers)

    def check(self) -> None:
        """Refuse unless every token's answer, or the one answer, is right."""
        stop = len(self.layers.network.layers)
        if isinstance(self.spec, Sums) and not self.spec.each:
            return self._count(self.spec)
        require(self.layers.second == stop, "each token is asked, and a second attention layer mixes them")
        for position in self._looks(self.spec.window):
            for token, bit, box in self._boxes(position):
                answer = self.layers.readout(self.layers.through(box, 1, stop))
                which = f"token {token} at position {position + 1}, {'with' if bit else 'without'} a match"
                require(answer == bit, f"{which}, is answered {answer}")
        return None

    def _looks(self, positions: range) -> list[int]:
        """The first one of all positions that are interchangeable."""
        return list({self.content.look(position): position for position in reversed(positions)}.values())

    def _boxes(self, position: int) -> Iterator[tuple[int, int, Box]]:
        """Each token of a position, whether it matches, and its box; all are 0 outside of the window."""
        inside = position in self.spec.window
        for token in self.tokens[position]:
            cases = [(0, Case())]
            if inside:
                partners, always = ALL_EDGES, False
                if isinstance(self.spec, Sums):
                    partners, always = self._partners(self.spec, token), self.spec.always(token)
                cases = [] if always else [(0, Case(without={0: partners}))]
                cases += [(1, Case(some=partners))] if partners else []
            for bit, case in cases:
                groups = self.content.groups(position, token, case)
                yield token, bit, self.content.box(position, token, groups, case)

    def _partners(self, spec: Sums, token: int) -> frozenset[int]:
        """What adds up with a token to 0: tokens, or pairs of them as numbers."""
        tokens, modulus = self.tokens[spec.window.start], spec.modulus
        rows = 1 if spec.terms == 2 else len(tokens)
        self.layers.numbers.work.spend(rows * (1 + len(tokens) // modulus))
        if spec.terms == 2:
            return frozenset(spec.partners(token, tokens))
        pairs = ((first, second) for first in tokens for second in spec.partners(token + first, tokens))
        return frozenset((first - tokens.start) * len(tokens) + second - tokens.start for first, second in pairs)

    def _count(self, spec: Sums) -> None:
        layers, second, size = self.layers, self.layers.second, len(self.tokens)
        require(second < len(layers.network.layers), "one answer is asked about all tokens, and no layer counts")
        layers.state(second, "count")
        known: dict[object, list[Box]] = {}
        local: list[Local] = []
        for position in range(size):
            name = self.content.look(position) if position in spec.window else position
            if name not in known:
                found: list[list[Box]] = [[], []]
                for _, bit, box in self._boxes(position):
                    found[bit].append(layers.through(box, 1, second))
                # A bit that no token can have is given the box of the other one.
                known[name] = [hull(each or found[0] or found[1]) for each in found[: 1 + (position in spec.window)]]
            local.append(((position,), known[name]))
        bits = [range(1 + (position in spec.window)) for position in range(size)]
        conditions = [((position,), (0, 1)) for position in spec.window]
        count = Count(conditions, [(0, 0), (1, 1)], Inputs(bits, []))
        layer = layers.network.layers[second]
        assert isinstance(layer, Attention)
        counted = CountLayer(layer, layers.live[second], layers.live[second + 1], count, layers.numbers)
        counted.check(local, lambda box: layers.readout(layers.through(box, second + 1, len(layers.network.layers))))


class Recalling(Fetching):
    """The rule for recall."""

    def __init__(self, layers: "Layers", spec: Recall) -> None:
        super().__init__(layers, spec.labels)
        self.spec, network, end = spec, layers.network, 2 * spec.pairs
        roles = [range(0, end, 2), range(1, end, 2), range(end, network.positions)]
        self.content = ContentLayer(network, layers.live[1], layers.inputs, roles, self.numbers)

    def check(self) -> None:
        """Refuse unless every query is answered by the label of its key, whichever key that is."""
        found: dict[object, list[Box]] = {}
        queries = range(2 * self.spec.pairs, self.layers.network.positions)
        looks = [self.content.look(position) for position in queries]
        for position, name in zip(queries, looks, strict=True):
            if name not in found:
                found[name] = self._found(position)
        for pair in range(self.spec.pairs):
            for position, name in zip(queries, looks, strict=True):
                self.fetch(position, pair, found[name][pair])
            self.forget()

    def _found(self, position: int) -> list[Box]:
        """The query's box before the second layer, for each pair that it may ask for."""
        boxes: list[list[Box]] = [[] for _ in range(self.spec.pairs)]
        seen = set[object]()
        for token in self.spec.keys:
            without = {0: range(token, token + 1), 2: range(token, token + 1)}
            # All keys look alike, so that the groups are the same wherever the token is.
            groups = self.content.groups(position, token, Case(((0, token), (position, token)), without))
            alike = groups, self.content.token(token)
            if alike not in seen:
                seen.add(alike)
                for pair, some in enumerate(boxes):
                    case = Case(((2 * pair, token), (position, token)), without)
                    box = self.content.box(position, token, groups, case)
                    some.append(self.layers.through(box, 1, self.layers.second))
        return [hull(each) for each in boxes]
