"""Bounded Dyck languages: is a string over n types of brackets balanced with depth at most k?

BHBK24 §4.1 and Appendix E; data as in Appendix H.1: with probability 1/2 a balanced string from the stack walk,
otherwise a balanced string corrupted in 1 … N/10 positions (type swapped or direction switched, 1/2 each),
corrupted again if it is still balanced. Strings have length exactly N in training and evaluation.

Readings and deviations: "choosing uniformly between open brackets and the closing bracket" is read as uniform over the
n + 1 symbols. The paper fixes n = k = 2 and closes what is open after N − 2 steps, or adds a pair of depth 1; for other
depths the walk closes a bracket as soon as there are only as many places left as brackets open, which at k = 2 is the
paper's rule. With n types a "swap" goes to another type uniformly; with one type it is always a switch of direction.
N/10 is rounded down, at least 1.
"""

from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array, columns, integers, namespace_of, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._bounded_stack import fill_types, is_balanced, random_depths
from separatrix.tasks.problems._decision import Decision, asked_at_the_end
from separatrix.tasks.problems._shallow_walk import pairs_in_a_run, shallow_strings
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Examples, Row, Split, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

OPENING = "([{<"
CLOSING = ")]}>"
MOST_STACKS = 1 << 14
"""States of the automaton that a specification lists at most."""


@dataclass(frozen=True, kw_only=True)
class Dyck(Decision):
    """Membership in Dyck-(types, depth); opening bracket i is token i, its closing bracket types + i."""

    name: str = "dyck"
    title: str = "Bounded Dyck languages"
    source: str = "BHBK24 §4.1, Appendix E; data: Appendix H.1"
    question: str = "Is the string of brackets balanced, with at most k brackets open at any time?"
    drawn: str = "balanced strings, and balanced strings corrupted in at most N/10 places"
    minimum_length: int = 2
    length_step: int = 2
    types: int = 2
    depth: int = 2

    def __post_init__(self) -> None:
        require(1 <= self.types <= 1 << 24, f"types={self.types} is out of range; choose 1 to 2^24 types of brackets")
        require(self.depth >= 1, f"depth={self.depth} is too small; choose a depth from 1 on")

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary(
            (
                Symbols("opening brackets", self.types, prefix="(", first=1, texts=OPENING),
                Symbols("closing brackets", self.types, prefix=")", first=1, texts=CLOSING),
            )
        )

    @property
    def joiner(self) -> str:
        """Single characters need nothing between them."""
        return "" if self.types <= len(OPENING) else " "

    def layout(self, length: int) -> str:
        return f"{length} brackets; read at the last one"

    def positions(self, length: int) -> int:
        return length

    def solve(self, row: Row, length: int) -> Answers:
        del length
        stack: list[int] = []
        balanced = True
        for token in row:
            if token < self.types:
                stack.append(token)
                balanced = balanced and len(stack) <= self.depth
            elif stack and stack[-1] == token - self.types:
                stack.pop()
            else:
                balanced = False
        return [None] * (len(row) - 1) + [int(balanced and not stack)]

    def specification(self, length: int) -> dict[str, Any] | None:
        stacks = 0
        for level in range(self.depth + 1):
            stacks += self.types**level
            if stacks > MOST_STACKS:
                return None
        # States are the stacks of open brackets, found breadth first, and last the state of no return.
        number: dict[tuple[int, ...], int] = {(): 0}
        listed: list[tuple[int, ...]] = [()]
        for stack in listed:
            for bracket in range(self.types if len(stack) < self.depth else 0):
                number[(*stack, bracket)] = len(listed)
                listed.append((*stack, bracket))
        dead = len(listed)
        steps = [
            [number.get((*stack, bracket), dead) for bracket in range(self.types)]
            + [number[stack[:-1]] if stack[-1:] == (bracket,) else dead for bracket in range(self.types)]
            for stack in listed
        ]
        return {
            "inputs": [{"count": length, "tokens": [0, 2 * self.types]}],
            "answer": {
                "kind": "automaton",
                "start": 0,
                "steps": [*steps, [dead] * (2 * self.types)],
                "answers": [int(not stack) for stack in listed] + [0],
            },
        }

    def decide(self, inputs: Array, length: int) -> Array:
        return is_balanced(inputs, self.types, self.reachable_depth(length))

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        return self.labelled(draws, count, length, split).inputs

    def labelled(self, draws: Draws, count: int, length: int, split: Split) -> Examples:
        """Label what was drawn: the walk gives balanced strings, and every corrupted one is tested."""
        del split
        tokens = self.balanced_strings(draws, count, length)
        xp = namespace_of(tokens)
        negative = draws.uniform(count) >= 0.5
        todo = xp.nonzero(negative)[0]
        originals = tokens[todo, :]
        while todo.shape[0]:
            corrupted, changed = self.corrupt(draws, originals)
            tokens[todo, :] = corrupted
            again = xp.nonzero(self.decide(corrupted, length) | ~changed)[0]
            todo, originals = todo[again], originals[again, :]
        return asked_at_the_end(xp.astype(tokens, xp.int64), ~negative)

    def reachable_depth(self, length: int) -> int:
        """Return the depth that a balanced string of this length can reach: no bound beyond it changes anything."""
        return min(self.depth, length // 2)

    def work(self, length: int) -> int:
        """Return the cost of an example: the walk keeps a map on its odd depths for every second step."""
        return length * max(4, self.reachable_depth(length))

    def balanced_strings(self, draws: Draws, count: int, length: int) -> Array:
        """Balanced strings of exactly this length by the stack walk of Appendix H.1; (count, length) small integers."""
        depth = self.reachable_depth(length)
        if depth == 2 and pairs_in_a_run(self.types):
            return shallow_strings(draws, count, length, self.types)
        kind = "int8" if max(2 * self.types, depth + 1) <= 127 else "int32"
        # One draw over the n opening brackets and the closing one where both are possible; at depth 0 a draw
        # over the n opening brackets. Independent draws, of which each step uses one.
        either = draws.digits(self.types + 1, count, length, kind)
        xp = namespace_of(either)
        opens = either < self.types
        fresh = draws.digits(self.types, count, length, kind)
        depths = random_depths(opens, depth)
        before, after = depths[:, :-1], depths[:, 1:]
        # The type of a bracket opened at depth 0 comes from `fresh`, elsewhere from the draw that opened it.
        fresh = fresh + xp.astype((before > 0) & opens, fresh.dtype) * (either - fresh)
        return fill_types(fresh, after > before, after, self.types, depth)

    def corrupt(self, draws: Draws, tokens: Array) -> tuple[Array, Array]:
        """Corrupt 1 … N/10 different positions of every row: type swapped or direction switched, 1/2 each.

        Positions are drawn with replacement and the first different ones are taken. Half as many again and 12 more are
        drawn than can be needed; the second result is False for a row where even that was too few (below 10^-15).
        """
        xp = namespace_of(tokens)
        count, length = tokens.shape
        most = max(1, length // 10)
        drawn = most + most // 2 + 12
        number = integers(draws.uniform(count, 1), 1, most + 1)
        # Sorted by position and then by turn, so that the first draw of each position is before its repeats.
        key = xp.int32 if max(length * drawn, count * (length + 1)) < 2**31 else xp.int64
        turns = xp.astype(draws.uniform(count, drawn) * length, key) * drawn + xp.astype(columns(tokens, drawn), key)
        turns = xp.sort(turns, axis=1)
        place = turns // drawn
        turn = turns - place * drawn
        repeat = xp.concat([place[:, :1] != place[:, :1], place[:, 1:] == place[:, :-1]], axis=1)
        ranked = xp.sort(turn + drawn * xp.astype(repeat, key), axis=1)
        last = take_rows(ranked, number - 1)
        chosen = (turn <= last) & ~repeat
        # What is not chosen is written to a column beyond the end; a flat view of the new array takes the writes.
        wide = xp.concat([tokens, tokens[:, :1]], axis=1)
        row = xp.reshape(xp.arange(count, dtype=key, device=tokens.device), (count, 1)) * (length + 1)
        old = xp.reshape(xp.take(xp.reshape(wide, (-1,)), xp.reshape(row + place, (-1,))), place.shape)
        column = place + (length - place) * xp.astype(~chosen, key)
        xp.reshape(wide, (-1,))[xp.reshape(row + column, (-1,))] = xp.reshape(self._changed(draws, old), (-1,))
        return wide[:, :length], last[:, 0] < drawn

    def _changed(self, draws: Draws, tokens: Array) -> Array:
        """Another token for each: its type swapped for a uniform other one, or its direction switched, 1/2 each."""
        xp = namespace_of(tokens)
        closing = xp.astype(tokens >= self.types, tokens.dtype)
        switched = tokens + self.types * (1 - 2 * closing)
        if self.types == 1:
            return switched
        kind = "int8" if tokens.dtype == xp.int8 else "int32"
        rows, width = tokens.shape
        action = draws.digits(2 * (self.types - 1), rows, width, kind)
        moved = tokens - closing * self.types + action + 1
        swapped = moved - (moved // self.types) * self.types + closing * self.types
        return switched + xp.astype(action < self.types - 1, tokens.dtype) * (swapped - switched)

    def space(self, length: int) -> Space:
        return Space(cells(range(2 * self.types), length))

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="DYCK",
            alice=tuple(range(0, length, 2)),
            bob=tuple(range(1, length, 2)),
            one_way=False,
            note="Alice holds the odd positions (counted from 1), Bob the even ones (BHBK24 Lemma 1)",
        )

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        width = max(len(word) for word in words)
        depths: list[int] = []
        level = 0
        for token in row:
            level += 1 if token < self.types else -1
            depths.append(level if token < self.types else level + 1)
        low, high = min([*depths, 1]), max([*depths, 1])
        lines = [
            "".join(word.ljust(width) if at == line else " " * width for word, at in zip(words, depths, strict=True))
            for line in range(high, low - 1, -1)
        ]
        verdict = "balanced" if self.solve(row, length)[-1] else "not balanced"
        return "\n".join(line.rstrip() for line in lines) + f"\n{verdict} within depth {self.depth}"


TASK = Dyck()
