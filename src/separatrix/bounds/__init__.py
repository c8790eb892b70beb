"""Lower bounds that run: what a model's size must be at least, the formula with its numbers, and the evidence.

>>> from separatrix.bounds import bounds
>>> bounds()["dyck-transformer-1layer"].smallest_width(400, precision=32)
4
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
