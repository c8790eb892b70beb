"""What models of flash-linear-attention hold, next to what the card says; writes docs/records/fla-caches.json.

    python -m tools.fla_caches CHECKOUT      a checkout of fla-org/flash-linear-attention

Its kernels are for GPUs; here Triton interprets them on the processor, with the first of the sizes that a tuner would
try. flash-attn is not installed with it, so a plain softmax attention takes its place: the arrays that a layer keeps
are made outside of it. Small random models are run on texts of several lengths, and the bytes of every array in their
caches are added up. The record has the fields of each config and the bytes, so that tests can compare without the code.
"""

import argparse
import importlib
import inspect
import json
import logging
import os
import subprocess
import sys
import types
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from tools.pages import RECORDS, keep
from tools.real_caches import fields_of

from separatrix.capacities import bytes_at, describe

RECORD = RECORDS / "fla-caches.json"
LENGTHS = (3, 9)
WINDOW = {"layers": [1], "num_heads": 4, "num_kv_heads": 2, "window_size": 4}
ATTENTION = {"num_heads": 4, "num_kv_heads": 2}
CROSS = {"num_self_decoder_layers": 2, "cross_decoder_attn": ATTENTION}
MODELS: tuple[dict[str, Any], ...] = (
    {"model_type": "gla", "num_heads": 4, "num_kv_heads": 2, "use_short_conv": True, "attn": WINDOW},
    {"model_type": "gla", "num_heads": 2, "attn": [WINDOW, {"layers": [2], "num_heads": 4}]},
    {"model_type": "linear_attn", **ATTENTION},
    {"model_type": "delta_net", "num_heads": 2},
    {"model_type": "retnet", **ATTENTION, "use_short_conv": True},
    {"model_type": "gated_deltanet", "num_heads": 2, "num_v_heads": 4, "head_dim": 16},
    {"model_type": "kda", "num_heads": 2, "head_dim": 16},
    {"model_type": "comba", "num_heads": 2, "num_v_heads": 4, "head_dim": 16},
    {"model_type": "gated_deltaproduct", "num_heads": 2, "head_dim": 16, "num_householder": 2},
    {"model_type": "precond_gated_deltanet", "num_heads": 2, "num_v_heads": 4, "head_dim": 16},
    {"model_type": "precond_kda", "num_heads": 2, "head_dim": 16},
    {"model_type": "mom", "num_heads": 2, "head_dim": 16, "expand_v": 2.0},
    {"model_type": "mom", "num_heads": 2, "head_dim": 16, "shared_mem": False},
    {"model_type": "hgrn", "use_short_conv": True},
    {"model_type": "hgrn2", "expand_ratio": 16, "use_short_conv": True},
    {"model_type": "lightnet", "expand_ratio": 16, "use_short_conv": True},
    {"model_type": "gsa", **ATTENTION, "num_slots": 8, "use_short_conv": True},
    {"model_type": "raven", **ATTENTION, "num_slots": 16, "topk": 4},
    {"model_type": "rwkv6", "num_heads": 2},
    {"model_type": "rwkv7", "head_dim": 32},
    {"model_type": "mamba"},
    {"model_type": "mamba2", "head_dim": 16, "state_size": 16, "dtype": "float32"},
    {"model_type": "samba", "attn": WINDOW},
    {"model_type": "yoco", **CROSS, "self_decoder_attn": {"num_heads": 2, "head_dim": 16}},
    {"model_type": "yoco", **CROSS, "self_decoder_attn": {"type": "gated_retention", "num_heads": 2}},
    {"model_type": "yoco", **CROSS, "self_decoder_attn": {"type": "swa", "num_heads": 2, "window_size": 4}},
    {"model_type": "transformer", **ATTENTION},
    {"model_type": "transformer", **ATTENTION, "window_size": 4},
    {"model_type": "forgetting_transformer", **ATTENTION},
    {"model_type": "path_attn", **ATTENTION, "use_forget_gate": True},
    {"model_type": "wall_transformer", **ATTENTION, "use_scalar_gate": True},
    {"model_type": "nsa", "num_heads": 32, "num_kv_heads": 2, "head_dim": 16, "dtype": "float32"},
    {
        "model_type": "mla", "num_heads": 2, "kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 16, "v_head_dim": 16, "qk_head_dim": 24,
    },
)  # fmt: skip
NOT_RUN = {
    "abc": "Triton's interpreter does not run its kernels", "bitnet": "Triton's interpreter does not run its kernels",
    "mesa_net": "Triton's interpreter does not run its kernels",
    "parallax": "Triton's interpreter does not run its kernels",
    "moba": "needs flash-attn", "mamba3": "needs a GPU",
    "rodimus": "its code needs a residual that its own model does not pass on",
}  # fmt: skip
"""Types that are described from the code that was read and were not run."""


def attended(q: Any, k: Any, v: Any, causal: bool = True, window_size: tuple[int, int] = (-1, -1), **_: Any) -> Any:
    """Causal softmax attention in the place of flash-attn's."""
    import torch

    groups, queries, keys = q.shape[2] // k.shape[2], q.shape[1], k.shape[1]
    k, v = (each.repeat_interleave(groups, 2).float() for each in (k, v))
    scores = torch.einsum("bthd,bshd->bhts", q.float(), k)
    back = torch.arange(queries)[:, None] + keys - queries - torch.arange(keys)[None]
    seen = (back >= 0) & ((back <= window_size[0]) | (window_size[0] < 0))
    return torch.einsum("bhts,bshd->bthd", scores.masked_fill(~seen, -1e9).softmax(-1), v).to(q.dtype)


def interpret(checkout: Path) -> None:
    """Load the checkout with its kernels interpreted on the processor."""
    os.environ["TRITON_INTERPRET"] = "1"
    sys.path.insert(0, str(checkout))
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    tuner: Any = importlib.import_module("triton.runtime.autotuner").Autotuner
    tuner.do_bench = property(lambda _: lambda *_, **__: [1.0, 1.0, 1.0], lambda *_: None)
    # numpy refuses to make a number of an array of one entry, which Triton 3.6 requires.
    interpreter: Any = importlib.import_module("triton.runtime.interpreter")
    source = inspect.getsource(interpreter._patch_lang_tensor)
    exec(source.replace("int(self.handle.data)", "int(self.handle.data.reshape(-1)[0])"), interpreter.__dict__)
    stand_in: Any = types.ModuleType("flash_attn")
    stand_in.__spec__, stand_in.__version__ = ModuleSpec("flash_attn", None), "2.8.0"
    stand_in.flash_attn_func, stand_in.flash_attn_varlen_func = attended, None
    sys.modules["flash_attn"] = stand_in
    importlib.import_module("fla.models")


def types_of() -> list[str]:
    """All types of the checkout."""
    known: Any = importlib.import_module("fla.models")
    return sorted({each.model_type for each in vars(known).values() if getattr(each, "model_type", None)})


def arrays(kept: object) -> list[Any]:
    """The arrays in what a layer keeps."""
    if hasattr(kept, "element_size"):
        return [kept]
    inside: Any = kept.values() if isinstance(kept, dict) else kept if isinstance(kept, list | tuple) else ()
    return [found for each in inside for found in arrays(each)]


def measured(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a config and the bytes that a small model of it holds at each length."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = {"hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 64, "tie_word_embeddings": False}
    own = {**sizes, **{name: each for name, each in given.items() if name not in ("model_type", "dtype")}}
    config = AutoConfig.for_model(given["model_type"], **json.loads(json.dumps(own)))
    config.fuse_norm = False
    number_format = given.get("dtype", "bfloat16")
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, number_format)).eval()
    masked = given["model_type"] == "path_attn"  # without a mask it takes a text for one that is trained on
    held: dict[str, int] = {}
    for length in LENGTHS:
        mask = {"attention_mask": torch.ones(1, length, dtype=torch.long)} if masked else {}
        with torch.no_grad():
            cache = model(input_ids=torch.randint(0, 64, (1, length)), use_cache=True, **mask).past_key_values
        held[str(length)] = sum(
            each.numel() * each.element_size() for layer in cache.layers for each in arrays(layer.state)
        )
    fields = {name: each for name, each in fields_of(config).items() if name in own or name in KEPT}
    return {"fields": {**fields, "model_type": given["model_type"], "dtype": number_format}, "held": held}


KEPT = (
    "head_dim", "num_heads", "num_kv_heads", "num_v_heads", "expand_k", "expand_v", "expand_ratio", "use_short_conv",
    "conv_size", "state_size", "conv_kernel", "expand", "n_groups", "window_size", "num_memories", "shared_mem",
    "attn", "value_dim", "num_slots", "intermediate_size",
)  # fmt: skip
"""Fields of a file that decide what is kept, next to those that were given."""


def main(arguments: list[str] | None = None) -> int:
    """Run every model, print what it holds next to its card, and write the record; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("types", nargs="*")
    given = parser.parse_args(arguments)
    interpret(given.checkout)
    found: list[dict[str, Any]] = []
    differing = 0
    for model in MODELS:
        if given.types and model["model_type"] not in given.types:
            continue
        try:
            one = measured(model)
        except Exception as error:  # another package's code: report its message, and continue
            print(f"{model['model_type']:24} cannot be run: {type(error).__name__}: {str(error)[:160]}", flush=True)
            differing += 1
            continue
        found.append(one)
        card = {length: bytes_at(describe(one["fields"]), int(length)) for length in one["held"]}
        differing += card != one["held"]
        print(
            f"{model['model_type']:24} {'=' if card == one['held'] else f'DIFFERS, card {card}'}  {one['held']}",
            flush=True,
        )
    if not given.types:
        commit = subprocess.run(
            ["git", "-C", str(given.checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        ).stdout.strip()
        keep(RECORD.stem, {"commit": commit, "types": types_of(), "models": found})
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
