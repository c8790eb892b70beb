"""A bound from outside this package is held against what is true before it is told; every verb asks here.

The tests hold the package's own bounds to that; nobody runs them on a bound from a file or another package.

*At small lengths.* A recurrent model that remembers which residual class its prefix is in, and no more, answers every
input. So at lengths whose inputs can all be listed, the largest ⌈log2 of the number of classes⌉ over the cuts is the
exact number of state bits (BHBK24 Theorem 2 in both directions). For other models a protocol that sends the number of a
row, or of a column where both may speak, is enough, whatever the partition. A bound that asks for more is false. That
it asks for less is evidence, no proof, for other lengths. Tasks with a promise or with several answers are not
compared.

*At the length that was asked for.* A problem hidden in an input has no more bits than the input, or than its smaller
part where both may speak; a reduction hides no more than its instance of that length; and a model that is known to
solve the task (``known_from_above``) must be large enough. All that is arithmetic, so it is done at every length; but a
formula that stays below it is not thereby right, which is said (:meth:`Judgement.rests_on`).

*Its own evidence* is run as well. What refutes a bound at any length refutes its formula: it is named and not used.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from separatrix.bit_counts import bits_for
from separatrix.communication.bounds.bound import Bound, ProtocolBound
from separatrix.communication.bounds.evidence import Evidence
from separatrix.communication.bounds.known_from_above import input_bits, special_facts
from separatrix.communication.bounds.simulations import ModelSize
from separatrix.communication.partition import cut, of_positions
from separatrix.communication.problem import from_task
from separatrix.communication.reductions import Reduction, reductions
from separatrix.communication.rows import one_way_bits
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.sources import is_outside
from separatrix.tasks import Task

LIMIT = 6
"""Sizes in bits up to which a bound is tried where nobody says how far."""
MOST_CELLS = 1 << 13
"""Of inputs of more cells only the bits of a cell are counted, not the inputs that there are."""
MOST_POSITIONS = 8
"""All partitions of so many positions are gone through, of more none."""


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
        """How far the bound's number at a length was checked, in words; empty where all inputs were gone through."""
        if self.checked_to is not None and length <= self.checked_to:
            return ""
        checked = "not checked at any length" if self.checked_to is None else f"checked up to N = {self.checked_to}"
        return f"at N = {length} this rests on the formula in {origin(self.bound)}; {checked}"

    def in_words(self) -> str:
        """The refutation as a sentence; empty where the bound stands."""
        found = self.refuted_by
        if found is None:
            return ""
        return f"{self.bound.name} ({self.bound.claim}, {origin(self.bound)}) for {self.task.name}: {found.text}"


def is_own(bound: Bound) -> bool:
    """Whether a bound comes from a file or another package: where the formula of its bits stands.

    >>> from separatrix.communication.bounds import bounds
    >>> is_own(bounds()["index-lookup-rnn"])
    False
    """
    return isinstance(bound, ProtocolBound) and is_outside(bound.hidden_bits)


def origin(bound: Bound) -> str:
    """The file of a bound from outside; empty for one of this package.

    >>> from separatrix.communication.bounds import bounds
    >>> origin(bounds()["index-lookup-rnn"])
    ''
    """
    if not isinstance(bound, ProtocolBound) or not is_own(bound):
        return ""
    code = getattr(bound.hidden_bits, "__code__", None)
    return bound.hidden_bits.__module__ if code is None else Path(code.co_filename).name


def claimed(bound: ProtocolBound) -> str:
    """The claim, with its file where it is of somebody's own.

    >>> from separatrix.communication.bounds import bounds
    >>> claimed(bounds()["index-lookup-rnn"])
    'BHBK24 Theorem 3'
    """
    return f"{bound.claim}, from {origin(bound)}" if is_own(bound) else bound.claim


def limits(
    found: Iterable[ProtocolBound], size: ModelSize, task: Task
) -> tuple[list[tuple[int, str]], list[Judgement]]:
    """The longest length that each bound leaves open to a model, with its claim, and the bounds that are refuted.

    >>> from separatrix.communication.bounds import ModelSize, bounds
    >>> from separatrix.tasks import tasks
    >>> limits([bounds()["index-lookup-rnn"]], ModelSize(32, 32), tasks()["index"])
    ([(1024, 'BHBK24 Theorem 3')], [])
    """
    open_to: list[tuple[int, str]] = []
    refuted: list[Judgement] = []
    for bound in found:
        longest = bound.longest_length(size, task)
        next_one = [] if longest is None else [max(longest + task.length_step, task.minimum_length)]
        kept, false = standing([bound], task, next_one)
        refuted += false
        open_to += [(longest, claimed(bound))] if kept and longest is not None else []
    return open_to, refuted


def check_own_bound(bound: ProtocolBound, task: Task, length: int) -> None:
    """Raise a one-line error unless a bound's formula gives a whole number of bits, which only int is at every length.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> check_own_bound(bounds()["index-lookup-rnn"], tasks()["index"], 8)
    """
    bits: object = bound.hidden_bits(task, length)
    if type(bits) is not int or bits < 0:
        raise SeparatrixError(f"hidden_bits of {bound.name} gives {bits!r} at length {length}; give an int from 0 on")


def standing(
    found: Iterable[ProtocolBound], task: Task, lengths: Sequence[int], limit: int = LIMIT
) -> tuple[list[ProtocolBound], list[Judgement]]:
    """The bounds that may be told about a task at some lengths, and those from outside that are refuted.

    This package's own bounds are all told. What does not depend on the length is computed once for each bound.

    >>> from separatrix.communication.bounds import protocol_bounds
    >>> from separatrix.tasks import tasks
    >>> kept, refuted = standing(protocol_bounds("index", "rnn"), tasks()["index"], [8])
    >>> len(kept) > 0, refuted
    (True, [])
    """
    kept: list[ProtocolBound] = []
    refuted: list[Judgement] = []
    for bound in found:
        judgement = judged(bound, task, lengths, limit) if is_own(bound) else None
        if judgement is None or judgement.refuted_by is None:
            kept.append(bound)
        else:
            refuted.append(judgement)
    return kept, refuted


def judged(bound: ProtocolBound, task: Task, lengths: Sequence[int], limit: int = LIMIT) -> Judgement:
    """Everything that can be found out about a bound for a task at some lengths.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> doubled = bounds()["index-lookup-rnn"].inflated(2)
    >>> judged(doubled, tasks()["index"], [8], limit=4).refuted_by.text
    'asks for 2 bits at N = 1, where 1 are enough: a state that tells the residual classes apart'
    """
    for length in lengths:
        check_own_bound(bound, task, length)
    evidence, checked_to = _at_every_length(_Same(bound, task), limit)
    for length in lengths:
        evidence += held_at_length(bound, task, length)
    return Judgement(bound, task, evidence, checked_to)


class _Same:
    """A bound and a task as the key of a cache: functions do not compare, and a task of one's own may not hash."""

    def __init__(self, bound: ProtocolBound, task: Task) -> None:
        self.bound, self.task = bound, task
        self.key = (id(bound), task.name, repr(task.parameters()))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.key == other.key and self.bound is other.bound


@lru_cache(maxsize=64)
def _at_every_length(asked: _Same, limit: int) -> tuple[tuple[Evidence, ...], int | None]:
    """What does not depend on the length that is asked for, and how far all inputs were gone through."""
    compared = held_against_truth(asked.bound, asked.task, limit)
    to = max((each.details["compared_to"] for each in compared if "compared_to" in each.details), default=None)
    return (*asked.bound.evidence(limit), *compared), to


def held_at_length(bound: ProtocolBound, task: Task, length: int) -> tuple[Evidence, ...]:
    """What arithmetic alone says against a bound at one length, whatever the length; empty where that is nothing.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> bound, inequality = bounds()["inequality-transformer-1layer"], tasks()["inequality"]
    >>> held_at_length(bound, inequality, 4096)
    ()
    >>> [each.text for each in held_at_length(bound.inflated(2), inequality, 4096)][-1]
    'asks for 4096 bits at N = 4096, where 2048 are enough: one party sends all that it has'
    """
    asked = bound.required_bits(length, task)
    hidden = None if bound.reduction is None else _hidden_bits(bound.reduction, task, length)
    against: list[str] = []
    if hidden is not None and asked > hidden:
        against.append(f"reduction {bound.reduction} hides {hidden}")
    # How many bits a vector of anyone's own task has is not known.
    if not (task.features(length) and is_outside(type(task))):
        one_way, whole = bound.simulation.one_way, input_bits(task, length, MOST_CELLS)
        enough = whole if one_way else -(-whole // 2)
        if asked > enough:
            why = "the whole input has no more" if one_way else "one party sends all that it has"
            against.append(f"{enough} are enough: {why}")
        for model in () if against else bound.models:
            # Those by brute force say no more than the bits of the input.
            for fact in special_facts(task.name, model):
                given = bound.available_bits(length, fact.size(task, length), task)
                if asked > given:
                    against.append(f"a model with {given} bits does it: {fact.reason}")
    return tuple(
        Evidence("verified", f"asks for {asked} bits at N = {length}, where {each}", False) for each in against
    )


def _hidden_bits(name: str, task: Task, length: int) -> int | None:
    """The bits of the largest instance that a reduction puts into inputs of a length; None where it is another task's.

    A reduction's inputs grow with its size.
    """
    reduction = _reduction(name)
    first = reduction.smallest
    if reduction.task(first).name != task.name:
        return None
    if reduction.length(first) > length:
        return 0
    low, high = first, first + 1
    while reduction.length(high) <= length:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reduction.length(middle) <= length else (low, middle)
    return reduction.bits(low)


def _reduction(name: str) -> Reduction:
    known = {each.name: each for kept in reductions().values() for each in (kept, *kept.variants)}
    if name not in known:
        raise UnknownNameError("reduction", name, known)
    return known[name]


def held_against_truth(bound: ProtocolBound, task: Task, limit: int) -> tuple[Evidence, ...]:
    """A bound beside what is exactly enough at every length with at most 4^``limit`` inputs.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> index = tasks()["index"]
    >>> [each.text for each in held_against_truth(bounds()["index-lookup-rnn"], index, 4)]
    ['asks for no more than the exact state bits at N = 1 to 5']
    >>> [each.text for each in held_against_truth(bounds()["index-lookup-rnn"].inflated(2), index, 4)]
    ['asks for 2 bits at N = 1, where 1 are enough: a state that tells the residual classes apart']
    """
    if _of_a_class(bound, task):
        return ()
    state = "rnn" in bound.models
    what = "the exact state bits" if state else "the bits of a protocol that sends a row or a column"
    why = "a state that tells the residual classes apart" if state else "a protocol that sends a row or a column"
    compared: list[int] = []
    length = task.minimum_length
    while length <= task.maximum_length and task.listable(length) and task.count(length) <= 4**limit:
        try:
            one_way = bound.simulation.one_way
            exact = _exact_state_bits(task, length) if state else _enough_bits(task, length, one_way)
        except SeparatrixError:
            break
        asked = bound.required_bits(length, task)
        if exact is None:
            break
        if asked > exact:
            text = f"asks for {asked} bits at N = {length}, where {exact} are enough: {why}"
            return (Evidence("verified", text, False),)
        compared.append(length)
        length += task.length_step
    if not compared:
        return ()
    text = f"asks for no more than {what} at N = {compared[0]} to {compared[-1]}"
    return (Evidence("verified", text, details={"compared_to": compared[-1]}),)


def _of_a_class(bound: ProtocolBound, task: Task) -> bool:
    """Whether the bound is about a class of functions, of which the task's parameters choose another member."""
    if bound.reduction is None:
        return False
    hard = _reduction(bound.reduction)
    member = hard.task(hard.smallest)
    return member.name == task.name and member.parameters() != task.parameters()


def _one_answer(task: Task, length: int) -> bool:
    return all(bool((examples.read.sum(axis=1) == 1).all()) for examples in task.enumerate(length))


def _exact_state_bits(task: Task, length: int) -> int | None:
    """What a recurrent model needs and what is enough for it, or None where several answers are asked for."""
    if not _one_answer(task, length):
        return None
    positions = task.positions(length)
    problems = (from_task(task, length, cut(positions, after)) for after in range(1, positions))
    return max([bits_for(task.classes(length)), *map(one_way_bits, problems)])


def _enough_bits(task: Task, length: int, one_way: bool) -> int | None:
    """Bits that are enough for every partition, or None where there are several answers or too many partitions."""
    positions = task.positions(length)
    if positions > MOST_POSITIONS or not _one_answer(task, length):
        return None
    most = 0
    for size in range(1, positions):
        for held in combinations(range(positions), size):
            rest = [place for place in range(positions) if place not in held]
            parts = (held,) if one_way else (held, rest)
            most = max(
                most, min(one_way_bits(from_task(task, length, of_positions(positions, part))) for part in parts)
            )
    return most
