"""Untrusted provers: they look at weights and write proofs that ``separatrix_kernel`` checks.

Nothing here is trusted. A prover that errs writes a proof that the kernel refuses, and never more than that.
"""

from separatrix.provers.proofs import Proved, prove

__all__ = ["Proved", "prove"]
