"""The same first-layer argument for the other tasks: m·(2p + ⌈log2 K⌉) is at least what one-way communication needs.

Not in the papers, which state it for sparse averaging. Alice's part of the sums of the first layer is a one-way message
for *any* partition of the input, so every reduction here, and the fooling set of the Dyck languages, bounds the width
of a feed-forward network with p-bit weights: N bits for index lookup and associative recall, N/2 for equality,
disjointness and the recall of all labels, N - 1 for Dyck-(2,2) and pair matching, ⌊(N - 1)/2⌋ for triple matching,
about N²/4 and N²/8 for cycles.

Two tasks need no communication: a network that gives all answers at once has at least as many different sums as
different answers. Repeating the first half has |Σ'|^(N/2) answers; local triple matching has 2^N, because of the
numbers 0 and 1 each 0 matches itself (0 + 0 + 0) and no 1 matches (the sums are 1, 2 and 3, and M > 3).
"""

from collections.abc import Callable

import numpy

from separatrix.bounds import dyck_fooling
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims import (
    associative_recall_rnn,
    directed_3_cycle_rnn,
    disjointness_rnn,
    dyck_transformer_1layer,
    eq_ncp_rnn,
    index_lookup_rnn,
    inequality_rnn,
    inequality_transformer_1layer,
    match2_rnn,
    match3_rnn,
    nearest_neighbour_rnn,
    sparse_threshold_rnn,
    undirected_5_cycle_rnn,
)
from separatrix.bounds.claims._scope import first_half_first, small_modulus
from separatrix.bounds.claims.sparse_averaging_fnn import FIRST_LAYER_ASSUMPTIONS, first_layer_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import FIRST_LAYER
from separatrix.communication import bits_of_numbers
from separatrix.tasks import Task, tasks

_SOURCES: tuple[ProtocolBound, ...] = (
    index_lookup_rnn.BOUND,
    associative_recall_rnn.BOUND,
    nearest_neighbour_rnn.BOUND,
    inequality_rnn.BOUND,
    disjointness_rnn.BOUND,
    sparse_threshold_rnn.BOUND,
    match2_rnn.BOUND,
    match3_rnn.BOUND,
    directed_3_cycle_rnn.BOUND,
    undirected_5_cycle_rnn.BOUND,
)
_HIDDEN: dict[str, Callable[[Task, int], int]] = {
    "dyck": dyck_fooling.fooling_bits,
    "eq-ncp": eq_ncp_rnn.BOUND.hidden_bits,
    "match3-local": lambda task, length: length,
    **{name: source.hidden_bits for source in _SOURCES for name in source.task_names},
    # The argument takes any partition of the input, so the positions of equality's halves do not matter.
    **dict.fromkeys(("equality", "inequality"), inequality_transformer_1layer.BOUND.hidden_bits),
}
_OUTSIDE: dict[str, Callable[[Task, int], str] | None] = {
    "match3-local": small_modulus,
    **{name: source.outside for source in _SOURCES for name in source.task_names},
}


def _hidden_bits(task: Task, length: int) -> int:
    return _HIDDEN[task.name](task, length)


def _outside(task: Task, length: int) -> str:
    reason = _OUTSIDE.get(task.name)
    return "" if reason is None else reason(task, length)


def _local_answers(limit: int) -> Evidence:
    """Return all answers of local triple matching on numbers 0 and 1."""
    task = tasks()["match3-local"]
    holds = True
    for length in range(1, limit + 1):
        zeros = bits_of_numbers(numpy.arange(2**length, dtype=numpy.int64), length)
        numbers = numpy.where(zeros == 1, task.vocabulary(length).size - 1, 1)
        inputs = numpy.concatenate([numpy.zeros((len(numbers), 1), dtype=numpy.int64), numbers], axis=1)
        targets, _ = task.label(inputs, length)
        holds = holds and bool((targets[:, 1:] == zeros).all())
    return Evidence(
        "verified",
        "local triple matching of numbers 0 and 1 answers 1 exactly at the zeros: 2^N answers, all strings to N = "
        f"{limit}",
        holds,
        {"verified_to": limit},
    )


def _checks(limit: int) -> tuple[Evidence, ...]:
    sources = (*_SOURCES, dyck_transformer_1layer.BOUND, eq_ncp_rnn.BOUND)
    found = [each for source in sources for each in source.checks(limit)]
    # Several tasks rest on the same fact; it is run and named once.
    return tuple({each.text: each for each in (*found, _local_answers(limit))}.values())


BOUND = ProtocolBound(
    name="first-layer-fnn",
    claim="SHT23's argument for FNNs, with the reductions of the other tasks",
    statement="a feed-forward network with p-bit weights has m(2p + ⌈log2 K⌉) at least the one-way complexity of its "
    "task",
    task_names=tuple(sorted(_HIDDEN)),
    models=("fnn",),
    extension=True,
    growths={"directed-3-cycle": "quadratic", "undirected-5-cycle": "quadratic"},
    assumptions=(*FIRST_LAYER_ASSUMPTIONS, "for sparse-threshold: the class, through its member disjointness"),
    simulation=FIRST_LAYER,
    problem="INDEX, EQ, DISJ, DYCK or counting answers",
    hidden_bits=_hidden_bits,
    setting=first_layer_setting,
    in_words="the bits hidden in the task",
    outside=_outside,
    # Of the one task that promises something and has no reduction.
    instances=eq_ncp_rnn.repeated,
    prefix=lambda task: task.name != "dyck" and first_half_first(task),
    checks=_checks,
)
