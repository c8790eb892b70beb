"""From a user's sparse form to a certified network: where the profile of a function meets BHBK24 Theorem 13.

The profile (``profile``) may find that a function is a threshold of at most N features of k bits. Then
the construction of Theorem 13 builds a two-layer network for exactly that function, and the checker decides it for all
2^N inputs. As in the theorem, the network reads [BOS] before the bits.
"""

from dataclasses import dataclass
from typing import Any

from separatrix.arithmetic import FixedPoint
from separatrix.certificates import WORDS, Claim, check, shown_count, size_of, state_of, with_proof
from separatrix.constructions import Options, constructions
from separatrix.tasks import SparseFunction, SparseThreshold

EXPONENT = 2
"""Kc, which must be at least 2 (E4)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenThreshold(SparseThreshold):
    """A member of THRES(k, N) at one length that is given by its features and threshold."""

    given: SparseFunction

    def function(self, length: int) -> SparseFunction:
        """Return the given function, whatever the parameters say."""
        del length
        return self.given

    def specification(self, length: int) -> dict[str, Any]:
        """Return that of a threshold function, which reads :meth:`function`."""
        return super().specification(length)


@dataclass(frozen=True, kw_only=True)
class ProvedNetwork:
    """Theorem 13's network for a function, and what the checker says of it."""

    theorem: str
    certified: bool
    state: str
    reason: str
    method: str
    inputs_covered: str
    arithmetic: str
    layers: int
    heads: int
    width: int
    precision_bits: int
    size_bits: int

    @property
    def verdict(self) -> str:
        """What is known, in the words of every verdict."""
        if self.certified:
            return f"{WORDS[self.state]} for all {shown_count(self.inputs_covered)} inputs"
        return f"{WORDS[self.state]}: {self.reason}"


def certify_sparse_form(function: SparseFunction, length: int) -> ProvedNetwork:
    """Build Theorem 13's network for a function of ``length`` bits and decide it for every input."""
    task = GivenThreshold(given=function, sparsity=int(function.indices.shape[1]))
    arithmetic = FixedPoint(length, EXPONENT)
    # The catalog's k-DNF builds from the features and the threshold of whatever member of THRES(k, N) it is given.
    construction = constructions()["dnf"]
    network = construction.network(task, length, Options(exponent=EXPONENT))
    claim = Claim(task, length, arithmetic)
    verdict, _ = with_proof(network, claim, check(network, claim))
    return ProvedNetwork(
        theorem=construction.theorem,
        certified=verdict.valid,
        state=state_of(verdict),
        reason=verdict.reason,
        method=verdict.method,
        inputs_covered=verdict.inputs_covered,
        arithmetic=str(arithmetic),
        **size_of(network, claim),
    )
