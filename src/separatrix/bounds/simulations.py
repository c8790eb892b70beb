"""How a model becomes a protocol, and how many bits that protocol has.

Each class here is one simulation theorem. It turns the size of a model into the bits that Alice and Bob exchange to
compute the model's answer when each holds a part of the input. m is the width (of a head; of a recurrent model the
numbers of its state), p the bits of a number, H the heads, L the layers, λ = ⌈log2 positions⌉.

**Recurrent models, BHBK24 Theorem 2.** Alice runs the prefix and sends the state, Bob continues: m·p bits, one way.

**Fixed transitions, BHBK24 Lemma 4.** A recurrent model whose transition is the same at every step is an automaton with
2^(mp) states (the paper writes m for mp): as many bits as before, but the argument needs no protocol.

**One-layer Transformers, BHBK24 Theorem 4, repaired (E13).** For each head both parties send the largest of their
logits (2p bits) and, relative to the larger one, their sum of exponentials (2(p + λ) bits); then Alice sends her
weighted sum of values, m numbers of p + max(p, λ) bits (2p hold a sum of exact products, p + λ one of rounded
products), and Bob finishes. Before that the holder of the query token tells it: s = ⌈log2 |Σ|⌉ bits, 0 when both know
it. Together

    s + H·(4p + 2λ + m(p + max(p, λ))).

The paper sends the embedding of the query instead (dp bits), sends the weighted sums both ways (4mp) and claims
3m(p + λ)H in total; E13 shows where that fails. Sending one way is what repairs it, and the symbol is never longer
than its embedding needs to be.

**One-layer Transformers, opened by the queries.** When the query cell's content is long (a set of q indices, a row of a
graph), its holder sends for each head the query vector instead (mp bits) and finishes himself, since he holds the cell:

    H·(4p + 2λ + m(2p + max(p, λ))).

This and the one before are the versions ``queries`` and ``token`` of the executed protocol, without its answer.

**Both, with running sums.** In floating point a sum over positions is itself a small recurrent machine: what is added
first decides how the rest is rounded. Alice cannot add up scattered positions by herself, and Theorem 4 says nothing
(E26; the construction ``dyck-float`` is a network below its bound). Where she holds a *prefix* and the sum runs in the
order of the positions, she passes on the partial sum, in the a bits of the accumulator, and Bob continues. For each
head: both maxima, her running sum of exponentials and the whole sum back, m partial weighted sums, a bits each:

    s + H·(4a + m·a),    a = max(32, p).

Logits are counted like sums, because fused kernels do not round them to the p bits of the model.

It holds whether weights are divided before they are added, after, or rescaled by a running maximum. If an order of
additions, which may depend on N but not on the input, has c partial sums to hand over at the cut, everything behind s
is multiplied by c: c = 1 in sequence, ⌈log2 N⌉ for a tree over neighbours, the lanes of a vector unit.

**Feed-forward networks, first layer.** For g(Wx) with an arbitrary g, Alice sends her part of the m sums Wx. A sum of K
products of two p-bit numbers takes at most 2^(2p + ⌈log2 K⌉) values: m·(2p + ⌈log2 K⌉) bits, one way, for any
partition.

**Graph Transformers (SHT23).** In each layer and head a query row needs the keys and values of all rows; an entry of
the adjacency matrix is needed only by the owner of its row. Each party sends the keys and values of its rows, 2m
numbers of p bits each: 2·N·L·H·m·p bits. Each then computes with all of them, in whatever arithmetic the model has.

What each of them needs of a model's arithmetic is data (:class:`Needs`), which
:func:`separatrix.bounds.covered.covered` compares with the model before any verdict is given.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias, get_args

import numpy

from separatrix.bit_counts import bits_for
from separatrix.bounds.evidence import Evidence
from separatrix.communication import FloatLayer, run_running_sums
from separatrix.errors import SeparatrixError

Model: TypeAlias = Literal["rnn", "transformer-1layer", "transformer-2layer", "fnn", "third-order", "graph-transformer"]
"""The classes of models that bounds speak about."""
MODELS: tuple[Model, ...] = get_args(Model)
"""All classes of models."""


@dataclass(frozen=True)
class ModelSize:
    """The size of a model: width m, bits p of a number, heads H, layers L.

    ``state_bits`` replaces m·p for recurrent models whose state is not a vector of m numbers.
    """

    width: int
    precision: int
    heads: int = 1
    layers: int = 1
    state_bits: int | None = None

    def __post_init__(self) -> None:
        for name in ("width", "precision", "heads", "layers"):
            if getattr(self, name) < 1:
                raise SeparatrixError(f"{name}={getattr(self, name)} is too small; a model has at least 1")
        if self.state_bits is not None and self.state_bits < 0:
            raise SeparatrixError(f"state_bits={self.state_bits} is negative; give 0 or more")

    @property
    def memory_bits(self) -> int:
        """The bits of a recurrent model's state."""
        return self.width * self.precision if self.state_bits is None else self.state_bits


@dataclass(frozen=True)
class Setting:
    """What a simulation must know about a task at a length.

    ``positions``: tokens attended to. ``query_bits``: bits that tell the query token to the party that lacks it.
    ``numbers``: numbers of the input that a feed-forward network reads.
    """

    positions: int
    query_bits: int = 0
    numbers: int = 1


@dataclass(frozen=True)
class Needs:
    """What a simulation needs of the arithmetic of the model that it turns into a protocol.

    ``fixed_bits``: every number that is sent has a number of bits that is known beforehand; exact rationals have not.
    ``exact_sums``: sums over positions are exact before they are rounded, so that each party adds up its own part;
    floating point rounds after every addition. ``prefix``: Alice holds the first positions, in the order in which the
    model reads or adds them. ``step_by_step``: the state is passed on from one position to the next, and nothing else.
    All of them need a model that gives the same answer to the same input.
    """

    fixed_bits: bool = True
    exact_sums: bool = True
    prefix: bool = False
    step_by_step: bool = False

    def in_words(self) -> str:
        """The needs as a phrase.

        >>> Needs(exact_sums=False).in_words()
        'numbers of p bits, rounded in any way'
        """
        found = ["numbers of p bits" if self.fixed_bits else "numbers of any kind"]
        found.append("sums over positions exact before they are rounded" if self.exact_sums else "rounded in any way")
        if self.step_by_step:
            found.append("the state passed on step by step")
        elif self.prefix:
            found.append("sums over positions taken in their order")
        return ", ".join(found)


@dataclass(frozen=True, kw_only=True)
class Simulation(ABC):
    """One simulation theorem; subclasses count its bits."""

    name: str
    theorem: str
    quantity: str
    one_way: bool
    needs: Needs = Needs()
    models: tuple[Model, ...] = ()
    """The classes of models that it turns into protocols; empty where it does not say."""
    executed: str = ""
    """The command that runs the protocol on a network, where there is one."""

    @abstractmethod
    def bits(self, size: ModelSize, setting: Setting) -> int:
        """Bits of the protocol of a model of this size; never decreases with any part of the size."""

    @abstractmethod
    def formula(self, size: ModelSize, setting: Setting) -> str:
        """The bits as a formula in the width m, with all other numbers in it."""

    def with_running_sums(self) -> "Simulation | None":
        """The same simulation for a prefix and sums that are rounded after every addition; None where there is none."""
        return None

    def evidence(self) -> tuple[Evidence, ...]:
        """What supports the count."""
        # The network there need not be for the task that was asked about.
        run = f"; it is the same for every task, and `{self.executed}` runs it" if self.executed else ""
        return (Evidence("proved", f"{self.theorem}: the model gives a protocol, whose bits are counted{run}"),)


@dataclass(frozen=True, kw_only=True)
class Recurrent(Simulation):
    """m·p bits of state, sent once."""

    name: str = "state"
    theorem: str = "BHBK24 Theorem 2"
    quantity: str = "state bits"
    one_way: bool = True
    needs: Needs = Needs(exact_sums=False, prefix=True, step_by_step=True)
    models: tuple[Model, ...] = ("rnn",)
    executed: str = "separatrix protocol dyck-rnn --length 16"

    def bits(self, size: ModelSize, setting: Setting) -> int:
        """The state."""
        del setting
        return size.memory_bits

    def formula(self, size: ModelSize, setting: Setting) -> str:
        """m·p."""
        del setting
        return f"m·p = {size.precision}m"


def accumulator_bits(precision: int) -> int:
    """Bits of a running sum: formats of fewer than 32 bits are added up in float32.

    >>> accumulator_bits(16), accumulator_bits(64)
    (32, 64)
    """
    return max(32, precision)


@cache
def _handed_on() -> Evidence:
    """The protocol for running sums on a layer with drawn logits and values, cut at every place."""
    draws = numpy.random.default_rng(0)
    logits, values = draws.normal(size=(2, 12, 3, 3)), draws.normal(size=(2, 12, 3, 4))
    layer, cells = FloatLayer(logits, values), draws.integers(0, 3, 12)
    whole, runs = layer.evaluate(cells), [run_running_sums(layer, cells, after) for after in range(1, 12)]
    return Evidence(
        "verified",
        "run on a float32 layer with drawn logits and values (N = 12, H = 2, m = 4), cut at every place: Bob finds the "
        f"layer's own bits with {layer.claimed_bits()} bits",
        all(bool((run.outputs == whole).all()) and run.transcript.total_bits == layer.claimed_bits() for run in runs),
    )


@dataclass(frozen=True, kw_only=True)
class Attention(Simulation):
    """What both versions of Theorem 4 count: ``partial_sums`` is 0 where sums are exact, else how many of each sum are
    passed on at the cut."""

    partial_sums: int = 0

    def with_running_sums(self) -> "Attention":
        """The version for a prefix and sums in the order of the positions, of which one is passed on at the cut."""
        return replace(
            self,
            name=f"{self.name}, running sums",
            theorem="BHBK24 Theorem 4 for a prefix, running sums passed on at the cut (E26)",
            needs=Needs(exact_sums=False, prefix=True),
            partial_sums=1,
            executed="",
        )

    def evidence(self) -> tuple[Evidence, ...]:
        """What supports the count; with running sums the protocol is run on a drawn layer as well."""
        return (*super().evidence(), *([_handed_on()] if self.partial_sums else []))

    def normalising(self, size: ModelSize, setting: Setting) -> int:
        """Bits of the maxima and of the sums of exponentials of one head, both ways."""
        if self.partial_sums:
            return self.partial_sums * 4 * accumulator_bits(size.precision)
        return 4 * size.precision + 2 * bits_for(setting.positions)

    def entry(self, size: ModelSize, setting: Setting) -> int:
        """Bits of one entry of a weighted sum: passed on, or exact and of exact or of rounded products."""
        if self.partial_sums:
            return self.partial_sums * accumulator_bits(size.precision)
        return size.precision + max(size.precision, bits_for(setting.positions))


@dataclass(frozen=True, kw_only=True)
class OneLayer(Attention):
    """Theorem 4 with the weighted sums sent one way."""

    name: str = "one attention layer"
    theorem: str = "BHBK24 Theorem 4, weighted sums sent one way (E13)"
    quantity: str = "width × heads"
    one_way: bool = False
    models: tuple[Model, ...] = ("transformer-1layer",)
    executed: str = "separatrix protocol index-lookup --length 16 --version token"

    def bits(self, size: ModelSize, setting: Setting) -> int:
        """s + H·(4p + 2λ + m(p + max(p, λ))), or s + cH·(4a + ma)."""
        entries = size.width * self.entry(size, setting)
        return setting.query_bits + size.heads * (self.normalising(size, setting) + entries)

    def formula(self, size: ModelSize, setting: Setting) -> str:
        """The same with numbers."""
        fixed, each = self.normalising(size, setting), self.entry(size, setting)
        words = "H(4a + ma)" if self.partial_sums else "H(4p + 2λ + m(p + max(p, λ)))"
        return f"s + {words} = {setting.query_bits} + {size.heads}·({fixed} + {each}m)"


@dataclass(frozen=True, kw_only=True)
class OneLayerQuery(Attention):
    """Theorem 4 with the query vectors in place of the query token."""

    name: str = "one attention layer, opened by the queries"
    theorem: str = "BHBK24 Theorem 4, opened by the queries, weighted sums sent one way (E13)"
    quantity: str = "width × heads"
    one_way: bool = False
    models: tuple[Model, ...] = ("transformer-1layer",)
    executed: str = "separatrix protocol index-lookup --length 16 --version queries"

    def bits(self, size: ModelSize, setting: Setting) -> int:
        """H·(4p + 2λ + m(2p + max(p, λ))), or H·(4a + m(p + a)) with one partial sum passed on."""
        return size.heads * (
            self.normalising(size, setting) + size.width * (size.precision + self.entry(size, setting))
        )

    def formula(self, size: ModelSize, setting: Setting) -> str:
        """The same with numbers."""
        fixed, each = self.normalising(size, setting), size.precision + self.entry(size, setting)
        words = "H(4a + m(p + a))" if self.partial_sums else "H(4p + 2λ + m(2p + max(p, λ)))"
        return f"{words} = {size.heads}·({fixed} + {each}m)"


@dataclass(frozen=True, kw_only=True)
class FirstLayer(Simulation):
    """The sums of the first layer of a feed-forward network, sent once."""

    name: str = "first layer"
    theorem: str = "SHT23, feed-forward networks, with p-bit weights"
    quantity: str = "width"
    one_way: bool = True
    models: tuple[Model, ...] = ("fnn",)
    partial_sums: int = 0

    def with_running_sums(self) -> "FirstLayer":
        """Alice adds up the first numbers and passes on each of the m sums."""
        return replace(
            self,
            name=f"{self.name}, running sums",
            theorem="SHT23, feed-forward networks, running sums passed on at the cut (E26)",
            needs=Needs(exact_sums=False, prefix=True),
            partial_sums=1,
        )

    def bits(self, size: ModelSize, setting: Setting) -> int:
        """m·(2p + ⌈log2 K⌉), or c·m·a."""
        return size.width * self._each(size, setting)

    def formula(self, size: ModelSize, setting: Setting) -> str:
        """The same with numbers."""
        words = "m·a" if self.partial_sums else "m(2p + ⌈log2 K⌉)"
        return f"{words} = {self._each(size, setting)}m"

    def _each(self, size: ModelSize, setting: Setting) -> int:
        if self.partial_sums:
            return self.partial_sums * accumulator_bits(size.precision)
        return 2 * size.precision + bits_for(setting.numbers)


@dataclass(frozen=True, kw_only=True)
class GraphLayers(Simulation):
    """Keys and values of every row, in every layer and head."""

    name: str = "graph attention layers"
    theorem: str = "SHT23, graph Transformers: keys and values of all rows are exchanged in each layer"
    quantity: str = "layers × heads × width"
    one_way: bool = False
    needs: Needs = Needs(exact_sums=False)
    models: tuple[Model, ...] = ("graph-transformer",)

    def bits(self, size: ModelSize, setting: Setting) -> int:
        """2·N·L·H·m·p."""
        return 2 * setting.positions * size.layers * size.heads * size.width * size.precision

    def formula(self, size: ModelSize, setting: Setting) -> str:
        """The same with numbers."""
        return f"2NLHmp = {2 * setting.positions * size.layers * size.heads * size.precision}m"


RECURRENT = Recurrent()
AUTOMATON = Recurrent(name="automaton", theorem="BHBK24 Lemma 4", executed="")
ONE_LAYER = OneLayer()
ONE_LAYER_QUERY = OneLayerQuery()
FIRST_LAYER = FirstLayer()
GRAPH_LAYERS = GraphLayers()
