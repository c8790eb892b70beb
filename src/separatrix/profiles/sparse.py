"""Is a yes-no function of N bits a threshold of at most N features that look at k bits each, for small k?

These are the functions of BHBK24 Theorem 13, for which two layers of width O(log N) are enough. Three forms are tried
for k = 1, 2, 3:

* *any*: f = 1 when some feature holds. For each set I of k bits the best feature is "no zero of f looks like this at
  I"; f has the form exactly when these features together cover all ones of f, and a one that none covers refutes it.
* *all*: the same for the complement.
* *threshold*: counts of features from a library (literals for k = 1; all functions of two bits for k = 2) and a
  threshold, by integer programming on a growing set of inputs.

Fewest features are sought by integer programming (HiGHS) on a growing set of inputs; what is returned was compared with
f on all 2^N inputs. "None found" is a proof only for *any* and *all* when a witness is given; the program works in
floating point and the library for *threshold* is limited.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from separatrix.communication import Integers
from separatrix.profiles.table import Table
from separatrix.tasks import SparseFunction
from separatrix.wording import counted

Bits = NDArray[numpy.bool_]
LARGEST_SPARSITY = 3
LONGEST_PAIRS = 12
"""Thresholds of features of two bits are sought up to this length."""
ROUNDS = 40
ADDED = 48
FIRST = 192
NODES = 2000


@dataclass(frozen=True, eq=False)
class SparseForm:
    """f(x) = I[Σ features > threshold], verified on every input."""

    sparsity: int
    form: Literal["any", "all", "threshold"]
    function: SparseFunction

    @property
    def features(self) -> int:
        """How many features are used."""
        return len(self.function.indices)

    def in_words(self) -> str:
        """Return the form for people."""
        features = counted(self.features, "feature") + f" of {counted(self.sparsity, 'bit')}"
        if self.features == 1:
            return f"{features} decides"
        if self.form == "any":
            return f"at least one of {features} holds"
        if self.form == "all":
            return f"all of {features} hold"
        return f"more than {self.function.threshold} of {features} hold"


def sparse_form(table: Table) -> SparseForm | None:
    """Return the sparsest form found, or None; only yes-no decisions on bits have one."""
    if table.symbols != 2 or table.kind != "decision" or int(table.last.max()) > 1 or table.length < 2:
        return None
    ones = table.last.astype(bool)
    for sparsity in range(1, min(LARGEST_SPARSITY, table.length) + 1):
        for attempt in (_any, _all, _threshold):
            found = attempt(ones, table.length, sparsity)
            if found is not None and _equals(found.function, ones, table.length):
                return found
    return None


def _equals(function: SparseFunction, ones: Bits, length: int) -> bool:
    return bool(((_total(function, length) > function.threshold) == ones).all())


def _total(function: SparseFunction, length: int) -> NDArray[numpy.int16]:
    """Return the number of features that hold, for every input: (2^N,)."""
    total = numpy.zeros((2,) * length, dtype=numpy.int16)
    for indices, values in zip(function.indices.tolist(), function.tables, strict=True):
        shape = [2 if place in indices else 1 for place in range(length)]
        total += values.reshape(shape).astype(numpy.int16)
    return total.reshape(-1)


def patterns(chosen: Bits, length: int, sparsity: int) -> tuple[Integers, Bits]:
    """Return which patterns of k bits the chosen inputs show, for every set of k positions.

    ``chosen``: (2^N,). Returns the sets (count, k), ascending, and whether each pattern occurs (count, 2^k). Positions
    are kept or summed out one after the other; early ones halve the table, so all sets together cost a few dozen
    passes.
    """
    sets: list[tuple[int, ...]] = []
    seen: list[Bits] = []
    for kept, occurs in _summed_out(chosen.reshape(1, -1), (), 0, length, sparsity):
        sets.append(kept)
        seen.append(occurs)
    return numpy.array(sets, dtype=numpy.int64).reshape(-1, sparsity), numpy.array(seen)


def _summed_out(
    rows: Bits, kept: tuple[int, ...], place: int, length: int, sparsity: int
) -> Iterator[tuple[tuple[int, ...], Bits]]:
    """rows: (2^kept, 2^(N − place)); yields every set of ``sparsity`` positions that begins with ``kept``."""
    if len(kept) == sparsity:
        yield kept, numpy.logical_or.reduce(rows, axis=1)
        return
    if length - place < sparsity - len(kept):
        return
    halves = rows.reshape(len(rows), 2, -1)
    yield from _summed_out(halves.reshape(2 * len(rows), -1), (*kept, place), place + 1, length, sparsity)
    yield from _summed_out(halves[:, 0] | halves[:, 1], kept, place + 1, length, sparsity)


def _any(ones: Bits, length: int, sparsity: int) -> SparseForm | None:
    covered = _cover(ones, length, sparsity)
    if covered is None:
        return None
    sets, tables = covered
    return SparseForm(sparsity, "any", SparseFunction(sets, tables.astype(numpy.int64), 0))


def _all(ones: Bits, length: int, sparsity: int) -> SparseForm | None:
    covered = _cover(~ones, length, sparsity)
    if covered is None:
        return None
    sets, tables = covered
    return SparseForm(sparsity, "all", SparseFunction(sets, 1 - tables.astype(numpy.int64), len(sets) - 1))


def _cover(ones: Bits, length: int, sparsity: int) -> tuple[Integers, Bits] | None:
    """At most N features that never hold on a zero and together hold on every one; None where there are none."""
    if not ones.any() or ones.all():
        return None
    sets, zero_patterns = patterns(~ones, length, sparsity)
    sound = ~zero_patterns
    useful = sound.any(axis=1)
    sets, sound = sets[useful], sound[useful]
    if not len(sets):
        return None
    known = _spread(numpy.flatnonzero(ones), FIRST)
    for _ in range(ROUNDS):
        holds = _holding(known, sets, sound, length)
        if not holds.any(axis=1).all():
            return None
        chosen = _fewest(holds)
        if chosen is None or len(chosen) > length:
            return None
        function = SparseFunction(sets[chosen], sound[chosen].astype(numpy.int64), 0)
        missed = numpy.flatnonzero(ones & (_total(function, length) == 0))
        if not len(missed):
            return sets[chosen], sound[chosen]
        known = numpy.unique(numpy.concatenate([known, _spread(missed, ADDED)]))
    return None


def _holding(inputs: Integers, sets: Integers, tables: NDArray[Any], length: int) -> NDArray[Any]:
    """Return the value of each feature on each input: (inputs, features)."""
    pattern = numpy.zeros((len(inputs), len(sets)), dtype=numpy.int64)
    for column in range(sets.shape[1]):
        pattern = 2 * pattern + (inputs[:, None] >> (length - 1 - sets[:, column])[None, :] & 1)
    return tables[numpy.arange(len(sets))[None, :], pattern]


def _spread(numbers: Integers, most: int) -> Integers:
    """At most so many of the numbers, spread over all of them in a scrambled, repeatable way."""
    if len(numbers) <= most:
        return numbers
    return numbers[numpy.random.default_rng(len(numbers)).choice(len(numbers), most, replace=False)]


def _fewest(holds: Bits) -> Integers | None:
    """Return the columns of a smallest cover of the rows, by integer programming."""
    optimize = _optimize()
    found: Any = optimize.milp(
        numpy.ones(holds.shape[1]),
        integrality=numpy.ones(holds.shape[1]),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(holds.astype(numpy.float64), lb=1),
        options={"node_limit": NODES},
    )
    return None if found.x is None else numpy.flatnonzero(numpy.asarray(found.x) > 0.5)


def _threshold(ones: Bits, length: int, sparsity: int) -> SparseForm | None:
    """Counts of library features and a threshold."""
    if sparsity > 2 or (sparsity == 2 and length > LONGEST_PAIRS) or not ones.any() or ones.all():
        return None
    sets, tables = _library(length, sparsity)
    known = numpy.concatenate([_spread(numpy.flatnonzero(ones), FIRST), _spread(numpy.flatnonzero(~ones), FIRST)])
    for relaxed in (True, False):
        # The relaxation refutes most functions at once; only then are whole counts sought.
        for _ in range(ROUNDS):
            solved = _counts(_holding(known, sets, tables, length), ones[known], length, relaxed)
            if solved is None:
                return None
            if relaxed:
                break
            counts, threshold = solved
            repeated = numpy.repeat(numpy.arange(len(sets)), counts)
            function = SparseFunction(sets[repeated], tables[repeated], threshold)
            wrong = numpy.flatnonzero((_total(function, length) > threshold) != ones)
            if not len(wrong):
                return SparseForm(sparsity, "threshold", function)
            known = numpy.unique(numpy.concatenate([known, _spread(wrong, ADDED)]))
    return None


def _library(length: int, sparsity: int) -> tuple[Integers, Integers]:
    """Sets (count, k) and tables (count, 2^k): all functions of k bits that depend on each of them, and literals."""
    sets: list[tuple[int, ...]] = []
    tables: list[tuple[int, ...]] = []
    depends: list[tuple[int, ...]] = [(0, 1), (1, 0)]
    if sparsity == 2:
        every = [tuple(number >> place & 1 for place in range(4)) for number in range(1, 15)]
        # Functions of the second bit alone are left to the pairs that have it first.
        depends = [each for each in every if each[:2] != each[2:]]
    for chosen in combinations(range(length), sparsity):
        sets += [chosen] * len(depends)
        tables += depends
    if sparsity == 2:
        sets += [(length - 2, length - 1)] * 2
        tables += [(0, 1, 0, 1), (1, 0, 1, 0)]
    return numpy.array(sets, dtype=numpy.int64), numpy.array(tables, dtype=numpy.int64)


def _counts(holds: Integers, ones: Bits, most: int, relaxed: bool) -> tuple[Integers, int] | None:
    """Fewest features with repetitions, at most ``most``, and a threshold that separates; None where there are none."""
    optimize = _optimize()
    features = holds.shape[1]
    rows = numpy.concatenate([holds.astype(numpy.float64), -numpy.ones((len(holds), 1))], axis=1)
    total = numpy.append(numpy.ones(features), 0.0)
    found: Any = optimize.milp(
        total,
        integrality=numpy.zeros(features + 1) if relaxed else numpy.ones(features + 1),
        bounds=optimize.Bounds(0, float(most)),
        constraints=[
            optimize.LinearConstraint(rows, lb=numpy.where(ones, 1, -numpy.inf), ub=numpy.where(ones, numpy.inf, 0)),
            optimize.LinearConstraint(total[None, :], ub=float(most)),
        ],
        options={"node_limit": NODES},
    )
    if found.x is None:
        return None
    solution = numpy.rint(numpy.asarray(found.x)).astype(numpy.int64)
    return solution[:-1], int(solution[-1])


def _optimize() -> Any:
    # Loaded when needed: SciPy's optimiser takes half a second to import.
    return importlib.import_module("scipy.optimize")
