"""Refutations: an input that the network gets wrong, found by a search and run before it is reported.

Each file is the search that goes with a method. Nothing here is needed to trust a certificate: a search only proposes
inputs, what it proposes is run, and no search can make a claim valid.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from separatrix.catalog import Catalog, discover
from separatrix.certificates.verdict import Claim, SuspicionError, Tokens
from separatrix.networks import AnyNetwork, evaluate
from separatrix.progress import tracked
from separatrix.tasks import draws_from

MOST_TRIED = 64


@dataclass(frozen=True)
class Search:
    """Inputs worth trying when the method of this name has a suspicion: ``inputs(network, claim, **clue)``."""

    name: str
    inputs: Callable[..., Iterator[Tokens]]


@cache
def searches() -> Catalog[Search]:
    """All searches by the name of their method."""
    return discover("search", import_module(__name__), "SEARCH", Search)


def refutation(method: str, network: AnyNetwork, claim: Claim, suspicion: SuspicionError) -> tuple[Any, ...] | None:
    """An input that fails, if one is found: first what the method suspects, then its search, then random inputs."""

    def candidates() -> Iterator[Tokens]:
        yield from suspicion.inputs
        if suspicion.clue and method in searches():
            yield from searches()[method].inputs(network, claim, **suspicion.clue)
        yield from random_inputs(claim)

    return first_failure(network, claim, candidates())


def random_inputs(claim: Claim) -> Iterator[Tokens]:
    """Random inputs of the task: they can refute a claim, never prove it."""
    draws = draws_from(0)
    while True:
        yield from claim.task.sample(draws, 8, claim.length).inputs


def first_failure(network: AnyNetwork, claim: Claim, candidates: Iterable[Tokens]) -> tuple[Any, ...] | None:
    """The first of up to 64 candidates that keeps the task's promise and that the network really gets wrong."""
    for candidate in tracked(islice(candidates, MOST_TRIED), "inputs that may fail", MOST_TRIED):
        promised = bool(claim.task.admissible(candidate[None, ...], claim.length)[0])
        if promised and not replay(network, claim, candidate)["right"]:
            return tuple(candidate.tolist())
    return None


def replay(network: AnyNetwork, claim: Claim, tokens: Tokens) -> dict[str, Any]:
    """Run one input and compare with the task's own slow solution."""
    outputs = evaluate(network, tokens[None, ...], claim.arithmetic)
    solved = claim.task.solve(tokens.tolist(), claim.length)
    # Vectors are lists here, as in the answers that are given.
    plain = [list(answer) if isinstance(answer, tuple) else answer for answer in solved]
    expected = [answer for answer in plain if answer is not None]
    given = outputs.answers[0].tolist()
    if network.readout.at == "every":
        given = [answer for answer, asked in zip(given, solved, strict=True) if asked is not None]
    return {"answers": given, "expected": expected, "right": given == expected}
