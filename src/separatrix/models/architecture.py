"""Architectures as catalog entries, and specifications of models made of them.

An :class:`Architecture` describes one kind of layer: its mixer, its options, the block around it, how many numbers of
state it carries and how wide its attention is. Every file of ``models/architectures`` exports one as ``ARCHITECTURE``.
A :class:`ModelSpec` names a whole model: a pattern of architectures, the width and the options; it is plain data, and
its text is the papers' short form (``TF-(1,64)``, ``Mamba,Mamba,TF-(6,256)``), read back by ``naming.parse_spec``.

``state_bits`` is the quantity of BHBK24 Theorem 2 (the bits a model carries past a cut of its input) and
``attention_bits`` the m·H·(p + ⌈log₂ N⌉) of Theorem 4 without its constant (erratum E13).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from separatrix.bit_counts import bits_for
from separatrix.catalog import Catalog, discover
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.models.starts import Initialiser, Normal

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer

BlockKind: TypeAlias = Literal["pre-norm with feed-forward", "pre-norm mixer only", "bare"]
"""x + mixer(norm(x)) then x + ff(norm(x)); only the first; or the mixer alone, without norm and residual."""
Norm: TypeAlias = Literal["layer", "rms"]
Value: TypeAlias = int | float | str | bool
Options: TypeAlias = Mapping[str, Any]
"""Every option of an architecture by name, defaults filled in."""


@dataclass(frozen=True)
class Option:
    """A setting of an architecture; its type is that of its default."""

    name: str
    default: Value
    about: str
    choices: tuple[Value, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def checked(self, value: Value, owner: str) -> Value:
        """Return the value in the option's type, or a one-line error."""
        kind = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            meant = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}[kind]
            raise SeparatrixError(
                f"option {self.name}={value} of {owner} is not {meant}; its default is {self.default}"
            )
        if self.choices and value not in self.choices:
            if isinstance(value, str):
                raise UnknownNameError(f"value of option {self.name} of {owner}", value, map(str, self.choices))
            raise SeparatrixError(
                f"option {self.name}={value} of {owner} is not offered; choose {', '.join(map(str, self.choices))}"
            )
        low, high = self.minimum, self.maximum
        if not isinstance(value, str) and ((low is not None and value < low) or (high is not None and value > high)):
            above = "" if high is None else f" and at most {high:g}"
            raise SeparatrixError(
                f"option {self.name}={value} of {owner} is out of range; at least {low or 0:g}{above}"
            )
        return value


@dataclass(frozen=True)
class FeedForwardShape:
    """The position-wise map of a block: GELU (tanh form, as GPT-2) or the gated SwiGLU of Shazeer 2020."""

    activation: Literal["gelu", "swiglu"] = "gelu"
    expansion: float = 4.0


@dataclass(frozen=True)
class AttentionShape:
    """How much one attention layer reads: H heads of inner dimension m.

    >>> AttentionShape(heads=4, dimension=16).bits(length=400, precision=32)
    2624
    """

    heads: int
    dimension: int

    def bits(self, length: int, precision: int) -> int:
        """m·H·(p + ⌈log₂ N⌉) of BHBK24 Theorem 4."""
        return self.dimension * self.heads * (precision + bits_for(length))


@dataclass(frozen=True)
class Place:
    """Where a mixer is: which of how many layers (counted from 0), and the largest number of positions."""

    layer: int
    layers: int
    length: int


@dataclass(frozen=True, kw_only=True)
class Architecture(ABC):
    """One kind of layer; subclasses are frozen dataclasses that fill in the fields and the methods."""

    name: str
    short: str
    title: str
    reference: str
    equations: str
    """Separated by semicolons."""
    main_equation: int = 0
    """Which of the equations, counted from 0, tells it apart: how its state changes, or its attention."""
    deviations: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    block: BlockKind = "pre-norm with feed-forward"
    recurrent: bool = False
    norm: Norm = "layer"
    norm_epsilon: float = 1e-5
    feed_forward: FeedForwardShape = field(default_factory=FeedForwardShape)
    linear_time: bool = False
    reads_graphs: bool = False
    """Whether inputs must be the rows of adjacency matrices."""

    # How the embedding starts when this is the model's first layer.
    embedding_start: Initialiser = field(default_factory=lambda: Normal(0.02))
    feed_forward_start: Initialiser | None = field(default_factory=lambda: Normal(0.02))
    """Weights of the feed-forward part; None for torch.nn.Linear's own start. Biases start at 0 unless None."""
    scale_residual_projections: bool = True
    """GPT-2: the last map of a residual branch starts smaller by √(number of branches), where it is drawn normal."""

    @abstractmethod
    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return a mixer whose parameters are to be set by ``ensemble.initialise``."""

    @abstractmethod
    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return numbers that one layer must carry past a cut after ``length`` positions (keys and values for
        attention)."""

    def state_numbers_at(self, layer: int, width: int, options: Options, length: int) -> int:
        """Return the same for a layer that is at this place of the stack, where that matters."""
        del layer
        return self.state_numbers(width, options, length)

    def attention(self, width: int, options: Options) -> AttentionShape | None:
        """Heads and inner dimension where the layer computes softmax or hard attention."""
        del width, options
        return None

    def check(self, width: int, options: Options) -> None:
        """Raise a one-line error where width and options do not fit together; by default they always do."""
        del width, options

    def option(self, name: str) -> Option | None:
        """Return the option of this name, or None."""
        return next((each for each in self.options if each.name == name), None)

    def filled(self, given: Mapping[str, Value]) -> dict[str, Any]:
        """Return all options of this architecture, those given and the defaults of the others."""
        return {
            each.name: each.checked(given[each.name], self.short) if each.name in given else each.default
            for each in self.options
        }


@cache
def architectures() -> Catalog[Architecture]:
    """Return all architectures by name.

    >>> architectures()["transformer"].short
    'TF'
    """
    folder = import_module("separatrix.models.architectures")
    return discover("architecture", folder, "ARCHITECTURE", Architecture)  # type: ignore[type-abstract]


def architecture_named(name: str) -> Architecture:
    """Return the architecture of a name or short name, in any case; ``package.module:Class`` and ``fla:NAME`` are
    wrapped.

    >>> architecture_named("TF").name, architecture_named("Transformer").short
    ('transformer', 'TF')
    """
    if ":" in name:
        from separatrix.models.user_architecture import user_architecture

        return user_architecture(name)
    known = _by_folded_name()
    if name.casefold() not in known:
        names = [each for entry in architectures().values() for each in (entry.name, entry.short)]
        raise UnknownNameError("architecture", name, names)
    return known[name.casefold()]


@cache
def _by_folded_name() -> dict[str, Architecture]:
    return {each.casefold(): entry for entry in architectures().values() for each in (entry.name, entry.short)}


@dataclass(frozen=True)
class ModelSpec:
    """A model without input and output: architectures of its layers, width, options that differ from the default."""

    layers: tuple[str, ...]
    width: int
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.layers) <= 1024:
            raise SeparatrixError(f"a model of {len(self.layers)} layers is out of range; choose 1 to 1024")
        if not 1 <= self.width <= 1 << 20:
            raise SeparatrixError(f"width {self.width} is out of range; choose 1 to 2^20")
        entries = self.entries
        object.__setattr__(self, "layers", tuple(entry.name for entry in entries))
        given = dict(self.options)
        distinct = list(dict.fromkeys(entries))
        for name, value in given.items():
            takers = [entry for entry in distinct if entry.option(name) is not None]
            if not takers:
                known = sorted({each.name for entry in distinct for each in entry.options}) or ["(none)"]
                raise UnknownNameError(f"option of {', '.join(entry.short for entry in distinct)}", name, known)
            for entry in takers:
                option = entry.option(name)
                assert option is not None
                given[name] = option.checked(value, entry.short)
        for entry in distinct:
            entry.check(self.width, entry.filled(given))
        changed = {
            name: value
            for name, value in given.items()
            if any(option is not None and option.default != value for option in (e.option(name) for e in distinct))
        }
        object.__setattr__(self, "options", tuple(sorted(changed.items())))

    @property
    def entries(self) -> tuple[Architecture, ...]:
        """The architecture of each layer."""
        return tuple(architecture_named(name) for name in self.layers)

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.layers)

    @property
    def recurrent(self) -> bool:
        """Whether every layer carries a state of constant size, so that the model has a step form."""
        return all(entry.recurrent for entry in self.entries)

    def options_of(self, entry: Architecture) -> dict[str, Any]:
        """Return all options of one of the model's architectures, defaults filled in."""
        return entry.filled(dict(self.options))

    def state_numbers(self, length: int) -> int:
        """Return numbers that all layers together carry past a cut after ``length`` positions."""
        return sum(
            entry.state_numbers_at(layer, self.width, self.options_of(entry), length)
            for layer, entry in enumerate(self.entries)
        )

    def state_bits(self, length: int, precision: int) -> int:
        """Return bits carried past a cut after ``length`` positions when every number has ``precision`` bits (Theorem
        2)."""
        return precision * self.state_numbers(length)

    def attention_bits_of_layers(self, length: int, precision: int) -> tuple[int | None, ...]:
        """Return for each layer m·H·(p + ⌈log₂ N⌉), the quantity in BHBK24 Theorem 4; None where a layer has no
        attention."""
        shapes = [entry.attention(self.width, self.options_of(entry)) for entry in self.entries]
        return tuple(None if shape is None else shape.bits(length, precision) for shape in shapes)

    def attention_bits(self, length: int, precision: int) -> int | None:
        """Return the sum over the layers that have attention; None where none has. The theorem speaks of one layer
        only."""
        found = [bits for bits in self.attention_bits_of_layers(length, precision) if bits is not None]
        return sum(found) if found else None

    def __str__(self) -> str:
        period = next(
            size
            for size in range(1, self.depth + 1)
            if all(name == self.layers[number % size] for number, name in enumerate(self.layers))
        )
        pattern = ",".join(entry.short for entry in self.entries[:period])
        settings = [f"{name}={_text(value)}" for name, value in self.options]
        return f"{pattern}-({','.join([str(self.depth), str(self.width), *settings])})"


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
