"""What the matching tasks mean to the checker, and inputs that are worth trying against a network that seems wrong.

Written apart from the tasks' own code: inputs are token 0 (the dummy) at position 0 and tokens 1 … M after it, where
token z stands for the residue z mod M; ``match3-last`` has token M at its last position. A query z *matches* in

* match2: if some number z' has z + z' ≡ 0, that is z' = M - z, or z' = M for z = M;
* match3: if some pair of numbers has z' + z'' ≡ -z;
* match3-last: the answer is 1 if some number but the last one matches as in match2. (j, k ≠ N are asked for. If the
  number z_j matches the last one, which is 0, then z_j is 0 and matches itself; so the last one may be looked at.)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.methods._positions import Stream
from separatrix.certificates.verdict import Claim, UnsupportedError
from separatrix.networks import ExactMatrix, Network
from separatrix.tasks import draws_from


@dataclass(frozen=True)
class MatchingInputs:
    """The input space of a matching task: N numbers in 1 … M behind the dummy."""

    length: int
    modulus: int

    @property
    def numbers(self) -> Raw:
        """All tokens but the dummy."""
        return numpy.arange(1, self.modulus + 1, dtype=numpy.int64)

    def number(self, residue: int) -> int:
        """The token of a residue."""
        return residue % self.modulus or self.modulus

    def partners(self) -> Raw:
        """For each number the one that adds up with it to 0, as a place among all numbers."""
        return numpy.array([self.number(-z) - 1 for z in range(1, self.modulus + 1)], dtype=numpy.int64)


def matching_inputs(network: Network, claim: Claim, names: tuple[str, ...]) -> tuple[MatchingInputs, FixedPoint]:
    """The input space, or a refusal where the task, the arithmetic or the network is not of this kind."""
    task, arithmetic = claim.task, claim.arithmetic
    if task.name not in names:
        raise UnsupportedError(f"the method covers {' and '.join(names)}, not {task.name}")
    if not isinstance(arithmetic, FixedPoint):
        raise UnsupportedError(f"{arithmetic} is not a fixed point; the method computes in its integers")
    if arithmetic.dtype != numpy.int64:
        raise UnsupportedError(f"{arithmetic} needs more than 62 bits; choose a smaller Kc")
    given = task.parameters()["modulus"]
    inputs = MatchingInputs(claim.length, max(claim.length**2, 16) if given is None else given)
    if (
        network.reads_graphs
        or network.features
        or network.positions != claim.length + 1
        or network.vocabulary != inputs.modulus + 1
    ):
        raise UnsupportedError(
            f"the network reads {network.positions} of {network.vocabulary} tokens, the task has {claim.length + 1} of "
            f"{inputs.modulus + 1}"
        )
    return inputs, arithmetic


def require_token_slots(network: Network, stream: Stream, matrices: list[ExactMatrix], what: str) -> None:
    """Refuse matrices that read slots filled by the position, or by the token at some positions only."""
    slots = {slot for matrix in matrices for slot in network.slots.read_by(matrix)}
    if stream.source(slots).by_position:
        raise UnsupportedError(f"{what} depends on positions; the method covers attention by tokens")
    for part in network.embedding:
        if part.slot in slots and (part.positions[0] > 0 or part.positions[1] < network.positions):
            raise UnsupportedError(f"slot {part.slot!r} is not filled at every position; the method needs that")


def candidates(
    inputs: MatchingInputs, claim: Claim, suspects: list[tuple[int, list[int]]], position: int | None = None
) -> Iterator[Raw]:
    """Inputs around suspicious queries, each given with numbers near a match with it; then random ones.

    For a suspicious position the first is the one in which only that position matches, with itself.
    """
    fixed_end = claim.task.name == "match3-last"

    def row(first: list[int], rest: int) -> Raw:
        tokens = [0, *first, *[rest] * claim.length][: claim.length + 1]
        if fixed_end:
            tokens[-1] = inputs.modulus
        return numpy.array(tokens, dtype=numpy.int64)

    if position is not None:
        alone = row([], 1)
        alone[position] = inputs.modulus
        yield alone
    # Everything matches itself; then each query among near numbers, matches, or numbers like itself.
    yield row([], inputs.modulus)
    for query, near in suspects:
        partner = inputs.number(-query)
        for rest in [query, *near, partner]:
            yield row([query], rest)
            yield row([query, partner], rest)
            yield row([query, *near], rest)
        for one in near:
            # With z + z' + z'' ≡ 0 for z' = one.
            yield row([query, one, inputs.number(-query - one)], one)
    draws = draws_from(numpy.random.default_rng(0))
    while True:
        yield claim.task.sample(draws, 1, claim.length).inputs[0]
