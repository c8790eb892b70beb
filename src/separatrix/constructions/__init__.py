"""Upper bounds as weights: one file per theorem, each building a network for a given length."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
