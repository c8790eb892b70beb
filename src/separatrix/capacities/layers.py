"""What a sequence model keeps between two tokens, layer by layer.

BHBK24 §2 gives a recurrent model a hidden state of m numbers of p bits and lets the update be any function, so only the
count of numbers matters for Theorems 2, 3, 8 and 11. A :class:`LayerDescription` says how many numbers a layer hands
from one token to the next, and how wide its attention is. These kinds of memory occur:

- ``recurrent``: a fixed count of numbers (LSTM, state-space models, linear attention, retention).
- ``local-attention``: softmax attention over at most ``window`` earlier positions. Its keys and values are all it
  remembers, 2 × window × key/value heads × head width numbers, so its memory is bounded as well.
- ``attention``: softmax attention over all positions; its memory grows with the input and no bound on a state applies.
- ``graph-attention``: the same between the vertices of a graph, as SHT23's graph Transformers have it.
- ``unstated``: a user's module that does not say what it keeps, so that nothing is known about its memory.

The count of tokens read so far is not part of the state: in BHBK24 §2 the update may depend on the time step, so both
parties of Theorem 2 know it. Config files, presets and this package's own architectures all end in a
:class:`ModelDescription`, and everything else starts from one.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from separatrix.errors import SeparatrixError

Kind: TypeAlias = Literal["recurrent", "local-attention", "attention", "graph-attention", "unstated"]
Evidence: TypeAlias = Literal["executed", "published", "given", "guess"]
"""How what a model keeps was checked: against the caches of running models of its type; by published formulas and code
that was read; not, because a person described it; not, because its type is not known and its fields are the usual."""
Per: TypeAlias = Literal["sequence", "window", "rest", "once", "token", "beyond", "every"]
"""How an array fills up: at once; with the last ``size`` tokens; with those since the last multiple of ``size``; once
``size`` tokens are read; by an entry for each token; the same, and nothing up to ``size`` tokens; by an entry for each
``size`` tokens."""


@dataclass(frozen=True)
class StatePart:
    """One array that a layer keeps: how many numbers, and the product they come from.

    ``running``: every step adds to what is there, and code keeps it in more bits than other numbers
    (:mod:`separatrix.capacities.number_formats`); otherwise it holds numbers as they were computed.
    ``number_format``: the format in which its code keeps it whatever the weights are in; empty: that of the weights.
    ``or_wider``: where the weights are in a wider one, in theirs.
    ``numbers`` counts all entries of an array of bounded size, and one entry of one that grows (``per`` token or
    every). ``unread``: numbers that its code keeps as well and never reads again, which take memory and carry nothing.
    """

    name: str
    numbers: int
    formula: str
    running: bool = True
    number_format: str = ""
    per: Per = "sequence"
    size: int = 1
    unread: int = 0
    or_wider: bool = False

    @property
    def grows(self) -> bool:
        """Whether it becomes larger with every text that is longer."""
        return self.per in ("token", "beyond", "every")

    def held(self, length: int) -> int:
        """The numbers in memory after so many tokens, those that are never read again included.

        >>> StatePart("keys and values", 40, "2 × 4 × 5", per="window", size=5).held(3)
        24
        >>> StatePart("keys and values", 8, "2 × 4", per="token").held(100)
        800
        """
        match self.per:
            case "sequence":
                return self.numbers + self.unread
            case "window":
                oldest = self.unread if length > self.size else 0
                return self.numbers // max(self.size, 1) * min(length, self.size) + oldest
            case "rest":
                return self.numbers // max(self.size - 1, 1) * (length % self.size)
            case "once":
                return self.numbers if length >= self.size else 0
            case "token":
                return self.numbers * length
            case "beyond":
                return self.numbers * length if length > self.size else 0
            case "every":
                return self.numbers * (length // self.size)


@dataclass(frozen=True, kw_only=True)
class LayerDescription:
    """``count`` equal layers.

    ``heads`` and ``head_width`` are H and m of BHBK24 §2 (the projections W_Q, W_K, W_V are m × d), ``width`` is d.
    ``window`` is the number of *earlier* positions a local attention sees. ``state`` are the arrays of bounded size,
    ``cache`` those that grow. ``softmax``: whether the heads are those of BHBK24 §2, which read every position, so that
    Theorem 4's protocol covers the layer; a head that chooses some positions or subtracts two averages is another.
    ``shared``: it reads the cache of an earlier layer and keeps nothing. ``uncached``: its code keeps nothing either,
    such as one that computes the whole text again for each token.
    """

    kind: Kind
    name: str
    width: int = 0
    heads: int = 0
    head_width: int = 0
    key_value_heads: int = 0
    window: int | None = None
    state: tuple[StatePart, ...] = ()
    cache: tuple[StatePart, ...] = ()
    softmax: bool = True
    shared: bool = False
    uncached: bool = False
    count: int = 1

    def __post_init__(self) -> None:
        sizes = (self.width, self.heads, self.head_width, self.key_value_heads, self.window or 0)
        if self.count < 1 or min(sizes) < 0 or any(part.numbers < 0 for part in self.state):
            raise SeparatrixError(
                f"layer {self.name!r} has a negative size; sizes are whole numbers from 0, counts from 1"
            )
        if any(part.grows for part in self.state) or not all(part.grows for part in self.cache):
            raise SeparatrixError(f"layer {self.name!r} has arrays in the wrong place; those that grow are its cache")
        if self.cache and self.kind in ("recurrent", "local-attention"):
            raise SeparatrixError(f"layer {self.name!r} is {self.kind}, and yet something in it grows; correct one")
        if (self.kind == "local-attention") != (self.window is not None):
            raise SeparatrixError(f"layer {self.name!r} is {self.kind}; exactly local-attention layers have a window")
        if self.kind == "recurrent" and not self.state:
            raise SeparatrixError(f"recurrent layer {self.name!r} has no state; list its arrays as StatePart")

    @property
    def bounded(self) -> bool:
        """Whether the memory of the layer stays the same for all lengths."""
        return self.kind in ("recurrent", "local-attention")

    @property
    def state_numbers(self) -> int | None:
        """Numbers kept by one of these layers between two tokens; ``None`` where they grow with the length."""
        return sum(part.numbers for part in self.state) if self.bounded else None


@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """A model as the bounds see it; ``passes``: how often it reads its input (a bidirectional network reads twice).

    ``number_format`` is the format of its numbers, such as float32, and ``number_format_from`` who says so; it is empty
    where nobody does. ``state_format`` is that of its running states, where its config says it and its code follows.
    ``causal``: no position depends on a later one, so that what it keeps is all that goes on from a prefix; False where
    that is not known. ``ahead``: some position is known to depend on a later one. ``evidence``: how what its family
    keeps was checked. ``code``: what runs it, whose number formats are counted. ``state_space``: its recurrent layers
    are state-space models of Mamba's kind.
    """

    name: str
    family: str
    layers: tuple[LayerDescription, ...]
    passes: int = 1
    trained_length: int | None = None
    number_format: str = ""
    number_format_from: str = "its config"
    state_format: str = ""
    source: str = ""
    notes: tuple[str, ...] = field(default=())
    causal: bool = False
    ahead: bool = False
    evidence: Evidence = "given"
    code: str = "transformers"
    state_space: bool = False

    def __post_init__(self) -> None:
        if not self.layers:
            raise SeparatrixError(f"model {self.name!r} has no layers; describe at least one")

    @property
    def depth(self) -> int:
        """The number of layers that mix positions."""
        return sum(layer.count for layer in self.layers)

    @property
    def state_numbers(self) -> int | None:
        """Numbers kept between two tokens by all layers together; ``None`` where they grow with the length."""
        return self.bounded_state_numbers if all(layer.bounded for layer in self.layers) else None

    @property
    def bounded_state_numbers(self) -> int:
        """Numbers kept by the layers of bounded memory alone."""
        return sum((layer.state_numbers or 0) * layer.count for layer in self.layers)

    @property
    def reach(self) -> int | None:
        """How many earlier positions the last output can depend on; ``None`` where there is no limit.

        A stack of local attention sees ``window`` positions further back with each layer and nothing beyond: L·(w − 1)
        for L layers whose window is w positions, itself included. Windows that also reach ahead are not counted.
        """
        if self.ahead:
            return None
        windows = [layer.window for layer in self.layers]
        if any(window is None for window in windows):
            return None
        return sum((window or 0) * layer.count for window, layer in zip(windows, self.layers, strict=True))


def attention(
    width: int, heads: int, head_width: int, *, key_value_heads: int | None = None, count: int = 1
) -> LayerDescription:
    """Softmax attention over all positions.

    >>> attention(768, 12, 64, count=12).state_numbers is None
    True
    """
    groups = heads if key_value_heads is None else key_value_heads
    each = StatePart("keys and values", 2 * groups * head_width, f"2 × {groups} × {head_width}", False, per="token")
    return LayerDescription(
        kind="attention", name="attention", width=width, heads=heads, head_width=head_width,
        key_value_heads=groups, cache=(each,), count=count,
    )  # fmt: skip


def local_attention(
    width: int, heads: int, head_width: int, window: int, *, key_value_heads: int | None = None, count: int = 1
) -> LayerDescription:
    """Softmax attention over the position itself and ``window`` earlier ones.

    >>> local_attention(4096, 32, 128, 4095, key_value_heads=8).state_numbers
    8386560
    """
    groups = heads if key_value_heads is None else key_value_heads
    kept, formula = 2 * groups * head_width * window, f"2 × {groups} × {head_width} × {window}"
    cache = StatePart("keys and values", kept, formula, running=False, per="window", size=window)
    return LayerDescription(
        kind="local-attention", name="local attention", width=width, heads=heads, head_width=head_width,
        key_value_heads=groups, window=window, state=(cache,), count=count,
    )  # fmt: skip


def recurrent(name: str, width: int, *state: StatePart, heads: int = 0, count: int = 1) -> LayerDescription:
    """A layer with a fixed state.

    >>> recurrent("LSTM", 256, StatePart("h", 256, "256"), StatePart("c", 256, "256"), count=3).state_numbers
    512
    """
    return LayerDescription(kind="recurrent", name=name, width=width, state=state, heads=heads, count=count)
