"""Random functions against the profiler: is every lower bound at most the true minimum, every upper bound at least it?

``python -m tools.bound_campaign --functions 800 --seed 0`` draws functions of small inputs of several kinds, profiles
each as a user would, and compares what is reported with minima found by exhaustive search (``tools.smallest``). It
prints a table: for each quantity how often it was compared, how often it was shown to be the minimum itself, how often
the search would have taken too long, and how often the report was wrong. Exit code 1 if anything was wrong; the seed
and the number of the function repeat it.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy
from tools import smallest
from tools.pages import fill_section, keep, markdown_table

from separatrix.bit_counts import bits_for
from separatrix.communication.partition import Partition, of_positions
from separatrix.profiles import Profile, profile
from separatrix.profiles.alphabet import Alphabet
from separatrix.profiles.partitions import PartitionProfile, examine, matrix_of

SHAPES = ((2, 2), (2, 3), (2, 3), (2, 4), (2, 4), (2, 5), (3, 2))
"""Symbols and length; every matrix that is searched has at most eight rows and four columns, or the other way round."""
LARGEST_SIDE, SMALLEST_SIDE = 8, 4
MARK = "bounds"
"""The name of the section of docs/reliability.md."""
KINDS = ("uniform", "sparse", "automaton", "counting", "few positions", "threshold", "labelling", "look-ahead")
Side: TypeAlias = Literal["lower", "upper", "exact"]


@dataclass
class Tally:
    """What became of one quantity."""

    side: Side
    compared: int = 0
    equal: int = 0
    not_searched: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Drawn:
    """A function as its values at every length: ``levels[n]`` has A^n values, first position most significant."""

    kind: str
    symbols: int
    length: int
    levels: tuple[tuple[int, ...], ...]

    def value(self, x: Sequence[int]) -> int:
        """The value of one string."""
        number = 0
        for symbol in x:
            number = number * self.symbols + int(symbol)
        return self.levels[len(x)][number]

    def __call__(self, x: Sequence[int]) -> int | list[int]:
        """What the profiler is given: the value, or for a labelling one label for each position."""
        if self.kind == "labelling":
            return [self.value(x[: place + 1]) for place in range(len(x))]
        if self.kind == "look-ahead":
            return [self.value(x[place:]) for place in range(len(x))]
        return self.value(x)

    def last(self, x: Sequence[int]) -> int:
        """The value, or the label of the last position."""
        answer = self(x)
        return answer if isinstance(answer, int) else answer[-1]

    def left_to_say(self, prefix: Sequence[int], suffix: Sequence[int], causal: bool) -> tuple[int, ...]:
        """What a model that has read the prefix must still say when it reads the suffix.

        Labels of a causal labelling are said at once; where some label looks ahead all are said after the last symbol.
        """
        answer = self((*prefix, *suffix))
        if isinstance(answer, int):
            return (answer,)
        return tuple(answer[len(prefix) :] if causal else answer)


def draw(generator: numpy.random.Generator, kind: str, symbols: int, length: int) -> Drawn:
    """A random function of one kind, defined at every length up to the given one."""
    inputs = [list(product(range(symbols), repeat=each)) for each in range(length + 1)]
    values = int(generator.integers(2, 4)) if kind == "uniform" else 2
    if kind == "automaton":
        states = int(generator.integers(2, 5))
        moves, outputs = generator.integers(0, states, (states, symbols)), generator.integers(0, 2, states)

        def run(x: Sequence[int]) -> int:
            state = 0
            for symbol in x:
                state = int(moves[state, symbol])
            return int(outputs[state])

        value: Callable[[Sequence[int]], int] = run
    elif kind == "counting":
        accepted = generator.integers(0, 2, length * (symbols - 1) + 1)
        value = lambda x: int(accepted[sum(x)])  # noqa: E731
    elif kind == "few positions":
        held, table = generator.choice(length, 2, replace=False), generator.integers(0, 2, (symbols, symbols))
        value = lambda x: int(table[tuple(x[place] if place < len(x) else 0 for place in held)])  # noqa: E731
    elif kind == "threshold":
        weights, least = generator.integers(-1, 2, length), int(generator.integers(-1, 3))
        value = lambda x: int(sum(int(w) * s for w, s in zip(weights, x, strict=False)) > least)  # noqa: E731
    else:
        share = float(generator.choice([0.1, 0.25, 0.9]))
        value = lambda x: int(generator.random() < share if kind == "sparse" else generator.integers(0, values))  # noqa: E731
    return Drawn(kind, symbols, length, tuple(tuple(value(x) for x in level) for level in inputs))


class Campaign:
    """Compares profiles with exhaustive search and keeps the tallies."""

    def __init__(self) -> None:
        self.functions = 0
        self.tallies: dict[str, Tally] = {}

    def compare(self, quantity: str, side: Side, reported: int, true: int | None, what: str) -> None:
        """Count one comparison; ``true`` is None where the search gave up."""
        tally = self.tallies.setdefault(quantity, Tally(side))
        if true is None:
            tally.not_searched += 1
            return
        tally.compared += 1
        tally.equal += reported == true
        kept = {"lower": reported <= true, "upper": reported >= true, "exact": reported == true}[side]
        if not kept:
            tally.wrong.append(f"{what}: {quantity} is reported as {reported}, the true one is {true}")

    def examine(self, drawn: Drawn, partition: Partition, what: str) -> None:
        """Everything that a profile of one function reports; ``partition`` is examined with the reported ones."""
        self.functions += 1
        found = profile(what, drawn, drawn.length, Alphabet(drawn.symbols))
        self._states(found, drawn, what)
        self._automata(found, drawn, what)
        if found.table.kind == "labelling":
            return
        for each in (*found.partitions, examine(found.table, partition)):
            self._partition(found, each, what)
        self._sparse(found, drawn, what)

    def _states(self, found: Profile, drawn: Drawn, what: str) -> None:
        most = 0
        for cut in range(drawn.length + 1):
            rows = [
                tuple(
                    said
                    for suffix in product(range(drawn.symbols), repeat=drawn.length - cut)
                    for said in drawn.left_to_say(prefix, suffix, found.table.causal)
                )
                for prefix in product(range(drawn.symbols), repeat=cut)
            ]
            fewest = smallest.fewest_messages(rows)
            most = max(most, fewest)
            self.compare("residual classes of a cut", "exact", found.residuals.classes[cut], fewest, what)
        bits = found.residuals.minimum_state_bits
        self.compare("state bits of a recurrent model", "exact", bits, bits_for(most), what)

    def _automata(self, found: Profile, drawn: Drawn, what: str) -> None:
        if found.yes_no:
            labels = smallest.of_one_length(drawn.levels[drawn.length], drawn.length, drawn.symbols)
            self._automaton("states of the DFA for exactly N", labels, drawn, found.residuals.automaton_states, what)
        if found.automaton is None:
            return
        name = "states of the automaton for all lengths"
        unlabelled = found.table.kind == "labelling"
        inputs = [list(product(range(drawn.symbols), repeat=each)) for each in range(drawn.length + 1)]
        levels = [
            None if unlabelled and not each else [drawn.last(x) for x in inputs[each]] for each in range(len(inputs))
        ]
        self._automaton(name, levels, drawn, found.automaton.states, what)
        if found.automaton.exact:
            strings = [x for level in inputs[int(unlabelled) :] for x in level]
            right = sum(_run(found, x) == drawn.last(x) for x in strings)
            self.compare("strings on which that automaton is right", "exact", right, len(strings), what)

    def _automaton(self, name: str, labels: smallest.Labels, drawn: Drawn, states: int, what: str) -> None:
        """No automaton with one state fewer exists; one with so many is looked for, to see whether the bound is met."""
        fewer = smallest.automaton_exists(labels, drawn.symbols, states - 1) if states > 1 else False
        if fewer is None or fewer:
            self.compare(name, "lower", states, None if fewer is None else states - 1, what)
            return
        met = smallest.automaton_exists(labels, drawn.symbols, states)
        self.compare(name, "lower", states, states if met else states + 1, what)

    def _partition(self, found: Profile, each: PartitionProfile, what: str) -> None:
        values = matrix_of(found.table, each.partition).dense().astype(numpy.int64)
        if max(values.shape) > LARGEST_SIDE or min(values.shape) > SMALLEST_SIDE:
            return
        where = f"{what}, {each.partition.name}"
        cost = smallest.cheapest_protocol(values)
        self.compare("bits of any protocol", "lower", each.bits, cost, where)
        self.compare("bits by ranks", "lower", each.bound.rank_bits, cost, where)
        self.compare("bits by one fooling set", "lower", each.bound.fooling_bits, cost, where)
        messages = smallest.fewest_messages([tuple(row) for row in values.tolist()])
        self.compare("bits when only Alice speaks", "exact", each.one_way_bits, bits_for(messages), where)
        answer_bits = bits_for(len(numpy.unique(values)))
        self.compare("one way and the answer back", "upper", each.one_way_bits + answer_bits, cost, where)
        fewest = [smallest.fewest_rectangles(values, value.value) for value in each.bound.values]
        for value, count in zip(each.bound.values, fewest, strict=True):
            self.compare("rectangles of a value", "lower", value.rectangles, count, where)
            largest = smallest.largest_fooling_set(values, value.value)
            self.compare("fooling set", "lower", value.fooling.size, largest, where)
            rank = int(numpy.linalg.matrix_rank((values == value.value).astype(numpy.float64)))
            self.compare("rank of a value", "lower", value.rank_at_least, rank, where)
            area = len(smallest.rectangles(values, value.value)[0])
            self.compare("largest rectangle", "upper", value.largest_rectangle_at_most, area, where)

    def _sparse(self, found: Profile, drawn: Drawn, what: str) -> None:
        if found.sparse is None:
            return
        function = found.sparse.function
        right = 0
        for x in product(range(2), repeat=drawn.length):
            held = 0
            for places, table in zip(function.indices.tolist(), function.tables.tolist(), strict=True):
                held += table[int("".join(str(x[place]) for place in places), 2)]
            right += (held > function.threshold) == bool(drawn.value(x))
        self.compare("inputs on which the sparse form is right", "exact", right, 2**drawn.length, what)
        self.compare("features of the sparse form", "upper", drawn.length, found.sparse.features, what)


def _run(found: Profile, x: Sequence[int]) -> int:
    assert found.automaton is not None
    state = found.automaton.start
    for symbol in x:
        state = int(found.automaton.transitions[state, symbol])
    return int(found.automaton.outputs[state])


def run(functions: int, seed: int, say: Callable[[str], None] = lambda text: None) -> Campaign:
    """Draw and compare so many functions; the same seed gives the same ones."""
    campaign = Campaign()
    for number in range(functions):
        generator = numpy.random.default_rng([seed, number])
        kind, (symbols, length) = KINDS[number % len(KINDS)], SHAPES[int(generator.integers(len(SHAPES)))]
        alice = generator.choice(length, int(generator.integers(1, length)), replace=False).tolist()
        drawn = draw(generator, kind, symbols, length)
        campaign.examine(
            drawn, of_positions(length, alice), f"seed {seed}, function {number} ({kind}, {symbols}^{length})"
        )
        if number % 100 == 99:
            wrong = sum(len(tally.wrong) for tally in campaign.tallies.values())
            say(f"{number + 1} of {functions} functions, {wrong} bounds on the wrong side")
    return campaign


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    names = {"lower": "lower bound", "upper": "upper bound", "exact": "exact"}
    rows = [
        [quantity, names[each["side"]]]
        + [f"{count:,}" for count in (each["compared"], each["equal"], each["not_searched"], len(each["wrong"]))]
        for quantity, each in record["quantities"].items()
    ]
    wrong = sum(len(each["wrong"]) for each in record["quantities"].values())
    headings = ["quantity", "reported as", "compared", "shown equal", "search too long", "wrong"]
    return (
        f"{record['functions']} functions (`python -m tools.bound_campaign --functions {record['functions']} --seed "
        f"{record['seed']}`, {record['seconds']:.0f} s of one core), {wrong} bounds on the wrong side.\n\n"
        + markdown_table(headings, rows, left=2)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=800, help="how many functions to draw")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--write", type=Path, help="put the table into this page")
    given = parser.parse_args(arguments)
    started = time.process_time()
    campaign = run(given.functions, given.seed, lambda text: print(text, file=sys.stderr))
    seconds = time.process_time() - started
    wrong = [text for tally in campaign.tallies.values() for text in tally.wrong]
    record: dict[str, Any] = {
        "functions": campaign.functions,
        "seed": given.seed,
        "seconds": round(seconds, 1),
        "quantities": {name: vars(tally) for name, tally in campaign.tallies.items()},
    }
    if given.json:
        print(json.dumps(record, indent=2))
    else:
        print(page(record))
        print("\n".join(wrong[:20]), file=sys.stderr)
    if given.write:
        keep(MARK, record, given.write)
        fill_section(given.write, MARK, page(record))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
