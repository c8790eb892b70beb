"""Constructions certified at one length: sizes as the bounds count them, and the class of models of each network."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from separatrix.bounds import FIXED, Growth, Model, ModelSize
from separatrix.certificates import Claim, Verdict, check, estimated_bytes, size_of
from separatrix.constructions import Construction, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Attention, GraphAttention, Network, RecurrentNetwork, ThirdOrderAttention

LARGEST = 1 << 30
"""Bytes that one check may be estimated to take."""
LENGTH = 64
"""The length of the table's numbers."""
SMALL = 16
"""Every construction builds at this length, where only its kind is needed."""
CLASSES: Mapping[Model, str] = {
    "rnn": "any RNN",
    "transformer-1layer": "1-layer Transformer",
    "transformer-2layer": "2-layer Transformer",
    "fnn": "FNN",
    "third-order": "third-order attention",
    "graph-transformer": "graph Transformer",
}


@dataclass(frozen=True)
class Certified:
    """A construction certified for all inputs of a length, with its size."""

    construction: str
    theorem: str
    task: str
    model: Model | None
    length: int
    width: int
    size: ModelSize
    growth: Growth
    arithmetic: str = FIXED.name
    serves: tuple[tuple[str, str], ...] = ()

    def reason_for(self, task: str) -> str | None:
        """Return why it solves a task: empty for its own task, None where it does not solve it."""
        return "" if task == self.task else dict(self.serves).get(task)

    @property
    def short(self) -> str:
        """The size alone; several heads with the width of one, since a bound counts heads times that."""
        heads = f", {self.size.heads} heads of width {self.size.width}" if self.size.heads > 1 else ""
        return f"{self.size.width} units" if self.model == "rnn" else f"width {self.width}{heads}"

    @property
    def number(self) -> str:
        """The width, and the heads where there are several."""
        return f"{self.width}×{self.size.heads}" if self.size.heads > 1 else str(self.width)

    @property
    def text(self) -> str:
        """In words, for a cell."""
        return f"{self.construction}: {self.short}, certified at N = {self.length}"


def certify_all(length: int = LENGTH, advance: Callable[[str], None] | None = None) -> tuple[Certified, ...]:
    """Return every construction built and certified at a length; what a length does not suit is left out.

    Raises :class:`SeparatrixError` if one is refuted or not proved: the table shows certified sizes only.
    """
    found: list[Certified] = []
    for construction in constructions().values():
        one = certified_size(construction, length)
        found += [one] if one is not None else []
        if advance is not None:
            advance(f"certified {construction.name} for the table")
    return tuple(found)


@dataclass(frozen=True)
class Checked:
    """A construction built and checked at one length, without its weights."""

    counted: Mapping[str, int]
    """The size as the papers count it."""
    model: Model | None
    size: ModelSize
    verdict: Verdict
    seconds: float
    """The processor time that building and checking took."""


@cache  # the table and the page of the constructions need the same networks
def checked(name: str, length: int) -> Checked | None:
    """Build and check a construction; None where its theorem does not reach that length or the check is too large."""
    started = time.process_time()
    try:
        built = constructions()[name].build(length)
    except SeparatrixError:
        return None
    if estimated_bytes(built.network) > LARGEST:
        return None
    claim = Claim(built.task, built.length, built.arithmetic)
    verdict = check(built.network, claim)
    return Checked(
        size_of(built.network, claim),
        model_of(built.network),
        size_of_model(built.network, built.arithmetic.precision_bits),
        verdict,
        time.process_time() - started,
    )


def certified_size(construction: Construction, length: int) -> Certified | None:
    """Certify one construction at a length; return None where its theorem does not reach that length."""
    one = checked(construction.name, length)
    if one is None:
        return None
    if not one.verdict.valid:
        raise SeparatrixError(f"{construction.name} is not certified at length {length}: {one.verdict.reason}")
    return Certified(
        construction.name,
        construction.theorem,
        construction.task_name,
        one.model,
        length,
        one.counted["width"],
        one.size,
        construction.growth,
        construction.arithmetic_kind,
        construction.serves,
    )


def model_of(network: AnyNetwork) -> Model | None:
    """Return the class of models that a network belongs to; None for those that have no column."""
    if isinstance(network, RecurrentNetwork):
        return "rnn"
    kinds = [type(layer) for layer in network.layers]
    if GraphAttention in kinds:
        return None  # the higher-order unit attends to pairs of vertices, which a graph Transformer does not
    if ThirdOrderAttention in kinds:
        return "third-order" if kinds.count(ThirdOrderAttention) == 1 and Attention not in kinds else None
    return {1: "transformer-1layer", 2: "transformer-2layer"}.get(kinds.count(Attention))  # type: ignore[return-value]


def kind_in_words(network: AnyNetwork) -> str:
    """Return the class of a network in words, also of those that have no column in the table.

    >>> kind_in_words(constructions()["directed-3-cycle"].build(4).network)
    'higher-order graph unit'
    """
    model = model_of(network)
    if model is not None:
        return CLASSES[model].removeprefix("any ")
    if isinstance(network, Network) and any(isinstance(layer, GraphAttention) for layer in network.layers):
        return "higher-order graph unit"
    return f"{network.depth}-layer Transformer"


def size_of_model(network: AnyNetwork, precision: int) -> ModelSize:
    """Return the numbers that the bounds count: rows of the projections, heads of a layer, layers, precision."""
    if isinstance(network, RecurrentNetwork):
        return ModelSize(network.width, precision)
    rows, heads = _rows_and_heads(network)
    return ModelSize(max(1, rows), precision, max(1, heads), max(1, network.depth))


def _rows_and_heads(network: Network) -> tuple[int, int]:
    rows = heads = 0
    for layer in network.layers:
        if isinstance(layer, Attention):
            heads = max(heads, len(layer.heads))
            rows = max([rows, *(max(head.query.shape[0], head.value.shape[0]) for head in layer.heads)])
        elif isinstance(layer, ThirdOrderAttention | GraphAttention):
            heads, rows = max(heads, len(layer.heads)), max(rows, network.width)
    return rows, heads


def model_of_construction(construction: Construction) -> Model | None:
    """Return the class of models of a construction's networks, from a small one."""
    return model_of(construction.build(max(construction.minimum_length, SMALL)).network)


def kind_of(construction: Construction) -> str:
    """Return the class of a construction's networks in words, from a small one."""
    return kind_in_words(construction.build(max(construction.minimum_length, SMALL)).network)
