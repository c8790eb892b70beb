"""Real numbers on a grid: how methods for fixed point prove claims about the reals.

After a softmax over the reals only bounds of its weights are known (``arithmetic.real_softmax``), and what follows are
feed-forwards with whole-number weights, on intervals. Bounds are rounded outwards to multiples of 1/(n · 2^k) for the
number n of positions, a grid on which the weights 1/n of uniform attention lie, and on which sums and whole multiples
are exact. The *carrier* is that grid as a fixed point. The methods refuse whatever its range would cut off; here is
refused whatever it would round. What they then prove on the carrier holds over the reals.
"""

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.certificates.methods._numbers import whole
from separatrix.certificates.verdict import Claim, UnsupportedError
from separatrix.networks import Network, TableRows

FINEST = 1 << 30


def carrier(network: Network, claim: Claim) -> FixedPoint:
    """The finest grid that 64 bits can carry; embedding and readout must lie on it."""
    if not isinstance(claim.arithmetic, Balls):
        raise UnsupportedError(f"{claim.arithmetic} is not ball arithmetic; the method speaks about the real numbers")
    arithmetic = FixedPoint(network.positions << max(1, (FINEST // network.positions).bit_length() - 1), 1)
    tables = [part.rule.table for part in network.embedding if isinstance(part.rule, TableRows)]
    for matrix in (*tables, network.readout.bias):
        whole(matrix, "an embedding or the bias of the readout", arithmetic.largest)
    whole(network.readout.matrix, "the readout")
    return arithmetic
