"""A bound from outside this package is checked before it is shown; every verb asks here.

The tests check the package's own bounds; nobody runs them on a bound from a file or another package. The checks are in
:mod:`separatrix.bounds.consistency`: what is exactly enough at small lengths, and arithmetic at the length that was
asked for. Its own evidence is run as well. What refutes a bound at any length refutes
its formula: it is named and not used.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import Bound, ProtocolBound
from separatrix.bounds.consistency import check_length_arithmetic, check_small_lengths
from separatrix.bounds.covered import Numbers, covered
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import ModelSize, OneLayer
from separatrix.errors import SeparatrixError
from separatrix.sources import is_outside
from separatrix.tasks import Task, draws_from
from separatrix.user_files import user_modules

DRAWN, LATER = 256, 8
"""Inputs that are drawn to see which tokens ask, at the shortest length and so many lengths later."""
LIMIT = 6
"""Sizes in bits up to which a bound is tried where nobody says how far."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What was found out about a bound from outside, for one task: ``evidence`` for and against it.

    ``checked_to``: the longest length at which all inputs were gone through, None where there is none.
    """

    bound: ProtocolBound
    task: Task
    evidence: tuple[Evidence, ...]
    checked_to: int | None

    @property
    def refuted_by(self) -> Evidence | None:
        """The first thing that the bound fails at, if there is one."""
        return next((each for each in self.evidence if not each.holds), None)

    def rests_on(self, length: int) -> str:
        """Return how far the bound's number at a length was checked, in words; empty where all inputs were gone
        through."""
        if self.checked_to is not None and length <= self.checked_to:
            return ""
        checked = "not checked at any length" if self.checked_to is None else f"checked up to N = {self.checked_to}"
        return f"at N = {length} this rests on the formula in {origin(self.bound)}; {checked}"

    def in_words(self) -> str:
        """Return the refutation as a sentence; empty where the bound holds."""
        found = self.refuted_by
        if found is None:
            return ""
        return f"{self.bound.name} ({self.bound.claim}, {origin(self.bound)}) for {self.task.name}: {found.text}"


def is_user_bound(bound: Bound) -> bool:
    """Return whether a bound comes from a file or another package: who exports it, and where its formulas are.

    A file may take over a formula of this package for another task, for which it need not hold.
    """
    return _file_of(bound) is not None or (isinstance(bound, ProtocolBound) and _outside_part(bound) is not None)


def _file_of(bound: Bound) -> str | None:
    """Return the name of the file in use that exports a bound."""
    return next(
        (Path(str(each.__file__)).name for each in user_modules() if getattr(each, "BOUND", None) is bound), None
    )


def _outside_part(bound: ProtocolBound) -> Callable[..., object] | None:
    """Return a formula of a bound that is not in this package."""
    return next((each for each in (bound.hidden_bits, bound.setting, bound.checks) if is_outside(each)), None)


def origin(bound: Bound) -> str:
    """Return the file of a bound from outside; empty for one of this package."""
    part = _outside_part(bound) if isinstance(bound, ProtocolBound) else None
    if (file := _file_of(bound)) is not None or part is None:
        return file or ""
    code = getattr(part, "__code__", None)
    return part.__module__ if code is None else Path(code.co_filename).name


def claimed(bound: ProtocolBound) -> str:
    """Return the claim, with its file where it is of somebody's own."""
    return f"{bound.claim}, from {origin(bound)}" if is_user_bound(bound) else bound.claim


def limits(
    found: Iterable[ProtocolBound], size: ModelSize, task: Task, numbers: Numbers
) -> tuple[list[tuple[int, str, str]], list[Judgement]]:
    """Return the longest length that each bound leaves open to a model that computes in an arithmetic, with its claim
    and what it holds for, and the bounds that are refuted. A bound that does not cover the arithmetic is left out.
    """
    open_to: list[tuple[int, str, str]] = []
    refuted: list[Judgement] = []
    for bound in found:
        gate = covered(bound, numbers, task)
        longest = gate.bound.longest_length(size, task) if gate.covered else None
        next_one = [] if longest is None else [max(longest + task.length_step, task.minimum_length)]
        kept, false = consistent_bounds([bound], task, next_one)
        refuted += false
        open_to += [(longest, claimed(bound), gate.arithmetic)] if kept and longest is not None else []
    return open_to, refuted


def bits_needed(found: Iterable[ProtocolBound], task: Task, length: int) -> tuple[int | None, str, list[Judgement]]:
    """Return the most bits that one of the bounds requires of a protocol for the task's own function, with its claim,
    and the bounds that are refuted; None where no bound says anything.
    """
    kept, refuted = consistent_bounds(found, task, [length])
    speaking = [each for each in kept if not each.why_inapplicable(length, task) and not each.of_a_class(task)]
    known = [(each.required_bits(length, task), claimed(each)) for each in speaking]
    needed, claim = max(known, default=(None, ""))
    return needed, claim, refuted


def check_user_bound(bound: ProtocolBound, task: Task, length: int) -> None:
    """Raise a one-line error unless a bound can be computed with: its simulation is one of its models, its setting
    leaves out nothing of the input, and its formula gives a whole number of bits, which only int is at every length.
    """
    others = sorted(set(bound.models) - set(bound.simulation.models))
    if bound.simulation.models and others:
        raise SeparatrixError(
            f"{bound.name} is about {', '.join(others)}, but its simulation ({bound.simulation.theorem}) makes "
            f"protocols of {', '.join(bound.simulation.models)}; give the one of that class"
        )
    setting, cells = bound.setting_at(length, task), task.positions(length)
    numbers = cells * max(1, task.features(length)) if "fnn" in bound.models else 1
    for what, given, least in (("positions", setting.positions, cells), ("numbers", setting.numbers, numbers)):
        if given < least:
            raise SeparatrixError(
                f"setting of {bound.name} has {what}={given} at length {length}, where {task.name} has {least}; with "
                "fewer the protocol would be counted too short"
            )
    token = 0 if task.features(length) else bits_for(task.vocabulary(length).size)
    # The inputs of a reduction may all ask with the same token, as those of triple matching do.
    untold = bound.reduction is None and setting.query_bits < token
    if isinstance(bound.simulation, OneLayer) and untold and asks_differently(task):
        raise SeparatrixError(
            f"setting of {bound.name} has query_bits={setting.query_bits} at length {length}, but the token that asks "
            f"is not the same on every input of {task.name}; give {token}, which tell it"
        )
    bound.required_bits(length, task)


def asks_differently(task: Task) -> bool:
    """Return whether drawn inputs of one length end in different tokens where an answer is read; two are enough to say
    so."""
    shortest = task.minimum_length
    return any(len(_asking(task, length)) > 1 for length in (shortest, shortest + LATER * task.length_step))


def _asking(task: Task, length: int) -> set[int]:
    examples, asking = task.sample(draws_from(0), DRAWN, length), set[int]()
    for tokens, read in zip(examples.inputs.tolist(), examples.read.tolist(), strict=True):
        asking.update([token for token, asked in zip(tokens, read, strict=True) if asked][-1:])
    return asking


def consistent_bounds(
    found: Iterable[ProtocolBound], task: Task, lengths: Sequence[int], limit: int = LIMIT
) -> tuple[list[ProtocolBound], list[Judgement]]:
    """Split bounds into those that may be shown for a task at some lengths, and those from outside that are refuted.

    This package's own bounds are all kept. What does not depend on the length is computed once for each bound.
    """
    kept: list[ProtocolBound] = []
    refuted: list[Judgement] = []
    for bound in found:
        judgement = judged(bound, task, lengths, limit) if is_user_bound(bound) else None
        if judgement is None or judgement.refuted_by is None:
            kept.append(bound)
        else:
            refuted.append(judgement)
    return kept, refuted


def judged(bound: ProtocolBound, task: Task, lengths: Sequence[int], limit: int = LIMIT) -> Judgement:
    """Return everything that can be found out about a bound for a task at some lengths."""
    for length in lengths:
        check_user_bound(bound, task, length)
    evidence, checked_to = _at_every_length(_Same(bound, task), limit)
    for length in lengths:
        evidence += check_length_arithmetic(bound, task, length)
    return Judgement(bound, task, evidence, checked_to)


class _Same:
    """A bound and a task as the key of a cache: functions do not compare, and a user's task may not hash."""

    def __init__(self, bound: ProtocolBound, task: Task) -> None:
        self.bound, self.task = bound, task
        self.key = (id(bound), task.name, repr(task.parameters()))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.key == other.key and self.bound is other.bound


@lru_cache(maxsize=64)
def _at_every_length(asked: _Same, limit: int) -> tuple[tuple[Evidence, ...], int | None]:
    """Return what does not depend on the length that is asked for, and how far all inputs were gone through."""
    compared = check_small_lengths(asked.bound, asked.task, limit)
    to = max((each.details["compared_to"] for each in compared if "compared_to" in each.details), default=None)
    return (*asked.bound.evidence(limit), *compared), to
