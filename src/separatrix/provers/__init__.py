"""Untrusted provers: they look at weights and write proofs that ``separatrix_kernel`` checks.

Nothing here is trusted. A prover that errs writes a proof that the kernel refuses, and never more than that.
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
