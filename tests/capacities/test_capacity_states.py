"""The states of config families against the caches of real modules of transformers and torch, after a forward pass."""

import copy
import json
import warnings

import pytest

from separatrix.capacities import capacity, describe, which_bounds
from separatrix.capacities.number_formats import part_bits
from separatrix.errors import SeparatrixError


def cache_numbers(values) -> int:
    """All numbers in nested containers of tensors."""
    if hasattr(values, "numel"):
        return values.numel()
    inner = values.values() if isinstance(values, dict) else values
    return sum(cache_numbers(each) for each in inner if hasattr(each, "numel") or isinstance(each, dict | list | tuple))


def tiny(kind: str, **sizes):
    """A small random model of transformers and the fields of its config file."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(vocab_size=32, **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(transformers, f"{kind}Model")(config).eval()
    return torch, transformers, model, json.loads(config.to_json_string())


def run_on(torch, model, length=12, **arguments):
    tokens = torch.arange(length).reshape(1, length) % 32
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model(tokens, use_cache=True, **arguments)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("Mamba", {"hidden_size": 8, "num_hidden_layers": 2, "state_size": 3, "conv_kernel": 4, "expand": 2}),
        ("Mamba", {"hidden_size": 8, "num_hidden_layers": 1, "state_size": 5, "conv_kernel": 3, "expand": 3}),
        (
            "Mamba2",
            {
                "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "expand": 2, "num_heads": 4, "head_dim": 8,
                "n_groups": 2, "conv_kernel": 4, "chunk_size": 8,
            },
        ),
    ],
)  # fmt: skip
def test_state_space_caches(kind, sizes):
    """The cache of transformers holds one input of the convolution more than is ever read again."""
    torch, _, model, fields = tiny(kind, **sizes)
    cache = run_on(torch, model).cache_params
    held = sum(cache_numbers([layer.conv_states, layer.recurrent_states]) for layer in cache.layers)
    described = describe(fields)
    (layer,) = described.layers
    convolution = next(part for part in layer.state if part.name == "convolution")
    channels = convolution.numbers // (sizes["conv_kernel"] - 1)
    assert held == described.state_numbers + channels * layer.count


def test_the_oldest_input_of_the_convolution_is_never_read_again():
    torch, _, model, _ = tiny("Mamba", hidden_size=8, num_hidden_layers=2, state_size=3)
    cache = run_on(torch, model).cache_params
    follow = torch.tensor([[7]])

    def answer(change):
        changed = copy.deepcopy(cache)
        for layer in changed.layers:
            change(layer)
        with torch.no_grad():
            return model(follow, cache_params=changed, use_cache=True).last_hidden_state

    def spoil(column):
        def change(layer):
            for states in layer.conv_states.values():
                states[..., column] += 5.0

        return change

    kept = answer(lambda layer: None)
    assert torch.equal(answer(spoil(0)), kept)
    assert not torch.equal(answer(spoil(1)), kept)


def test_sliding_window_cache():
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "sliding_window": 5,
    }  # fmt: skip
    torch, _, model, fields = tiny("Mistral", **sizes)
    cache = run_on(torch, model).past_key_values
    described = describe(fields)
    assert sum(cache_numbers([layer.keys, layer.values]) for layer in cache.layers) == described.state_numbers
    assert described.reach == 2 * 4


def test_nothing_beyond_the_reach_of_the_windows_matters():
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "sliding_window": 3,
    }  # fmt: skip
    torch, _, model, fields = tiny("Mistral", **sizes)
    reach = describe(fields).reach
    tokens = torch.arange(10).reshape(1, 10)
    with torch.no_grad():
        last = model(tokens).last_hidden_state[0, -1]
        for back in range(10):
            changed = tokens.clone()
            changed[0, -1 - back] = 20
            moved = not torch.allclose(model(changed).last_hidden_state[0, -1], last, atol=0, rtol=0)
            assert moved == (back <= reach)


def test_jamba_cache():
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 6, "num_attention_heads": 4,
        "num_key_value_heads": 2, "attn_layer_period": 4, "attn_layer_offset": 2, "num_experts": 2, "mamba_d_state": 4,
    }  # fmt: skip
    torch, _, model, fields = tiny("Jamba", **sizes)
    cache = run_on(torch, model).past_key_values
    described = describe(fields)
    mamba, attending = described.layers
    recurrent_layers = [layer for layer in cache.layers if hasattr(layer, "recurrent_states")]
    assert (mamba.count, attending.count) == (len(recurrent_layers), len(cache.layers) - len(recurrent_layers))
    held = sum(cache_numbers([layer.conv_states, layer.recurrent_states]) for layer in recurrent_layers)
    assert held == described.bounded_state_numbers + 32 * mamba.count
    assert described.state_numbers is None


HYBRIDS = {
    "Bamba": {
        "num_hidden_layers": 4, "attn_layer_indices": [1, 3], "mamba_n_heads": 4, "mamba_d_state": 4,
        "mamba_n_groups": 2, "mamba_d_conv": 3, "mamba_chunk_size": 8,
    },
    "FalconH1": {
        "num_hidden_layers": 2, "head_dim": 6, "mamba_n_heads": 4, "mamba_d_ssm": 24, "mamba_d_state": 4,
        "mamba_n_groups": 2, "mamba_d_conv": 3, "mamba_chunk_size": 8,
    },
    "GraniteMoeHybrid": {
        "num_hidden_layers": 4, "layer_types": ["mamba", "attention", "mamba", "mamba"], "mamba_n_heads": 4,
        "mamba_d_state": 4, "mamba_n_groups": 2, "mamba_d_conv": 3, "mamba_chunk_size": 8, "num_local_experts": 2,
        "num_experts_per_tok": 1, "shared_intermediate_size": 8,
    },
    "NemotronH": {
        "layers_block_type": ["mamba", "mlp", "attention", "mamba", "mlp"], "head_dim": 6, "ssm_state_size": 4,
        "mamba_num_heads": 4, "mamba_head_dim": 6, "n_groups": 2, "conv_kernel": 3, "chunk_size": 8,
    },
    "Qwen3Next": {
        "num_hidden_layers": 5, "head_dim": 8, "linear_key_head_dim": 4, "linear_value_head_dim": 6,
        "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_conv_kernel_dim": 3, "num_experts": 2,
        "num_experts_per_tok": 1, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8,
    },
    "Zamba2": {
        "num_hidden_layers": 4, "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid"], "n_mamba_heads": 4,
        "mamba_d_state": 4, "mamba_ngroups": 2, "mamba_d_conv": 3, "chunk_size": 8,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", HYBRIDS)
def test_caches_of_hybrids(kind):
    """What is kept at two lengths: what both have is the states, what is more at the longer one keys and values."""
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}
    torch, _, model, fields = tiny(kind, **sizes, **HYBRIDS[kind])
    described = describe(fields)
    recurrent_part, attending = described.layers
    # The cache holds one input of each convolution more than is read again.
    channels = next(part.numbers for part in recurrent_part.state if part.name == "convolution") // 2
    for length in (12, 17):
        layers = run_on(torch, model, length).past_key_values.layers
        # Layers of Nemotron-H that mix no positions have a place in the cache as well, with nothing in it.
        kept = [layer for layer in layers if cache_numbers([getattr(layer, "recurrent_states", [])])]
        assert len(kept) == recurrent_part.count
        held = sum(cache_numbers([layer.conv_states, layer.recurrent_states]) for layer in kept)
        assert held == described.bounded_state_numbers + channels * recurrent_part.count
        both = [layer for layer in layers if getattr(layer, "keys", None) is not None and layer.keys.numel()]
        assert len(both) == attending.count
        keys = 2 * length * attending.key_value_heads * attending.head_width
        assert all(cache_numbers([layer.keys, layer.values]) == keys for layer in both)
    assert described.state_numbers is None
    assert which_bounds(described)[0] == ()


BASE = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}
SIXTEEN_BITS = {
    "Mamba": {"hidden_size": 8, "num_hidden_layers": 2, "state_size": 3},
    "FalconMamba": {"hidden_size": 8, "num_hidden_layers": 2, "state_size": 3},
    "Mamba2": {
        "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "expand": 2, "num_heads": 4, "head_dim": 8,
        "n_groups": 2, "conv_kernel": 4, "chunk_size": 8,
    },
    "Jamba": {
        **BASE, "num_hidden_layers": 6, "attn_layer_period": 4, "attn_layer_offset": 2, "num_experts": 2,
        "mamba_d_state": 4,
    },
    **{kind: {**BASE, **sizes} for kind, sizes in HYBRIDS.items()},
    "RecurrentGemma": {
        "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2,
        "num_key_value_heads": 1, "lru_width": 24, "attention_window_size": 5, "conv1d_width": 4,
    },
    "Rwkv": {"hidden_size": 16, "num_hidden_layers": 2},
    "xLSTM": {"hidden_size": 128, "num_hidden_layers": 1, "num_heads": 4},
    "MiniMax": {
        **BASE, "num_hidden_layers": 4, "head_dim": 6, "block_size": 4, "num_local_experts": 2,
        "num_experts_per_tok": 1,
    },
}  # fmt: skip
NARROWER = ("xLSTM", "MiniMax")
"""Of these transformers keeps the states in the format of the weights; other code keeps float32, which is counted."""


def kept_in_sixteen_bits(kind: str, **more):
    """The arrays that a small model in bfloat16 keeps after some tokens and steps: running ones, and all others."""
    torch, transformers, model, fields = tiny(kind, **SIXTEEN_BITS[kind], **more)
    model = model.to(torch.bfloat16)
    given = {"past_key_values": transformers.DynamicCache(config=model.config)} if kind == "RecurrentGemma" else {}
    found = run_on(torch, model, **given)
    name = next(each for each in ("cache_params", "past_key_values", "state") if each in found or each in given)
    cache = given.get(name) or found[name]
    for token in (3, 5):
        with torch.no_grad():
            found = model(torch.tensor([[token]]), use_cache=True, **{name: cache})
        cache = found.get(name, cache)
    running, other = [], []
    if kind == "Rwkv":
        running, other = cache[2:], cache[:2]
    elif kind == "xLSTM":
        running = [each for layer in cache.rnn_state.values() for each in layer]
    elif kind == "MiniMax":
        running = [each for each in cache.linear_cache if hasattr(each, "numel")]
    elif kind == "RecurrentGemma":
        blocks = [layer.temporal_block for layer in model.layers if hasattr(layer.temporal_block, "rg_lru")]
        running = [block.rg_lru.recurrent_states for block in blocks]
        # The cache of the window has one position less than the reference implementation, which is counted.
        caches = [each for layer in cache.layers if layer.keys is not None for each in (layer.keys, layer.values)]
        other = [block.conv1d_state for block in blocks] + [torch.cat([each, each[:, :, :1]], 2) for each in caches]
    else:
        layers = [layer for layer in cache.layers if cache_numbers([getattr(layer, "recurrent_states", [])])]
        running = [each for layer in layers for each in layer.recurrent_states.values()]
        # The oldest input of a convolution is never read again.
        other = [each[..., 1:] for layer in layers for each in layer.conv_states.values()]
    return {**fields, "torch_dtype": "bfloat16"}, running, other


def in_bits(arrays) -> int:
    return sum(each.numel() * each.element_size() * 8 for each in arrays)


@pytest.mark.parametrize("kind", SIXTEEN_BITS)
def test_states_of_models_in_sixteen_bits(kind):
    """The bits that are counted are those of the arrays in the cache of a model that runs in bfloat16, or more."""
    fields, running, other = kept_in_sixteen_bits(kind)
    found = capacity(describe(fields), only=())
    parts = [(part.running, numbers * bits.bits) for part, numbers, bits in found.parts]
    assert running
    assert sum(bits for runs, bits in parts if not runs) == in_bits(other)
    counted = sum(bits for runs, bits in parts if runs)
    assert counted == (2 if kind in NARROWER else 1) * in_bits(running)
    assert found.bounded_state_bits == counted + in_bits(other)
    assert found.precision == 16
    assert all(each.element_size() == (2 if kind in NARROWER else 4) for each in running)


def test_formats_that_a_config_asks_for_its_states():
    """transformers does not follow Nemotron-H's field, so float32 counts and is said; xLSTM's field is followed."""
    fields, running, _ = kept_in_sixteen_bits("NemotronH", mamba_ssm_cache_dtype="bfloat16")
    assert fields["mamba_ssm_cache_dtype"] == "bfloat16"
    assert {each.element_size() for each in running} == {4}
    found = capacity(describe(fields), only=())
    assert {bits.bits for part, _, bits in found.parts if part.running} == {32}
    assert any("mamba_ssm_cache_dtype" in note for note in found.model.notes)
    fields, running, _ = kept_in_sixteen_bits("xLSTM", inference_state_dtype="bfloat16")
    found = capacity(describe(fields), only=())
    assert found.state_bits == in_bits(running)
    assert not found.guessed


WINDOWED = {
    "Gemma2": {"num_hidden_layers": 5, "query_pre_attn_scalar": 6},
    "Gemma3Text": {"num_hidden_layers": 7, "query_pre_attn_scalar": 6},
    "GptOss": {"num_hidden_layers": 5, "num_local_experts": 2, "num_experts_per_tok": 1},
}


@pytest.mark.parametrize("kind", WINDOWED)
def test_caches_of_windows_and_full_attention_in_turns(kind):
    """Which layers have a window is read from the list, and taken as transformers takes it where there is none."""
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
        "sliding_window": 5,
    }  # fmt: skip
    torch, _, model, fields = tiny(kind, **sizes, **WINDOWED[kind])
    described = describe(fields)
    assert fields["layer_types"]
    assert described.layers == describe({**fields, "layer_types": None}).layers
    local, full = described.layers
    for length in (12, 17):
        layers = run_on(torch, model, length).past_key_values.layers
        held = [cache_numbers([layer.keys, layer.values]) for layer in layers]
        assert sorted(held) == [local.state_numbers] * local.count + [2 * length * 2 * 6] * full.count
    assert described.bounded_state_numbers == local.count * 2 * 2 * 6 * 4
    assert which_bounds(described)[0] == ()
    with pytest.raises(SeparatrixError, match="sliding_window is null"):
        describe({**fields, "layer_types": None, "sliding_window": None})


def test_gemma3_files_hold_the_decoder_further_in():
    inner = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "sliding_window": 1024}
    outer = {"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": inner, "vision_config": {}}
    described = describe(outer)
    assert described.layers == describe(inner).layers
    sizes = [(layer.count, layer.head_width, layer.key_value_heads) for layer in described.layers]
    assert sizes == [(29, 256, 4), (5, 256, 4)]
    assert described.number_format == "bfloat16"


def test_deepseek_cache_grows():
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 4, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6,
        "v_head_dim": 5, "first_k_dense_replace": 2,
    }  # fmt: skip
    torch, _, model, fields = tiny("DeepseekV3", **sizes)
    (layer,) = describe(fields).layers
    assert (layer.kind, layer.count, layer.heads, layer.head_width) == ("attention", 2, 4, 6 + 4)
    held, longer = (
        [cache_numbers([each.keys, each.values]) for each in run_on(torch, model, length).past_key_values.layers]
        for length in (12, 24)
    )
    assert longer == [2 * each for each in held]


def test_minimax_cache():
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 5, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 6, "block_size": 4, "num_local_experts": 2, "num_experts_per_tok": 1,
    }  # fmt: skip
    torch, _, model, fields = tiny("MiniMax", **sizes)
    assert describe(fields).layers == describe({**fields, "layer_types": None}).layers
    linear, full = describe(fields).layers
    cache = run_on(torch, model).past_key_values
    held = [cache_numbers([each]) for each in cache.linear_cache if cache_numbers([each])]
    assert held == [linear.state_numbers] * linear.count == [4 * 6 * 6] * 2
    grown = [cache_numbers([layer.keys, layer.values]) for layer in cache.layers if layer.keys is not None]
    assert [each for each in grown if each] == [2 * 12 * full.key_value_heads * full.head_width] * full.count


def test_minimax_files_list_their_layers_by_numbers():
    """MiniMax-Text-01: seven layers of linear attention, then a full one, ten times."""
    released = {
        "model_type": "minimax_text_01", "hidden_size": 6144, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 128, "attn_type_list": ([0] * 7 + [1]) * 10,
    }  # fmt: skip
    linear, full = describe(released).layers
    assert (linear.count, full.count) == (70, 10)
    assert describe({**released, "model_type": "minimax"}).layers == (linear, full)
    names = ["full_attention" if each else "linear_attention" for each in released["attn_type_list"]]
    assert describe({**released, "layer_types": names}).layers == (linear, full)
    for change, said in (
        ({"attn_type_list": [0, 1]}, "attn_type_list lists 2 layers"),
        ({"layer_types": names[::-1]}, "name different layers"),
        ({"attn_type_list": [2] * 80}, "attn_type_list"),
    ):
        with pytest.raises(SeparatrixError, match=said):
            describe({**released, **change})


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("falcon_h1", {"mamba_d_ssm": 25}, "mamba_d_ssm / mamba_n_heads is 25/4"),
        ("granitemoehybrid", {"layer_types": ["mamba"]}, "layer_types lists 1 layer but num_hidden_layers is 4"),
        ("nemotron_h", {"num_hidden_layers": 4}, "lists 5 layers but num_hidden_layers is 4"),
        ("nemotron_h", {"layers_block_type": None}, "missing hybrid_override_pattern"),
        ("nemotron_h", {"layers_block_type": ["mlp"]}, "none that mixes positions"),
        ("nemotron_h", {"hybrid_override_pattern": "MX"}, "hybrid_override_pattern is 'MX'"),
        ("bamba", {"mamba_d_head": 9}, "mamba_d_head is 9"),
        ("qwen3_next", {"layer_types": ["full_attention"]}, "layer_types lists 1 layer "),
        ("zamba2", {"layers_block_type": ["hybrid"]}, "layers_block_type lists 1 layer "),
        ("zamba2", {"n_mamba_heads": 5}, "not whole"),
    ],
)
def test_hybrids_that_do_not_fit_together_are_refused(kind, change, said):
    sizes = {"model_type": kind, "hidden_size": 16, "num_attention_heads": 4}
    good = {**sizes, **next(each for name, each in HYBRIDS.items() if name.lower() == kind.replace("_", ""))}
    describe(good)
    with pytest.raises(SeparatrixError, match=said):
        describe({**good, **change})


@pytest.mark.parametrize(
    ("kind", "change", "kinds"),
    [
        ("bamba", {"attn_layer_indices": None}, [True]),
        ("bamba", {"attn_layer_indices": [0, 1, 2, 3]}, [False]),
        ("qwen3_next", {"layer_types": ["linear_attention"] * 4}, [True]),
        ("qwen3_next", {"layer_types": ["full_attention"] * 4}, [False]),
        ("zamba2", {"layers_block_type": ["mamba"] * 4}, [True]),
        ("granitemoehybrid", {"layer_types": None}, [True]),
        ("granitemoehybrid", {"layer_types": ["full_attention"] * 4}, [False]),
        ("nemotron_h", {"layers_block_type": None, "hybrid_override_pattern": "M-M-"}, [True]),
        ("nemotron_h", {"layers_block_type": None, "hybrid_override_pattern": "*-E-"}, [False]),
    ],
)
def test_hybrids_of_one_kind_of_layer(kind, change, kinds):
    """A hybrid's config may have no attention at all, or nothing else."""
    sizes = {"model_type": kind, "hidden_size": 16, "num_attention_heads": 4}
    good = {**sizes, **next(each for name, each in HYBRIDS.items() if name.lower() == kind.replace("_", ""))}
    described = describe({**good, "num_hidden_layers": 4, **change})
    assert [bool(layer.state) for layer in described.layers] == kinds


def test_no_name_is_no_model():
    with pytest.raises(SeparatrixError, match="no model was named; give the name of a preset"):
        describe("")


def test_recurrent_gemma_state():
    """transformers keeps one position of the window less than the reference implementation, which we count."""
    sizes = {
        "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2,
        "num_key_value_heads": 1, "lru_width": 24, "attention_window_size": 5, "conv1d_width": 4,
    }  # fmt: skip
    torch, transformers, model, fields = tiny("RecurrentGemma", **sizes)
    cache = transformers.DynamicCache(config=model.config)
    run_on(torch, model, past_key_values=cache)
    blocks = [layer.temporal_block for layer in model.layers]
    recurrent_blocks = [block for block in blocks if hasattr(block, "rg_lru")]
    linear, local = describe(fields).layers
    assert (linear.count, local.count) == (len(recurrent_blocks), len(blocks) - len(recurrent_blocks)) == (3, 1)
    for block in recurrent_blocks:
        assert cache_numbers([block.rg_lru.recurrent_states, block.conv1d_state]) == linear.state_numbers
    keys = next(layer.keys for layer in cache.layers if layer.keys is not None)
    assert 2 * keys.numel() * 5 // 4 == local.state_numbers


def test_rwkv_state():
    torch, _, model, fields = tiny("Rwkv", hidden_size=16, num_hidden_layers=2)
    assert cache_numbers(run_on(torch, model).state) == describe(fields).state_numbers


def test_xlstm_state():
    torch, _, model, fields = tiny("xLSTM", hidden_size=128, num_hidden_layers=2, num_heads=4)
    cache = run_on(torch, model).cache_params
    assert cache_numbers(cache.rnn_state) == describe(fields).state_numbers


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("extra", [{}, {"bidirectional": True}])
def test_torch_recurrent_states(kind, extra):
    torch = pytest.importorskip("torch")
    module = getattr(torch.nn, kind)(3, 7, num_layers=2, **extra)
    _, state = module(torch.zeros(4, 3))
    model = describe({"model_type": kind.lower(), "hidden_size": 7, "num_layers": 2, **extra})
    assert cache_numbers([state]) == model.state_numbers
    assert which_bounds(model)[0] == (() if extra else ("rnn",))


def test_projected_lstm():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it takes a slower path
        _, state = torch.nn.LSTM(3, 7, num_layers=2, proj_size=2)(torch.zeros(4, 3))
    described = describe({"model_type": "lstm", "hidden_size": 7, "num_layers": 2, "proj_size": 2})
    assert cache_numbers([state]) == described.state_numbers


@pytest.mark.parametrize(
    ("stated", "bits"),
    [
        ("complex64", 64), ("torch.complex128", 128), ("float128", 128), ("longdouble", 128), ("jnp.float64", 64),
        (" float64", 64), ("float32, float64", 64), ("cdouble", 128), ("float8_e4m3fn", 32), ("nf4", 32), ("auto", 32),
        ("tfloat32", 32), ("", 32), ("bfloat16 ", 32),
    ],
)  # fmt: skip
def test_a_running_state_never_has_fewer_bits_than_its_format_may_have(stated, bits):
    sizes = {"hidden_size": 8, "num_hidden_layers": 1}
    for kind in ("mamba", "gru"):
        model = describe({"model_type": kind, "torch_dtype": stated, **sizes})
        assert part_bits(model, model.layers[0].state[0]).bits == bits
    asked = describe({"model_type": "mamba", "dtype": "bfloat16", "mamba_ssm_dtype": stated, **sizes})
    assert part_bits(asked, asked.layers[0].state[0]).bits == bits
