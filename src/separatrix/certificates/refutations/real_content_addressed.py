"""Inputs against a network for recall over the real numbers: the same as in fixed point."""

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations.content_addressed import inputs

SEARCH = Search("content-addressed-reals", inputs)
