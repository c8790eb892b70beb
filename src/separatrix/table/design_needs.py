"""What a design needs at least: the strongest bounds on a task of one length."""

from separatrix.bounds import (
    FIXED,
    RECURRENT,
    Model,
    ProtocolBound,
    bounds_for,
    consistent_bounds,
    covered,
    protocol_bounds,
)
from separatrix.capacities import DISTANCES
from separatrix.table.design_record import Need
from separatrix.table.separation import BOUNDED_BY
from separatrix.tasks import Task, tasks


def bounded_as(task: Task) -> tuple[Task, str]:
    """Return the task whose bounds hold for a task, and why where it is another one."""
    name, why = BOUNDED_BY.get(task.name, (task.name, ""))
    return (task, "") if name == task.name else (tasks()[name], why)


def needs(task: Task, model: Model, length: int, precision: int, heads: int) -> tuple[Need, ...]:
    """Return the strongest bound on a class of models; of equals the papers' own, and Theorem 2 before Lemma 4."""
    chosen, why = bounded_as(task)
    found: list[tuple[ProtocolBound, str]] = []
    candidates = [each for each in bounds_for(chosen.name, model) if isinstance(each, ProtocolBound)]
    for bound in consistent_bounds(candidates, chosen, [length])[0]:
        coverage = covered(bound, FIXED, chosen)
        if coverage.covered and coverage.bound.required_bits(length, chosen):
            found.append((coverage.bound, coverage.arithmetic))
    if not found:
        return ()

    def size(bound: ProtocolBound) -> int:
        if model == "rnn":
            return bound.required_bits(length, chosen)
        return bound.smallest_width(length, precision, heads, task=chosen)

    bound, holds_for = min(found, key=lambda each: (-size(each[0]), each[0].extension, -len(each[0].task_names)))
    width = bound.smallest_width(length, precision, heads, task=chosen)
    words = f"{bound.formula(length, precision, heads, task=chosen)}, so m ≥ {width:,}{_whole_class(bound, chosen)}"
    quantity = "state bits" if model == "rnn" else f"width m of {heads} heads" if heads > 1 else "width m of one head"
    return (
        Need(quantity, size(bound), f"{words}; {why}" if why else words, bound.claim, not bound.extension, holds_for),
    )


def kept_need(task: Task, length: int) -> tuple[Need, ...]:
    """Return the bits that states and caches hold together at the cut: Theorem 2 with the cache as the state."""
    chosen, why = bounded_as(task)
    candidates = [each for each in protocol_bounds(chosen.name, "rnn") if each.simulation is RECURRENT]
    found = [each for each in consistent_bounds(candidates, chosen, [length])[0] if each.required_bits(length, chosen)]
    if not found:
        return ()
    bound = min(found, key=lambda each: (-each.required_bits(length, chosen), each.extension))
    bits = bound.required_bits(length, chosen)
    words = (
        f"state + cache ≥ {bits:,} = {bound.needs_in_words(length, chosen)} at N = {length:,}: without a state, a "
        f"cache with b bits for each token keeps ⌈{bits:,}/b⌉ tokens or more{_whole_class(bound, chosen)}"
    )
    claim = f"{bound.claim}, with the cache as the state"
    words = f"{words}; {why}" if why else words
    return (Need("bits of states and caches", bits, words, claim, False, "any numbers of p bits, one causal pass"),)


def _whole_class(bound: ProtocolBound, task: Task) -> str:
    """Say that a bound is about models for all functions of a class, where it is."""
    every = bound.of_a_class(task)
    return f"; of a model that can be given weights for {every}" if every else ""


def reach_need(task: Task, length: int) -> tuple[Need, ...]:
    """Return how far back the windows of all layers reach together."""
    distance = DISTANCES.get(task.name)
    if distance is None or length < distance.least:
        return ()
    far = distance.at(task, length)
    words = f"Σ (w − 1) over the layers ≥ {far:,} = {distance.words} at N = {length:,}"
    return (Need("positions back", far, words, "receptive field (elementary)", False, "any numbers"),)
