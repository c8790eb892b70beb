"""From which length on a model of known size cannot compute a function: the profile held against the model.

Recurrent models need the state bits of the residual classes (BHBK24 Theorem 2), one attention layer a protocol as long
as the best partition forces (Theorem 4, repaired, E13). A stack of windows sees no further back than their sum, and a
decision that depends on an earlier symbol is out of its reach (elementary). At lengths that were run this is exact;
beyond them the fitted growth is continued, which is an extrapolation. Which of these covers a model, and how large it
is, is that of ``separatrix capacity`` (:mod:`separatrix.communication.capacity`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from separatrix.bit_counts import bits_for
from separatrix.communication.bounds.bound import smallest_number
from separatrix.communication.bounds.simulations import ONE_LAYER, ModelSize, Setting
from separatrix.communication.capacity import Capacity
from separatrix.communication.profile.engine import Profile
from separatrix.communication.profile.growth import FEWEST, Growth
from separatrix.communication.profile.words import continued, most_communication_bits, most_state_bits

LONGEST = 1 << 40
"""No growth is continued beyond this length."""


@dataclass(frozen=True)
class Exclusion:
    """The first length at which a model cannot compute a function, whatever its weights.

    ``first`` is None where no length is known. ``exact``: it was run, and is not an extrapolation. ``needs`` are the
    bits of ``quantity`` there and ``has`` what the model has; ``quantity`` is empty where no bound covers the model.
    ``run_to`` is the longest length that was run, ``continued``: a growth was named and continued.
    """

    model: str
    precision: int
    quantity: str
    first: int | None
    exact: bool
    needs: int | None
    has: int | None
    reason: str
    run_to: int
    continued: bool

    def in_words(self) -> str:
        """A sentence for people."""
        if not self.quantity:
            return self.reason
        if self.first is None:
            beyond = "nor beyond if the growth continues" if self.continued else "and how it goes on cannot be told"
            return f"not excluded up to N = {self.run_to}, {beyond} (p = {self.precision})"
        at, how = f"at N = {self.first:,}", "computed on all inputs"
        if not self.exact:
            at, how = f"from about N = {self.first:,} on", "extrapolation"
        return (
            f"excluded {at}, whatever its weights ({how}): {self.needs:,} {self.quantity} are needed, it has "
            f"{self.has:,} (p = {self.precision})"
        )


def exclusion(found: Profile, model: Capacity) -> Exclusion:
    """Where the profile's bounds exclude a model first; of a model that both bounds cover, the shorter length.

    >>> from separatrix.communication.capacity import capacity, describe
    >>> from separatrix.communication.profile import profile
    >>> halves = profile("halves", lambda x: x[: len(x) // 2] == x[len(x) // 2 :], 10)
    >>> told = exclusion(halves, capacity(describe({"model_type": "gru", "hidden_size": 64}), precision=16))
    >>> told.first, told.exact, told.has
    (2049, False, 1024)
    """
    candidates: list[Exclusion] = []
    if "rnn" in model.applies and model.state_bits is not None:
        has = model.state_bits
        run = {each.length: each.state_bits for each in found.lengths}
        candidates.append(
            _first(found, model, "state bits", found.state_growth, run, _most_state(found), lambda length: has)
        )
    if "transformer-1layer" in model.applies:
        layer = model.model.layers[0]
        size = ModelSize(layer.head_width, model.precision, layer.heads)
        values = {each.length: each.values for each in found.lengths}

        def protocol(length: int) -> int:
            symbols = found.alphabet.at(length).size
            told = bits_for(values.get(length, found.lengths[-1].values))
            return told + ONE_LAYER.bits(size, Setting(positions=length, query_bits=bits_for(symbols)))

        run = {each.length: each.communication_bits for each in found.lengths if each.communication_bits is not None}
        candidates.append(
            _first(
                found, model, "bits of communication", found.communication_growth, run, _most_communication(found),
                protocol,
            )
        )  # fmt: skip
    if (reach := model.model.reach) is not None:
        candidates.append(_out_of_sight(found, model, reach))
    if not candidates:
        none = (None, False, None, None)
        return Exclusion(model.model.name, model.precision, "", *none, model.reason, found.length, False)
    return min(candidates, key=lambda each: float("inf") if each.first is None else each.first)


def _out_of_sight(found: Profile, model: Capacity, reach: int) -> Exclusion:
    """The first length at which the answer depends on a symbol more than ``reach`` positions before the last one."""

    def told(first: int | None, exact: bool, needs: int | None) -> Exclusion:
        return Exclusion(
            model.model.name, model.precision, "positions back", first, exact, needs, reach, model.reason, found.length,
            recent is not None,
        )  # fmt: skip

    firsts = {each.first_read for each in found.lengths[-FEWEST:]}
    recent = firsts.pop() if len(firsts) == 1 and len(found.lengths) >= FEWEST else None
    for each in found.lengths:
        if each.first_read is not None and each.length - each.first_read > reach:
            return told(each.length, True, each.length - each.first_read)
    return told(None, False, None) if recent is None else told(reach + recent + 1, False, reach + 1)


def _first(
    found: Profile,
    model: Capacity,
    quantity: str,
    growth: Growth,
    run: dict[int, int],
    most: Callable[[int], int],
    has: Callable[[int], int],
) -> Exclusion:
    """The first length whose need is above what the model has, among those run and then by the growth."""

    def told(first: int | None, exact: bool, needs: int | None, at: int) -> Exclusion:
        known = growth.best is not None
        return Exclusion(
            model.model.name, model.precision, quantity, first, exact, needs, has(at), model.reason, found.length, known
        )

    def needed(length: int) -> int:
        return continued(growth, length, most(length)) or 0

    for length, needs in run.items():
        if needs > has(length):
            return told(length, True, needs, length)
    first = LONGEST
    if growth.best is not None:
        first = smallest_number(
            lambda length: length >= LONGEST or (length > found.length and needed(length) > has(length))
        )
    return told(None, False, None, found.length) if first >= LONGEST else told(first, False, needed(first), first)


def _most_state(found: Profile) -> Callable[[int], int]:
    values = found.settled if found.table.kind == "decision" else None
    return lambda length: most_state_bits(length, found.alphabet.at(length).size, values)


def _most_communication(found: Profile) -> Callable[[int], int]:
    return lambda length: most_communication_bits(length, found.alphabet.at(length).size, found.settled)
