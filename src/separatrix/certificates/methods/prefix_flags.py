"""Causal Transformers that flag errors, against a language: all strings of a length at once.

For networks of the shape of ``_prefixes`` (count, perhaps look up, collect flags) the first layer is a sum that grows
token by token, and the lookup remembers finitely many things (``_lookups``); so the network reads a string like an
automaton whose table depends on the position. A prefix whose flag decides the answer is dropped, after making sure that
the language rejects whatever may follow. The others are followed beside the language's own state, for every position up
to N: at the end the language must accept exactly what has no flag. The result covers every string of the claimed length
in the claimed arithmetic, with its rounding, bit for bit.
"""

from dataclasses import dataclass

import numpy

from separatrix.certificates.meanings.languages import DyckLanguage, Stack, language_of
from separatrix.certificates.methods._lookups import Found, Lookup, columns_read
from separatrix.certificates.methods._numbers import Raw, fixed_point
from separatrix.certificates.methods._prefixes import Evaluation, cut
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Network
from separatrix.progress import tracked

LARGEST_SUMS = 4096
LARGEST_STATES = 1 << 16
Place = tuple[int, Found, Stack]
"""Number of the sums, what lookups would find, state of the language."""


@dataclass(frozen=True)
class Row:
    """What a token does after some sums: the flag so far, the class for the lookup, the number of the new sums."""

    flag: int
    number: int
    sums: int


Table = tuple[tuple[tuple[int, int], Row], ...]
"""Rows by (number of the sums, token), in order."""


@dataclass(frozen=True)
class Round:
    """All places after one more token, and the flagged prefixes that the language has not given up."""

    places: frozenset[Place]
    flagged: tuple[tuple[Place, int, Stack], ...]


class PrefixFlags(Method):
    """Prefixes without a flag beside the language."""

    name = "prefix-flags"
    order = 20

    def prove(self, network: Network, claim: Claim) -> str:
        """Follow all prefixes without a flag."""
        language = language_of(claim.task)
        evaluation = Evaluation(network, cut(network), fixed_point(claim, once=True))
        Walk(evaluation, claim.length, language).run()
        return f"{language.symbols}^{claim.length}"


class Walk:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, evaluation: Evaluation, length: int, language: DyckLanguage) -> None:
        self.evaluation, self.length, self.language = evaluation, length, language
        self.lookup: Lookup | None = None
        self.tables: list[dict[tuple[int, int], Row]] = []
        self.table_numbers: list[int] = []
        self.history: list[frozenset[Place]] = []

    def run(self) -> None:
        """Raise unless every string is answered correctly."""
        if self.evaluation.answer(0) != 1:
            # Every string is answered 0 then, and the language is not empty.
            raise SuspicionError("strings without any flag are answered 0", walk=self, stack=self.language.start)
        self._first_layer()
        nothing: Found = self.lookup.nothing if self.lookup else ()
        places = frozenset({(0, nothing, self.language.start)})
        known: dict[tuple[frozenset[Place], int], Round] = {}
        for position, number in enumerate(tracked(self.table_numbers, "rounds of prefixes")):
            self.history.append(places)
            # From some position on the same places recur with the same table, so that most rounds cost nothing.
            step = known.get((places, number)) or self._round(places, self.tables[number])
            known[places, number] = step
            left = self.length - position - 1
            for place, token, stack in step.flagged:
                if self.language.completion(stack, left) is not None:
                    reason = "the beginning of a member is flagged"
                    raise SuspicionError(reason, walk=self, place=place, token=token, stack=stack)
            places = step.places
        for place in places:
            if not self.language.accepts(place[2]):
                self.history.append(places)
                raise SuspicionError("a string outside the language has no flag", walk=self, place=place)

    # -- the first layer on every position ---------------------------------------------------------------------

    def _first_layer(self) -> None:
        """Tables for all positions; with a lookup layer also its classes."""
        numbers: dict[tuple[int, ...], int] = {(0,) * self.evaluation.sums_width: 0}
        listed = list(numbers)
        current = [0]
        symbols = self.language.symbols
        found: list[tuple[list[tuple[int, int]], list[int], list[int], Raw]] = []
        for position in tracked(range(self.length), "positions"):
            sums = numpy.array([listed[number] for number in current], dtype=numpy.int64)
            # Without any case left the array still needs its second axis.
            sums = sums.reshape(len(current), self.evaluation.sums_width)
            total, streams = self.evaluation.counted(position, sums, symbols)
            flags = self.evaluation.flags(streams).tolist()
            after: list[int] = []
            for row, flag in zip(total.tolist(), flags, strict=True):
                key = tuple(row)
                if flag == 0 and key not in numbers:
                    numbers[key] = len(listed)
                    listed.append(key)
                after.append(numbers[key] if flag == 0 else 0)
            found.append(([(sum_, token) for sum_ in current for token in range(symbols)], flags, after, streams))
            current = sorted({number for number, flag in zip(after, flags, strict=True) if flag == 0})
            if len(current) > LARGEST_SUMS:
                reason = f"more than {LARGEST_SUMS} different counts pass without a flag; the method lists them all"
                raise SuspicionError(reason)
        classes = self._classes([(streams, flags) for _, flags, _, streams in found])
        known: dict[Table, int] = {}
        for position, (keys, flags, after, _) in enumerate(found):
            rows = [Row(*each) for each in zip(flags, classes[position], after, strict=True)]
            table: Table = tuple(zip(keys, rows, strict=True))
            if table not in known:
                known[table] = len(self.tables)
                self.tables.append(dict(table))
            self.table_numbers.append(known[table])

    def _classes(self, found: list[tuple[Raw, list[int]]]) -> list[list[int]]:
        """The class of every case at every position (0 where there is no lookup layer or a flag)."""
        head = self.evaluation.parts.lookup
        if head is None:
            return [[0] * len(flags) for _, flags in found]
        live, only_keys = columns_read(self.evaluation, head)
        # A clock is read by keys only and is the same in all cases of a position that have no flag.
        clocks = numpy.zeros((len(found), len(live)), dtype=numpy.int64)
        ticking = only_keys.copy()
        for position, (streams, flags) in enumerate(found):
            passed = streams[numpy.array(flags) == 0]
            if len(passed):
                ticking &= passed.min(axis=0) == passed.max(axis=0)
                clocks[position] = passed[0]
        numbers: dict[tuple[int, ...], int] = {}
        result: list[list[int]] = []
        kept = live & ~ticking
        for streams, flags in found:
            rows = (streams * kept).tolist()
            result.append(
                [
                    numbers.setdefault(tuple(row), len(numbers)) if flag == 0 else 0
                    for row, flag in zip(rows, flags, strict=True)
                ]
            )
        if not numbers or len(numbers) > LARGEST_SUMS:
            raise UnsupportedError(
                f"the lookup layer sees {len(numbers)} classes; the method covers 1 to {LARGEST_SUMS}"
            )
        reached = [position for position, (_, flags) in enumerate(found) if 0 in flags]
        classes = numpy.array(list(numbers), dtype=numpy.int64)
        self.lookup = Lookup(self.evaluation, head, classes, (clocks * ticking)[reached])
        return result

    # -- prefixes beside the language ----------------------------------------------------------------------------

    def step(self, place: Place, token: int, table: dict[tuple[int, int], Row]) -> tuple[int, Place]:
        """The flag of one more token, and the place behind it."""
        sums, found, stack = place
        row = table[sums, token]
        flag = row.flag
        if self.lookup is not None and flag == 0:
            flag = self.lookup.flag(row.number, found)
            found = self.lookup.remember(row.number, found)
        if flag and self.evaluation.answer(flag):
            raise UnsupportedError("a flag is too small to decide the answer by itself")
        return flag, (row.sums, found, self.language.step(stack, token))

    def _round(self, places: frozenset[Place], table: dict[tuple[int, int], Row]) -> Round:
        after: set[Place] = set()
        flagged: list[tuple[Place, int, Stack]] = []
        for place in places:
            for token in range(self.language.symbols):
                flag, following = self.step(place, token, table)
                if flag == 0:
                    after.add(following)
                elif following[2] is not None:
                    flagged.append((place, token, following[2]))
        if len(after) > LARGEST_STATES:
            raise UnsupportedError(f"more than {LARGEST_STATES} different prefixes; the method lists them all")
        return Round(frozenset(after), tuple(flagged))


METHOD = PrefixFlags()
