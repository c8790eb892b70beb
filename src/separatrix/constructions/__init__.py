"""Upper bounds as weights: one file per theorem, each building a network for a given length."""

from separatrix.constructions.catalog import constructions
from separatrix.constructions.construction import Built, Construction, Options

__all__ = ["Built", "Construction", "Options", "constructions"]
