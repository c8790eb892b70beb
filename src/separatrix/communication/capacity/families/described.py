"""Any model, its layers described by hand.

    {"model_type": "layers", "layers": [
        {"kind": "recurrent", "name": "linear attention", "state_numbers": 65536, "count": 6},
        {"kind": "local-attention", "heads": 8, "head_width": 64, "window": 512},
        {"kind": "attention", "heads": 8, "head_width": 64}]}

``state_numbers`` counts every number that one such layer hands from token to token, ``window`` earlier positions.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from separatrix.communication.capacity.family import LARGEST, Config, Depth, Family, Size
from separatrix.communication.capacity.layers import LayerDescription, StatePart, attention, local_attention, recurrent


class RecurrentEntry(BaseModel):
    """A layer with a fixed state."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["recurrent"]
    name: str = "recurrent"
    state_numbers: Annotated[int, Field(strict=True, gt=0, le=LARGEST**2)]
    width: Size = 1
    count: Depth = 1


class AttentionEntry(BaseModel):
    """A layer of full attention."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["attention"]
    heads: Size
    head_width: Size
    key_value_heads: Size | None = None
    width: Size | None = None
    count: Depth = 1


class LocalAttentionEntry(BaseModel):
    """A layer of local attention."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["local-attention"]
    heads: Size
    head_width: Size
    window: Size
    key_value_heads: Size | None = None
    width: Size | None = None
    count: Depth = 1


class DescribedConfig(Config):
    """A list of layers."""

    layers: Annotated[
        list[Annotated[RecurrentEntry | AttentionEntry | LocalAttentionEntry, Field(discriminator="kind")]],
        Field(min_length=1, max_length=10_000),
    ]


def layers(config: DescribedConfig) -> tuple[LayerDescription, ...]:
    """The layers as they are listed."""
    return tuple(map(_layer, config.layers))


def _layer(entry: RecurrentEntry | AttentionEntry | LocalAttentionEntry) -> LayerDescription:
    if isinstance(entry, RecurrentEntry):
        part = StatePart("state", entry.state_numbers, str(entry.state_numbers))
        return recurrent(entry.name, entry.width, part, count=entry.count)
    width, groups = entry.width or entry.heads * entry.head_width, entry.key_value_heads
    if isinstance(entry, AttentionEntry):
        return attention(width, entry.heads, entry.head_width, key_value_heads=groups, count=entry.count)
    return local_attention(
        width, entry.heads, entry.head_width, entry.window, key_value_heads=groups, count=entry.count
    )


FAMILY = Family(
    name="layers",
    title="Any model, described layer by layer",
    model_types=("layers",),
    schema=DescribedConfig,
    layers=layers,
    state="as given",
    source="the file",
)
