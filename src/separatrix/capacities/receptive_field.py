"""How far back an answer depends on the input, task by task: what a stack of windows must reach.

In a stack of L layers of attention over a window of w positions, itself included, nothing further back than L·(w − 1)
positions changes the output (elementary; ``transformers`` masks keys at distance w and more). So a task is impossible
for any weights where two of its inputs agree on everything within that reach of a position that is asked about, and
have different answers there. Each entry gives the largest such distance as a formula in N; the tests find the same
number by comparing all inputs of short lengths. Tasks whose function is drawn (``cnf``, ``dnf``, ``sparse-threshold``)
have no entry, since a drawn function may not depend on its first bit, and neither has nearest neighbour, whose promise
few inputs of great length keep.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from separatrix.bounds import smallest_number
from separatrix.tasks import Task


@dataclass(frozen=True)
class Distance:
    """How many positions before one that is asked about the input still matters, as a formula and in words.

    ``least``: the length from which on it holds.
    """

    words: str
    at: Callable[[Task, int], int]
    least: int = 1


def _local(task: Task, length: int) -> int:
    return min(int(task.parameters()["window"]), length - 1)


def _by_the_query(task: Task, length: int) -> int:
    # With the query among its own partners the answer is the same on every input (E11).
    return length - 1 if task.parameters()["exclude_query"] else 0


_FIRST = Distance("N − 1", lambda task, length: length - 1)
_BEFORE_A_MARK = Distance("N", lambda task, length: length)
DISTANCES: Mapping[str, Distance] = {
    "associative-recall": Distance("2N − 1", lambda task, length: 2 * length - 1),
    "directed-3-cycle": Distance("N − 1", lambda task, length: length - 1, least=3),
    "disjointness": _FIRST,
    "dyck": _FIRST,
    "eq-ncp": Distance("N/2", lambda task, length: length // 2),
    "eq-one": _BEFORE_A_MARK,
    "eq-random": _BEFORE_A_MARK,
    "equality": _FIRST,
    "index": _BEFORE_A_MARK,
    "index-lookup": _BEFORE_A_MARK,
    "inequality": _FIRST,
    "majority": _FIRST,
    "match2": _FIRST,
    "match3": Distance("N − 1", lambda task, length: length - 1, least=3),
    "match3-last": Distance("N − 1", _by_the_query, least=3),
    "match3-local": Distance("min(window, N − 1)", _local, least=3),
    "mqar": Distance("3N/2 − 2", lambda task, length: 3 * length // 2 - 2),
    "sparse-averaging": Distance("N − 1", lambda task, length: length - 1),
    # An edge is written in both of its rows, so that the second one matters and not the first alone.
    "undirected-5-cycle": Distance("N − 2", lambda task, length: length - 2, least=5),
}
"""By name of the task; the first symbol that matters is the first of the input, or the first label."""


def longest_within(task: Task, reach: int) -> int | None:
    """The largest length of a task at which all that matters is within reach; None where that is every length.

    0 where no length is within reach.

    >>> from separatrix.tasks import tasks
    >>> longest_within(tasks()["dyck"], 131040), longest_within(tasks()["mqar"], 131040)
    (131040, 87360)
    >>> longest_within(tasks()["match3-local"], 131040) is None
    True
    """
    distance = DISTANCES.get(task.name)
    if distance is None:
        return None
    step = task.length_step
    first = -(-max(task.minimum_length, distance.least) // step)
    beyond = 4 * (reach + distance.least + step)  # every distance that grows is more than a quarter of N

    def out_of_reach(number: int) -> bool:
        return distance.at(task, (first + number - 1) * step) > reach

    if not out_of_reach(beyond):
        return None
    found = (first + smallest_number(out_of_reach) - 2) * step
    return found if found >= task.minimum_length else 0
