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
    """A construction and how to build it: the options of ``separatrix certify``; None is the theorem default."""

    construction: Name = Field(title="Construction", examples=["index-lookup"])
    length: int = Field(title="Length N", ge=1, le=1 << 20, examples=[16])
    variant: Name = Field(default="repaired", title="Proof")
    family: Word | None = Field(default=None, title="Code", description="None is the narrowest.")
    max_inner: Number = Field(default="1/4", title="γ at most")
    gain: Number | None = Field(default=None, title="Score scale η")
    attention: Scoring | None = Field(default=None, title="Attention")
    numbers: Literal["fixed", "reals"] = Field(default="fixed", title="Numbers")
    exponent: int | None = Field(default=None, title="Precision Kc", ge=1, le=16)
    rounding: Literal["down", "nearest"] = Field(default="down", title="Rounding")
    parameters: dict[Value, Value] = Field(default_factory=dict[str, str], title="Parameters of the task", max_length=8)


class Input(Request):
    """One input: its readable form, as ``separatrix sample`` writes it, or the seed of a random one."""

    text: str | None = Field(default=None, title="One input", max_length=LONGEST_TEXT)
    seed: Seed = Field(default=0, title="Seed")


class Look(Request):
    """Run one input; positions, layers and heads count from 0, and the last query position is the default."""

    setting: Setting
    input: Input = Input()
    position: Place | None = Field(default=None, title="Position")
    layer: int = Field(default=0, title="Layer", ge=0, le=1024)
    head: int = Field(default=0, title="Head", ge=0, le=1 << 20)


class Decide(Request):
    """Decide a claim for every input of its length."""

    setting: Setting


class Converse(Request):
    """Run the protocol of BHBK24 Theorem 2 or 4 on one input.

    The partition is odd-even, halves, cut:K or Alice's positions such as 0,2,5.
    """

    setting: Setting
    input: Input = Input()
    partition: str | None = Field(default=None, title="Alice’s positions", max_length=20_000)
    version: Literal["as-written", "repaired", "queries", "token"] = Field(default="repaired", title="Version")
    products: Literal["rounded", "exact"] = Field(default="rounded", title="Products")


class Compare(Request):
    """Compare the attention of a recorded run with that of a construction, on one input.

    The defaults are the last step with weights, and the first construction that fits.
    """

    run: RunName = Field(title="Recorded run")
    step: Place | None = Field(default=None, title="Training step")
    construction: Name | None = Field(default=None, title="Construction")
    input: Input = Input()


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
