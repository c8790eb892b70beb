"""The ensemble trainer against careful peers, which compute only what is asked; all in one run, in turns.

Run as  python -m benchmarks peers --write docs/training.md

The peers are TF-(1,64) on index lookup as somebody careful would write it: the query, the attention, the feed-forward
part and the readout only at the position that is asked, keys and values for all, data drawn in chunks by the same
sampler, nothing read back while it trains. One model in plain torch, seven by ``torch.func.vmap`` in one program, and
seven by JAX with ``vmap`` and ``scan`` where jax is installed. It is in no extra: ``pip install --target FOLDER
--no-deps jax jaxlib opt_einsum`` with ``PYTHONPATH=FOLDER`` leaves the environment unchanged. That the peers compute
what ours computes is tested: with our weights they give our outputs.
"""

import importlib
import math
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap
from torch.nn import functional

from benchmarks.report import Report, progress
from benchmarks.training import CPU, LENGTH, RATES, Steps, clock_for, in_turns, specification
from separatrix.models.architecture import ModelSpec
from separatrix.models.sequence_model import SequenceModel
from separatrix.training.batches import CHUNK_STEPS, Batch
from separatrix.training.devices import prepare_process
from separatrix.training.ensemble import Ensemble

WIDTH = 64
MODEL = ModelSpec(("transformer",), WIDTH)
SECONDS = 20.0
ABOUT = f"""\
{MODEL} at N = {LENGTH}, batch 64, one thread, against peers that compute only what is needed: query, attention,
feed-forward and readout at the query position only, keys and values for all positions, data from the same sampler in
chunks, and no results copied back. With our weights they give our outputs (tested). All sides alternate, and the
fastest turn counts."""
Weights = Mapping[str, Tensor]


def weights_of(model: SequenceModel) -> dict[str, Tensor]:
    """A copy of all weights, members first."""
    return {name: value.detach().clone().requires_grad_() for name, value in model.named_parameters()}


def logits(weights: Weights, tokens: Tensor, read: Tensor) -> Tensor:
    """One model of one layer and one head: tokens (batch, positions), read (batch,), to (batch, classes)."""
    rows = torch.arange(tokens.shape[0], device=tokens.device)
    x = functional.embedding(tokens, weights["embedding.weight"]) + weights["positions.table"][: tokens.shape[1]]
    normed = _norm(x, weights, "blocks.0.norm")
    project, bias = weights["blocks.0.mixer.project.weight"], weights["blocks.0.mixer.project.bias"]
    width = x.shape[-1]
    pairs = normed @ project[:, width:] + bias[width:]
    query = normed[rows, read] @ project[:, :width] + bias[:width]
    scores = torch.einsum("bd,btd->bt", query, pairs[..., :width]) / math.sqrt(width)
    later = torch.arange(tokens.shape[1], device=tokens.device) > read[:, None]
    shares = scores.masked_fill(later, -math.inf).softmax(dim=-1)
    mixed = torch.einsum("bt,btd->bd", shares, pairs[..., width:])
    x = x[rows, read] + mixed @ weights["blocks.0.mixer.output.weight"] + weights["blocks.0.mixer.output.bias"]
    inner = _norm(x, weights, "blocks.0.feed_forward_norm") @ weights["blocks.0.feed_forward.inner.weight"]
    inner = functional.gelu(inner + weights["blocks.0.feed_forward.inner.bias"], approximate="tanh")
    x = x + inner @ weights["blocks.0.feed_forward.outer.weight"] + weights["blocks.0.feed_forward.outer.bias"]
    return _norm(x, weights, "norm") @ weights["readout.weight"] + weights["readout.bias"]


def _norm(x: Tensor, weights: Weights, name: str) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-5)


def loss(weights: Weights, tokens: Tensor, read: Tensor, targets: Tensor) -> Tensor:
    """The mean loss of one model."""
    return functional.cross_entropy(logits(weights, tokens, read), targets)


class Chunks:
    """Steps of data for one seed, drawn as the trainer draws them."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.data, self.step = ensemble.data, 0
        self.chunk: Batch | None = None

    def next(self) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens (batch, positions), the position asked (batch,), its answer (batch,)."""
        number, place = divmod(self.step, CHUNK_STEPS)
        if place == 0 or self.chunk is None:
            self.chunk = self.data.training_chunk([0], number)
        self.step += 1
        assert self.chunk.read is not None
        return self.chunk.inputs[place, 0], self.chunk.read[place, 0, :, 0], self.chunk.targets[place, 0, :, 0]


def plain_torch(ensemble: Ensemble) -> Steps:
    """One model in plain torch."""
    weights = {name: value[0].detach().clone().requires_grad_() for name, value in weights_of(ensemble.model).items()}
    adam, data = torch.optim.Adam(list(weights.values()), lr=1e-3, fused=True), Chunks(ensemble)

    def steps(count: int) -> None:
        for _ in range(count):
            adam.zero_grad()
            loss(weights, *data.next()).backward()
            adam.step()

    return steps


def by_vmap(ensemble: Ensemble) -> Steps:
    """All members in one program by ``torch.func.vmap``; one optimiser for the stacked weights."""
    weights, data = weights_of(ensemble.model), Chunks(ensemble)
    adam = torch.optim.Adam(list(weights.values()), lr=1e-3, fused=True)
    together = vmap(loss, in_dims=(0, None, None, None))

    def steps(count: int) -> None:
        for _ in range(count):
            adam.zero_grad()
            together(weights, *data.next()).sum().backward()
            adam.step()

    return steps


def jax_loss(jax: Any) -> Any:
    """Return :func:`loss` in JAX, for one model."""
    jnp, width = jax.numpy, WIDTH

    def norm(x: Any, own: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * own[f"{name}.weight"] + own[f"{name}.bias"]

    def one(own: Any, tokens: Any, read: Any, targets: Any) -> Any:
        rows = jnp.arange(tokens.shape[0])
        x = own["embedding.weight"][tokens] + own["positions.table"][: tokens.shape[1]]
        normed = norm(x, own, "blocks.0.norm")
        project, bias = own["blocks.0.mixer.project.weight"], own["blocks.0.mixer.project.bias"]
        pairs = normed @ project[:, width:] + bias[width:]
        query = normed[rows, read] @ project[:, :width] + bias[:width]
        scores = jnp.einsum("bd,btd->bt", query, pairs[..., :width]) / math.sqrt(width)
        scores = jnp.where(jnp.arange(tokens.shape[1]) > read[:, None], -jnp.inf, scores)
        mixed = jnp.einsum("bt,btd->bd", jax.nn.softmax(scores), pairs[..., width:])
        x = x[rows, read] + mixed @ own["blocks.0.mixer.output.weight"] + own["blocks.0.mixer.output.bias"]
        inner = norm(x, own, "blocks.0.feed_forward_norm") @ own["blocks.0.feed_forward.inner.weight"]
        inner = jax.nn.gelu(inner + own["blocks.0.feed_forward.inner.bias"], approximate=True)
        x = x + inner @ own["blocks.0.feed_forward.outer.weight"] + own["blocks.0.feed_forward.outer.bias"]
        found = norm(x, own, "norm") @ own["readout.weight"] + own["readout.bias"]
        return -jax.nn.log_softmax(found)[rows, targets].mean()

    return one


def by_jax(ensemble: Ensemble) -> Steps | None:
    """All members by JAX: ``vmap`` over members, ``scan`` over the steps of a chunk, compiled; None without jax."""
    if find_spec("jax") is None:
        return None
    jax: Any = importlib.import_module("jax")
    jnp = jax.numpy
    weights = {name: jnp.asarray(value.detach().numpy()) for name, value in weights_of(ensemble.model).items()}
    data = Chunks(ensemble)
    gradient = jax.vmap(jax.grad(jax_loss(jax)), in_axes=(0, None, None, None))

    def step(state: Any, batch: Any) -> Any:
        own, first, second, count = state
        found = gradient(own, *batch)
        tree = jax.tree_util.tree_map
        first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, found)
        second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, found)
        count = count + 1
        scale = jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        own = tree(lambda w, m, v: w - 1e-3 * scale * m / (jnp.sqrt(v) + 1e-8), own, first, second)
        return (own, first, second, count), None

    run = jax.jit(lambda state, batches: jax.lax.scan(step, state, batches)[0])
    zeros = jax.tree_util.tree_map(jnp.zeros_like, weights)
    held = [(weights, zeros, zeros, jnp.zeros(()))]

    def steps(count: int) -> None:
        drawn = [data.next() for _ in range(count)]
        batches = tuple(jnp.asarray(torch.stack(each).numpy()) for each in zip(*drawn, strict=True))
        held[0] = run(held[0], batches)
        jax.block_until_ready(held[0][3])

    return steps


def reports() -> Iterator[Report]:
    """One table on one thread."""
    prepare_process(CPU, 1)
    report = Report(
        "Training against careful peers (CPU time of one thread)",
        "Milliseconds for one model-step, and the speed-up in model-steps per second of seven learning rates as one "
        "ensemble.",
        ("who", "models at once", "ms a model-step", "ours is faster by"),
    )
    progress(f"{MODEL} against careful peers")
    specs = [specification(MODEL, rate) for rate in RATES]
    seven, one = Ensemble(specs, CPU), Ensemble(specs[2:3], CPU)
    sides: list[tuple[str, int, Steps]] = [
        ("the trainer, seven learning rates", len(RATES), seven.advance), ("the trainer, one", 1, one.advance),
        ("plain torch, query position only", 1, plain_torch(Ensemble(specs[2:3], CPU))),
        ("torch.func.vmap, query position only", len(RATES), by_vmap(Ensemble(specs, CPU))),
    ]  # fmt: skip
    jax = by_jax(Ensemble(specs, CPU))
    if jax is not None:
        sides.append((f"JAX {version('jax')} vmap + scan, query position only", len(RATES), jax))
    times = in_turns([each[2] for each in sides], [4] * len(sides), SECONDS, clock_for(1))
    each = [seconds / models for seconds, (_, models, _) in zip(times, sides, strict=True)]
    for (name, models, _), seconds in zip(sides, each, strict=True):
        report.add(name, models, f"{1e3 * seconds:.2f}", f"{seconds / each[0]:.1f}×")
    if jax is None:
        report.add("JAX vmap + scan, query position only", len(RATES), "–", "jax is not installed here")
    yield report
