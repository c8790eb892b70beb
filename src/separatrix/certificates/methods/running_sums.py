"""Running sums: uniform attention in float32, whose sum over positions is an automaton (E26). The kernel decides.

The argument is the one above the rule in ``separatrix_kernel/running.py``; this method looks for its proof and asks.
"""

from separatrix.arithmetic import Floating
from separatrix.certificates.verdict import Claim, Method, UnsupportedError
from separatrix.networks import Network
from separatrix.provers import prove


class RunningSums(Method):
    """The kernel's rule for running sums."""

    name = "running-sums"
    order = 6

    def prove(self, network: Network, claim: Claim) -> str:
        """Whatever the kernel accepts."""
        if not isinstance(claim.arithmetic, Floating):
            raise UnsupportedError(f"{claim.arithmetic} is not floating point, which the method is about")
        found = prove(network, claim.task, claim.length, claim.arithmetic)
        if found is None:
            raise UnsupportedError("the kernel accepts no proof about running sums of this network")
        return found.accepted.inputs_covered


METHOD = RunningSums()
