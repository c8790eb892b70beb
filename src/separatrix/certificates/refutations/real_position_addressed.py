"""Inputs against a position-addressed network over the real numbers: the same as in fixed point."""

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations.position_addressed import inputs

SEARCH = Search("position-addressed-reals", inputs)
