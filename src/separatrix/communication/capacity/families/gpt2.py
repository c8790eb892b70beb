"""GPT-2: full causal attention, sizes under the names n_embd, n_layer, n_head.

Radford et al. (2019). GPT-3 (Brown et al. 2020) "uses the same model and architecture as GPT-2" except that it
alternates dense and locally banded sparse attention; the width of the bands is not published, so its layers are
described as full attention, as in SHT23's table of model sizes.
"""

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Family, Size, share, spelled
from separatrix.communication.capacity.layers import LayerDescription, attention


class Gpt2Config(Config):
    """Sizes of a GPT-2 config."""

    n_embd: Size = Field(validation_alias=spelled("n_embd", "hidden_size"))
    n_layer: Depth = Field(validation_alias=spelled("n_layer", "num_hidden_layers"))
    n_head: Size = Field(validation_alias=spelled("n_head", "num_attention_heads"))


def layers(config: Gpt2Config) -> tuple[LayerDescription, ...]:
    """Equal layers of full attention."""
    head_width = share("n_embd / n_head", config.n_embd, config.n_head)
    return (attention(config.n_embd, config.n_head, head_width, count=config.n_layer),)


FAMILY = Family(
    name="gpt2",
    title="GPT-2 and GPT-3",
    model_types=("gpt2", "openai-gpt", "gpt_bigcode", "gptj", "bloom"),
    schema=Gpt2Config,
    layers=layers,
    state="none: attention over all earlier positions",
    source="Radford et al. 2019; Brown et al. 2020",
)
