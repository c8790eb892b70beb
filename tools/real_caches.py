"""What real models hold in memory, next to what the card says: every causal type of ``transformers``.

    python -m tools.real_caches             the comparison: families × bytes at three lengths
    python -m tools.real_caches --accepted  which types are accepted, and by which family
    python -m tools.real_caches --record    both, into docs/records/real-caches.json, which docs/capacity.md shows

A small random model is made from the config class of each type and run on texts of several lengths; the bytes of every
array in what it keeps are added up with their formats. Small integers that count tokens are left out: they are
the same for every model, and the theory gives every model the count of tokens read.
"""

import argparse
import json
import logging
import sys
import warnings
from typing import Any

from tools.pages import keep, markdown_table, recorded

from separatrix.models.measured import kept, size

SMALL: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 6, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "n_embd": 32, "n_layer": 6, "n_head": 4, "d_model": 32,
    "encoder_layers": 1, "decoder_layers": 3, "encoder_attention_heads": 2, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "ffn_dim": 16, "attention_heads": 4, "word_embed_proj_dim": 32,
    "embedding_size": 32, "num_experts": 2, "num_local_experts": 2, "n_routed_experts": 2, "num_experts_per_tok": 1,
    "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "sliding_window": 5, "n_group": 1,
    "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1, "num_dense_layers": 1,
    "max_position_embeddings": 64, "n_positions": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "is_decoder": True, "kv_lora_rank": 12, "q_lora_rank": 16, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8,
    "v_head_dim": 6, "index_head_dim": 16, "index_n_heads": 2, "index_topk": 4, "rotary_dim": 4,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 4, "linear_value_head_dim": 6,
    "linear_conv_kernel_dim": 4, "linear_head_dim": 8, "linear_num_heads": 4, "indexer_n_heads": 2,
    "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 8, "indexer_compress_ratio": 4, "mamba_n_heads": 4,
    "mamba_d_state": 4, "mamba_n_groups": 2, "mamba_d_conv": 3, "mamba_chunk_size": 8, "ssm_state_size": 4,
    "mamba_num_heads": 4, "mamba_head_dim": 6, "n_groups": 2, "conv_kernel": 3, "chunk_size": 8, "n_mamba_heads": 4,
    "mamba_ngroups": 2, "mamba_d_ssm": 24, "num_heads": 4, "state_size": 4, "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 64, "o_lora_rank": 8, "o_groups": 2, "hc_mult": 2, "zero_expert_num": 1,
    "expert_ffn_hidden_size": 16, "ffn_hidden_size": 32, "moe_topk": 1, "dim_head": 8, "num_encoder_layers": 3,
    "num_decoder_layers": 3, "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "num_codebooks": 2,
    "ple_embed_dim": 8, "prompt_length": 7, "embedding_dim": 32, "num_expert_group": 1, "attention_chunk_size": 5,
    "attention_window_size": 5, "lru_width": 24,
}  # fmt: skip
"""Sizes that are given to a config class where it has the field."""

LATENT = {"num_key_value_heads": 4, "head_dim": 4}
CONVOLUTIONS = {"layer_types": ["conv", "conv", "full_attention"] * 2}
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
OWN: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        (
            "axk1", "axk2", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "hy_v4",
            "kimi_linear", "minicpm3", "youtu",
        ),
        LATENT,
    ),
    "bailing_hybrid": {**LATENT, "head_dim": 4},
    "longcat_flash": {**LATENT, "num_layers": 3, "moe_topk": 2, "num_experts_per_tok": 2, "n_routed_experts": 4},
    "beam": {"num_experts": 8, "n_group": 2, "topk_group": 2},
    "deepseek_v4": {
        "num_key_value_heads": 1, "head_dim": 16,
        "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 8},
    },
    "gpt_neo": {
        "num_hidden_layers": 4, "num_layers": 4, "attention_types": [[["global", "local"], 2]], "window_size": 5,
    },
    "lfm2": CONVOLUTIONS, "lfm2_moe": CONVOLUTIONS,
    "mamba2": {"num_heads": 8, "head_dim": 8, "expand": 2},
    "xlstm": {"hidden_size": 128, "embedding_dim": 128, "num_heads": 4, "head_dim": None, "num_hidden_layers": 2},
    "zamba2": {"layers_block_type": ["linear_attention", "hybrid"] * 2, "num_hidden_layers": 4},
    "nemotron_h": {"layers_block_type": ["mamba", "moe", "attention", "mamba", "mlp"], "sliding_window": None},
    "gemma3n_text": {
        "num_hidden_layers": 10, "num_kv_shared_layers": 4, "laurel_rank": 4, "activation_sparsity_pattern": None,
        "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 2,
    },
    "gemma4_text": {"num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 3},
    "gemma4_unified_text": {"layer_types": ["sliding_attention", "full_attention"] * 3},
    "bamba": {"attn_layer_indices": [1, 3]},
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention", "linear_attention"] * 2},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"] * 3,
        "rope_parameters": {"full_attention": ROPE, "sliding_attention": ROPE},
    },
    "zamba": {
        "attn_layer_period": 3, "attn_layer_offset": 2, "n_mamba_heads": 2, "attention_head_dim": 16,
        "attention_hidden_size": 64,
    },
    "minimax": {"sliding_window": None},
    "minimax_m3_vl_text": {"layer_types": ["full_attention", "minimax_m3_sparse"] * 3},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "phi4_multimodal": {"vision_config": None, "audio_config": None},
    "jamba": {"attn_layer_period": 3, "attn_layer_offset": 1},
    "doge": {"sliding_window": 5},
    "reformer": {
        "attn_layers": ["local", "lsh"], "axial_pos_embds": False, "lsh_attn_chunk_length": 4, "num_hashes": 3,
        "num_hidden_layers": 2, "local_attn_chunk_length": 4, "attention_head_size": 8, "feed_forward_size": 16,
    },
}  # fmt: skip
"""Sizes of single types: what their code needs, and layers of every kind that they have."""

INSIDE = "its decoder, which is another type, is compared"
NOT_BUILT: dict[str, str] = {
    **dict.fromkeys(
        (
            "gemma3", "gemma3n", "gemma4", "gemma4_unified", "llama4", "qwen3_5", "qwen3_5_moe", "qwen4_exp",
            "mllama", "fuyu", "got_ocr2", "emu3", "moss_transcribe_diarize", "musicgen", "musicgen_melody",
        ), INSIDE,
    ),
    **dict.fromkeys(("gemma4_assistant", "gemma4_unified_assistant"), "reads the cache of another model"),
    "dbrx": "transformers 5.22 cannot make it from a config: its attn_config lacks rope_theta",
    "blt": "made of four models of its own, with patches of bytes in place of tokens",
    "git": "needs an image model of fixed size",
    "phi4_multimodal": "needs an image and a sound model of fixed size",
    "xlnet": "hands out its memory under a name of its own; another test runs it",
}  # fmt: skip
"""Types that no small model is made of, and why."""
EXCEPTIONS: dict[str, str] = {
    "recurrent_gemma": "transformers keeps one position less in a window than google-deepmind/recurrentgemma masks "
    "(q ≤ k + window), so the reference is counted",
}
"""Types whose card differs from what is held, and why."""


def types() -> list[str]:
    """All causal types of transformers."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def built_types() -> list[str]:
    """Those that small models are made of."""
    return [each for each in types() if each not in NOT_BUILT]


def config_of(kind: str, **given: object) -> Any:
    """A small config, with other sizes where they are given."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    made = CONFIG_MAPPING[kind]
    plain = made()
    known = {*plain.to_dict(), *getattr(plain, "attribute_map", {})}
    return made(**{**{name: size for name, size in SMALL.items() if name in known}, **OWN.get(kind, {}), **given})


def fields_of(config: Any) -> dict[str, Any]:
    """The fields of the file that a config is saved in, of a model in bfloat16."""
    return {**json.loads(config.to_json_string(use_diff=False)), "dtype": "bfloat16"}


def made_model(kind: str, config: Any) -> Any:
    """A small random model in bfloat16."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    AutoModelForCausalLM._model_mapping[type(config)]
    with torch.device("meta"):
        numbers = sum(each.numel() for each in AutoModelForCausalLM.from_config(config).parameters())
    if numbers > 3e7:
        raise ValueError(f"{kind} has {numbers:,} weights; give it smaller sizes in OWN")
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()


def measured(model: Any, lengths: tuple[int, ...]) -> dict[int, int]:
    """The bytes that a model holds after each of these numbers of tokens, each of them read at once."""
    return {length: size(kept(model, length)) for length in lengths}


def compare(kind: str, lengths: tuple[int, ...] = (3, 12, 17)) -> tuple[str, dict[int, tuple[int, int]]]:
    """The family of a type, and for each length the bytes that are held and those of the card."""
    from separatrix.capacities import describe
    from separatrix.capacities.held_bytes import bytes_at

    config = config_of(kind)
    described = describe(fields_of(config))
    held = measured(made_model(kind, config), lengths)
    return described.family, {length: (each, bytes_at(described, length)) for length, each in held.items()}


def accepted() -> dict[str, str]:
    """For each type the family that reads the file of its config class, or the line that refuses it."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from separatrix.capacities import describe
    from separatrix.capacities.catalog import inside, refused_types
    from separatrix.capacities.fields import INNER_FIELDS
    from separatrix.errors import SeparatrixError

    found: dict[str, str] = {}
    for kind in types():
        try:
            # Some classes have defaults that no model could be made of; small sizes fit together.
            inner = inside().get(kind, "gemma4_text" if kind.endswith("_assistant") else "")
            if kind in refused_types():
                fields: dict[str, Any] = {"model_type": kind}
            elif inner in CONFIG_MAPPING:
                own = config_of(inner)
                fields = {"model_type": kind, INNER_FIELDS["musicgen" in kind]: fields_of(own)}
            else:
                fields = fields_of(CONFIG_MAPPING[kind]() if kind in NOT_BUILT else config_of(kind))
            found[kind] = describe(fields).family
        except SeparatrixError as error:
            found[kind] = f"refused: {error}"
    return found


def transformers_version() -> str:
    """The version that the numbers are about."""
    import transformers

    return str(transformers.__version__)


def type_section() -> str:
    """Which types are read and how each family was checked, from the records of this tool and of ``fla_caches``."""
    from separatrix.capacities import model_types
    from separatrix.capacities.catalog import inside, refused_types

    record, other = recorded("real-caches"), recorded("fla-caches")
    taken = {kind: family for kind, family in record["accepted"].items() if not family.startswith("refused")}
    linear = [kind for kind in other["types"] if kind not in refused_types()]
    run = {each["fields"]["model_type"] for each in other["models"]}
    families: dict[str, tuple[list[str], list[str]]] = {}
    for kind, family in taken.items():
        families.setdefault(family, ([], []))[0].append(kind)
    for kind in linear:
        families.setdefault(model_types()[kind].name, ([], []))[1].append(kind)
    rows: list[list[str]] = []
    for family, (ours, theirs) in sorted(families.items()):
        first = next((kind for kind in ours if kind in record["held"]), "")
        sizes = record["held"].get(first) or next(
            (each["held"] for each in other["models"] if each["fields"]["model_type"] in theirs), {}
        )
        shown = [f"{kind}{'' if kind in record['held'] else ' °'}" for kind in ours]
        shown += [f"*{kind}*{'' if kind in run else ' °'}" for kind in theirs]
        rows.append(
            [f"`{family}`", ", ".join(shown), "; ".join(f"{at}: {size:,}" for at, size in sizes.items()) or "–"]
        )
    why = [[f"`{kind}`", text] for kind, text in refused_types().items()]
    nested = sum(kind in inside() for kind in taken if kind not in record["held"])
    return "\n".join(
        [
            f"Of {len(record['accepted'])} causal types of transformers {record['transformers']} {len(taken)} are read."
            f" Small models of {len(record['held'])} of them were run, and their caches held exactly the bytes of the"
            f" card, but for one exception (below). Of {len(other['types'])} types of flash-linear-attention (commit "
            f"{other['commit'][:7]}, in italics) {len(linear)} are read; {len(other['models'])} small models of "
            f"{len(run)} types were run and held exactly the bytes of the card. ° was not run: {nested} types of "
            "transformers contain a decoder of another type, the others are described from their source code. The "
            "last column has the bytes that the first model of a row held, by tokens.",
            "",
            markdown_table(["family", "types", "bytes held = bytes of the card"], rows, left=3),
            "",
            markdown_table(["type that is not described", "why"], why, left=2),
        ]
    )


def quiet() -> None:
    """No warnings of transformers."""
    logging.getLogger("transformers").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")


def main(arguments: list[str] | None = None) -> int:
    """Print one of the tables; exit code 1 where something differs that is not an exception."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accepted", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("types", nargs="*")
    given = parser.parse_args(arguments)
    quiet()
    import torch

    torch.set_num_threads(1)  # the models are too small for several
    if given.accepted:
        found = accepted()
        refused = {kind: text for kind, text in found.items() if text.startswith("refused")}
        for kind, text in found.items():
            print(f"{kind:28} {text[:120]}")
        print(f"{len(found) - len(refused)} of {len(found)} types are accepted")
        return 0
    if given.record:
        held = {kind: {str(length): each for length, (each, _) in compare(kind)[1].items()} for kind in built_types()}
        keep("real-caches", {"transformers": transformers_version(), "accepted": accepted(), "held": held})
        return 0
    differing = 0
    for kind in given.types or built_types():
        try:
            family, found = compare(kind)
        except Exception as error:
            print(f"{kind:24} cannot be compared: {type(error).__name__}: {str(error)[:200]}")
            differing += 1
            continue
        same = all(held == ours for held, ours in found.values())
        differing += not same and kind not in EXCEPTIONS
        cells = "  ".join(
            f"{length}: {held:,}" + ("" if held == ours else f" (card {ours:,})")
            for length, (held, ours) in found.items()
        )
        print(f"{kind:24} {family:18} {'=' if same else 'exception' if kind in EXCEPTIONS else 'DIFFERS'}  {cells}")
    for kind, why in {**NOT_BUILT, **EXCEPTIONS}.items():
        if not given.types:
            print(f"{kind:24} {why}")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
