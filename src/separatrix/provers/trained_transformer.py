"""A trained Transformer of one layer in float64, for provers: powers, vectors behind the attention, margins.

Nothing here is trusted: proofs are checked by the kernel, and inputs that fail are run in torch.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy
from numpy.typing import NDArray

from separatrix_kernel.balls import ONE
from separatrix_kernel.heads import Heads

Floats: TypeAlias = NDArray[numpy.float64]
Integers: TypeAlias = NDArray[numpy.int64]
Kernel = TypeVar("Kernel", bound=Heads)


class Outcome(StrEnum):
    """What is known about a part of the inputs."""

    CERTIFIED = "certified"
    COUNTEREXAMPLE = "counterexample"
    OPEN = "open"


@dataclass(frozen=True)
class Decided:
    """A proof, or the input that fails, or neither."""

    outcome: Outcome
    proof: list[Any] | None = None
    failing: tuple[int, ...] | None = None


class TransformerProver(Generic[Kernel]):
    """The kernel's model of some weights, and the same in float64; questions p are numbered as the kernel does."""

    def __init__(self, model: Kernel) -> None:
        self.model = model
        self.alphabet, self.length = model.alphabet, model.length
        self._powers: tuple[int, list[tuple[Floats, Floats]]] | None = None

    def tables(self, p: int) -> list[tuple[Floats, Floats]]:
        """Of each head the least and greatest powers of all places, symbols and (in the last row) the question."""
        if self._powers is None or self._powers[0] != p:
            found: list[tuple[Floats, Floats]] = []
            for head in range(self.model.heads):
                every, own = self.model.powers(p, head)
                table = numpy.array([*every, [own] * self.alphabet], dtype=numpy.float64) / ONE
                found.append((table[..., 0], table[..., 1]))
            self._powers = p, found
        return self._powers[1]

    @cached_property
    def adds(self) -> list[Floats]:
        """Of each head what each place adds with each symbol."""
        return [numpy.array(head, dtype=numpy.float64) / ONE for head in self.model.adds]

    def margins(self, p: int, c: int, rows: Integers) -> Floats:
        """What c has more than the best other class on each of these texts, in float64."""
        logits = self.logits(self.attended(p, rows))
        own = logits[:, c].copy()
        logits[:, c] = -math.inf
        return own - logits.max(axis=1)

    def attended(self, p: int, rows: Integers) -> Floats:
        """The vectors behind the attention."""
        question = self.model.question(p)
        total = numpy.repeat(numpy.array(question.base.centres, dtype=numpy.float64)[None] / ONE, len(rows), axis=0)
        places = numpy.arange(self.length)
        for head, (low, high) in enumerate(self.tables(p)):
            power = (low + high) / 2
            weights = numpy.concatenate([power[places, rows], numpy.full((len(rows), 1), power[-1, 0])], axis=1)
            weights /= weights.sum(axis=1, keepdims=True)
            total += numpy.einsum("bj,bjd->bd", weights[:, :-1], self.adds[head][places, rows])
            total += weights[:, -1:] * (numpy.array(question.added[head], dtype=numpy.float64) / ONE)
        return total

    def logits(self, y: Floats) -> Floats:
        """The logits of vectors behind the attention."""
        hidden = self._normed(y) @ self._maps["first"][0] + self._maps["first"][1]
        inner = math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)
        z = y + (0.5 * hidden * (1 + numpy.tanh(inner))) @ self._maps["second"][0] + self._maps["second"][1]
        return self._normed(z) @ self._maps["readout"][0] + self._maps["readout"][1]

    def _normed(self, x: Floats) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + float(self.model.weights.epsilon))

    @cached_property
    def _maps(self) -> dict[str, tuple[Floats, Floats]]:
        behind = self.model.answers
        linears = {"first": behind.first, "second": behind.second, "readout": behind.readout}
        return {
            name: (
                numpy.array(each.columns, dtype=numpy.float64).T / ONE,
                numpy.array(each.bias, dtype=numpy.float64) / ONE,
            )
            for name, each in linears.items()
        }
