"""The card against the caches of real models: a small one of every causal type of transformers, byte for byte."""

import gc
import json
import warnings
from random import Random

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tools.pages import recorded
from tools.real_caches import (
    EXCEPTIONS,
    NOT_BUILT,
    OWN,
    SMALL,
    accepted,
    built_types,
    config_of,
    fields_of,
    kept,
    made_model,
    quiet,
    size,
    types,
)

from separatrix.capacities import Budget, describe, model_types, presets, which_bounds
from separatrix.capacities.budget import kept as kept_under
from separatrix.capacities.catalog import config_families, inside
from separatrix.capacities.held_bytes import bytes_at, memory
from separatrix.models.measured import arrays
from separatrix.models.parameters import parameter_count

LENGTHS = (3, 17)
pytestmark = pytest.mark.filterwarnings("ignore")  # of transformers and of what it imports


@pytest.fixture(autouse=True, scope="module")
def without_warnings():
    with warnings.catch_warnings():
        quiet()
        yield
    gc.collect()


@pytest.mark.parametrize("kind", built_types())
def test_bytes_of_the_card_are_those_of_the_cache(kind):
    """And a type that the card calls causal answers for a prefix alike whatever follows it."""
    config = config_of(kind)
    card, model = describe(fields_of(config)), made_model(kind, config)
    held = [size(kept(model, length)) for length in LENGTHS]
    ours = [bytes_at(card, length) for length in LENGTHS]
    assert (held[0] > 0) != all(layer.uncached for layer in card.layers)
    if kind in EXCEPTIONS:
        assert held != ours, "it is no exception any more"
        assert all(real <= given for real, given in zip(held, ours, strict=True))
    else:
        assert held == ours
    assert not card.causal or not reads_ahead(model)


def reads_ahead(model) -> bool:
    """Whether the first answers change with the last tokens."""
    import torch

    text = (torch.arange(17) % 29 + 3).reshape(1, 17)
    other = text.clone()
    other[0, -3:] += 30
    model = model.float()
    with torch.no_grad():
        first, second = (model(input_ids=each, use_cache=False).logits[0, :14] for each in (text, other))
    return not torch.allclose(first, second, atol=1e-4 * float(first.abs().max()))


ENCODERS = [kind for kind in model_types()["bert"].model_types if kind in built_types()]


@pytest.mark.parametrize("kind", [*ENCODERS, "openai-gpt", "xlm"])
def test_what_is_computed_again_for_each_token_keeps_nothing(kind):
    import separatrix

    config = config_of(kind, is_decoder=False) if kind in ENCODERS else config_of(kind)
    found = separatrix.capacity(made_model(kind, config), LENGTHS)
    assert found.by_config
    assert found.agrees
    assert set(found.bytes_at.values()) == {0}
    assert memory(found.card.model).complete
    assert not found.card.limits or {each.scope for each in found.card.limits} == {"one layer alone"}
    assert not found.card.needs


def test_cpmant_is_given_the_whole_text_at_each_call():
    """Its forward pass slices off what its cache has: given the next token alone, nothing is left of it."""
    import torch

    config = config_of("cpmant")
    model, card = made_model("cpmant", config), describe(fields_of(config))
    text = (torch.arange(9) % 29 + 3).reshape(1, 9)
    whole = alone = None
    with torch.no_grad():
        for length in range(1, 10):
            whole = model(input_ids=text[:, :length], past_key_values=whole, use_cache=True).past_key_values
            assert size(whole) == bytes_at(card, length)
            alone = model(input_ids=text[:, length - 1 : length], past_key_values=alone, use_cache=True).past_key_values
            assert size(alone) == bytes_at(card, 1)


RANDOM_SIZES: dict[str, tuple[int | bool, ...]] = {
    "num_hidden_layers": (1, 2, 3, 5), "num_attention_heads": (2, 4, 8), "num_key_value_heads": (1, 2),
    "head_dim": (8, 10, 12), "sliding_window": (2, 3, 7, 40), "attention_chunk_size": (2, 3, 7, 40),
    "kv_lora_rank": (6, 10), "qk_rope_head_dim": (2, 6), "linear_num_key_heads": (1, 2),
    "linear_num_value_heads": (2, 4), "linear_key_head_dim": (2, 6, 8), "linear_value_head_dim": (4, 8),
    "linear_conv_kernel_dim": (2, 3, 5), "mamba_d_state": (2, 8), "mamba_d_conv": (2, 4), "mamba_expand": (1, 2),
    "ssm_state_size": (2, 8), "mamba_num_heads": (2, 8), "mamba_head_dim": (4, 8), "conv_kernel": (2, 5),
    "conv_L_cache": (2, 4), "num_kv_shared_layers": (0, 1, 2), "index_head_dim": (8, 32),
    "attention_k_eq_v": (True, False), "global_head_dim": (8, 16), "tie_word_embeddings": (True, False),
}  # fmt: skip
DRAWN = (
    "llama", "gemma2", "gpt_oss", "llama4_text", "mimo_v2_flash", "gemma4_text", "deepseek_v3", "deepseek_v32",
    "qwen3_next", "olmo_hybrid", "kimi_linear", "lfm2", "jamba", "granitemoehybrid", "falcon_h1", "nemotron_h",
    "minimax",
)  # fmt: skip


@pytest.mark.parametrize("kind", DRAWN)
def test_models_of_random_sizes_hold_the_bytes_of_the_card(kind):
    """Layers, windows, heads, ranks and kernels are drawn, and what cannot be built or run is drawn again."""
    drawn, compared = Random(kind), 0
    base = config_of(kind).to_dict()
    for _ in range(20):
        chosen = [name for name in RANDOM_SIZES if base.get(name) is not None and drawn.random() < 0.4]
        given: dict[str, object] = {name: drawn.choice(RANDOM_SIZES[name]) for name in chosen}
        for listed in ("layer_types", "layers_block_type"):
            if isinstance(base.get(listed), list):
                depth = given.get("num_hidden_layers", len(base[listed]))
                given[listed] = [drawn.choice(base[listed]) for _ in range(int(str(depth)))]
        try:
            config = config_of(kind, **given)
            model = made_model(kind, config)
            held = [size(kept(model, length)) for length in (1, 6, 13)]
        except Exception:  # of any kind: sizes that do not fit together
            continue
        card = describe(fields_of(config))
        assert held == [bytes_at(card, length) for length in (1, 6, 13)], given
        compared += 1
        if compared == 4:
            return
    raise AssertionError(f"only {compared} of 20 drawn models could be run")


@pytest.mark.parametrize(
    ("kind", "more"),
    [("cpmant", {}), ("big_bird", {"attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1})],
)
def test_a_type_that_reads_ahead_gets_no_verdict_on_its_cache(kind, more):
    made = type(config_of(kind))
    config = made(**{**config_of(kind).to_dict(), **more})
    card = describe(fields_of(config))
    assert reads_ahead(made_model(kind, config))
    assert not card.causal
    assert kept_under(card, Budget(window=5)) is None


AS_WRITTEN = (
    ("qwen4_exp_text", {"layer_types": ["linear_attention", "indexed_attention", "indexed_attention"]}),
    ("qwen4_exp_text", {"layer_types": ["linear_attention", "full_attention", "full_attention"]}),
    (
        "qwen4_exp_text",
        {
            "ple_layer_ids": [1, 2], "ngram_vocab_size_base": 50, "heads_per_ngram": 2, "ple_conv_kernel_size": 3,
            "layer_types": ["linear_attention"] * 2 + ["full_attention"],
        },
    ),
    ("deepseek_v4", {"compress_ratios": [0, 4, 128], "compress_rates": None}),
    ("mimo_v2_flash", {"sliding_window_size": 4, "sliding_window": 4, "num_key_value_heads": 1}),
    ("glm_moe_dsa", {"index_topk_pattern": "FSS"}),
    ("glm_moe_dsa", {"index_topk_freq": 3}),
    ("minimax_m3_vl_text", {"sparse_attention_config": {"sparse_attention_freq": [0, 1, 1], "sparse_index_dim": 16}}),
    ("modernbert-decoder", {"local_attention": 8}),
    ("modernbert-decoder", {"num_key_value_heads": 1}),
    ("gpt_neox", {"num_key_value_heads": 1, "head_dim": 4}),
    ("gpt_neox_japanese", {"num_key_value_heads": 1}),
    ("persimmon", {"num_key_value_heads": 1}),
    ("stablelm", {"head_dim": 4}),
    ("llama4_text", {"no_rope_layers": []}),
    ("inkling_text", {"sconv_kernel_size": 3, "conv_kernel_size": ...}),
    ("glm4_moe_lite", {"head_dim": 6, "qk_rope_head_dim": ...}),
    ("trocr", {"decoder_layers": ..., "decoder_attention_heads": ...}),
    ("hrm_text", {"num_layers_per_stack": None, "num_key_value_heads": 1}),
    ("olmo3", {"sliding_window_pattern": 2}),
    ("cohere2_moe", {"first_k_dense_replace": 2}),
    ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    ("bloom", {"n_embed": 32}),
    ("bailing_hybrid", {"head_dim": 4, "layer_group_size": 2}),
    ("qwen2", {"use_sliding_window": True}),
    ("qwen2_moe", {"use_sliding_window": True}),
    ("qwen3_moe", {"use_sliding_window": True, "max_window_layers": 2}),
    ("smollm3", {"use_sliding_window": True, "no_rope_layers": [1, 0, 1]}),
    ("ernie4_5", {"head_dim": None, "num_key_value_heads": None}),
    ("olmo_hybrid", {"linear_num_key_heads": 2}),
    ("zamba", {"num_hidden_layers": 8, "attn_layer_period": 2, "attn_layer_offset": 1}),
    ("zamba2", {"num_hidden_layers": 4, "layers_block_type": ["hybrid", "mamba"] * 2, "head_dim": 6}),
    ("zaya", {"cca_time0": 3, "cca_time1": 5}),
    ("jetmoe", {"num_experts_per_tok": 2, "num_local_experts": 2}),
    ("gemma3_text", {"_sliding_window_pattern": 1}),
    ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 6}),
    ("gemma4_text", {"use_bidirectional_attention": "all", "sliding_window": 6, "num_kv_shared_layers": 0}),
    ("mistral", {"sliding_window": 1}),
    ("moshi", {"sliding_window": 1}),
    ("deepseek_v4", {"sliding_window": 1}),
    ("llama4_text", {"attention_chunk_size": 1}),
    ("mimo_v2_flash", {"sliding_window": 1}),
    ("minimax", {"sliding_window": 3}),
    ("nemotron_h", {"sliding_window": 3, "layers_block_type": ["mamba", "attention", "mlp"]}),
    ("bamba", {"attn_layer_indices": [1, 9]}),
    ("reformer", {"attn_layers": ["lsh", "local", "lsh", "lsh"], "num_hashes": 2}),
    ("bert", {"hidden_size": 4, "num_attention_heads": 4}),
    ("gemma4_text", {"layer_types": ["sliding_attention"] * 3, "global_head_dim": 16, "num_kv_shared_layers": 0}),
    ("gemma4_text", {"num_global_key_value_heads": 1, "global_head_dim": 16, "num_kv_shared_layers": 0}),
)  # fmt: skip
"""Fields as published files write them, where a config class turns them into others or fills in what they leave out.

``...`` leaves a field out.
"""


@pytest.mark.parametrize(("kind", "given"), AS_WRITTEN, ids=[f"{kind}-{next(iter(each))}" for kind, each in AS_WRITTEN])
def test_a_file_as_it_is_published_is_read_as_its_config_class_reads_it(kind, given):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    made = CONFIG_MAPPING[kind]
    plain = made()
    known = {*plain.to_dict(), *getattr(plain, "attribute_map", {})}
    small = {name: each for name, each in {**SMALL, **OWN.get(kind, {})}.items() if name in known}
    left_out = ["layer_types", "linear_head_dim", "n_layer", *(name for name, each in given.items() if each is ...)]
    given = {name: each for name, each in given.items() if each is not ...}
    left_out += ["sliding_window"] if "local_attention" in given else []
    left_out += ["hidden_size", "n_embd"] if "n_embed" in given else []
    fields = {**{name: each for name, each in small.items() if name not in left_out}, "num_hidden_layers": 3, **given}
    card = describe({**fields, "model_type": kind, "dtype": "bfloat16"})
    model = made_model(kind, made(**fields))
    for length in (3, 4, 5, 11):
        assert size(kept(model, length)) == bytes_at(card, length)


@pytest.mark.parametrize("kind", ["mamba", "falcon_mamba", "mamba2"])
def test_states_of_a_model_in_float64(kind):
    """Mamba's are then in float64 as well; others stay in float32."""
    config = config_of(kind)
    card = describe({**fields_of(config), "dtype": "float64"})
    assert size(kept(made_model(kind, config).double(), 9)) == bytes_at(card, 9)


@pytest.mark.parametrize("kind", ["llama", "mistral", "deepseek_v4", "qwen3_next", "kimi_linear", "lfm2", "mamba"])
def test_reading_on_token_by_token_holds_the_same_bytes(kind):
    import torch

    config = config_of(kind)
    model, card = made_model(kind, config), describe(fields_of(config))
    held = kept(model, 6)
    name = "cache_params" if kind == "mamba" else "past_key_values"
    for number in range(7, 12):
        with torch.no_grad():
            held = model(input_ids=torch.tensor([[number]]), use_cache=True, **{name: held})[name]
        assert size(held) == bytes_at(card, number)


def test_at_least_150_causal_types_are_accepted():
    found = accepted()
    taken = [kind for kind, text in found.items() if not text.startswith("refused")]
    assert len(taken) >= 150, {kind: text for kind, text in found.items() if kind not in taken}
    assert not set(built_types()) - set(taken)


def test_what_is_left_out_is_named_and_exists():
    assert set(NOT_BUILT) | set(EXCEPTIONS) | set(OWN) <= set(types())
    assert all(inner in model_types() for inner in inside().values())


def test_every_family_that_was_executed_is_executed_here():
    run = {model_types()[kind].name for kind in built_types()}
    named = {family.name for family in config_families().values() if family.evidence == "executed"}
    # torch's own modules are compared in test_capacity_states, the others by tests of their own below.
    assert named - run == {"lstm", "mllama", "musicgen", "xlnet"}


@pytest.mark.parametrize("kind", [each for each in built_types() if each not in ("lfm2_moe", "qwen4_exp_text")])
def test_a_file_that_leaves_a_field_out_means_what_transformers_means(kind):
    """Each field that decides the memory is left out in turn: the same model, or a refusal, never another model."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from separatrix.errors import SeparatrixError

    plain = CONFIG_MAPPING[kind]()
    full = fields_of(plain)
    try:
        whole = describe(full)
    except SeparatrixError as error:
        assert "not whole" in str(error), "only sizes that do not fit together are refused"
        return
    family = model_types()[kind]
    # A field that a class computes from another one is in both, and one of them decides.
    aliases = {name: {name, *rule.spelled} for name, rule in family.fields.items() if rule.kind != "made"}
    for name, spelled in aliases.items():
        left = {key: each for key, each in full.items() if key not in spelled and key != "per_layer_config"}
        if len(left) == len(full):
            continue
        try:
            found = describe(left)
        except SeparatrixError:
            continue
        if (kind, name) == ("hrm_text", "num_layers_per_stack"):
            # A file without it counts one stack, and its class makes the passes of it.
            again = CONFIG_MAPPING[kind](**{key: each for key, each in left.items() if key != "model_type"})
            assert (found.depth, whole.depth) == (again.num_hidden_layers, plain.num_hidden_layers)
            continue
        assert memory(found) == memory(whole), name


@pytest.mark.parametrize("kind", ["llama", "qwen3_next", "mamba", "mistral"])
def test_a_model_at_hand_is_measured_and_agrees_with_its_card(kind):
    import separatrix

    found = separatrix.capacity(made_model(kind, config_of(kind)))
    assert found.by_config
    assert found.agrees
    assert any(each.growth == "token" for each in found.arrays) == (kind in ("llama", "qwen3_next"))


# -- weights --------------------------------------------------------------------------------------------------------


def test_parameters_of_presets_are_those_that_transformers_counts():
    slow = ("deepseek-v4-flash", "gemma-4-31b")
    counted = {name: each for name, each in presets().items() if each.parameters and name not in slow}
    assert len(counted) >= 25
    assert {name: parameter_count(each.config) for name, each in counted.items()} == {
        name: each.parameters for name, each in counted.items()
    }


def test_parameters_of_a_file_are_those_of_the_model_made_of_it(tmp_path, capsys):
    from separatrix.cli.app import run

    config = config_of("llama")
    (tmp_path / "config.json").write_text(json.dumps(fields_of(config)))
    number = sum(each.numel() for each in made_model("llama", config).parameters())
    assert run(["capacity", str(tmp_path), "--memory", "1M", "--task", "mqar", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"]["weights_bytes"] == 2 * number
    for more in ({"quantization_config": {"bits": 4}}, {"num_hidden_layers": 10**5}, {"intermediate_size": -1}):
        assert parameter_count({**fields_of(config), **more}) is None


# -- what is kept is a message ----------------------------------------------------------------------------------


def _message(held) -> bytes:
    """The arrays and nothing else, byte after byte."""
    import torch

    return b"".join(each.contiguous().flatten().view(torch.uint8).numpy().tobytes() for _, each in arrays(held))


def _received(held, message: bytes) -> None:
    """Put what was sent into the arrays of another cache of the same shape."""
    import torch

    place = 0
    for _, each in arrays(held):
        if not (taken := each.numel() * each.element_size()):
            continue
        chunk = bytearray(message[place : place + taken])
        each.copy_(torch.frombuffer(chunk, dtype=each.dtype).reshape(each.shape))
        place += taken
    assert place == len(message)


@pytest.mark.parametrize(
    "kind",
    [
        "qwen3_next", "jamba", "kimi_linear", "gemma3_text", "deepseek_v3", "falcon_h1", "mistral", "deepseek_v4",
        "lfm2", "minimax", "nemotron_h", "bert",
    ],
)  # fmt: skip
def test_what_a_hybrid_keeps_is_a_message_that_suffices(kind):
    """The protocol behind the bound, run: Alice reads the prefix and sends the bytes of her caches and states.

    Bob is a copy that has read another text of that length; he puts her bytes in the place of his and reads the rest.
    His answers are those of Alice reading on, bit for bit. The message has the bits of the card, and no more than those
    that verdicts count, which leave out what is unread. Without her bytes he answers otherwise.
    """
    import torch

    config = config_of(kind)
    card = describe(fields_of(config))
    alice, bob = made_model(kind, config), made_model(kind, config)
    tokens = (torch.arange(17) % 29 + 3).reshape(1, 17)
    other = (torch.arange(12) % 7 + 20).reshape(1, 12)

    def read_on(model, held):
        answers = []
        for number in range(12, 17):
            found = model(input_ids=tokens[:, number : number + 1], past_key_values=held, use_cache=True)
            answers.append(found.logits[0, -1])
        return torch.stack(answers)

    with torch.no_grad():
        hers = alice(input_ids=tokens[:, :12], use_cache=True).past_key_values
        message = _message(hers)
        his, untouched = (bob(input_ids=other, use_cache=True).past_key_values for _ in range(2))
        _received(his, message)
        expected, answered, without = read_on(alice, hers), read_on(bob, his), read_on(bob, untouched)
        whole = alice.float()(input_ids=tokens).logits[0, -1]
    assert torch.equal(answered, expected)
    assert not torch.equal(without, expected)
    assert torch.allclose(answered[-1].float(), whole, atol=0.1)
    assert 8 * len(message) == 8 * bytes_at(card, 12)
    counted = kept_under(card, Budget())
    assert counted is not None
    unread = sum(part.unread * layer.count * 4 for layer in card.layers for part in layer.state)
    assert counted.at(12) >= 8 * (len(message) - unread)


@pytest.mark.parametrize("kind", ["mamba", "mamba2", "qwen3_next", "kimi_linear", "lfm2", "inkling_text"])
def test_the_oldest_input_of_a_convolution_is_held_and_never_read(kind):
    """What the card calls unread is replaced by noise, and the answers stay; the next input is read."""
    import torch

    config = config_of(kind)
    assert any(part.unread for layer in describe(fields_of(config)).layers for part in layer.state)
    model = made_model(kind, config).float()
    text = (torch.arange(20) * 7 % 29 + 3).reshape(1, -1)
    name = "cache_params" if kind.startswith("mamba") else "past_key_values"

    def answers(spoilt: int | None):
        with torch.no_grad():
            held = model(input_ids=text[:, :12], use_cache=True)[name]
            for path, each in arrays(held):
                if spoilt is not None and "conv_states" in path:
                    each[..., spoilt] = 1 + torch.arange(each.shape[1])
            return model(input_ids=text[:, 12:13], use_cache=True, **{name: held}).logits

    assert torch.equal(answers(0), answers(None))
    assert not torch.equal(answers(1), answers(None))


READ_WHOLE = ("moshi", "llama", "diffllama", "minimax_m3_vl_text")
"""Types that keep a window where their file lists one, and read all that they are given at once."""


@pytest.mark.parametrize(
    "kind",
    [
        "mistral", "doge", "gemma2", "gpt_oss", "cwm", "dots1", "mimo_v2_flash", "cohere2", "llama4_text", "laguna",
        *READ_WHOLE,
    ],
)  # fmt: skip
def test_nothing_beyond_the_reach_of_windows_changes_an_output(kind):
    """All layers with a window: tokens further back than the card says are exchanged, and the last output stays."""
    import torch

    config = config_of(kind)
    config.num_hidden_layers = 2
    if kind == "laguna":
        config.num_attention_heads_per_layer = config.num_attention_heads_per_layer[:2]
    name = "chunked_attention" if kind == "llama4_text" else "sliding_attention"
    if getattr(config, "layer_types", None) is not None or kind in READ_WHOLE[1:]:
        config.layer_types, config.sliding_window = [name] * 2, 5
    if kind == "laguna":
        config.num_attention_heads_per_layer = config.num_attention_heads_per_layer[:2]
    card, model = describe(fields_of(config)), made_model(kind, config).float()
    far = 9 if card.reach is None else card.reach
    tokens = (torch.arange(far + 8) * 7 % 29 + 3).reshape(1, -1)
    other = tokens.clone()
    other[0, :7] = (tokens[0, :7] - 3 + 11) % 29 + 3
    with torch.no_grad():
        last, changed = (model(input_ids=each).logits[0, -1] for each in (tokens, other))
    # Not bit for bit: other tokens may go to other experts, whose batches then have other sizes and round otherwise.
    # What is read moves a logit by several hundredths.
    assert bool((last - changed).abs().max() < 1e-4) == (card.reach is not None)
    assert (card.reach is None) == (kind in READ_WHOLE)
    assert ("rnn" in which_bounds(card)[0]) == (kind not in READ_WHOLE)


def test_a_cache_of_few_tokens_is_below_the_bits_that_are_counted():
    """Eviction to k tokens of any place, others for each head, with their places: no more bits than are counted."""
    import torch

    config = config_of("llama")
    card = describe(fields_of(config))
    held = kept(made_model("llama", config), 17)
    few, bits = 5, 0
    for layer in held.layers:
        for head in range(layer.keys.shape[1]):
            places = torch.randperm(17)[:few]
            pair = torch.stack([layer.keys[0, head, places], layer.values[0, head, places]])
            bits += 8 * pair.numel() * pair.element_size() + 64 * few
    counted = kept_under(card, Budget(tokens=few))
    assert counted is not None
    assert counted.at(few) >= bits


def test_xlnet_hands_on_the_hidden_states_of_its_memory():
    import torch
    from transformers import XLNetConfig, XLNetLMHeadModel

    config = XLNetConfig(vocab_size=64, d_model=32, n_layer=3, n_head=4, d_inner=32, mem_len=8)
    model, card = XLNetLMHeadModel(config).eval(), describe({**fields_of(config), "dtype": "float32"})
    for length in (5, 12):
        with torch.no_grad():
            held = model(torch.ones(1, length, dtype=torch.long), use_mems=True).mems
        assert sum(each.numel() * each.element_size() for each in held) == bytes_at(card, length)
    assert which_bounds(card)[0] == ()


def test_the_decoder_of_musicgen_keeps_the_bytes_of_the_card():
    import torch
    from transformers import MusicgenDecoderConfig, MusicgenForCausalLM

    config = MusicgenDecoderConfig(
        vocab_size=64, num_hidden_layers=3, ffn_dim=32, num_attention_heads=4, hidden_size=32, num_codebooks=2
    )
    card = describe({"model_type": "musicgen", "decoder": {**fields_of(config), "dtype": "float32"}})
    with torch.no_grad():
        held = MusicgenForCausalLM(config).eval()(torch.ones(2, 9, dtype=torch.long), use_cache=True).past_key_values
    assert size(held) == bytes_at(card, 9)


def test_llama_with_images_keeps_nothing_of_a_text_in_the_layers_that_read_images():
    from transformers import MllamaForCausalLM, MllamaTextConfig

    config = MllamaTextConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=5, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=32, cross_attention_layers=[1, 3], pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model = MllamaForCausalLM(config).bfloat16().eval()
    card = describe({"model_type": "mllama", "text_config": fields_of(config)})
    assert [size(kept(model, length)) for length in LENGTHS] == [bytes_at(card, length) for length in LENGTHS]


def test_emu_keeps_the_bytes_of_the_card():
    from transformers import Emu3ForCausalLM, Emu3TextConfig

    sizes = {name: SMALL[name] for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim")}
    config = Emu3TextConfig(**sizes, vocab_size=64, num_key_value_heads=2, intermediate_size=32, pad_token_id=0)
    model = Emu3ForCausalLM(config).bfloat16().eval()
    card = describe({"model_type": "emu3", "text_config": fields_of(config)})
    assert [size(kept(model, length)) for length in LENGTHS] == [bytes_at(card, length) for length in LENGTHS]


def test_a_type_of_which_no_model_was_run_is_not_called_executed():
    run = {*built_types(), *(each["fields"]["model_type"] for each in recorded("fla-caches")["models"])}
    # By tests of their own, here and in test_capacity_states; griffin is another name of recurrent_gemma.
    run |= {"musicgen_decoder", "musicgen_melody_decoder", "xlnet", "mllama_text_model", "emu3_text_model"}
    run |= {"lstm", "gru", "rnn", "griffin"}
    executed = {
        kind for kind, family in model_types().items() if family.evidence == "executed" and kind not in family.not_run
    }
    assert executed <= run
    assert describe({"model_type": "kimi_k2", **LATENT_FILE}).evidence == "published"
    assert describe({"model_type": "deepseek_v3", **LATENT_FILE}).evidence == "executed"


LATENT_FILE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.mark.parametrize(
    "more",
    [
        {"attention_k_eq_v": True, "num_global_key_value_heads": 1, "num_kv_shared_layers": 0},
        {"num_kv_shared_layers": 4},
    ],
)
def test_gemma_4_with_shared_layers_and_other_heads_in_the_full_ones(more):
    made = type(config_of("gemma4_text"))
    config = made(**{**config_of("gemma4_text").to_dict(), **more})
    card = describe(fields_of(config))
    assert memory(card).complete
    assert size(kept(made_model("gemma4_text", config), 12)) == bytes_at(card, 12)
