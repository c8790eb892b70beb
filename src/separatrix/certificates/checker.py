"""The independent checker: from a weight file and a claim to a verdict about every input.

It shares no code with the constructions. What it relies on is the arithmetic room, the networks' data and evaluation,
and the tasks. Methods are tried in order until one decides; each is a file of ``methods/``.
"""

from collections.abc import Iterator
from functools import cache

from separatrix.catalog import Catalog, discover
from separatrix.certificates import methods as folder
from separatrix.certificates.verdict import Claim, Method, Tokens, Verdict, apply, first_failure
from separatrix.networks import AnyNetwork
from separatrix.tasks import draws_from

LONGEST_REPLAY = 128


@cache
def methods() -> Catalog[Method]:
    """All methods by name."""
    return discover("method", folder, "METHOD", Method)  # type: ignore[type-abstract]


def check(network: AnyNetwork, claim: Claim, method: str | None = None) -> Verdict:
    """Decide the claim for every input of its length, with one method or with the first that can."""
    if method is not None:
        return apply(methods()[method], network, claim)
    reasons: list[str] = []
    for each in sorted(methods().values(), key=lambda one: (one.order, one.name)):
        verdict = apply(each, network, claim)
        if verdict.valid or verdict.refuted:
            return verdict
        reasons.append(f"{each.name}: {verdict.reason}")
    # A network too long to be run many times is left undecided rather than waited for.
    small = network.positions <= LONGEST_REPLAY
    found = first_failure(network, claim, _samples(claim)) if small else None
    if found is not None:
        return Verdict(False, True, "a random input is answered wrongly", "sampling", counterexample=found)
    return Verdict(False, False, "not proved; " + "; ".join(reasons), "none")


def _samples(claim: Claim) -> Iterator[Tokens]:
    """Random inputs of the task: they can refute a claim, never prove it."""
    draws = draws_from(0)
    while True:
        yield from claim.task.sample(draws, 8, claim.length).inputs
