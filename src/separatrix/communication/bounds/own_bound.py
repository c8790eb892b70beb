"""A bound from outside this package is held against what is exactly true at small lengths before it is told.

The tests hold the package's own bounds to that; nobody runs them on a bound from a file or another package. A recurrent
model that remembers which residual class its prefix is in, and no more, answers every input. So at lengths whose inputs
can all be listed, the largest ⌈log2 of the number of classes⌉ over the cuts is the exact number of state bits (BHBK24
Theorem 2 in both directions), and a bound that asks for more there is false. That it asks for less is evidence, no
proof, for other lengths. Bounds for other models, and tasks with a promise or with several answers, are not compared.
"""

from separatrix.bit_counts import bits_for
from separatrix.communication.bounds.bound import Bound, ProtocolBound
from separatrix.communication.bounds.evidence import Evidence
from separatrix.communication.partition import cut
from separatrix.communication.problem import from_task
from separatrix.communication.rows import one_way_bits
from separatrix.errors import SeparatrixError
from separatrix.sources import is_outside
from separatrix.tasks import Task


def is_own(bound: Bound) -> bool:
    """Whether a bound comes from a file or another package: where the formula of its bits stands.

    >>> from separatrix.communication.bounds import bounds
    >>> is_own(bounds()["index-lookup-rnn"])
    False
    """
    return isinstance(bound, ProtocolBound) and is_outside(bound.hidden_bits)


def check_own_bound(bound: ProtocolBound, task: Task, length: int) -> None:
    """Raise a one-line error unless a bound's formula gives a whole number of bits, which only int is at every length.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> check_own_bound(bounds()["index-lookup-rnn"], tasks()["index"], 8)
    """
    bits: object = bound.hidden_bits(task, length)
    if type(bits) is not int or bits < 0:
        raise SeparatrixError(f"hidden_bits of {bound.name} gives {bits!r} at length {length}; give an int from 0 on")


def held_against_truth(bound: ProtocolBound, task: Task, limit: int) -> tuple[Evidence, ...]:
    """A recurrent bound beside the exact state bits at every length with at most 4^``limit`` inputs.

    >>> from separatrix.communication.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> index = tasks()["index"]
    >>> [each.text for each in held_against_truth(bounds()["index-lookup-rnn"], index, 4)]
    ['asks for no more than the exact state bits at N = 1 to 5']
    >>> [each.text for each in held_against_truth(bounds()["index-lookup-rnn"].inflated(2), index, 4)]
    ['asks for 2 bits at N = 1, where 1 are enough: a state that tells the residual classes apart']
    """
    if "rnn" not in bound.models:
        return ()
    compared: list[int] = []
    length = task.minimum_length
    while length <= task.maximum_length and task.listable(length) and task.count(length) <= 4**limit:
        try:
            exact = _exact_state_bits(task, length)
        except SeparatrixError:
            break
        asked = bound.required_bits(length, task)
        if exact is None:
            break
        if asked > exact:
            why = f"where {exact} are enough: a state that tells the residual classes apart"
            return (Evidence("verified", f"asks for {asked} bits at N = {length}, {why}", False),)
        compared.append(length)
        length += task.length_step
    if not compared:
        return ()
    text = f"asks for no more than the exact state bits at N = {compared[0]} to {compared[-1]}"
    return (Evidence("verified", text, details={"compared_to": compared[-1]}),)


def _exact_state_bits(task: Task, length: int) -> int | None:
    """What a recurrent model needs and what is enough for it, or None where several answers are asked for."""
    for examples in task.enumerate(length):
        if (examples.read.sum(axis=1) != 1).any():
            return None
    positions = task.positions(length)
    problems = (from_task(task, length, cut(positions, after)) for after in range(1, positions))
    return max([bits_for(task.classes(length)), *map(one_way_bits, problems)])
