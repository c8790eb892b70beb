"""Sums of tokens near each other: attention by position, and a feed-forward that searches among what it has found.

RULE (windows). The weights of a query at position p do not depend on tokens, not even on its own (``attention``). Let
no live coordinate of its vector depend on more than one token of the window W of p, the positions that count for its
answer; the *owner* of the coordinate is the position of that token, or else the only one in W that writes there at all,
if there is one. Tokens outside W add an interval.
So a coordinate lies in an interval that is a function of what the owner's token writes there, its *state*. Only that
and the way in which states follow from tokens are kept of a query: intervals of equal states are put together over all
queries (each query's is in the hull).

The feed-forwards up to the search map boxes to boxes (``boxes``). With one coordinate in the interval of a state and
all others anywhere, they give an interval for this coordinate after them, as a function of the same state. Where the
search reads a coordinate, that must be a single point y(state).

A hidden unit of the search is ReLU(s + b), with s the sum of the rounded products of its weights and these points,
each one a function of its owner's token. So s = c + Σ_j h_j(z_j), j in W. It is checked for all tokens that h_j(z) is
d_j · r + c_j with r the residue of z modulo M. Units with the same weights see the same s, and add together F(s) =
Σ w ReLU(s + b) to a coordinate, where all w are whole numbers and nothing is saturated. F is then linear between the
numbers -b. Each F must be of one of two kinds:

* F is 0 on all s that can occur. It is enough that it is so at the least one, the greatest one and each -b in between.
* The d_j are m_j · u with whole numbers m_j ≥ 0 that add up to the number of terms, m_p ≥ 1, and s = c + u · n with n
  the sum of the residues. F is 0 for all n that M does not divide, and more than 0 for those that it divides. It is
  enough to try these, the n next to them, the least one, the greatest one, and the n on both sides of each -b: between
  two n that follow each other in this list F is linear.

An F of the second kind belongs to the sum of z_p and the other m_j, and finds out whether that is 0 modulo M. Let each
choice of the others from W belong to some F. Then all F together add 0 if the token at p does not match, and if it
matches at least the least of those values, at most the sum of the greatest. The rest of the network is run on both
boxes.
"""

from collections import Counter
from itertools import combinations_with_replacement, repeat
from math import comb
from typing import TYPE_CHECKING, TypeAlias

from separatrix_kernel.attention import FirstAttention, Seen, written
from separatrix_kernel.boxes import Box, exactly, restricted
from separatrix_kernel.embedding import Sign
from separatrix_kernel.network import FeedForward, Row
from separatrix_kernel.reading import Budget, require
from separatrix_kernel.specification import Sums

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers

Way: TypeAlias = tuple[int, Sign | None, tuple[int | None, ...]]
"""How a coordinate's state follows from its owner's token: the coordinate, the sign of the position if that is the
query's own, and what kind of value the token has for each head, None where it is not visible or nothing is owned."""
State: TypeAlias = tuple[int, ...]
"""What a token writes into a coordinate: in the query's own vector, and the entries of each head's value."""
Bends: TypeAlias = tuple[tuple[int, int], ...]
"""The (bias, weight) of hidden units that see one sum."""
MOST_NUMBERS = 1 << 25


def point(interval: tuple[int, int]) -> int:
    """The only number of an interval."""
    low, high = interval
    require(low == high, "the search reads a coordinate that is not known exactly")
    return low


class Windows:
    """The rule."""

    def __init__(self, layers: "Layers", spec: Sums) -> None:
        self.layers, self.spec, self.numbers = layers, spec, layers.numbers
        network = layers.network
        self.tokens, self.room = layers.inputs.tokens[spec.window.start], Budget(MOST_NUMBERS, "numbers in windows")
        require(layers.second == len(network.layers), "a second attention layer mixes the windows")
        require(len(self.tokens) >= spec.modulus > 1, "the tokens of the window do not have every residue, or only one")
        layers.state(0, "windows")
        require(layers.search > 0, "no statement says which layer searches the windows")
        first = FirstAttention(network, layers.live, layers.inputs, self.numbers)
        self.own, self.heads = first.own, first.heads
        # What the parts of the embedding that matter to each head's values, and to a query itself, know of the tokens.
        views = [*[head.values for head, _ in self.heads], self.own]
        self.room.spend(8 * len(views) * len(self.tokens))
        self.signs = [[view.token(token) for token in self.tokens] for view in views]
        self.size, self.live = len(layers.live[1]), layers.live[layers.search]
        self.room.spend(8 * len(spec.window) * self.size)
        search = network.layers[layers.search]
        assert isinstance(search, FeedForward)
        self.residual, self.place = search.residual, {column: place for place, column in enumerate(self.live)}
        self.search = restricted(search, self.live, layers.live[layers.search + 1])
        self.searches: list[dict[Row, list[tuple[int, int]]]] = []
        for outer in self.search.outer.rows:
            forms: dict[Row, list[tuple[int, int]]] = {}
            for unit, weight in outer:
                forms.setdefault(self.search.inner.rows[unit], []).append((self.search.inner_bias[unit], weight))
            self.searches.append(forms)
        self._ways: dict[Way, Way] = {}
        self._written: dict[Sign, tuple[dict[Sign, list[int]], list[tuple[int, int]]]] = {}
        self._states: dict[Way, tuple[list[State], list[int]]] = {}
        self.hulls: dict[Way, dict[State, tuple[int, int]]] = {}
        self._lines: dict[object, tuple[int, int]] = {}
        self._found: dict[object, tuple[int, int] | None] = {}

    def check(self) -> None:
        """Refuse unless every token's answer is right."""
        seen = [self._query(position) for position in self.spec.window]
        self._restore()
        for position, ways in zip(self.spec.window, seen, strict=True):
            self._search(position, ways)

    def _mine(self, at: Sign) -> tuple[dict[Sign, list[int]], list[tuple[int, int]]]:
        """What each token writes into its own vector at a position of this sign, and the ranges of that."""
        if at not in self._written:
            signs = self.own.signs(self.tokens)
            self.room.spend(len(signs) * (8 + self.size))
            table = {sign: self.own.vector(at, sign) or [0] * self.size for sign in signs}
            self._written[at] = table, [(min(c), max(c)) for c in zip(*table.values(), strict=True)]
        return self._written[at]

    def states(self, way: Way) -> tuple[list[State], list[int]]:
        """The different states, and for each token which of them it brings about."""
        if way not in self._states:
            place, at, kinds = way
            self.room.spend(len(self.tokens))
            self.numbers.work.spend(len(self.tokens) * (2 + sum(len(rows[place]) for _, rows in self.heads)))
            numbers: dict[State, int] = {}
            columns: list[list[int]] = []
            if at is not None:
                table = self._mine(at)[0]
                columns.append([table[sign][place] for sign in self.signs[-1]])
            for kind, (head, rows), signs in zip(kinds, self.heads, self.signs, strict=False):
                if kind is not None:
                    for entry, _ in rows[place]:
                        columns.append([head.value[kind][sign][entry] for sign in signs])
            states = zip(*columns, strict=True) if columns else repeat((), len(self.tokens))
            which = [numbers.setdefault(state, len(numbers)) for state in states]
            self.room.spend(16 * len(numbers))
            self._states[way] = list(numbers), which
        return self._states[way]

    def _query(self, position: int) -> list[tuple[int | None, Way]]:
        """The owner of each coordinate of a query's vector, and how its state follows; intervals are put together."""
        self.numbers.work.spend(len(self.spec.near(position)) * (1 + len(self.heads)))
        near, at = tuple(self.spec.near(position)), self.own.position(position)
        looks: list[tuple[Seen, dict[int, tuple[int, int]]]] = []
        for head, _ in self.heads:
            signs = head.queries.signs(self.tokens)
            require(len(signs) == 1, "what a query asks for depends on its token")
            query = head.queries.project(head.queries.position(position), signs[0])
            seen, fixed = head.fetch(query, position, near, None)
            looks.append((seen, {near[number]: (weight, kind) for number, weight, kind, _ in fixed}))
        ranges, found = self._mine(at)[1], list[tuple[int | None, Way]]()
        for place in range(self.size):
            self.numbers.work.spend(1 + sum(len(near) * len(rows[place]) for _, rows in self.heads))
            writers = {position: ranges[place][0] < ranges[place][1]} if any(ranges[place]) else {}
            for (head, rows), (_, fixed) in zip(self.heads, looks, strict=True):
                for entry, _ in rows[place]:
                    for key, (_, kind) in fixed.items():
                        if entry in head.ranges[kind]:
                            low, high = head.ranges[kind][entry]
                            writers[key] = writers.get(key, False) or low < high
            owners = [key for key, varies in writers.items() if varies]
            require(len(owners) <= 1, f"coordinate {place} mixes two tokens of a window")
            owner = owners[0] if owners else next(iter(writers)) if len(writers) == 1 else None
            kinds = tuple([fixed[owner][1] if owner in fixed else None for _, fixed in looks])
            way = place, at if owner == position else None, kinds
            way = self._ways.setdefault(way, way)
            found.append((owner, way))
            self._add(way, owner, looks, ranges[place])
        return found

    def _add(
        self, way: Way, owner: int | None, looks: list[tuple[Seen, dict[int, tuple[int, int]]]], own: tuple[int, int]
    ) -> None:
        """The interval of a coordinate in each of its states."""
        hull, states = self.hulls.setdefault(way, {}), self.states(way)[0]
        self.numbers.work.spend(len(states))
        for state in states:
            left = list(state)
            box: Box = ((left[0], left.pop(0)) if way[1] is not None else own,)
            averages: list[tuple[list[Row], Box]] = []
            for (head, rows), (seen, fixed), kind in zip(self.heads, looks, way[2], strict=True):
                some: list[tuple[int, int]] = []
                for entry, _ in rows[way[0]]:
                    low, high = seen.low[entry], seen.high[entry]
                    if owner is not None and kind is not None:
                        weight, value = fixed[owner][0], left.pop(0)
                        # An entry that is always 0 adds 0.
                        if entry in head.ranges[kind]:
                            a, b = self.numbers.product_range(weight, *head.ranges[kind][entry])
                            exact = self.numbers.product(weight, value)
                            low, high = low - a + exact, high - b + exact
                    some.append((self.numbers.saturate(low), self.numbers.saturate(high)))
                row = tuple((number, weight) for number, (_, weight) in enumerate(rows[way[0]]))
                averages.append(([row], tuple(some)))
            ((low, high),) = written(box, averages, self.numbers)
            least, most = hull.get(state, (low, high))
            hull[state] = min(low, least), max(high, most)

    def _restore(self) -> None:
        """Follow every state to the search."""
        full: list[tuple[int, int]] = [(self.numbers.limit, -self.numbers.limit)] * self.size
        for (place, *_), hull in self.hulls.items():
            low, high = full[place]
            full[place] = min(low, *(a for a, _ in hull.values())), max(high, *(b for _, b in hull.values()))
        before = {column: place for place, column in enumerate(self.layers.live[1])}
        self.before = [before.get(column) for column in self.live]
        after = {place: number for number, place in enumerate(self.before) if place is not None}
        self.rest = self.layers.through(tuple(full), 1, self.layers.search)
        self.after: dict[Way, dict[State, tuple[int, int]]] = {}
        self.spans: dict[Way, tuple[int, int]] = {}
        for way, hull in self.hulls.items():
            place = way[0]
            self.room.spend(8 * len(hull) * (1 + self.size) * self.layers.search)
            if place in after:
                number = after[place]
                boxes = {state: (*full[:place], each, *full[place + 1 :]) for state, each in hull.items()}
                self.after[way] = {
                    state: self.layers.through(box, 1, self.layers.search)[number] for state, box in boxes.items()
                }
                columns = zip(*self.after[way].values(), strict=True)
                self.spans[way] = min(next(columns)), max(next(columns))

    def _line(self, pieces: tuple[tuple[Way, int], ...]) -> tuple[int, int]:
        """(d, c) such that all tokens add d · residue + c through some coordinates with these weights."""
        if pieces not in self._lines:
            modulus, start = self.spec.modulus, self.tokens.start
            self.numbers.work.spend((1 + len(self.tokens)) * (1 + len(pieces)))
            total = [0] * len(self.tokens)
            for way, weight in pieces:
                states, which = self.states(way)
                given = [self.numbers.product(weight, point(self.after[way][state])) for state in states]
                total = [sum_ + given[number] for sum_, number in zip(total, which, strict=True)]
            const = total[-start % modulus]
            slope = total[(1 - start) % modulus] - const
            right = all(
                each == slope * (token % modulus) + const for token, each in zip(self.tokens, total, strict=True)
            )
            require(right, "the search does not read a token as a multiple of its residue")
            self._lines[pieces] = slope, const
        return self._lines[pieces]

    def _search(self, position: int, ways: list[tuple[int | None, Way]]) -> None:
        """The answer to the token at a position."""
        spec, layers, numbers = self.spec, self.layers, self.numbers
        boxes: tuple[list[tuple[int, int]], ...] = [], []
        near = spec.near(position)
        for number, forms in enumerate(self.searches):
            some = comb(len(near) + spec.terms - 2, spec.terms - 1) if forms else 0
            require(some <= len(forms), f"the search at position {position + 1} has too few different sums")
            numbers.work.spend(some * spec.terms)
            missing = set(combinations_with_replacement(near, spec.terms - 1)) if forms else set[tuple[int, ...]]()
            least, most = numbers.limit, 0
            for row, bends in forms.items():
                belongs, found = self._form(position, ways, row, tuple(bends))
                if found is not None:
                    least, most = min(least, found[0]), most + found[1]
                    missing.discard(belongs)
            require(not missing, f"the search at position {position + 1} leaves out a choice of numbers")
            nothing = exactly(0)
            for box, ends in zip(boxes, (nothing, (least, most) if forms else nothing), strict=True):
                box.append(self._after(number, ways, ends))
        for bit, box in enumerate(boxes):
            answer = layers.readout(layers.through(tuple(box), layers.search + 1, len(layers.network.layers)))
            which = f"a token at position {position + 1}, {'with' if bit else 'without'} a match"
            require(answer == bit, f"{which}, is answered {answer}")

    def _after(self, number: int, ways: list[tuple[int | None, Way]], ends: tuple[int, int]) -> tuple[int, int]:
        """A coordinate after the search, which adds something between two bounds."""
        column, bias = self.layers.live[self.layers.search + 1][number], self.search.outer_bias[number]
        low, high = (self.numbers.saturate(self.numbers.saturate(each) + bias) for each in ends)
        if self.residual:
            place = self.place[column]
            before = self.before[place]
            least, most = self.rest[place] if before is None else self.spans[ways[before][1]]
            low, high = low + least, high + most
        return self.numbers.saturate(low), self.numbers.saturate(high)

    def _form(
        self, position: int, ways: list[tuple[int | None, Way]], row: Row, bends: Bends
    ) -> tuple[tuple[int, ...], tuple[int, int] | None]:
        """Which choice of other positions some units belong to, and what they add if that matches; None if nothing."""
        numbers, spec = self.numbers, self.spec
        numbers.work.spend(2 * (1 + len(row)))
        const, pieces = 0, dict[int, list[tuple[Way, int]]]()
        for place, weight in row:
            before = self.before[place]
            owner, way = (None, None) if before is None else ways[before]
            if owner is not None and way is not None:
                pieces.setdefault(owner, []).append((way, weight))
                continue
            found = self.rest[place]
            if way is not None:
                (found,) = self.after[way].values()
            const += numbers.product(weight, point(found))
        slopes = Counter[int]()
        for owner, some in pieces.items():
            slope, more = self._line(tuple(some))
            slopes[owner], const = slope, const + more
        unit, rest = divmod(sum(slopes.values()), spec.terms)
        times = {owner: slope // unit for owner, slope in slopes.items() if slope} if unit > 0 else {}
        whole = unit > 0 and not rest and all(slope >= 0 and slope % unit == 0 for slope in slopes.values())
        fits = whole and times.get(position, 0) > 0
        name = bends, const, tuple(sorted(slopes.values())), fits
        if name not in self._found:
            ends = [const + (spec.modulus - 1) * sum(side) for side in _signed(slopes)]
            self._found[name] = self._added(bends, const, unit if fits else 0, ends)
        others = Counter(times) - Counter([position])
        return tuple(sorted(others.elements())) if fits else (), self._found[name]

    def _added(self, bends: Bends, const: int, unit: int, ends: list[int]) -> tuple[int, int] | None:
        """The least and the greatest F where M divides n; None if F is 0 everywhere. Refused if it is neither kind."""
        numbers, modulus, scale, (low, high) = self.numbers, self.spec.modulus, self.numbers.scale, ends
        numbers.work.spend(16 + len(bends) * (16 + 4 * len(bends)))
        inside = all(abs(end + bias) <= numbers.limit for end in ends for bias in (0, *(bias for bias, _ in bends)))
        acting = [(bias, weight) for bias, weight in bends if high + bias > 0]
        free = all(
            weight % scale == 0 and abs(weight // scale) * (high + bias) <= numbers.limit for bias, weight in acting
        )
        require(inside and free, "the search may be saturated, or its weights are not whole numbers")

        def added(total: int) -> int:
            return sum(weight // scale * max(0, total + bias) for bias, weight in acting)

        if not any(added(each) for each in (low, high, *(-bias for bias, _ in acting)) if low <= each <= high):
            return None
        require(unit > 0, "a part of the search does not add up as many numbers as it must, the own one among them")
        last = self.spec.terms * (modulus - 1)
        near = {0, last, *((-bias - const) // unit + more for bias, _ in acting for more in (0, 1))}
        multiples = range(0, last + 1, modulus)
        near.update(each + more for each in multiples for more in (-1, 0, 1))
        values = {n: added(const + unit * n) for n in near if 0 <= n <= last}
        matching = [value for n, value in values.items() if n % modulus == 0]
        wrong = min(matching) <= 0 or any(value for n, value in values.items() if n % modulus)
        require(not wrong, "the search mistakes a sum that is no multiple of M for one, or the other way round")
        return min(matching), max(matching)


def _signed(slopes: Counter[int]) -> tuple[list[int], list[int]]:
    """The slopes below and above 0."""
    return [each for each in slopes.values() if each < 0], [each for each in slopes.values() if each > 0]
