"""How many parameters a config file describes, counted by ``transformers`` where it is installed.

The model is made on torch's meta device, which holds shapes and no numbers, so that one of any size is counted in about
a second. Weights that are used twice count once.
"""

import logging
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import torch

MOST_LAYERS = 512
"""Files with more layers are not counted: each is a module to be made."""
QUANTISED = ("quantization_config", "quantization")
"""Fields of files whose weights are in fewer bits than they are computed in."""


def parameter_count(fields: Mapping[str, Any]) -> int | None:
    """Return the parameters of the causal model of a config; None where they cannot be counted.

    >>> parameter_count({"model_type": "no such type"}) is None
    True
    """
    if find_spec("transformers") is None or any(fields.get(each) for each in QUANTISED):
        return None
    inner = fields.get("text_config")
    own: dict[str, Any] = {**(inner if isinstance(inner, Mapping) else fields)}
    logger = logging.getLogger("transformers")
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _counted(own)
    except Exception:  # another package's code on somebody's file: then the number is not known
        return None
    finally:
        logger.setLevel(level)


def _counted(fields: dict[str, Any]) -> int | None:
    from transformers import AutoConfig, AutoModelForCausalLM

    for name in ("dtype", "torch_dtype", "auto_map"):
        fields.pop(name, None)
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    if config.num_hidden_layers > MOST_LAYERS:
        return None
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    return sum(each.numel() for each in model.parameters())
