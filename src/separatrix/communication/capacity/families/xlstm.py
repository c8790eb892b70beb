"""xLSTM with matrix memories (mLSTM blocks), as in xLSTM-7B.

Beck et al. (2024), "xLSTM: Extended Long Short-Term Memory"; Beck et al. (2025), "xLSTM 7B". Each head of an mLSTM
keeps the matrix C (query/key width × value width), the normaliser n (query/key width) and the stabiliser m (one
number). The widths are qk_dim_factor and v_dim_factor times the hidden size, rounded up to multiples of 64, shared
among the heads. The states are in the wider of ``inference_state_dtype`` (float32 where a file does not name it) and
the format of the weights: ``transformers`` computes them in the former and keeps them in the latter, the reference
kernels keep them in the former.
"""

from math import ceil

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Factor, Family, FormatName, Size, share, spelled
from separatrix.communication.capacity.layers import LayerDescription, StatePart, recurrent


class XlstmConfig(Config):
    """Sizes of an xLSTM config."""

    hidden_size: Size = Field(validation_alias=spelled("hidden_size", "embedding_dim"))
    num_hidden_layers: Depth = Field(validation_alias=spelled("num_hidden_layers", "num_blocks"))
    num_heads: Size
    qk_dim_factor: Factor = 0.5
    v_dim_factor: Factor = 1.0
    # The field that xLSTM's code follows for its states.
    followed: FormatName = Field(default="float32", validation_alias="inference_state_dtype")


def layers(config: XlstmConfig) -> tuple[LayerDescription, ...]:
    """Equal mLSTM blocks."""
    heads = config.num_heads
    key = share("query/key width / num_heads", 64 * ceil(config.hidden_size * config.qk_dim_factor / 64), heads)
    value = share("value width / num_heads", 64 * ceil(config.hidden_size * config.v_dim_factor / 64), heads)
    parts = (
        StatePart("matrix of each head", heads * key * value, f"{heads} × {key} × {value}"),
        StatePart("normaliser and stabiliser", heads * (key + 1), f"{heads} × ({key} + 1)"),
    )
    return (recurrent("mLSTM", config.hidden_size, *parts, heads=heads, count=config.num_hidden_layers),)


FAMILY = Family(
    name="xlstm",
    title="xLSTM (mLSTM blocks)",
    model_types=("xlstm",),
    schema=XlstmConfig,
    layers=layers,
    state_format=lambda config: config.followed,
    state="each layer: heads × (key width × value width + key width + 1)",
    source="Beck et al. 2024, equations 19 to 27; Beck et al. 2025",
)
