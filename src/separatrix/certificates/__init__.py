"""Certificates and the independent checker."""

from separatrix.certificates.checker import check, methods
from separatrix.certificates.refutations import replay
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError, Verdict

__all__ = ["Claim", "Method", "SuspicionError", "UnsupportedError", "Verdict", "check", "methods", "replay"]
