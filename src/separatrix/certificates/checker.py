"""The independent checker: from a weight file and a claim to a verdict about every input.

It shares no code with the constructions. What it relies on is the arithmetic room, the networks' data and evaluation,
and the tasks. Methods are tried in order until one decides; each is a file of ``methods/``.
"""

from functools import cache

from separatrix.catalog import Catalog, discover
from separatrix.certificates import methods as folder
from separatrix.certificates.verdict import Claim, Method, Verdict, apply
from separatrix.networks import Network


@cache
def methods() -> Catalog[Method]:
    """All methods by name."""
    return discover("method", folder, "METHOD", Method)  # type: ignore[type-abstract]


def check(network: Network, claim: Claim, method: str | None = None) -> Verdict:
    """Decide the claim for every input of its length, with one method or with the first that can."""
    if method is not None:
        return apply(methods()[method], network, claim)
    reasons: list[str] = []
    for each in sorted(methods().values(), key=lambda one: (one.order, one.name)):
        verdict = apply(each, network, claim)
        if verdict.valid or verdict.refuted:
            return verdict
        reasons.append(f"{each.name}: {verdict.reason}")
    return Verdict(False, False, "not proved; " + "; ".join(reasons), "none")
