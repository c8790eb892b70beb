"""At which of the lengths that were run a model of known size cannot compute a function.

Recurrent models need the state bits of the residual classes (BHBK24 Theorem 2), one attention layer a protocol as long
as the best partition forces (Theorem 4, repaired, E13). A stack of windows sees no further back than their sum, and a
decision that depends on an earlier symbol is out of its reach (elementary). Every number is counted on all inputs of
its length; about a length that was not run nothing is said. Which of these covers a model, and how large it is, is that
of ``separatrix capacity`` (:mod:`separatrix.communication.capacity`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from separatrix.bit_counts import bits_for
from separatrix.communication.bounds.simulations import ONE_LAYER, ModelSize, Setting
from separatrix.communication.capacity import Capacity
from separatrix.communication.profile.engine import LengthProfile, Profile

Quantity: TypeAlias = Literal["state bits", "bits of communication", "positions back"]


@dataclass(frozen=True)
class Exclusion:
    """The first length that was run at which a model cannot compute a function, whatever its weights.

    ``first`` is None where none is excluded. ``needs`` is the ``quantity`` that is needed there and ``has`` what the
    model has; ``quantity`` is None where no bound covers the model. ``run`` are the lengths that were run.
    """

    model: str
    quantity: Quantity | None
    first: int | None
    needs: int | None
    has: int | None
    reason: str
    run: tuple[int, ...]

    def in_words(self) -> str:
        """A sentence for people."""
        if self.quantity is None:
            return self.reason
        if self.first is None:
            return (
                f"not excluded at any length that was run, up to N = {self.run[-1]}; about longer ones nothing is said"
            )
        return (
            f"excluded at N = {self.first:,}, whatever its weights (computed on all inputs): {self.needs:,} "
            f"{self.quantity} are needed, it has {self.has:,}"
        )


def exclusion(found: Profile, model: Capacity) -> Exclusion:
    """The first length that was run at which one of the bounds that cover the model excludes it.

    >>> from separatrix.communication.capacity import capacity, describe
    >>> from separatrix.communication.profile import profile
    >>> halves = profile("halves", lambda x: x[: len(x) // 2] == x[len(x) // 2 :], 10)
    >>> told = exclusion(halves, capacity(describe({"model_type": "gru", "hidden_size": 1}), precision=4))
    >>> told.first, told.needs, told.has
    (10, 5, 4)
    """
    checks = _checks(found, model)
    run = tuple(each.length for each in found.lengths)
    for each in found.lengths:
        for check in checks:
            quantity, needs, has = check(each)
            if needs is not None and needs > has:
                return Exclusion(model.model.name, quantity, each.length, needs, has, model.reason, run)
    speaks: Quantity | None = checks[0](found.lengths[-1])[0] if checks else None
    return Exclusion(model.model.name, speaks, None, None, None, model.reason, run)


_Check: TypeAlias = Callable[[LengthProfile], tuple[Quantity, int | None, int]]
"""What a length needs, None where it says nothing, and what the model has."""


def _checks(found: Profile, model: Capacity) -> list[_Check]:
    """One for each bound that covers the model."""
    checks: list[_Check] = []
    if "rnn" in model.applies and (state := model.state_bits) is not None:
        checks.append(lambda each: ("state bits", each.state_bits, state))
    if "transformer-1layer" in model.applies:
        layer = model.model.layers[0]
        size = ModelSize(layer.head_width, model.precision, layer.heads)

        def protocol(each: LengthProfile) -> tuple[Quantity, int | None, int]:
            symbols = bits_for(found.alphabet.at(each.length).size)
            has = ONE_LAYER.bits(size, Setting(positions=each.length, query_bits=symbols)) + bits_for(each.values)
            return "bits of communication", each.communication_bits, has

        checks.append(protocol)
    if (reach := model.model.reach) is not None:
        checks.append(lambda each: ("positions back", each.reads_back, reach))
    return checks
