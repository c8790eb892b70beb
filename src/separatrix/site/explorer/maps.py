"""Pictures of attention: the weights of all queries of a head as bytes, and those of one query as numbers."""

from base64 import b64encode
from functools import lru_cache

import numpy

from separatrix.networks import Attention
from separatrix.site.explorer.replies import At, AttentionReply, LayerAbout, Picture, Weighed
from separatrix.table import Reals, Trace

LARGEST_MAP = 512
"""Rows and columns of a map; longer inputs are shown in blocks, each by its largest weight."""
LARGEST_BLOCK = 1 << 20
"""Weights made at a time."""
TOP = 8
"""Keys that are listed."""
KEPT = 8
"""Maps that a process caches, so that choosing another position is cheap."""


def attention_of(run: Trace, layer: int, head: int, position: int, read: list[int]) -> AttentionReply:
    """Return the map of one head, the weights of one query, and which layers and heads there are.

    A recurrent network has none of these: its map shows the states over positions.
    """
    layers = run.attention_layers
    if not layers:
        states = run.arithmetic.to_float64(run.stages[-1].stream).T
        return AttentionReply(layers=[], layer=0, head=0, kind="state", map=picture(states))
    about = [
        LayerAbout(heads=len(each.heads), mask=getattr(each.heads[0], "mask", "none"), scoring=each.heads[0].scoring)
        for _, each in layers
    ]
    layer = min(layer, len(layers) - 1)
    chosen = layers[layer][1]
    head = min(head, len(chosen.heads) - 1)
    if not isinstance(chosen, Attention):
        pairs, dummy = run.pair_weights(layer, head, position)
        return AttentionReply(
            layers=about, layer=layer, head=head, kind="pairs", map=picture(pairs),
            top=_largest(pairs), dummy=None if dummy is None else _short(dummy),
        )  # fmt: skip
    asked = read if layer == len(layers) - 1 else range(run.network.positions)
    weights, lead = _whole_map(run, layer, head, tuple(asked))
    row = run.weights(layer, head, numpy.array([position]))[0]
    return AttentionReply(
        layers=about, layer=layer, head=head, kind="positions", map=weights, top=_largest(row),
        lead=lead,
    )  # fmt: skip


def _largest(weights: Reals) -> list[Weighed]:
    """Return the largest weights and their places."""
    best = numpy.argsort(-weights, axis=None, kind="stable")[:TOP]
    places = zip(*numpy.unravel_index(best, weights.shape), strict=True)
    return [Weighed(keys=[int(each) for each in place], weight=_short(float(weights[place]))) for place in places]


@lru_cache(maxsize=KEPT)
def _whole_map(run: Trace, layer: int, head: int, asked: tuple[int, ...]) -> tuple[Picture, At | None]:
    """Return all weights of a head, made in blocks of queries, and the smallest lead of a best key among ``asked``."""
    size = run.network.positions
    block = -(-size // LARGEST_MAP)
    rows = block * max(1, LARGEST_BLOCK // (size * block))
    counting = numpy.isin(numpy.arange(size), asked)
    pieces: list[Reals] = []
    smallest: tuple[float, int] | None = None
    for start in range(0, size, rows):
        queries = numpy.arange(start, min(start + rows, size))
        weights = run.weights(layer, head, queries)
        pieces.append(_blocks(weights, block))
        if size > 1 and counting[queries].any():
            two = -numpy.partition(-weights, 1, axis=1)[:, :2]
            # A query that sees no key has no best one.
            leads = numpy.where(counting[queries] & (two[:, 0] > 0), two[:, 0] - two[:, 1], numpy.inf)
            place = int(numpy.argmin(leads))
            if numpy.isfinite(leads[place]) and (smallest is None or leads[place] < smallest[0]):
                smallest = (float(leads[place]), int(queries[place]))
    lead = None if smallest is None else At(value=_short(smallest[0]), position=smallest[1])
    return picture(numpy.concatenate(pieces), block), lead


def _blocks(weights: Reals, block: int) -> Reals:
    """Return the largest weight of every block × block square."""
    if block == 1:
        return weights
    rows, columns = (-(-side // block) * block for side in weights.shape)
    padded = numpy.full((rows, columns), -numpy.inf)
    padded[: weights.shape[0], : weights.shape[1]] = weights
    return padded.reshape(rows // block, block, columns // block, block).max(axis=(1, 3))


def picture(values: Reals, block: int = 1) -> Picture:
    """Return a matrix as bytes: weights as 255·√w, so that small ones differ from 0, other numbers linearly."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if low >= 0 and high <= 1:
        kind, low, high, unit = "weights", 0.0, 1.0, numpy.sqrt(values)
    else:
        kind, unit = "linear", (values - low) / max(high - low, 1e-300)
    data = b64encode(numpy.rint(255 * unit).astype(numpy.uint8).tobytes()).decode("ascii")
    rows, columns = values.shape
    return Picture(rows=rows, columns=columns, block=block, kind=kind, low=low, high=high, data=data)


def rounded(values: Reals) -> list[float]:
    """Return numbers with six significant digits."""
    return [_short(value) for value in values.tolist()]


def _short(value: float) -> float:
    return float(f"{value:.6g}")
