"""What a text takes in memory, and what a task needs of the caches."""

import json

import pytest

from separatrix.bounds import floating, protocol_bounds
from separatrix.bounds.simulations import RECURRENT
from separatrix.capacities import (
    LENGTHS,
    Budget,
    bytes_at,
    cache_needs,
    capacity,
    cheaper_from,
    crossover,
    describe,
    presets,
)
from separatrix.capacities.budget import GROUP, PLACE_AND_SCORE, RECENT, SCALES, kept
from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.site import memory_series
from separatrix.tasks import tasks

TINY = {
    "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "dtype": "float16",
}  # fmt: skip
ENTRY = 2 * 2 * 1 * 4
"""Numbers that both layers keep of a token."""
LOOKUP = tasks()["index-lookup"].with_parameters(alphabet=64)


def test_what_is_counted_with_a_token():
    model = describe(TINY)
    assert kept(model, Budget()).per_token == ENTRY * 16
    assert kept(model, Budget(window=9)).per_token == ENTRY * 16
    assert kept(model, Budget(tokens=9)).per_token == ENTRY * 16 + 2 * 2 * PLACE_AND_SCORE
    assert kept(model, Budget(bits=4)).per_token == ENTRY * 4 + 2 * SCALES
    assert GROUP >= 2 * 4, "each layer has one group"


@pytest.mark.parametrize("tokens", [1, RECENT - 1, RECENT, RECENT + 1, 5000])
def test_the_last_tokens_are_not_quantised_yet(tokens):
    """transformers' QuantizedCache keeps up to ``residual_length`` tokens as they were computed: bit by bit."""
    model, quantised = describe(TINY), ENTRY * 1 + 2 * SCALES
    late = [ENTRY * 16 if place < RECENT else quantised for place in range(tokens)]
    assert max(ENTRY * 16, quantised) == ENTRY * 16
    assert kept(model, Budget(window=tokens + 1, bits=1)).at(tokens) == sum(late)
    whole = kept(model, Budget(window=tokens + 1, bits=16))
    assert (whole.recent, whole.at(tokens)) == (0, tokens * (ENTRY * 16 + 2 * SCALES))
    few = kept(model, Budget(bits=1))
    assert [few.tokens_for(sum(late) + more) for more in (0, 1)] == [tokens, tokens + 1]


@pytest.mark.parametrize(
    "budget", [Budget(tokens=3), Budget(window=40), Budget(window=7, bits=2), Budget(tokens=5, bits=8)]
)
def test_the_first_impossible_length_is_where_the_bits_run_out(budget):
    """By the arithmetic of the inequality itself, length by length."""
    model, arithmetic = describe(TINY), floating(16)
    (found,) = cache_needs(model, [LOOKUP], 100, budget, arithmetic)
    bound = next(each for each in protocol_bounds(model="rnn") if each.name == found.bound)
    tokens = budget.tokens or budget.window - 1
    room = kept(model, budget).at(tokens)
    first = next(each for each in range(1, 10**6) if bound.required_bits(each, LOOKUP) > room)
    assert found.first_impossible == first
    assert found.available_bits == room
    assert found.impossible == (first <= 100)


def test_fewer_tokens_than_are_asked_for_do_not_suffice_and_as_many_are_open():
    model, arithmetic = describe(TINY), floating(16)
    (need,) = cache_needs(model, [LOOKUP], 5000, Budget(), arithmetic)
    assert need.tokens > 1
    for tokens, impossible in ((need.tokens - 1, True), (need.tokens, False)):
        (found,) = cache_needs(model, [LOOKUP], 5000, Budget(tokens=tokens), arithmetic)
        assert found.impossible is impossible


def test_only_one_way_bounds_are_used_and_only_for_causal_models():
    names = {each.name for each in protocol_bounds(model="rnn") if each.simulation is RECURRENT}
    found = capacity(describe(TINY), length=1000, budget=Budget(tokens=2))
    assert {need.bound for need in found.needs} <= names
    assert any(need.impossible for need in found.needs)
    bert = {**TINY, "model_type": "bert", "num_key_value_heads": 2}
    assert capacity(describe(bert), length=1000, budget=Budget(tokens=2)).needs == ()
    assert capacity(describe({**bert, "is_decoder": True}), length=1000, budget=Budget(tokens=2)).needs
    for field in ("use_bidirectional_attention", "prefix_lm"):
        assert not describe({**TINY, field: True}).causal
    assert not describe({"model_type": "layers", "layers": [{"kind": "attention", "heads": 1, "head_width": 4}]}).causal
    unknown = {**TINY, "model_type": "brand_new", "layer_types": ["full_attention", "strange"]}
    assert capacity(describe(unknown), length=1000, budget=Budget(tokens=2)).needs == ()


def test_a_window_of_the_whole_model_agrees_with_the_same_model_made_of_windows():
    """A budget of a window is the model with that window; the states of both have the same bits."""
    asked = {"mqar", "index-lookup"}
    full = capacity(describe(TINY), length=10_000, only=asked, budget=Budget(window=33))
    made = capacity(describe({**TINY, "model_type": "mistral", "sliding_window": 33}), length=10_000, only=asked)
    assert full.needs[0].available_bits == made.state_bits
    longest = {need.task: need.first_impossible for need in full.needs}
    assert all(limit.first_impossible <= longest[limit.task] for limit in made.limits), "their reach may come first"


@pytest.mark.parametrize("budget", [{"tokens": 0}, {"bits": -1}, {"window": 10**13}, {"tokens": 4, "window": 4}])
def test_budgets_that_are_none(budget):
    with pytest.raises(SeparatrixError):
        Budget(**budget)


def test_where_one_model_becomes_cheaper_than_another():
    for name in ("mamba-130m", "jamba-v0.1", "mistral-7b-v0.1"):
        state, cache = describe(name), describe("llama-2-7b")
        first = cheaper_from(state, cache)
        assert first is not None
        assert bytes_at(state, first) < bytes_at(cache, first)
        assert bytes_at(state, first - 1) >= bytes_at(cache, first - 1)
        assert cheaper_from(cache, state) is None


def test_the_card_in_json(capsys):
    line = ["capacity", "jamba-v0.1", "--memory", "80GB", "--weights", "20GB", "--length", "4096", "--json"]
    assert run([*line, "--cache-tokens", "512", "--against", "llama-3-8b", "--task", "mqar"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["memory"]["fixed_bytes"] == 28 * 8192 * (16 * 4 + 4 * 2)
    assert found["memory"]["bytes_per_token"] == 4 * 2 * 8 * 128 * 2
    each = found["memory"]["bytes_at"]["4096"]
    assert each == found["memory"]["fixed_bytes"] + 4096 * 16384
    assert found["fits"]["texts"]["4096"] == 60 * 2**30 // each
    assert found["against"]["cheaper_from"] == cheaper_from(describe("jamba-v0.1"), describe("llama-3-8b"))
    (need,) = found["cache_needs"]
    assert (need["task"], need["impossible"]) == ("mqar", False)
    assert found["layers"][1]["cache"][0]["per"] == "token"


def test_options_that_mean_nothing_alone_are_refused(capsys, tmp_path):
    for line in (["--weights", "1G"], ["--cache-tokens", "0"], ["--cache-tokens", "4", "--cache-window", "4"]):
        assert run(["capacity", "gpt2", *line]) == 2
    assert run(["capacity", "gpt2", "--memory", "eighty"]) == 2
    assert run(["capacity", "--cache-bits", "4"]) == 2
    assert capsys.readouterr().out == ""
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    (tmp_path / "model.safetensors").write_bytes(b"0" * 1000)
    assert run(["capacity", str(tmp_path), "--memory", "1M", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"]["weights_bytes"] == 1000


def _fits(capsys, *line):
    assert run(["capacity", *line, "--memory", "80GB", "--task", "mqar", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["fits"]


def test_texts_fit_next_to_the_weights_of_a_preset(capsys):
    found = _fits(capsys, "llama-3-8b")
    assert found["weights_bytes"] == 2 * 8_030_261_248
    assert found["texts"]["8192"] == (80 * 2**30 - 2 * 8_030_261_248) // 2**30
    assert _fits(capsys, "meta-llama/Meta-Llama-3-8B") == found
    assert _fits(capsys, "openai/gpt-oss-20b")["weights_bytes"] < 2 * presets()["gpt-oss-20b"].parameters, "in 4 bits"
    assert set(_fits(capsys, "kimi-linear-48b-a3b")["texts"].values()) == {0}, "its weights alone are larger"
    assert _fits(capsys, "mamba-2.8b")["weights_bytes"] is None


def test_the_index_of_weights_says_what_they_take(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 2**30}, "weight_map": {}}))
    assert _fits(capsys, str(tmp_path))["weights_bytes"] == 2**30
    for wrong in ("[]", "{", '{"metadata": {"total_size": "many"}}', '{"metadata": {"total_size": NaN}}'):
        index.write_text(wrong)
        assert run(["capacity", str(tmp_path), "--memory", "80GB"]) == 2
        assert capsys.readouterr().out == ""


def test_every_preset_has_a_card(capsys):
    for name in presets():
        found = capacity(describe(name), only=("mqar",))
        encoder = found.model.family == "bert"
        assert (found.memory.fixed + found.memory.per_token > 0) != encoder
        assert all(layer.uncached for layer in found.model.layers) == encoder
        assert list(found.bytes_at.values()) == sorted(found.bytes_at.values())
        assert bool(found.needs) == (found.memory.grows and found.model.causal)


# -- several models, and states against caches ----------------------------------------------------------------------


def _last_dearer(first, second, most):
    """The slow way: every length from the longest down."""
    dearer = [length for length in range(1, most) if bytes_at(first, length) >= bytes_at(second, length)]
    return max(dearer, default=0) + 1


@pytest.mark.parametrize(
    ("first", "second"),
    [("mistral-7b-v0.1", "jamba-v0.1"), ("mamba-2.8b", "llama-3-8b"), ("mistral-7b-v0.1", "llama-3-8b"),
     ("jamba-v0.1", "qwen3-next-80b-a3b")],
)  # fmt: skip
def test_the_last_crossing_counts(first, second):
    first, second = describe(first), describe(second)
    assert cheaper_from(first, second) == _last_dearer(first, second, 40_000)
    assert cheaper_from(second, first) is None


def test_states_against_caches_in_their_place():
    """By hand: an LSTM keeps 2d numbers, attention of its width 2d a token."""
    lstm = describe({"model_type": "lstm", "hidden_size": 64, "num_layers": 3})
    assert crossover(lstm).length == 2
    hybrid = describe("jamba-v0.1")
    own = sum(part.numbers for layer in hybrid.layers if layer.cache for part in layer.cache)
    states = sum(layer.count for layer in hybrid.layers if layer.kind == "recurrent")
    attending = hybrid.depth - states
    found = crossover(hybrid).length
    for length, cheaper in ((found - 1, False), (found, True)):
        everywhere = 2 * own * length * (states + attending)
        assert (bytes_at(hybrid, length) < everywhere) is cheaper
    assert crossover(describe("gpt2")) is None
    assert (
        crossover(describe({"model_type": "layers", "layers": [{"kind": "attention", "heads": 1, "head_width": 2}]}))
        is None
    )


def test_several_models_side_by_side(capsys, tmp_path):
    names = ["mamba-2.8b", "llama-3-8b", "jamba-v0.1"]
    assert run(["capacity", *names, "--length", "777", "--json", "--plot", str(tmp_path / "m.svg")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in told["models"]] == names
    for row in told["models"]:
        assert row["bytes_at"] == {str(length): bytes_at(describe(row["model"]), length) for length in told["lengths"]}
    assert 777 in told["lengths"]
    assert (tmp_path / "m.svg").stat().st_size > 1000
    assert run(["capacity", *names]) == 0
    assert all(name in capsys.readouterr().out for name in names[:1])


@pytest.mark.parametrize(
    "option", [["--task", "mqar"], ["--memory", "80GB"], ["--against", "gpt2"], ["--cache-bits", "4"]]
)
def test_what_asks_about_one_model_is_refused_for_several(capsys, option):
    assert run(["capacity", "gpt2", "llama-3-8b", *option]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_model_that_keeps_nothing_says_so_in_a_picture():
    assert list(memory_series([describe("bert-base"), describe("gpt2")])) == ["bert-base (0 bytes)", "gpt2"]


def test_another_model_is_compared_in_the_bits_that_are_given(capsys):
    assert (
        run(["capacity", "llama-3-8b", "--against", "mamba-2.8b", "--precision", "8", "--task", "mqar", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)["against"]
    other = describe("mamba-2.8b")
    assert found["bytes_at"] == {str(length): bytes_at(other, length, 8) for length in LENGTHS}
    assert found["dearer_from"] == cheaper_from(other, describe("llama-3-8b"), 8)


def test_a_module_at_hand_fits_next_to_its_own_weights():
    torch = pytest.importorskip("torch")
    import separatrix

    found = separatrix.capacity(torch.nn.GRU(4, 8), memory=10**6, against="mamba-130m", tasks=["mqar"])
    weights = 4 * (3 * 8 * (4 + 8 + 2))
    assert found.fits is not None
    assert found.fits.weights_bytes == weights
    assert set(found.fits.texts.values()) == {(10**6 - weights) // 32}
    assert found.sheet().grids[0].columns[-1] == "texts that fit"


@pytest.mark.parametrize("size", ["80GB", "80 GiB", "80gib", str(80 * 2**30)])
def test_sizes_as_people_write_them(capsys, size):
    assert _fits_into(capsys, size) == 80 * 2**30


def _fits_into(capsys, size):
    assert run(["capacity", "gpt2", "--memory", size, "--task", "mqar", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["fits"]["memory_bytes"]


def test_a_picture_of_one_model(tmp_path):
    assert run(["capacity", "gpt2", "--task", "mqar", "--plot", str(tmp_path / "m.png")]) == 0
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_no_budget_is_counted_where_a_layer_reads_more_than_it_keeps():
    listed = ["sliding_attention"] * 3 + ["full_attention"]
    fields = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "sliding_window": 8}
    masked, whole = (describe({"model_type": kind, **fields, "layer_types": listed}) for kind in ("laguna", "llama"))
    assert kept(masked, Budget(window=4)) is not None
    assert kept(whole, Budget(window=4)) is None
