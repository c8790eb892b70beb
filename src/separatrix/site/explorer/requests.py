"""What the page may ask for, checked before anything is computed.

Everything is data: names of catalog entries, numbers, texts of bounded length. No field names a file or a module. A
field's title is its label on the page; error messages use it.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from separatrix.networks import Scoring

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]
"""The name of a catalog entry."""
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9:_-]*$", max_length=60)]
Number = Annotated[str, StringConstraints(max_length=40)]
"""A fraction as text, such as 5/2 or 0.25, so that it is taken exactly; read by ``text_numbers.parse_fraction``."""
Value = Annotated[str, StringConstraints(max_length=60)]
RunName = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{1,16}$")]
Place = Annotated[int, Field(ge=0, le=1 << 22)]
Seed = Annotated[int, Field(ge=0, le=(1 << 53) - 1)]
"""Up to what a page's numbers hold exactly."""
LONGEST_TEXT = 400_000


class Request(BaseModel):
    """Base of all requests: frozen, no unknown fields, no numbers from text."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Setting(Request):
    """A construction and how to build it: the options of ``separatrix certify``."""

    construction: Name = Field(title="Construction", description="Name of a construction.", examples=["index-lookup"])
    length: int = Field(title="Length N", ge=1, le=1 << 20, description="The input length N.", examples=[16])
    variant: Name = Field(title="Proof", default="repaired", description="Which version of the proof.")
    family: Word | None = Field(
        title="Code", default=None, description="The code of the addresses; the narrowest if not given."
    )
    max_inner: Number = Field(
        title="γ at most", default="1/4", description="The largest inner product of two addresses."
    )
    gain: Number | None = Field(
        title="Score scale η", default=None, description="The score scale η; the theorem default if not given."
    )
    attention: Scoring | None = Field(
        title="Attention", default=None, description="How scores become weights; the theorem default if not given."
    )
    numbers: Literal["fixed", "reals"] = Field(
        title="Numbers", default="fixed", description="BHBK24's fixed point, or the real numbers."
    )
    exponent: int | None = Field(
        title="Precision Kc", default=None, ge=1, le=16, description="Kc; the theorem default if not given."
    )
    rounding: Literal["down", "nearest"] = Field(
        title="Rounding", default="down", description="How the fixed point rounds."
    )
    parameters: dict[Value, Value] = Field(
        title="Parameters of the task",
        default_factory=dict[str, str],
        max_length=8,
        description="Parameters of the task, as text.",
    )


class Input(Request):
    """One input: its readable form, or the seed of a random one."""

    text: str | None = Field(
        title="One input", default=None, max_length=LONGEST_TEXT, description="As `separatrix sample` writes it."
    )
    seed: Seed = Field(title="Seed", default=0, description="A random input, if no text is given.")


class Look(Request):
    """Run one input and show a layer's attention, the readouts and one position's slots."""

    setting: Setting
    input: Input = Input()
    position: Place | None = Field(
        title="Position", default=None, description="The position to look at, from 0; the last one read if not given."
    )
    layer: int = Field(title="Layer", default=0, ge=0, le=1024, description="Which attention layer, from 0.")
    head: int = Field(title="Head", default=0, ge=0, le=1 << 20, description="Which head, from 0.")


class Decide(Request):
    """Decide a claim for every input of its length."""

    setting: Setting


class Converse(Request):
    """Run the protocol of BHBK24 Theorem 2 or 4 on one input."""

    setting: Setting
    input: Input = Input()
    partition: str | None = Field(
        title="Alice’s positions",
        default=None,
        max_length=20_000,
        description="odd-even, halves, cut:K or Alice's positions such as 0,2,5.",
    )
    version: Literal["as-written", "repaired", "queries", "token"] = Field(default="repaired", title="Version")
    products: Literal["rounded", "exact"] = Field(default="rounded", title="Products")
    position: Place | None = Field(title="Position", default=None, description="The position that is read, from 0.")


class Compare(Request):
    """Compare the attention of a recorded run with that of a construction, on one input."""

    run: RunName = Field(title="Recorded run")
    step: Place | None = Field(
        title="Training step",
        default=None,
        description="A step whose weights were kept; the end of the run if not given.",
    )
    construction: Name | None = Field(
        title="Construction", default=None, description="Of the run's task; the first that fits if not given."
    )
    input: Input = Input()
    position: Place | None = None
    trained_layer: int = Field(default=0, ge=0, le=64)
    trained_head: int | None = Field(default=None, ge=0, le=1024, description="The mean over heads if not given.")
    layer: int = Field(default=0, ge=0, le=64)
    head: int = Field(default=0, ge=0, le=1024)


TITLES = {
    name: field.title
    for model in (Setting, Input, Look, Converse, Compare)
    for name, field in model.model_fields.items()
    if field.title
}
MOST_FAULTS = 5
LONGEST_VALUE = 40


def faults(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return what pydantic found wrong with a request, in one line with the labels of the page.

    >>> faults([{"type": "less_than_equal", "loc": ("body", "setting", "exponent"), "msg": "Choose at most 16",
    ...          "input": 99}])
    'Precision Kc is 99: choose at most 16'
    """
    found: list[str] = []
    for error in errors[:MOST_FAULTS]:
        places = [str(part) for part in error["loc"] if not isinstance(part, int)]
        name = next((TITLES[each] for each in reversed(places) if each in TITLES), " ".join(places[1:]) or "request")
        given = "" if error["type"] == "missing" else f" is {repr(error.get('input'))[:LONGEST_VALUE]}"
        found.append(f"{name}{given}: {error['msg'][:1].lower()}{error['msg'][1:]}")
    return "; ".join(dict.fromkeys(found)).replace("\n", " ").encode(errors="replace").decode()
