"""The rule for Transformers whose attention adds up what other positions hold.

RULE (layers). One statement for each layer. A layer that adds 0 to all coordinates that matter after it is idle and
left out. Feed-forwards before the first attention belong to the embedding (``embedding``). After the first attention
layer the vector of a query lies in a box that is a function of its own token and of the tokens at the places that the
statement names (``attention``). A feed-forward maps boxes to boxes (``boxes``). A second attention layer must count
(``counting``). At the end every box must decode to one answer, and that must be the one that the specification
determines from the tokens of the box's case. Where the first attention compares tokens or looks at edges, where answers
are decoded from power sums, about tokens near each other, about points, or about sets of positions, other rules take
the place of these (``matching`` with ``content``, ``powers``, ``windows``, ``nearest``, ``averaging``). A file is
loaded only where its rule is needed.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from separatrix_kernel.attention import Cases, FirstAttention
from separatrix_kernel.boxes import Box, BoxLayer, BoxReadout, is_idle, live_coordinates
from separatrix_kernel.network import Attention, FeedForward, GraphAttention, Layer, PairAttention, Transformer
from separatrix_kernel.reading import Budget, RefusedError, fields, integers, items, require, text
from separatrix_kernel.rules import Claim
from separatrix_kernel.specification import Count, Cycles, Recall, Select, Sums

MOST_QUERIES = 1 << 22
MOST_CASES = 1 << 24
SEARCH = {"kind": "search"}


class Layers:
    """The rule for a Transformer."""

    def __init__(self, claim: Claim, statements: Any) -> None:
        assert isinstance(claim.network, Transformer)
        spec, self.inputs = claim.answers, claim.answers.held(claim.inputs)
        self.claim, self.numbers = claim, claim.numbers
        self.work = Budget(MOST_CASES, "cases")
        Budget(MOST_QUERIES, "positions").spend(claim.network.positions)
        self.network = network = self._without_idle(claim.network, statements)
        layers = network.layers
        attention = [number for number, layer in enumerate(layers) if not isinstance(layer, FeedForward)]
        require(0 < len(attention) <= 2, "the rule needs attention, at most twice")
        kinds = [type(layers[number]) for number in attention]
        first: type[Layer] = GraphAttention if isinstance(spec, Cycles) else Attention
        if isinstance(spec, Sums) and spec.terms == 3 and spec.reach is None:
            first = first if network.readout.decoding == "power-sums" else PairAttention
        fits = kinds[0] is first and set(kinds[1:]) <= {Attention}
        require(fits, "attention to pairs or edges is covered as the first layer, for sums of three terms or cycles")
        near = isinstance(spec, Sums) and spec.reach is not None
        self.search = self.statements.index(SEARCH) if near and SEARCH in self.statements else -1
        for number, layer in enumerate(layers):
            if isinstance(layer, FeedForward) and number != self.search:
                self.state(number, "feed-forward")
        start = attention[0]
        self.statements, self.search = self.statements[start:], self.search - start
        self.second = attention[1] - start if len(attention) == 2 else len(layers) - start
        self.network = network = replace(network, prefix=layers[:start], layers=layers[start:])
        self.follow(network)

    def follow(self, network: Transformer) -> None:
        """Keep those coordinates of boxes that are live in a network with these feed-forwards."""
        self.live = live_coordinates(network)
        self.maps = [
            BoxLayer(layer, self.live[number], self.live[number + 1], self.numbers)
            if isinstance(layer, FeedForward)
            else None
            for number, layer in enumerate(network.layers)
        ]
        self.readout = BoxReadout(network.readout, self.live[-1], self.numbers)

    def _without_idle(self, network: Transformer, statements: Any) -> Transformer:
        """The network without the layers that are stated to be idle, which must be true; other statements are kept."""
        live = live_coordinates(network)
        kept: list[Layer] = []
        self.statements: list[Any] = []
        for number, each in enumerate(items(statements, "the statements", len(network.layers))):
            if each == {"kind": "idle"}:
                require(is_idle(network.layers[number], live[number + 1]), f"layer {number} is not idle")
            else:
                kept.append(network.layers[number])
                self.statements.append(each)
        return replace(network, layers=tuple(kept))

    def check(self) -> str:
        """Refuse unless all obligations hold; the file of the kernel whose rule was needed as well, if any."""
        spec = self.claim.answers
        if spec.rounded:
            from separatrix_kernel.averaging import Averaging

            Averaging(self).check()
            return "averaging"
        if isinstance(spec, Sums) and spec.reach is not None:
            from separatrix_kernel.windows import Windows

            Windows(self, spec).check()
            return "windows"
        if isinstance(spec, Sums) and self.network.readout.decoding == "power-sums":
            from separatrix_kernel.powers import PowerSums

            PowerSums(self, spec).check()
            return "powers"
        if spec.cell_size:
            from separatrix_kernel.nearest import NearestPoint

            NearestPoint(self).check()
            return "nearest"
        if isinstance(spec, Sums | Cycles | Recall):
            from separatrix_kernel.matching import Matching, Recalling

            (Recalling(self, spec) if isinstance(spec, Recall) else Matching(self, spec)).check()
            return "matching"
        if self.second < len(self.network.layers):
            self._count()
            return "counting"
        self._answers()
        return ""

    def state(self, number: int, kind: str, *names: str) -> dict[str, Any]:
        """The statement about a layer, which must be of this kind."""
        found = fields(self.statements[number], f"statement {number}", ["kind", *names])
        text(found["kind"], f"the kind of statement {number}", [kind])
        return found

    def through(self, box: Box, start: int, stop: int) -> Box:
        """A box after the feed-forwards from ``start`` to before ``stop``."""
        for number in range(start, stop):
            layer = self.maps[number]
            assert layer is not None
            box = layer(box)
        return box

    def _queries(self, queries: list[tuple[int, int]], by: str) -> Iterator[tuple[int, int, tuple[int, ...], Cases]]:
        """Each query (position, token) with the places that the first statement names for it, and its cases."""
        found = self.state(0, "attend", "by", "places")
        text(found["by"], "what places go by", [by])
        listed = items(found["places"], "the places of statement 0")
        keys = [position if by == "position" else number for number, (position, _) in enumerate(queries)]
        require(len(listed) == keys[-1] + 1, f"statement 0 names places {len(listed)} times, not {keys[-1] + 1}")
        named = [tuple(integers(each, "places", 0, self.network.positions - 1)) for each in listed]
        first = FirstAttention(self.network, self.live, self.inputs, self.numbers)
        for (position, token), key in zip(queries, keys, strict=True):
            places = tuple([place for place in named[key] if place != position])
            require(len(set(places)) == len(places), "statement 0 names a place twice")
            yield position, token, places, first.cases(position, token, places)

    def _answers(self) -> None:
        """The last position's boxes decode to the right answers."""
        spec, last, stop = self.claim.answers, self.network.positions - 1, len(self.network.layers)
        known: dict[int, dict[tuple[int, ...], int | None]] = {}
        selected = set[tuple[int, int]]()
        Budget(MOST_QUERIES, "tokens at the last position").spend(len(self.inputs.tokens[last]))
        for _, token, places, cases in self._queries([(last, token) for token in self.inputs.tokens[last]], "token"):
            if id(cases) not in known:
                known[id(cases)] = {held: self.readout(self.through(box, 1, stop)) for held, box in cases.items()}
            answers = known[id(cases)]
            where = token - spec.first if isinstance(spec, Select) and spec.by == last else last
            # The answer is the token at one of the places: for queries that share their cases checked once.
            if where in places:
                number = places.index(where)
                if (id(cases), number) not in selected:
                    for held, answer in answers.items():
                        which = f"token {held[number]} at position {where + 1} is answered {answer}"
                        require(answer == held[number], f"{which}, when token {token} asks for it")
                    selected.add((id(cases), number))
                continue
            self.work.spend(len(answers))
            for held, answer in answers.items():
                right = spec.known({last: token, **dict(zip(places, held, strict=True))})
                require(right is not None, f"token {token} at the end: the stated places do not determine the answer")
                require(answer == right, f"token {token} at the end: {held} at {places} is answered {answer}")

    def _count(self) -> None:
        """Every position's boxes before the second attention layer, and the rest by count."""
        from separatrix_kernel.counting import CountLayer

        spec, second, stop = self.claim.answers, self.second, len(self.network.layers)
        if not isinstance(spec, Count):
            raise RefusedError("a second attention layer must count, and the specification is not about a count")
        tokens = self.inputs.tokens
        local: list[tuple[tuple[int, ...], list[Box]]] = []
        Budget(MOST_QUERIES, "tokens at all positions").spend(sum(len(held) for held in tokens))
        queries = [(position, token) for position, held in enumerate(tokens) for token in held]
        for position, _, places, cases in self._queries(queries, "position"):
            if position == len(local):
                local.append(((position, *places), []))
            self.work.spend(len(cases))
            # Tokens of a position come in order and cases in the order of their tokens, so the table is in order.
            local[-1][1].extend(self.through(cases[held], 1, second) for held in product(*[tokens[p] for p in places]))
        layer = self.network.layers[second]
        assert isinstance(layer, Attention)
        self.state(second, "count")
        counted = CountLayer(layer, self.live[second], self.live[second + 1], spec, self.numbers)
        counted.check(local, lambda box: self.readout(self.through(box, second + 1, stop)))
