"""Config files and presets against the bounds: state counts by hand and against real caches, and what follows."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.fla_caches import RECORD

from separatrix.answer import plain
from separatrix.bounds import FIXED, ModelSize, numbers_named, protocol_bounds
from separatrix.capacities import (
    LayerDescription,
    ModelDescription,
    StatePart,
    attention,
    bytes_at,
    capacity,
    capacity_record,
    cited,
    config_families,
    describe,
    model_types,
    presets,
    recurrent,
    which_bounds,
)
from separatrix.capacities.layers import local_attention
from separatrix.capacities.report import BOUNDED
from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks

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


@pytest.mark.parametrize(
    ("config", "kinds"),
    [
        ({"model_type": "jamba", "attn_layer_period": 1, "attn_layer_offset": 0}, ["attention"]),
        ({"model_type": "jamba", "attn_layer_period": 8, "attn_layer_offset": 7}, ["recurrent"]),
        ({"model_type": "recurrent_gemma", "block_types": ["attention"]}, ["local-attention"]),
        ({"model_type": "recurrent_gemma", "block_types": ["recurrent"]}, ["recurrent"]),
        ({"model_type": "mamba", "attn_layer_idx": [0, 1], "attn_cfg": {"num_heads": 2}}, ["attention"]),
        ({"model_type": "minimax", "layer_types": ["full_attention"] * 2}, ["attention"]),
        ({"model_type": "minimax", "layer_types": ["linear_attention"] * 2}, ["recurrent"]),
    ],
)
def test_a_hybrid_may_have_one_kind_of_layer_only(config, kinds):
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    described = describe({**sizes, **config})
    assert [layer.kind for layer in described.layers] == kinds
    assert described.depth == 2


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


def test_spellings_of_one_model_agree():
    original = {"model_type": None, "d_model": 768, "n_layer": 24, "vocab_size": 50277, "ssm_cfg": {}}
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
    assert [(layer.kind, layer.count) for layer in partly.layers] == [("local-attention", 1), ("attention", 3)]
    mixed = describe({"model_type": "laguna", **fields, "layer_types": ["sliding_attention", "full_attention"] * 2})
    assert {(layer.kind, layer.count) for layer in mixed.layers} == {("attention", 2), ("local-attention", 2)}
    del fields["sliding_window"]
    assert describe({"model_type": "mistral", **fields}).reach == 4 * 4095, "the default of transformers"
    assert describe({"model_type": "mixtral", **fields}).reach is None


def test_heads_that_a_file_gives_each_layer():
    """transformers' Laguna makes so many heads (models/laguna); with fewer, one layer would seem to fail too early."""
    fields = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 16, "sliding_window": 8,
              "num_key_value_heads": 2, "layer_types": ["full_attention"], "dtype": "float16"}  # fmt: skip
    stated = [describe({"model_type": kind, **fields, "num_attention_heads_per_layer": [32]}) for kind in
              ("laguna", "mellum")]  # fmt: skip
    assert [model.layers[0].heads for model in stated] == [32, 2]
    few, many = (describe({"model_type": "laguna", **fields, "num_attention_heads": heads}) for heads in (2, 32))
    assert stated[0].layers == many.layers
    assert capacity(few, arithmetic=FIXED).limits[0].longest < capacity(many, arithmetic=FIXED).limits[0].longest
    with pytest.raises(SeparatrixError, match="num_attention_heads_per_layer needs 1 numbers above 0"):
        describe({"model_type": "laguna", **fields, "num_attention_heads_per_layer": [2, 2]})


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


@pytest.mark.parametrize(
    ("layers", "passes", "classes", "word"),
    [
        ((recurrent("x", 4, StatePart("h", 4, "4"), count=3),), 1, ("rnn",), "all its 3 layers"),
        (
            (recurrent("x", 4, StatePart("h", 4, "4")),),
            1,
            ("rnn",),
            "keeps a state of fixed size, so it is a recurrent",
        ),
        ((recurrent("x", 4, StatePart("h", 4, "4")),), 2, (), "read 2 times"),
        ((LayerDescription(kind="unstated", name="mine", width=16),), 1, (), "it is not stated what is passed"),
        ((local_attention(16, 2, 8, 4, count=2),), 1, ("rnn",), "bounded window"),
        ((local_attention(16, 2, 8, 4),), 1, ("rnn", "transformer-1layer"), "Theorem 4"),
        ((attention(16, 2, 8),), 1, ("transformer-1layer",), "one-layer"),
        ((attention(16, 2, 8, count=2),), 1, (), "13.1"),
        ((attention(16, 2, 8), recurrent("x", 4, StatePart("h", 4, "4"))), 1, (), "1 attention over the whole"),
        ((LayerDescription(kind="attention", name="third order", width=16),), 1, (), "not by the softmax"),
        ((LayerDescription(kind="attention", name="third order", width=16, count=2),), 1, (), "not all of them"),
    ],
)
def test_which_bounds_apply(layers, passes, classes, word):
    model = ModelDescription(name="x", family="x", layers=layers, passes=passes)
    found, reason = which_bounds(model)
    assert found == classes
    assert word in reason
    limits = capacity(model, only=("sparse-averaging", "inequality"), arithmetic=FIXED).limits
    # A single window has a verdict from the class that leaves the shorter length open, or from its reach.
    assert {limit.model for limit in limits if limit.scope == "model"} == set(classes[:1])
    assert any(limit.scope == "one layer alone" for limit in limits) == (word == "13.1")


@pytest.mark.parametrize(
    ("name", "papers"),
    [
        ("llama-3-8b", ["2412.02975"]), ("jamba-v0.1", ["2602.01763"]), ("falcon-h1-7b", ["2602.01763"]),
        ("mamba2-130m", ["2604.14501"]), ("rwkv-7-1.5b", []), ("deepseek-v3.2", []), ("gemma-4-31b", []),
        ("lfm2-350m", []),  # attention between convolutions, which are no linear attention
    ],
)  # fmt: skip
def test_published_bounds_are_cited_where_their_conditions_hold(name, papers):
    assert [each.paper.split()[-1] for each in cited(describe(name))] == papers


def test_graph_transformers_of_any_depth_are_bounded():
    """2N·LHm·p bits cross for each head and layer, at the largest head of all; ⌊N/3⌋² are needed (SHT23)."""
    wide = LayerDescription(kind="graph-attention", name="graph", width=16, heads=2, head_width=8, count=2)
    narrow = LayerDescription(kind="graph-attention", name="graph", width=4, heads=1, head_width=4)
    model = ModelDescription(name="x", family="x", layers=(wide, narrow))
    classes, reason = which_bounds(model)
    assert classes == ("graph-transformer",)
    assert "all its 3 layers" in reason
    (limit,) = capacity(model, precision=16).limits
    longest = max(n for n in range(3, 20_000) if (n // 3) ** 2 <= 2 * n * 3 * 2 * 8 * 16)
    assert (limit.task, limit.longest, limit.scope) == ("directed-3-cycle", longest, "model")


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
            task = tasks()[name].with_parameters(**BOUNDED.get(name, {}))
            longest = bound.longest_length(size, task)
            if longest is None:
                # Stacks, counts and residues: few bits at every length that can be.
                assert bound.growth_for(name) in ("constant", "logarithmic")
                continue
            assert longest > 0
            assert bound.possible(longest, size, task)
            assert not bound.possible(longest + task.length_step, size, task)
            assert bound.inflated(2).longest_length(size, task) < longest


def test_every_limit_is_about_the_task_with_the_parameters_that_it_names():
    """A bound for a class, or for a space with room for all points, is never said of one drawn function or space."""
    found = capacity(describe("rnn-1-128"), length=10**18)
    for limit in found.limits:
        usual = tasks()[limit.task].parameters()
        changed = {name for name, value in limit.parameters.items() if usual[name] != value}
        assert bool(changed) == (limit.task in BOUNDED)
        task = tasks()[limit.task].with_parameters(**BOUNDED.get(limit.task, {}))
        (bound,) = [each for each in protocol_bounds(model="rnn") if each.name == limit.bound]
        assert not bound.of_a_class(task)
        assert not bound.why_inapplicable(limit.at_length, task)
    assert {limit.task for limit in found.limits if limit.impossible_at_length} >= set(BOUNDED)


@pytest.mark.parametrize("length", [1, 3001])
def test_every_limit_is_about_a_length_that_the_task_has(length):
    for limit in capacity(describe("rnn-1-128"), length=length).limits:
        task = tasks()[limit.task].with_parameters(**BOUNDED.get(limit.task, {}))
        for spoken in (limit.at_length, limit.first_impossible):
            if spoken is not None:
                # A draw refuses lengths of which there is no input; long ones would take long.
                task.sample(draws_from(0), 1, min(spoken, 40 + spoken % 2))
                assert spoken % task.length_step == 0


USUAL = {"hidden_size": 64, "num_attention_heads": 4}
WINDOWS = {**USUAL, "num_hidden_layers": 4, "sliding_window": 8}
ONE = {**USUAL, "num_hidden_layers": 1}
BART = {"d_model": 64, "encoder_layers": 12, "decoder_layers": 1, "decoder_attention_heads": 4}


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "bart", **BART},
        {"model_type": "whisper", "is_encoder_decoder": True, **BART},
        {"model_type": "prophetnet", "hidden_size": 64, "num_decoder_layers": 1, "num_decoder_attention_heads": 4},
        {"model_type": "bert", "is_decoder": True, "add_cross_attention": True, **ONE},
        {"model_type": "gpt2", "add_cross_attention": True, **ONE},
        {"model_type": "mistral", "is_causal": False, **WINDOWS},
        {"model_type": "mistral", "use_bidirectional_attention": True, **WINDOWS},
        {"model_type": "cohere2", "is_causal": False, "layer_types": ["sliding_attention"] * 4, **WINDOWS},
        {"model_type": "mamba", "bidirectional": True, "hidden_size": 8, "num_hidden_layers": 1},
        {"model_type": "doge", "keep_window_size": 8, **ONE},
        {"model_type": "hrm_text", **ONE},
        {"model_type": "somebody's", **ONE},
        {"model_type": "somebody's", "is_encoder_decoder": True, **ONE},
    ],
    ids=lambda config: " ".join(map(str, list(config.values())[:2])),
)
def test_nothing_is_impossible_for_what_the_simulations_do_not_cover(config):
    """An encoder, positions that look ahead, positions chosen by what they hold, a layer that is run several times."""
    found = capacity(describe(config), length=10**9)
    assert found.applies == ()
    assert not [limit.task for limit in found.limits if limit.scope == "model"]
    assert found.model.reach is None


def test_a_single_window_that_looks_ahead_is_covered_by_one_layer_alone():
    found = which_bounds(describe({"model_type": "mistral", "is_causal": False, **WINDOWS, "num_hidden_layers": 1}))
    assert found[0] == ("transformer-1layer",)


def test_layers_share_a_cache_only_where_one_is_left_to_read():
    def cached(shared):
        fields = {"model_type": "gemma4_text", "num_kv_shared_layers": shared, **WINDOWS}
        return sum(layer.count for layer in describe(fields).layers if layer.cache or layer.state)

    assert [cached(shared) for shared in (0, 3)] == [4, 1]
    for shared in (4, 9):
        with pytest.raises(SeparatrixError, match="num_kv_shared_layers"):
            cached(shared)


def test_more_bits_never_make_a_task_impossible_sooner():
    model = describe("lstm-3-256")
    few, many = (limits_of(capacity(model, precision)) for precision in (16, 32))
    assert all(few[task].longest <= many[task].longest for task in few if few[task].longest is not None)


def test_local_attention_has_a_reach():
    found = capacity(describe("mistral-7b-v0.1"), length=200_000)
    reach = next(limit for limit in found.limits if limit.bound == "reach" and limit.task == "index-lookup")
    assert reach.first_impossible == 32 * 4095 + 1
    assert reach.impossible_at_length
    assert [limit for limit in found.limits if limit.task == "index-lookup"] == [reach], "one verdict for a task"


def test_one_verdict_for_each_task():
    """A single windowed layer is covered by two classes and a reach; of three bounds the earliest speaks."""
    model = ModelDescription(name="x", family="x", layers=(local_attention(16, 2, 8, 4),))
    found = capacity(model, precision=16, length=50)
    first = {limit.task: limit.first_impossible for limit in found.limits}
    assert len(first) == len(found.limits)
    assert first["index-lookup"] == 5
    state = capacity(describe({"model_type": "gru", "hidden_size": model.state_numbers}), precision=16)
    assert all(first[limit.task] <= limit.first_impossible for limit in state.limits if limit.first_impossible)


@pytest.mark.parametrize(
    ("stated", "bits", "said"),
    [
        ({"torch_dtype": "float32"}, 32, "config"),
        ({"dtype": "torch.bfloat16"}, 16, "config"),
        ({"torch_dtype": "float16"}, 16, "config"),
        ({"torch_dtype": "float64"}, 64, "config"),
        ({"torch_dtype": "float8_e4m3fn"}, 32, "guess"),
        ({"torch_dtype": 7}, 32, "guess"),
        ({"torch_dtype": None, "dtype": "float32"}, 32, "config"),
        ({"torch_dtype": "float32", "dtype": None}, 32, "config"),
        ({"torch_dtype": "bfloat16", "dtype": "float32"}, 32, "config"),
        ({"torch_dtype": "FP32"}, 32, "config"),
        ({}, 32, "guess"),
    ],
)
def test_the_bits_of_a_number_are_those_of_the_config(stated, bits, said):
    """A float32 model judged by 16 bits would be called unable at half the length; so a guess takes more."""
    fields = {"model_type": "mistral", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, **stated}
    found = capacity(describe({**fields, "sliding_window": 5}), alphabet=2)
    assert (found.precision, found.numbers.source, found.guessed) == (bits, said, said == "guess")
    assert found.state_bits == 2 * 8 * 4 * bits
    gru = capacity(describe({"model_type": "gru", "hidden_size": 64, **stated}), alphabet=2)
    # What torch's fused kernels keep is not known, so a running state is not taken to have fewer than 32.
    assert gru.state_bits == 64 * max(bits, 32) == limits_of(gru)["index-lookup"].longest
    assert gru.guessed == (bits < 32 or said == "guess")
    given = capacity(gru.model, precision=8, alphabet=2)
    assert (given.precision, given.numbers.source, given.guessed, given.state_bits) == (8, "given", False, 64 * 8)


def test_a_running_state_has_more_bits_than_the_weights():
    """Codestral-Mamba in bfloat16: the state in float32, the last inputs of the convolution in bfloat16."""
    found = capacity(describe("codestral-mamba-7b"))
    state, convolution = found.parts
    assert (state[1], state[2].bits, state[2].source) == (64 * 128 * 64 * 128, 32, "code")
    assert (convolution[1], convolution[2].bits, convolution[2].source) == (64 * 10240 * 3, 16, "config")
    assert found.state_bits == 2_178_940_928
    assert limits_of(found)["index-lookup"].longest == 2_178_940_928 // 6
    assert capacity(found.model, precision=16).state_bits == 1_105_199_104
    assert sum(layer.state_bits * layer.count for layer in capacity_record(found).layers) == found.state_bits


def asked(name):
    """The task as capacity asks about it, at the lengths that it has."""
    task = tasks()[name].with_parameters(**BOUNDED.get(name, {}))
    return replace(task, length_step=2) if name == "sparse-threshold" else task


def test_one_layer_of_the_slides_models():
    """What SHT23's table invites to compare: one layer by itself, never the whole model."""
    for name in SLIDES:
        found = capacity(describe(name), 16, arithmetic=FIXED)
        assert not [limit for limit in found.limits if limit.scope == "model"]
        alone = limits_of(found, "one layer alone")
        assert {"dyck", "inequality", "match3"} <= set(alone)
        (layer,) = found.model.layers
        size = ModelSize(width=layer.head_width, precision=16, heads=layer.heads)
        for task, limit in alone.items():
            bounds = protocol_bounds(task, "transformer-1layer")
            known = [bound.longest_length(size, asked(task)) for bound in bounds]
            assert limit.longest == min((n for n in known if n is not None), default=None)


def test_length_is_rounded_to_the_task():
    found = limits_of(capacity(describe("lstm-3-256"), length=1001))
    assert found["inequality"].at_length == 1000
    assert found["index-lookup"].at_length == 1001
    assert found["index-lookup"].needed_bits == 6006
    assert found["index-lookup"].available_bits == 1536 * 32
    assert not found["index-lookup"].impossible_at_length


def test_plain_data_is_json():
    data = json.loads(json.dumps(plain(capacity_record(capacity(describe("recurrentgemma-2b"), 16, length=10**9)))))
    assert data["state_bits"] == BY_HAND["recurrentgemma-2b"] * 16
    assert data["bounds_apply"] == ["rnn"]
    assert {limit["task"] for limit in data["limits"] if not limit["impossible_at_length"]} == {
        "dyck",
        "eq-one",
        "majority",
    }
    assert sum(layer["state_bits"] * layer["count"] for layer in data["layers"]) == data["state_bits"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: recurrent("mine", 8, StatePart("h", -1, "-1")), "negative size"),
        (lambda: recurrent("mine", 8, StatePart("h", 1, "1"), count=0), "negative size"),
        (lambda: LayerDescription(kind="attention", name="mine", window=3), "exactly local-attention layers"),
        (lambda: LayerDescription(kind="local-attention", name="mine"), "exactly local-attention layers"),
        (lambda: recurrent("mine", 8), "no state"),
        (lambda: ModelDescription(name="mine", family="mine", layers=()), "no layers"),
    ],
)
def test_descriptions_that_make_no_sense_end_in_one_line(make, words):
    with pytest.raises(SeparatrixError, match=words):
        make()


def test_cards_of_flash_linear_attention_are_the_bytes_that_its_models_hold():
    """Small models of its own code were run (tools/fla_caches.py); the record has their fields and their bytes."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert len(record["models"]) >= 30
    for each in record["models"]:
        card = {length: bytes_at(describe(each["fields"]), int(length)) for length in each["held"]}
        assert card == each["held"], each["fields"]


def test_attention_layers_of_a_hybrid_have_the_window_that_their_config_gives():
    config = {
        "model_type": "gla",
        "hidden_size": 256,
        "num_hidden_layers": 2,
        "num_heads": 4,
        "torch_dtype": "bfloat16",
    }
    kept = {
        window: bytes_at(describe({**config, "attn": {"layers": [1], "num_heads": 4, "window_size": window}}), 1000)
        for window in (100, None)
    }
    assert kept[None] - kept[100] >= 2 * 2 * 256 * (1000 - 101)


def test_two_families_of_one_model_type_are_refused(monkeypatch):
    family = config_families()["mamba"]
    twice = {"mamba": family, "other": replace(family, name="other")}
    monkeypatch.setattr("separatrix.capacities.catalog.config_families", lambda: twice)
    model_types.cache_clear()
    with pytest.raises(SeparatrixError, match="'mamba' is claimed by mamba and other"):
        model_types()
    monkeypatch.undo()
    model_types.cache_clear()
    assert model_types()["mamba"] is family


def test_an_arithmetic_by_name_never_counts_fewer_bits_than_the_model_has() -> None:
    gru = describe({"model_type": "gru", "hidden_size": 64, "torch_dtype": "bfloat16"})
    mamba = describe({"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 1, "torch_dtype": "bfloat16"})
    for model in (gru, mamba):
        own = capacity(model).state_bits
        assert own is not None
        found = [capacity(model, arithmetic=numbers_named(name)).state_bits for name in ("float8_e5m2", "bfloat16")]
        assert found == [own, own]
        wide = [capacity(model, arithmetic=numbers_named(name)).state_bits for name in ("float32", "float64")]
        assert model.state_numbers is not None
        assert wide == [32 * model.state_numbers, 64 * model.state_numbers]
    with pytest.raises(SeparatrixError, match="do not go together"):
        capacity(gru, 16, arithmetic=numbers_named("float64"))


@pytest.mark.parametrize("name", ["num_key_value_heads", "num_kv_heads"])
@pytest.mark.parametrize("width", ["head_dim", "kv_channels"])
def test_an_unknown_type_may_name_its_heads_otherwise(name, width):
    usual = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4, "model_type": "of_nobody"}
    card = describe({**usual, name: 2, width: 32})
    assert {(layer.key_value_heads, layer.head_width) for layer in card.layers} == {(2, 32)}
    assert card.evidence == "guess"


@pytest.mark.parametrize("name", sorted(presets()))
def test_the_formula_of_an_array_comes_to_its_numbers(name):
    for layer in describe(name).layers:
        for part in (*layer.state, *layer.cache):
            assert eval(part.formula.replace("×", "*")) == part.numbers
