"""The catalog of reductions: every file of ``separatrix/communication/reductions/encodings`` exports one
``REDUCTION``."""

from separatrix.catalog import Catalog, discover
from separatrix.communication.reductions import encodings
from separatrix.communication.reductions.reduction import Reduction


def reductions() -> Catalog[Reduction]:
    """Return all reductions by name.

    >>> reductions()["index-to-match2"].problem
    'INDEX'
    """
    return discover("reduction", encodings, "REDUCTION", Reduction)
