"""Refutations: an input that the network gets wrong, found by a search and run before it is reported.

Each file is the search that goes with a method. Nothing here is needed to trust a certificate: a search only proposes
inputs, what it proposes is run, and no search can make a claim valid.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.catalog import discover
from separatrix.certificates.refutations._undecided import undecided as undecided
from separatrix.certificates.verdict import Claim, SuspicionError, Tokens
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    AnyNetwork,
    Attention,
    ExactMatrix,
    FeedForward,
    Network,
    RecurrentNetwork,
    ThirdOrderAttention,
    evaluate,
    matrices_of,
)
from separatrix.progress import report
from separatrix.tasks import draws_from, to_numpy

MOST_TRIED = 64
MOST_AT_ONCE = 16
LONGEST_SAMPLE = 128
"""Of more positions than this only a few random inputs are tried."""
FEW = 8
MOST_WORK = 1 << 26
"""Steps for the random inputs that are run after a proof; a tenth of a second or so."""
SLOW_NUMBERS = 1 << 10
"""Steps of a fixed point for which one in balls, or one of Python, is counted."""


@dataclass(frozen=True)
class Search:
    """Inputs worth trying when a method of these names has a suspicion: ``inputs(network, claim, **clue)``."""

    name: str
    inputs: Callable[..., Iterator[Tokens]]
    also: tuple[str, ...] = ()


@cache
def searches() -> Mapping[str, Search]:
    """All searches by the names of their methods.

    >>> searches()["block-addressed"].name
    'position-addressed'
    """
    found = discover("search", import_module(__name__), "SEARCH", Search)
    return {name: each for each in found.values() for name in (each.name, *each.also)}


def refutation(
    method: str, network: AnyNetwork, claim: Claim, suspicion: SuspicionError, tried: set[bytes] | None = None
) -> tuple[Any, ...] | None:
    """An input that fails, if one is found: first what the method suspects, then its search, then random inputs.

    >>> from separatrix.constructions import Options, constructions
    >>> built = constructions()["index-lookup"].build(4, Options(gain=0))
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> found = refutation("position-addressed", built.network, claim, SuspicionError("no gain"))
    >>> replay(built.network, claim, numpy.array(found))["right"]
    False
    """

    def candidates() -> Iterator[Tokens]:
        yield from suspicion.inputs
        if suspicion.clue and method in searches():
            yield from searches()[method].inputs(network, claim, **suspicion.clue)
        yield from islice(random_inputs(claim), _random_tries(network))

    return first_failure(network, claim, candidates(), tried)


def _random_tries(network: AnyNetwork) -> int:
    """A network too long to be run many times is left undecided rather than waited for."""
    if network.positions <= LONGEST_SAMPLE:
        return MOST_TRIED
    pairs = isinstance(network, Network) and any(isinstance(each, ThirdOrderAttention) for each in network.layers)
    return 0 if pairs else FEW


def random_inputs(claim: Claim) -> Iterator[Tokens]:
    """Random inputs of the task: they can refute a claim, never prove it.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> some = list(islice(random_inputs(Claim(built.task, built.length, built.arithmetic)), 20))
    >>> len(some), some[0].shape
    (20, (5,))
    """
    draws = draws_from(0)
    while True:
        yield from claim.task.sample(draws, 8, claim.length).inputs


def failing_sample(network: AnyNetwork, claim: Claim) -> tuple[Any, ...] | None:
    """One of a few random inputs that is answered otherwise than the task's slow solution says, or None.

    As many inputs as ``MOST_WORK`` steps pay for, none where one costs more: long inputs, third-order units at some
    hundred positions, and balls, whose numbers cost about a thousand times those of a fixed point. What cannot be run,
    because balls leave an answer open or numbers are too large, shows nothing. Always the same inputs.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> failing_sample(built.network, Claim(built.task, built.length, built.arithmetic)) is None
    True
    """
    number = min(FEW, MOST_WORK // _work(network, claim))
    for tokens in islice(random_inputs(claim), number):
        try:
            promised = bool(to_numpy(claim.task.admissible(tokens[None], claim.length))[0])
            if promised and not replay(network, claim, tokens)["right"]:
                return tuple(tokens.tolist())
        except SeparatrixError:
            continue
    return None


def _work(network: AnyNetwork, claim: Claim) -> int:
    """About how many elementary steps it takes to run one input and to solve it slowly."""
    positions = network.positions
    steps = positions * sum(matrix.numerators.size for matrix in _matrices(network))
    if isinstance(network, Network):
        for layer in network.layers:
            if not isinstance(layer, FeedForward):
                entries = positions if isinstance(layer, Attention) else positions**2
                steps += positions * entries * sum(4 + head.output.shape[1] for head in layer.heads)
    if not isinstance(claim.arithmetic, FixedPoint):
        steps *= SLOW_NUMBERS
    elif claim.arithmetic.dtype == numpy.dtype(object):
        steps *= SLOW_NUMBERS // 16
    # A slow solution may look at all pairs or triples of positions, in Python.
    return steps + SLOW_NUMBERS * max(claim.task.work(claim.length), positions) + positions**2


def _matrices(network: AnyNetwork) -> list[ExactMatrix]:
    if isinstance(network, RecurrentNetwork):
        return [matrix for each in network.cell for matrix in (each.weights, each.bias)]
    return [*(matrix for layer in network.layers for matrix in matrices_of(layer)), network.readout.matrix]


def first_failure(
    network: AnyNetwork, claim: Claim, candidates: Iterable[Tokens], tried: set[bytes] | None = None
) -> tuple[Any, ...] | None:
    """The first of up to 64 candidates that keeps the task's promise and that the network really gets wrong.

    Inputs that are in ``tried`` already are left out, others are put there. They are run together, twice as many each
    time, so that one at the front is found soon and many cost less than one by one.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> first_failure(built.network, claim, [numpy.array([7, 8, 9, 10, 64 + 2])]) is None
    True
    """
    known = set[bytes]() if tried is None else tried
    source, size, done = islice(candidates, MOST_TRIED), 1, 0
    while True:
        report("inputs that may fail", done, MOST_TRIED)
        batch = list(islice(source, size))
        if not batch:
            report("inputs that may fail", MOST_TRIED, MOST_TRIED)
            return None
        done, size = done + len(batch), min(2 * size, MOST_AT_ONCE)
        fresh = [each for each in batch if (name := each.tobytes()) not in known and not known.add(name)]
        if not fresh:
            continue
        inputs = numpy.stack(fresh)
        promised = inputs[to_numpy(claim.task.admissible(inputs, claim.length)).astype(bool)]
        if not len(promised):
            continue
        try:
            answers = evaluate(network, promised, claim.arithmetic).answers
        except SeparatrixError:
            # Balls that leave an answer open, say: what cannot be run shows nothing.
            continue
        for place in numpy.flatnonzero(_seem_wrong(network, claim, promised, answers)).tolist():
            # What is reported was compared with the slow solution.
            if not _compared(network, claim, promised[place], answers[place])["right"]:
                return tuple(promised[place].tolist())


def _seem_wrong(network: AnyNetwork, claim: Claim, inputs: Tokens, answers: Tokens) -> NDArray[numpy.bool_]:
    """Which inputs have other answers than the task's labels, which are quicker than its slow solution: (inputs,)."""
    targets, read = (to_numpy(each) for each in claim.task.label(inputs, claim.length))
    several = numpy.zeros(len(inputs), dtype=bool)
    if network.readout.at == "last":
        # An input with more than one answer is left to the slow solution.
        several = read.sum(axis=1) != 1
        targets, read = targets[numpy.arange(len(read)), read.argmax(axis=1)][:, None], ~several[:, None]
    different = (answers != targets).reshape(*read.shape, -1).any(axis=-1)
    return several | (different & read).any(axis=1)


def replay(network: AnyNetwork, claim: Claim, tokens: Tokens) -> dict[str, Any]:
    """Run one input and compare with the task's own slow solution.

    >>> import numpy
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> replay(built.network, claim, numpy.array([7, 8, 9, 10, 64 + 2]))
    {'answers': [9], 'expected': [9], 'right': True}
    """
    return _compared(network, claim, tokens, evaluate(network, tokens[None, ...], claim.arithmetic).answers[0])


def _compared(network: AnyNetwork, claim: Claim, tokens: Tokens, answers: Tokens) -> dict[str, Any]:
    """The answers to one input next to the task's own slow solution."""
    solved = claim.task.solve(tokens.tolist(), claim.length)
    # Vectors are lists here, as in the answers that are given.
    plain = [list(answer) if isinstance(answer, tuple) else answer for answer in solved]
    expected = [answer for answer in plain if answer is not None]
    given = answers.tolist()
    if network.readout.at == "every":
        given = [answer for answer, asked in zip(given, solved, strict=True) if asked is not None]
    return {"answers": given, "expected": expected, "right": given == expected}
