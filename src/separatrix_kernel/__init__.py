"""The trusted proof checker: does this network answer every input of this specification rightly?

It reads a claim, a network and a proof from files, and nothing else; Python's standard library is all it needs.
``python -m separatrix_kernel FOLDER`` checks a folder. See docs/kernel.md.
"""

from separatrix_kernel.checker import FORMAT, PROOF_FILE, Accepted, check, check_folder
from separatrix_kernel.reading import RefusedError

__all__ = ["FORMAT", "PROOF_FILE", "Accepted", "RefusedError", "check", "check_folder"]
