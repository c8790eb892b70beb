"""The papers' networks as plain data, and their evaluation in any arithmetic."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
