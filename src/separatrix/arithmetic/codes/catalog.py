"""The catalog of code families: every file of ``codes/families`` exports one ``FAMILY``."""

from functools import cache

from separatrix.arithmetic.codes import families as folder
from separatrix.arithmetic.codes.family import CodeFamily
from separatrix.catalog import Catalog, discover


@cache
def families() -> Catalog[CodeFamily]:
    """Return all families by name."""
    # CodeFamily is abstract, but it is what an entry is checked against, never what is made.
    return discover("code", folder, "FAMILY", CodeFamily)  # type: ignore[type-abstract]
