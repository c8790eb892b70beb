"""At which of the lengths that were run a model of known size cannot compute a function.

Recurrent models need the state bits of the residual classes (BHBK24 Theorem 2) before the last symbol; after it BHBK24
§2 reads the state alone, but a real layer adds its input to its output, so that cut is left out. One attention layer
needs a protocol as long as the best partition forces (Theorem 4, repaired, E13). A stack of windows sees no further
back than their sum, and a decision that depends on an earlier symbol is out of its reach (elementary). One attention
layer that rounds after every addition is bounded by partitions that give one party the first positions, and by no
others (:func:`separatrix.bounds.simulation_in`). Every number is counted on all inputs of its length;
about a length that was not run nothing is said. Which of these covers a model, and how large it is, is that of
``separatrix capacity`` (:mod:`separatrix.capacities`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from separatrix.bit_counts import bits_for
from separatrix.bounds import ONE_LAYER, RECURRENT, ModelSize, Setting, Simulation, simulation_in
from separatrix.capacities import Capacity
from separatrix.profiles.engine import LengthProfile, Profile

Quantity: TypeAlias = Literal["state bits", "bits of communication", "positions back"]


@dataclass(frozen=True)
class Exclusion:
    """The first length that was run at which a model cannot compute a function, whatever its weights.

    ``first`` is None where none is excluded. ``needs`` is the ``quantity`` that is needed there and ``has`` what the
    model has; ``quantity`` is None where no bound covers the model. ``run`` are the lengths that were run,
    ``arithmetic`` what the bound that excludes, or else the first that was looked at, holds for.
    """

    model: str
    quantity: Quantity | None
    first: int | None
    needs: int | None
    has: int | None
    reason: str
    run: tuple[int, ...]
    arithmetic: str

    def in_words(self) -> str:
        """Return a sentence for people."""
        if self.quantity is None:
            return self.reason
        if self.first is None:
            return (
                f"not excluded at any length that was run, up to N = {self.run[-1]}; about longer ones nothing is said"
            )
        return (
            f"excluded at N = {self.first:,}, whatever its weights (computed on all inputs): {self.needs:,} "
            f"{self.quantity} are needed, it has {self.has:,} (holds for: {self.arithmetic})"
        )


def exclusion(found: Profile, model: Capacity) -> Exclusion:
    """Return the first length that was run at which one of the bounds that cover the model excludes it."""
    checks = _checks(found, model)
    run = tuple(each.length for each in found.lengths)
    for each in found.lengths:
        for check in checks:
            needs, has = check.at(each)
            if needs is not None and needs > has:
                quantity, holds = check.quantity, check.arithmetic
                return Exclusion(model.model.name, quantity, each.length, needs, has, model.reason, run, holds)
    quantity, holds = (checks[0].quantity, checks[0].arithmetic) if checks else (None, "")
    return Exclusion(model.model.name, quantity, None, None, None, model.reason, run, holds)


@dataclass(frozen=True)
class _Check:
    """One bound: what a length needs, None where it says nothing, and what the model has."""

    quantity: Quantity
    arithmetic: str
    at: Callable[[LengthProfile], tuple[int | None, int]]


def _checks(found: Profile, model: Capacity) -> list[_Check]:
    """Return one for each bound that covers the model in its arithmetic."""
    checks: list[_Check] = []
    recurrent = simulation_in(RECURRENT, model.arithmetic, prefix=True)
    if "rnn" in model.applies and (state := model.state_bits) is not None and recurrent.simulation is not None:
        checks.append(_Check("state bits", recurrent.arithmetic, lambda each: (each.handed_on, state)))
    if "transformer-1layer" in model.applies and (check := _one_layer(found, model)) is not None:
        checks.append(check)
    if (reach := model.model.reach) is not None:
        checks.append(_Check("positions back", "any", lambda each: (each.reads_back, reach)))
    return checks


def _one_layer(found: Profile, model: Capacity) -> _Check | None:
    """Return the protocol of one layer for any partition, or for those that give one party the first positions."""
    layer = model.model.layers[0]
    size = ModelSize(layer.head_width, model.precision, layer.heads)
    for prefix in (False, True):
        chosen = simulation_in(ONE_LAYER, model.arithmetic, prefix=prefix)
        if (simulation := chosen.simulation) is None:
            continue

        def at(
            each: LengthProfile, prefix: bool = prefix, simulation: Simulation = simulation
        ) -> tuple[int | None, int]:
            symbols = bits_for(found.alphabet.at(each.length).size)
            has = simulation.bits(size, Setting(positions=each.length, query_bits=symbols)) + bits_for(each.values)
            return each.prefix_bits if prefix else each.communication_bits, has

        return _Check("bits of communication", chosen.arithmetic, at)
    return None
