"""Triple matching by one layer of many heads: SHT23, the "(almost) matching upper bound" to Hm = Ω̃(N) for Match3.

The slides state the bound and do not spell the network out. Here: N heads of one dimension, all with uniform attention.
Head t averages y_j^t modulo a prime P, where y_j is the residue of z_j modulo M taken as an element of the field of P
elements; P is the smallest prime above N that is at least M. Times N + 1 positions (the dummy adds 0) the average is
the power sum s_t up to an error, and the readout rounds it. Newton's identities give Π (X - y_j) from s_1 … s_N, since
1 … N can be divided by modulo P, so the set of all numbers is known at every position; the output map looks for two of
them that add up with z_i to 0 (the decoding ``power-sums``, executed in integers).

Precision: the N + 1 weights 1/(N + 1), rounded down, add up to 1 - rΔ with r the remainder of N^Kc divided by N + 1,
and s_t, a sum of N numbers below P, is off by less than r·N·P·Δ, which has to be below 1/2. Since N ≡ -1 modulo N + 1,
r is 1 for even Kc and N for odd ones: Kc = 4 is enough for M = N² (numbers of 8 log N bits), where 3 is not.

Deviations: the output map is arbitrary in SHT23's model and has no ReLU network here; the input map is a table of
powers, M·N numbers. Hm is N, with numbers of O(log N) bits; the slides' lower bound is Hm·p = Ω(N) up to logarithms.
"""

from dataclasses import dataclass

import numpy

from separatrix.constructions.construction import Construction, Growth, Options
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    Head,
    Network,
    PowerSums,
    Readout,
    Slots,
    TableRows,
    identity,
    is_prime,
    zeros,
)
from separatrix.tasks import Matching, Task

LARGEST_TABLE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class TripleMatchingByHeads(Construction):
    """N heads with m = 1; width 2N + 1."""

    name: str = "match3-heads"
    title: str = "Triple matching, many heads"
    theorem: str = "SHT23 Match3, many heads"
    statement: str = "one self-attention layer with Hm = N and precision O(log N) solves Match3 on every input"
    task_name: str = "match3"
    growth: Growth = "linear"
    longest_certified: int | None = 64
    deviations: tuple[str, ...] = (
        "the slides do not spell the network out: power sums modulo a prime, averaged by uniform attention",
        "the output map decodes the power sums in integers, as SHT23's arbitrary φ may; it is no ReLU network",
    )

    def prime(self, task: Task, length: int) -> int:
        """Return the smallest prime above N that is at least M."""
        assert isinstance(task, Matching)
        found = max(length + 1, task.modulus_at(length))
        while not is_prime(found):
            found += 1
        return found

    def default_exponent(self, task: Task, length: int) -> int:
        """Return the smallest Kc that keeps sums in the range and off by less than 1/2."""
        prime, exponent = self.prime(task, length), 2
        while True:
            one = length**exponent
            if one > 2 * (one % (length + 1)) * length * prime and one >= 4 * (length + 1) * prime:
                return exponent
            exponent += 1

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Matching)
        modulus, positions = task.modulus_at(length), length + 1
        if modulus * length > LARGEST_TABLE:
            raise SeparatrixError(
                f"a table of {length} powers of {modulus} residues is too large; choose a smaller modulus or length"
            )
        prime = self.prime(task, length)
        slots = Slots((("own", 1), ("powers", length), ("sums", length)))
        residues = numpy.arange(1, modulus + 1, dtype=numpy.int64)[:, None] % modulus
        powers = [residues[:, 0] % prime]
        for _ in range(length - 1):
            powers.append(powers[-1] * residues[:, 0] % prime)
        numbers, everywhere = (1, modulus + 1), (0, positions)
        nothing = zeros(1, slots.width)
        heads: list[Head] = []
        for place in range(length):
            unit = numpy.zeros((1, length), dtype=numpy.int64)
            unit[0, place] = 1
            heads.append(
                Head(
                    query=nothing,
                    key=nothing,
                    value=slots.reading(1, {"powers": ExactMatrix(unit)}),
                    output=slots.writing(1, {"sums": ExactMatrix(unit.T.copy())}),
                )
            )
        read = numpy.zeros((1 + length, slots.width), dtype=numpy.int64)
        read[:1, slots.columns("own")] = 1
        read[1:, slots.columns("sums")] = positions * identity(length).numerators
        return Network(
            slots,
            task.vocabulary(length).size,
            positions,
            (
                EmbeddingPart("own", TableRows(ExactMatrix(residues)), "token", numbers, everywhere),
                EmbeddingPart("powers", TableRows(ExactMatrix(numpy.stack(powers, 1))), "token", numbers, everywhere),
            ),
            (Attention(tuple(heads)),),
            Readout(
                ExactMatrix(read),
                zeros(1 + length, 1),
                "power-sums",
                "every",
                PowerSums(modulus, prime),
            ),
            about=f"{self.theorem}, modulus {modulus}, prime {prime}, length {length}",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """2N + 1."""
        del task, code_width
        return 2 * length + 1


CONSTRUCTION = TripleMatchingByHeads()
