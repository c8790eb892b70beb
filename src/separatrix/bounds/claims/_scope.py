"""What the parameters of a task do to a bound: where it says nothing, and what it asks for in their place.

The papers state their bounds for a task as such. Tasks here have parameters, and with some of them the problem that a
bound hides is not there any more: triple matching that may count the query itself answers 1 on every input (E11), a
threshold of features of one bit only counts, equality of neighbouring symbols needs one symbol of memory. Each function
below gives a reason in words why a bound is silent, or nothing where it speaks.
"""

from fractions import Fraction
from itertools import accumulate
from math import isqrt

from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError
from separatrix.tasks import GRID, Task, tasks
from separatrix.text_numbers import parse_fraction

HARD_MEMBERS = ("disjointness", "inequality")
"""The members of THRES(2, N) that need N/2 bits: with halves of N/2 bits each."""


def one_at_every_query(task: Task, length: int) -> str:
    """Triple matching at the last number, counting that number itself: a constant."""
    del length
    if task.parameters().get("exclude_query") is not False:
        return ""
    return "with exclude_query=False the query matches with itself, and the answer is 1 on every input (E11)"


def one_member(task: Task, length: int) -> str:
    """Thresholds that are one function without disjointness in it: by features of one bit, or chosen by hand."""
    del length
    chosen = task.parameters()
    if chosen["sparsity"] < 2:
        return f"disjointness has features of 2 bits, and these have {chosen['sparsity']}"
    if chosen["instance"] in HARD_MEMBERS or whole_class(task):
        return ""
    return "these parameters choose one member of the class, which may need less; instance=disjointness needs this"


def whole_class(task: Task) -> str:
    """Return the class that a threshold task represents as long as no parameter but k says which member is meant.

    >>> whole_class(tasks()["sparse-threshold"])
    'every member of THRES(3, N)'
    >>> whole_class(tasks()["sparse-threshold"].with_parameters(function_seed=1))
    ''
    """
    chosen, usual = task.parameters(), tasks()["sparse-threshold"].parameters()
    unsaid = all(chosen[name] == usual[name] for name in ("instance", "features_used", "function_seed"))
    return f"every member of THRES({chosen['sparsity']}, N)" if unsaid and chosen["sparsity"] >= 2 else ""


def too_few_keys(task: Task, length: int) -> str:
    """Recall whose pairs need more keys than there are: no input has this length."""
    keys = task.parameters().get("keys")
    pairs = length if task.name == "associative-recall" else length // 2
    return "" if keys is None or keys >= pairs else f"keys={keys} are fewer than the {pairs} pairs: there is no input"


def always(task: Task) -> bool:
    """Return true: the reduction gives Alice the first positions, whatever the parameters."""
    del task
    return True


def first_half_first(task: Task) -> bool:
    """Return whether Alice holds the first positions: not where equality's halves are named positions.

    >>> first_half_first(tasks()["equality"]), first_half_first(tasks()["equality"].with_parameters(alice="1,3"))
    (True, False)
    """
    return task.parameters().get("alice") is None


def other_positions(task: Task, length: int) -> str:
    """Equality over named positions, which have one length only."""
    return "" if task.parameters().get("alice") is None else _refusal(task, length)


def small_modulus(task: Task, length: int) -> str:
    """Local triple matching modulo at most 3, where numbers 1 match among themselves."""
    del length
    modulus = task.parameters()["modulus"]
    return "" if modulus is None or modulus > 3 else f"modulo {modulus} three numbers 1 or two and a 0 match as well"


def crowded_points(task: Task, length: int) -> str:
    """Nearest neighbour in a space that has no room for N/2 corners at the margin.

    The theorem lets the dimension grow with N. A task has one dimension, in which few points keep a margin: for d = 16
    and γ = 1/10 no input of 10^12 points does, and every model is right on all that there are.
    """
    chosen = task.parameters()
    if task.name != "nearest-neighbour":
        return ""
    dimension, margin = int(chosen["dimension"]), parse_fraction("margin", str(chosen["margin"]))
    # Corners whose coordinates come in blocks of δ equal ones differ in at least δ of them. On the grid of the sphere
    # ±1/√d is rounded down, which lowers their products.
    on_grid = Fraction(isqrt(GRID**2 // dimension) ** 2, GRID**2)
    share = Fraction(1, dimension) if chosen["points"] == "hypercube" else on_grid
    block = max(1, -(-margin // (2 * share)))
    room = dimension // int(block)
    if bits_for(length // 2) <= room:
        return ""
    return (
        f"dimension={dimension} and margin={margin} have room for 2^{room} of the corners that the reduction uses, not "
        f"for {length // 2}; choose a larger dimension and a margin of at most 2/d"
    )


def parted_pairs(task: Task, length: int) -> int:
    """Return how many pairs of equality's symbols one cut of the sequence parts at most: N/2 for halves.

    A symbol of an open pair must be remembered, and of a closed one only whether all pairs so far were equal.
    """
    if task.parameters().get("alice") is None:
        return length // 2
    first = {int(word) for word in str(task.parameters()["alice"]).split(",")}
    # The i-th position of one half belongs to the i-th of the other, so the open pairs are the lead of one half.
    return max(map(abs, accumulate(1 if place in first else -1 for place in range(1, length + 1))))


def parted_in_words(task: Task, length: int) -> str:
    """Return the same in words."""
    del length
    return "N/2" if task.parameters().get("alice") is None else "the most pairs that one cut of the sequence parts"


def _refusal(task: Task, length: int) -> str:
    try:
        task.check_length(length)
    except SeparatrixError as error:
        return str(error)
    return ""
