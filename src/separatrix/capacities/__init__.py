"""How long an input a real model could still handle: config files and presets against the bounds.

>>> from separatrix.capacities import capacity, describe
>>> found = capacity(describe("mamba-130m"), precision=16)
>>> found.state_bits
11206656
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
