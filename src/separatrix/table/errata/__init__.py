"""Errata that run: what does not hold as written, shown to fail, and the repair, shown to work."""

from separatrix.table.errata.erratum import Erratum, errata
from separatrix.table.errata.finding import Finding

__all__ = ["Erratum", "Finding", "errata"]
