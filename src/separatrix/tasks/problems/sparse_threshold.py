"""THRES(k, N): a threshold of at most N features, each of which looks at no more than k bits.

BHBK24 Appendix F.3: f(x) = I[Σ_j g_j(x) > b] with every g_j depending on at most k of the N bits; a feature with no
bits is constantly 0. Disjointness, inequality, k-DNF, k-CNF and majority are instances. As in the proof of Theorem
13 the input starts with [BOS]. F.3 writes V(x_i) = g_{I_1}; g_{I_i} is meant.

Which function is asked is fixed by the parameters: ``instance``, ``sparsity`` k, ``features_used`` (None: as many as
make a uniform input true about half the time, at most N) and ``function_seed``. Inputs are uniform bits, except for
disjointness and inequality, where uniform bits would almost always give the same answer.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from separatrix.tasks.arrays import Array, columns, distinct_integers, full_like, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import Decision, split_at
from separatrix.tasks.problems.disjointness import barely_intersecting_halves
from separatrix.tasks.space import Space, cells, constant
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

BEGINNING = 2
FIXED_SPARSITY = {"disjointness": 2, "inequality": 2, "majority": 1}
INSTANCES = ("random", "disjointness", "inequality", "dnf", "cnf", "majority")


@dataclass(frozen=True)
class SparseFunction:
    """The features and the threshold.

    ``indices``: (features, k) bit numbers counted from 0, sorted. ``tables``: (features, 2^k), the value of the
    feature for each combination of its bits, first bit most significant. True when the sum exceeds ``threshold``.
    """

    indices: NDArray[numpy.int64]
    tables: NDArray[numpy.int64]
    threshold: int


@dataclass(frozen=True, kw_only=True)
class SparseThreshold(Decision):
    """A member of THRES(k, N), chosen by its parameters."""

    name: str = "sparse-threshold"
    title: str = "Threshold of k-sparse features"
    source: str = "BHBK24 Appendix F.3 (Theorem 13)"
    question: str = "Do more than b of the features, each of which looks at k bits, hold?"
    minimum_length: int = 2
    instance: Literal["random", "disjointness", "inequality", "dnf", "cnf", "majority"] = "random"
    sparsity: int = 3
    features_used: int | None = None
    function_seed: int = 0

    def __post_init__(self) -> None:
        require(self.instance in INSTANCES, f"instance={self.instance!r}; choose one of {', '.join(INSTANCES)}")
        require(1 <= self.sparsity <= 12, f"sparsity={self.sparsity} is out of range; choose k from 1 to 12")
        require(
            self.features_used is None or 1 <= self.features_used <= self.maximum_length,
            f"features_used={self.features_used} is out of range; give at least 1 or leave it out",
        )
        seed = self.function_seed
        require(0 <= seed < 2**63, f"function_seed={seed} is out of range; give a number from 0 to 2^63 - 1")
        named = self.name in ("sparse-threshold", self.instance)
        require(named, f"{self.name} is always the instance {self.name}; for {self.instance} use that task")
        fixed = self.instance in FIXED_SPARSITY
        require(
            not fixed or self.features_used is None,
            f"{self.instance} has fixed features; leave features_used={self.features_used} out",
        )
        # Fields that follow from others; the dataclass is frozen for everyone else.
        if fixed:
            object.__setattr__(self, "sparsity", FIXED_SPARSITY[self.instance])
        else:
            object.__setattr__(self, "minimum_length", max(self.minimum_length, self.sparsity))

    def check_length(self, length: int) -> None:
        super().check_length(length)
        paired = self.instance in ("disjointness", "inequality")
        require(not paired or length % 2 == 0, f"{self.instance} needs an even length, not {length}; try {length + 1}")
        fits = self.features_used is None or self.features_used <= length
        require(fits, f"THRES(k, N) has at most N = {length} features, not {self.features_used}; lower features_used")

    def function(self, length: int) -> SparseFunction:
        """Return the function asked at this length."""
        half = length // 2
        pairs = numpy.stack([numpy.arange(half), numpy.arange(half) + half], axis=1)
        if self.instance == "disjointness":
            return SparseFunction(pairs, numpy.tile(numpy.array([0, 0, 0, 1]), (half, 1)), 0)
        if self.instance == "inequality":
            return SparseFunction(pairs, numpy.tile(numpy.array([0, 1, 1, 0]), (half, 1)), 0)
        if self.instance == "majority":
            identity = numpy.arange(length)[:, None]
            return SparseFunction(identity, numpy.tile(numpy.array([0, 1]), (length, 1)), half)
        k = self.sparsity
        generator = numpy.random.default_rng([self.function_seed, length, k, INSTANCES.index(self.instance)])
        balanced = length if self.instance == "random" else min(length, max(1, round(2**k * math.log(2))))
        count = self.features_used or balanced
        indices = distinct_integers(generator.random((count, k)), length)
        if self.instance == "random":
            tables = generator.integers(0, 2, (count, 2**k))
            # Just below the mean of the sum over uniform inputs, so that both answers are common.
            return SparseFunction(indices, tables, max(0, (int(tables.sum()) - 1) // 2**k))
        # A term is true for exactly one combination of its bits.
        term = numpy.eye(2**k, dtype=numpy.int64)[generator.integers(0, 2**k, count)]
        if self.instance == "dnf":
            return SparseFunction(indices, term, 0)
        return SparseFunction(indices, 1 - term, count - 1)

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary((Symbols("bits", 2, texts="01"), Symbols("beginning of sequence", 1, texts="^")))

    @property
    def joiner(self) -> str:
        """Bits need nothing between them."""
        return ""

    def layout(self, length: int) -> str:
        return f"[BOS] (written ^), then bits x_1 … x_{length}; read at the last bit"

    def positions(self, length: int) -> int:
        return length + 1

    def solve(self, row: Row, length: int) -> Answers:
        function = self.function(length)
        bits = list(row[1:])
        total = 0
        for indices, table in zip(function.indices.tolist(), function.tables.tolist(), strict=True):
            combination = "".join(str(bits[index]) for index in indices)
            total += table[int(combination, 2)]
        return [None] * length + [int(total > function.threshold)]

    def specification(self, length: int) -> dict[str, Any]:
        function = self.function(length)
        by_table: dict[tuple[int, ...], list[list[int]]] = {}
        for indices, table in zip(function.indices.tolist(), function.tables.tolist(), strict=True):
            # [BOS] comes first, so bit number i (from 0) is at position i + 1.
            by_table.setdefault(tuple(table), []).append([index + 1 for index in indices])
        return {
            "inputs": [{"count": 1, "tokens": [BEGINNING, BEGINNING + 1]}, {"count": length, "tokens": [0, 2]}],
            "answer": {
                "kind": "count",
                "conditions": [{"places": places, "table": list(table)} for table, places in by_table.items()],
                "answers": [[0, 0], [function.threshold + 1, 1]],
            },
        }

    def decide(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        function = self.function(length)
        indices = _on_device(xp, function.indices, inputs)
        tables = _on_device(xp, function.tables, inputs)
        features, width = function.indices.shape
        combination = full_like(inputs, (inputs.shape[0], features), 0)
        for place in range(width):
            combination = combination * 2 + xp.take(inputs, indices[:, place] + 1, axis=1)
        flat = combination + xp.arange(features, dtype=xp.int64, device=inputs.device) * 2**width
        values = xp.take(xp.reshape(tables, (-1,)), xp.reshape(flat, (-1,)), axis=0)
        total = xp.sum(xp.reshape(values, combination.shape), axis=1)
        return total > function.threshold

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        half = length // 2
        if self.instance == "disjointness":
            bits = barely_intersecting_halves(draws, count, half)
        elif self.instance == "inequality":
            first = draws.digits(2, count, half)
            xp = namespace_of(first)
            place = integers(draws.uniform(count, 1), 0, half)
            differing = integers(draws.uniform(count, 1), 0, 2) * xp.astype(columns(first, half) == place, xp.int64)
            bits = xp.concat([first, first + differing * (1 - 2 * first)], axis=1)
        else:
            bits = draws.digits(2, count, length)
        xp = namespace_of(bits)
        return xp.concat([full_like(bits, (count, 1), BEGINNING), bits], axis=1)

    def space(self, length: int) -> Space:
        return Space(constant(BEGINNING) + cells((0, 1), length))

    def communication(self, length: int) -> CommunicationSplit:
        half = length // 2
        problem = {"disjointness": "DISJ", "inequality": "EQ"}.get(self.instance, "none")
        note = (
            "Alice holds [BOS] and the first half, Bob the second half"
            if problem != "none"
            else "the class contains DISJ and EQ, so no bound holds for each member alone (BHBK24 F.3)"
        )
        return split_at(problem, half + 1, length + 1, note)

    def picture(self, row: Row, length: int) -> str:
        function = self.function(length)
        bits = list(row[1:])
        lines = [f"x = {''.join(str(bit) for bit in bits)}"]
        total = 0
        for number, (indices, table) in enumerate(zip(function.indices, function.tables, strict=True)):
            value = int(table[int("".join(str(bits[index]) for index in indices), 2)])
            total += value
            if number < 6:
                seen = " ".join(f"x_{index + 1}={bits[index]}" for index in indices)
                lines.append(f"  feature {number + 1}: {seen} → {value}")
        if len(function.indices) > 6:
            lines.append(f"  … {len(function.indices) - 6} more features")
        answer = int(total > function.threshold)
        return "\n".join([*lines, f"{total} hold, more than {function.threshold} needed: answer {answer}"])


def _on_device(xp: Any, array: NDArray[numpy.int64], like: Array) -> Array:
    return xp.asarray(array, dtype=xp.int64, device=like.device)


TASK = SparseThreshold()
