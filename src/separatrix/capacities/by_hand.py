"""Any model, its layers described by hand.

    {"model_type": "layers", "layers": [
        {"kind": "recurrent", "name": "linear attention", "state_numbers": 65536, "count": 6},
        {"kind": "local-attention", "heads": 8, "head_width": 64, "window": 512},
        {"kind": "attention", "heads": 8, "head_width": 64}]}

``state_numbers`` counts every number that one such layer hands from token to token, ``window`` earlier positions.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from separatrix.capacities.family import Family
from separatrix.capacities.fields import DEEPEST, LARGEST, format_name, printed, stated_format, trained_length
from separatrix.capacities.layers import (
    LayerDescription,
    ModelDescription,
    StatePart,
    attention,
    local_attention,
    recurrent,
)
from separatrix.errors import SeparatrixError

Size: TypeAlias = Annotated[int, Field(strict=True, gt=0, le=LARGEST)]
Depth: TypeAlias = Annotated[int, Field(strict=True, gt=0, le=DEEPEST)]


class RecurrentEntry(BaseModel):
    """A layer with a fixed state."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["recurrent"]
    name: str = "recurrent"
    state_numbers: Annotated[int, Field(strict=True, gt=0, le=LARGEST**2)]
    width: Size = 1
    count: Depth = 1


class AttentionEntry(BaseModel):
    """A layer of attention, over all positions or over a window."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["attention", "local-attention"]
    heads: Size
    head_width: Size
    window: Size | None = None
    key_value_heads: Size | None = None
    width: Size | None = None
    count: Depth = 1

    @model_validator(mode="after")
    def _has_its_window(self) -> "AttentionEntry":
        if (self.kind == "local-attention") != (self.window is not None):
            raise ValueError("local-attention needs a window, and attention has none")
        return self


class DescribedConfig(BaseModel):
    """A list of layers."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    layers: Annotated[
        list[Annotated[RecurrentEntry | AttentionEntry, Field(discriminator="kind")]],
        Field(min_length=1, max_length=10_000),
    ]


def _layer(entry: RecurrentEntry | AttentionEntry) -> LayerDescription:
    if isinstance(entry, RecurrentEntry):
        part = StatePart("state", entry.state_numbers, str(entry.state_numbers))
        return recurrent(printed(entry.name), entry.width, part, count=entry.count)
    width, groups = entry.width or entry.heads * entry.head_width, entry.key_value_heads
    if entry.window is None:
        return attention(width, entry.heads, entry.head_width, key_value_heads=groups, count=entry.count)
    return local_attention(
        width, entry.heads, entry.head_width, entry.window, key_value_heads=groups, count=entry.count
    )


class ByHand(Family):
    """The family of files that list their layers."""

    def describe(self, raw: Mapping[str, Any], name: str, source: str = "", given_type: str = "") -> ModelDescription:
        """The model as its file lists it."""
        try:
            config = DescribedConfig.model_validate(dict(raw))
        except ValidationError as error:
            raise SeparatrixError(f"{name} is not a complete layers config: {reasons(error)}") from None
        return ModelDescription(
            name=name,
            family=self.name,
            layers=tuple(map(_layer, config.layers)),
            trained_length=trained_length(raw),
            number_format=format_name(stated_format(raw)),
            source=source,
        )


def reasons(error: ValidationError) -> str:
    """Everything that is wrong with a file, in one line: first what is missing, then what is not a size."""
    missing: list[str] = []
    wrong: list[str] = []
    for each in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, each["loc"]))
        if each["type"] == "missing":
            missing.append(where)
        else:
            given = repr(each["input"])
            shown = given if len(given) <= 40 else f"{given[:37]}..."
            text = each["msg"][:1].lower() + each["msg"][1:]
            wrong.append(f"{where} is {shown}: {text}" if where else text)
    parts = [f"missing {', '.join(missing)}"] if missing else []
    return "; ".join(parts + wrong)


BY_HAND = ByHand(
    name="layers",
    title="Any model, described layer by layer",
    model_types=("layers",),
    layers="[]",
    state="as given",
    source="the file",
    code="the file",
    evidence="given",
)
