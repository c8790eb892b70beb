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
from separatrix.networks import AnyNetwork, Network, evaluate
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
    """A way to decide claims about all inputs; one file of ``methods/`` each.

    ``kinds`` are the kinds of networks that ``prove`` takes; no other ever reaches it. Networks that embed sets or
    are decoded otherwise than by bits or the largest coordinate reach it only if it says that it knows ``extensions``.
    """

    name: str
    order: int
    kinds: tuple[type[AnyNetwork], ...] = (Network,)
    extensions: bool = False

    @abstractmethod
    def prove(self, network: Any, claim: Claim) -> str:
        """Return the number of inputs covered, such as "64^1024*1024", if every one is answered correctly.

        Raises :class:`UnsupportedError` where the method does not apply and :class:`SuspicionError` where the claim
        seems false.
        """


def apply(method: Method, network: AnyNetwork, claim: Claim) -> Verdict:
    """One method's verdict; a suspicion becomes a refutation only when a replayed input fails."""
    if not isinstance(network, method.kinds):
        return Verdict(False, False, f"the method does not cover a {type(network).__name__}", method.name)
    if not method.extensions and _extended(network):
        return Verdict(False, False, "the method does not cover dual certificates and this decoding", method.name)
    try:
        covered = method.prove(network, claim)
    except UnsupportedError as reason:
        return Verdict(False, False, str(reason), method.name)
    except SuspicionError as suspicion:
        found = first_failure(network, claim, suspicion.candidates)
        return Verdict(False, found is not None, str(suspicion), method.name, counterexample=found)
    return Verdict(True, False, "every input is answered correctly", method.name, covered)


def _extended(network: AnyNetwork) -> bool:
    """Whether a network has something that most methods would overlook."""
    embeds_sets = isinstance(network, Network) and bool(network.dual_parts)
    return embeds_sets or network.readout.decoding not in ("bits", "argmax")


def first_failure(network: AnyNetwork, claim: Claim, candidates: Iterable[Tokens]) -> tuple[Any, ...] | None:
    """The first of up to 64 candidates that the network really gets wrong."""
    for number, candidate in enumerate(candidates):
        if number >= REPLAYED:
            return None
        if not replay(network, claim, candidate)["right"]:
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
