"""Optional parts of the package: what a verb says where one is not installed."""

from collections.abc import Generator
from contextlib import contextmanager

from separatrix.errors import SeparatrixError


@contextmanager
def needing(what: str, extra: str) -> Generator[None]:
    """Turn the lack of another package into one line: ``what`` is who needs it, ``extra`` the part that brings it.

    >>> with needing("pictures need", "atlas"):
    ...     import no_such_package
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: pictures need no_such_package; install it with pip install 'separatrix[atlas]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # A module of our own that is missing is a defect and keeps its traceback.
        if error.name is None or error.name.startswith("separatrix"):
            raise
        raise SeparatrixError(f"{what} {error.name}; install it with  pip install 'separatrix[{extra}]'") from error
