"""Proofs about running sums in float32: which states are dead, how far a sum is from home, and where that is."""

import json
from collections.abc import Iterator
from typing import Any

from separatrix.networks import AnyNetwork, to_bytes
from separatrix_kernel.floats import LIMIT, Floats
from separatrix_kernel.network import Reader
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.running import RULE, RunningClaim
from separatrix_kernel.specification import read_specification


def running_sums(network: AnyNetwork, specification: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Proofs worth trying: a coordinate counts by the sign of the wall that it starts at, home is what is answered
    otherwise than dead states are.

    >>> from separatrix.constructions import constructions
    >>> from separatrix.tasks import own_specification
    >>> built = constructions()["dyck-float"].build(8)
    >>> [proof] = running_sums(built.network, own_specification(built.task, 8))
    >>> proof["dead"], proof["weights"], proof["home"]
    ([7], [1, -1, -1, -1, -1], [16777214, -16777216, -16777216, -16777216, -16777216])
    """
    inputs, answers = read_specification(json.loads(json.dumps(specification)))
    try:
        floats = Floats()
        claim = RunningClaim(Reader(to_bytes(network), floats).network(), inputs, answers, floats)
        unit = claim.unit()
        weights = [1 if sum(column) > 0 else -1 for column in zip(*claim.first, strict=True)]
        for answer in sorted(set(claim.answers.answers)):
            dead = dead_states(claim.answers.steps, claim.answers.answers, answer)
            # Nothing is too far from home as long as home is not known.
            ends = claim.walk(set(dead), weights, len(weights) * LIMIT)
            homes = {total for total, state in ends if claim.answers.answers[state] != answer}
            if dead and len(homes) == 1 and (home := homes.pop()) is not None:
                yield {"rule": RULE, "dead": dead, "weights": weights, "home": [each // unit for each in home]}
    except RefusedError:
        # Of a kind that the kernel does not cover.
        return


def dead_states(steps: list[list[int]], answers: list[int], answer: int) -> list[int]:
    """The states from which every string leads to this answer.

    >>> dead_states([[0, 1], [1, 1]], [1, 0], 0)
    [1]
    """
    dead = {state for state, each in enumerate(answers) if each == answer}
    while True:
        kept = {state for state in dead if dead.issuperset(steps[state])}
        if kept == dead:
            return sorted(dead)
        dead = kept
