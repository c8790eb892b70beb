"""Training a lookup so that it can be certified: a hinge on what the attention leaks.

What a certificate of a one-layer Transformer needs most is that the asked key gets almost all of the weight whatever
the other symbols are. With S_p(c) the score of the asked key and S_j(s) those of the others, the gap

    min_c S_p(c) - log Σ_{j ≠ p} exp(max_s S_j(s))

bounds the leak by exp(-gap) on every text at once. The loss adds the mean over questions and heads of what the gap
lacks of a margin. It is about texts of exactly the run's length, from the weights alone, without any example. Two
layers have a loss of the same kind (``layered_leaks``).
"""

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models import (
    Block,
    EnsembleEmbedding,
    SelfAttention,
    SequenceModel,
    check_described,
    linear,
    lookup_groups,
    parse_spec,
    rotate,
)
from separatrix.training.spec import RunSpec


def check_leaks(run: RunSpec) -> None:
    """Refuse a margin for what cannot be certified.

    >>> check_leaks(RunSpec(task="equality", architecture="TF-(1,8)", length=8, learning_rate=0.1, steps=80))
    >>> check_leaks(
    ...     RunSpec(task="equality", architecture="TF-(1,8)", length=8, learning_rate=0.1, steps=80, leak_margin=6)
    ... )
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: leak_margin=6.0, as of --certifiable, is for index-lookup and \
associative-recall, not for equality; leave it out
    """
    if not run.leak_margin:
        return
    if lookup_groups(run.the_task(), run.length) is None:
        raise SeparatrixError(
            f"leak_margin={run.leak_margin}, as of --certifiable, is for index-lookup and associative-recall, not for "
            f"{run.task}; leave it out"
        )
    model = parse_spec(run.architecture)
    check_described(model, run.precision)
    if model.depth == 1 and run.task != "index-lookup":
        raise SeparatrixError(
            f"leak_margin={run.leak_margin} is for two layers on {run.task}; take TF-(2,{model.width})"
        )


def gaps(model: SequenceModel, length: int) -> Tensor:
    """Return the gaps of all members, heads and questions: (members, heads, length)."""
    block, positions = model.blocks[0], model.positions
    assert isinstance(block, Block) and block.norm is not None
    mixer = block.mixer
    assert isinstance(mixer, SelfAttention)
    assert isinstance(model.embedding, EnsembleEmbedding)
    table, width = model.embedding.weight, mixer.width
    alphabet, members = model.classes, model.members
    places = table.new_zeros(1, length + 1, 1) if positions is None else positions.table
    keys = block.norm(table[:, None, :alphabet] + places[:, :length, None])
    asked = block.norm(table[:, alphabet : alphabet + length] + places[:, length : length + 1])
    weight, bias = mixer.project.weight, mixer.project.bias
    assert isinstance(bias, Tensor)
    query = linear(asked, weight[..., :width], bias[..., :width])
    key = linear(keys, weight[..., width : 2 * width], bias[..., width : 2 * width])
    query = query.view(members, length, mixer.heads, mixer.dimension)
    key = key.view(members, length, alphabet, mixer.heads, mixer.dimension)
    if mixer.rotary:
        places = torch.arange(length + 1, device=query.device)
        query = rotate(query, places[-1:])
        key = rotate(key, places[:-1, None, None])
    scores = torch.einsum("mphi,mjshi->mhpjs", query, key) * mixer.scale
    own = torch.eye(length, dtype=torch.bool, device=scores.device)
    least = scores.diagonal(dim1=2, dim2=3).amin(dim=2)
    others = scores.amax(dim=4).masked_fill(own, float("-inf"))
    return least - others.logsumexp(dim=3)


def leak_losses(model: SequenceModel, length: int, margin: float) -> Tensor:
    """Return what each member's gaps lack of the margin, on average: (members,)."""
    return (margin - gaps(model, length)).clamp(min=0).mean(dim=(1, 2))
