"""The matching tasks: token 0 (the dummy) at position 0 and tokens 1 … M after it, z standing for the residue z mod M.

``match3-last`` has token M at its last position. A query z *matches* in

* match2: if some number z' has z + z' ≡ 0, that is z' = M - z, or z' = M for z = M;
* match3 and match3-local: if some pair of numbers (of its window) has z' + z'' ≡ -z;
* match3-last: the answer is 1 if some number but the last one matches as in match2. (j, k ≠ N are asked for. If the
  number z_j matches the last one, which is 0, then z_j is 0 and matches itself; so the last one may be looked at.)
"""

from dataclasses import dataclass

import numpy

from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.verdict import Claim, OtherClaimError, Tokens


@dataclass(frozen=True)
class MatchingInputs:
    """The input space of a matching task: N numbers in 1 … M behind the dummy."""

    length: int
    modulus: int

    @property
    def numbers(self) -> Tokens:
        """All tokens but the dummy."""
        return numpy.arange(1, self.modulus + 1, dtype=numpy.int64)

    def number(self, residue: int) -> int:
        """The token of a residue."""
        return residue % self.modulus or self.modulus

    def partners(self) -> Tokens:
        """For each number the one that adds up with it to 0, as a place among all numbers."""
        return (-self.numbers - 1) % self.modulus


def matching_inputs(claim: Claim, names: tuple[str, ...]) -> MatchingInputs:
    """The input space of a task with one of these names; others are refused."""
    if known_name(claim.task) not in names:
        raise OtherClaimError(f"the method covers {' and '.join(names)}, not {claim.task.name}")
    given = claim.task.parameters()["modulus"]
    return MatchingInputs(claim.length, max(claim.length**2, 16) if given is None else given)
