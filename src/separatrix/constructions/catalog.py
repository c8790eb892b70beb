"""The catalog of constructions: every file of ``separatrix/constructions/theorems`` exports one ``CONSTRUCTION``."""

from separatrix.catalog import Catalog, discover
from separatrix.constructions import theorems
from separatrix.constructions.construction import Construction


def constructions() -> Catalog[Construction]:
    """Return all constructions by name.

    >>> constructions()["equality"].theorem
    'BHBK24 Theorem 6'
    """
    return discover("construction", theorems, "CONSTRUCTION", Construction)  # type: ignore[type-abstract]
