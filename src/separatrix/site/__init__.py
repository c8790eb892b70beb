"""The atlas: a site that shows who can, who cannot and why, built from what the rooms compute."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
