"""Attention on the embedding that compares tokens: keys depend on what they hold, so only bounds of scores are known.

RULE (groups of keys). Put the keys that a query sees into groups. Let group g have at most n keys, with scores of at
most h. Where a number b is given, let g have a key with a score of at least b; let one group have a b. Then the largest
score m is at least B = max b and at most H = max h. Let E(x) be S · exp(x) rounded (hard attention: S at 0 and 0
below), which grows with x, and e_j = E(s_j - m), so that the weight of a key is round(S · e_j / Z) with Z = Σ e_j.
The sum P_g of e_j over g lies between

    least = E(b - H), or E(0) = S if b exceeds h of every other group (m is one of g's scores then), or 0 without b,
    most = n · E(min(h - B, 0)),

because s_j - m ≤ h - B, and s_j - m ≤ 0. Z is at least S: the largest score is among those summed. P/(P + R) grows
with P and falls with R, so P_g/Z is at least least/(least + most of the others) and at most
most/max(S, most + least of the others). All weights of g together are a sum of rounded quotients whose exact sum is
S · P_g/Z (LEMMA), and their products with values between u and v are a sum of rounded quotients whose exact sum lies
between u · W/S and v · W/S for the sum W of the weights. No product is saturated, because no weight exceeds S.

Groups that are put together are a group again: it has the sum of their n, and the largest of their h and b. The rule is
applied to the groups as given, with those of the same values together, and with all together; each time bounds hold,
so their intersection does.

Leftmost attention gives the weight S to one key of the largest score, which is in a group that can have it (most > 0).

LEMMA (sums of rounded quotients). Let n numbers have a sum of at least a and at most c. Rounded down, their sum is at
least ⌊a⌋ - (n - 1), as it is a whole number above a - n; and at most ⌊c⌋. Rounded to nearest it is at least ⌈a - n/2⌉,
which is at least ⌊a⌋ - ⌊n/2⌋, and at most ⌊c + n/2⌋, which is at most ⌊c⌋ + ⌈n/2⌉. Numbers that are 0 stay 0 and need
not be counted: a key with e_j = 0 has the weight 0, and a weight that is not 0 is at least 1.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from separatrix_kernel.attention import Packed, blocks, packed, sign_score, written
from separatrix_kernel.boxes import Box, exactly
from separatrix_kernel.embedding import Projection, Sign, View
from separatrix_kernel.evaluation import score
from separatrix_kernel.network import (
    Attention,
    GraphAttention,
    GraphHead,
    Head,
    Matrix,
    PairAttention,
    PairHead,
    Row,
    Transformer,
)
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import Budget, require
from separatrix_kernel.specification import Inputs

Values: TypeAlias = tuple[tuple[int, int, bool], ...]
"""The least and the greatest value of each coordinate of a group, and whether all are whole (multiples of S)."""
Group: TypeAlias = tuple[int, int | None, int, int]
"""n, b (None where nothing is known), h, and whose values it has: the number of a role, or -1, -2, … of a known key."""
NONE: Collection[int] = frozenset()
MOST_NUMBERS = 1 << 25


@dataclass(frozen=True)
class Case:
    """What is known of the tokens that a query sees.

    ``known`` are (place, token). Of the other places in a role none holds a token of ``without``, and one of role 0
    holds one of ``some`` unless that is empty. Where keys belong to pairs of positions, so do roles, and the tokens of
    a pair are one number (``ContentPairs``).
    """

    known: tuple[tuple[int, int], ...] = ()
    without: Mapping[int, Collection[int]] = field(default_factory=dict[int, Collection[int]])
    some: Collection[int] = NONE


def rounded_sum(low: int, high: int, divisor: int, count: int, numbers: Numbers) -> tuple[int, int]:
    """The lemma: bounds of a sum of ``count`` rounded numbers whose sum is from low/divisor to high/divisor."""
    least, greatest = low // divisor, high // divisor
    if numbers.rounding == "down":
        return least - max(0, count - 1), greatest
    return least - count // 2, greatest + (count + 1) // 2


def weight_sums(groups: Sequence[Group], scoring: str, numbers: Numbers) -> list[tuple[int, int, int]]:
    """The rule: the least and the greatest sum of each group's weights, and how many of them may differ from 0."""
    require(scoring in ("softmax", "hard", "leftmost"), f"{scoring} attention to keys that depend on tokens")
    one = numbers.scale
    require(scoring != "hard" or sum(n for n, *_ in groups) <= one, "hard attention to so many keys is saturated")

    def power(behind: int) -> int:
        return numbers.power(max(behind, -numbers.limit)) if scoring == "softmax" else one * (behind >= 0)

    numbers.work.spend(len(groups) * (32 + len(groups)))
    known = [b for _, b, _, _ in groups if b is not None]
    require(bool(known), "nothing is known of the largest score that a query sees")
    lowest, highest = max(known), max(h for _, _, h, _ in groups)
    least, most = list[int](), list[int]()
    for number, (n, b, h, _) in enumerate(groups):
        others = max((each[2] for place, each in enumerate(groups) if place != number), default=-numbers.limit - 1)
        least.append(0 if b is None else one if b > others else power(b - highest))
        most.append(n * power(min(h - lowest, 0)))
    found: list[tuple[int, int, int]] = []
    # A key with e = 0 has the weight 0; any other one adds at least 1 to the sum of its group.
    counts = [min(n, high) for (n, *_), high in zip(groups, most, strict=True)]
    for count, low, high in zip(counts, least, most, strict=True):
        rest_least, rest_most = sum(least) - low, sum(most) - high
        if scoring == "leftmost":
            found.append((one * (rest_most == 0), one * (high > 0), 1))
            continue
        down, _ = rounded_sum(one * low, 0, max(1, low + rest_most), count, numbers)
        _, up = rounded_sum(0, one * high, max(one, high + rest_least), count, numbers)
        found.append((max(0, down), up, min(count, up)))
    return found


def weighted_sum(values: Iterable[Values], sums: Iterable[tuple[int, int, int]], numbers: Numbers) -> Box:
    """The bounds of each coordinate of the average, from the values and the sums of weights of all groups."""
    low, high = list[int](), list[int]()
    for group, (light, heavy, count) in zip(values, sums, strict=True):
        numbers.work.spend(4 * (1 + len(group)))
        low, high = low or [0] * len(group), high or [0] * len(group)
        for place, (least, greatest, whole) in enumerate(group):
            ends = min(least * light, least * heavy), max(greatest * light, greatest * heavy)
            if whole:
                a, b = ends[0] // numbers.scale, ends[1] // numbers.scale
            else:
                a, b = rounded_sum(*ends, numbers.scale, count, numbers)
            low[place], high[place] = low[place] + a, high[place] + b
    return tuple((numbers.saturate(a), numbers.saturate(b)) for a, b in zip(low, high, strict=True))


def together(
    groups: Sequence[Group], values: Sequence[Values], names: Sequence[object]
) -> tuple[list[Group], list[Values]]:
    """Groups of one name as one group, and their values."""
    found: dict[object, list[tuple[Group, Values]]] = {}
    for name, group, value in zip(names, groups, values, strict=True):
        found.setdefault(name, []).append((group, value))
    some, theirs = list[Group](), list[Values]()
    for each in found.values():
        best = max((b for (_, b, _, _), _ in each if b is not None), default=None)
        some.append((sum(n for (n, *_), _ in each), best, max(h for (_, _, h, _), _ in each), 0))
        columns = zip(*(value for _, value in each), strict=True)
        theirs.append(tuple((min(e[0] for e in c), max(e[1] for e in c), all(e[2] for e in c)) for c in columns))
    return some, theirs


class Choices:
    """The keys that a position may have, by its token from ``first`` on; as words where they are signs of one size.

    Coordinates in which all of them are 0 add 0 to every score and are left out.
    """

    def __init__(self, keys: list[list[int]], first: int, numbers: Numbers) -> None:
        self.numbers, self.first = numbers, first
        self.support = [place for place in range(len(keys[0])) if any(key[place] for key in keys)]
        self.keys = [[key[place] for place in self.support] for key in keys]
        self.tops = [max(map(abs, column)) for column in zip(*self.keys, strict=True)]
        signs = [packed(key) for key in self.keys]
        self.size = signs[0][0] if signs[0] and all(each and each[0] == signs[0][0] for each in signs) else 0
        self.words = [each[1] for each in signs if each] if self.size else []
        self.blocks = blocks(0, self.words)
        self._apart: dict[object, Counter[int]] = {}
        self._bounds: dict[object, tuple[int, int]] = {}

    def score(self, query: list[int], token: int) -> int:
        """The score of a query and the key of a token."""
        key = self.keys[token - self.first]
        return score([query[place] for place in self.support], key, self.numbers)

    def bounds(self, query: list[int], without: Collection[int]) -> tuple[int, int]:
        """The least and the greatest score of a query and the key of a token, some tokens left out."""
        asked = [query[place] for place in self.support]
        name = tuple(asked), without
        if name not in self._bounds:
            signs = packed(asked) if self.size else None
            # A token that no key may have leaves nothing out.
            left = {token - self.first for token in without if 0 <= token - self.first < len(self.keys)}
            scores = self._scored(asked, left) if signs is None else self._by_signs(signs, left)
            require(bool(scores), "no token is left that a key could hold")
            self._bounds[name] = min(scores), max(scores)
        return self._bounds[name]

    def _scored(self, asked: list[int], left: set[int]) -> list[int]:
        numbers, keys = self.numbers, [key for number, key in enumerate(self.keys) if number not in left]
        numbers.work.spend(len(self.keys) * (1 + len(asked)))
        scale, reach = numbers.scale, numbers.limit * numbers.scale
        if numbers.rounding != "down" or any(abs(a) * top > reach for a, top in zip(asked, self.tops, strict=True)):
            return [score(asked, key, numbers) for key in keys]
        # No product can be saturated, so each is its quotient rounded down.
        sums = [sum([a * b // scale for a, b in zip(asked, key, strict=True)]) for key in keys]
        return [numbers.saturate(each) for each in sums]

    def _by_signs(self, asked: Packed, left: set[int]) -> list[int]:
        """The scores that occur: they depend on the number of signs that differ (``attention``, cosets)."""
        apart: Counter[int] = Counter()
        for number, block in enumerate(self.blocks):
            name = number, block.name(asked[1])
            if name not in self._apart:
                self.numbers.work.spend(len(block.words))
                self._apart[name] = block.distances(asked[1])
            apart.update(self._apart[name])
        apart.subtract((self.words[number] ^ asked[1]).bit_count() for number in left)
        width = len(self.support)
        return [sign_score(asked[0], self.size, each, width, self.numbers) for each, count in apart.items() if count]


class Grouped:
    """What heads whose keys depend on tokens share; each kind of them fills in its roles."""

    def __init__(self, network: Transformer, query: Matrix, scoring: str, masked: bool, numbers: Numbers) -> None:
        self.numbers, self.scoring, self.masked = numbers, scoring, masked
        self.queries = Projection(network, query, numbers)
        self.counts: list[int] = []
        self.choices: list[Choices] = []
        self.values: list[Values] = []
        self._room = Budget(MOST_NUMBERS, "numbers in all keys of a head")
        self._known: dict[object, Box] = {}

    def add(self, count: int, keys: list[list[int]], first: int, values: list[list[int]]) -> None:
        """One more role: how many keys, those that each may have, and the values that they may have."""
        self.counts.append(count)
        self.choices.append(Choices(keys, first, self.numbers))
        self.values.append(self.ranges(values))

    def ranges(self, rows: list[list[int]]) -> Values:
        """The range of some values."""
        whole, columns = self.numbers.scale, zip(*rows, strict=True)
        return tuple((min(each), max(each), not any(value % whole for value in each)) for each in columns)

    def room(self, count: int, matrix: Matrix) -> None:
        """Refuse more keys than memory has room for, before they are made."""
        self._room.spend(count * (1 + len(matrix.rows)))

    def query(self, position: int, token: int) -> list[int]:
        """The query of a token at a position."""
        return self.queries.project(self.queries.position(position), self.queries.token(token))

    def rest(self, query: list[int], case: Case, counts: list[int]) -> list[Group]:
        """The groups of the roles, each with so many keys whose tokens are not known."""
        found: list[Group] = []
        for number, (count, choices) in enumerate(zip(counts, self.choices, strict=True)):
            if count:
                least, high = choices.bounds(query, case.without.get(number, NONE))
                if case.some and not number:
                    require(not self.masked, "a masked query may not see the token that matches")
                    least = max(least, min(choices.score(query, each) for each in case.some))
                # Behind a mask there may be fewer keys, or none.
                found.append((count, None if self.masked else least, high, number))
        return found

    def bounded(self, groups: tuple[Group, ...], exact: list[Values]) -> Box:
        """The bounds of the average, where known keys have these values."""
        values = [self.values[each] if each >= 0 else exact[-1 - each] for *_, each in groups]
        boxes: list[Box] = []
        for names in (range(len(groups)), values, [0] * len(groups)):
            some, theirs = together(groups, values, list(names))
            boxes.append(weighted_sum(theirs, weight_sums(some, self.scoring, self.numbers), self.numbers))
        columns = zip(*boxes, strict=True)
        return tuple((max(low for low, _ in each), min(high for _, high in each)) for each in columns)


class ContentHead(Grouped):
    """One head whose keys depend on tokens. ``roles`` are sets of positions, all of them together."""

    def __init__(self, head: Head, network: Transformer, inputs: Inputs, roles: list[range], numbers: Numbers) -> None:
        super().__init__(network, head.query, head.scoring, head.mask != "none", numbers)
        self.head, self.roles, self.positions = head, roles, network.positions
        keys, self.view = Projection(network, head.key, numbers), Projection(network, head.value, numbers)
        for role in roles:
            at, tokens = one_look(keys, role, inputs)
            kinds = {(self.view.position(place), tokens) for place in role}
            self.room(len(tokens), head.key)
            self.room(sum(len(self.view.signs(held)) for _, held in kinds), head.value)
            values = [self.view.project(place, sign) for place, held in kinds for sign in self.view.signs(held)]
            self.add(len(role), [keys.project(at, keys.token(each)) for each in tokens], tokens.start, values)

    def look(self, position: int) -> object:
        """What a query depends on, and what its own value does where it sees itself."""
        sees_itself = position < self.head.visible(position, self.positions)
        return self.queries.position(position), self.view.position(position) if sees_itself else None

    def groups(self, position: int, token: int, case: Case) -> tuple[Group, ...]:
        """The groups of keys that a query sees: the rest of each role, and each known key."""
        query = self.query(position, token)
        counts = [len(role) - sum(place in role for place, _ in case.known) for role in self.roles]
        found = self.rest(query, case, counts)
        for number, (place, held) in enumerate(case.known):
            if place < self.head.visible(position, self.positions):
                (choices,) = (each for role, each in zip(self.roles, self.choices, strict=True) if place in role)
                exact = choices.score(query, held)
                found.append((1, exact, exact, -1 - number))
        return tuple(found)

    def average(self, groups: tuple[Group, ...], known: tuple[tuple[int, int], ...]) -> Box:
        """The bounds of the average when these tokens are at these places."""
        signs = tuple((self.view.position(place), self.view.token(token)) for place, token in known)
        if (groups, signs) not in self._known:
            exact = [self.ranges([self.view.project(*each)]) for each in signs]
            self._known[groups, signs] = self.bounded(groups, exact)
        return self._known[groups, signs]


class ContentPairs(Grouped):
    """A third-order head. Its keys belong to pairs of positions; so a role is a pair of roles, (0, 0) the first one.

    The tokens (t, u) of a pair are the number i · n + j if t is the i-th and u the j-th of n tokens.
    """

    def __init__(
        self, head: PairHead, network: Transformer, inputs: Inputs, roles: list[range], numbers: Numbers
    ) -> None:
        super().__init__(network, head.query, head.scoring, False, numbers)
        sizes = [len(inputs.tokens[role.start]) for role in roles]
        self.room(sum(sizes) ** 2, head.keys[0])
        self.room(sum(sizes) ** 2, head.values[0])
        for roles_of_pair in product(roles, repeat=2):
            held: list[list[list[list[int]]]] = []
            for role, matrices in zip(roles_of_pair, zip(head.keys, head.values, strict=True), strict=True):
                views = [Projection(network, matrix, numbers) for matrix in matrices]
                looks = [one_look(view, role, inputs) for view in views]
                held.append(
                    [
                        [view.project(at, view.token(each)) for each in tokens]
                        for view, (at, tokens) in zip(views, looks, strict=True)
                    ]
                )
            keys, values = ([self.product(a, b) for a, b in product(*sides)] for sides in zip(*held, strict=True))
            self.add(len(roles_of_pair[0]) * len(roles_of_pair[1]), keys, 0, values)

    def product(self, left: list[int], right: list[int]) -> list[int]:
        """The key or the value of a pair."""
        return [self.numbers.product(a, b) for a, b in zip(left, right, strict=True)]

    def look(self, position: int) -> object:
        """What a query depends on."""
        return self.queries.position(position)

    def groups(self, position: int, token: int, case: Case) -> tuple[Group, ...]:
        """The groups of pairs."""
        return tuple(self.rest(self.query(position, token), case, self.counts))

    def average(self, groups: tuple[Group, ...], known: tuple[tuple[int, int], ...]) -> Box:
        """The bounds of the average."""
        require(not known, "attention to pairs is covered where no key is known")
        if groups not in self._known:
            self._known[groups] = self.bounded(groups, [])
        return self._known[groups]


class ContentEdges(ContentPairs):
    """A head on the edges of a graph. Role 0 are all pairs of vertices, whose "token" is the number of their score;
    role 1 is the dummy. A key is its score, and every query is 1.

    Linear and ReLU attention: let all pairs have one value, and all but those with number 7 one score. Then the average
    is a function of how many pairs have number 7, and every number of them is tried: 0, or from 1 to all.
    """

    def __init__(self, head: GraphHead, network: Transformer, numbers: Numbers) -> None:
        Grouped.__init__(self, network, Matrix((), 0), head.scoring, False, numbers)
        views = [Projection(network, matrix, numbers) for matrix in head.values]
        places = range(network.positions)
        held = [{tuple(view.project(view.position(at), view.token(0))) for at in places} for view in views]
        self.room(len(held[0]) * len(held[1]), head.values[0])
        values = [self.product(list(a), list(b)) for a, b in product(*held)]
        self.add(network.positions**2, [[each] for each in head.scores], 0, values)
        width = len(head.values[0].rows)
        dummy = [0] * width
        self.add(1, [[head.dummy]], 0, [dummy])
        self.scores, self.dummy, self.summed = head.scores, head.dummy, head.scoring in ("linear", "relu")

    def query(self, position: int, token: int) -> list[int]:
        """1, whose product with a score is exact."""
        del position, token
        return [self.numbers.scale]

    def groups(self, position: int, token: int, case: Case) -> tuple[Group, ...]:
        """The groups of pairs; for linear and ReLU attention how many there are, and how many have number 7."""
        if not self.summed:
            return super().groups(position, token, case)
        pairs = self.counts[0]
        return ((pairs, int(bool(case.some)), pairs if case.some else 0, 0),)

    def average(self, groups: tuple[Group, ...], known: tuple[tuple[int, int], ...]) -> Box:
        """The bounds of the average."""
        if not self.summed or groups in self._known:
            return super().average(groups, known)
        numbers, (*others, full) = self.numbers, self.scores
        alike = len(set(others)) == 1 and all(low == high for low, high, _ in self.values[0])
        require(alike, f"{self.scoring} attention to edges is covered for two scores and one value")
        ((pairs, least, most, _),) = groups
        assert least is not None
        numbers.work.spend((most - least + 1) * (64 + 8 * len(self.values[0])))
        found: list[list[int]] = []
        for number in range(least, most + 1):
            counts = Counter({self.dummy: 1})
            counts.update({full: number})
            counts.update({others[0]: pairs - number})
            weights = numbers.weights(self.scoring, +counts)
            given = [(number, weights.get(full, 0)), (pairs - number, weights.get(others[0], 0))]
            values = ([count * numbers.product(w, value) for count, w in given] for value, _, _ in self.values[0])
            found.append([numbers.saturate(sum(each)) for each in values])
        self._known[groups] = tuple((min(each), max(each)) for each in zip(*found, strict=True))
        return self._known[groups]


def one_look(view: View, role: range, inputs: Inputs) -> tuple[Sign, range]:
    """The sign and the tokens that all positions of a role have."""
    looks = {(view.position(place), inputs.tokens[place]) for place in role}
    require(len(looks) == 1, "keys that are to be compared depend on their positions")
    return looks.pop()


class ContentLayer:
    """A layer of such heads: boxes of the live coordinates of a query."""

    def __init__(
        self, network: Transformer, live: list[int], inputs: Inputs, roles: list[range], numbers: Numbers
    ) -> None:
        layer = network.layers[0]
        assert isinstance(layer, Attention | PairAttention | GraphAttention)
        self.inputs, self.numbers, self.size = inputs, numbers, len(live)
        self.own = View(network, live if layer.residual else [], numbers)
        self.heads: list[tuple[ContentHead | ContentPairs, list[Row]]] = []
        for head in layer.heads:
            rows = [head.output.rows[place] for place in live]
            # A head that writes nothing live adds 0 to every live coordinate.
            if not any(rows):
                continue
            if isinstance(head, PairHead):
                self.heads.append((ContentPairs(head, network, inputs, roles, numbers), rows))
            elif isinstance(head, GraphHead):
                self.heads.append((ContentEdges(head, network, numbers), rows))
            else:
                self.heads.append((ContentHead(head, network, inputs, roles, numbers), rows))

    def look(self, position: int) -> object:
        """Positions of one look have the same groups and boxes as queries of one role.

        A mask shows a query all earlier places of a case, wherever it is, and its own place or not.
        """
        tokens, at = self.inputs.tokens[position], self.own.position(position)
        own = tuple([tuple(self.own.vector(at, sign)) for sign in self.own.signs(tokens)])
        return tokens, own, tuple([head.look(position) for head, _ in self.heads])

    def token(self, token: int) -> object:
        """Tokens of one sign are interchangeable in a query's own vector and in the values of known keys."""
        return self.own.token(token), tuple(
            [head.view.token(token) for head, _ in self.heads if isinstance(head, ContentHead)]
        )

    def groups(self, position: int, token: int, case: Case) -> tuple[tuple[Group, ...], ...]:
        """The groups of each head."""
        return tuple(head.groups(position, token, case) for head, _ in self.heads)

    def box(self, position: int, token: int, groups: tuple[tuple[Group, ...], ...], case: Case) -> Box:
        """The live coordinates of a query whose heads see these groups."""
        own = self.own.vector(self.own.position(position), self.own.token(token)) or [0] * self.size
        averages = [head.average(each, case.known) for (head, _), each in zip(self.heads, groups, strict=True)]
        box = tuple(map(exactly, own))
        return written(box, [(rows, each) for (_, rows), each in zip(self.heads, averages, strict=True)], self.numbers)
