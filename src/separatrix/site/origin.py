"""Where a number or a figure comes from: how far it can be trusted, and the command that gives it again.

Everything the atlas shows carries an origin. Its kind is one of six, from strongest to weakest:

* *proved*: decided for all inputs by a certificate, or by an argument for every N;
* *verified to n*: computed exactly for all instances up to a size, which is named;
* *measured here*: computed for this atlas, on the machine that built it;
* *recorded elsewhere*: read from a record of earlier work, with the record's own command and environment;
* *formula*: the size that a theorem claims, or a network that was built and not certified here;
* *printed in the paper*: read off the paper's own figure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["proved", "verified", "measured", "recorded", "formula", "printed"]
MEANINGS: Mapping[str, tuple[str, str]] = {
    "proved": ("proved", "decided for all inputs by a certificate, or by an argument that holds for every N"),
    "verified": ("verified to n", "computed exactly for every instance up to the size that is named"),
    "measured": ("measured here", "computed while this atlas was built"),
    "recorded": ("recorded elsewhere", "read from a record of earlier work, with its own command and environment"),
    "formula": ("formula", "the size a theorem claims; where a network was built, it was not certified here"),
    "printed": ("printed in the paper", "read off a figure of the paper"),
}
"""The word on each badge, and what it means."""


@dataclass(frozen=True)
class Origin:
    """The kind of evidence, how far it reaches in words, and how to get it again."""

    kind: Kind
    reach: str
    command: str
    arithmetic: str = "integers"
    seed: int | None = None
    version: str = ""
    """Of the package that made a record; empty for what this atlas computed itself."""
