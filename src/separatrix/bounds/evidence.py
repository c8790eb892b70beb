"""What supports a bound, and how far it was checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Evidence:
    """One thing that supports a bound.

    ``kind``: "verified" (computed here and now, for the sizes it names), "proved" (an argument in the module that gives
    it), "cited" (a theorem of the literature that is not computed here). ``holds`` is False when a computation refuted
    it.
    """

    kind: Literal["verified", "proved", "cited"]
    text: str
    holds: bool = True
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def described(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {"kind": self.kind, "text": self.text, "holds": self.holds, **self.details}
