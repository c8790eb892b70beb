"""Certificates and the independent checker."""

from separatrix.certificates.checker import check, methods
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError, Verdict, replay

__all__ = ["Claim", "Method", "SuspicionError", "UnsupportedError", "Verdict", "check", "methods", "replay"]
