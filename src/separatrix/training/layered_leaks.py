"""The hinge of ``leaks`` for two layers: both attentions keep almost all weight on few keys, whatever the others hold.

An input is made of groups of places, a key and its label or a single symbol, and a last place that asks. In the first
layer each place looks at the first one of its group, so that a label meets its key; the rest is a leak. The second
layer is judged on groups by themselves, without any leak of the first: the asked group against all others. What is
between the layers is kept from being small.
"""

from itertools import product
from math import prod

import torch
from torch import Tensor

from separatrix.models import Block, EnsembleEmbedding, SelfAttention, SequenceModel, linear
from separatrix_kernel.two_layers import Groups

FAR = -1e4
"""A score that gets no weight; its logarithm of a sum has a gradient, unlike that of minus infinity."""
FURTHER = 4.0
"""How much larger the first layer's gaps should be: the second one's scores amplify what it leaks."""
DEVIATION = 1.0
"""How much vectors between the layers should deviate from their mean: a norm divides float32's errors by that."""
QUIET, GROWING = 0.2, 0.4
"""Shares of training: before more than a gap of 0 is asked, and in which that grows.

All of it at once keeps a model from learning the task.
"""


def layered_losses(model: SequenceModel, groups: Groups, margin: float, done: Tensor) -> Tensor:
    """Return what gaps lack of the margin and deviations of theirs, each on average, after a share of training:
    (members,)."""
    first, second = model.blocks
    assert isinstance(first, Block) and isinstance(second, Block)
    share = ((done - QUIET) / GROWING).clamp(0, 1)
    further, found = (margin + FURTHER) * share, local_gaps(model, first, groups)
    lacks = [(further - each).clamp(min=0).mean(dim=(1, 2)) for each in found]
    keys, asked = behind(model, first, groups)
    chosen = (margin * share - asked_gaps(second, keys, asked, groups)).clamp(min=0).mean(dim=(1, 2))
    rows = torch.cat([keys.flatten(1, -2), asked.flatten(1, -2)], dim=1)
    flat = (DEVIATION * share - rows.std(dim=2)).clamp(min=0).mean(dim=1)
    return torch.stack(lacks).mean(dim=0) + chosen + flat


def behind(model: SequenceModel, first: Block, groups: Groups) -> tuple[Tensor, Tensor]:
    """Return what the first layer makes of groups by themselves, and of questions.

    (members, groups, choices of a group's tokens, places, width), and (members, questions, 1, width).
    """
    device, size = model.readout.weight.device, len(groups.tokens)
    symbols = torch.tensor(list(product(*groups.tokens)), device=device)
    places = torch.arange(groups.number * size, device=device).view(groups.number, 1, size)
    asking = torch.tensor(groups.asking, device=device)[:, None]
    keys = _passed(model, first, symbols.expand(groups.number, -1, -1), places)
    return keys, _passed(model, first, asking, asking.new_full((1, 1), groups.number * size))


def local_gaps(model: SequenceModel, block: Block, groups: Groups) -> list[Tensor]:
    """Of each kind of place how far the first place of its group is above all others: (members, heads, …)."""
    size, whole = len(groups.tokens), len(groups.tokens) * groups.number
    starts = torch.arange(groups.number, device=model.readout.weight.device) * size
    kinds = [(starts + i, tokens) for i, tokens in enumerate(groups.tokens)]
    kinds.append((starts.new_tensor([whole]), groups.asking))
    parts = [_parts(block, _embedded(model, places, tokens)) for places, tokens in kinds]
    found: list[Tensor] = []
    for i, (places, _) in enumerate(kinds):
        own = _scores(parts[i][0], parts[i][1], block)
        # Of a place with a token the score of itself, of other groups' places, and of those of its own group.
        itself = own.flatten(2, 3).flatten(3, 4).diagonal(dim1=2, dim2=3).unflatten(2, own.shape[2:4])
        others, first = list[Tensor](), itself
        for k, (before, _) in enumerate(kinds[:-1]):
            scores = _scores(parts[i][0], parts[k][1], block)
            earlier = (before[None, :] // size < places[:, None] // size)[None, None, :, None, :]
            others.append(scores.amax(dim=5).masked_fill(~earlier, FAR))
            if k < i < size:
                inside = (scores.amax(dim=5) if k else scores.amin(dim=5)).diagonal(dim1=2, dim2=4).movedim(-1, 2)
                first = first if k else inside
                others.append((inside if k else itself)[..., None])
        found.append((first - torch.cat(others, dim=-1).logsumexp(dim=-1)).flatten(2, 3))
    return found


def asked_gaps(second: Block, keys: Tensor, asked: Tensor, groups: Groups) -> Tensor:
    """Return how far the asked group is above all others in the second layer: (members, heads, questions and
    groups)."""
    count, device = groups.number, keys.device
    symbols = torch.tensor(list(product(*groups.tokens)), device=device)
    asking = torch.tensor(groups.asking, device=device)[:, None]
    query, key = _parts(second, asked)[0], _parts(second, keys)[1]
    mixer = second.mixer
    assert isinstance(mixer, SelfAttention)
    # Scores of each question, group, symbols of the group, and place in it.
    scores = torch.einsum("mqohi,mpsthi->mhqpst", query, key) * mixer.scale
    if groups.named:
        about = torch.eye(count, dtype=torch.bool, device=device)[:, :, None].expand(-1, -1, len(symbols))
        other = torch.ones_like(about)
    else:
        about = (symbols[:, 0] == asking)[:, None, :].expand(-1, count, -1)
        other = ~about
    own = scores.logsumexp(dim=5).masked_fill(~about, -FAR).amin(dim=4)
    rest = scores.masked_fill(~other[..., None], FAR).amax(dim=4).logsumexp(dim=4)
    apart = rest[:, :, :, None, :].masked_fill(torch.eye(count, dtype=torch.bool, device=device), FAR)
    gap = own - apart.logsumexp(dim=4)
    return gap[:, :, about.any(dim=2)]


def _embedded(model: SequenceModel, places: Tensor, tokens: range) -> Tensor:
    """Return the vectors (members, places, tokens, width) of all tokens at these places."""
    assert isinstance(model.embedding, EnsembleEmbedding) and model.positions is not None
    return model.embedding.weight[:, None, tokens.start : tokens.stop] + model.positions.table[:, places][:, :, None]


def _passed(model: SequenceModel, block: Block, tokens: Tensor, places: Tensor) -> Tensor:
    """Return texts of one group (…, size) behind the first layer: (members, …, size, width)."""
    assert isinstance(model.embedding, EnsembleEmbedding) and model.positions is not None
    x = model.embedding.weight[:, tokens] + model.positions.table[:, places.expand_as(tokens)]
    shape = x.shape
    flat = x.view(shape[0], prod(shape[1:-2]), *shape[-2:])
    return block(flat, tokens, None, None).view(shape)


def _parts(block: Block, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return queries and keys (members, …, heads, coordinates) of vectors."""
    mixer, norm = block.mixer, block.norm
    assert isinstance(mixer, SelfAttention) and norm is not None
    weight, bias, width = mixer.project.weight, mixer.project.bias, mixer.width
    assert isinstance(bias, Tensor)
    shape = (*x.shape[:-1], 2, mixer.heads, mixer.dimension)
    flat = norm(x).flatten(1, -2)
    query, key = linear(flat, weight[..., : 2 * width], bias[..., : 2 * width]).view(shape).unbind(dim=-3)
    return query, key


def _scores(query: Tensor, key: Tensor, block: Block) -> Tensor:
    """Return scores (members, heads, places, tokens, places, tokens)."""
    mixer = block.mixer
    assert isinstance(mixer, SelfAttention)
    return torch.einsum("mpahi,mjshi->mhpajs", query, key) * mixer.scale
