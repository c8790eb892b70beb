"""Networks in TransformerLens: the same readouts and the same attention, or one line that says what does not fit."""

import sys
from dataclasses import replace

import numpy
import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.exported import CONFIG, write_folder
from separatrix.models.from_network import module_from_network
from separatrix.models.lens import lens_form, occurring_pairs
from separatrix.models.lens_bridge import lens_bridge, load_lens, save_lens
from separatrix.networks import Attention, EmbeddingPart, FeedForward, Network, TableRows
from separatrix.tasks import draws_from, tasks
from tests.models.cases import NAMES, larger, random_inputs, random_network, small


def fits(network) -> bool:
    """Whether a network has only what TransformerLens has."""
    return (
        isinstance(network, Network)
        and not network.features
        and all(isinstance(layer, Attention | FeedForward) for layer in network.layers)
    )


def form_of(built, dtype=torch.float64):
    return lens_form(built.network, dtype, lambda: occurring_pairs(built.task, built.length))


@pytest.mark.parametrize("name", [name for name in NAMES if fits(small(name).network)])
def test_readouts_and_attention_are_those_of_the_module(name):
    built = larger(name)
    inputs = torch.from_numpy(built.task.sample(draws_from(4), 5, built.length).inputs)
    for dtype in (torch.float64, torch.float32):
        module = module_from_network(built.network, dtype)
        bridge = lens_bridge(form_of(built, dtype))
        logits, cache = bridge.run_with_cache(inputs)
        found = logits[:, -1:] if built.network.readout.at == "last" else logits
        tolerance = 1e-9 if dtype == torch.float64 else 1e-3
        torch.testing.assert_close(found, module(inputs), atol=tolerance, rtol=tolerance)
        assert torch.equal(module.readout.decode(found), module.answers(inputs))
    patterns = [each for key, each in cache.items() if key.endswith("attn.hook_pattern")]
    wanted = list(module.patterns(inputs).values())
    seen = [pattern[:, head] for pattern in patterns for head in range(pattern.shape[1])]
    for weights in wanted:
        assert any(torch.allclose(weights, each, atol=1e-4) for each in seen)


@pytest.mark.parametrize("name", [name for name in NAMES if not fits(small(name).network)])
def test_what_does_not_fit_is_refused_in_one_line(name):
    with pytest.raises(SeparatrixError, match="transformer-lens") as caught:
        form_of(small(name))
    assert "\n" not in str(caught.value)


def test_scorings_and_masks_that_do_not_fit():
    for scoring in ("hard", "linear"):
        with pytest.raises(SeparatrixError, match="softmax"):
            lens_form(random_network("attention", scoring, "none", True))
    network = random_network("attention", "softmax", "none", True)
    first, second = network.layers[0].heads
    mixed = replace(network, layers=(Attention((first, replace(second, mask="causal"))), *network.layers[1:]))
    with pytest.raises(SeparatrixError, match="masks"):
        lens_form(mixed)


@pytest.mark.parametrize("mask", ["none", "causal", "strict"])
@pytest.mark.parametrize("residual", [True, False])
def test_random_networks_once_their_embedding_is_a_sum(mask, residual):
    network = random_network("attention", "softmax", mask, residual)
    with pytest.raises(SeparatrixError, match="sum over token and position"):
        lens_form(network)
    # The part that applies only to some tokens at some positions is what breaks the sum.
    additive = replace(network, embedding=(network.embedding[0], network.embedding[2]))
    inputs = torch.from_numpy(random_inputs(additive))
    bridge = lens_bridge(lens_form(additive))
    torch.testing.assert_close(bridge(inputs), module_from_network(additive)(inputs), atol=1e-9, rtol=0)


def test_a_part_with_zero_rows_outside_its_range_is_no_obstacle():
    network = random_network("attention", "softmax", "none", True)
    part = network.embedding[1]
    assert isinstance(part.rule, TableRows)
    nothing = replace(part.rule.table, numerators=numpy.zeros_like(part.rule.table.numerators))
    empty = EmbeddingPart(part.slot, TableRows(nothing), part.source, part.tokens, part.positions)
    fitting = replace(network, embedding=(network.embedding[0], empty, network.embedding[2]))
    assert lens_form(fitting).config["n_layers"] == 1


def test_pairs_that_occur_are_those_of_the_tasks_inputs():
    task = tasks()["index-lookup"].with_parameters(alphabet=3)
    pairs = occurring_pairs(task, 4)
    seen = numpy.zeros_like(pairs)
    for examples in task.enumerate(4):
        for position in range(pairs.shape[1]):
            seen[examples.inputs[:, position], position] = True
    numpy.testing.assert_array_equal(pairs, seen)
    # A task that assembles its inputs does not say; then every pair counts.
    assert occurring_pairs(tasks()["mqar"], 4).all()


def test_a_bridge_comes_back_from_its_folder(tmp_path):
    built = small("mqar")
    form = form_of(built)
    save_lens(form, tmp_path)
    inputs = torch.from_numpy(built.task.sample(draws_from(2), 4, built.length).inputs)
    torch.testing.assert_close(load_lens(tmp_path)(inputs), lens_bridge(form)(inputs), rtol=0, atol=0)


def test_damaged_folders_are_refused_in_one_line(tmp_path):
    form = form_of(small("equality"))
    with pytest.raises(SeparatrixError, match="cannot read"):
        load_lens(tmp_path)
    write_folder(tmp_path, {**form.config, "format": "other"}, form.tensors)
    with pytest.raises(SeparatrixError, match="'other'"):
        load_lens(tmp_path)
    write_folder(tmp_path, form.config, {name: each for name, each in form.tensors.items() if "unembed" not in name})
    with pytest.raises(SeparatrixError, match="does not fit transformer-lens") as caught:
        load_lens(tmp_path)
    assert "\n" not in str(caught.value)
    (tmp_path / CONFIG).write_text("{")
    with pytest.raises(SeparatrixError, match="no readable model"):
        load_lens(tmp_path)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformer_lens", None)
    with pytest.raises(SeparatrixError, match=r"separatrix\[lens\]"):
        lens_bridge(form_of(small("equality")))
