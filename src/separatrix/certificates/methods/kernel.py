"""The kernel: a prover looks at the weights and writes a proof, and ``separatrix_kernel`` decides about it.

What a refusal says is a suspicion: the proof did not hold, and inputs are tried. Where no prover has anything to write
the method does not apply. That inputs are few is left to enumeration, which is quicker.
"""

from separatrix.certificates.proofs import states_itself
from separatrix.certificates.verdict import Claim, Method, OtherClaimError, SuspicionError, UnsupportedError
from separatrix.networks import AnyNetwork, Network, RecurrentNetwork
from separatrix.provers import Proved, attempt


class Kernel(Method):
    """Whatever the kernel accepts."""

    name = "kernel"
    order = 40
    kinds = (Network, RecurrentNetwork)
    extensions = True
    trust = "kernel"

    def prove(self, network: AnyNetwork, claim: Claim) -> str:
        """The inputs that the accepted proof covers."""
        if not states_itself(claim.task, claim.length):
            raise OtherClaimError(f"{claim.task.name} states no specification at this length")
        found = attempt(network, claim.task, claim.length, claim.arithmetic, most_run=0)
        if isinstance(found, Proved):
            return found.accepted.inputs_covered
        if found is None:
            raise UnsupportedError("no prover has a proof to write about this network and task")
        raise SuspicionError(f"the kernel refuses the proof: {found}", refusal=found)


METHOD = Kernel()
