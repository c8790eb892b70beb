"""Decoders whose attention may have a sliding window in every layer: Mistral and its relatives.

Jiang et al. (2023), "Mistral 7B": with a window w each layer reads the last w positions, itself included, so the cache
of keys and values never holds more than w − 1 earlier ones. Such a model is a recurrent model in the sense of BHBK24
§2, with a large state. A file with ``"sliding_window": null`` has full attention. Where a ``mistral`` file does not
name the window, 4096 is taken, as ``transformers`` does.
"""

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers, windows_of
from separatrix.communication.capacity.family import Family
from separatrix.communication.capacity.layers import LayerDescription

DEFAULT_WINDOW = {"mistral": 4096}


def layers(config: AttentionConfig) -> tuple[LayerDescription, ...]:
    """Local attention where there is a window, full attention where there is none."""
    return attention_layers(config, windows_of(config, DEFAULT_WINDOW.get(config.model_type)))


def notes(config: AttentionConfig) -> tuple[str, ...]:
    """How the window is counted, where a reach follows from it."""
    windows = windows_of(config, DEFAULT_WINDOW.get(config.model_type))
    if None in windows:
        return ()
    back, paper = sum((window or 1) - 1 for window in windows), sum(window or 0 for window in windows)
    return (
        "a window of w is the position itself and w − 1 before it, as transformers masks it (masking_utils, "
        f"sliding_window_overlay): {back:,} positions back through all layers. Jiang et al. 2023 count w for each "
        f"layer: {paper:,}.",
    )


FAMILY = Family(
    name="mistral",
    title="Mistral and decoders with sliding windows",
    model_types=("mistral", "mixtral", "phi3", "starcoder2"),
    schema=AttentionConfig,
    layers=layers,
    notes=notes,
    state="each windowed layer: 2 × key/value heads × head width × (window − 1)",
    source="Jiang et al. 2023",
)
