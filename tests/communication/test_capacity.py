"""Config files and presets against the bounds: state counts by hand and against real caches, and what follows."""

import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.cli.app import run
from separatrix.communication.bounds import ModelSize, protocol_bounds
from separatrix.communication.capacity import (
    LayerDescription,
    ModelDescription,
    StatePart,
    attention,
    capacity,
    config_families,
    describe,
    local_attention,
    model_types,
    plain,
    presets,
    recurrent,
    which_bounds,
)
from separatrix.errors import SeparatrixError
from separatrix.tasks import tasks

# Sizes worked out by hand from the papers' equations, not from the code.
BY_HAND = {
    "mamba-130m": 24 * (1536 * 16 + 1536 * 3),
    "mamba-2.8b": 64 * (5120 * 16 + 5120 * 3),
    "falcon-mamba-7b": 64 * (8192 * 16 + 8192 * 3),
    "mamba2-2.7b": 64 * (80 * 64 * 128 + (5120 + 2 * 128) * 3),
    "codestral-mamba-7b": 64 * (128 * 64 * 128 + (8192 + 2 * 8 * 128) * 3),
    "rwkv-4-14b": 40 * (3 * 5120 + 2 * 5120),
    "rwkv-5-7b": 32 * (64 * 64 * 64 + 2 * 4096),
    "rwkv-6-14b": 61 * (64 * 64 * 64 + 2 * 4096),
    "rwkv-7-1.5b": 24 * (32 * 64 * 64 + 2 * 2048),
    "retnet-1.3b": 24 * 8 * 256 * 512,
    "retnet-7b": 32 * 16 * 256 * 432,
    "recurrentgemma-2b": 18 * (2560 + 3 * 2560) + 8 * (2 * 256 * 2048),
    "griffin-7b": 22 * (5632 + 3 * 5632) + 10 * (2 * 128 * 1024),
    "hawk-7b": 32 * (5632 + 3 * 5632),
    "mistral-7b-v0.1": 32 * 2 * 8 * 128 * 4095,
    "xlstm-7b": 32 * 8 * (256 * 512 + 256 + 1),
    "lstm-3-256": 3 * (256 + 256),
    "rnn-1-128": 128,
    "jamba-v0.1": None,
    "mamba2attn-2.7b": None,
    "bert-large": None,
    "gpt2": None,
    "gpt3": None,
    "llama-3-8b": None,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_state_numbers_by_hand(name):
    assert describe(name).state_numbers == BY_HAND[name]


def test_bounded_part_of_a_hybrid():
    assert describe("jamba-v0.1").bounded_state_numbers == 28 * (8192 * 16 + 8192 * 3)


def test_every_preset_has_a_source_and_passes_its_family(recwarn):
    assert {"bert-large", "gpt2", "gpt3", "mamba-2.8b", "mamba2-2.7b", "rwkv-4-14b", "jamba-v0.1"} <= set(presets())
    for preset in presets().values():
        model = preset.describe()
        assert len(preset.source) > 10, preset.name
        assert model.name == preset.name
        assert model.family in config_families()
        assert which_bounds(model)[1]
    assert not recwarn.list


def test_families_are_complete():
    for family in config_families().values():
        assert family.title and family.state and family.source and family.model_types
        assert all(model_types()[name] is family for name in family.model_types)


# The table "Model sizes" of SHT23, N, L, H as printed.
SLIDES = {"bert-large": (512, 24, 16, 1024, 64), "gpt2": (1024, 12, 12, 768, 64), "gpt3": (2048, 96, 96, 12288, 128)}


@pytest.mark.parametrize("name", SLIDES)
def test_model_sizes_of_the_slides(name):
    length, depth, heads, width, head_width = SLIDES[name]
    model = describe(name)
    (layer,) = model.layers
    assert (model.trained_length, model.depth) == (length, depth)
    assert (layer.heads, layer.width, layer.head_width) == (heads, width, head_width)


# --- the formulas against the caches of real modules ---------------------------------------------------------------


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
        import copy

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


# --- spellings --------------------------------------------------------------------------------------------------------


def test_spellings_of_one_model_agree():
    original = {"d_model": 768, "n_layer": 24, "vocab_size": 50277, "ssm_cfg": {}}
    converted = {"model_type": "mamba", "hidden_size": 768, "num_hidden_layers": 24, "d_inner": 160, "d_model": 2048,
                 "state_size": 16, "intermediate_size": 1536, "ssm_cfg": {}}  # fmt: skip
    assert describe(original).layers == describe(converted).layers
    two = {"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64, "num_heads": 80, "head_dim": 64,
           "n_groups": 1, "time_step_limit": [0.0, float("inf")]}  # fmt: skip
    assert describe(two).layers == describe("mamba2-2.7b").layers
    retention = {"model_type": "retnet", "hidden_size": 2048, "num_hidden_layers": 24, "num_heads": 8}
    assert describe(retention).layers == describe("retnet-1.3b").layers
    heads = {"model_type": "rwkv6", "hidden_size": 4096, "num_hidden_layers": 32, "num_heads": 64}
    assert describe(heads).layers == describe("rwkv-6-7b").layers


def test_windows():
    fields = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "sliding_window": 8}
    assert describe({"model_type": "mistral", **fields}).reach == 4 * 7
    assert describe({"model_type": "mistral", **fields, "sliding_window": None}).state_numbers is None
    assert describe({"model_type": "qwen2", **fields, "use_sliding_window": False}).state_numbers is None
    partly = describe({"model_type": "qwen2", **fields, "use_sliding_window": True, "max_window_layers": 3})
    assert [(layer.kind, layer.count) for layer in partly.layers] == [("attention", 3), ("local-attention", 1)]
    mixed = describe({"model_type": "llama", **fields, "layer_types": ["sliding_attention", "full_attention"] * 2})
    assert {(layer.kind, layer.count) for layer in mixed.layers} == {("attention", 2), ("local-attention", 2)}
    del fields["sliding_window"]
    assert describe({"model_type": "mistral", **fields}).reach == 4 * 4095, "the default of transformers"
    assert describe({"model_type": "mixtral", **fields}).reach is None


def test_layers_described_by_hand():
    entries = [
        {"kind": "recurrent", "state_numbers": 100, "count": 6},
        {"kind": "local-attention", "heads": 2, "head_width": 8, "window": 4},
    ]
    model = describe({"model_type": "layers", "layers": entries})
    assert model.state_numbers == 6 * 100 + 2 * 2 * 8 * 4
    assert which_bounds(model)[0] == ("rnn",)
    entries.append({"kind": "attention", "heads": 2, "head_width": 8})
    assert which_bounds(describe({"model_type": "layers", "layers": entries}))[0] == ()


# --- which bounds, and what they say ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "passes", "classes", "word"),
    [
        ((recurrent("x", 4, StatePart("h", 4, "4"), count=3),), 1, ("rnn",), "all its 3 layers"),
        ((recurrent("x", 4, StatePart("h", 4, "4")),), 2, (), "read 2 times"),
        ((local_attention(16, 2, 8, 4, count=2),), 1, ("rnn",), "bounded window"),
        ((local_attention(16, 2, 8, 4),), 1, ("rnn", "transformer-1layer"), "Theorem 4"),
        ((attention(16, 2, 8),), 1, ("transformer-1layer",), "one-layer"),
        ((attention(16, 2, 8, count=2),), 1, (), "13.1"),
        ((attention(16, 2, 8), recurrent("x", 4, StatePart("h", 4, "4"))), 1, (), "1 of 2 layers"),
        ((LayerDescription(kind="attention", name="third order", width=16),), 1, (), "not by the softmax"),
    ],
)
def test_which_bounds_apply(layers, passes, classes, word):
    model = ModelDescription(name="x", family="x", layers=layers, passes=passes)
    found, reason = which_bounds(model)
    assert found == classes
    assert word in reason
    limits = capacity(model, only=("index-lookup", "inequality")).limits
    assert {limit.model for limit in limits if limit.scope == "model"} == set(classes)
    assert any(limit.scope == "one layer alone" for limit in limits) == (word == "13.1")


def limits_of(found, scope="model"):
    return {limit.task: limit for limit in found.limits if limit.scope == scope and limit.bound != "reach"}


def test_the_papers_own_example():
    """BHBK24 §6: one layer, 128 numbers of 64 bits, the bound applies at lengths over 8k."""
    found = limits_of(capacity(describe("rnn-1-128"), precision=64, alphabet=2))
    assert found["index-lookup"].longest == 8192
    assert found["index-lookup"].first_impossible == 8193


@given(st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_index_lookup_against_counting(numbers, precision, power):
    """2^k symbols, N of them: the state must tell 2^(kN) texts apart, so kN ≤ bits is all that is open."""
    model = ModelDescription(name="x", family="x", layers=(recurrent("x", 1, StatePart("h", numbers, "")),))
    found = limits_of(capacity(model, precision, alphabet=2**power, only=["index-lookup"]))["index-lookup"]
    assert found.longest == numbers * precision // power


def test_every_bound_of_recurrent_models_is_used():
    named = {task for bound in protocol_bounds(model="rnn") for task in bound.task_names}
    assert {
        "index-lookup",
        "associative-recall",
        "mqar",
        "nearest-neighbour",
        "inequality",
        "sparse-averaging",
    } <= named
    assert set(limits_of(capacity(describe("mamba-130m")))) == named


def test_limits_are_tight_and_inflation_shows():
    """At the longest length the bound holds, one step further it does not; an inflated bound gives another length."""
    model = describe("rwkv-4-169m")
    size = ModelSize(width=model.state_numbers, precision=16)
    for bound in protocol_bounds(model="rnn"):
        for name in bound.task_names:
            task = tasks()[name]
            longest = bound.longest_length(size, task)
            assert longest is not None and longest > 0
            assert bound.possible(longest, size, task)
            assert not bound.possible(longest + task.length_step, size, task)
            assert bound.inflated(2).longest_length(size, task) < longest


def test_more_bits_never_make_a_task_impossible_sooner():
    model = describe("lstm-3-256")
    few, many = (limits_of(capacity(model, precision)) for precision in (16, 32))
    assert all(few[task].longest <= many[task].longest for task in few)


def test_local_attention_has_a_reach():
    found = capacity(describe("mistral-7b-v0.1"), length=200_000)
    reach = next(limit for limit in found.limits if limit.bound == "reach")
    assert reach.first_impossible == 32 * 4095 + 1
    assert reach.impossible_at_length
    assert not limits_of(found)["index-lookup"].impossible_at_length


def test_one_layer_of_the_slides_models():
    """What SHT23's table invites to compare: one layer by itself, never the whole model."""
    for name in SLIDES:
        found = capacity(describe(name))
        assert not [limit for limit in found.limits if limit.scope == "model"]
        alone = limits_of(found, "one layer alone")
        assert {"dyck", "inequality", "match3"} <= set(alone)
        (layer,) = found.model.layers
        size = ModelSize(width=layer.head_width, precision=16, heads=layer.heads)
        for task, limit in alone.items():
            bounds = protocol_bounds(task, "transformer-1layer")
            known = [bound.longest_length(size, tasks()[task]) for bound in bounds]
            assert limit.longest == min((n for n in known if n is not None), default=None)


def test_length_is_rounded_to_the_task():
    found = limits_of(capacity(describe("lstm-3-256"), length=1001))
    assert found["inequality"].at_length == 1000
    assert found["index-lookup"].at_length == 1001
    assert found["index-lookup"].needed_bits == 6006
    assert found["index-lookup"].available_bits == 1536 * 16
    assert not found["index-lookup"].impossible_at_length


def test_plain_data_is_json():
    data = json.loads(json.dumps(plain(capacity(describe("recurrentgemma-2b"), length=10**9))))
    assert data["state_bits"] == BY_HAND["recurrentgemma-2b"] * 16
    assert data["bounds_apply"] == ["rnn"]
    assert all(limit["impossible_at_length"] for limit in data["limits"])
    assert sum(layer["state_bits"] * layer["count"] for layer in data["layers"]) == data["state_bits"]


# --- bad input --------------------------------------------------------------------------------------------------------

GOOD = {"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 2}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden_size": -8}, ["hidden_size is -8", "greater than 0"]),
        ({"hidden_size": 8.5}, ["hidden_size is 8.5", "integer"]),
        ({"hidden_size": "8"}, ["hidden_size is '8'", "integer"]),
        ({"hidden_size": True}, ["hidden_size is True", "integer"]),
        ({"hidden_size": None, "num_hidden_layers": [1] * 100}, ["hidden_size is None", "num_hidden_layers is [1"]),
        ({"num_hidden_layers": 10**30}, ["num_hidden_layers", "less than"]),
        ({"expand": 0.3}, ["expand × hidden_size is 2.4", "whole"]),
        ({"expand": float("inf")}, ["expand is inf"]),
        ({"model_type": "mabma"}, ["unknown model_type 'mabma'", "nearest: mamba", "known: ", "by hand"]),
        ({"model_type": 7}, ["unknown model_type '7'"]),
        ({"model_type": None}, ["model_type is missing", "known: bert"]),
        ({"model_type": "llama"}, ["missing num_attention_heads"]),
        ({"model_type": "jamba"}, ["missing num_attention_heads, attn_layer_period, attn_layer_offset"]),
        ({"model_type": "retnet", "num_heads": 3}, ["keys / heads is 8/3"]),
        ({"model_type": "retnet", "num_heads": 2, "attn": {"layers": [1]}}, ["attn is {'layers'"]),
        ({"model_type": "mamba2", "num_heads": 3, "head_dim": 5}, ["expand × hidden_size is 16", "15"]),
        ({"model_type": "gru", "proj_size": 2}, ["proj_size 2 is only for an lstm"]),
        ({"model_type": "layers"}, ["missing layers"]),
        ({"model_type": "layers", "layers": [{"kind": "magic"}]}, ["layers.0", "magic"]),
        ({"model_type": "layers", "layers": [{"kind": "recurrent", "state_numbers": 0}]}, ["greater than 0"]),
        ({"model_type": "recurrent_gemma", "num_attention_heads": 2, "block_types": []}, ["block_types is empty"]),
    ],
)
def test_bad_fields_end_in_one_line(change, words):
    with pytest.raises(SeparatrixError) as caught:
        describe({**GOOD, **change})
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 700
    for word in words:
        assert word in text, text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", ["is not JSON"]),
        (b"\xff\xfe\x00", ["is not JSON"]),
        (b"[1, 2]", ["holds a list"]),
        (b"3", ["holds a number"]),
        (b"null", ["holds null"]),
        (b"[" * 100_000, ["is not JSON", "nested"]),
        (b'{"hidden_size": ' + b"9" * 10_000 + b"}", ["is not JSON"]),
        (b" " * (5 << 20), ["larger than 4 MiB"]),
        (b"{}", ["model_type is missing"]),
    ],
)
def test_bad_files_end_in_one_line(tmp_path, capsys, content, words):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    refused(capsys, [str(path)], *words)


def refused(capsys, arguments, *words):
    capsys.readouterr()
    assert run(["capacity", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    for word in words:
        assert word in captured.err, captured.err


def test_other_bad_arguments(tmp_path, capsys):
    refused(capsys, [str(tmp_path)], "is a folder", "config.json")
    refused(capsys, [str(tmp_path / "none.json")], "cannot read", "No such file")
    refused(capsys, ["/dev/zero"], "not a file")
    refused(capsys, ["mamba-131m"], "unknown preset", "nearest: mamba-130m", "config.json")
    refused(capsys, ["x" * 5000], "unknown preset")
    refused(capsys, ["a/\0b"], "cannot read")
    refused(capsys, ["gpt2", "--precision", "0"], "precision 0")
    refused(capsys, ["gpt2", "--precision", "-3"], "precision -3")
    refused(capsys, ["gpt2", "--length", "0"], "length 0")
    refused(capsys, ["gpt2", "--alphabet", "1"], "alphabet")
    refused(capsys, ["gpt2", "--task", "index-lookpu"], "unknown task", "nearest: index-lookup")
    refused(capsys, ["Nothing-(1,2)"], "unknown architecture")


# --- the verb and the atlas -------------------------------------------------------------------------------------------


def test_verb_on_a_file(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert run(["capacity", str(path), "--precision", "8", "--length", "500", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["state_bits"] == 2 * (16 * 16 + 16 * 3) * 8
    assert data["provenance"]["arithmetic"] == "integers"
    found = {limit["task"]: limit for limit in data["limits"]}
    assert found["index-lookup"]["longest_possible"] == data["state_bits"] // 6
    assert found["index-lookup"]["impossible_at_length"] is False
    assert found["index-lookup"]["needed_bits"] == 3000


@pytest.mark.parametrize("name", ["mamba-130m", "recurrentgemma-9b", "gpt3", "jamba-v0.1", "mistral-7b-v0.1"])
def test_verb_prints_tables(capsys, name):
    assert run(["capacity", name, "--length", "1000000"]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert ("How to read this" in out) == (name != "jamba-v0.1")
    assert ("No bound applies" in out) == (name in ("gpt3", "jamba-v0.1"))


def test_verb_lists_what_it_knows(capsys):
    assert run(["capacity", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {entry["name"] for entry in data["presets"]} == set(presets())
    assert run(["capacity"]) == 0
    assert all(name in capsys.readouterr().out.replace("\n", " ") for name in ("jamba-v0.1",))


def test_verb_on_this_packages_models(capsys):
    """A one-layer Transformer of width 64: Theorem 4 with m = 64; its Mamba keeps inner × (16 + 3) numbers."""
    pytest.importorskip("torch")
    assert run(["capacity", "TF-(1,64)", "--task", "dyck", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["bounds_apply"] == ["transformer-1layer"]
    assert [(limit["task"], limit["scope"]) for limit in data["limits"]] == [("dyck", "model")]
    assert run(["capacity", "Mamba-(6,256)", "--json", "--task", "index-lookup"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["state_numbers"] == 6 * 512 * (16 + 3)
    assert data["limits"][0]["longest_possible"] == data["state_bits"] // 6


def test_a_file_named_like_a_preset_needs_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gpt2").write_text(json.dumps(GOOD), encoding="utf-8")
    assert describe("gpt2").family == "gpt2"
    assert describe("./gpt2").family == "mamba"


def test_atlas_section():
    from separatrix.atlas.sections.capacity import SECTION

    words: list[str] = []
    results = SECTION.collect(words.append)
    assert len(words) == SECTION.units == len(results["rows"]) == SECTION.table(results).row_count
    json.dumps(results)
    rows = {row["model"]: row for row in results["rows"]}
    assert rows["mamba-130m"]["first_impossible"]["index-lookup"] == BY_HAND["mamba-130m"] * 16 // 6 + 1
    assert rows["mistral-7b-v0.1"]["first_impossible"]["index-lookup"] == 32 * 4095 + 1, "the reach comes first"
    assert rows["jamba-v0.1"]["first_impossible"] == {}
    page = SECTION.body(results)
    assert all(f'id="capacity-{name}"' in page for name in presets())
