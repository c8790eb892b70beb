"""Griffin, Hawk and RecurrentGemma: gated linear recurrences, mixed with local attention.

De et al. (2024), "Griffin"; Botev et al. (2024), "RecurrentGemma". A recurrent block keeps the state of its RG-LRU
(lru_width numbers) and the last conv1d_width − 1 inputs of its convolution. A local attention block sees the position
itself and ``attention_window_size`` earlier ones (the mask of google-deepmind/recurrentgemma is q ≤ k + window), so it
keeps 2 × key/value heads × head width × window numbers. Nothing else crosses from token to token: Griffin has attention
layers and is still a recurrent model in the sense of BHBK24 §2.
"""

from typing import Literal

from pydantic import Field

from separatrix.communication.capacity.families._state_space import convolution
from separatrix.communication.capacity.family import Config, Depth, Family, Size, share, spelled
from separatrix.communication.capacity.layers import LayerDescription, StatePart, local_attention, recurrent
from separatrix.errors import SeparatrixError


class GriffinConfig(Config):
    """Sizes of a RecurrentGemma config; block_types repeats until all layers have one."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    lru_width: Size | None = None
    attention_window_size: Size = 2048
    conv1d_width: Size = 4
    block_types: list[Literal["recurrent", "attention"]] = Field(
        default=["recurrent", "recurrent", "attention"], validation_alias=spelled("block_types", "_block_types")
    )


def layers(config: GriffinConfig) -> tuple[LayerDescription, ...]:
    """Recurrent blocks and blocks of local attention, counted over the repeated pattern."""
    if not config.block_types:
        raise SeparatrixError('block_types is empty; write at least one of "recurrent" and "attention"')
    depth, pattern = config.num_hidden_layers, config.block_types
    rounds, rest = divmod(depth, len(pattern))
    attending = rounds * pattern.count("attention") + pattern[:rest].count("attention")
    found: list[LayerDescription] = []
    if attending < depth:
        width = config.lru_width or config.hidden_size
        state = StatePart("RG-LRU", width, str(width))
        found.append(
            recurrent(
                "RG-LRU", config.hidden_size, state, convolution(width, config.conv1d_width), count=depth - attending
            )
        )
    if attending:
        heads = config.num_attention_heads
        head_width = config.head_dim or share("hidden_size / num_attention_heads", config.hidden_size, heads)
        found.append(
            local_attention(
                config.hidden_size, heads, head_width, config.attention_window_size,
                key_value_heads=config.num_key_value_heads, count=attending,
            )
        )  # fmt: skip
    return tuple(found)


FAMILY = Family(
    name="griffin",
    title="Griffin, Hawk, RecurrentGemma",
    model_types=("recurrent_gemma", "griffin"),
    schema=GriffinConfig,
    layers=layers,
    state="recurrent blocks: lru_width × conv1d_width; local attention: 2 × key/value heads × head width × window",
    source="De et al. 2024; google-deepmind/recurrentgemma, recurrentgemma/torch/modules.py",
)
