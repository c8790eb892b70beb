"""Training a recurrent network so that it can be certified for words of every length.

What a certificate needs (``separatrix_kernel.words``) is a network that forgets what its automaton does not ask for. A
node is a state of the automaton with the last token, and its centre the mean of the network's states on the words that
end in it. On words of the run's length, with every prefix read, the loss adds four things for a radius R that grows
from 0 to ``state_radius`` over the middle of training:

- the cross-entropy of the answer after each prefix, the empty one too, at the worst logits that states within R (in
  each coordinate) of the network's own have;
- what an LSTM's cells have beyond ±0.9, where rounding would cut them;
- how far states are from the centre of their node;
- how much of a tube of radius R around the centre of a node leaves the tube of the next node, for each token, by
  interval arithmetic, and the same of the start. Where nothing leaves, these tubes are the boxes of a certificate.

Mamba's state is rounded instead, because each of its decays is below 1: unrounded it forgets whatever its automaton
asks for. With R = 2^-p that is to p bits, which moves no number between -1 and 1 further than R. The loss adds the
cross-entropy of the answer after each prefix when the state is moved from what it is towards its level, by the share of
R that the radius has reached, with the gradient of the state as it is; and what its numbers have beyond ±1.

Words are made from the batch's own inputs (``mixed_words``), so that a run stays a function of its seed.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models import (
    Block,
    MambaMixer,
    SequenceModel,
    TorchLayerMixer,
    check_recurrent,
    levels,
    linear,
    parse_spec,
)
from separatrix.tasks import Task, needed_automaton
from separatrix.training.spec import RunSpec
from separatrix_kernel.cells import SELECTIVE
from separatrix_kernel.words import MOST_BITS, read_automaton

QUIET, GROWING = 0.4, 0.3
"""The radius is 0 for the first two fifths of training and whole after 70 %."""
KEPT = 0.9
"""The tube's share within which the next states are asked to be."""
LARGEST_CELL = 0.9
MIX = 6364136223846793005
"""Knuth's multiplier of a linear congruence modulo 2^64, whose upper bits look random."""
Ends = tuple[Tensor, Tensor]


def check_tubes(run: RunSpec) -> None:
    """Refuse a radius for what cannot be certified."""
    if not run.state_radius:
        return
    needed_automaton(run.the_task())
    spec = parse_spec(run.architecture)
    check_recurrent(spec, run.precision)
    if spec.entries[0].name == SELECTIVE and rounding_bits(run.state_radius) is None:
        raise SeparatrixError(
            f"state_radius={run.state_radius} is not the half of a level of {spec}; choose 2^-p, which rounds to p bits"
        )


def rounding_bits(radius: float) -> int | None:
    """Return the p of a radius 2^-p that the certificate's rounding knows.

    >>> rounding_bits(0.25), rounding_bits(0.04)
    (2, None)
    """
    bits = round(-math.log2(radius))
    return bits if 1 <= bits <= MOST_BITS and radius == 2.0**-bits else None


class Tables(NamedTuple):
    """An automaton on a device."""

    start: int
    steps: Tensor
    answers: Tensor
    living: Tensor
    """Of each state the tokens that do not end in a state of no return, repeated to 12 times the number of tokens."""
    final: Tensor
    """Whether a state is one of no return."""


def tables_of(task: Task, device: torch.device | None = None) -> Tables:
    """Return the tables of a task's automaton as tensors."""
    automaton = read_automaton(needed_automaton(task))
    count = len(automaton.steps[0])
    final = [set(row) == {state} for state, row in enumerate(automaton.steps)]
    living: list[list[int]] = []
    for row in automaton.steps:
        kept = [token for token, after in enumerate(row) if not final[after]] or list(range(count))
        living.append([kept[number % len(kept)] for number in range(12 * count)])
    tables = (torch.tensor(each, device=device) for each in (automaton.steps, automaton.answers, living, final))
    return Tables(automaton.start, *tables)


def mixed_words(inputs: Tensor, tables: Tables) -> Tensor:
    """Return words for training from inputs (members, batch, length): one in four as it is, the others walks of the
    automaton.

    A third of the walks take every token at random, a third one in four and a third one in twelve; their other tokens
    avoid states of no return. Where a token ends in such a state a walk continues as if it had not been, so that words
    with one error and with many look alike. Draws are a hash of the inputs.
    """
    members, batch, length = inputs.shape
    count = tables.steps.shape[1]
    places = torch.arange(1, length + 1, device=inputs.device)
    rows = torch.arange(batch, device=inputs.device)
    value = ((inputs + 1) * places * places * MIX).sum(dim=2) + rows * MIX
    often = torch.where(rows % 4 == 1, 12, torch.where(rows % 4 == 2, 3, 1))
    state, found = torch.full((members, batch), tables.start, device=inputs.device), list[Tensor]()
    for _ in range(length):
        value = value * MIX + 1442695040888963407
        draw = (value >> 33) & 0x3FFFFFFF
        wild, choice = draw % 12 < often, (draw >> 5) % (12 * count)
        token = torch.where(wild, choice % count, tables.living[state, choice])
        after = tables.steps[state, token]
        state = torch.where(tables.final[after], state, after)
        found.append(token)
    return torch.where((rows % 4 == 0)[:, None], inputs, torch.stack(found, dim=2))


def tube_losses(model: SequenceModel, tables: Tables, words: Tensor, radius: Tensor, whole: float) -> Tensor:
    """Return what is added to each member's loss: (members,), for words (members, batch, length).

    What leaves a tube is divided by the whole radius, which this one grows to, and counts the more the nearer this one
    is to it: at first it would keep the network from learning anything.
    """
    block = model.blocks[0]
    assert isinstance(block, Block)
    if isinstance(block.mixer, MambaMixer):
        return _rounded_losses(model, block, tables, words, radius / whole, whole)
    assert isinstance(block.mixer, TorchLayerMixer)
    mixer, count = block.mixer, tables.steps.shape[1]
    states, reached = _states(mixer, model.embedding(words)), _reached(tables, words)
    own = functional.one_hot(reached[:, :, 1:] * count + words, len(tables.steps) * count).to(states.dtype)
    seen = own.sum(dim=(1, 2))
    centres = torch.einsum("mblk,pmbln->pmkn", own, states) / seen.clamp(min=1)[:, :, None]
    away = (states - torch.einsum("mblk,pmkn->pmbln", own, centres)).abs().mean(dim=4).sum(dim=0)
    apart = (torch.einsum("mblk,mbl->mk", own, away) / seen.clamp(min=1)).mean(dim=1)
    excess = _excess(model, mixer, tables, centres, seen > 0, radius, whole)
    outside = excess.mean(dim=(0, 2, 3, 4)) + 0.1 * excess.amax(dim=(0, 4)).mean(dim=(1, 2))
    for cell in states[1:]:
        outside = outside + (cell.abs() - LARGEST_CELL).clamp(min=0).mean(dim=(1, 2, 3))
    start = torch.zeros_like(states[0, :, :, :1])
    entropy = _worst_entropy(model, torch.cat([start, states[0]], dim=2), tables.answers[reached], radius)
    return entropy + outside + apart


def _excess(
    model: SequenceModel,
    mixer: TorchLayerMixer,
    tables: Tables,
    centres: Tensor,
    seen: Tensor,
    radius: Tensor,
    whole: float,
) -> Tensor:
    """Return what leaves the next node's tube, weighted: (parts, members, start and nodes, tokens, width)."""
    count, members = tables.steps.shape[1], len(seen)
    tokens = torch.arange(count, device=seen.device)
    following = torch.cat([tables.steps[tables.start][None], tables.steps.repeat_interleave(count, dim=0)])
    following = following * count + tokens
    before = torch.cat([torch.zeros_like(centres[:, :, :1]), centres], dim=2)[:, :, :, None]
    x = model.embedding(tokens.expand(members, len(following), count))
    # The start is a point.
    radii = torch.full((len(following), 1, 1), 1.0, device=seen.device).index_fill(0, tokens[:1], 0.0) * radius
    low, high = _images(mixer, x, before.expand(-1, -1, -1, count, -1), radii)
    target = centres[:, :, following]
    outer = torch.maximum(high - target, target - low)
    happens = torch.cat([torch.ones_like(seen[:, :1]), seen], dim=1)[:, :, None] & seen[:, following]
    return (outer - KEPT * radius).clamp(min=0) * (radius / whole**2) * happens[..., None]


def _rounded_losses(
    model: SequenceModel, block: Block, tables: Tables, words: Tensor, share: Tensor, whole: float
) -> Tensor:
    """Return what is added to each member's loss for Mamba, whose state is moved by this share towards its level."""
    logits, states = rounded_run(model, block, words, share, whole)
    right = tables.answers[_reached(tables, words)[:, :, 1:]]
    own = functional.one_hot(right, logits.shape[-1]).to(logits.dtype)
    beyond = (states.abs() - 1).clamp(min=0).mean(dim=(1, 2, 3, 4))
    return _entropy(logits, right, own) + beyond


def rounded_run(
    model: SequenceModel, block: Block, words: Tensor, share: Tensor, whole: float
) -> tuple[Tensor, Tensor]:
    """Return logits after each token, and the states before they are moved: (members, batch, length, inner, state)."""
    mixer, bits = block.mixer, rounding_bits(whole)
    assert isinstance(mixer, MambaMixer) and block.norm is not None and bits is not None
    x = model.embedding(words)
    unrolled = mixer.unrolled(block.norm(x))
    state, found = torch.zeros_like(unrolled.given[:, :, 0]), list[Tensor]()
    for place in range(words.shape[2]):
        state = unrolled.decay[:, :, place] * state + unrolled.given[:, :, place]
        found.append(state)
        state = state + share * (levels(state, bits) - state).detach()
    states = torch.stack(found, dim=2)
    return model.logits(x + mixer.shown(unrolled, states)), states


def _reached(tables: Tables, words: Tensor) -> Tensor:
    """Return the automaton's states after each prefix: (members, batch, length + 1)."""
    state = torch.full(words.shape[:2], tables.start, device=words.device)
    found = [state]
    for place in range(words.shape[2]):
        state = tables.steps[state, words[:, :, place]]
        found.append(state)
    return torch.stack(found, dim=2)


def _worst_entropy(model: SequenceModel, hidden: Tensor, right: Tensor, radius: Tensor) -> Tensor:
    """Return cross-entropy where the right logit is as low, and the others as high, as states within the radius make
    them."""
    logits = model.readout(hidden)
    spread = radius * model.readout.weight.abs().sum(dim=1)[:, None, None]
    own = functional.one_hot(right, logits.shape[-1]).to(logits.dtype)
    return _entropy(logits + spread * (1 - 2 * own), right, own)


def _entropy(logits: Tensor, right: Tensor, own: Tensor) -> Tensor:
    """Return the cross-entropy of each member, with the same share for each class; ``own`` is one-hot."""
    entropy = functional.cross_entropy(logits.flatten(0, 2), right.flatten(), reduction="none").view(right.shape)
    share = own.mean(dim=(1, 2))[:, None, None].expand_as(own).gather(3, right[..., None]).squeeze(3)
    return (entropy / (share * logits.shape[-1]).clamp(min=0.05)).mean(dim=(1, 2))


def _states(mixer: TorchLayerMixer, x: Tensor) -> Tensor:
    """Return the vectors of the state after each token: (parts, members, batch, length, width)."""
    hidden = mixer(x)
    if mixer.layer != "lstm":
        return hidden[None]
    before = torch.cat([torch.zeros_like(hidden[:, :, :1]), hidden[:, :, :-1]], dim=2)
    given, kept = _sums(mixer, x, before)
    i, f, g, _ = (given + kept).chunk(4, dim=-1)
    added, forget = torch.sigmoid(i) * torch.tanh(g), torch.sigmoid(f)
    cell, found = torch.zeros_like(added[:, :, 0]), list[Tensor]()
    for place in range(added.shape[2]):
        cell = forget[:, :, place] * cell + added[:, :, place]
        found.append(cell)
    return torch.stack([hidden, torch.stack(found, dim=2)])


def _sums(mixer: TorchLayerMixer, x: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Return what all gates get from the input and from the state."""
    given = linear(x, mixer.input_weight.transpose(1, 2), mixer.input_bias)
    return given, linear(hidden, mixer.state_weight.transpose(1, 2), mixer.state_bias)


def _images(mixer: TorchLayerMixer, x: Tensor, states: Tensor, radius: Tensor) -> Ends:
    """Return where tubes around states (parts, members, …, width) go with these inputs: least and greatest."""
    before = states[0]
    given, kept = _sums(mixer, x, before)
    spread = radius * mixer.state_weight.abs().sum(dim=2)[:, None, None]
    if mixer.layer == "rnn_tanh":
        total = given + kept
        return torch.tanh(total - spread)[None], torch.tanh(total + spread)[None]
    if mixer.layer == "gru":
        (reset, update, new), (r, z, n), (rs, zs, ns) = (each.chunk(3, dim=-1) for each in (given, kept, spread))
        scaled = _product(_sigmoid(reset + r, rs), (n - ns, n + ns))
        low, high = torch.tanh(new + scaled[0]), torch.tanh(new + scaled[1])
        gate = _sigmoid(update + z, zs)
        least = [low + each * (before - radius - low) for each in gate]
        most = [high + each * (before + radius - high) for each in gate]
        return torch.minimum(*least)[None], torch.maximum(*most)[None]
    i, f, g, o = zip((given + kept).chunk(4, dim=-1), spread.chunk(4, dim=-1), strict=True)
    held = _product(_sigmoid(*f), (states[1] - radius, states[1] + radius))
    added = _product(_sigmoid(*i), (torch.tanh(g[0] - g[1]), torch.tanh(g[0] + g[1])))
    ends = held[0] + added[0], held[1] + added[1]
    shown = _product(_sigmoid(*o), (torch.tanh(ends[0]), torch.tanh(ends[1])))
    return torch.stack([shown[0], ends[0]]), torch.stack([shown[1], ends[1]])


def _sigmoid(centre: Tensor, spread: Tensor) -> Ends:
    return torch.sigmoid(centre - spread), torch.sigmoid(centre + spread)


def _product(left: Ends, right: Ends) -> Ends:
    ends = torch.stack([a * b for a in left for b in right])
    return ends.amin(dim=0), ends.amax(dim=0)


def radius_at(run: RunSpec, step: Tensor) -> Tensor:
    """Return the tube's radius at a step."""
    return run.state_radius * ((step / run.steps - QUIET) / GROWING).clamp(0, 1).to(torch.float32)
