"""Specifications as data: which inputs there are, and what the right answer to each of them is.

Inputs are a product: every position holds one token of its own range, whatever the others hold. The answer is asked for
at the last position. It has one of these forms:

* ``select``: the token at the position that another position's token names;
* ``count``: a function of how many conditions hold, each a 0/1 table of the tokens at a few positions;
* ``automaton``: what the state says after a finite automaton has read all tokens;
* ``table``: an explicit list, one answer for each input.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

from separatrix_kernel.reading import Budget, fields, integer, integers, interval, items, require, text

LARGEST_TABLE = 1 << 20
MOST_POSITIONS = MOST_TOKENS = 1 << 24
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


@dataclass(frozen=True)
class Select:
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
class Count:
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
        return [answer for least, answer in self.answers if least <= count][-1]

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
class Automaton:
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

    def known(self, held: Mapping[int, int]) -> int | None:
        """Never decided by some of the tokens."""
        del held
        return None

    def words(self) -> str:
        """For people."""
        return f"what the state of the specification's automaton, one of {len(self.steps)}, says after all tokens"


@dataclass(frozen=True)
class Table:
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


Answers: TypeAlias = Select | Count | Automaton | Table


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
    kind = text(found["answer"].get("kind"), "the kind of answer", READERS)
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
    answers = integers(found["answers"], "the automaton's answers", 0)
    last, symbols = len(answers) - 1, max(tokens.stop for tokens in set(inputs.tokens))
    steps = [integers(each, "a state's steps", 0, last) for each in items(found["steps"], "the steps", len(answers))]
    require(all(len(each) == symbols for each in steps), "a state does not have one step for each token")
    return Automaton(integer(found["start"], "the first state", 0, last), steps, answers)


def _table(value: Any, inputs: Inputs) -> Table:
    answers = integers(fields(value, "the table", ["kind", "answers"])["answers"], "the table", 0)
    require(inputs.at_most(LARGEST_TABLE), "there are too many inputs for a table")
    count = prod(len(tokens) for tokens in inputs.tokens)
    require(count == len(answers), f"the table has {len(answers)} entries for {count} inputs")
    return Table(answers, inputs)


READERS = {"select": _select, "count": _count, "automaton": _automaton, "table": _table}
