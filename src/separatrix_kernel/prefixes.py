"""Causal Transformers that flag errors, and an automaton: all strings of a length at once.

The network: feed-forwards; heads that weigh the past alike; feed-forwards; perhaps one hard head that looks strictly
back, and feed-forwards; a last head that weighs all positions alike and adds up one number of each, its *flag*.

SUMS. A head whose query or key is 0 gives each of t keys one weight w, and 0 ≤ w ≤ S. If all values are multiples of S,
every product w·v/S is a whole number in the range, so a coordinate of the average is the saturation of w/S times the
sum of the values: the prefix matters through the sums alone.

KINDS. A hard head gives the weight S to the key of the largest score if that is a single one, and the average is that
key's value. The proof names coordinates of keys as *age*; what is left of a key is its *kind*. Refused unless all keys
of one kind and one position are equal, and for each query q that occurs, among the keys that prefixes had so far: keys
of one kind score higher the later they are, and the kind with the best score exceeds in all of its scores all those
of the prefix's other kinds. Then q finds the latest key of that kind: the prefix matters through the latest value of
each kind alone.

RULE (prefixes). Follow (sums, latest values, state of the automaton) token by token, as long as all flags are 0. Let F
be the least of the flags that are not 0 where they come first. Refused unless

1. flags are at least 0 on all inputs: by bounds of all numbers, where heads may write anything;
2. an input whose flags are all 0 is answered as its last state says;
3. for some answer b, the network answers b whatever its last vector is, if the flags' average is at least that of a
   single flag F;
4. where a flag comes first, every end that the automaton may still reach answers b.

Each input has no flag, which is 2, or a first one. Then all flags are at least 0 by 1 and one is at least F > 0, so
that the sum of their rounded products with the weight w ≥ 0 is at least the product of w and F: the network answers b
by 3, and that is right by 4.

COSTS. A prefix that grows by a token is charged for its size even where all that follows is known already: prefixes,
tokens and positions multiply. What is kept of one position, and of all, has a largest size.
"""

from collections.abc import Sequence
from itertools import islice, product
from operator import add
from typing import Any, TypeAlias

from separatrix_kernel.attention import written
from separatrix_kernel.boxes import Box, BoxLayer, BoxReadout, exactly, is_idle, row_range
from separatrix_kernel.evaluation import Vector, added, embed, feed_forward, score
from separatrix_kernel.network import Attention, FeedForward, Head, Matrix, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import Budget, RefusedError, integers, require
from separatrix_kernel.specification import Automaton, Inputs

MOST_PREFIXES = 1 << 16
MOST_KEPT = 1 << 24
Kept: TypeAlias = tuple[int, ...]
Memory: TypeAlias = tuple[tuple[Kept, Kept], ...]
"""The kinds of the keys so far, ascending, each with its latest value."""
Prefix: TypeAlias = tuple[Kept, Memory, int]
"""The sums (none before the first token), what a lookup may find, the state of the automaton."""
Counted: TypeAlias = tuple[Kept, Vector, tuple[Kept, Kept, Kept, Kept] | None]
"""Sums, a vector, and its query, kind, key and value for the lookup."""


def uniform(head: Head) -> bool:
    """Whether all scores are 0."""
    return not (head.query.reads and head.key.reads)


class Prefixes:
    """The rule."""

    def __init__(self, network: Transformer, inputs: Inputs, automaton: Automaton, age: Any, numbers: Numbers) -> None:
        self.network, self.inputs, self.automaton, self.numbers = network, inputs, automaton, numbers
        self.all = list(range(network.width))
        self.attention: list[tuple[Attention, list[Head]]] = []
        self.between: list[list[FeedForward]] = [[]]
        for layer in network.layers:
            if isinstance(layer, FeedForward):
                self.between[-1].append(layer)
            elif not is_idle(layer, self.all):
                if not isinstance(layer, Attention):
                    raise RefusedError("the rule does not cover attention to pairs")
                self.attention.append((layer, [head for head in layer.heads if any(head.output.rows)]))
                self.between.append([])
        both = len(self.attention) in (2, 3) and all(heads for _, heads in self.attention)
        require(both, "the rule needs two or three layers of attention that write")
        self.counting, (self.last,) = self.attention[0][1], self.attention[-1][1][:1]
        sums = all(uniform(head) and head.mask == "causal" for head in self.counting)
        require(sums, "the first heads do not weigh the past alike")
        used = {entry for row in self.last.output.rows for entry, _ in row}
        alone = len(self.attention[-1][1]) == len(used) == 1 and uniform(self.last) and self.last.mask != "strict"
        require(alone, "the last layer does not weigh one number of all positions alike")
        (self.entry,) = used
        self.flag = Matrix((self.last.value.rows[self.entry],), network.width)
        self.lookup = self.attention[1][1][0] if len(self.attention) == 3 else None
        if self.lookup is not None:
            back = self.lookup.mask == "strict" and self.lookup.scoring in ("hard", "leftmost")
            require(back and len(self.attention[1][1]) == 1, "the second layer is not one hard head that looks back")
        rows = len(self.lookup.key.rows) if self.lookup is not None else 0
        self.age = set(integers(age, "the coordinates of age", 0, rows - 1))
        looked = 0 if self.lookup is None else 2 * rows + len(self.lookup.value.rows)
        sums = sum(len(head.value.rows) for head in self.counting)
        # Numbers, or what takes as much room, of a vector that is kept and of what is about a kind.
        self.vector_size, self.kind_size = 32 + network.width + sums + looked, 8 + looked
        self.kept = Budget(4 * MOST_KEPT, "numbers to keep of all positions")
        self.keys: dict[Kept, list[Kept]] = {}
        self._scores: dict[tuple[Kept, Kept], tuple[int, int, int]] = {}
        self.start: Prefix = (), (), automaton.start
        self.least = 0
        self.flagged: list[frozenset[int]] = []
        self._sets: dict[frozenset[int], frozenset[int]] = {}
        self.low, self.high = [numbers.limit] * network.width, [-numbers.limit] * network.width

    def check(self) -> None:
        """Refuse unless all obligations hold."""
        for vector, state in self._walk():
            answer, right = self._answer(tuple(map(exactly, vector)), exactly(0)), self.automaton.answers[state]
            require(answer == right, f"a string without a flag is answered {answer}, and its state says {right}")
        box: Box = tuple(zip(self.low, self.high, strict=True))
        for number, (layer, heads) in enumerate(self.attention[:-1]):
            box = self._through(self._anything(layer, heads, box), number + 1)
        low, _, _ = row_range(self.flag.rows[0], box, self.numbers)
        require(low >= 0, "a flag may be negative")
        if self.least:
            weight = self._weight(self.last, len(self.inputs.tokens))
            self._ends(self._answer(box, (self.numbers.product(weight, self.least), self.numbers.limit)))

    def _weight(self, head: Head, visible: int) -> int:
        return self.numbers.weights(head.scoring, {0: visible})[0]

    def _through(self, box: Box, number: int) -> Box:
        for layer in self.between[number]:
            box = BoxLayer(layer, self.all, self.all, self.numbers)(box)
        return box

    def _anything(self, layer: Attention, heads: Sequence[Head], box: Box) -> Box:
        """A box after a layer, whatever its heads average: where none writes, what was there or 0 is left."""
        whole = -self.numbers.limit, self.numbers.limit
        free = {place for head in heads for place, row in enumerate(head.output.rows) if row}
        return tuple(whole if n in free else each if layer.residual else exactly(0) for n, each in enumerate(box))

    def _answer(self, box: Box, flags: tuple[int, int]) -> int | None:
        """The answer for a last vector in a box and an average of the flags between two bounds."""
        own = box if self.attention[-1][0].residual else (exactly(0),) * len(box)
        average = tuple(flags if n == self.entry else exactly(0) for n in range(len(self.last.value.rows)))
        box = self._through(written(own, [(list(self.last.output.rows), average)], self.numbers), -1)
        return BoxReadout(self.network.readout, self.all, self.numbers)(box)

    def _ends(self, answer: int | None) -> None:
        """Obligations 3 and 4: backwards, the states from which every end has this answer."""
        require(answer is not None, "a flag does not decide the answer")
        steps, answers = self.automaton.steps, self.automaton.answers
        good = {state for state, each in enumerate(answers) if each == answer}
        for tokens, flagged in zip(reversed(self.inputs.tokens), reversed(self.flagged), strict=True):
            require(flagged <= good, "a string is flagged that may still be answered otherwise")
            self.numbers.work.spend(len(steps) * (1 + len(tokens)))
            good = {state for state, each in enumerate(steps) if all(each[token] in good for token in tokens)}

    def _walk(self) -> set[tuple[Kept, int]]:
        """The last vectors and states of strings without a flag; what is needed of the others is kept."""
        prefixes, ends, last = {self.start}, set[tuple[Kept, int]](), len(self.inputs.tokens) - 1
        for position, tokens in enumerate(self.inputs.tokens):
            self.begin(position)
            flagged, after = set[int](), set[Prefix]()
            for prefix, token in product(prefixes, tokens):
                following, vector, flag = self.step(prefix, token)
                if flag:
                    self.least = min(flag, self.least or flag)
                    flagged.add(following[2])
                    continue
                if following not in after:
                    self._here.spend(self._size(following))
                    after.add(following)
                    require(len(after) <= MOST_PREFIXES, f"there are more than {MOST_PREFIXES} different prefixes")
                if position == last:
                    self.numbers.work.spend(self.network.width)
                    self._here.spend(16 if (vector, following[2]) not in ends else 0)
                    ends.add((vector, following[2]))
            self.end()
            self.flagged.append(self._shared(frozenset(flagged)))
            prefixes = after
        return ends

    def _shared(self, flagged: frozenset[int]) -> frozenset[int]:
        """A set that is kept once, however often it comes."""
        if flagged not in self._sets:
            self.kept.spend(16 + 8 * len(flagged))
            self._sets[flagged] = flagged
        return self._sets[flagged]

    def _size(self, prefix: Prefix) -> int:
        return len(prefix[0]) + self.kind_size * (1 + len(prefix[1]))

    def begin(self, position: int) -> None:
        """Go to a position: what its tokens are, and nothing known of it."""
        self._here = Budget(MOST_KEPT, "numbers to keep of one position")
        self._here.spend(self.vector_size * len(self.inputs.tokens[position]))
        self._weights = [self._weight(head, position + 1) for head in self.counting]
        self._owns = {token: self._own(token, position) for token in self.inputs.tokens[position]}
        self._counts: dict[tuple[int, Kept], Counted] = {}
        self._flags: dict[tuple[int, Kept, Kept], tuple[Kept, int]] = {}
        self._fresh: dict[Kept, Kept] = {}

    def end(self) -> None:
        """Leave the position: from now on its keys are seen."""
        for kind, key in self._fresh.items():
            self.kept.spend(self.kind_size)
            self.keys.setdefault(kind, []).append(key)

    def step(self, prefix: Prefix, token: int) -> tuple[Prefix, Kept, int]:
        """A prefix with one more token, that token's vector before the last layer of attention, and its flag."""
        sums, memory, state = prefix
        self.numbers.work.spend(self._size(prefix))
        if (token, sums) not in self._counts:
            self._here.spend(self.vector_size)
            self._counts[token, sums] = self._counted(token, sums)
        grown, stream, asked = self._counts[token, sums]
        value, kept = self._looked(asked, memory) if asked else ((), memory)
        if (token, sums, value) not in self._flags:
            self._here.spend(self.vector_size)
            vector = stream if self.lookup is None else self._next(1, stream, [list(value)])
            self._flags[token, sums, value] = tuple(vector), self.flag.apply(vector, self.numbers)[0]
        return (grown, kept, self.automaton.steps[state][token]), *self._flags[token, sums, value]

    def _own(self, token: int, position: int) -> tuple[Vector, Kept]:
        """The vector of a token before all attention, and what it adds to the sums."""
        vector = embed(self.network, token, position, self.numbers)
        for layer in self.between[0]:
            vector = feed_forward(layer, vector, self.numbers)
        self.low = list(map(min, self.low, vector))
        self.high = list(map(max, self.high, vector))
        values = tuple([each for head in self.counting for each in head.value.apply(vector, self.numbers)])
        require(not any(each % self.numbers.scale for each in values), "the sums are not of whole numbers")
        return vector, values

    def _next(self, number: int, vector: Vector, averages: Sequence[Vector]) -> Vector:
        """A vector after a layer of attention, whose heads have these averages, and the feed-forwards behind it."""
        layer, heads = self.attention[number]
        total = vector if layer.residual else [0] * len(vector)
        for head, average in zip(heads, averages, strict=True):
            total = added(total, head.output.apply(average, self.numbers), self.numbers)
        for each in self.between[number + 1]:
            total = feed_forward(each, total, self.numbers)
        return total

    def _counted(self, token: int, sums: Kept) -> Counted:
        """The sums with one more token, its vector, and what the lookup sees of that."""
        vector, values = self._owns[token]
        grown = tuple(map(add, sums, values)) if sums else values
        left, averages = iter(grown), list[Vector]()
        for head, weight in zip(self.counting, self._weights, strict=True):
            taken = islice(left, len(head.value.rows))
            averages.append([self.numbers.saturate(weight * (each // self.numbers.scale)) for each in taken])
        stream = self._next(0, vector, averages)
        if self.lookup is None:
            return grown, stream, None
        head = self.lookup
        query, key, value = (tuple(each.apply(stream, self.numbers)) for each in (head.query, head.key, head.value))
        return grown, stream, (query, tuple([each for n, each in enumerate(key) if n not in self.age]), key, value)

    def _looked(self, asked: tuple[Kept, Kept, Kept, Kept], memory: Memory) -> tuple[Kept, Memory]:
        """What a query finds among the latest values, and those after it."""
        query, kind, key, value = asked
        require(self._fresh.setdefault(kind, key) == key, "two keys of one kind and one position differ")
        found: Kept = (0,) * len(value)
        if memory:
            ranges = [(*self._range(query, each), held) for each, held in memory]
            best = max(ranges)
            found = best[2]
            clear = sum(high >= best[0] for _, high, _ in ranges) == 1
            require(clear, "keys of different kinds are not ordered by their scores")
        return found, tuple(sorted({**dict(memory), kind: value}.items()))

    def _range(self, query: Kept, kind: Kept) -> tuple[int, int]:
        """The least and the greatest score of the keys of a kind so far, which must grow."""
        keys, (seen, low, high) = self.keys[kind], self._scores.get((query, kind), (0,) * 3)
        if not seen:
            self.kept.spend(self.kind_size)
        for number in range(seen, len(keys)):
            found = score(list(query), list(keys[number]), self.numbers)
            require(not number or found > high, "a later key of the same kind does not score higher")
            low, high = low if number else found, found
        self._scores[query, kind] = len(keys), low, high
        return low, high
