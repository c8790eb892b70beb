"""The one exception that means "what you asked for cannot be done, and here is what to do instead".

Every room raises :class:`SeparatrixError` (or a subclass) for bad input. Its text is one line that names the
value that was given and the remedy. The command line prints that line and ends with exit code 2; nothing else
is ever turned into exit code 2, so a defect in the package still shows its traceback.
"""

import difflib
from collections.abc import Iterable

LONGEST = 1800
"""Characters of a message."""


class SeparatrixError(ValueError):
    """Bad input: one line that says what was given and what to do."""

    def __init__(self, message: str) -> None:
        text = " ".join(message.split())
        # What was given may be of any length; the remedy is at the end.
        shown = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 3 :]}"
        super().__init__(shown)


class UnknownNameError(SeparatrixError, KeyError):
    """A name that a catalog does not hold; the message gives the nearest ones.

    A KeyError too, as mappings promise: ``get`` answers with its default.
    """

    def __init__(self, kind: str, given: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(given, names, n=3, cutoff=0.5)
        hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {given!r}; {hint}")
        self.kind = kind
        self.given = given
        self.nearest = tuple(near)

    def __str__(self) -> str:
        # KeyError would put the message in quotes.
        return str(self.args[0])


class StoppedError(SeparatrixError):
    """A person interrupted long work that saved its state first; the message says how to resume."""
