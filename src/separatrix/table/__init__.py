"""The separation table and what stands behind its cells, as typed records: the product."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
