"""The product: which task which class of models can and cannot do, as typed records with the evidence behind them."""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
