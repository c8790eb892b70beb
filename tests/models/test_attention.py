"""Softmax, hard, third-order and graph attention against their definitions, and the memory of the third-order one."""

import json
import math
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.models.modules import ThirdOrderModule
from separatrix.models.naming import parse_spec
from separatrix.models.pair_attention import Visibility, pair_attention
from separatrix.models.sequence_model import build_model
from separatrix.models.tensors import Tensors

WIDTH, LENGTH = 8, 9


def built(text: str, features: int = 0, seeds=(1, 2)):
    spec = parse_spec(text)
    return build_model(
        spec, vocabulary=6, classes=WIDTH, length=LENGTH, features=features, seeds=seeds, dtype=torch.float64
    )


def mixer_of(text: str, features: int = 0):
    """The first mixer of a model, with weights large enough for scores that differ."""
    mixer = built(text, features).blocks[0].mixer
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.mul_(20.0)
    return mixer


def activations(seed: int = 0):
    return torch.randn(2, 3, LENGTH, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_softmax_attention_is_its_definition(mask):
    mixer, x = mixer_of(f"TF-(1,{WIDTH},heads=2,mask={mask})"), activations()
    weight, bias = mixer.project.weight, mixer.project.bias
    for member in range(2):
        for row in range(3):
            both = x[member, row] @ weight[member] + bias[member]
            query, key, value = (part.view(LENGTH, 2, 4) for part in both.split(WIDTH, dim=-1))
            heads = []
            for head in range(2):
                scores = query[:, head] @ key[:, head].T / 2.0
                if mask == "causal":
                    scores = scores.masked_fill(torch.ones(LENGTH, LENGTH).triu(1).bool(), float("-inf"))
                attention = scores.softmax(dim=-1)
                torch.testing.assert_close(mixer.weights(x)[member, row, head], attention)
                heads.append(attention @ value[:, head])
            expected = torch.cat(heads, dim=-1) @ mixer.output.weight[member] + mixer.output.bias[member]
            torch.testing.assert_close(mixer(x)[member, row], expected)


def test_hard_attention_takes_the_largest_scores_and_shares_ties():
    mixer, x = mixer_of(f"HardTF-(1,{WIDTH},mask=none,positions=none)"), activations()
    x[:, :, 4] = x[:, :, 2]
    weights = mixer.weights(x)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 1, LENGTH, dtype=torch.float64))
    query = x @ mixer.project.weight[:, None, :, :WIDTH] + mixer.project.bias[:, None, None, :WIDTH]
    key = x @ mixer.project.weight[:, None, :, WIDTH : 2 * WIDTH]
    best = (query @ key.transpose(-1, -2)).argmax(dim=-1)
    tied = (best == 2) | (best == 4)
    chosen = weights[:, :, 0].gather(-1, best.unsqueeze(-1))[..., 0]
    torch.testing.assert_close(chosen, torch.where(tied, 0.5, 1.0).to(torch.float64))
    assert tied.any() and not tied.all()


def test_hard_attention_learns_by_the_gradient_of_the_softmax():
    """Straight through: outputs use the hard weights, derivatives go through the soft ones."""
    mixer, x = mixer_of(f"HardTF-(1,{WIDTH},mask=none,heads=2)"), activations().requires_grad_()
    both = x @ mixer.project.weight[:, None] + mixer.project.bias[:, None, None]
    query, key, value = (part.unflatten(-1, (2, 4)).transpose(2, 3) for part in both.split(WIDTH, dim=-1))
    soft = (query @ key.transpose(-1, -2) / 2.0).softmax(dim=-1)
    hard = (soft == soft.amax(dim=-1, keepdim=True)).to(soft.dtype)
    attended = hard.detach() @ value + soft @ value.detach() - (soft @ value).detach()
    expected = mixer.output(attended.transpose(2, 3).flatten(3))
    output = mixer(x)
    torch.testing.assert_close(output, expected)
    wanted = [x, *mixer.parameters()]
    upstream = torch.randn(output.shape, dtype=output.dtype, generator=torch.Generator().manual_seed(1))
    ours = torch.autograd.grad((output * upstream).sum(), wanted)
    theirs = torch.autograd.grad((expected * upstream).sum(), wanted)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)
    assert ours[1][..., : 2 * WIDTH].abs().max() > 0, "queries and keys get a gradient"


def naive_pairs(query, key, other, value, second, visibility):
    scores = torch.einsum("gic,gjc,gkc->gijk", query, key, other)
    hidden = visibility.hidden(slice(None), slice(None), key.shape[1], query.device)
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.flatten(2).softmax(dim=-1).view_as(scores)
    return torch.einsum("gijk,gjc,gkc->gic", weights, value, second)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 3), st.integers(1, 5), st.integers(1, 6), st.integers(1, 3),
    st.sampled_from([1, 7, 40, 1 << 20]), st.booleans(), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_streamed_pairs_are_all_pairs(groups, queries, length, size, tile, causal, padded, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(groups, queries, size)] + [(groups, length, size)] * 4
    given_tensors = [
        (2.0 * torch.randn(shape, dtype=torch.float64, generator=generator)).requires_grad_() for shape in shapes
    ]
    place = torch.randint(length, (groups, queries), generator=generator) if causal else None
    inside = torch.randint(1, length + 1, (groups,), generator=generator) if padded else None
    visibility = Visibility(place, inside)
    streamed, plain = pair_attention(*given_tensors, visibility, tile), naive_pairs(*given_tensors, visibility)
    torch.testing.assert_close(streamed, plain)
    upstream = torch.randn(plain.shape, dtype=torch.float64, generator=generator)
    ours = torch.autograd.grad((streamed * upstream).sum(), given_tensors)
    theirs = torch.autograd.grad((plain * upstream).sum(), given_tensors)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


def test_third_order_attention_is_the_unit_of_the_exact_networks():
    mixer, x = mixer_of(f"ThirdTF-(1,{WIDTH})"), activations()
    names = ("query", "first_key", "second_key", "first_value", "second_value")
    for member in range(2):
        parts = mixer.project.weight[member].split(WIDTH, dim=-1)
        matrices = {name: part.T.contiguous() for name, part in zip(names, parts, strict=True)}
        matrices["query"] = matrices["query"] / WIDTH**0.5
        matrices["output"] = mixer.output.weight[member].T.contiguous()
        unit = ThirdOrderModule(
            Tensors({name: each.detach() for name, each in matrices.items()}), {"scoring": "softmax"}, WIDTH
        )
        expected, _ = unit(x[member], 0, None)
        torch.testing.assert_close(mixer(x)[member], expected)


MEMORY = """
import json, resource, torch
torch.set_num_threads(1)
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
limit = 2 << 30
# Threads and libraries reserve address space that they never touch, so the limit is set on data beyond what is held.
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
model = build_model(parse_spec("ThirdTF-(1,16)"), vocabulary=8, classes=2, length=1024, seeds=[0])
tokens = torch.randint(8, (1, 1, 1024))
read = torch.arange(0, 1024, 16).view(1, 1, -1)
model(tokens, read=read).square().sum().backward()
finite = all(bool(torch.isfinite(p.grad).all()) for p in model.parameters())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"before": before, "peak": peak, "finite": finite}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and sizes as Linux counts them")
def test_third_order_attention_at_length_1024_fits_into_2_gigabytes():
    """All pairs of 1024 positions for every 16th query, forwards and backwards; their 2^26 scores take 256 MiB."""
    ended = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["finite"]
    assert found["peak"] * 1024 < 2 << 30
    # In itself the model needs far less: a few tiles.
    assert (found["peak"] - found["before"]) * 1024 < 200 << 20


def test_graph_attention_is_its_definition():
    model = built(f"GraphTF-(1,{WIDTH},heads=2)", features=LENGTH)
    mixer, x = model.blocks[0].mixer, activations()
    with torch.no_grad():
        mixer.gain.copy_(torch.tensor([[[0.5, 2.0], [3.0, -1.0]], [[1.0, 0.1], [0.7, 4.0]]]))
        mixer.shift.copy_(torch.tensor([[[0.0, 1.0], [2.0, -1.0]], [[1.0, 0.5], [0.0, 0.0]]]))
    graphs = torch.randint(2, (2, 3, LENGTH, LENGTH), generator=torch.Generator().manual_seed(2))
    both = x @ mixer.project.weight[:, None] + mixer.project.bias[:, None, None]
    query, key, _ = (part.unflatten(-1, (2, 4)).transpose(2, 3) for part in both.split(WIDTH, dim=-1))
    for member in range(2):
        for head in range(2):
            scores = query[member, :, head] @ key[member, :, head].transpose(-1, -2) / 2.0
            edge = graphs[member]
            scores = mixer.gain[member, edge, head] * scores + mixer.shift[member, edge, head]
            weights = mixer.weights(x, inputs=graphs)[member, :, head]
            torch.testing.assert_close(weights, scores.softmax(dim=-1))


def test_masked_graph_attention_sees_only_neighbours_and_itself():
    model = built(f"GraphTF-(1,{WIDTH},edges=masked)", features=LENGTH)
    graphs = torch.randint(2, (2, 3, LENGTH, LENGTH), generator=torch.Generator().manual_seed(2))
    weights = model.attention_weights(graphs)[0][:, :, 0]
    allowed = (graphs + torch.eye(LENGTH, dtype=torch.int64)) > 0
    assert torch.equal(weights > 0, allowed)


def test_graph_attention_wants_graphs():
    model = built(f"GraphTF-(1,{WIDTH})", features=LENGTH + 1)
    with pytest.raises(SeparatrixError, match="reads adjacency matrices"):
        model(torch.zeros(2, 1, LENGTH, LENGTH + 1, dtype=torch.int64))


def test_attention_weights_of_a_whole_model():
    model = built(f"TF,LSTM,HardTF-(3,{WIDTH})")
    inputs = torch.randint(6, (2, 3, LENGTH), generator=torch.Generator().manual_seed(1))
    found = model.attention_weights(inputs)
    assert set(found) == {0, 2}
    for weights in found.values():
        assert weights.shape == (2, 3, 1, LENGTH, LENGTH)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 1, LENGTH, dtype=torch.float64))
        assert torch.all(weights.triu(1) == 0)


def test_rotary_positions_depend_on_distances_only():
    mixer = mixer_of(f"TF-(1,{WIDTH},positions=rotary)")
    x = activations()
    # Two copies of one sequence, the second three places later.
    late = torch.cat([torch.zeros_like(x[:, :, :3]), x[:, :, :-3]], dim=2)
    early, shifted = mixer.weights(x)[..., 5, :6], mixer.weights(late)[..., 8, 3:9]
    torch.testing.assert_close(early / early.sum(-1, keepdim=True), shifted / shifted.sum(-1, keepdim=True))


def test_sine_waves_are_those_of_the_paper():
    model = build_model(parse_spec("TF-(1,6,positions=sinusoidal)"), vocabulary=5, classes=2, length=9, seeds=[1, 2])
    assert model.positions is not None and not list(model.positions.parameters()), "nothing is learned"
    expected = [
        [getattr(math, "cos" if column % 2 else "sin")(t / 10000 ** ((column - column % 2) / 6)) for column in range(6)]
        for t in range(9)
    ]
    torch.testing.assert_close(model.positions.table[0], torch.tensor(expected))


def test_without_positions_nothing_tells_them_apart():
    spec = parse_spec("TF-(2,8,positions=none,mask=none,heads=8)")
    model = build_model(spec, vocabulary=5, classes=3, length=6, seeds=[1], dtype=torch.float64)
    assert model.positions is None
    tokens, order = torch.tensor([[[0, 1, 2, 3, 4, 0]]]), torch.tensor([3, 1, 5, 0, 2, 4])
    torch.testing.assert_close(model(tokens[..., order]), model(tokens)[:, :, order])
    learned = build_model(parse_spec("TF-(2,8,mask=none,heads=8)"), vocabulary=5, classes=3, length=6, seeds=[1])
    assert not torch.allclose(learned(tokens[..., order]), learned(tokens)[:, :, order], atol=1e-5)
