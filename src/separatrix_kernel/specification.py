"""Specifications as data: which inputs there are, and what the right answer to each of them is.

Inputs are a product: every position holds one token of its own range, whatever the others hold; a form may promise
more. Answers are asked for at the last position, or at several last ones. They have one of these forms:

* ``select``: the token at the position that another position's token names;
* ``count``: a function of how many conditions hold, each a 0/1 table of the tokens at a few positions;
* ``automaton``: what the state says after a finite automaton has read all tokens;
* ``table``: an explicit list, one answer for each input;
* ``recall``: for each query among the keys before it, the label that follows that key;
* ``sums``: whether two or three tokens of a window add up to 0 modulo M, for each of them or for any;
* ``nearby-sums``: the same for each token, with tokens at most so many positions away from it;
* ``cycles``: for each vertex of a directed graph whether a cycle of three edges passes through it;
* ``nearest``: for each of the last points the label of the earlier point whose product with it is largest (``points``);
* ``named-sums``: for each cell the sum of the vectors of the cells that it names (``sets``).
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import perm, prod
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from separatrix_kernel.reading import Budget, fields, integer, integers, interval, items, require, text

if TYPE_CHECKING:
    from separatrix_kernel.points import Nearest
    from separatrix_kernel.sets import NamedSums

LARGEST_TABLE = 1 << 20
MOST_POSITIONS, MOST_TOKENS = 1 << 24, 1 << 22
MOST_ENTRIES = 1 << 24
SHOWN = 16


@dataclass(frozen=True)
class Inputs:
    """The tokens of every position; positions of one run share one range object."""

    tokens: list[range]
    runs: list[tuple[int, range]]

    @property
    def covered(self) -> str:
        """The number of inputs as a product, such as "64^1024*1024"."""
        sizes: dict[int, int] = {}
        for count, tokens in self.runs:
            sizes[len(tokens)] = sizes.get(len(tokens), 0) + count
        return "*".join(f"{size}^{n}" if n > 1 else str(size) for size, n in sizes.items() if size > 1) or "1"

    def at_most(self, most: int) -> bool:
        """Whether there are no more inputs than that."""
        found = 1
        for tokens in self.tokens:
            found *= len(tokens)
            if found > most:
                return False
        return True

    def all(self) -> Iterator[tuple[int, ...]]:
        """Every input."""
        return product(*self.tokens)


class Form:
    """What all forms share; these are the ways of a form that asks at the last position and promises nothing."""

    on_graphs = False
    cell_size = 0
    """How many numbers a cell of the network's inputs has; 0 where these are tokens."""
    stride = 1
    """Answers are asked for at every ``stride``-th position, up to the last one."""
    file = ""
    """The file of the kernel that a form has to itself, if any."""

    @property
    def rounded(self) -> int:
        """How many whole numbers an answer is, to which the readout is rounded; 0 where it is decoded otherwise."""
        return 0

    def cells(self, tokens: Sequence[int]) -> list[list[int]]:
        """The cells of an input."""
        del tokens
        return []

    def held(self, inputs: Inputs) -> Inputs:
        """What the positions of a network hold: the inputs themselves."""
        return inputs

    @property
    def asked(self) -> int:
        """At how many last positions an answer is asked for."""
        return 1

    @property
    def everywhere(self) -> bool:
        """Whether the network may be read at every position; its answers elsewhere do not matter then."""
        return False

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers at the last positions."""
        return [self.answer(tokens)]

    def answer(self, tokens: Sequence[int]) -> int:
        """The right answer at the last position."""
        return self.right(tokens)[-1]

    def known(self, held: Mapping[int, int]) -> int | None:
        """The answer to every input that holds these tokens at these positions; None where that is not determined."""
        del held
        return None

    def admits(self, tokens: Sequence[int]) -> bool:
        """Whether an input keeps the promise."""
        del tokens
        return True

    def count(self, inputs: Inputs) -> int:
        """How many inputs there are."""
        return prod(len(tokens) ** count for count, tokens in inputs.runs)

    def covered(self, inputs: Inputs) -> str:
        """How that number comes about."""
        return inputs.covered

    def draw(self, inputs: Inputs, random: Random) -> tuple[int, ...] | None:
        """A random input; None where none is found that keeps the promise."""
        return tuple(random.choice(each) for each in inputs.tokens)


@dataclass(frozen=True)
class Select(Form):
    """The answer is the token at position ``token - first``, for the token at position ``by``."""

    by: int
    first: int

    def answer(self, tokens: Sequence[int]) -> int:
        """The right answer."""
        return tokens[tokens[self.by] - self.first]

    def known(self, held: Mapping[int, int]) -> int | None:
        """The answer to every input that holds these tokens at these positions; None where that is not determined."""
        return held.get(held[self.by] - self.first) if self.by in held else None

    def words(self) -> str:
        """For people."""
        return (
            f"the token at the position that position {self.by + 1} names: token {self.first} there names position 1, "
            f"token {self.first + 1} position 2, and so on"
        )


@dataclass(frozen=True)
class Count(Form):
    """``answers`` (from, answer), ascending, by how many conditions hold; each has places and a table."""

    conditions: list[tuple[tuple[int, ...], tuple[int, ...]]]
    answers: list[tuple[int, int]]
    inputs: Inputs

    def entry(self, places: Sequence[int], held: Sequence[int]) -> int:
        """Where in a table these tokens at these places are: the first place is the most significant."""
        number = 0
        for place, token in zip(places, held, strict=True):
            tokens = self.inputs.tokens[place]
            number = number * len(tokens) + tokens.index(token)
        return number

    def of_count(self, count: int) -> int:
        """The answer when so many conditions hold."""
        (answer,) = self.of_counts(count, count)
        return answer

    def of_counts(self, low: int, high: int) -> set[int]:
        """The answers when from ``low`` to ``high`` conditions hold."""
        first, stop = (bisect_right(self.answers, each, key=itemgetter(0)) for each in (low, high))
        return {answer for _, answer in self.answers[first - 1 : stop]}

    def answer(self, tokens: Sequence[int]) -> int:
        """The right answer."""
        held = (table[self.entry(places, [tokens[place] for place in places])] for places, table in self.conditions)
        return self.of_count(sum(held))

    def known(self, held: Mapping[int, int]) -> int | None:
        """The answer if the tokens at all places of all conditions are known."""
        if any(place not in held for places, _ in self.conditions for place in places):
            return None
        return self.answer([held.get(place, 0) for place in range(len(self.inputs.tokens))])

    def words(self) -> str:
        """For people."""
        read = {place for places, _ in self.conditions for place in places}
        steps = "; ".join(f"{answer} from {least} on" for least, answer in self.answers[:SHOWN])
        more = f"; {len(self.answers) - SHOWN} further steps" if len(self.answers) > SHOWN else ""
        what = f"{len(self.conditions)} conditions on {len(read)} positions, listed in the specification,"
        return f"a function of how many of {what} hold: {steps}{more}"


@dataclass(frozen=True)
class Automaton(Form):
    """``steps[state][token]`` is the next state, ``answers[state]`` the answer after the last token."""

    start: int
    steps: list[list[int]]
    answers: list[int]

    def answer(self, tokens: Sequence[int]) -> int:
        """The right answer."""
        state = self.start
        for token in tokens:
            state = self.steps[state][token]
        return self.answers[state]

    def words(self) -> str:
        """For people."""
        return f"what the state of the specification's automaton, one of {len(self.steps)}, says after all tokens"


@dataclass(frozen=True)
class Table(Form):
    """One answer for each input, in the order in which ``Inputs.all`` lists them."""

    answers: list[int]
    inputs: Inputs

    def answer(self, tokens: Sequence[int]) -> int:
        """The right answer."""
        number = 0
        for token, choices in zip(tokens, self.inputs.tokens, strict=True):
            number = number * len(choices) + choices.index(token)
        return self.answers[number]

    def known(self, held: Mapping[int, int]) -> int | None:
        """The answer if all tokens are known."""
        if len(held) < len(self.inputs.tokens):
            return None
        return self.answer([held[place] for place in range(len(self.inputs.tokens))])

    def words(self) -> str:
        """For people."""
        return f"that of the specification's table with {len(self.answers)} entries"


@dataclass(frozen=True)
class Recall(Form):
    """Position 2i holds the i-th key and 2i + 1 its label, for i below ``pairs``; queries follow.

    Promised: the keys are distinct, the queries are distinct, and each of them is one of the keys. The answer to a
    query is its key's label, as a number from 0 on.
    """

    pairs: int
    queries: int
    keys: range
    labels: range

    @property
    def asked(self) -> int:
        """At how many last positions an answer is asked for."""
        return self.queries

    @property
    def everywhere(self) -> bool:
        """The network may be read at every position."""
        return True

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers."""
        end = 2 * self.pairs
        stored = {tokens[place]: tokens[place + 1] - self.labels.start for place in range(0, end, 2)}
        return [stored[query] for query in tokens[end:]]

    def admits(self, tokens: Sequence[int]) -> bool:
        """Whether keys and queries are distinct and the queries among the keys."""
        keys, queries = tokens[0 : 2 * self.pairs : 2], tokens[2 * self.pairs :]
        return len(set(keys)) == len(keys) and len(set(queries)) == len(queries) and set(queries) <= set(keys)

    def count(self, inputs: Inputs) -> int:
        """Keys in order, labels, and queries in order."""
        del inputs
        return perm(len(self.keys), self.pairs) * len(self.labels) ** self.pairs * perm(self.pairs, self.queries)

    def covered(self, inputs: Inputs) -> str:
        """How that number comes about."""
        del inputs
        keys, left = len(self.keys), self.pairs - self.queries
        asked = f"{self.pairs}!" + (f"/{left}!" if left else "") if self.queries > 1 else f"{self.pairs}"
        return f"{keys}!/{keys - self.pairs}!*{len(self.labels)}^{self.pairs}*{asked}"

    def draw(self, inputs: Inputs, random: Random) -> tuple[int, ...]:
        """A random input."""
        del inputs
        keys = random.sample(self.keys, self.pairs)
        pairs = [token for key in keys for token in (key, random.choice(self.labels))]
        return (*pairs, *random.sample(keys, self.queries))

    def words(self) -> str:
        """For people."""
        asked = f"each of the last {self.queries} tokens" if self.queries > 1 else "the last token"
        return (
            f"for {asked} the label that follows the same token among {self.pairs} pairs of a key and a label, where "
            f"label {self.labels.start} is 0; promised: keys are distinct, queries are distinct and among the keys"
        )


@dataclass(frozen=True)
class Sums(Form):
    """A token z of ``window`` matches if it and ``terms`` - 1 tokens of the window add up to 0 modulo M.

    They may be at one position, also at that of z, and are at most ``reach`` positions away from it, where that is
    given. With ``each`` the answers are whether each token matches (1) or not (0), else whether one of them does.
    """

    window: range
    modulus: int
    terms: int
    each: bool
    reach: int | None = None

    @property
    def asked(self) -> int:
        """At how many last positions an answer is asked for."""
        return len(self.window) if self.each else 1

    @property
    def everywhere(self) -> bool:
        """The network is read at every position where each token is asked."""
        return self.each

    def near(self, position: int) -> range:
        """The positions whose tokens count for the one at a position."""
        if self.reach is None:
            return self.window
        return range(max(self.window.start, position - self.reach), min(self.window.stop, position + self.reach + 1))

    def always(self, token: int) -> bool:
        """Whether a token matches with itself."""
        return self.terms * token % self.modulus == 0

    def partners(self, token: int, tokens: range) -> range:
        """Those of some consecutive tokens that add up with a token to 0."""
        return range(tokens.start + (-token - tokens.start) % self.modulus, tokens.stop, self.modulus)

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers."""
        found: list[int] = []
        known: dict[range, set[int]] = {}
        for position in self.window:
            near = self.near(position)
            if near not in known:
                held = {tokens[place] % self.modulus for place in near}
                known[near] = held if self.terms == 2 else {(a + b) % self.modulus for a in held for b in held}
            found.append(int(-tokens[position] % self.modulus in known[near]))
        return found if self.each else [max(found)]

    def words(self) -> str:
        """For people."""
        whose = "for each token" if self.each else "whether there is a token"
        which = f"of positions {self.window.start + 1} to {self.window.stop}"
        others = "one of them adds" if self.terms == 2 else "two of them add"
        far = "" if self.reach is None else f", each at most {self.reach} positions away from it"
        return f"{whose} {which}, 1 if it and {others} up to 0 modulo {self.modulus}{far}, else 0"


def adjacency(tokens: Sequence[int], vertices: int) -> list[list[int]]:
    """The matrix x of a graph without loops, given by x_ij for all i ≠ j, j fastest."""
    rows = [tokens[start : start + vertices - 1] for start in range(0, len(tokens), vertices - 1)]
    return [[*row[:place], 0, *row[place:]] for place, row in enumerate(rows)]


@dataclass(frozen=True)
class Cycles(Form):
    """For each vertex i of a directed graph without loops: whether there are edges i → j, j → k and k → i.

    Tokens are the entries x_ij, i ≠ j, of its matrix, j fastest: 1 if there is an edge from i to j.
    """

    vertices: int
    on_graphs = True
    each = True

    def held(self, inputs: Inputs) -> Inputs:
        """Every vertex holds token 0."""
        del inputs
        return Inputs([range(1)] * self.vertices, [(self.vertices, range(1))])

    @property
    def window(self) -> range:
        """The vertices."""
        return range(self.vertices)

    @property
    def asked(self) -> int:
        """An answer for each vertex."""
        return self.vertices

    @property
    def everywhere(self) -> bool:
        """The network is read at every vertex."""
        return True

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers."""
        graph, vertices = adjacency(tokens, self.vertices), range(self.vertices)
        pairs = [(j, k) for j in vertices for k in vertices if graph[j][k]]
        return [int(any(graph[i][j] and graph[k][i] for j, k in pairs)) for i in vertices]

    def words(self) -> str:
        """For people."""
        return (
            f"for each of {self.vertices} vertices of a directed graph, 1 if a cycle of three edges passes through it, "
            "else 0; tokens are the entries of the adjacency matrix without its diagonal, row by row"
        )


Answers: TypeAlias = "Select | Count | Automaton | Table | Recall | Sums | Cycles | Nearest | NamedSums"


def read_specification(value: Any) -> tuple[Inputs, Answers]:
    """The inputs and the right answers that a claim states."""
    found = fields(value, "the specification", ["inputs", "answer"])
    tokens: list[range] = []
    runs: list[tuple[int, range]] = []
    different = Budget(MOST_TOKENS, "tokens in all runs of positions")
    for run in items(found["inputs"], "the inputs"):
        one = fields(run, "a run of positions", ["count", "tokens"])
        count = integer(one["count"], "the length of a run", 1, MOST_POSITIONS - len(tokens))
        choices = range(*interval(one["tokens"], "the tokens of a run", MOST_TOKENS))
        require(len(choices) > 0, "a run of positions has no tokens")
        different.spend(len(choices))
        tokens.extend([choices] * count)
        runs.append((count, choices))
    require(bool(tokens), "the inputs have no positions")
    inputs = Inputs(tokens, runs)
    require(isinstance(found["answer"], dict), "the answer is not an object")
    kind = text(found["answer"].get("kind"), "the kind of answer", [*READERS, "nearest", "named-sums"])
    if kind == "nearest":
        from separatrix_kernel.points import read_nearest

        return inputs, read_nearest(found["answer"], inputs)
    if kind == "named-sums":
        from separatrix_kernel.sets import read_named_sums

        return inputs, read_named_sums(found["answer"], inputs)
    return inputs, READERS[kind](found["answer"], inputs)


def _select(value: Any, inputs: Inputs) -> Select:
    found = fields(value, "the selection", ["kind", "by", "first"])
    size = len(inputs.tokens)
    by, first = integer(found["by"], "the naming position", 0, size - 1), integer(found["first"], "the first token")
    names = inputs.tokens[by]
    require(first <= names.start and names.stop - first <= size, "a token names a position that is not there")
    return Select(by, first)


def _count(value: Any, inputs: Inputs) -> Count:
    found = fields(value, "the count", ["kind", "conditions", "answers"])
    conditions: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    entries = Budget(MOST_ENTRIES, "entries of all conditions' tables")
    for group in items(found["conditions"], "the conditions"):
        one = fields(group, "a group of conditions", ["places", "table"])
        table = tuple(integers(one["table"], "a condition's table", 0, 1))
        for each in items(one["places"], "the places of conditions"):
            places = tuple(integers(each, "a condition's places", 0, len(inputs.tokens) - 1))
            require(len(set(places)) == len(places), "a condition names a place twice")
            sizes = prod(len(inputs.tokens[place]) for place in places)
            require(sizes == len(table), "a condition's table does not have one entry for each choice of tokens")
            entries.spend(len(table))
            conditions.append((places, table))
    answers: list[tuple[int, int]] = []
    for each in items(found["answers"], "the answers by count"):
        least, answer = integers(items(each, "an answer by count", 2), "an answer by count", 0)
        require(least > answers[-1][0] if answers else least == 0, "the answers by count do not ascend from 0")
        answers.append((least, answer))
    require(bool(answers), "the answers by count are missing")
    return Count(conditions, answers, inputs)


def _automaton(value: Any, inputs: Inputs) -> Automaton:
    found = fields(value, "the automaton", ["kind", "start", "steps", "answers"])
    return automaton_of(found, max(tokens.stop for tokens in set(inputs.tokens)))


def automaton_of(found: dict[str, Any], symbols: int | None = None) -> Automaton:
    """An automaton by its start, steps and answers; for so many tokens, or as many as its first state reads."""
    answers = integers(found["answers"], "the automaton's answers", 0)
    last = len(answers) - 1
    steps = [integers(each, "a state's steps", 0, last) for each in items(found["steps"], "the steps", len(answers))]
    start = integer(found["start"], "the first state", 0, last)
    symbols = len(steps[0]) if symbols is None else symbols
    require(symbols > 0, "the automaton reads no tokens")
    require(all(len(each) == symbols for each in steps), "a state does not have one step for each token")
    return Automaton(start, steps, answers)


def _table(value: Any, inputs: Inputs) -> Table:
    answers = integers(fields(value, "the table", ["kind", "answers"])["answers"], "the table", 0)
    require(inputs.at_most(LARGEST_TABLE), "there are too many inputs for a table")
    count = prod(len(tokens) for tokens in inputs.tokens)
    require(count == len(answers), f"the table has {len(answers)} entries for {count} inputs")
    return Table(answers, inputs)


def _recall(value: Any, inputs: Inputs) -> Recall:
    pairs = integer(fields(value, "the recall", ["kind", "pairs"])["pairs"], "the number of pairs", 1)
    end, size = 2 * pairs, len(inputs.tokens)
    require(end < size <= end + pairs, "there are no queries after the pairs, or more than pairs")
    keys, labels = inputs.tokens[0], inputs.tokens[1]
    same = all(each == keys for each in (*inputs.tokens[0:end:2], *inputs.tokens[end:]))
    require(same and len(keys) >= pairs, "keys and queries do not come from one range of enough tokens")
    require(all(each == labels for each in inputs.tokens[1:end:2]), "labels do not come from one range")
    return Recall(pairs, size - end, keys, labels)


def _sums(value: Any, inputs: Inputs) -> Sums:
    near = value["kind"] == "nearby-sums"
    found = fields(value, "the sums", ["kind", "window", "modulus", "terms", "reach" if near else "asked"])
    window, size = range(*interval(found["window"], "the window")), len(inputs.tokens)
    each = near or text(found["asked"], "what is asked", ["each", "any"]) == "each"
    require(len(window) > 0 and window.stop <= size, "the window is empty or goes beyond the inputs")
    require(not each or window.stop == size, "each token of a window is asked, which must be the last positions")
    require(len({inputs.tokens[place] for place in window}) == 1, "the window's tokens do not come from one range")
    terms = integer(found["terms"], "the number of terms", 2, 3)
    reach = integer(found["reach"], "the reach", 0) if near else None
    return Sums(window, integer(found["modulus"], "the modulus", 1), terms, each, reach)


def _cycles(value: Any, inputs: Inputs) -> Cycles:
    vertices = integer(fields(value, "the cycles", ["kind", "vertices"])["vertices"], "the number of vertices", 2)
    edges = len(inputs.tokens) == vertices * (vertices - 1) and set(inputs.tokens) == {range(2)}
    require(edges, "the inputs are not 0 or 1 for each pair of different vertices")
    return Cycles(vertices)


READERS = {
    "select": _select, "count": _count, "automaton": _automaton, "table": _table, "recall": _recall, "sums": _sums,
    "nearby-sums": _sums, "cycles": _cycles,
}  # fmt: skip
