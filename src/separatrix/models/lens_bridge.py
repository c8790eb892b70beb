"""From the form of ``lens`` to a running ``TransformerBridge``, and to files and back. Needs transformer-lens.

The library is imported only here and only when a bridge is made: it brings transformers with it and takes seconds.
The files are those of ``exported``: weights in safetensors, a configuration in JSON.
"""

from pathlib import Path
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.models.exported import read_folder, write_folder
from separatrix.models.from_network import DTYPES
from separatrix.models.lens import ATTENTION_SCALE, FORMAT, LensForm

SHAPES = ("n_layers", "d_model", "n_ctx", "d_head", "n_heads", "d_mlp", "d_vocab", "d_vocab_out")


def lens_bridge(form: LensForm) -> Any:
    """Return a ``TransformerBridge`` with the network's weights; its logits are the readouts, at every position."""
    require("a bridge", "transformer_lens")
    from transformer_lens import TransformerBridge, TransformerBridgeConfig

    config, dtype = form.config, DTYPES[form.config["dtype"]]
    masks: list[str] = config["masks"]
    # The library adds its ways of making a bridge to the class when it is imported; its types do not show them.
    bridges: Any = TransformerBridge
    bridge = bridges.boot_native(
        TransformerBridgeConfig(
            **{name: config[name] for name in SHAPES},
            act_fn="relu",
            normalization_type=None,
            positional_embedding_type="standard",
            attention_dir="bidirectional" if set(masks) <= {"none"} else "causal",
            use_attn_scale=True,
            attn_scale=ATTENTION_SCALE,
            init_weights=False,
            device="cpu",
            dtype=dtype,
            architecture="TransformerLensNative",
        ),
        dtype=dtype,
    )
    bridge.load_state_dict(form.tensors, strict=True)
    # True is what a query may not see; a row that sees nothing gets weight 0, as in our networks.
    everything = torch.ones((config["n_ctx"], config["n_ctx"]), dtype=torch.bool)
    hidden = {"none": ~everything, "causal": everything.triu(1), "strict": everything.triu(0)}
    for block, mask in zip(bridge.blocks, masks, strict=True):
        block.attn.original_component.causal_mask.copy_(hidden[mask])
    return bridge


def save_lens(form: LensForm, folder: Path) -> str:
    """Write the form; returns the SHA-256 of its weights."""
    return write_folder(folder, form.config, form.tensors)


def load_lens(folder: Path | str) -> Any:
    """Return the ``TransformerBridge`` of a folder that ``separatrix export --to transformer-lens`` wrote."""
    config, tensors = read_folder(Path(folder))
    if config.get("format") != FORMAT:
        raise SeparatrixError(f"{folder} has format {config.get('format')!r}; this version reads {FORMAT!r}")
    try:
        return lens_bridge(LensForm(config, tensors))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(
            f"{folder} does not fit transformer-lens ({type(error).__name__}); export it again"
        ) from error
