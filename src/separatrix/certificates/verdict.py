"""What a claim is, what a verdict is, and how an input is replayed.

A verdict is one of three: *valid* (no input of that length is answered wrongly), *refuted* (with an input that the
network gets wrong, replayed before it is reported), or *not proved* (no method covers the network).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic
from separatrix.errors import SeparatrixError
from separatrix.networks import Network, evaluate
from separatrix.tasks import Task

Tokens = NDArray[numpy.int64]
REPLAYED = 64


class UnsupportedError(SeparatrixError):
    """The network is outside what a method covers; nothing is claimed either way."""


class SuspicionError(SeparatrixError):
    """The claim seems false; ``candidates`` are full inputs worth trying as counterexamples."""

    def __init__(self, reason: str, candidates: Iterable[Tokens]) -> None:
        super().__init__(reason)
        self.candidates = candidates


@dataclass(frozen=True)
class Claim:
    """The network answers every input of this length of this task correctly, evaluated in this arithmetic."""

    task: Task
    length: int
    arithmetic: Arithmetic


@dataclass(frozen=True)
class Verdict:
    """What is known about a claim after checking."""

    valid: bool
    refuted: bool
    reason: str
    method: str
    inputs_covered: str = "0"
    counterexample: tuple[Any, ...] | None = None


class Method(ABC):
    """A way to decide claims about all inputs; one file of ``methods/`` each."""

    name: str
    order: int

    @abstractmethod
    def prove(self, network: Network, claim: Claim) -> str:
        """Return the number of inputs covered, such as "64^1024*1024", if every one is answered correctly.

        Raises :class:`UnsupportedError` where the method does not apply and :class:`SuspicionError` where the claim
        seems false.
        """


def apply(method: Method, network: Network, claim: Claim) -> Verdict:
    """One method's verdict; a suspicion becomes a refutation only when a replayed input fails."""
    try:
        covered = method.prove(network, claim)
    except UnsupportedError as reason:
        return Verdict(False, False, str(reason), method.name)
    except SuspicionError as suspicion:
        found = first_failure(network, claim, suspicion.candidates)
        return Verdict(False, found is not None, str(suspicion), method.name, counterexample=found)
    return Verdict(True, False, "every input is answered correctly", method.name, covered)


def first_failure(network: Network, claim: Claim, candidates: Iterable[Tokens]) -> tuple[Any, ...] | None:
    """The first of up to 64 candidates that the network really gets wrong."""
    for number, candidate in enumerate(candidates):
        if number >= REPLAYED:
            return None
        if not replay(network, claim, candidate)["right"]:
            return tuple(candidate.tolist())
    return None


def replay(network: Network, claim: Claim, tokens: Tokens) -> dict[str, Any]:
    """Run one input and compare with the task's own slow solution."""
    outputs = evaluate(network, tokens[None, ...], claim.arithmetic)
    solved = claim.task.solve(tokens.tolist(), claim.length)
    expected = [answer for answer in solved if answer is not None]
    given = outputs.answers[0].tolist()
    if network.readout.at == "every":
        given = [answer for answer, asked in zip(given, solved, strict=True) if asked is not None]
    return {"answers": given, "expected": expected, "right": given == expected}
