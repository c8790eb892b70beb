"""Certificates and the independent checker."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
