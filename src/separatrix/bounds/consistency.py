"""Consistency checks of a bound: against what is exactly enough at small lengths, and arithmetic at every length.

*At small lengths.* A recurrent model that remembers which residual class its prefix is in, and no more, answers every
input. So at lengths whose inputs can all be listed, the largest ⌈log2 of the number of classes⌉ over the cuts is the
exact number of state bits (BHBK24 Theorem 2 in both directions). For other models a protocol that sends the number of a
row, or of a column where both may speak, is enough, whatever the partition. A bound that asks for more is false. That
it asks for less is evidence, no proof, for other lengths. Tasks with a promise or with several answers are not
compared.

*At any length.* A problem hidden in an input has no more bits than the input, or than its smaller part where both may
speak; a reduction hides no more than its instance of that length; and a model that is known to solve the task
(``upper_bounds``) must be large enough. All that is arithmetic, so it is done at every length; but a formula that
stays below it is not thereby right, which is said
(:meth:`separatrix.bounds.user_bound.Judgement.rests_on`).
"""

from itertools import combinations

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.upper_bounds import input_bits, part_bits, special_facts
from separatrix.communication import Reduction, cut, from_task, of_positions, one_way_bits, reductions
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.sources import is_outside
from separatrix.tasks import Task, tasks

MOST_CELLS = 1 << 13
"""Of inputs of more cells only the bits of a cell are counted, not the inputs that there are."""
LARGEST_SIZE = 1 << 64
"""A reduction of this size whose input still fits has inputs that do not grow."""
MOST_POSITIONS = 8
"""All partitions of so many positions are gone through, of more none."""


def check_length_arithmetic(bound: ProtocolBound, task: Task, length: int) -> tuple[Evidence, ...]:
    """Return what arithmetic alone says against a bound at one length, whatever the length; empty where that is
    nothing."""
    asked = bound.required_bits(length, task)
    hidden = None if bound.reduction is None else _hidden_bits(bound.reduction, task, length)
    against: list[str] = []
    if hidden is not None and asked > hidden:
        against.append(f"reduction {bound.reduction} hides {hidden}")
    # How many bits a vector of a user's task has is not known.
    if not (task.features(length) and is_outside(type(task))):
        one_way = bound.simulation.one_way
        enough = (input_bits if one_way else part_bits)(task, length, MOST_CELLS)
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
        Evidence("verified", f"requires {asked} bits at N = {length}, where {each}", False) for each in against
    )


def _hidden_bits(name: str, task: Task, length: int) -> int | None:
    """Return the bits of the largest instance that a reduction puts into inputs of a length.

    None where it is another task's, where somebody chose parameters that it is not about, and where its inputs do not
    grow with its size.
    """
    reduction = _reduction(name)
    first = reduction.smallest
    member = reduction.task(first)
    if member.name != task.name:
        return None
    # Of a class of functions a reduction may take one member; what is said for the class is said of its first.
    usual = tasks()[task.name].parameters() if task.name in tasks() else None
    if task.parameters() not in (member.parameters(), usual):
        return None
    if reduction.length(first) > length:
        return 0
    low, high = first, first + 1
    while reduction.length(high) <= length:
        if high > LARGEST_SIZE:
            return None
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


def check_small_lengths(bound: ProtocolBound, task: Task, limit: int) -> tuple[Evidence, ...]:
    """Return a bound next to what is exactly enough at every length with at most 4^``limit`` inputs."""
    if _reduced_elsewhere(bound, task):
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
            text = f"requires {asked} bits at N = {length}, where {exact} are enough: {why}"
            return (Evidence("verified", text, False),)
        compared.append(length)
        length += task.length_step
    if not compared:
        return ()
    text = f"requires no more than {what} at N = {compared[0]} to {compared[-1]}"
    return (Evidence("verified", text, details={"compared_to": compared[-1]}),)


def _reduced_elsewhere(bound: ProtocolBound, task: Task) -> bool:
    """Return whether the bound's reduction ends in this task with other parameters, as for another member of a
    class."""
    if bound.reduction is None:
        return False
    hard = _reduction(bound.reduction)
    member = hard.task(hard.smallest)
    return member.name == task.name and member.parameters() != task.parameters()


def _one_answer(task: Task, length: int) -> bool:
    return all(bool((examples.read.sum(axis=1) == 1).all()) for examples in task.enumerate(length))


def _exact_state_bits(task: Task, length: int) -> int | None:
    """Return what a recurrent model needs and what is enough for it, or None where several answers are asked for."""
    if not _one_answer(task, length):
        return None
    positions = task.positions(length)
    problems = (from_task(task, length, cut(positions, after)) for after in range(1, positions))
    return max([bits_for(task.classes(length)), *map(one_way_bits, problems)])


def _enough_bits(task: Task, length: int, one_way: bool) -> int | None:
    """Return bits that are enough for every partition, or None where there are several answers or too many
    partitions."""
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
