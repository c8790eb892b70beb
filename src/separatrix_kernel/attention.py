"""Attention on the embedding where no weight depends on the keys' tokens: every input at once.

RULE (weights fixed by positions). Let the key of every position be the same for all tokens that it may hold. Then the
weights w_j that a query gives do not depend on the keys' tokens, and a coordinate of the head's average is

    Σ_{j in P} round(w_j · v_j(token at j))  +  Σ_{j not in P} round(w_j · v_j(token at j)),

saturated, for any set P of places. The first sum is known once the tokens at P are. The second lies between the sums of
the least and of the greatest terms, because each term depends on its own position's token alone (and both bounds are
attained: tokens vary freely). The proof names P; the kernel computes the rest.

LEMMA (counting keys). Keys of one *kind* take values from one set. The second sum depends on a key through its kind and
its score, so it is enough to know how many keys have which kind and score.

LEMMA (cosets). If a query's coordinates are all ±a and those of keys ±b, the score depends on the number of coordinates
of opposite sign: the bit count of q ⊕ k, signs as bits. If the words of some keys are W = k₀ ⊕ U with U
closed under ⊕, each word once, then {q ⊕ k : k in W} = (q ⊕ k₀) ⊕ U depends only on the coset of q ⊕ k₀ modulo U. So
queries of one coset, such as all code words of a linear code, have the same counts, and those are computed once.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import compress, groupby, product, repeat
from math import prod
from operator import xor
from typing import TypeAlias, cast

from separatrix_kernel.boxes import Box, exactly, row_range
from separatrix_kernel.embedding import Projection, Sign, View
from separatrix_kernel.evaluation import score
from separatrix_kernel.network import Attention, Head, Row, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import Budget, require
from separatrix_kernel.specification import Inputs

Packed: TypeAlias = tuple[int, int]
"""A vector whose coordinates are all a or -a, a > 0: (a, word), bits of the word 1 where they are negative."""
Fixed: TypeAlias = tuple[int, int, int, Sign | None]
"""A visible place: its number among the case's places (-1 for the query's own), weight, kind, and its token's sign if
that is known already."""


FEW = 32
MOST_KEYS = 1 << 30
MOST_BOUNDS = 1 << 24
MOST_VECTORS = 1 << 24
MOST_NUMBERS = 1 << 25


def packed(vector: list[int]) -> Packed | None:
    """The vector as signs, if it is of that form."""
    size = abs(vector[0]) if vector else 0
    if not size or not {size, -size}.issuperset(vector):
        return None
    return size, int("".join(["1" if each < 0 else "0" for each in vector]), 2)


class Words:
    """The sign words of some keys of one size."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        # Words with different leading bits, each 0 at the leading bits of those before it: a basis of the span of all
        # differences. Reducing by it maps two words alike exactly if they differ by an element of the span U.
        self.basis: list[tuple[int, int]] = []
        for word in words:
            left = self.reduced(word ^ words[0])
            if left:
                self.basis.append((1 << (left.bit_length() - 1), left))
        # 2^|basis| different words whose differences lie in U are all of k₀ ⊕ U.
        self.coset = len(words) > FEW and len(set(words)) == len(words) == 1 << len(self.basis)

    def reduced(self, word: int) -> int:
        """The word with the leading bit of every basis word cleared."""
        for lead, each in self.basis:
            if word & lead:
                word ^= each
        return word

    def name(self, query: int) -> object:
        """Queries of one name have the same distances: the coset, or the distances themselves, or the query itself."""
        if self.coset:
            return self.reduced(query ^ self.words[0])
        return query if len(self.words) > FEW else tuple(sorted(self.distances(query).items()))

    def distances(self, query: int) -> Counter[int]:
        """How many keys differ from the query in how many signs."""
        return Counter(map(int.bit_count, map(xor, self.words, repeat(query))))


def blocks(first: int, words: list[int]) -> list[Words]:
    """The words of keys at consecutive positions in blocks from p to p + 2^b - 1 with p divisible by 2^b.

    Where the words are those of a linear code, in order, each block is a coset. Any other division would be as right.
    """
    found: list[Words] = []
    at, stop = first, first + len(words)
    while at < stop:
        size = 1 << ((stop - at).bit_length() - 1)
        while at % size:
            size //= 2
        found.append(Words(words[at - first : at - first + size]))
        at += size
    return found


def sign_score(query: int, key: int, apart: int, size: int, numbers: Numbers) -> int:
    """The score of ±query and ±key in so many coordinates, ``apart`` of which have opposite signs."""
    equal, opposite = numbers.product(query, key), numbers.product(query, -key)
    return numbers.saturate(equal * (size - apart) + opposite * apart)


def written(box: Box, heads: list[tuple[list[Row], Box]], numbers: Numbers) -> Box:
    """A box and what heads with these rows of their output write into it for averages in these boxes.

    Outputs are added and saturated one after the other; each step is monotone.
    """
    found = list(box)
    for rows, average in heads:
        for place, row in enumerate(rows):
            low, high, _ = row_range(row, average, numbers)
            least, greatest = found[place]
            found[place] = (
                numbers.saturate(least + numbers.saturate(low)),
                numbers.saturate(greatest + numbers.saturate(high)),
            )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Seen:
    """What a query sees: the weight of each score, and the bounds of each sum over all visible keys."""

    weights: dict[int, int]
    low: list[int]
    high: list[int]


class FixedWeights:
    """One head on the embedding whose keys do not depend on tokens."""

    def __init__(self, head: Head, network: Transformer, inputs: Inputs, numbers: Numbers, what: str) -> None:
        self.head, self.inputs, self.numbers = head, inputs, numbers
        self._work = Budget(MOST_KEYS, "pairs of a query and a key")
        self._vectors = Budget(MOST_VECTORS, "different keys and values")
        self._room = Budget(MOST_NUMBERS, "numbers in all values of a head")
        self.queries = Projection(network, head.query, numbers)
        self.values = Projection(network, head.value, numbers)
        self.key_of = self._read_keys(Projection(network, head.key, numbers), what)
        self._read_kinds()
        # Keys of signs at consecutive positions, as blocks of words (size, kind of most of them, words); keys there of
        # another kind (key, that kind, their own); and all other keys.
        self.groups: list[tuple[int, int, Words]] = []
        self.odd: list[tuple[int, int, int]] = []
        self.others: Counter[tuple[int, int]] = Counter()
        pairs = zip(self.key_of, self.kind_of, strict=True)
        at = 0
        for size, group in groupby(pairs, lambda pair: self._size(pair[0])):
            run = list(group)
            if size:
                ((usual, _),) = Counter(kind for _, kind in run).most_common(1)
                words = [cast("Packed", self.keys[key])[1] for key, _ in run]
                self.groups.extend((size, usual, block) for block in blocks(at, words))
                self.odd.extend((key, usual, kind) for key, kind in run if kind != usual)
            else:
                self.others.update(run)
            at += len(run)
        self._seen: dict[object, Seen] = {}
        self._minus: dict[int, list[bool]] = {}
        # The scores of the last query, which others behind a mask may share.
        self._scored: tuple[list[int], dict[int, int]] = [], {}

    def _size(self, key: int) -> int:
        """The size of a key's coordinates if they are all alike but for their signs, else 0."""
        found = self.keys[key]
        return found[0] if isinstance(found, tuple) else 0

    def _read_keys(self, view: Projection, what: str) -> list[int]:
        """The number of every position's key among the different ones; refused where a key depends on a token."""
        self.keys: list[Packed | list[int]] = []
        numbers: dict[tuple[Sign, range], int] = {}
        found: list[int] = []
        for position, tokens in enumerate(self.inputs.tokens):
            name = view.position(position), tokens
            if name not in numbers:
                self._vectors.spend(len(view.signs(tokens)))
                first, *rest = (view.project(name[0], token) for token in view.signs(tokens))
                require(all(each == first for each in rest), f"{what}: key {position + 1} depends on its token")
                numbers[name] = len(self.keys)
                self.keys.append(packed(first) or first)
            found.append(numbers[name])
        return found

    def _read_kinds(self) -> None:
        """Every position's kind; the value of each kind for each sign of a token, and their least and greatest."""
        view, numbers = self.values, dict[tuple[Sign, range], int]()
        self.value: list[dict[Sign, list[int]]] = []
        self.kind_of: list[int] = []
        for position, tokens in enumerate(self.inputs.tokens):
            name = view.position(position), tokens
            if name not in numbers:
                self._vectors.spend(len(view.signs(tokens)))
                self._room.spend(len(view.signs(tokens)) * (8 + len(view.matrix.rows)))
                numbers[name] = len(self.value)
                self.value.append({token: view.project(name[0], token) for token in view.signs(tokens)})
            self.kind_of.append(numbers[name])
        columns = (zip(*table.values(), strict=True) for table in self.value)
        # An entry that is always 0 adds 0.
        self.ranges = [{n: (min(c), max(c)) for n, c in enumerate(each) if any(c)} for each in columns]

    def score(self, query: list[int], signs: Packed | None, key: int) -> int:
        """The score of a key for a query, which is given as signs as well if it is of that form."""
        found = self.keys[key]
        if isinstance(found, tuple):
            if signs is not None:
                apart = (signs[1] ^ found[1]).bit_count()
                return sign_score(signs[0], found[0], apart, len(query), self.numbers)
            size, word = found
            if key not in self._minus:
                self._minus[key] = [digit == "1" for digit in format(word, f"0{len(query)}b")]
            if size == self.numbers.scale:
                # Products with 1 and -1 are exact.
                self.numbers.work.spend(1 + len(query))
                return self.numbers.saturate(sum(query) - 2 * sum(compress(query, self._minus[key])))
            found = [-size if minus else size for minus in self._minus[key]]
        # A key without entries has the score 0; the dummy's is often such a key, and every query sees it.
        return score(query, found, self.numbers) if any(found) else 0

    def seen(self, position: int, query: list[int], signs: Packed | None) -> Seen:
        """What a query at a position sees, computed once for all queries that see the same."""
        visible = self.head.visible(position, len(self.key_of))
        name: object = visible, tuple(query)
        if signs is not None and self.head.mask == "none":
            apart = tuple([self.score(query, signs, key) for key, *_ in (*self.others, *self.odd)])
            name = signs[0], tuple([words.name(signs[1]) for *_, words in self.groups]), apart
        if name not in self._seen:
            self._work.spend(visible)
            self._seen[name] = self._sum_up(self._counts(query, signs, visible))
        return self._seen[name]

    def _counts(self, query: list[int], signs: Packed | None, visible: int) -> Counter[tuple[int, int]]:
        """How many visible keys have which score and kind."""
        counts: Counter[tuple[int, int]] = Counter()
        if signs is None or self.head.mask != "none":
            if self._scored[0] != query:
                self._scored = query, {}
            scores = self._scored[1]
            for (key, kind), number in Counter(zip(self.key_of[:visible], self.kind_of, strict=False)).items():
                if key not in scores:
                    scores[key] = self.score(query, signs, key)
                counts[scores[key], kind] += number
            return counts
        for size, kind, words in self.groups:
            for apart, number in words.distances(signs[1]).items():
                counts[sign_score(signs[0], size, apart, len(query), self.numbers), kind] += number
        for key, counted, kind in self.odd:
            # It was counted as one of the usual kind.
            found = self.score(query, signs, key)
            counts[found, counted] -= 1
            counts[found, kind] += 1
        for (key, kind), number in self.others.items():
            counts[self.score(query, signs, key), kind] += number
        return +counts

    def _sum_up(self, counts: Counter[tuple[int, int]]) -> Seen:
        scores: Counter[int] = Counter()
        for (each, _), number in counts.items():
            scores[each] += number
        weights = self.numbers.weights(self.head.scoring, scores)
        self.numbers.work.spend(len(counts) * (1 + len(self.head.value.rows)))
        low, high = [0] * len(self.head.value.rows), [0] * len(self.head.value.rows)
        for (each, kind), number in counts.items():
            for place, (least, greatest) in self.ranges[kind].items():
                a, b = self.numbers.product_range(weights[each], least, greatest)
                low[place], high[place] = low[place] + number * a, high[place] + number * b
        return Seen(weights, low, high)

    def forget(self) -> None:
        """Make room where other queries see other keys."""
        if self.head.mask != "none":
            self._seen.clear()

    def look(self, position: int, token: int, places: tuple[int, ...]) -> tuple[Seen, tuple[Fixed, ...]]:
        """What the query of a token at a position sees, and the visible ones of its own and some other places."""
        query = self.queries.project(self.queries.position(position), self.queries.token(token))
        return self.fetch(query, position, places, self.values.token(token))

    def fetch(
        self, query: list[int], position: int, places: tuple[int, ...], own: Sign | None
    ) -> tuple[Seen, tuple[Fixed, ...]]:
        """The same for any query vector; without a sign of its own token that is one of those that are not known."""
        signs = packed(query)
        seen, visible = self.seen(position, query, signs), self.head.visible(position, len(self.key_of))
        fixed: list[Fixed] = []
        for number, place in enumerate((position, *places), -1):
            if place < visible and (number >= 0 or own is not None):
                weight = seen.weights[self.score(query, signs, self.key_of[place])]
                fixed.append((number, weight, self.kind_of[place], own if number < 0 else None))
        return seen, tuple(fixed)

    def average(self, seen: Seen, fixed: tuple[Fixed, ...], held: tuple[int, ...]) -> Box:
        """The bounds of the average when these tokens are at the case's places."""
        self.numbers.work.spend((1 + len(fixed)) * (1 + len(seen.low)))
        low, high = list(seen.low), list(seen.high)
        for number, weight, kind, own in fixed:
            value = self.value[kind][self.values.token(held[number]) if own is None else own]
            for place, (least, greatest) in self.ranges[kind].items():
                a, b = self.numbers.product_range(weight, least, greatest)
                exact = self.numbers.product(weight, value[place])
                low[place], high[place] = low[place] - a + exact, high[place] - b + exact
        return tuple((self.numbers.saturate(a), self.numbers.saturate(b)) for a, b in zip(low, high, strict=True))


Cases: TypeAlias = dict[tuple[int, ...], Box]
"""The box of the live coordinates for each choice of tokens at a query's places."""


class FirstAttention:
    """A layer of attention on the embedding: for each query, boxes as functions of the tokens at its places."""

    def __init__(self, network: Transformer, live: list[list[int]], inputs: Inputs, numbers: Numbers) -> None:
        layer = network.layers[0]
        assert isinstance(layer, Attention)
        self.inputs, self.numbers, self.size = inputs, numbers, len(live[1])
        self.own = View(network, live[1] if layer.residual else [], numbers)
        self.heads: list[tuple[FixedWeights, list[Row]]] = []
        for number, head in enumerate(layer.heads):
            rows = [head.output.rows[place] for place in live[1]]
            # A head that writes nothing live adds 0 to every live coordinate.
            if any(rows):
                self.heads.append((FixedWeights(head, network, inputs, numbers, f"layer 0, head {number}"), rows))
        self._known: dict[object, Cases] = {}
        self._work = Budget(MOST_BOUNDS, "bounds in all cases")

    def cases(self, position: int, token: int, places: tuple[int, ...]) -> Cases:
        """All choices of tokens at the places, none of them the position itself, for a query that holds the token.

        Everything that the boxes depend on is in the name, so that queries of one name share one table.
        """
        looks = [head.look(position, token, places) for head, _ in self.heads]
        own = tuple(self.own.vector(self.own.position(position), self.own.token(token))) or (0,) * self.size
        tokens = tuple([self.inputs.tokens[place] for place in places])
        name = own, tokens, tuple([(id(seen), fixed) for seen, fixed in looks])
        if name not in self._known:
            self._work.spend(prod(map(len, tokens)) * max(1, self.size))
            self._known[name] = {held: self._box(own, looks, held) for held in product(*tokens)}
        return self._known[name]

    def _box(self, own: tuple[int, ...], looks: list[tuple[Seen, tuple[Fixed, ...]]], held: tuple[int, ...]) -> Box:
        """Own coordinates and the heads' outputs."""
        pairs = zip(self.heads, looks, strict=True)
        averages = [(rows, head.average(seen, fixed, held)) for (head, rows), (seen, fixed) in pairs]
        return written(tuple(map(exactly, own)), averages, self.numbers)
