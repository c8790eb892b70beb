"""What a claim is, what a verdict is, and what a method of proof is.

A verdict is one of three: *valid* (no input of that length is answered wrongly), *refuted* (with an input that the
network gets wrong, run before it is reported), or *not proved* (no method covers the network).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Network
from separatrix.tasks import Task

Tokens = NDArray[numpy.int64]


class UnsupportedError(SeparatrixError):
    """The network is outside what a method covers; nothing is claimed either way."""


class OtherClaimError(UnsupportedError):
    """The method is for other tasks or numbers than the claim's."""


class SuspicionError(SeparatrixError):
    """The claim seems false: ``inputs`` are worth trying, and a ``clue`` says where a search should look for more."""

    def __init__(self, reason: str, inputs: Iterable[Tokens] = (), **clue: Any) -> None:
        super().__init__(reason)
        self.inputs, self.clue = inputs, clue


@dataclass(frozen=True)
class Claim:
    """The network answers every input of this length of this task correctly, evaluated in this arithmetic."""

    task: Task
    length: int
    arithmetic: Arithmetic


@dataclass(frozen=True)
class Verdict:
    """What is known about a claim after checking.

    A reason names a symbol by its number, as ``token 7``, and positions from 1; ``shown.py`` puts the task's own symbol
    there. ``suspected`` says that a method found fault with it, whether or not an input that fails was found;
    ``reasons`` are those of all methods where none decides. ``trust`` says what a valid verdict relies on: the kernel
    alone, or a method of this room with all that it uses. ``rule`` is what the kernel decided by, where it was asked.
    ``concerned``: the method is for such tasks, networks and numbers.
    """

    valid: bool
    refuted: bool
    reason: str
    method: str
    inputs_covered: str = "0"
    counterexample: tuple[Any, ...] | None = None
    suspected: bool = False
    reasons: tuple[str, ...] = ()
    trust: Literal["kernel", "wide"] = "wide"
    concerned: bool = True
    rule: str | None = None


class Method(ABC):
    """A way to decide claims about all inputs; one file of ``methods/`` each.

    ``prove`` is given networks of these ``kinds`` alone, whose inputs are those of the task. Networks that embed sets,
    or are decoded otherwise than as labels, reach it only if it says that it knows ``extensions``. ``trust`` says
    what its verdicts rely on.
    """

    name: str
    order: int
    trust: Literal["kernel", "wide"] = "wide"
    kinds: tuple[type[AnyNetwork], ...] = (Network,)
    extensions: bool = False

    @abstractmethod
    def prove(self, network: Any, claim: Claim) -> str:
        """Return the number of inputs covered, such as "64^1024*1024", if every one is answered correctly.

        Raises :class:`UnsupportedError` where the method does not apply and :class:`SuspicionError` where the claim
        seems false.
        """
