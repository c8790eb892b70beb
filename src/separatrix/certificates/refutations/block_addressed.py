"""Inputs against a network with addresses in blocks: the same as against any position-addressed one."""

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations.position_addressed import inputs

SEARCH = Search("block-addressed", inputs)
